"""A MyISAM table's structure out of its .sdi file, in which MySQL 8.0 and later write what their dictionary knows of it.

Source: sql/dd/impl/types/table_impl.cc, column_impl.cc, index_impl.cc (serialize) of MySQL 8.0 and 9.7; compared with what the server says of
the same tables in tests/servers. The file is JSON, and its name is the table's with a number behind it: which table it is of, it says itself.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_column_bytes import (
    bytes_of_list,
    decimal_bytes,
    float_limit,
    is_impossible,
)
from myisam_exporter.files.frm_definition import MAXIMUM_COLUMNS
from myisam_exporter.files.frm_keys import MAXIMUM_KEYS, MAXIMUM_PARTS
from myisam_exporter.files.frm_members import that_may_repeat
from myisam_exporter.files.structure import Column, Index, Part, Structure
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.numbers import LARGEST_WHOLE, finite_number, whole_number

MAXIMUM_FILE_BYTES = 16 << 20  # a table of 4,096 columns with long comments has some 5 MB
MAXIMUM_MEMORY_BYTES = 64 << 20
# sql/dd/types/column.h, enum_column_types: those of mysql_com.h from 1 on, then those behind the gap.
_BEHIND_THE_GAP = {
    21: types.NEWDECIMAL, 22: types.ENUM, 23: types.SET, 24: types.TINY_BLOB, 25: types.MEDIUM_BLOB, 26: types.LONG_BLOB, 27: types.BLOB,
    28: types.VAR_STRING, 29: types.STRING, 30: types.GEOMETRY, 31: types.JSON,
}  # fmt: skip
# sql/dd/types/index.h, enum_index_type: PRIMARY, UNIQUE, MULTIPLE, FULLTEXT, SPATIAL.
_UNIQUE, _KINDS = frozenset({1, 2}), {4: types.FULLTEXT, 5: types.SPATIAL}
# Enums enum_index_algorithm of the same and enum_index_element_order of index_element.h.
_ALGORITHMS, _DESCENDING = {2: "BTREE", 4: "HASH"}, 3
# sql/dd/types/table.h, enum_row_format, as the option row_type has it: sql/handler.h, enum row_type.
_ROW_FORMATS = {1: "FIXED", 2: "DYNAMIC", 3: "COMPRESSED", 4: "REDUNDANT", 5: "COMPACT"}
_NUMBERS = {name.lower(): name for name in ("MAX_ROWS", "MIN_ROWS", "AVG_ROW_LENGTH", "KEY_BLOCK_SIZE")}
_SWITCHES = {name.lower(): name for name in ("CHECKSUM", "DELAY_KEY_WRITE")}
_TEXTS = {"tablespace": "TABLESPACE", "compress": "COMPRESSION"}
_PACK_KEYS = {"2": 1, "128": -1}  # my_base.h, HA_OPTION_PACK_KEYS and HA_OPTION_NO_PACK_KEYS
_FIXED = {
    types.TINY: 1, types.SHORT: 2, types.LONG: 4, types.FLOAT: 4, types.DOUBLE: 8, types.LONGLONG: 8, types.INT24: 3, types.YEAR: 1,
    types.NEWDATE: 3, types.DATE: 3,
}  # fmt: skip
_LISTS = frozenset({types.ENUM, types.SET})
_TIMES = {types.TIMESTAMP2: 4, types.DATETIME2: 5, types.TIME2: 3}
# sql/dd/types/column.h, enum_hidden_type: HT_VISIBLE, and HT_HIDDEN_USER of a column that was made INVISIBLE; the others are the server's own.
_OF_USERS = frozenset({1, 4})
_SHOWN_CHARACTERS = 20
_MERGE = "MRG_MyISAM"  # as the server itself spells it elsewhere
_ZERO_DATE = re.compile(r"0000-00-00(?: 00:00:00(?:\.0+)?)?", re.ASCII)
_PARTLY_ZERO_DATE = re.compile(r"[0-9]{4}-(?:00-[0-9]{2}|[0-9]{2}-00)", re.ASCII)

_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})", re.ASCII)


class SdiError(Exception):
    """The text is no .sdi of a table; the message says what is wrong with it."""


def parse_sdi(text: str) -> tuple[str, str, Structure]:
    """Database, name and structure of the table that the text describes. Raises SdiError."""
    try:
        document = parse_json(text, MAXIMUM_MEMORY_BYTES)
    except DocumentError as error:
        raise SdiError(f"it is not JSON: {error}") from None
    try:
        table = document["dd_object"]
        if document["dd_object_type"] != "Table":
            raise SdiError("it describes no table")
        return str(table["schema_ref"]), str(table["name"]), _structure(table)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise SdiError(f"it lacks what a table's has ({type(error).__name__}: {error})") from None


def _structure(table: Mapping[str, Any]) -> Structure:
    options = _settings(table["options"])
    described: list[Column] = []
    places: dict[int, int] = {}
    for number, column in enumerate(table["columns"]):
        if _number(column["hidden"]) in _OF_USERS:
            places[number] = len(described)  # indexes count the hidden columns too
            described.append(_column(column))
    columns, indexes = tuple(described), [index for index in table["indexes"] if not index["hidden"]]
    if len(columns) > MAXIMUM_COLUMNS or len(indexes) > MAXIMUM_KEYS:
        raise SdiError(f"it would have {len(columns)} columns and {len(indexes)} indexes")
    return Structure(
        _MERGE if str(table["engine"]).upper() == _MERGE.upper() else str(table["engine"]),
        _number(table["collation_id"]),
        _ROW_FORMATS.get(_number(options.get("row_type", 0)), ""),
        tuple(_options(options)),
        _number(table["partition_type"]) != 0,
        columns,
        tuple(_index(index, places, columns) for index in indexes),
        texts=tuple((name, options[key]) for key, name in _TEXTS.items() if options.get(key)),
    )


def _number(said: Any) -> int:
    """A whole number of no more than 32 bits, as the dictionary has them all. Raises ValueError for anything else."""
    number = whole_number(said, types.LARGEST_BLOB)
    if number is None:
        raise ValueError(f"{str(said)[:_SHOWN_CHARACTERS]} is not a number of a dictionary's")
    return number


def _settings(text: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in str(text).split(";") if "=" in part)


def _options(settings: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    yield from (
        (name, _option(settings[key])) for key, name in _NUMBERS.items() if settings.get(key, "0") not in ("0", "")
    )
    yield from ((name, 1) for key, name in _SWITCHES.items() if settings.get(key, "0") not in ("0", ""))
    if settings.get("pack_keys") in _PACK_KEYS:
        yield "PACK_KEYS", _PACK_KEYS[settings["pack_keys"]]


def _option(text: str) -> int:
    """An option's value; MAX_ROWS may be anything that 64 bits hold. Raises ValueError."""
    number = finite_number(text)
    if number is None or number < 0:
        raise ValueError(f"{text[:_SHOWN_CHARACTERS]} is not a value of an option")
    return min(int(number), LARGEST_WHOLE)


