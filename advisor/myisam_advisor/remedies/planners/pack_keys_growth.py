"""What PACK_KEYS=0 would do to a table's indexes: their size at most, and which of them could then be searched by halving."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, Planned, PlanNeeds
from myisam_advisor.remedies.table_sizes import grown_bytes, grown_index_bytes
from myisam_advisor.texts.templates import size
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import numbers_in


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The grown size, and a sentence for each packed index; not worth it where the grown indexes no longer fit.

    Room for the grown indexes is kept only where a trial proved the change: nobody is told to make it before.
    """
    schema, table = row["schema_name"], row["table_name"]
    indexes = context.known.indexes_of(schema, table)
    grown = grown_index_bytes(row.get("rows"), indexes)
    present = row.get("index_bytes")
    growth = max(grown - present, 0) if grown is not None and isinstance(present, int | float) else 0
    usable, room, needed = _usable_bytes(context), _room_bytes(context), _needed_bytes(context, grown, growth)
    if needed is not None and room is not None and needed > room:
        if context.room_bytes is None:
            return PlanNeeds("host.memory_available_bytes (is there room for larger indexes in a larger key cache?)")
        return NotWorth(f"the larger indexes ({grown} bytes) would no longer fit into the key cache")
    return Plan(
        {
            "grown_bytes": grown,
            "by_index": " ".join(_sentences(row.get("rows"), indexes, context.is_mariadb)),
            "has_packed_numbers": not context.is_mariadb and any(map(_is_packed_number, indexes)),
            "fits_now": usable is None or needed is None or needed <= usable,
        },
        index_bytes={} if grown is None or not row.get("proved") else {(schema, table): float(grown)},
    )


def _needed_bytes(context: PlanContext, grown: int | None, growth: float) -> float | None:
    """All indexes with this growth and that of the plans before; where their sum is not known, the grown ones alone."""
    everything = context.number("totals", "myisam_index_bytes")
    if grown is None or everything is None:
        return grown
    return everything + max(context.known.index_bytes_change, 0) + growth


def _usable_bytes(context: PlanContext) -> float | None:
    """What all key caches hold now."""
    return sum(numbers_in(context.facts.tables["key_cache"].values("usable_bytes"))) or None


def _room_bytes(context: PlanContext) -> float | None:
    """What they could hold with what memory can add."""
    usable = _usable_bytes(context)
    return usable if context.room_bytes is None else (usable or 0) + context.room_bytes


def _sentences(rows: Value, indexes: Iterable[Row], mariadb: bool) -> Iterable[str]:
    """For each packed index: how a page is searched now and then, and how large it can become."""
    for index in indexes:
        if not index["is_packed"] or index["algorithm"] not in ("btree", None):
            continue
        name = index["index_name"] or f"Index {index['index_number']}"
        columns = f" ({index['key_description']})" if index["key_description"] else ""
        after = index["binary_search_without_packing"]
        verdict = (
            "is searched from the start of each page now, and could use binary search"
            if after
            else "stays linear: it has a variable-length or nullable column"
            if after == 0
            else "may use binary search"
        )
        grown = grown_bytes(rows, index)
        room = "" if grown is None else f"; unpacked it takes up to {size(grown)}"
        quirk = " (packed because of MySQL's bug with numbers)" if not mariadb and _is_packed_number(index) else ""
        yield f"{name}{columns}{quirk} {verdict}{room}."


def _is_packed_number(index: Row) -> bool:
    """Whether the key begins with a DOUBLE, which PACK_KEYS=DEFAULT should leave alone; a DECIMAL looks like a BINARY here."""
    return bool(index["is_packed"]) and str(index["key_description"] or "").startswith("DOUBLE")
