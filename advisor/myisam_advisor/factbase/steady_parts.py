"""Queries whose parts over per-table facts are asked again only when those facts changed.

A rule that looks through a hundred thousand tables does so in a common table expression of `tables` and `indexes` alone, and holds its few
rows against what differs in every look: status, host. While no table changed in a column that it reads, those rows are given to the query as
they were; where some did, a part that can be put together (split_parts.py) is asked about those alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import field, replace

from myisam_advisor.factbase.changes import Changes
from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError, Result
from myisam_advisor.factbase.kept_parts import TABLE, Chosen, Summed
from myisam_advisor.factbase.split_parts import Word, folded, split, words_of
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.server.sql import quote_identifier

PER_TABLE = frozenset({"tables", "indexes"})
# More are not worth handing over: each value is a parameter of the query.
MAXIMUM_ROWS = 100
# A part that gave more is not asked again by itself for so many fillings: the query finds its rows, whatever they are.
TRIED_AGAIN_AFTER = 30
_PARAMETER = re.compile(r"[:@$](\w+)")
_COMPARES_UNTOLD = frozenset({"using", "natural"})
_FACT_TABLES = frozenset(table.name for table in TABLES)


@dataclass(frozen=True, slots=True)
class Part:
    """A common table expression: its name, and where its SELECT stands in the statement, without the parentheses."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Steady:
    """A part that reads per-table facts and no others: these columns of `tables` itself, and others through `former` parts.

    `split` tells whether it may be put together, and `columns` how its columns are called.
    """

    part: Part
    tables: Mapping[str, frozenset[str]]
    all_tables: Mapping[str, frozenset[str]]
    former: tuple[str, ...]
    parameters: tuple[str, ...]
    split: bool
    columns: tuple[str, ...]


@dataclass(slots=True)
class _Answer:
    """A part's rows, None where there are too many; and of what: fillings of tables, values of parameters, former parts' rows.

    `fillings` are the latest that changed what it reads, and `asked_at` is the filling of TABLE of which it was known last that it holds.
    """

    of: str
    fillings: tuple[int, ...]
    asked_at: int
    result: Result | None
    whole: Chosen | Summed | None


@dataclass(slots=True)
class SteadyParts:
    """What the parts of queries gave, look after look at the same server.

    `rehearsal` makes a database like the one that is asked, without rows: there it is found out what a statement reads.
    `of_one_look` says that no look follows: then nothing is kept by rows.
    """

    changes: Changes
    rehearsal: Callable[[], GuardedDatabase]
    of_one_look: bool = False
    _empty: GuardedDatabase | None = field(default=None, init=False)
    _parts: dict[str, list[_Steady]] = field(default_factory=dict)
    _answers: dict[tuple[str, str], _Answer] = field(default_factory=dict)

    def query(
        self,
        database: GuardedDatabase,
        statement: str,
        parameters: Mapping[str, Value],
        maximum_rows: int,
    ) -> Result:
        """As GuardedDatabase.query. Each part has the query's time for itself."""
        if statement not in self._parts:
            self._parts[statement] = list(
                _steady(self._rehearsed(), statement, parameters, splits=not self.of_one_look)
            )
        shortened, longer, values = statement, 0, dict(parameters)
        known: dict[str, Result] = {}
        for number, one in enumerate(self._parts[statement]):
            start, end = one.part.start + longer, one.part.end + longer
            asking = _Asking(database, f"{shortened[:end]}) SELECT * FROM {one.part.name}", shortened[start:end])
            result = self._answer(asking, statement, one, values, known)
            if result is not None:
                text, own = _as_values(result, f"_part_{number}_")
                shortened = shortened[:start] + text + shortened[end:]
                longer += len(text) - (end - start)
                values |= own
                known[one.part.name] = result
        return database.query(shortened, values, maximum_rows=maximum_rows)

    def close(self) -> None:
        """Give the memory of the rehearsal back."""
        if self._empty is not None:
            self._empty.close()
        self._empty = None

    def _rehearsed(self) -> GuardedDatabase:
        self._empty = self._empty or self.rehearsal()
        return self._empty

    def _answer(
        self, asking: _Asking, statement: str, one: _Steady, values: Mapping[str, Value], known: Mapping[str, Result]
    ) -> Result | None:
        through = bool(one.former) and all(name in known for name in one.former)
        read = one.tables if through else one.all_tables
        fillings = tuple(self.changes.latest(table, columns) for table, columns in read.items())
        parameters = [values.get(name) for name in one.parameters]
        # As text: to Python 2 and 2.0 are equal, and SQL divides them otherwise.
        of = repr((parameters, [known[name].rows for name in one.former if name in known]))
        last = self._answers.get((statement, one.part.name))
        if last is not None and last.of == of and _had_too_many(last, fillings):
            return None
        if last is None or (last.fillings, last.of) != (fillings, of):
            # What was asked for is given up until it is whole: a query that is stopped leaves nothing behind.
            self._answers.pop((statement, one.part.name), None)
            columns = read.get(TABLE, ())
            result, whole = (
                self._put_together(asking, last, of, values, columns) if one.split else (asking.alone(values), None)
            )
            named = None if result is None else replace(result, columns=one.columns)
            last = self._answers[statement, one.part.name] = _Answer(of, fillings, 0, named, whole)
        last.asked_at = self.changes.fillings[TABLE]
        return last.result

    def _put_together(
        self, asking: _Asking, last: _Answer | None, of: str, values: Mapping[str, Value], columns: Collection[str]
    ) -> tuple[Result | None, Chosen | Summed | None]:
        """The rows that changed in these columns asked again, where it is known which; else all."""
        if last is not None and last.whole is not None and last.of == of:
            changed = self.changes.since(TABLE, last.asked_at, columns)
            if changed is not None and last.whole.renew(asking.database, values, changed, MAXIMUM_ROWS):
                return last.whole.result(), last.whole
        whole = split(self._rehearsed(), asking.text, values)
        if whole is None:
            return asking.alone(values), None
        whole.ask(asking.database, values, MAXIMUM_ROWS)
        return whole.result(), whole