def _column(column: Mapping[str, Any]) -> Column:
    number = _number(column["type"])
    kind = _BEHIND_THE_GAP.get(number, number - 1)
    default = str(column["default_value_utf8"])
    generated = bool(column["generation_expression_utf8"])
    collation = _number(column["collation_id"])
    is_date = kind in types.DATES and not column["default_value_utf8_null"]
    is_zero = is_date and _ZERO_DATE.fullmatch(default) is not None
    digits = () if column["numeric_scale_null"] else (column["numeric_precision"], column["numeric_scale"])
    limit = float_limit(kind, *map(_number, digits)) if digits else 0.0
    return Column(
        str(column["name"]),
        kind,
        _bytes_of(kind, column),
        collation,
        bool(column["is_nullable"]),
        bool(column["is_unsigned"]),
        bool(column["is_auto_increment"]),
        is_zero,
        kind in types.BLOBS and not (column["default_value_utf8_null"] and not column.get("default_option")),
        (types.VIRTUAL if column["is_virtual"] else types.STORED) if generated else "",
        is_date and not is_zero and _PARTLY_ZERO_DATE.match(default) is not None,
        is_date and _is_impossible(default),
        that_may_repeat([b64decode(element["name"]) for element in column["elements"]], collation)
        if kind in _LISTS
        else (),
        limit,
        limit > 0 and abs(finite_number(default) or 0.0) > limit,
    )


def _is_impossible(default: str) -> bool:
    found = _DATE.match(default)
    return found is not None and is_impossible(*map(int, found.groups()))


def _bytes_of(kind: int, column: Mapping[str, Any]) -> int:
    """What the longest value takes, without the bytes of its length."""
    if kind in _TIMES:
        return _TIMES[kind] + (_number(column["datetime_precision"]) + 1) // 2
    if kind == types.NEWDECIMAL:
        return decimal_bytes(_number(column["numeric_precision"]), _number(column["numeric_scale"]))
    if kind in _LISTS:
        return bytes_of_list(kind, len(column["elements"]))
    if kind == types.BIT:
        return (_number(column["numeric_precision"]) + 7) // 8
    if kind in types.BLOBS:
        return types.BLOB_BYTES.get(kind, types.LARGEST_BLOB)
    return _FIXED.get(kind, _number(column["char_length"]))


def _index(index: Mapping[str, Any], places: Mapping[int, int], columns: Sequence[Column]) -> Index:
    number = _number(index["type"])
    kind = _KINDS.get(number, types.BTREE)
    parts = []
    for element in index["elements"]:
        if element["hidden"]:
            continue
        place = places[_number(element["column_opx"])]
        column = columns[place]
        length = min(_number(element["length"]), column.maximum_bytes)
        is_prefix = kind == types.BTREE and (column.is_blob or length < column.maximum_bytes)
        parts.append(Part(place, length, is_prefix, _number(element.get("order", 0)) == _DESCENDING))
    if not 0 < len(parts) <= MAXIMUM_PARTS:
        raise SdiError(f"an index would have {len(parts)} columns")
    settings = _settings(index["options"])
    return Index(
        str(index["name"]),
        number in _UNIQUE,
        kind,
        tuple(parts),
        settings.get("parser_name", ""),
        _number(settings.get("block_size", 0)),
        str(index["comment"]),
        _ALGORITHMS.get(_number(index["algorithm"]), "") if index["is_algorithm_explicit"] else "",
        not index["is_visible"],
    )
