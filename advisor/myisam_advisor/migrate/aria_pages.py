"""How large Aria's two files are: rows in pages of 8 kB, which are filled in steps, and indexes built by sorting.

A page is told to be empty, 30, 60 or 90 % full; a row goes to the fullest page that surely holds it (best fit). What is longer than a page
has its texts in pages of their own, and their ends in pages that ends share. So how many rows a page holds is worked out by placing some.

Sources: storage/maria/ma_bitmap.c (_ma_bitmap_init, allocate_head, allocate_tail, find_blob), ma_blockrec.h (PAGE_OVERHEAD_SIZE,
DIR_ENTRY_SIZE, MAX_TAIL_SIZE), ma_blockrec.c (the row's structure; a value of 0 or "" has a bit alone). That a row takes no less than 34
bytes, and a key points to its row by five, was measured on MariaDB 10.11 with twenty tables of one column or two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import ceil

from myisam_advisor.migrate import myisam_keys
from myisam_advisor.migrate.myisam_keys import AT_RANDOM, VARYING_AT_RANDOM, full_bytes, of_numbers
from myisam_advisor.migrate.widths import FIXED, PACKED
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Index, Structure

PAGE_BYTES = 8192
ROOM_BYTES = PAGE_BYTES - 16  # a page that holds nothing, its first place in the directory included
FULL_PAGE_BYTES = PAGE_BYTES - 12
# What is free at least of a page in each of its states, the emptiest first: of rows, and of the ends of long values.
HEAD_FREE = (ROOM_BYTES, 5724, 3271, 818)
TAIL_FREE = (ROOM_BYTES, 4906, 1636)
LONGEST_TAIL_BYTES = PAGE_BYTES * 3 // 4
LEAST_ROW_BYTES = 38  # with its four bytes in the page's directory
# A flag, the length of the lengths, the directory: what a row has here beside its values. Of a dynamic row of MyISAM's its own header is less.
ROW_BYTES, MYISAM_HEADER_BYTES = 6, 4.5
LENGTH_BYTES = 2  # of a text, at most
LONG_ROW_BYTES = 500  # from here on it matters how much rows differ in length
# Rows that differ do so by this share of the mean, at least and at most.
LEAST_SPREAD, MOST_SPREAD = 0.3, 0.9
PLACED_ROWS = 600
LEAST_BYTES = 2.0 * PAGE_BYTES  # of an empty table: one page of rows, one of the index's header

KEY_ROOM_BYTES = PAGE_BYTES - 21
POINTER_BYTES, PAGE_POINTER_BYTES = 5, 4
WORD_ENTRY_BYTES = 12.0  # of a FULLTEXT index: weight, place, and what is left of a packed word
# Boxes are not sorted here either, and pages are divided as MyISAM's are. Points spread evenly fill all pages at a time, and divide them at a
# time: 0.59 to 0.82 were measured of 40,000 to 220,000 points; 0.61 to 0.66 of points in clusters, 0.58 to 0.60 of those from west to east.
MOST_OF_BOXES, LEAST_OF_BOXES = 0.79, 0.58
MOST_ZEROS, MOST_NULLS, LEAST_FULL = 0.6, 0.5, 0.2
MARGIN = 0.03


def aria_bytes(
    structure: Structure, rows: int, row_bytes: float, index_bytes: int, row_format: str, *, never_sorted: bool = False
) -> tuple[float, float]:
    """Between which sizes both files will be together."""
    if not rows:
        return LEAST_BYTES, LEAST_BYTES
    pages = [rows * of for length in _row_lengths(structure, row_bytes, row_format) for of in _pages_for_a_row(length)]
    keys = _index_bytes(structure, rows, index_bytes, never_sorted=never_sorted)
    low = ceil(min(pages)) * PAGE_BYTES + min(keys)
    high = ceil(max(pages)) * PAGE_BYTES + max(keys)
    return (low * (1 - MARGIN) + LEAST_BYTES, high * (1 + MARGIN) + LEAST_BYTES)


def _row_lengths(structure: Structure, row_bytes: float, row_format: str) -> Iterable[tuple[float, bool]]:
    """What a row takes of its page, at least and at most, and whether rows differ in length."""
    if row_format not in (FIXED, PACKED):
        yield max(row_bytes - MYISAM_HEADER_BYTES + ROW_BYTES, LEAST_ROW_BYTES), True
        return
    columns = structure.columns
    bits = (len(columns) + 7) // 8
    if row_format == PACKED:
        # No shorter than myisampack left them, no longer than with every column full.
        lengths = sum(LENGTH_BYTES for column in columns if column.type in types.VARIABLE)
        full = sum(column.maximum_bytes for column in columns) + lengths + bits
        for length in (min(row_bytes, full), full):
            yield max(length + ROW_BYTES, LEAST_ROW_BYTES), True
        return
    most = row_bytes + ROW_BYTES + bits
    # Here zeros and the spaces behind a text take room, there they do not.
    chars = sum(column.maximum_bytes for column in columns if column.type == types.STRING)
    numbers = sum(column.maximum_bytes for column in columns if column.type != types.STRING)
    least = most - chars * (1 - LEAST_FULL) - numbers * MOST_ZEROS
    for length in (least, most):
        yield max(length, LEAST_ROW_BYTES), chars > 0


def _pages_for_a_row(row: tuple[float, bool]) -> Sequence[float]:
    """How many pages each row takes, by rows of one length, and by those that differ where they do."""
    length, differ = row
    if length > LONG_ROW_BYTES:
        return [_placed(_rounded(length), spread) for spread in ((LEAST_SPREAD, MOST_SPREAD) if differ else (0.0,))]
    most = (ROOM_BYTES - HEAD_FREE[-1]) / length
    return [1 / (most + 0.5 if differ else int(most) + 1)]


def _rounded(length: float) -> int:
    """To a hundredth: tables of like rows are placed once."""
    step = max(int(length / 100), 1)
    return round(length / step) * step


@lru_cache(maxsize=2048)
def _placed(length: int, spread: float) -> float:
    """How many pages a row takes, found by placing some whose lengths are spread evenly."""
    heads, tails = _Pages(HEAD_FREE), _Pages(TAIL_FREE)
    whole = 0
    for number in range(PLACED_ROWS):
        # Multiples of the golden ratio are spread evenly, however many.
        row = length * (1 + spread * (2 * (number * 0.618034 % 1) - 1))
        if row <= ROOM_BYTES:
            heads.take(row)
            continue
        heads.take(LEAST_ROW_BYTES + 14)
        pages, rest = divmod(row, FULL_PAGE_BYTES)
        whole += int(pages) + (rest >= LONGEST_TAIL_BYTES)
        if rest < LONGEST_TAIL_BYTES:
            tails.take(rest + 4)
    return (whole + heads.count + tails.count) / PLACED_ROWS


class _Pages:
    """Pages of one kind, by the state that the bitmap has them in."""

    def __init__(self, free: Sequence[int]) -> None:
        self.free = free
        self.held: list[deque[float]] = [deque() for _ in free]
        self.count = 0

    def take(self, length: float) -> None:
        """Put so many bytes on the fullest page that surely has them, else on a new one."""
        fitting = [state for state, free in enumerate(self.free) if state and free >= length and self.held[state]]
        if fitting:
            room = self.held[fitting[-1]].popleft()
        else:
            self.count += 1
            room = ROOM_BYTES
        room -= length
        state = max((state for state, free in enumerate(self.free) if room < free), default=0) + 1
        if state < len(self.free):
            self.held[state].append(room)


def _index_bytes(structure: Structure, rows: int, index_bytes: int, *, never_sorted: bool = False) -> Sequence[float]:
    """Indexes of numbers are known to the page, boxes by their number. What texts take is what is left of MyISAM's, its pages full, or filled in any order."""
    numbers = [index for index in structure.indexes if of_numbers(structure, index)]
    boxes = len(structure.of_kind(types.SPATIAL)) * rows * (myisam_keys.BOX_BYTES + POINTER_BYTES)
    least, most = (
        sum(_sorted_bytes(structure, index, rows, nulls) for index in numbers) + boxes / full
        for nulls, full in ((MOST_NULLS, MOST_OF_BOXES), (0.0, LEAST_OF_BOXES))
    )
    others = [index for index in structure.indexes if index not in numbers and index.kind != types.SPATIAL]
    if not others:
        return least, most
    now = sum(full_bytes(structure, index, rows) for index in numbers)
    unsorted = myisam_keys.boxes_bytes(structure, rows)
    has_words = _has_words(others)
    entries = None if has_words else len(others) * rows
    ends = ((AT_RANDOM, VARYING_AT_RANDOM), (1.0, 1.0))
    if has_words and never_sorted:
        ends = ((AT_RANDOM, myisam_keys.WORDS_BY_ROW), (1.0, VARYING_AT_RANDOM))
    found = [
        least + _repacked(index_bytes - unsorted - now / of_numbers_full, entries, of_texts_full)
        for of_numbers_full, of_texts_full in ends
    ]
    return min(found), max(found) + most - least


