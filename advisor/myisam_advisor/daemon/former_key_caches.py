"""Key caches that the server had before it restarted: CACHE INDEX and named caches live in memory only, and a restart loses them."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib

from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.columns import Value
from myisam_exporter.fact_set import FactRows, FactSet

_PREFIX, _SUFFIX = "key_cache.size_bytes[", "]"


def with_former_key_caches(facts: FactSet, database: sqlite3.Connection, target: int) -> FactSet:
    """The facts, with a row of size 0 for each named cache that the last sample before the restart had and that is gone now."""
    uptime = facts.single("server").get("uptime_seconds")
    if not isinstance(uptime, int | float):
        return facts
    row = database.execute(
        "SELECT facts FROM sample WHERE target = ? AND taken_at < ? ORDER BY taken_at DESC LIMIT 1",
        (target, time.time() - uptime),
    ).fetchone()
    rows = facts.tables["key_cache"]
    gone = _named_caches(row[0]) - set(rows.values("name")) if row else set()
    if not gone:
        return facts
    empty = [[_value(name, column) for column in rows.columns] for name in sorted(gone)]
    tables = {**facts.tables, "key_cache": FactRows(rows.columns, [*rows.rows, *empty])}
    return FactSet(tables, facts.unknown, facts.interval_seconds, facts.notes, facts.origin)


def _value(name: str, column: str) -> Value:
    return name if column == "name" else 0 if column == "size_bytes" else None


def _named_caches(packed: bytes) -> set[str]:
    sample = json.loads(zlib.decompress(packed))
    names = {
        fact.removeprefix(_PREFIX).removesuffix(_SUFFIX): value
        for fact, value in sample.items()
        if fact.startswith(_PREFIX)
    }
    return {name for name, value in names.items() if value and name != DEFAULT_CACHE}
