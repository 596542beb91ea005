"""What PACK_KEYS=0 would do to a table's indexes: their size at most, and which of them could then be searched by halving."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_advisor.planning import NotWorth, Plan, PlanContext, Planned
from myisam_advisor.texts import size
from myisam_exporter.columns import Row, Value

PAGE_FILL = 0.67  # manual, "MyISAM key space": pages filled at random
PAGE_POINTER_BYTES = 4


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The grown size and a sentence for each packed index; not worth it where the grown indexes no longer fit."""
    schema, table = row["schema_name"], row["table_name"]
    indexes = context.known.indexes_of(schema, table)
    grown = grown_index_bytes(row.get("rows"), indexes)
    room = _room_bytes(context)
    if grown is not None and room is not None:
        # Where the present sizes are not known, the grown indexes alone must fit.
        present, everything = row.get("index_bytes"), context.number("totals", "myisam_index_bytes")
        total: float = grown
        if isinstance(present, int | float) and everything is not None:
            total = everything + max(grown - present, 0)
        if total > room:
            return NotWorth(f"the grown indexes ({grown} bytes) would not fit the key cache any more")
    return Plan({"grown_bytes": grown, "by_index": " ".join(_sentences(row.get("rows"), indexes, context.is_mariadb))})


def grown_index_bytes(rows: Value, indexes: Iterable[Row]) -> int | None:
    """The size that all indexes of a table can reach unpacked; None when not known."""
    sizes = [_grown_bytes(rows, index) for index in indexes]
    known = [size for size in sizes if size is not None]
    return int(sum(known)) if sizes and len(known) == len(sizes) else None


def _grown_bytes(rows: Value, index: Row) -> float | None:
    """One index unpacked, at most: rows x (key length + 4) / 0.67."""
    length = index["maximum_key_bytes"]
    if not isinstance(rows, int | float) or not isinstance(length, int | float):
        return None
    return rows * (length + PAGE_POINTER_BYTES) / PAGE_FILL


def _room_bytes(context: PlanContext) -> float | None:
    """What the key cache holds now or could hold: all caches, and what memory can add."""
    usable = [_number(cache["usable_bytes"]) for cache in context.facts.tables["key_cache"].dictionaries()]
    known = sum(usable) or None
    return known if context.room_bytes is None else (known or 0) + context.room_bytes


def _sentences(rows: Value, indexes: Iterable[Row], mariadb: bool) -> Iterable[str]:
    """For each packed index: how a page is searched now and then, and how large it can become."""
    for index in indexes:
        if not index["is_packed"] or index["algorithm"] not in ("btree", None):
            continue
        name = index["index_name"] or f"index {index['index_number']}"
        columns = f" ({index['key_description']})" if index["key_description"] else ""
        after = index["binary_search_without_packing"]
        verdict = (
            "is searched from its page's start now, and would be searched by halving"
            if after
            else "stays linear: a variable-length or nullable column"
            if after == 0
            else "may be searched by halving"
        )
        grown = _grown_bytes(rows, index)
        room = "" if grown is None else f", and take up to {size(grown)}"
        quirk = " (packed by MySQL's mistake with numbers)" if not mariadb and _is_number(index) else ""
        yield f"{name}{columns}{quirk} {verdict}{room}."


def _is_number(index: Row) -> bool:
    """Whether the key begins with a DOUBLE, which PACK_KEYS=DEFAULT should leave alone; a DECIMAL looks like a BINARY here."""
    return str(index["key_description"] or "").startswith("DOUBLE")


def _number(value: Value) -> float:
    return value if isinstance(value, int | float) else 0.0
