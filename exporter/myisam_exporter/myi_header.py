"""The header of a .MYI file: everything MyISAM knows about a table, in one read, without the server.

Layout and sources (all integers big-endian): storage/myisam/myisamdef.h, mi_open.c of MySQL 5.7 and MariaDB 10.1;
compared field by field with `myisamchk -dvv` in tests/servers. The server writes the state part after every write statement.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache

MAGIC = b"\xfe\xfe\x07\x01"
FIRST_READ_BYTES = 4096  # holds the whole header of nearly every table
STATE_FIXED_BYTES = 124
OPEN_COUNT_POSITION, OPEN_COUNT_BYTES = 24, 2
STATE_LENGTH_KNOWN = 176  # state_info_length of 5.5 to 9.7; what exceeds it stands before the key roots
KEY_MAP_AFTER_FREE_LISTS = 12  # sec_index_changed, sec_index_used and version stand between
NO_HOLE = 0xFFFF_FFFF_FFFF_FFFF
SQLITE_MAXIMUM = 2**63 - 1

OPTION_PACK_RECORD, OPTION_COMPRESS_RECORD = 1, 4
CHANGED_CRASHED, CHANGED_CRASHED_ON_REPAIR = 2, 4

KEY_NOSAME, KEY_PACK, KEY_VAR_LENGTH, KEY_AUTO, KEY_BINARY_PACK = 1, 2, 8, 16, 32
KEY_FULLTEXT, KEY_SPATIAL = 128, 1024
ALGORITHM_BTREE = 1
SEGMENT_SPACE_PACK, SEGMENT_VAR_LENGTH, SEGMENT_NULL, SEGMENT_BLOB = 1, 8, 16, 32

_STATE = struct.Struct(">4s H H H H H H H B B B B B x H B B 9Q Q 4I")
_KEY = struct.Struct(">B B H H H H H")
_SEGMENT = struct.Struct(">B B B B B B H H I I")
_BASE = struct.Struct(">5Q 8I B B B B H H")

# my_base.h, enum ha_base_keytype
KEY_TYPES = {
    1: "CHAR", 2: "BINARY", 3: "SMALLINT", 4: "INT", 5: "FLOAT", 6: "DOUBLE", 7: "NUMERIC", 8: "SMALLINT UNSIGNED", 9: "INT UNSIGNED",
    10: "BIGINT", 11: "BIGINT UNSIGNED", 12: "MEDIUMINT", 13: "MEDIUMINT UNSIGNED", 14: "TINYINT", 15: "VARCHAR", 16: "VARBINARY",
    17: "VARCHAR", 18: "VARBINARY", 19: "BIT",
}  # fmt: skip
SIZED_TYPES = frozenset({1, 2, 15, 16, 17, 18})


class HeaderError(Exception):
    """The bytes are no .MYI header; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class KeyPart:
    """One column (or prefix) of an index."""

    type: int
    flag: int
    length: int

    @property
    def nullable(self) -> bool:
        """Whether NULL can stand here."""
        return bool(self.flag & SEGMENT_NULL)

    @property
    def variable_length(self) -> bool:
        """Whether entries differ in length because of this part: VARCHAR, BLOB, or any nullable column."""
        return bool(self.flag & (SEGMENT_VAR_LENGTH | SEGMENT_NULL | SEGMENT_BLOB))

    def __str__(self) -> str:
        """The part as its column was declared, lengths in bytes."""
        name = KEY_TYPES.get(self.type, f"type {self.type}")
        sized = f"{name}({self.length} bytes)" if self.type in SIZED_TYPES else name
        return sized if self.nullable else f"{sized} NOT NULL"


