"""Parts of queries whose answer over all tables is put together of answers over some: what a look saw changed is all that is asked again.

Two kinds are known by how they are written. A choice looks at each row by itself (`SELECT ... FROM tables WHERE ...`, also around such a one): its
rows are kept by the place of the table they are of. A sum is a row of SUM, COUNT, MIN, MAX and TOTAL alone: what is kept of both is in
kept_parts.py. Whatever is written in another way is asked as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
from myisam_advisor.factbase.kept_parts import COMBINED, PIECE, PLACE, TABLE, Chosen, Combine, Summed, with_places
from myisam_exporter.facts.columns import Value

TOKEN = re.compile(
    r"""\s+|--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|\w+|.""", re.DOTALL
)
QUOTES = frozenset(('""', "``", "[]", "''"))
# What makes a row depend on others, or a part on more than this table.
_NOT_BY_ROW = frozenset({"JOIN", "GROUP", "ORDER", "LIMIT", "DISTINCT", "UNION", "INTERSECT", "EXCEPT", "EXISTS", "OVER", "HAVING", "WITH", "VALUES", "OFFSET"})  # fmt: skip
_OPCODES_OVER_ROWS = ("Agg", "Sorter")
Word = tuple[str, int]


def words_of(statement: str) -> list[Word]:
    """The words of a statement, each with its place; without spaces and comments."""
    return [
        (match.group(), match.start())
        for match in TOKEN.finditer(statement)
        if not match.group().isspace() and not match.group().startswith(("--", "/*"))
    ]


def split(database: GuardedDatabase, text: str, parameters: Mapping[str, Value]) -> Chosen | Summed | None:
    """The part as one that can be put together, where it is written so, and SQLite takes it so."""
    words = words_of(text)
    if any(folded(word).startswith((PLACE, PIECE)) for word, _ in words):
        return None
    summed, chosen = _summed(text, words), _chosen(text, words)
    try:
        if summed is not None:
            database.query(f"EXPLAIN {summed.statement()}", parameters)
            return summed
        if chosen is None:
            return None
        program = database.query(f"EXPLAIN {with_places(chosen, '')}", parameters)
    except QueryError:
        return None  # it reads what is not there without the rest: a former part, a row's number
    opcode = program.columns.index("opcode")
    over_rows = any(str(row[opcode]).startswith(_OPCODES_OVER_ROWS) for row in program.rows)
    return None if over_rows else Chosen(chosen)


def folded(name: str) -> str:
    """A name as SQLite compares it: without what it is quoted by, capitals as small letters."""
    is_quoted = len(name) > 1 and name[0] + name[-1] in QUOTES
    return (name[1:-1] if is_quoted else name).lower()


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
    return Summed(text[begin:end], tuple(combine))


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
