"""What a .MYI header says of a table's columns and indexes: the part that does not change while the table lives.

Thousands of tables are often of one shape, and their definitions are most of what is kept of them. So an index is kept in a few bytes,
equal ones are one object, equal definitions too, and all of them together take no more than a limit: a server's user can write headers of
64 KiB by the thousand. Layout and sources: see myi_header.py.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from weakref import WeakValueDictionary

from myisam_exporter.declaring.lean_dataclasses import dataclass

INTEGER_MAXIMUM = 2**63 - 1  # of SQLite, and of a file's length: off_t
MAXIMUM_KEPT_BYTES = 64 << 20
BASE_BYTES = 100

KEY_NOSAME, KEY_PACK, KEY_VAR_LENGTH, KEY_AUTO, KEY_BINARY_PACK = 1, 2, 8, 16, 32
KEY_FULLTEXT, KEY_SPATIAL = 128, 1024
# Any other is kept as a B-tree, too, whatever the word was: 0 (MySQL 4.0), USING HASH, and what MariaDB's long UNIQUE has, over a hash of the values.
ALGORITHM_BTREE, ALGORITHM_RTREE, ALGORITHMS_LONG_UNIQUE = 1, 2, (5, 6)
SEGMENT_VAR_LENGTH, SEGMENT_NULL, SEGMENT_BLOB = 8, 16, 32
_SEGMENT_VARIES = SEGMENT_VAR_LENGTH | SEGMENT_NULL | SEGMENT_BLOB

_KEY = struct.Struct(">B B H H H H H")
# type, flag, length, and where in the row the column begins with its bit for NULL: what tells two columns apart.
_SEGMENT = struct.Struct(">B 5x H H 8s")
_BASE = struct.Struct(">5Q 8I B B B B H H")
_KEPT_KEY, _KEPT_PART = struct.Struct(">B H H H"), struct.Struct(">B H H")
# Measured with sys.getsizeof: a Key, the bytes in it, its place in a tuple; a Definition with its numbers.
_KEY_BYTES, _DEFINITION_BYTES = 100, 500
_RECENT_BYTES, _INTERNED_KEYS = 1 << 20, 16_384

# my_base.h, enum ha_base_keytype
KEY_TYPES = {
    1: "CHAR", 2: "BINARY", 3: "SMALLINT", 4: "INT", 5: "FLOAT", 6: "DOUBLE", 7: "NUMERIC", 8: "SMALLINT UNSIGNED", 9: "INT UNSIGNED",
    10: "BIGINT", 11: "BIGINT UNSIGNED", 12: "MEDIUMINT", 13: "MEDIUMINT UNSIGNED", 14: "TINYINT", 15: "VARCHAR", 16: "VARBINARY",
    17: "VARCHAR", 18: "VARBINARY", 19: "BIT",
}  # fmt: skip
SIZED_TYPES = frozenset({1, 2, 15, 16, 17, 18})
# What a column of each type can count up to; a BINARY of one byte is TINYINT UNSIGNED. Floating numbers count to their last whole one.
COUNTS_TO = {
    3: 2**15 - 1, 4: 2**31 - 1, 5: 2**24, 6: 2**53, 8: 2**16 - 1, 9: 2**32 - 1, 10: 2**63 - 1, 11: 2**64 - 1, 12: 2**23 - 1,
    13: 2**24 - 1, 14: 2**7 - 1,
}  # fmt: skip
BINARY, TINYINT_UNSIGNED_MAXIMUM = 2, 255


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
        return bool(self.flag & _SEGMENT_VARIES)

    def __str__(self) -> str:
        """The part as its column was declared, lengths in bytes."""
        return _described(self.type, self.flag & SEGMENT_NULL, self.length)


@dataclass(frozen=True, slots=True)
class Key:
    """One index as the engine stores it: its algorithm, flags, page size and longest entry, and its parts, packed."""

    packed_bytes: bytes

    @property
    def algorithm(self) -> int:
        """my_base.h, enum ha_key_alg."""
        return self.packed_bytes[0]

    @property
    def flag(self) -> int:
        """my_base.h, HA_NOSAME and the following."""
        return int.from_bytes(self.packed_bytes[1:3], "big")

    @property
    def page_bytes(self) -> int:
        """Size of its pages."""
        return int.from_bytes(self.packed_bytes[3:5], "big")

    @property
    def maximum_bytes(self) -> int:
        """Its longest entry, with the row pointer."""
        return int.from_bytes(self.packed_bytes[5:7], "big")

    @property
    def part_count(self) -> int:
        """How many columns it has."""
        return (len(self.packed_bytes) - _KEPT_KEY.size) // _KEPT_PART.size

    @property
    def parts(self) -> tuple[KeyPart, ...]:
        """Its columns."""
        return tuple(KeyPart(*part) for part in self._parts())

    @property
    def kind(self) -> str:
        """btree, rtree or fulltext."""
        flag = self.flag
        if flag & KEY_FULLTEXT:
            return "fulltext"
        return "rtree" if self.algorithm == ALGORITHM_RTREE or flag & KEY_SPATIAL else "btree"

    @property
    def unique(self) -> bool:
        """Whether the index forbids duplicates: the engine, or of a long UNIQUE the server."""
        return bool(self.flag & KEY_NOSAME) or self.algorithm in ALGORITHMS_LONG_UNIQUE

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
        return self.kind == "btree" and all(not flag & _SEGMENT_VARIES for _, flag, _ in self._parts())

    def first_part(self) -> tuple[int, int, int]:
        """Type, flag and length of its first column."""
        return self._parts()[0]

    def description(self) -> str:
        """The columns' types, for a person."""
        return ", ".join([_described(kind, flag & SEGMENT_NULL, length) for kind, flag, length in self._parts()])

    def _parts(self) -> list[tuple[int, int, int]]:
        return list(_KEPT_PART.iter_unpack(self.packed_bytes[_KEPT_KEY.size :]))


