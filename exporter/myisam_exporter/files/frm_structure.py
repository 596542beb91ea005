"""A table's structure out of its .frm file: columns with types and lengths, indexes with their parts, options.

Layout and sources (all integers little-endian): sql/table.cc (open_binary_frm, create_key_infos) and sql/unireg.cc (pack_fields,
mysql_prepare_create) of MySQL 5.6, sql/table.cc (init_from_binary_frm_image, parse_vcol_defs) and sql/field.h of MariaDB 10.11; compared
with what the servers say of the same tables in tests/servers.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_column_bytes import (
    bytes_of,
    bytes_of_list,
    float_limit,
    is_beyond,
    is_impossible_date,
    is_partly_zero_date,
    is_zero_date,
)
from myisam_exporter.files.frm_definition import (
    COLUMNS,
    COLUMNS_SINCE_VERSION,
    ENGINE_MERGE,
    ENGINE_PARTITION,
    FORM_BYTES,
    HEAD_BYTES,
    MAXIMUM_COLUMNS,
    SHORT_YEAR_LENGTH,
    VERSION,
    FrmError,
    Pieces,
    beginning,
    piece,
    row_place,
)
from myisam_exporter.files.frm_keys import (
    ALGORITHMS,
    LONG_HASH,
    UNIQUE_HASH,
    USES_PARSER,
    VECTOR,
    FullKey,
    parse_full_keys,
)
from myisam_exporter.files.frm_members import NO_MEMBERS, MemberLists
from myisam_exporter.files.frm_partitions import partitioned_by
from myisam_exporter.files.frm_texts import has_connection, parser_names, text_options
from myisam_exporter.files.myi_definition import KEY_FULLTEXT, KEY_NOSAME, KEY_SPATIAL
from myisam_exporter.files.structure import Column, Index, Part, Structure

ENGINE_MYISAM, ENGINE_INNODB, ENGINE_ARIA = 9, 12, 42
ENGINES = {
    ENGINE_MYISAM: "MyISAM",
    ENGINE_MERGE: "MRG_MyISAM",
    ENGINE_INNODB: "InnoDB",
    6: "MEMORY",
    15: "ARCHIVE",
    17: "CSV",
    ENGINE_ARIA: "Aria",
}
# sql/table.cc of MariaDB 10.3 and later: two bits of this byte, of enum ha_choice (2 is HA_CHOICE_YES).
CHOICES, SEQUENCE_SHIFT, CHOICE_MASK, CHOICE_YES = 39, 4, 3, 2
# sql/handler.h, enum row_type
ROW_FORMATS = {1: "FIXED", 2: "DYNAMIC", 3: "COMPRESSED", 4: "REDUNDANT", 5: "COMPACT", 6: "PAGE"}
# Length; position in the row; what is packed into bits; what the column does by itself; collation; list of members; type; collation.
_COLUMN = struct.Struct("<3x H 3s H B B B B B 2x")
# sql/field.h, FIELDFLAG_...
SIGNED, BIT_AS_BYTES, NO_DEFAULT, NULLABLE = 1, 4096, 16_384, 32_768
DECIMALS_SHIFT, DECIMALS_MASK = 8, 31
NEXT_NUMBER, GENERATED = 15, 128  # what a column does by itself: counts; is computed (MySQL 5.7)
MYSQL_WITH_JSON = range(50_700, 80_000)
DEFAULT_NOW = frozenset({18, 21, 23})  # its default is the present moment
# my_base.h, HA_OPTION_...
OPTION_BITS = {"PACK_KEYS": 2, "CHECKSUM": 32, "DELAY_KEY_WRITE": 64}
PACKED_RECORD, NO_PACK_KEYS = 1, 128
# sql/unireg.h of MariaDB, enum extra2_frm_value_type: which columns hold the period of SYSTEM VERSIONING; a byte for each column, who sees it; the
# types that have a name and no number. A byte for each index, whether it is IGNORED. What is kept as text for engines.
SYSTEM_PERIOD, INDEX_FLAGS, TEXT_OPTIONS, COLUMN_FLAGS, TYPE_NAMES = 4, 5, 128, 129, 130
IGNORED = 1  # sql/unireg.h of MariaDB, EXTRA2_IGNORED_KEY
# MariaDB, enum field_visibility_t, INVISIBLE_FULL: no statement may name the column. What users make INVISIBLE has 1, and is theirs.
SEEN_BY_MASK, SEEN_BY_NOBODY = 3, 3
# plugin/type_uuid and type_inet of MariaDB: described as the text that they are shown as, kept in so many bytes.
NAMED_BYTES = {b"uuid": 16, b"inet6": 16, b"inet4": 4}
# sql/field.h of MariaDB, enum enum_field_types: a column that is COMPRESSED, of which BLOBs of all sizes have one number, and their size is told as
# that of a number is (sql/field.h, pack_length_to_packflag).
BLOB_COMPRESSED, VARCHAR_COMPRESSED = 140, 141
COMPRESSED_BLOBS = {
    types.TINY: types.TINY_BLOB,
    types.SHORT: types.BLOB,
    types.INT24: types.MEDIUM_BLOB,
    types.LONG: types.LONG_BLOB,
}
PACK_SHIFT, PACK_MASK = 3, 15
# sql/net_serv.cc, net_field_length: what a first byte from 252 on says is how many bytes the number has behind it.
PACKED_NUMBERS = {252: 2, 253: 3, 254: 8}
EXPRESSIONS_SINCE_VERSION = (
    11  # sql/unireg.h of MariaDB, FRM_VER_EXPRESSSIONS: 10.2 and later, where a column may have any
)
# sql/field.h of MariaDB, enum enum_vcol_info_type: what an expression is of.
OF_VIRTUAL, OF_STORED, OF_DEFAULT = 0, 1, 2
OF_CHECKS = frozenset({3, 4})  # of a column, of the table
_EXPRESSION = struct.Struct("<B H H B")
EXPRESSIONS_HEAD_BYTES = 16  # sql/unireg.h, FRM_VCOL_NEW_BASE_SIZE
MAXIMUM_ROW_BYTES = 70_000  # 65,535 and its bits for NULL
WITH_PREFIXES = frozenset({types.BTREE, types.LONG_UNIQUE})
_SEPARATOR = b"\xff"


@dataclass(frozen=True, slots=True)
class _Form:
    """Where the parts of a description lie, and how long they are."""

    columns_position: int
    count: int
    names_bytes: int
    intervals_bytes: int
    comments_bytes: int
    expressions_bytes: int

    @property
    def names_position(self) -> int:
        return self.columns_position + self.count * _COLUMN.size

    @property
    def expressions_position(self) -> int:
        return self.names_position + self.names_bytes + self.intervals_bytes + self.comments_bytes


def parse_structure(read: Pieces) -> Structure:
    """The structure in a file of which `read(position, length)` gives pieces.

    Raises FrmError when it is truncated, contradicts itself, is of no table, or is described as before MySQL 5.0.
    """
    start = beginning(read)
    if start[VERSION] < COLUMNS_SINCE_VERSION:
        raise FrmError("its columns are described as before MySQL 4.1")
    form = _form(start, read)
    expressions = _expressions(start, read, form)
    extras = dict(_extras(start, read))
    described = tuple(_columns(start, read, form, expressions, _named_types(extras.get(TYPE_NAMES, b""))))
    columns = _without_the_servers_own(described, extras.get(COLUMN_FLAGS, b""))
    columns = _without_defaults_of_period(columns, extras.get(SYSTEM_PERIOD, b""))
    indexes = tuple(_indexes(start, read, columns, extras.get(INDEX_FLAGS, b"")))
    partitioned = start[3] == ENGINE_PARTITION or start[61] != 0
    engine = (start[61] or start[3]) if partitioned else start[3]
    return Structure(
        ENGINES.get(engine, f"engine {engine}"),
        start[41] << 8 | start[38],
        ROW_FORMATS.get(start[40], ""),
        tuple(_options(start, int.from_bytes(start[30:32], "little"))),
        partitioned,
        columns,
        indexes,
        SYSTEM_PERIOD in extras,
        any(kinds & OF_CHECKS for kinds in expressions.values()),
        text_options(extras.get(TEXT_OPTIONS, b"")),
        sequence=start[CHOICES] >> SEQUENCE_SHIFT & CHOICE_MASK == CHOICE_YES,
        connection=has_connection(start, read),
        partitioned_by=partitioned_by(start, read, columns, indexes) if partitioned else (),
    )


def _form(start: bytes, read: Pieces) -> _Form:
    names_bytes, forms = struct.unpack_from("<H 2x H", start, 4)
    if not forms:
        raise FrmError("it says that it holds no form")
    position = int.from_bytes(piece(start, read, HEAD_BYTES + names_bytes, 4, COLUMNS), "little")
    if position < HEAD_BYTES:
        raise FrmError(f"its form would begin at byte {position}, within its header")
    form = piece(start, read, position, FORM_BYTES, COLUMNS)
    count, screens, _, _, _, names, _, _, intervals = struct.unpack_from("<9H", form, 258)
    comments, expressions = struct.unpack_from("<2H", form, 284)
    if not 0 < count <= MAXIMUM_COLUMNS:
        raise FrmError(f"it would have {count} columns")
    if start[VERSION] < EXPRESSIONS_SINCE_VERSION:
        expressions = 0
    return _Form(position + FORM_BYTES + screens, count, names, intervals, comments, expressions)


def _extras(start: bytes, read: Pieces) -> Iterator[tuple[int, bytes]]:
    """What MariaDB 10.1 and later put between the header and the form, by kind: each has its kind, its length, its bytes."""
    data = piece(start, read, HEAD_BYTES, int.from_bytes(start[4:6], "little"), "options")
    if data.startswith(b"/"):  # a name of a screen, as older servers have it there
        return
    position = 0
    while position + 2 <= len(data):
        kind, length = data[position], data[position + 1]
        position += 2
        if not length:
            length = int.from_bytes(data[position : position + 2], "little")
            position += 2
        yield kind, data[position : position + length]
        position += length


def _without_the_servers_own(columns: tuple[Column, ...], flags: bytes) -> tuple[Column, ...]:
    """The columns that users have: behind them MariaDB puts one for the hash of each UNIQUE index that it keeps by it (DB_ROW_HASH_1).

    An index names its users' columns only, and as the hashes are last (sql/table.cc, hash_field_used_no), their numbers stay.
    """
    count = len(columns)
    while count > 1 and count <= len(flags) and flags[count - 1] & SEEN_BY_MASK == SEEN_BY_NOBODY:
        count -= 1
    return columns[:count]


def _without_defaults_of_period(columns: tuple[Column, ...], period: bytes) -> tuple[Column, ...]:
    """The two columns that hold the period of a row's history have no default, whatever MariaDB 10.5 writes of them; `period` is their numbers."""
    numbers = {int.from_bytes(period[place : place + 2], "little") for place in range(0, len(period), 2)}
    return tuple(
        replace(column, zero_default=False) if number in numbers else column for number, column in enumerate(columns)
    )


