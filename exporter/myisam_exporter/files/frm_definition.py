"""A table's definition in its .frm file, as far as another version of the server asks for it. MySQL 8.0 and later keep no such file.

Layout and sources (all integers little-endian): sql/table.cc (get_form_pos, open_binary_frm) of MySQL 5.6 and 5.7, sql/unireg.cc and
sql/datadict.h of MariaDB 10.11; compared with what the servers say themselves in tests/servers. Of what would be a position or a length
nothing is believed: each part is asked for by itself, and is no longer than the server can have written it.
"""

from __future__ import annotations

import struct
from collections.abc import Callable

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files.character_sets import character_set

MAGIC = b"\xfe\x01"
FIRST_READ_BYTES = 16_384  # holds the whole file of nearly every table
HEAD_BYTES, FORM_BYTES = 64, 288
VERSION = 2  # the place of the format's number
MAXIMUM_COLUMNS = 4096  # sql/unireg.h, MAX_FIELDS
# sql/unireg.h: FRM_VER is 6; tables have 17 bytes for a column from FRM_VER + 3 on, and MariaDB counts up to FRM_VER + 6.
OLDEST_VERSION, COLUMNS_SINCE_VERSION, NEWEST_VERSION = 6, 9, 12

PLAUSIBLE_VERSIONS = range(30_000, 1_000_000)  # MariaDB 11.8 is 110800; another number tells of damage

# sql/handler.h, enum legacy_db_type
ENGINE_MERGE, ENGINE_PARTITION = 10, 20
# The types as they stand in the file (mysql_com.h, enum enum_field_types).
OLD_TEMPORAL = frozenset({7, 11, 12})  # TIMESTAMP, TIME, DATETIME: from MySQL 5.6.4 on they are 17, 19 and 18
OLD_DECIMAL, OLD_VARCHAR, YEAR = 0, 253, 13  # the first two of before 5.0.3
SHORT_YEAR_LENGTH = 2
TEXTS = frozenset(
    {15, 247, 248, 249, 250, 251, 252, OLD_VARCHAR, 254}
)  # VARCHAR, ENUM, SET, BLOB and TEXT of all sizes, CHAR
# information_schema.COLLATIONS; what MariaDB adds has its bit for NO PAD, or is a range of its own for UCA 14.0.0.
UTF8MB3 = frozenset({33, 76, 83, *range(192, 216), 223, *range(576, 580), 1057, 1107, 1216, 1238, *range(2048, 2304)})

COLUMNS = "columns"  # what is described there, in messages
# Length; upper half of the collation; list of members, 0 for none; type; lower half of the collation.
_COLUMN = struct.Struct("<3x H 6x B B B B 2x")

Pieces = Callable[[int, int], bytes]


class FrmError(Exception):
    """The bytes are no .frm of a table; the message says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """What a .frm says. Equal ones are many.

    `created_version` is the version that made the file, 0 of before MySQL 5.0, None where no server has such a version.
    `old_temporal_columns` are of before MySQL 5.6.4, `obsolete_columns` DECIMAL and VARCHAR
    of before 5.0.3 and YEAR(2); `misread_columns` are ENUM and SET of which MySQL before 8.0 misreads the members (frm_members.py).
    They, and `utf8mb3_columns`, are None in files of before MySQL 4.1.
    """

    created_version: int | None
    old_temporal_columns: int | None
    obsolete_columns: int | None
    utf8mb3_columns: int | None
    misread_columns: int | None


def parse_definition(read: Pieces) -> TableDefinition:
    """The definition in a file of which `read(position, length)` gives pieces: three at most, of less than 140 kB.

    Raises FrmError when it is truncated, contradicts itself, or is of no table.
    """
    start = beginning(read)
    version = _plausible_version(int.from_bytes(start[51:55], "little"))
    if start[VERSION] < COLUMNS_SINCE_VERSION:
        return TableDefinition(version, None, None, None, None)
    return TableDefinition(version, *_counted(_columns(start, read)))


def beginning(read: Pieces) -> bytes:
    """The beginning of the file, its header at least. Raises FrmError where it is no .frm of a table."""
    start = read(0, FIRST_READ_BYTES)
    if not start:
        raise FrmError("the file is empty")
    if start[: len(MAGIC)] != MAGIC[: len(start)]:
        raise FrmError("it does not begin as the .frm file of a table does")
    if len(start) < HEAD_BYTES:
        raise FrmError(f"it ends after {len(start)} bytes, within its header")
    if not OLDEST_VERSION <= start[VERSION] <= NEWEST_VERSION:
        raise FrmError(f"its format has the number {start[VERSION]}, which is not known here")
    return start


def _plausible_version(number: int) -> int | None:
    return number if number == 0 or number in PLAUSIBLE_VERSIONS else None


def _columns(start: bytes, read: Pieces) -> bytes:
    """The descriptions of the columns, 17 bytes each."""
    names_bytes, forms = struct.unpack_from("<H 2x H", start, 4)
    if not forms:
        raise FrmError("it says that it holds no form")
    form_position = int.from_bytes(piece(start, read, HEAD_BYTES + names_bytes, 4, COLUMNS), "little")
    if form_position < HEAD_BYTES:
        raise FrmError(f"its form would begin at byte {form_position}, within its header")
    count, screens_bytes = struct.unpack_from("<H H", piece(start, read, form_position, FORM_BYTES, COLUMNS), 258)
    if not 0 < count <= MAXIMUM_COLUMNS:
        raise FrmError(f"it would have {count} columns")
    return piece(start, read, form_position + FORM_BYTES + screens_bytes, count * _COLUMN.size, COLUMNS)


def piece(start: bytes, read: Pieces, position: int, length: int, what: str) -> bytes:
    """A part of the file, out of its beginning where that holds it. Raises FrmError where it ends before."""
    part = start[position : position + length] if position + length <= len(start) else read(position, length)
    if len(part) != length:
        raise FrmError(f"it ends before byte {position + length}, where its {what} are still described")
    return part


def row_place(start: bytes) -> tuple[int, int]:
    """Where the row of defaults lies, behind the indexes, and how long it is."""
    key_position, key_bytes = struct.unpack_from("<H 6x H", start, 6)
    if key_bytes == 0xFFFF:
        key_bytes = int.from_bytes(start[47:51], "little")
    return key_position + key_bytes, int.from_bytes(start[16:18], "little")


def _counted(columns: bytes) -> tuple[int, int, int, int]:
    temporal = obsolete = utf8mb3 = 0
    lists: dict[int, list[int]] = {}
    for length, collation_high, of_members, kind, collation_low in _COLUMN.iter_unpack(columns):
        if of_members:
            lists.setdefault(of_members, []).append(collation_high << 8 | collation_low)
        if kind in OLD_TEMPORAL:
            temporal += 1
        elif kind in (OLD_DECIMAL, OLD_VARCHAR) or (kind == YEAR and length == SHORT_YEAR_LENGTH):
            obsolete += 1
        if kind in TEXTS and (collation_high << 8 | collation_low) in UTF8MB3:
            utf8mb3 += 1
    return temporal, obsolete, utf8mb3, sum(map(_misread, lists.values()))


def _misread(collations: list[int]) -> int:
    """How many columns of these collations, which share a list, have misread members. Not looked for is a list of the empty word alone, which cannot be."""
    if len(collations) < 2 or all(character_set(collation)[1] == 1 for collation in collations):
        return 0
    return len(collations)
