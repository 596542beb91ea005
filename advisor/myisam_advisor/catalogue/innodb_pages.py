"""How many pages of InnoDB hold so many entries of one length, and how large the file around them is.

A copying ALTER fills pages in one of three ways. Sorted (MariaDB since innodb_alter_copy_bulk, 10.11.10 and 11.4.4): each index is built from
sorted entries. In order: rows are inserted one by one, each behind the one before. At random: pages are split by halves, and fill again.

Sources: storage/innobase/include/page0page.h (PAGE_NEW_SUPREMUM_END, FIL_PAGE_DATA_END), dict0dict.h (dict_index_get_space_reserve: a
sixteenth of a clustered page stays free), fsp0fsp.cc (FSEG_FILLFACTOR, FSEG_FRAG_LIMIT, fsp_get_pages_to_extend_ibd,
fsp_reserve_free_extents). The shares of pages filled at random were measured: docs/guide/migrate-measured.md.
"""

from __future__ import annotations

from math import ceil

from myisam_exporter.declaring.lean_dataclasses import dataclass

PAGE_BYTES = 16_384
ROOM_BYTES = PAGE_BYTES - 120 - 8  # behind the page's headers, infimum and supremum; before its trailer
RESERVED_BYTES = PAGE_BYTES // 16
SLOT_BYTES = 0.5  # two bytes for every four entries
NODE_BYTES = 5 + 4  # of an entry that points to a page: its header, the page's number
FRAGMENT_PAGES, EXTENT_PAGES = 32, 64
# The files in which MariaDB sorts a copy, at most, in times the table: eight tables on 10.11.19, 11.4.5 and 11.8.9 (migrate/sort_files.py).
SORT_FILES = 1.8
# Of innodb_sort_buffer_size as it is by default: what becomes no larger than this is sorted in memory.
SORTED_IN_MEMORY_BYTES = 1 << 20
# A segment takes another extent when seven eighths of what it has are used, unless its pages come in order. From 40 on (FSEG_FREE_LIST_LIMIT)
# it is no more than five ahead: 54 for 49.3, 269 for 264.1 were looked at, where seven eighths would be 57 and 302.
SEGMENT_FACTOR, MOST_AHEAD_EXTENTS = 8 / 7, 5
# Of rows, and of entries of an index: many values, few values.
MOST_OF_ROWS, LEAST_OF_ROWS, MOST_OF_INDEX, LEAST_OF_INDEX = 0.67, 0.64, 0.70, 0.58
FIRST_PAGES = 3  # the file's header, its bitmap, its segments
# Row by row the server keeps so many extents free: two and one in a hundred, three for the split of a tree, and part of the last four that it
# took into use (FSP_FREE_ADD). MySQL from 5.7 on has one less.
FREE_EXTENTS, MORE_FREE_EXTENTS = 5.5, 6.5
FEWER_FREE_SINCE = (5, 7)  # MySQL
LARGE_FILE_EXTENTS, LARGE_STEP_EXTENTS = 32, 4
# Of an empty table: MariaDB 10.11, MySQL 5.6, and 9.7, which keeps its definition (.sdi) there too; each was looked at.
LEAST_FILE_BYTES = {"mariadb": 65_536.0, "old": 98_304.0, "dictionary": 114_688.0}


def sort_file_bytes(table_bytes: float) -> float:
    """What the files in which MariaDB sorts a copy may take, of what the table becomes; 0 where it is sorted in memory."""
    return SORT_FILES * table_bytes if table_bytes > SORTED_IN_MEMORY_BYTES else 0.0


@dataclass(frozen=True, slots=True)
class Filling:
    """In which way an index is filled: the share of its room, whether a sixteenth stays free, and whether extents are filled to their end."""

    share: float
    reserved_bytes: int = 0
    in_order: bool = False


SORTED_ROWS, SORTED_INDEX = Filling(1.0, RESERVED_BYTES), Filling(1.0)
ROWS_IN_ORDER, INDEX_IN_ORDER = Filling(1.0, RESERVED_BYTES, True), Filling(1.0, 0, True)
ROWS_AT_RANDOM, ROWS_WORST = Filling(MOST_OF_ROWS), Filling(LEAST_OF_ROWS)
INDEX_AT_RANDOM, INDEX_OF_FEW = Filling(MOST_OF_INDEX), Filling(LEAST_OF_INDEX)
INDEX_OF_BOXES = Filling(0.61)  # measured: 60,000 points, on MariaDB 10.11 and MySQL 9.7


def tree_pages(rows: int, entry_bytes: float, key_bytes: float, filling: Filling) -> int:
    """The pages that an index takes in the file, its half-empty extents included."""
    room = (ROOM_BYTES - filling.reserved_bytes) * filling.share
    # What is left over at a page's end is half an entry on average.
    per_page = max(room / (entry_bytes + SLOT_BYTES) - 0.5, 1.0)
    leaves = ceil(rows / per_page)
    inner = 0
    level = leaves
    while level > 1:
        level = ceil(level / max(ROOM_BYTES * filling.share / (key_bytes + NODE_BYTES + SLOT_BYTES), 2.0))
        inner += level
    if leaves == 1:
        return 1  # its root
    return _segment(leaves, filling.in_order) + _segment(inner, filling.in_order)


def _segment(pages: int, in_order: bool) -> int:
    if pages <= FRAGMENT_PAGES:
        return pages
    used = (pages - FRAGMENT_PAGES) / EXTENT_PAGES
    wanted = used if in_order else min(used * SEGMENT_FACTOR, used + MOST_AHEAD_EXTENTS)
    return FRAGMENT_PAGES + ceil(wanted) * EXTENT_PAGES


def free_extents(is_mariadb: bool, version: tuple[int, int]) -> float:
    """How many extents such a server keeps free behind those in use."""
    return FREE_EXTENTS if not is_mariadb and version >= FEWER_FREE_SINCE else MORE_FREE_EXTENTS


def file_bytes(pages: int, free_extents: float, least: float = LEAST_FILE_BYTES["mariadb"]) -> float:
    """The file of a table whose indexes take so many pages. `free_extents` are kept behind those in use; 0: it was not filled row by row."""
    used = FIRST_PAGES + pages
    if used < EXTENT_PAGES:
        return max(float(used * PAGE_BYTES), least)
    extents = ceil(used / EXTENT_PAGES + free_extents)
    if extents > LARGE_FILE_EXTENTS:
        extents = ceil(extents / LARGE_STEP_EXTENTS) * LARGE_STEP_EXTENTS
    return float(extents * EXTENT_PAGES * PAGE_BYTES)