def _named_types(data: bytes) -> dict[int, bytes]:
    """The names of types that have no number, by the number of their column (sql/unireg.cc, Field_data_type_info_image)."""
    found: dict[int, bytes] = {}
    position = 0
    while position < len(data):
        number, position = _packed_number(data, position)
        length, position = _packed_number(data, position)
        found[number] = data[position : position + length].lower()
        position += length
    return found


def _packed_number(data: bytes, position: int) -> tuple[int, int]:
    """The number that stands there, and where it ends; of one that is cut off, what there is of it."""
    first, position = int.from_bytes(data[position : position + 1], "little"), position + 1
    if first not in PACKED_NUMBERS:
        return first, position
    end = position + PACKED_NUMBERS[first]
    return int.from_bytes(data[position:end], "little"), end


def _columns(
    start: bytes, read: Pieces, form: _Form, expressions: Mapping[int, frozenset[int]], named_types: Mapping[int, bytes]
) -> Iterator[Column]:  # fmt: skip
    described = piece(start, read, form.columns_position, form.count * _COLUMN.size, COLUMNS)
    names = _names(piece(start, read, form.names_position, form.names_bytes, COLUMNS), form.count)
    defaults = _default_row(start, read)
    version = int.from_bytes(start[51:55], "little")
    nulls = _NullBits(defaults, int.from_bytes(start[30:32], "little"))
    lists = MemberLists(
        piece(start, read, form.names_position + form.names_bytes, form.intervals_bytes, COLUMNS),
        [(words[5], words[4] << 8 | words[7]) for words in _COLUMN.iter_unpack(described)],
    )
    for number, (name, words) in enumerate(zip(names, _COLUMN.iter_unpack(described), strict=True)):
        length, place, packed, does, collation_high, of_members, kind, collation_low = words
        own = NO_MEMBERS
        collation = collation_high << 8 | collation_low
        position = int.from_bytes(place, "little") - 1
        expression = expressions.get(number, frozenset())
        is_null = nulls.next(kind, length, packed)
        has_default = not (is_null or packed & NO_DEFAULT or does in DEFAULT_NOW or OF_DEFAULT in expression)
        has_date = kind in types.DATES and has_default
        limit = float_limit(kind, length, packed >> DECIMALS_SHIFT & DECIMALS_MASK)
        if kind == types.JSON and version not in MYSQL_WITH_JSON:
            raise FrmError("it has computed columns as MariaDB before 10.2 wrote them")
        unsigned = not packed & SIGNED
        decimals = packed >> DECIMALS_SHIFT & DECIMALS_MASK
        kind = _plain_type(kind, packed)
        if named_types.get(number) in NAMED_BYTES:
            kind, size = types.FIXED_BINARY, NAMED_BYTES[named_types[number]]
        elif kind in (types.ENUM, types.SET):
            own = lists.of(of_members, collation)
            size = bytes_of_list(kind, own.count)
        else:
            size = bytes_of(kind, length, decimals, unsigned=unsigned)
        yield Column(
            name,
            kind,
            size,
            0 if kind == types.GEOMETRY else collation,
            bool(packed & NULLABLE),
            unsigned,
            does & ~GENERATED == NEXT_NUMBER,
            has_date and is_zero_date(kind, defaults[position : position + size]),
            kind in types.BLOBS and OF_DEFAULT in expression,
            types.VIRTUAL if OF_VIRTUAL in expression else types.STORED if OF_STORED in expression or does & GENERATED else "",
            has_date and is_partly_zero_date(kind, defaults[position : position + size]),
            has_date and is_impossible_date(kind, defaults[position : position + size]),
            own.told,
            limit,
            has_default and is_beyond(limit, defaults[position : position + size]),
            kind == types.YEAR and length == SHORT_YEAR_LENGTH,
            own.misread,
        )  # fmt: skip


