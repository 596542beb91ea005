"""The header of a .MYI file: everything MyISAM knows about a table, in one read, without the server.

Layout and sources (all integers big-endian): storage/myisam/myisamdef.h, mi_open.c of MySQL 5.7 and MariaDB 10.1;
compared field by field with `myisamchk -dvv` in tests/servers. The server writes the state part after every write statement.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from myisam_exporter.files.myi_definition import INTEGER_MAXIMUM, Definition, Definitions, HeaderError

__all__ = [
    "FIRST_READ_BYTES", "NO_HEADER", "OPEN_COUNT_BYTES", "OPEN_COUNT_POSITION", "Header", "HeaderError", "header_length", "lacks_estimates",
    "parse_header", "read_header_bytes", "tree_pointers",
]  # fmt: skip

# What is said of a file that is no .MYI at all; of any other it is that the header is damaged.
EMPTY, ANOTHER_KIND = "the file is empty", "it does not begin as a .MYI file does"
NO_HEADER = frozenset({EMPTY, ANOTHER_KIND})
MAGIC = b"\xfe\xfe\x07\x01"
FIRST_READ_BYTES = 4096  # holds the whole header of nearly every table
STATE_FIXED_BYTES = 124
OPEN_COUNT_POSITION, OPEN_COUNT_BYTES = 24, 2
STATE_LENGTH_KNOWN = 176  # state_info_length of 5.5 to 9.7; what exceeds it stands before the key roots
KEY_MAP_AFTER_FREE_LISTS = 12  # sec_index_changed, sec_index_used and version stand between
MOST_LEFT_OF_SPATIAL = 4  # of the estimates for the five parts of a SPATIAL index so many are never made, or one
ROWS_PER_KEY_AFTER_KEY_MAP = 40  # the map itself, three times and rec_per_key_rows stand between
POINTERS_IN_BASE = 72  # rec_reflength and key_reflength, behind five long numbers and eight short ones
NO_HOLE = 0xFFFF_FFFF_FFFF_FFFF

OPTION_PACK_RECORD, OPTION_COMPRESS_RECORD, OPTION_DELAY_KEY_WRITE = 1, 4, 64
CHANGED_CRASHED, CHANGED_CRASHED_ON_REPAIR = 2, 4

# What stands first is the same for all tables made alike; what changes comes behind.
_BEGINNING, _STATE = struct.Struct(">4s 7H 5B x"), struct.Struct(">HBx 7Q 8x Q 8x Q 4x I")
_KEPT_BEGINNINGS = 1024


class Header(NamedTuple):
    """One table's header: state and definition. A tuple, as that is made in half the time: there may be a hundred thousand."""

    row_format: str
    open_count: int
    crashed: bool
    recovery_failed: bool
    rows: int
    deleted_rows: int
    data_blocks: int
    has_holes: bool
    index_bytes: int
    data_bytes: int
    free_bytes: int
    auto_increment: int
    writer: int
    update_count: int
    enabled_keys: int
    delay_key_write: bool
    not_analyzed: bool
    definition: Definition


# A header without its definition: seven counts, who wrote last, the indexes that are kept up to date, and small numbers; the yes-or-no ones are
# bits of one byte. Of most tables four bytes are enough for each count and for the indexes, but not for who wrote last.
NARROW, WIDE = struct.Struct("<7IQIIHBB"), struct.Struct("<9QIHBB")
INDEX_BYTES_PLACE, DATA_BYTES_PLACE, ENABLED_KEYS_PLACE = 3, 4, 8  # among them
# Of these: rows, deleted rows, blocks, bytes of index, data and holes, the last AUTO_INCREMENT, the indexes kept up to date, by how many
# servers it was left open, the format and the flags.
NARROW_COUNTS, WIDE_COUNTS = "7I8xI4xHBB", "7Q8xQ4xHBB"
CRASHED, RECOVERY_FAILED, HAS_HOLES, DELAYS_KEY_WRITES, NOT_ANALYZED = 1, 2, 4, 8, 16
ROW_FORMATS = ("compressed", "dynamic", "fixed")
COMPRESSED, DYNAMIC, FIXED = range(3)  # of these


class PackedHeader(NamedTuple):
    """A header as it is kept: without its definition in 48 bytes, or in 80."""

    packed: bytes
    definition: Definition

    def header(self) -> Header:
        """The header that was packed."""
        return unpacked_header(NARROW if len(self.packed) == NARROW.size else WIDE, self.packed, 0, self.definition)