@dataclass(frozen=True, slots=True)
class Key:
    """One index as the engine stores it."""

    algorithm: int
    flag: int
    page_bytes: int
    maximum_bytes: int
    parts: tuple[KeyPart, ...]

    @property
    def kind(self) -> str:
        """btree, rtree or fulltext."""
        if self.flag & KEY_FULLTEXT:
            return "fulltext"
        return "btree" if self.algorithm == ALGORITHM_BTREE and not self.flag & KEY_SPATIAL else "rtree"

    @property
    def unique(self) -> bool:
        """Whether the index forbids duplicates."""
        return bool(self.flag & KEY_NOSAME)

    @property
    def packed(self) -> bool:
        """Whether keys on a page are stored as differences from the one before."""
        return bool(self.flag & (KEY_PACK | KEY_BINARY_PACK))

    @property
    def variable_length(self) -> bool:
        """Whether entries differ in length."""
        return bool(self.flag & KEY_VAR_LENGTH)

    @property
    def binary_search(self) -> bool:
        """Whether the engine searches a page by halving it (mi_open.c, setup_key_functions)."""
        return self.kind == "btree" and not self.flag & (KEY_VAR_LENGTH | KEY_BINARY_PACK)

    @property
    def binary_search_without_packing(self) -> bool:
        """Whether PACK_KEYS=0 would bring binary search: only if every part has a fixed length and is NOT NULL."""
        return self.kind == "btree" and not any(part.variable_length for part in self.parts)

    def description(self) -> str:
        """The columns' types, for a person."""
        return ", ".join(str(part) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Definition:
    """What does not change while the table lives: shared by all tables of the same shape."""

    maximum_data_bytes: int
    maximum_index_bytes: int
    record_bytes: int
    blob_columns: int
    auto_increment_within_index: bool
    keys: tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class Header:
    """One table's header: state and definition."""

    row_format: str
    language: int
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
    free_index_bytes: int
    auto_increment: int
    writer: int
    update_count: int
    enabled_keys: int
    definition: Definition


def header_length(start: bytes) -> int:
    """How many bytes the whole header takes, from its first ones.

    Raises HeaderError when these are not the beginning of a .MYI file.
    """
    if not start:
        raise HeaderError("the file is empty")
    if start[:4] != MAGIC[: len(start[:4])]:
        raise HeaderError("it does not begin as a .MYI file does")
    if len(start) < STATE_FIXED_BYTES:
        raise HeaderError(f"it ends after {len(start)} bytes, within its header")
    return int.from_bytes(start[6:8], "big")


def parse_header(data: bytes) -> Header:
    """The header that DATA begins with.

    Raises HeaderError when it is truncated or contradicts itself.
    """
    length = header_length(data)
    if len(data) < length:
        raise HeaderError(f"it ends after {len(data)} bytes, within its header of {length}")
    (_, options, _, state_length, _, base_position, _, _, key_count, _, language, page_sizes, _, open_count, changed, _,
     rows, deleted, split, first_hole, index_bytes, data_bytes, free_bytes, free_index_bytes, auto_increment, _, process, unique, _, update_count,
    ) = _STATE.unpack_from(data)  # fmt: skip
    compressed = bool(options & OPTION_COMPRESS_RECORD)
    dynamic = bool(options & OPTION_PACK_RECORD)
    if not STATE_FIXED_BYTES <= base_position <= length:
        raise HeaderError(f"its base information would begin at byte {base_position} of {length}")
    return Header(
        row_format="compressed" if compressed else "dynamic" if dynamic else "fixed",
        language=language,
        open_count=open_count,
        crashed=bool(changed & CHANGED_CRASHED),
        recovery_failed=bool(changed & CHANGED_CRASHED_ON_REPAIR),
        rows=min(rows, SQLITE_MAXIMUM),
        deleted_rows=min(deleted, SQLITE_MAXIMUM),
        data_blocks=min(split, SQLITE_MAXIMUM),
        has_holes=first_hole != NO_HOLE,
        index_bytes=min(index_bytes, SQLITE_MAXIMUM),
        data_bytes=min(data_bytes, SQLITE_MAXIMUM),
        free_bytes=min(free_bytes, SQLITE_MAXIMUM),
        free_index_bytes=min(free_index_bytes, SQLITE_MAXIMUM),
        auto_increment=min(auto_increment, SQLITE_MAXIMUM),
        writer=process << 32 | unique,
        update_count=update_count,
        enabled_keys=_key_map(data, max(state_length - STATE_LENGTH_KNOWN, 0), key_count, page_sizes),
        definition=_parse_definition(bytes(data[base_position:length]), key_count, compressed or dynamic),
    )


def _key_map(data: bytes, excess: int, key_count: int, page_sizes: int) -> int:
    """One bit for each index that is kept up to date: ALTER TABLE ... DISABLE KEYS clears them."""
    position = STATE_FIXED_BYTES + excess + 8 * (key_count + page_sizes) + KEY_MAP_AFTER_FREE_LISTS
    return int.from_bytes(data[position : position + 8], "big")


@lru_cache(maxsize=8192)
def _parse_definition(data: bytes, key_count: int, variable_rows: bool) -> Definition:
    try:
        base = _BASE.unpack_from(data)
        keys, position = [], 100
        for _ in range(key_count):
            key, position = _parse_key(data, position)
            keys.append(key)
    except struct.error:
        raise HeaderError("its index descriptions reach beyond its header") from None
    record_bytes, data_pointer, key_pointer = base[7], base[13], base[14]
    if not 2 <= data_pointer <= 8 or not 1 <= key_pointer <= 7:
        raise HeaderError(f"its pointers would have {data_pointer} and {key_pointer} bytes")
    # A pointer counts bytes in tables of variable row length, rows in fixed ones; index pages start at multiples of 1024.
    positions = (1 << 8 * data_pointer) - 1
    maximum = positions if variable_rows else record_bytes * (positions + 1) - 1
    return Definition(
        min(maximum, SQLITE_MAXIMUM),
        min(1024 * ((1 << 8 * key_pointer) - 1), SQLITE_MAXIMUM),
        record_bytes,
        base[18],
        # The engine keeps the counter only where it is the first column of its index (ha_myisam.cc, with_auto_increment).
        base[16] == 0 and any(key.flag & KEY_AUTO for key in keys),
        tuple(keys),
    )


def _parse_key(data: bytes, position: int) -> tuple[Key, int]:
    part_count, algorithm, flag, page_bytes, _, _, maximum_bytes = _KEY.unpack_from(data, position)
    position += _KEY.size
    parts = []
    for _ in range(part_count):
        kind, _, _, _, _, _, part_flag, length, _, _ = _SEGMENT.unpack_from(data, position)
        parts.append(KeyPart(kind, part_flag, length))
        position += _SEGMENT.size
    return Key(algorithm, flag, page_bytes, maximum_bytes, tuple(parts)), position
