"""What a table is made of, as a short text: its row format, the bytes of its columns, and its indexes, whatever order these were made in.

What a change gains depends on them as on nothing else: a trial before an index was added says little of the table with it. What may differ while the table is the
same is not in it: rows, names of columns, whether indexes are switched off for a load (DISABLE KEYS), how long its pointers are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence

from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.files.myi_header import Header
from myisam_exporter.look.fact_set import FactRows, FactSet

_DIGEST_BYTES = 8
# The index file of a table without an index: mi_create.c, MI_MIN_KEY_BLOCK_LENGTH.
_BYTES_WITHOUT_INDEX = 1024
_OF_TABLE = ("row_format", "fixed_row_bytes", "blob_columns", "partitions")
_OF_INDEX = ("algorithm", "is_unique", "is_packed", "key_description")
_NAMES = ("schema_name", "table_name")


def structure_of(header: Header) -> str:
    """The structure of a table that is not partitioned, from the header of its .MYI file."""
    one = header.definition
    fixed = None if one.blob_columns else one.record_bytes
    indexes = [(key.kind, int(key.unique), int(key.packed), key.description()) for key in one.keys or ()]
    return _digest((header.row_format, fixed, one.blob_columns, None), indexes)


def structures_in(facts: FactSet, names: Sequence[str]) -> Mapping[str, str]:
    """The structures of the tables of these names (as findings have them), as far as they are known."""
    tables, indexes = facts.tables["tables"], facts.tables["indexes"]
    key = ("structures", tuple(names), indexes.generation)
    return tables.once(key, lambda rows: _structures(rows, indexes, frozenset(names)))


def _structures(tables: FactRows, indexes: FactRows, names: frozenset[str]) -> Mapping[str, str]:
    from myisam_advisor.texts.templates import object_name

    places = {place: object_name(str(one), str(two)) for place, (one, two) in enumerate(_names_in(tables))}
    wanted = {place: name for place, name in places.items() if name in names}
    rows = dict(zip(wanted.values(), _rows_at(tables, list(wanted)), strict=True))
    by_table: dict[tuple[Value, Value], list[tuple[Value, ...]]] = {
        (row["schema_name"], row["table_name"]): [] for row in rows.values()
    }
    own = [place for place, name in enumerate(_names_in(indexes)) if name in by_table]
    for row in _rows_at(indexes, own):
        by_table[row["schema_name"], row["table_name"]].append(tuple(_whole(row[column]) for column in _OF_INDEX))
    found = {name: _known(row, by_table[row["schema_name"], row["table_name"]]) for name, row in rows.items()}
    return {name: structure for name, structure in found.items() if structure}


def _names_in(rows: FactRows) -> Iterable[tuple[Value, Value]]:
    return zip(*(rows.values(name) for name in _NAMES), strict=True)


def _rows_at(rows: FactRows, places: Sequence[int]) -> Iterable[Mapping[str, Value]]:
    return [dict(zip(rows.columns, row, strict=True)) for row in rows.rows_at(places)]


def _known(table: Mapping[str, Value], indexes: Sequence[tuple[Value, ...]]) -> str:
    """Empty where the header is not known, or the indexes are not, as of very many tables."""
    if table["row_format"] is None or table["blob_columns"] is None or any(None in index for index in indexes):
        return ""
    if not indexes and (number_of(table["index_bytes"]) or _BYTES_WITHOUT_INDEX + 1) > _BYTES_WITHOUT_INDEX:
        return ""
    return _digest(tuple(_whole(table[column]) for column in _OF_TABLE), indexes)


def _whole(value: Value) -> Value:
    """Numbers as the header has them: a facts file may have 4.0."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _digest(table: tuple[Value, ...], indexes: Iterable[tuple[Value, ...]]) -> str:
    told = "\n".join(map(repr, (table, *sorted(indexes, key=repr))))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=_DIGEST_BYTES).hexdigest()