def packed_header(header: Header) -> PackedHeader:
    """A header as it is kept."""
    flags = (
        header.crashed * CRASHED
        | header.recovery_failed * RECOVERY_FAILED
        | header.has_holes * HAS_HOLES
        | header.delay_key_write * DELAYS_KEY_WRITES
        | header.not_analyzed * NOT_ANALYZED
    )
    return PackedHeader(_packed(
        header.rows, header.deleted_rows, header.data_blocks, header.index_bytes, header.data_bytes, header.free_bytes,
        header.auto_increment, header.writer, header.enabled_keys, header.update_count, header.open_count,
        ROW_FORMATS.index(header.row_format), flags,
    ), header.definition)  # fmt: skip


def _packed(*numbers: int) -> bytes:
    """In as few bytes as they need, so that equal ones are packed alike."""
    try:
        return NARROW.pack(*numbers)
    except struct.error:
        return WIDE.pack(*numbers)


def unpacked_header(width: struct.Struct, packed: bytes, start: int, definition: Definition) -> Header:
    """The header that was packed there, in that width."""
    (rows, deleted, blocks, index_bytes, data_bytes, free, auto_increment, writer, enabled, updates, open_count, row_format, flags) = width.unpack_from(packed, start)  # fmt: skip
    # A named tuple's own __new__ is Python: without it this takes two thirds of the time.
    return tuple.__new__(Header, (
        ROW_FORMATS[row_format], open_count, flags & CRASHED != 0, flags & RECOVERY_FAILED != 0, rows, deleted, blocks,
        flags & HAS_HOLES != 0, index_bytes, data_bytes, free, auto_increment, writer, updates, enabled,
        flags & DELAYS_KEY_WRITES != 0, flags & NOT_ANALYZED != 0, definition,
    ))  # fmt: skip


def header_length(start: bytes) -> int:
    """How many bytes the whole header takes, from its first ones.

    Raises HeaderError when these are not the beginning of a .MYI file.
    """
    if len(start) >= STATE_FIXED_BYTES and start.startswith(MAGIC):
        return start[6] << 8 | start[7]
    if not start:
        raise HeaderError(EMPTY)
    if start[:4] != MAGIC[: len(start[:4])]:
        raise HeaderError(ANOTHER_KIND)
    raise HeaderError(f"it ends after {len(start)} bytes, within its header")


def read_header_bytes(descriptor: int) -> bytes:
    """All that an open .MYI file has of its header, and more of a short one. Raises HeaderError as `header_length` does, and OSError."""
    data = os.pread(descriptor, FIRST_READ_BYTES, 0)
    length = header_length(data)
    if length > len(data) == FIRST_READ_BYTES:
        data += os.pread(descriptor, length - len(data), len(data))
    return data


def parse_header(data: bytes, definitions: Definitions | None = None) -> Header:
    """The header that DATA begins with; its definition shared with those in `definitions`.

    Raises HeaderError when it is truncated, contradicts itself, or tells of what no file can be.
    """
    return parse_packed(data, header_length(data), definitions or Definitions()).header()


def parse_packed(data: bytes, length: int, definitions: Definitions) -> PackedHeader:
    """The same of a header of that length, as it is kept: a hundred thousand are never made into tuples. Raises as `parse_header` does."""
    if len(data) < length:
        raise HeaderError(f"it ends after {len(data)} bytes, within its header of {length}")
    key_count, base_position, key_map, row_format, made_with, statistics, rows_per_key = _begun(data[: _BEGINNING.size])
    (open_count, changed, rows, deleted, split, first_hole, index_bytes, data_bytes, free_bytes, auto_increment, writer,
     update_count) = _STATE.unpack_from(data, _BEGINNING.size)  # fmt: skip
    flags = (
        made_with
        | (CRASHED if changed & CHANGED_CRASHED else 0)
        | (RECOVERY_FAILED if changed & CHANGED_CRASHED_ON_REPAIR else 0)
        | (HAS_HOLES if first_hole != NO_HOLE else 0)
    )
    enabled = int.from_bytes(data[key_map : key_map + 8], "big")
    definition = definitions.of(data[base_position:length], key_count, row_format != FIXED)
    estimates = rows_per_key.unpack_from(data, statistics) if rows else ()
    if 0 in estimates and lacks_estimates(estimates, definition.estimated, enabled):
        flags |= NOT_ANALYZED
    counts = rows, deleted, split, index_bytes, data_bytes, free_bytes, auto_increment
    small = writer, enabled, update_count, open_count, row_format, flags
    try:
        packed = NARROW.pack(*counts, *small)
    except struct.error:
        packed = WIDE.pack(*_possible(counts), *small)
    if data_bytes > definition.maximum_data_bytes or index_bytes > definition.maximum_index_bytes:
        _refuse_unreachable(definition, data_bytes if row_format != COMPRESSED else 0, index_bytes)
    return tuple.__new__(PackedHeader, (packed, definition))