@lru_cache(maxsize=8192)
def _described(kind: int, nullable: int, length: int) -> str:
    name = KEY_TYPES.get(kind) or f"type {kind}"
    sized = f"{name}({length} bytes)" if kind in SIZED_TYPES else name
    return sized if nullable else f"{sized} NOT NULL"


@dataclass(frozen=True, slots=True)
class Redundant:
    """An index that another one makes superfluous, both by their numbers from 1: the same columns, or more behind them."""

    index: int
    by: int
    is_duplicate: bool


@dataclass(frozen=True)
class Definition:
    """What does not change while the table lives: one object for all tables of the same shape.

    `auto_increment_maximum` is what the counter's column can hold, None without one that the engine keeps, and `counter_index` is the number of
    its index, 0 without one. `keys` is None where there is no room for them: see Definitions. `estimated` is how many parts each index has,
    which the header of each table is asked with; below 0 of a SPATIAL one.
    """

    maximum_data_bytes: int
    maximum_index_bytes: int
    record_bytes: int
    columns: int
    blob_columns: int
    auto_increment_within_index: bool
    auto_increment_maximum: int | None
    counter_index: int
    redundant: tuple[Redundant, ...]
    keys: tuple[Key, ...] | None
    estimated: tuple[int, ...] | None = None


class Definitions:
    """The definitions of one server's tables: each is kept once, as long as a table has it, and all together within a limit.

    Args:
        maximum_bytes: what they may take. Of tables beyond it, the indexes are not kept.
    """

    def __init__(self, maximum_bytes: int = MAXIMUM_KEPT_BYTES) -> None:
        self.maximum_bytes = maximum_bytes
        self._known: WeakValueDictionary[bytes, Definition] = WeakValueDictionary()
        self._keys: dict[Key, Key] = {}
        self._recent: dict[tuple[bytes, int, bool], Definition] = {}
        self._recent_bytes = self._kept_bytes = 0
        self._counted = False

    def begin_scan(self) -> None:
        """Tables may be gone since the last one: what they took is found out once more where it is needed."""
        self._counted = False

    def of(self, data: bytes, key_count: int, variable_rows: bool) -> Definition:
        """The definition in a header, from its base information on. Raises HeaderError."""
        recent = (data, key_count, variable_rows)
        found = self._recent.get(recent)
        if found is None:
            found = self._known_or_new(data, key_count, variable_rows)
            if found.keys is None:
                return found
            if self._recent_bytes + len(data) > _RECENT_BYTES:
                self._recent, self._recent_bytes = {}, 0
            self._recent[recent] = found
            self._recent_bytes += len(data)
        return found

    def _known_or_new(self, data: bytes, key_count: int, variable_rows: bool) -> Definition:
        digest = blake2b(bytes((key_count, variable_rows)) + data, digest_size=16).digest()
        found = self._known.get(digest)
        # One that found no room is worked out anew: there may be some now.
        if found is None or found.keys is None:
            found = self._within_limit(_parsed(data, key_count, variable_rows))
            self._known[digest] = found
        return found

    def _within_limit(self, definition: Definition) -> Definition:
        keys = definition.keys or ()
        own = tuple([self._keys.get(key, key) for key in keys])
        bytes_more = _DEFINITION_BYTES + sum(_size(key) for key, known in zip(keys, own, strict=True) if key is known)
        if self._kept_bytes + bytes_more > self.maximum_bytes and not self._counted:
            self._count()
        if self._kept_bytes + bytes_more > self.maximum_bytes:
            return replace(definition, keys=None, estimated=None)
        self._intern(own)
        self._kept_bytes += bytes_more
        return replace(definition, keys=own)

    def _intern(self, keys: tuple[Key, ...]) -> None:
        if len(self._keys) + len(keys) > _INTERNED_KEYS:
            self._keys = {}
        self._keys.update(zip(keys, keys, strict=True))

    def _count(self) -> None:
        """What is kept in truth: definitions go with their tables."""
        self._counted = True
        self._recent, self._recent_bytes, self._keys = {}, 0, {}
        keys = {id(key): key for one in self._known.values() for key in one.keys or ()}
        self._kept_bytes = len(self._known) * _DEFINITION_BYTES + sum(map(_size, keys.values()))