def _plain_type(kind: int, packed: int) -> int:
    """The type that a COMPRESSED column has without it; any other one as it is."""
    if kind == BLOB_COMPRESSED:
        return COMPRESSED_BLOBS.get(packed >> PACK_SHIFT & PACK_MASK, types.LONG_BLOB)
    return types.VARCHAR if kind == VARCHAR_COMPRESSED else kind


class _NullBits:
    """Which columns' defaults are NULL: a bit for each that may be, at the row's beginning; odd bits of BIT lie between (sql/table.cc)."""

    def __init__(self, row: bytes, options: int) -> None:
        self._row = row
        self._bit = 0 if options & PACKED_RECORD else 1  # the first one tells of deleted rows

    def next(self, kind: int, length: int, packed: int) -> bool:
        """Whether the default of the next column is NULL."""
        bit = self._bit
        if kind == types.BIT and not packed & BIT_AS_BYTES:
            self._bit += length & 7
        if not packed & NULLABLE:
            return False
        self._bit += 1
        return bit // 8 < len(self._row) and bool(self._row[bit // 8] >> bit % 8 & 1)


def _names(data: bytes, count: int) -> list[str]:
    """Between separators, and ended by a zero."""
    names = data.split(_SEPARATOR)[1 : count + 1]
    if len(names) != count or not all(names):
        raise FrmError(f"it does not have a name for each of {count} columns")
    try:
        return [name.decode("utf-8") for name in names]
    except UnicodeDecodeError:
        raise FrmError("a name of a column is not text") from None


