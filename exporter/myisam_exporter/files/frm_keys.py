"""The indexes of a table by name, out of its .frm file: the .MYI file has them in the same order, without names.

The server sorts keys before it writes either file (sql/sql_table.cc, sort_keys: PRIMARY, unique ones without NULL, other unique ones, the
rest, FULLTEXT last), and hands the engine the keys of the .frm (ha_myisam.cc, table2myisam): compared in tests/servers, on MySQL 5.6 and
MariaDB 10.11 and 11.8. All integers are little-endian. Layout and sources: sql/unireg.cc (pack_keys), sql/table.cc (create_key_infos).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

from myisam_exporter.files.frm_definition import COLUMNS_SINCE_VERSION, VERSION, FrmError, Pieces, beginning, piece
from myisam_exporter.files.myi_definition import KEY_FULLTEXT, KEY_NOSAME, KEY_SPATIAL, Key

KEYS = "indexes"
MAXIMUM_KEYS, MAXIMUM_PARTS = 255, 32  # my_base.h, HA_MAX_POSSIBLE_KEY and HA_MAX_KEY_SEG
PART_BYTES = 9
MAXIMUM_NAME_BYTES = 256  # of 64 characters
MAXIMUM_COMMENT_BYTES = 4096  # of 1,024 characters
TWO_BYTE_COUNTS = 0x80
SEPARATOR, END = b"\xff", b"\0"  # sql/unireg.h, NAMES_SEP_CHAR: no byte of UTF-8

# my_base.h, enum ha_key_alg: of several BLOBs one hash; MariaDB 11.7 and later keep a VECTOR index in a table of its own.
LONG_HASH, UNIQUE_HASH, VECTOR = 5, 6, 7

# my_base.h: the index has a comment, a parser of its own, pages of a size that was asked for. Without the last MariaDB keeps the size that an
# index had at the last ALTER, or in the table that this one was made LIKE.
USES_COMMENT, USES_PARSER, USES_BLOCK_SIZE = 4096, 16_384, 32_768
# my_base.h, enum ha_key_alg: those that somebody asked for, as SHOW CREATE TABLE says them.
ALGORITHMS = {1: "BTREE", 3: "HASH", LONG_HASH: "HASH", UNIQUE_HASH: "HASH"}

_COUNTS = struct.Struct("<B B H 2x")
# Flags, bytes, number of parts, algorithm, size of its pages.
_KEY = struct.Struct("<H 2x B B H")
# Number of the column; how it is sorted (my_base.h, HA_REVERSE_SORT: MariaDB 10.8 and later), and its type elsewhere; bytes of it.
_PART = struct.Struct("<H 2x B 2x H")
REVERSE_SORT = 128
COLUMN_MASK = 0x3FFF  # sql/unireg.h, FIELD_NR_MASK


class FrmKey(NamedTuple):
    """An index as the .frm has it; `flag` as in the .MYI."""

    name: str
    flag: int
    parts: int
    algorithm: int

    def is_as_in(self, key: Key) -> bool:
        """Whether the .MYI may describe the same index, as far as both files say the same in the same way."""
        kinds = KEY_FULLTEXT | KEY_SPATIAL
        if (self.flag ^ key.flag) & kinds:
            return False
        if self.flag & kinds or self.algorithm in (LONG_HASH, UNIQUE_HASH):
            return True  # its parts are the engine's own
        return not (self.flag ^ key.flag) & KEY_NOSAME and self.parts == key.part_count


def parse_keys(read: Pieces) -> tuple[FrmKey, ...]:
    """The indexes that the engine keeps, of a file of which `read(position, length)` gives pieces: four at most, of less than 80 kB.

    Raises FrmError when it is truncated, contradicts itself, or is of no table.
    """
    heads, names, _, _ = _read_keys(read)
    found = (FrmKey(name, *head) for name, head in zip(names, heads, strict=True))
    return tuple(key for key in found if key.algorithm != VECTOR)


def _read_keys(read: Pieces) -> tuple[list[tuple[int, int, int]], list[str], bytes, int]:
    """Heads and names of the indexes, what describes heads and parts, and where their comments begin."""
    start = beginning(read)
    if start[VERSION] < COLUMNS_SINCE_VERSION:
        raise FrmError("its indexes are described as before MySQL 4.1")
    position = int.from_bytes(start[6:8], "little")
    keys, parts = _counts(piece(start, read, position, _COUNTS.size, KEYS))
    if keys > MAXIMUM_KEYS or parts > keys * (MAXIMUM_PARTS + 1):
        raise FrmError(f"it would have {keys} indexes of {parts} columns")
    described = piece(start, read, position + _COUNTS.size, keys * _KEY.size + parts * PART_BYTES, KEYS)
    heads, end = _heads(described, keys)
    names_position = position + _COUNTS.size + end
    names = _all_names(start, read, names_position, keys)
    return heads, _names(names, keys), described, names_position + len(names) + len(END)


class FullKey(NamedTuple):
    """An index with its columns, as their numbers from 1, how many bytes of them are in it, and whether they are sorted downwards; VECTOR ones too.

    `block_bytes` is the size of its pages, 0 where none was asked for.
    """

    name: str
    flag: int
    algorithm: int
    parts: tuple[tuple[int, int, bool], ...]
    block_bytes: int = 0
    comment: str = ""


def parse_full_keys(read: Pieces) -> tuple[FullKey, ...]:
    """All indexes of the file with their columns. Raises FrmError as `parse_keys` does."""
    heads, names, described, comments = _read_keys(read)
    found, place = [], 0
    for name, (flag, count, algorithm) in zip(names, heads, strict=True):
        *_, block_bytes = _KEY.unpack_from(described, place)
        place += _KEY.size
        columns = [_PART.unpack_from(described, place + number * PART_BYTES) for number in range(count)]
        place += count * PART_BYTES
        comment = b""
        if flag & USES_COMMENT:
            length = int.from_bytes(read(comments, 2), "little")
            comment = read(comments + 2, min(length, MAXIMUM_COMMENT_BYTES))
            comments += 2 + length
        parts = tuple((one & COLUMN_MASK, length, bool(sort & REVERSE_SORT)) for one, sort, length in columns)
        asked_bytes = block_bytes if flag & USES_BLOCK_SIZE else 0
        found.append(FullKey(name, flag, algorithm, parts, asked_bytes, comment.decode("utf-8", "replace")))
    return tuple(found)


def named_as(keys: Sequence[FrmKey], in_header: Sequence[Key]) -> tuple[str, ...] | None:
    """The names of a header's indexes, in its order; None where the two files do not describe the same table."""
    if len(keys) != len(in_header) or not all(map(FrmKey.is_as_in, keys, in_header)):
        return None
    return tuple(key.name for key in keys)


