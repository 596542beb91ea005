"""How wide a table's rows are, worked out of the length of its .MYD: what the rows take in another engine, and how long values are in indexes.

A row of MyISAM's dynamic format leaves out what numbers of 0 and spaces at an end would take; how many those are, no header tells. So two
ends are given, and what lies between is told apart only by reading rows, which is not done here.

Sources: storage/myisam/mi_dynrec.c (_mi_rec_pack, MI_DYN_ALIGN_SIZE), ha_myisam.cc (table2myisam), mi_create.c (pack_bytes).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from myisam_advisor.migrate.row_size import is_fixed, stored
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.character_sets import character_set
from myisam_exporter.files.structure import Column, Index, Structure

FIXED, PACKED = "fixed", "compressed"
HEADER_BYTES = 4.5  # three or four, and what fills the row up to a multiple of four
LEAST_ROW_BYTES = 20  # of MyISAM's dynamic rows
NUMBERS = frozenset({
    types.TINY, types.SHORT, types.LONG, types.FLOAT, types.DOUBLE, types.LONGLONG, types.INT24, types.DATE, types.TIME, types.DATETIME,
    types.NEWDATE,
})  # fmt: skip
# How many of the numbers are 0 at most, and how full columns are, where nothing tells: guesses, and both ends are told. Of many columns some
# have more zeros and some fewer: the ends of all together are nearer to each other than those of one, by the root of their number.
MOST_ZEROS = 0.6
MOST_FULL, LEAST_FULL = 1.0, 0.2
TYPICAL_BLOB_BYTES = 300  # beside columns of VARCHAR, a TEXT has most of what is there
LENGTH_BYTES = {types.TINY_BLOB: 1, types.BLOB: 2, types.MEDIUM_BLOB: 3}
SHORTEST = 1.0
LEAST_PRESENT = 0.5
POINTER_BYTES = 6  # behind each entry of a MyISAM index, by default
LEAST_FULL_PAGES = 0.6  # MyISAM's, of entries that came in any order, and some that were deleted


@dataclass(frozen=True, slots=True)
class Widths:
    """What the values of one row take without headers, and what their columns have on average.

    `share` is the share of its room that a column of variable length has, `present` how many values are not NULL where they may be.
    """

    values: float
    share: float
    present: float = 1.0


def widths_of(structure: Structure, row_bytes: float, row_format: str) -> tuple[Widths, Widths]:
    """The narrowest and the widest that fit the file."""
    columns = list(stored(structure))
    if row_format == FIXED:
        return _of_fixed_rows(columns)
    if row_format == PACKED:
        return _of_packed_rows(columns, row_bytes)
    return _Packed(structure, columns, row_bytes).ends()


def _of_fixed_rows(columns: Sequence[Column]) -> tuple[Widths, Widths]:
    """Every column has its whole room: only of what varies in the other engine the lengths are not known."""
    known = sum(column.maximum_bytes for column in columns if is_fixed(column))
    room = sum(column.maximum_bytes for column in columns if not is_fixed(column))
    least = sum(_least_bytes(column) for column in columns if not is_fixed(column))
    # What is NULL has its room here, and none in the other engine.
    absent = sum(column.maximum_bytes for column in columns if column.nullable and is_fixed(column)) * (
        1 - LEAST_PRESENT
    )
    low, high = known - absent + max(least, LEAST_FULL * room), known + room
    return Widths(low, LEAST_FULL if room else 1.0, LEAST_PRESENT), Widths(high, 1.0)


def is_size_told(structure: Structure, row_format: str) -> bool:
    """Whether anything bounds the rows: how long a BLOB is that myisampack packed, no header tells, and nothing else does."""
    return row_format != PACKED or not any(column.is_blob for column in structure.columns)


def _of_packed_rows(columns: Sequence[Column], row_bytes: float) -> tuple[Widths, Widths]:
    """As myisampack left them, which no column's length can be told of: no shorter than they are packed, no longer than with every column full."""
    low, high = _of_fixed_rows(columns)
    room = sum(column.maximum_bytes for column in columns if not is_fixed(column))
    least = sum(_least_bytes(column) for column in columns if not is_fixed(column))
    fixed = low.values - max(least, LEAST_FULL * room)
    varying = min(max(least, row_bytes - high.values + room), float(room))
    return Widths(fixed + varying, max(varying / room, 0.02) if room else 1.0, low.present), high