def _has_words(indexes: Sequence[Index]) -> bool:
    return any(index.kind == types.FULLTEXT for index in indexes)


def _sorted_bytes(structure: Structure, index: Index, rows: int, nulls: float) -> float:
    """Of an index that was built of sorted entries: every page full."""
    entry = POINTER_BYTES + sum(
        part.length * (1 - nulls) + 1 if structure.columns[part.column].nullable else part.length
        for part in index.parts
    )
    level, pages = float(rows), 0
    while level > 1:
        level = ceil(level / max(int(KEY_ROOM_BYTES / (entry + (PAGE_POINTER_BYTES if pages else 0))), 2))
        pages += int(level)
    return float(max(pages, 1) * PAGE_BYTES)


def _repacked(myisam_bytes: float, entries: int | None, fill: float) -> float:
    """Of entries that MyISAM has in pages that full: the same ones with a shorter pointer, in larger pages. None: so many words."""
    held = max(myisam_bytes, 0.0) * fill
    entry = held / entries if entries else WORD_ENTRY_BYTES
    on_page = max(myisam_keys.ROOM_BYTES / max(entry, 1.0), 2.0)
    # Without the pages above, and half an entry that is left over at the end of each.
    alone = max(entry * (1 - 1 / on_page) * (1 - 0.5 / on_page) - (myisam_keys.POINTER_BYTES - POINTER_BYTES), 1.0)
    here = max(KEY_ROOM_BYTES / alone, 2.0)
    least = (POINTER_BYTES + 1.0) * (entries or 0)
    return max(held / entry * alone * (1 + 1 / here) * (1 + 0.5 / here) if entry else 0.0, least)