def _size(key: Key) -> int:
    return _KEY_BYTES + len(key.packed_bytes)


def _parsed(data: bytes, key_count: int, variable_rows: bool) -> Definition:
    try:
        base = _BASE.unpack_from(data)
        keys, columns, position = [], [], BASE_BYTES
        for _ in range(key_count):
            key, own_columns, position = _parse_key(data, position)
            keys.append(key)
            columns.append(own_columns)
    except struct.error:
        raise HeaderError("its index descriptions reach beyond its header") from None
    record_bytes, data_pointer, key_pointer = base[7], base[13], base[14]
    if not 2 <= data_pointer <= 8 or not 1 <= key_pointer <= 7:
        raise HeaderError(f"its pointers would have {data_pointer} and {key_pointer} bytes")
    # A pointer counts bytes in tables of variable row length, rows in fixed ones; index pages start at multiples of 1024.
    positions = (1 << 8 * data_pointer) - 1
    maximum = positions if variable_rows else record_bytes * (positions + 1) - 1
    return Definition(
        min(maximum, INTEGER_MAXIMUM),
        min(1024 * ((1 << 8 * key_pointer) - 1), INTEGER_MAXIMUM),
        record_bytes,
        base[11],
        base[18],
        # The engine keeps the counter only where it is the first column of its index (ha_myisam.cc, with_auto_increment).
        base[16] == 0 and any(key.flag & KEY_AUTO for key in keys),
        _counts_to(keys, base[16]),
        base[16],
        _redundant(keys, columns),
        tuple(keys),
        tuple([-key.part_count if key.kind == "rtree" else key.part_count for key in keys]),
    )


def _counts_to(keys: Sequence[Key], counted: int) -> int | None:
    """What the first column of the counter's index, numbered from 1, can hold."""
    if not 1 <= counted <= len(keys):
        return None
    kind, _, length = keys[counted - 1].first_part()
    return TINYINT_UNSIGNED_MAXIMUM if kind == BINARY and length == 1 else COUNTS_TO.get(kind)


def _redundant(keys: Sequence[Key], columns: Sequence[tuple[bytes, ...]]) -> tuple[Redundant, ...]:
    """The indexes that another one can stand for: btree, and neither unique nor alone in being first.

    Of two equal ones the later is superfluous, unless it is the one that forbids duplicates.
    """
    plain = [number for number, key in enumerate(keys) if key.kind == "btree"]
    found = []
    for one in plain:
        covering = [other for other in plain if other != one and columns[other][: len(columns[one])] == columns[one]]
        equal = [other for other in covering if len(columns[other]) == len(columns[one])]
        longer = [other for other in covering if len(columns[other]) > len(columns[one])]
        stays = [other for other in equal if keys[other].unique or not keys[one].unique]
        stays = [other for other in stays if other < one or (keys[other].unique and not keys[one].unique)]
        if stays:
            found.append(Redundant(one + 1, stays[0] + 1, True))
        elif longer and not keys[one].unique:
            found.append(Redundant(one + 1, longer[0] + 1, False))
    return tuple(found)


def _parse_key(data: bytes, position: int) -> tuple[Key, tuple[bytes, ...], int]:
    """An index, its columns as what tells them apart, and where the next one begins."""
    part_count, algorithm, flag, page_bytes, _, _, maximum_bytes = _KEY.unpack_from(data, position)
    if part_count == 0:
        raise HeaderError("one of its indexes would have no column")
    position += _KEY.size
    kept, columns = [_KEPT_KEY.pack(algorithm, flag, page_bytes, maximum_bytes)], []
    for _ in range(part_count):
        *part, place = _SEGMENT.unpack_from(data, position)
        kept.append(_KEPT_PART.pack(*part))
        columns.append(kept[-1] + place)
        position += _SEGMENT.size
    return Key(b"".join(kept)), tuple(columns), position
