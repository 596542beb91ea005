"""Definitions in .frm files, as MySQL 5.x and MariaDB write them."""

import struct
from collections.abc import Sequence
from pathlib import Path

from myisam_exporter.files.frm_definition import Pieces, TableDefinition, parse_definition

TIMESTAMP, TIME, DATETIME, NEW_TIMESTAMP, VARCHAR, INT, YEAR, DECIMAL, OLD_VARCHAR, ENUM, SET = 7, 11, 12, 17, 15, 3, 13, 0, 253, 247, 248
MYSQL_5_5 = 50549
# sql/field.h: TIME2 and TIMESTAMP2 without fractions have the lengths of the types of before 5.6.4, so only the type tells them apart.
NEW_TO_OLD = {19: TIME, 17: TIMESTAMP}
UTF8MB3, UTF8MB4, LATIN1, UCS2, UTF32 = 33, 45, 8, 35, 60


def definition(
    columns: Sequence[tuple[int, ...]] = ((INT, LATIN1, 11),), created: int = 50624, *, version: int = 10, engine: int = 9, names: int = 3, screens: int = 40, at: int = 512
) -> bytes:
    """A file with these columns: type, collation and length, and the number of its list of members where it has one."""
    head = bytearray(64)
    head[:4] = bytes((0xFE, 1, version, engine))
    struct.pack_into("<H 2x H", head, 4, names, 1)
    struct.pack_into("<I", head, 51, created)
    form = bytearray(288)
    struct.pack_into("<H H", form, 258, len(columns), screens)
    start = bytes(head) + bytes(names) + at.to_bytes(4, "little")
    described = b"".join(struct.pack("<3x H 5x B B B B B 2x", length, 0, number >> 8, *(members or (0,)), kind, number & 0xFF) for kind, number, length, *members in columns)
    return start.ljust(at, b"\0") + bytes(form) + bytes(screens) + described


def with_keys(keys: Sequence[tuple[str, int, int, int]], whole: bytes | None = None, comments: bytes = b"") -> bytes:
    """A file with these indexes behind its columns: name, flag (1: no duplicates), number of columns, algorithm; as pack_keys writes them."""
    data = bytearray(whole or definition())
    struct.pack_into("<H", data, 6, len(data))
    parts = sum(key[2] for key in keys)
    names = b"\xff" + b"".join(key[0].encode() + b"\xff" for key in keys) + b"\0" + comments
    if max(len(keys), parts) > 127:
        data += struct.pack("<B B H H", len(keys) & 0x7F | 0x80, len(keys) >> 7, parts, len(names) & 0xFFFF)
    else:
        data += struct.pack("<B B 2x H", len(keys), parts, len(names) & 0xFFFF)
    for _, flag, count, algorithm in keys:
        data += struct.pack("<H H B B H", flag ^ 1, 4, count, algorithm, 0) + bytes(9 * count)
    return bytes(data + names)


def pieces(data: bytes) -> Pieces:
    """What a file with these bytes gives."""
    return lambda position, length: data[position : position + length]


def parsed(data: bytes) -> TableDefinition:
    """What is read of a whole file."""
    return parse_definition(pieces(data))


def with_old_types(path: Path) -> None:
    """Edit a definition to what MySQL 5.5 writes for the same columns: the types of TIME and TIMESTAMP, YEAR(2), and its own version."""
    data = bytearray(path.read_bytes())
    names_bytes = int.from_bytes(data[4:6], "little")
    form = int.from_bytes(data[64 + names_bytes : 68 + names_bytes], "little")
    count, screens = (int.from_bytes(data[form + place : form + place + 2], "little") for place in (258, 260))
    for number in range(count):
        place = form + 288 + screens + 17 * number
        kind = data[place + 13]
        data[place + 13] = NEW_TO_OLD.get(kind, kind)
        if kind == YEAR:
            data[place + 3 : place + 5] = (2).to_bytes(2, "little")
    data[51:55] = MYSQL_5_5.to_bytes(4, "little")
    path.write_bytes(bytes(data))
