"""Queries whose parts over per-table facts are asked again only when those facts changed.

A rule that looks through a hundred thousand tables does so in a common table expression of `tables` and `indexes` alone, and holds its few
rows against what differs in every look: status, host. While no table changed those rows are given to the query as they were.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError, Result
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.server.sql import quote_identifier

PER_TABLE = frozenset({"tables", "indexes"})
# More are not worth handing over: each value is a parameter of the query.
MAXIMUM_ROWS = 100
_TOKEN = re.compile(
    r"""\s+|--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|.""", re.DOTALL
)
_PARAMETER = re.compile(r":(\w+)")
_FACT_TABLES = frozenset(table.name for table in TABLES)


@dataclass(frozen=True, slots=True)
class Part:
    """A common table expression: its name, and where its SELECT stands in the statement, without the parentheses."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class _Answer:
    """A part's rows, None where there are too many; of which filling of the tables, and for which values of its parameters."""

    fillings: tuple[int, ...]
    values: tuple[Value, ...]
    result: Result | None


@dataclass(slots=True)
class SteadyParts:
    """What the parts of queries gave, look after look at the same server."""

    _parts: dict[str, list[tuple[Part, frozenset[str]]]] = field(default_factory=dict)
    _answers: dict[tuple[str, str], _Answer] = field(default_factory=dict)

    def query(
        self,
        database: GuardedDatabase,
        fillings: Mapping[str, int],
        statement: str,
        parameters: Mapping[str, Value],
        maximum_rows: int,
    ) -> Result:
        """As GuardedDatabase.query; `fillings` counts how often each fact table was filled. Each part has the query's time for itself."""
        shortened, values = statement, dict(parameters)
        if statement not in self._parts:
            self._parts[statement] = list(_steady(database, statement, parameters))
        # From the last to the first: what stands before keeps its place.
        for number, (part, tables) in reversed(list(enumerate(self._parts[statement]))):
            now = tuple(fillings[table] for table in sorted(tables))
            result = self._answer(database, now, statement, part, parameters)
            if result is not None:
                text, own = _as_values(result, f"_part_{number}_")
                shortened = shortened[: part.start] + text + shortened[part.end :]
                values |= own
        return database.query(shortened, values, maximum_rows=maximum_rows)

    def _answer(
        self,
        database: GuardedDatabase,
        fillings: tuple[int, ...],
        statement: str,
        part: Part,
        parameters: Mapping[str, Value],
    ) -> Result | None:
        text = _alone(statement, part)
        values = tuple(parameters.get(name) for name in dict.fromkeys(_PARAMETER.findall(text)))
        known = self._answers.get((statement, part.name))
        if known is None or (known.fillings, known.values) != (fillings, values):
            result = database.query(text, parameters, maximum_rows=MAXIMUM_ROWS)
            known = _Answer(fillings, values, None if result.truncated else result)
            self._answers[statement, part.name] = known
        return known.result


def common_table_expressions(statement: str) -> list[Part]:
    """Those that a statement begins with; none where it is written in a way that this does not follow."""
    words = [
        (match.group(), match.start())
        for match in _TOKEN.finditer(statement)
        if not match.group().isspace() and not match.group().startswith(("--", "/*"))
    ]
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


def _closing(words: list[tuple[str, int]], start: int) -> int | None:
    depth = 1
    for place in range(start, len(words)):
        depth += {"(": 1, ")": -1}.get(words[place][0], 0)
        if depth == 0:
            return place
    return None


def _alone(statement: str, part: Part) -> str:
    """The part asked by itself, after those that it may read."""
    return f"{statement[: part.end]}) SELECT * FROM {part.name}"


def _steady(
    database: GuardedDatabase, statement: str, parameters: Mapping[str, Value]
) -> Iterator[tuple[Part, frozenset[str]]]:
    """The parts that read per-table facts and no others."""
    for part in common_table_expressions(statement):
        try:
            read = database.tables_read(_alone(statement, part), parameters) & _FACT_TABLES
        except QueryError:
            continue  # the whole query will say what is wrong
        if read and read <= PER_TABLE:
            yield part, read


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