def _least_bytes(column: Column) -> float:
    """A CHAR of several bytes a character keeps its spaces up to a byte for each character."""
    if column.type != types.STRING:
        return 0.0
    _, _, most = character_set(column.collation)
    return column.maximum_bytes / most


class _Packed:
    """The dynamic format."""

    def __init__(self, structure: Structure, columns: Sequence[Column], row_bytes: float) -> None:
        primary = {part.column for part in structure.primary.parts} if structure.primary else set()
        in_key = {structure.columns[place].name for place in primary}
        self.zeros = [column for column in columns if column.type in NUMBERS and column.name not in in_key]
        self.chars = [column for column in columns if column.type == types.STRING and column.maximum_bytes > 3]
        self.varying = [column for column in columns if column.is_blob or column.type in types.VARIABLE]
        zeros, chars = len(self.zeros), len(self.chars)
        packed = zeros + chars + sum(column.is_blob for column in columns)
        nulls = (sum(column.nullable for column in columns) + 7) // 8
        lengths = sum(_length_bytes(column) for column in (*self.varying, *self.chars))
        loose = {column.name for column in (*self.zeros, *self.chars, *self.varying)}
        self.rest = sum(column.maximum_bytes for column in columns if column.name not in loose)
        self.numbers = sum(column.maximum_bytes for column in self.zeros)
        self.zeros_ends = _ends_of_all(self.zeros)
        self.absent = sum(column.maximum_bytes for column in self.zeros if column.nullable)
        # Of rows no longer than the shortest that there is, some are shorter in truth.
        self.unused = LEAST_ROW_BYTES / 2 if row_bytes < LEAST_ROW_BYTES + HEADER_BYTES else 0.0
        self.payload = max(row_bytes - HEADER_BYTES - (packed + 7) // 8 - nulls - lengths, SHORTEST)

    def ends(self) -> tuple[Widths, Widths]:
        if not self.varying and not self.chars:
            absent = min(float(self.absent), max(self.rest + self.numbers - self.payload, 0.0))
            whole = float(self.rest + self.numbers)
            return Widths(whole - absent, 1.0, LEAST_PRESENT if absent else 1.0), Widths(whole, 1.0)
        fewest, most = self.zeros_ends
        widest = self._with(most, LEAST_FULL, 1.0)
        self.payload -= self.unused
        return self._with(fewest, MOST_FULL, LEAST_PRESENT), widest

    def _with(self, zeros: float, full: float, present: float) -> Widths:
        """With so many zeros and NULLs, and CHARs so full, as far as the file allows it."""
        stored_numbers = self.numbers * (1 - zeros)
        rest = max(self.payload - self.rest - stored_numbers, 0.0)
        room = sum(_room(column) for column in self.varying)
        chars = sum(column.maximum_bytes for column in self.chars)
        if not self.varying:
            full = 1.0
        held = min(chars * full, rest)
        # No CHAR is fuller than what the row has left for all of them.
        full = held / chars if chars else full
        share = (rest - held) / room if room else full
        padded = sum(max(_padded(column, full), 0.0) for column in self.chars)
        absent = min(self.absent * (1 - present), max(self.rest + self.numbers - self.payload + rest, 0.0))
        return Widths(self.rest + self.numbers - absent + padded + (rest - held), min(max(share, 0.02), 1.0), present)


def _ends_of_all(columns: Sequence[Column]) -> tuple[float, float]:
    """Which share of their bytes is zeros, at least and at most."""
    squares, whole = sum(column.maximum_bytes**2 for column in columns), sum(column.maximum_bytes for column in columns)
    half = MOST_ZEROS / 2 * (squares**0.5 / whole if whole else 1.0)
    return MOST_ZEROS / 2 - half, MOST_ZEROS / 2 + half


def _padded(column: Column, full: float) -> float:
    held = column.maximum_bytes * full
    return float(column.maximum_bytes) if is_fixed(column) else max(held, _least_bytes(column))


def _room(column: Column) -> float:
    return min(float(column.maximum_bytes), TYPICAL_BLOB_BYTES) if column.is_blob else float(column.maximum_bytes)


def _length_bytes(column: Column) -> int:
    if column.is_blob:
        return LENGTH_BYTES.get(column.type, 4)
    return 1  # three from 255 bytes on (store_key_length_inc)


def within_index(
    structure: Structure, rows: int, index_bytes: int, ends: tuple[Widths, Widths]
) -> tuple[Widths, Widths]:
    """The same, with texts in indexes as long as the .MYI shows: its pages are full, or somewhat more than half. Longer they may be: it packs them."""
    parts = [(structure.columns[part.column], part.length) for index in structure.indexes for part in index.parts]
    room = sum(min(_room(column), length) for column, length in parts if not is_fixed(column))
    if not room or not rows or any(index.kind != types.BTREE for index in structure.indexes):
        return ends
    known = POINTER_BYTES * len(structure.indexes)
    known += sum(column.nullable + (length if is_fixed(column) else 1) for column, length in parts)
    entry = index_bytes / rows
    if entry * LEAST_FULL_PAGES < known / 2:
        return ends  # its keys are disabled, or much compressed: nothing follows
    least, full = (min(max((entry * filled - known) / room, 0.0), 1.0) for filled in (LEAST_FULL_PAGES, 1.0))
    # Of a prefix the index tells nothing of what lies behind it.
    least *= room / sum(_room(column) for column, _ in parts if not is_fixed(column))
    floors = [_share_within(structure, end.share) for end in ends]
    low = replace(ends[0], share=max(min(ends[0].share, full), least, floors[0]))
    high = replace(ends[1], share=max(ends[1].share, least, floors[1]))
    return low, high


def _share_within(structure: Structure, share: float) -> float:
    """How full texts in indexes are at least: what all texts have, without what those outside of indexes hold at most."""
    within = {part.column for index in structure.indexes for part in index.parts}
    varying = {
        place: column
        for place, column in enumerate(structure.columns)
        if column.is_blob or column.type in types.VARIABLE
    }
    outside = sum(column.maximum_bytes for place, column in varying.items() if place not in within)
    room = sum(_room(column) for place, column in varying.items() if place in within)
    held = share * sum(_room(column) for column in varying.values())
    return min(max((held - outside) / room, 0.0), 1.0) if room else 0.0


def part_bytes(column: Column, length: int, widths: Widths) -> float:
    """What a value takes in an index, on average, its length byte included."""
    present = widths.present if column.nullable else 1.0
    if is_fixed(column):
        return length * present
    full = min(float(length), max(_room(column) * widths.share, _least_bytes(column), SHORTEST)) * present
    return full + (2 if column.maximum_bytes > 255 and full > 127 else 1)


def key_bytes(structure: Structure, index: Index, widths: Widths) -> float:
    """All columns of an index."""
    return sum(part_bytes(structure.columns[part.column], part.length, widths) for part in index.parts)


def text_bytes(structure: Structure, index: Index, widths: Widths) -> float:
    """What the texts of an index's columns have in a row, on average: their part of what is no number, by the room that each has."""
    columns = list(stored(structure))
    texts = widths.values - sum(column.maximum_bytes for column in columns if is_fixed(column))
    within = {structure.columns[part.column].name for part in index.parts}
    rooms = {column.name: _room(column) for column in columns if not is_fixed(column)}
    room = sum(rooms.values())
    return max(texts, 0.0) * sum(rooms.get(name, 0.0) for name in within) / room if room else 0.0