def _counts(data: bytes) -> tuple[int, int]:
    """How many indexes and parts of indexes; more than 127 take two bytes each.

    The length behind them is of no use: it is that of the names and comments together, in two bytes, whatever they take.
    """
    keys, parts, two_byte_parts = _COUNTS.unpack(data)
    if keys & TWO_BYTE_COUNTS:
        return parts << 7 | keys & ~TWO_BYTE_COUNTS, two_byte_parts
    return keys, parts


def _heads(data: bytes, count: int) -> tuple[list[tuple[int, int, int]], int]:
    """Flag, number of parts and algorithm of each, and where the last one ends: a LONG_HASH counts for a part more than is described."""
    heads, position = [], 0
    for _ in range(count):
        if position + _KEY.size > len(data):
            raise FrmError("its indexes would have more columns than it says")
        flag, parts, algorithm, _ = _KEY.unpack_from(data, position)
        if not parts:
            raise FrmError("an index would have no columns")
        heads.append((flag ^ KEY_NOSAME, parts, algorithm))  # the bit is kept the other way round
        position += _KEY.size + parts * PART_BYTES
    if position > len(data):
        raise FrmError("its indexes would have more columns than it says")
    return heads, position


def _all_names(start: bytes, read: Pieces, position: int, count: int) -> bytes:
    """What stands before the end of the names; comments are behind it."""
    length = count * (MAXIMUM_NAME_BYTES + len(SEPARATOR)) + len(SEPARATOR + END)
    names, end, _ = start[position : position + length].partition(END)
    if not end:
        names, end, _ = read(position, length).partition(END)
    if not end:
        raise FrmError("the names of its indexes do not end")
    return names


def _names(data: bytes, count: int) -> list[str]:
    names = data.split(SEPARATOR)
    if len(names) != count + 2 or names[0] or names[-1] or not all(names[1:-1]):
        raise FrmError(f"it does not have a name for each of {count} indexes")
    try:
        return [name.decode("utf-8") for name in names[1:-1]]
    except UnicodeDecodeError:
        raise FrmError("a name of an index is not text") from None