def _default_row(start: bytes, read: Pieces) -> bytes:
    """The row of defaults, as the engine would have it."""
    position, length = row_place(start)
    if length > MAXIMUM_ROW_BYTES:
        raise FrmError(f"its row would have {length} bytes")
    return piece(start, read, position, length, "defaults")


def _expressions(start: bytes, read: Pieces, form: _Form) -> dict[int, frozenset[int]]:
    """What each column has an expression for (MariaDB 10.2 and later)."""
    data = piece(start, read, form.expressions_position, form.expressions_bytes, "expressions")
    found: dict[int, frozenset[int]] = {}
    position = EXPRESSIONS_HEAD_BYTES
    while position + _EXPRESSION.size <= len(data):
        kind, column, expression_bytes, name_bytes = _EXPRESSION.unpack_from(data, position)
        found[column] = found.get(column, frozenset()) | {kind}
        position += _EXPRESSION.size + name_bytes + expression_bytes
    return found


def _options(start: bytes, bits: int) -> Iterator[tuple[str, int]]:
    """Those that are not at their default."""
    numbers = {
        "MAX_ROWS": int.from_bytes(start[18:22], "little"),
        "MIN_ROWS": int.from_bytes(start[22:26], "little"),
        "AVG_ROW_LENGTH": int.from_bytes(start[34:38], "little"),
        "KEY_BLOCK_SIZE": int.from_bytes(start[62:64], "little"),
    }
    yield from ((name, number) for name, number in numbers.items() if number)
    yield from ((name, 1) for name, bit in OPTION_BITS.items() if bits & bit)
    if bits & NO_PACK_KEYS:
        yield "PACK_KEYS", -1


