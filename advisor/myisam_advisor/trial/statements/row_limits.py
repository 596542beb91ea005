"""SELECTs whose LIMIT leaves nothing open: all their rows fit, or a unique key is among what they are ordered by.

Each is asked for one row more than it could see. Where that one does not come, all rows are there, whatever their order. Where it does, which rows come is
certain only if no two rows are alike by ORDER BY: of one table, by all columns of a key of its own that is unique and has no NULL.

Source: MySQL manual, "LIMIT Query Optimization" (rows that are alike by ORDER BY come in any order, and by another plan in another one), "SELECT Statement"
(ORDER BY takes a name for an alias first).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set

from myisam_advisor.workload.tokens import LITERAL, MAXIMUM_BYTES, plain_name, tokens
from myisam_exporter.declaring.lean_dataclasses import dataclass

_LIMIT = b"limit"
_TAIL = re.compile(rb"\blimit\s+(\d{1,9})(?:\s*(,|\boffset\b)\s*(\d{1,9}))?\Z", re.IGNORECASE)
# Spaces without number are nobody's LIMIT.
_TAIL_BYTES = 256
# What stands before the numbers might be in a comment, and the numbers with it.
_COMMENTS = (b"/*", b"--", b"#")
_TAILS = ([_LIMIT, LITERAL], [_LIMIT, LITERAL, b",", LITERAL], [_LIMIT, LITERAL, b"offset", LITERAL])
# Where one of these stands, rows of the answer are not rows of one table.
_OF_SEVERAL = frozenset(
    b"union except intersect group having distinct distinctrow join straight_join over procedure into".split()
)
_MODIFIERS = frozenset(
    b"all high_priority sql_small_result sql_big_result sql_buffer_result sql_cache sql_no_cache sql_calc_found_rows".split()
)
_DIRECTIONS = frozenset((b"asc", b"desc"))
_HINTS = frozenset((b"use", b"ignore", b"force"))


@dataclass(frozen=True, slots=True)
class Limited:
    """A SELECT with LIMIT: the same for one row more than `rows`, which are those that it could see, skipped ones included.

    `ordered_by` are the columns of its one table that it is ordered by; empty where no order could be certain.
    """

    statement: bytes
    rows: int
    ordered_by: frozenset[str]

    def is_certain(self, rows: int, unique_keys: Iterable[Set[str]]) -> bool:
        """Whether an answer of so many rows leaves nothing open, on a table with these keys that are unique and have no NULL."""
        return rows <= self.rows or any(key <= self.ordered_by for key in unique_keys)


def has_limit(statement: bytes) -> bool:
    """Whether there is a LIMIT in it, at its end or in a part of it."""
    # Of longer ones the end is not read.
    return _LIMIT in map(bytes.lower, tokens(statement)) or (
        len(statement) > MAXIMUM_BYTES and _LIMIT in statement.lower()
    )


def limited(statement: bytes) -> Limited | None:
    """A SELECT whose one LIMIT, in plain numbers, is its end; None for any other."""
    words = tokens(statement)
    lower = [word.lower() for word in words]
    if lower[-1:] == [b";"]:
        del words[-1], lower[-1]
    text = statement.rstrip().removesuffix(b";").rstrip()
    found = _TAIL.search(text[-_TAIL_BYTES:])
    if found is None or lower.count(_LIMIT) != 1 or any(sign in statement for sign in _COMMENTS):
        return None
    end = lower.index(_LIMIT)
    if lower[end:] not in _TAILS:
        return None
    rows = int(found[1]) + int(found[3] or 0)
    asked = b"%b LIMIT %d" % (text[: len(text) - len(found[0])].rstrip(), rows + 1)
    return Limited(asked, rows, frozenset(_ordered_by(words[:end], lower[:end])))


def unique_keys(indexes: Iterable[Sequence[object]]) -> list[frozenset[str]]:
    """The keys of a table that are unique and have no NULL, by the columns of each, of the rows of SHOW INDEX."""
    columns: dict[str, set[str]] = {}
    refused: set[str] = set()
    for row in indexes:
        # Table, Non_unique, Key_name, Seq_in_index, Column_name, Collation, Cardinality, Sub_part, Packed, Null
        is_open, name, column, null = str(row[1]) != "0", str(row[2]), row[4], row[9]
        if is_open or column is None or null == "YES":
            refused.add(name)
        columns.setdefault(name, set()).add(str(column).lower())
    return [frozenset(names) for key, names in columns.items() if key not in refused]


def _ordered_by(words: Sequence[bytes], lower: Sequence[bytes]) -> Iterator[str]:
    """The columns of the one table that a statement is ordered by, without its LIMIT; none where it is not of one table."""
    flat = list(_outside(lower))
    places = [place for place, word in flat if word == b"order"]
    begin = next((place for place, word in flat if word == b"from"), None)
    if lower[:1] != [b"select"] or len(places) != 1 or begin is None or _OF_SEVERAL & {word for _, word in flat}:
        return
    end = places[0]
    behind = next((place for place, word in flat if place > begin and word in (b"where", b"order")), end)
    if lower[end + 1 : end + 2] != [b"by"] or not _is_one_table(lower[begin + 1 : behind]):
        return
    items = list(_parted(words[1:begin]))
    for part in _parted(words[end + 2 :]):
        column = _column(part[:-1] if part and part[-1].lower() in _DIRECTIONS else part)
        if column is not None and not any(_is_called(item, column) for item in items):
            yield column


def _is_one_table(words: Sequence[bytes]) -> bool:
    """Whether FROM names one table: [schema .] table [[AS] alias] [which indexes to use]."""
    end = next((at for at, word in enumerate(words) if word in _HINTS), len(words))
    named = words[:end]
    behind = named[3:] if named[1:2] == [b"."] else named[1:]
    if behind[:1] == [b"as"]:
        behind = behind[1:]
    return bool(named) and all(plain_name(word) is not None for word in (named[0], *behind)) and len(behind) < 2


def _outside(lower: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """The words outside of parentheses, with their places."""
    depth = 0
    for place, word in enumerate(lower):
        depth -= word == b")"
        if not depth:
            yield place, word
        depth += word == b"("


def _parted(words: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The parts between the commas outside of parentheses."""
    part: list[bytes] = []
    depth = 0
    for word in words:
        depth += (word == b"(") - (word == b")")
        if word == b"," and not depth:
            yield part
            part = []
        else:
            part.append(word)
    yield part


def _column(names: Sequence[bytes]) -> str | None:
    """The column that these words are: `a`, `t.a`, `d.t.a`; None where they are none."""
    if not names or len(names) > 5 or any(dot != b"." for dot in names[1::2]) or len(names) % 2 == 0:
        return None
    plain = [plain_name(name) for name in names[::2]]
    last = plain[-1]
    return None if last is None or None in plain else last.decode("utf-8", "replace").lower()


def _is_called(item: Sequence[bytes], column: str) -> bool:
    """Whether something else than the column is called so in the list of what is selected."""
    while item and item[0].lower() in _MODIFIERS:
        item = item[1:]
    if _column(item) is not None or not item:
        return False
    name = plain_name(item[-1])
    return item[-1] == LITERAL or (name is not None and name.decode("utf-8", "replace").lower() == column)