def lacks_estimates(estimates: Sequence[int], counts: Sequence[int] | None, enabled: int) -> bool:
    """Whether one is missing that ANALYZE TABLE would make, of estimates for the parts of all indexes among which is a 0.

    `counts` are the parts of each (Definition.estimated), None where nothing is known of them: then a 0 is believed.

    It passes over a disabled index, and leaves zeros at the end for each SPATIAL one: mi_open.c takes a part from its count (MySQL 9.7 four), so what
    stands behind such an index is out of place by so many. Tried on MySQL 5.5 and 9.7, MariaDB 10.11 and 11.8.
    """
    place = 0
    for number, count in enumerate(counts or ()):
        if count < 0:
            rest = (counts or ())[number:]
            spatial = sum(one < 0 for one in rest)
            is_whole = not ~(enabled >> number) & ((1 << len(rest)) - 1)
            return is_whole and 0 in estimates[place : len(estimates) - MOST_LEFT_OF_SPATIAL * spatial]
        if enabled >> number & 1 and 0 in estimates[place : place + count]:
            return True
        place += count
    return counts is None


def _possible(counts: tuple[int, ...]) -> Iterator[int]:
    """The counts, as far as numbers go. Raises HeaderError for files that would be longer than any can be."""
    for what, place in (("data", DATA_BYTES_PLACE), ("index", INDEX_BYTES_PLACE)):
        if counts[place] > INTEGER_MAXIMUM:
            raise HeaderError(f"its {what} file would have {counts[place]} bytes, more than any file can have")
    return (min(count, INTEGER_MAXIMUM) for count in counts)


def _refuse_unreachable(definition: Definition, data_bytes: int, index_bytes: int) -> None:
    """Raises HeaderError for files longer than the table's own pointers reach: the engine writes none such (mi_write.c, mi_page.c, mi_dynrec.c)."""
    for what, length, limit in (
        ("data", data_bytes, definition.maximum_data_bytes),
        ("index", index_bytes, definition.maximum_index_bytes),
    ):
        if length > limit:
            raise HeaderError(f"its {what} file would have {length} bytes, and its pointers reach only {limit}")


class _Begun(NamedTuple):
    """What the beginning of a header says, and where it says that the rest stands.

    `rows_per_key` takes the estimates for the parts of all indexes out of it: one that is 0 was never made, or only before the index was.
    The engine's NOT_ANALYZED bit says another thing, that the table changed since. Tried on MySQL 5.6 and 9.7 and MariaDB 10.11: single
    inserts leave 0 here; ANALYZE, CHECK, OPTIMIZE, ALTER and a bulk load into an empty table fill it in.
    """

    key_count: int
    base_position: int
    key_map: int
    row_format: int
    flags: int
    statistics: int
    rows_per_key: struct.Struct


@lru_cache(maxsize=_KEPT_BEGINNINGS)
def _begun(beginning: bytes) -> _Begun:
    """The beginning taken apart. Raises HeaderError."""
    (_, options, length, state_length, _, base_position, part_count, _, key_count, _, _, page_sizes, _) = (
        _BEGINNING.unpack(beginning)
    )
    if not STATE_FIXED_BYTES <= base_position <= length:
        raise HeaderError(f"its base information would begin at byte {base_position} of {length}")
    # One bit for each index that is kept up to date: ALTER TABLE ... DISABLE KEYS clears them.
    key_map = (
        STATE_FIXED_BYTES
        + max(state_length - STATE_LENGTH_KNOWN, 0)
        + 8 * (key_count + page_sizes)
        + KEY_MAP_AFTER_FREE_LISTS
    )
    statistics = min(key_map + ROWS_PER_KEY_AFTER_KEY_MAP, base_position)
    return _Begun(
        key_count,
        base_position,
        key_map,
        COMPRESSED if options & OPTION_COMPRESS_RECORD else DYNAMIC if options & OPTION_PACK_RECORD else FIXED,
        DELAYS_KEY_WRITES if options & OPTION_DELAY_KEY_WRITE else 0,
        statistics,
        struct.Struct(f">{min(part_count, (base_position - statistics) // 4)}I"),
    )


def tree_pointers(data: bytes) -> tuple[tuple[int, ...], int, int]:
    """Where the tree of each index begins, and how many bytes a pointer to a row and one to an index page take, of a header that was parsed."""
    state_length, base_position, key_count = (
        int.from_bytes(data[8:10], "big"),
        int.from_bytes(data[12:14], "big"),
        data[18],
    )
    roots = STATE_FIXED_BYTES + max(state_length - STATE_LENGTH_KNOWN, 0)
    pointers = base_position + POINTERS_IN_BASE
    return (
        struct.unpack_from(f">{key_count}Q", data.ljust(roots + 8 * key_count, b"\0"), roots),
        data[pointers],
        data[pointers + 1],
    )
