"""What a .frm says in words: the parsers of FULLTEXT indexes, and options that MariaDB keeps as text for whichever engine knows them.

Layout and sources: sql/unireg.cc (pack_keys, mysql_create_frm) and sql/table.cc (open_binary_frm) of MySQL 5.6; sql/create_options.cc
(engine_table_options_frm_image) of MariaDB 10.11. Compared with what the servers say of the same tables in tests/servers.
"""

from __future__ import annotations

from myisam_exporter.files.frm_definition import FrmError, Pieces, piece, row_place

# A segment behind the row of defaults: what a FEDERATED table connects to, the engine, how it is partitioned, names of parsers, a long comment.
MAXIMUM_SEGMENT_BYTES = 1 << 20
LENGTH_BYTES = 2  # of each of the first two, before its text
PARSERS = "parsers"
# sql/create_options.h: a value that stood in quotes.
QUOTED = 0x8000


def parser_names(start: bytes, read: Pieces, count: int) -> list[str]:
    """The names of the parsers of so many indexes that have one, in the order of the indexes. Raises FrmError."""
    if not count:
        return []
    position, row_bytes = row_place(start)
    length = int.from_bytes(start[55:59], "little")
    if length > MAXIMUM_SEGMENT_BYTES:
        raise FrmError(f"what is behind its defaults would have {length} bytes")
    segment = piece(start, read, position + row_bytes, length, PARSERS)
    place = 0
    for _ in range(2):  # the connection, the engine
        place += LENGTH_BYTES + int.from_bytes(segment[place : place + LENGTH_BYTES], "little")
    place += 5 + int.from_bytes(segment[place : place + 4], "little") + 1  # partitions, and whether they are automatic
    names = segment[place:].split(b"\0")[:-1][:count]
    if len(names) != count or not all(names):
        raise FrmError(f"it does not have a name for each of {count} parsers")
    try:
        return [name.decode("utf-8") for name in names]
    except UnicodeDecodeError:
        raise FrmError("the name of a parser is not text") from None


def has_connection(start: bytes, read: Pieces) -> bool:
    """Whether what is behind the defaults begins with a CONNECTION. Raises FrmError."""
    position, row_bytes = row_place(start)
    if int.from_bytes(start[55:59], "little") < LENGTH_BYTES:
        return False
    return any(piece(start, read, position + row_bytes, LENGTH_BYTES, "connection"))


def text_options(data: bytes) -> tuple[tuple[str, str], ...]:
    """Those of the table, of what MariaDB keeps of table, columns and indexes: names in capitals. Of one that is cut off there is nothing."""
    found, place = [], 0
    while place < len(data) and data[place]:
        name = data[place + 1 : place + 1 + data[place]]
        place += 1 + data[place]
        length = int.from_bytes(data[place : place + 2], "little") & ~QUOTED
        value = data[place + 2 : place + 2 + length]
        place += 2 + length
        if place <= len(data):
            found.append((name.decode("utf-8", "replace").upper(), value.decode("utf-8", "replace")))
    return tuple(found)