def _had_too_many(last: _Answer, fillings: tuple[int, ...]) -> bool:
    """Whether it gave too many rows lately."""
    return last.result is None and all(
        then <= now < then + TRIED_AGAIN_AFTER for then, now in zip(last.fillings, fillings, strict=True)
    )


@dataclass(frozen=True, slots=True)
class _Asking:
    """A part that is asked: its `text`, and the `statement` that asks it by itself, with the rows of former parts in their place."""

    database: GuardedDatabase
    statement: str
    text: str

    def alone(self, values: Mapping[str, Value]) -> Result | None:
        """Its rows; None where there are too many."""
        result = self.database.query(self.statement, values, maximum_rows=MAXIMUM_ROWS)
        return None if result.truncated else result


def common_table_expressions(statement: str) -> list[Part]:
    """Those that a statement begins with; none where it is written in a way that this does not follow."""
    words = words_of(statement)
    parts: list[Part] = []
    place = 0
    while [word.upper() for word, _ in words[place : place + 1]] == ["," if parts else "WITH"]:
        heading = [word.upper() for word, _ in words[place + 1 : place + 4]]
        if heading[1:] != ["AS", "("]:
            return []
        start = place + 4
        end = _closing(words, start)
        if end is None:
            return []
        parts.append(Part(words[place + 1][0], words[start - 1][1] + 1, words[end][1]))
        place = end + 1
    return parts


def _closing(words: list[Word], start: int) -> int | None:
    depth = 1
    for place in range(start, len(words)):
        depth += {"(": 1, ")": -1}.get(words[place][0], 0)
        if depth == 0:
            return place
    return None


def _steady(
    database: GuardedDatabase, statement: str, parameters: Mapping[str, Value], *, splits: bool
) -> Iterator[_Steady]:
    """The parts that read per-table facts and no others; where it `splits`, those that can be put together are marked."""
    parts = common_table_expressions(statement)
    if {folded(one.name) for one in parts} & _FACT_TABLES:
        return  # a name that hides a fact table's
    # The statement with former parts' columns in the place of what they read: what is left is read directly.
    emptied, longer = statement, 0
    found: dict[str, _Steady] = {}
    for part in parts:
        text = statement[part.start : part.end]
        start, end = part.start + longer, part.end + longer
        try:
            alone = f"{statement[: part.end]}) SELECT * FROM {part.name}"
            read = _of_facts(database, alone, parameters)
            direct = _of_facts(database, f"{emptied[:end]}) SELECT * FROM {part.name}", parameters)
            if not read or not read.keys() <= PER_TABLE:
                continue
            columns = database.query(f"{alone} LIMIT 0", parameters).columns
        except QueryError:
            continue  # the whole query will say what is wrong
        is_split = splits and direct.keys() == {TABLE} and split(database, text, parameters) is not None
        # SQLite does not say which former parts are read: each whose name stands in it may be.
        own_words = {folded(word) for word, _ in words_of(text)}
        former = tuple(name for name in found if folded(name) in own_words)
        own = dict.fromkeys(_PARAMETER.findall(text if is_split else statement[: part.end]))
        one = _Steady(part, direct, read, former, tuple(own), is_split, columns)
        stub = _as_values(Result(columns, []), "")[0]
        emptied = emptied[:start] + stub + emptied[end:]
        longer += len(stub) - (end - start)
        found[part.name] = one
        yield one


def _of_facts(database: GuardedDatabase, statement: str, parameters: Mapping[str, Value]) -> dict[str, frozenset[str]]:
    """The fact tables that a statement reads, with their columns: all of them where SQLite may not tell."""
    read = database.columns_read(statement, parameters)
    if not _COMPARES_UNTOLD.isdisjoint(folded(word) for word, _ in words_of(statement)):
        declared = declared_columns()
        read = {table: frozenset(column.name for column in declared.get(table, ())) for table in read}
    return {table: columns for table, columns in read.items() if table in _FACT_TABLES}


def _as_values(result: Result, prefix: str) -> tuple[str, dict[str, Value]]:
    """Rows as a SELECT of parameters, and these."""
    names = [quote_identifier(name) for name in result.columns]
    if not result.rows:
        return f"SELECT {', '.join(f'NULL AS {name}' for name in names)} WHERE 0", {}
    values: dict[str, Value] = {}
    rows = []
    for row in result.rows:
        keys = [f"{prefix}{len(values) + place}" for place in range(len(row))]
        values |= zip(keys, row, strict=True)
        rows.append(f"({', '.join(f':{key}' for key in keys)})")
    columns = (f"column{place} AS {name}" for place, name in enumerate(names, 1))
    return f"SELECT {', '.join(columns)} FROM (VALUES {', '.join(rows)})", values
