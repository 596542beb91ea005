"""Parts of queries whose answer over all tables is put together of answers over some: what a look saw changed is all that is asked again.

Two kinds are known by how they are written. A choice looks at each row by itself (`SELECT ... FROM tables WHERE ...`, also around such a one): its
rows are kept by the place of the table they are of. A sum is a row of SUM, COUNT, MIN, MAX and TOTAL alone: one is kept for every SLICE rows,
and one for every block of these.
Whatever is written in another way is asked as a whole.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field

from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError, Result
from myisam_advisor.factbase.storable import storable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value

SLICE, BLOCK = 64, 32
# Of more, and of slices where these are more than such a part of all, to ask about all of them in one statement is quicker.
MOST_PLACES, MOST_SLICES, SLICES_PART = 2000, 40, 4
# So many slices are asked about by one statement: a statement takes as long as a slice.
SLICES_TOGETHER = 16
PLACE, FIRST, LAST = "_place", "_first", "_last"
TABLE = "tables"
TOKEN = re.compile(
    r"""\s+|--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|.""", re.DOTALL
)
QUOTES = frozenset(('""', "``", "[]", "''"))
# What makes a row depend on others, or a part on more than this table.
_NOT_BY_ROW = frozenset({"JOIN", "GROUP", "ORDER", "LIMIT", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "EXISTS", "OVER", "HAVING", "WITH", "VALUES", "OFFSET"})  # fmt: skip
_OPCODES_OVER_ROWS = ("Agg", "Sorter")
Row = tuple[Value, ...]
Word = tuple[str, int]
Combine = Callable[[list[float]], Value]  # of the finite numbers that there are


def words_of(statement: str) -> list[Word]:
    """The words of a statement, each with its place; without spaces and comments."""
    return [
        (match.group(), match.start())
        for match in TOKEN.finditer(statement)
        if not match.group().isspace() and not match.group().startswith(("--", "/*"))
    ]


@dataclass(slots=True)
class Chosen:
    """A choice: its text with the place behind the other columns, and the rows that it gave, by place; None where there are too many."""

    text: str
    columns: tuple[str, ...] = ()
    rows: dict[int, Row] | None = None

    def ask(self, database: GuardedDatabase, parameters: Mapping[str, Value], maximum_rows: int) -> None:
        """Over all rows."""
        result = database.query(_with_places(self.text, ""), parameters, maximum_rows=maximum_rows)
        self.columns, rows = _told_apart(result)
        self.rows = None if result.truncated else rows

    def renew(
        self, database: GuardedDatabase, parameters: Mapping[str, Value], places: Collection[int], maximum_rows: int
    ) -> bool:
        """Over the rows of these places; false where that does not pay, or there is nothing to renew."""
        if self.rows is None or len(places) > MOST_PLACES:
            return False
        among = f"WHERE rowid IN ({', '.join(map(str, sorted(places)))})"
        result = database.query(_with_places(self.text, among), parameters, maximum_rows=MOST_PLACES)
        for place in places:
            self.rows.pop(place, None)
        self.rows |= _told_apart(result)[1]
        if len(self.rows) > maximum_rows:
            self.rows = None
        return True

    def result(self) -> Result | None:
        """All rows, in the order of the tables; None where there are too many."""
        return None if self.rows is None else Result(self.columns, [self.rows[place] for place in sorted(self.rows)])


@dataclass(slots=True)
class Summed:
    """Sums: the text with the number of the slice before the other columns, how each column is put together, and the sums of each slice."""

    text: str
    combine: tuple[Combine, ...]
    grouped: str
    columns: tuple[str, ...] = ()
    slices: dict[int, Row] = field(default_factory=dict)
    # Slices whose sums are not of finite numbers alone: looked for when a slice is asked, not in all of them each time.
    odd: set[int] = field(default_factory=set)
    # The sums of each block of slices, but for those that are to be put together anew.
    blocks: dict[int, Row] = field(default_factory=dict)
    stale: set[int] = field(default_factory=set)

    def ask(self, database: GuardedDatabase, parameters: Mapping[str, Value], _maximum_rows: int) -> None:
        """Over all rows."""
        result = database.query(_with_places(f"{self.text} {self.grouped}", ""), parameters)
        self.columns = result.columns[1:]
        self.slices, self.odd, self.blocks, self.stale = {}, set(), {}, set()
        self._keep(result.rows)

    def _keep(self, rows: Iterable[Row]) -> None:
        for number, *sums in rows:
            place = int(str(number))
            self.slices[place] = tuple(sums)
            self.stale.add(place // BLOCK)
            if not all(value is None or _is_finite(value) for value in sums):
                self.odd.add(place)

    def renew(
        self, database: GuardedDatabase, parameters: Mapping[str, Value], places: Collection[int], _maximum_rows: int
    ) -> bool:
        """Over the slices of these places; false where that does not pay."""
        changed = sorted({place // SLICE for place in places})
        if not self.columns or len(changed) > max(MOST_SLICES, len(self.slices) // SLICES_PART):
            return False
        for number in changed:
            self.slices.pop(number, None)
            self.odd.discard(number)
            self.stale.add(number // BLOCK)
        together = SLICES_TOGETHER if len(changed) > 1 else 1
        ends = [(f"{FIRST}{number}", f"{LAST}{number}") for number in range(together)]
        among = " OR ".join(f"rowid BETWEEN :{first} AND :{last}" for first, last in ends)
        text = _with_places(f"{self.text} {self.grouped}", f"WHERE {among}")
        for start in range(0, len(changed), together):
            some = changed[start : start + together]
            own = dict(parameters)
            for place, (first, last) in enumerate(ends):
                # Where there are no more, the last one again: a row is found once.
                number = some[min(place, len(some) - 1)]
                own |= {first: number * SLICE, last: (number + 1) * SLICE - 1}
            self._keep(database.query(text, own).rows)
        return True

    def result(self) -> Result | None:
        """One row; None where it is not of finite numbers alone: texts are ordered otherwise here, and infinities do not sum up."""
        if self.odd:
            return None
        try:
            while self.stale:
                block = next(iter(self.stale))
                places = range(block * BLOCK, (block + 1) * BLOCK)
                self.blocks[block] = self._together([self.slices[one] for one in places if one in self.slices])
                self.stale.discard(block)
            return Result(self.columns, [self._together(self.blocks.values())])
        except OverflowError:
            return None

    def _together(self, rows: Collection[Row]) -> Row:
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(self.combine)
        return tuple(combine(_known(values)) for combine, values in zip(self.combine, columns, strict=True))


def split(database: GuardedDatabase, text: str, parameters: Mapping[str, Value]) -> Chosen | Summed | None:
    """The part as one that can be put together, where it is written so, and SQLite takes it so."""
    words = words_of(text)
    if any(folded(word).startswith((PLACE, FIRST, LAST)) for word, _ in words):
        return None
    summed, chosen = _summed(text, words), _chosen(text, words)
    try:
        if summed is not None:
            database.query(f"EXPLAIN {_with_places(f'{summed.text} {summed.grouped}', '')}", parameters)
            return summed
        if chosen is None:
            return None
        program = database.query(f"EXPLAIN {_with_places(chosen, '')}", parameters)
    except QueryError:
        return None  # it reads what is not there without the rest: a former part, a row's number
    opcode = program.columns.index("opcode")
    over_rows = any(str(row[opcode]).startswith(_OPCODES_OVER_ROWS) for row in program.rows)
    return None if over_rows else Chosen(chosen)


def folded(name: str) -> str:
    """A name as SQLite compares it: without what it is quoted by, capitals as small letters."""
    is_quoted = len(name) > 1 and name[0] + name[-1] in QUOTES
    return (name[1:-1] if is_quoted else name).lower()


def _with_places(text: str, among: str) -> str:
    return f"WITH {TABLE} AS (SELECT *, rowid AS {PLACE} FROM main.{TABLE} {among}) {text}"


def _told_apart(result: Result) -> tuple[tuple[str, ...], dict[int, Row]]:
    """The columns without the place, and the rows by it."""
    at = result.columns.index(PLACE)
    rows = {int(str(row[at])): (*row[:at], *row[at + 1 :]) for row in result.rows}
    return (*result.columns[:at], *result.columns[at + 1 :]), rows


def _chosen(text: str, words: Sequence[Word]) -> str | None:
    """The choice with the place behind its columns; None where it is none."""
    upper = [word.upper() for word, _ in words]
    if _NOT_BY_ROW.intersection(upper) or upper.count("SELECT") != upper.count("FROM") or upper.count("SELECT") > 2:
        return None
    if upper.count("SELECT") == 2:
        # SELECT * FROM (SELECT ...) WHERE ...: what is around takes all columns, the place among them.
        if upper[:5] != ["SELECT", "*", "FROM", "(", "SELECT"]:
            return None
        end = _closing(upper, 4)
        if end is None or upper[end + 1 : end + 2] not in ([], ["WHERE"]) or "FROM" in upper[end:]:
            return None
        inner = _plain_choice(text, words[4:end], upper[4:end])
        return None if inner is None else f"{text[: words[4][1]]}{inner}{text[words[end][1] :]}"
    return _plain_choice(text, words, upper)


def _plain_choice(text: str, words: Sequence[Word], upper: Sequence[str]) -> str | None:
    at = _from_table(upper)
    if at is None:
        return None
    begin, end = words[0][1], words[-1][1] + len(words[-1][0])
    stars = sum(item == ["*"] or item[-2:] == [".", "*"] for item in _items(upper[1:at]))
    if stars:
        return text[begin:end] if stars == 1 else None
    return f"{text[begin : words[at][1]]}, {PLACE} {text[words[at][1] : end]}"


def _from_table(upper: Sequence[str]) -> int | None:
    """Where FROM stands, where the statement is SELECT ... FROM tables [AS name] [WHERE ...]; None for any other."""
    if upper[:1] != ["SELECT"] or "FROM" not in upper:
        return None
    at = upper.index("FROM")
    rest = list(upper[at + 1 :])
    if rest[:1] != [TABLE.upper()] or _depth(upper[:at]):
        return None
    rest = rest[1:]
    if rest[:1] == ["AS"]:
        rest = rest[2:]
    elif rest and rest[0] != "WHERE" and rest[0].isidentifier():
        rest = rest[1:]
    return at if not rest or rest[0] == "WHERE" else None


def _depth(upper: Iterable[str]) -> int:
    return sum({"(": 1, ")": -1}.get(word, 0) for word in upper)


def _closing(upper: Sequence[str], start: int) -> int | None:
    """The parenthesis that closes the one before this word."""
    depth = 1
    for place in range(start, len(upper)):
        depth += {"(": 1, ")": -1}.get(upper[place], 0)
        if depth == 0:
            return place
    return None


def _summed(text: str, words: Sequence[Word]) -> Summed | None:
    upper = [word.upper() for word, _ in words]
    at = _from_table(upper)
    if at is None or _NOT_BY_ROW.intersection(upper) or upper.count("SELECT") != 1:
        return None
    combine: list[Combine] = []
    for item in _items(upper[1:at]):
        one = _combining(item)
        if one is None:
            return None
        combine.append(one)
    begin, end = words[1][1], words[-1][1] + len(words[-1][0])
    return Summed(f"SELECT {PLACE} / {SLICE}, {text[begin:end]}", tuple(combine), "GROUP BY 1")


def _items(upper: Sequence[str]) -> list[list[str]]:
    """What stands between the commas that are in no parenthesis."""
    items: list[list[str]] = [[]]
    depth = 0
    for word in upper:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "," and not depth:
            items.append([])
        else:
            items[-1].append(word)
    return items


def _combining(item: Sequence[str]) -> Combine | None:
    """How sums of slices become one: of FUNCTION(...) [FILTER (WHERE ...)] [AS name], the function of one value."""
    combine = COMBINED.get(item[0]) if item else None
    if combine is None or item[1:2] != ["("]:
        return None
    end = _closing(item, 2)
    if end is None or len(_items(item[2:end])) != 1:
        return None
    rest = list(item[end + 1 :])
    if rest[:2] == ["FILTER", "("]:
        closed = _closing(rest, 2)
        if closed is None:
            return None
        rest = rest[closed + 1 :]
    return combine if not rest or (rest[0] == "AS" and len(rest) == 2) else None


def _is_finite(value: Value) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


def _known(values: Iterable[Value]) -> list[float]:
    return [value for value in values if value is not None]  # type: ignore[misc]  # no text is among them


def _sum(known: list[float]) -> Value:
    if not known:
        return None
    return storable(sum(known)) if set(map(type, known)) == {int} else math.fsum(known)


COMBINED: Mapping[str, Combine] = {
    "SUM": _sum,
    "TOTAL": math.fsum,
    "COUNT": sum,
    "MAX": lambda known: max(known, default=None),
    "MIN": lambda known: min(known, default=None),
}