def _indexes(start: bytes, read: Pieces, columns: Sequence[Column], flags: bytes) -> Iterator[Index]:
    keys = parse_full_keys(read)
    parsers = iter(parser_names(start, read, sum(bool(key.flag & USES_PARSER) for key in keys)))
    for number, key in enumerate(keys):
        ignored = number < len(flags) and flags[number] == IGNORED
        yield _index(key, columns, next(parsers) if key.flag & USES_PARSER else "", ignored=ignored)


def _index(key: FullKey, columns: Sequence[Column], parser: str, *, ignored: bool) -> Index:
    kinds = {LONG_HASH: types.LONG_UNIQUE, UNIQUE_HASH: types.LONG_UNIQUE, VECTOR: types.VECTOR}
    kind = (
        types.FULLTEXT if key.flag & KEY_FULLTEXT
        else types.SPATIAL if key.flag & KEY_SPATIAL
        else kinds.get(key.algorithm, types.BTREE)
    )  # fmt: skip
    parts = []
    for number, length, descending in key.parts:
        if not 0 < number <= len(columns):
            raise FrmError(f"an index would have column {number} of {len(columns)}")
        column = columns[number - 1]
        # Of a hash over a whole BLOB no length is told.
        is_prefix = kind in WITH_PREFIXES and length > 0 and (column.is_blob or length < column.maximum_bytes)
        parts.append(Part(number - 1, length, is_prefix, descending))
    algorithm = ALGORITHMS.get(key.algorithm, "") if kind in WITH_PREFIXES else ""
    return Index(
        key.name, bool(key.flag & KEY_NOSAME), kind, tuple(parts), parser, key.block_bytes, key.comment, algorithm, ignored,
    )  # fmt: skip
