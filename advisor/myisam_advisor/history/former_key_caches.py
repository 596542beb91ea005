"""Key caches that the server had before it restarted: CACHE INDEX and named caches live in memory only, and a restart loses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import islice

from myisam_advisor.history.format import SAMPLE, unpack_sample_of
from myisam_advisor.history.records import Records
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactRows, FactSet

# Damaged ones are passed over, to the one before.
SAMPLES_TRIED = 20
_PREFIX, _SUFFIX = "key_cache.size_bytes[", "]"


def with_former_key_caches(facts: FactSet, records: Records, target: int, started_at: float | None) -> FactSet:
    """The facts, with a row of size 0 for each named cache that the last sample before the restart had and that is gone now.

    `started_at` is when the server did: what was sampled since is not of before, however old the facts are.
    """
    if started_at is None:
        return facts
    before = records.rows(SAMPLE, "target = ? AND taken_at < ?", (target, started_at), "taken_at DESC")
    samples = (unpack_sample_of(records, packed) for *_, packed in islice(before, SAMPLES_TRIED))
    rows = facts.tables["key_cache"]
    gone = _named_caches(next(filter(None, samples), {})) - set(rows.values("name"))
    if not gone:
        return facts
    empty = [[_value(name, column) for column in rows.columns] for name in sorted(gone)]
    tables = {**facts.tables, "key_cache": FactRows(rows.columns, [*rows.rows, *empty])}
    return replace(facts, tables=tables)


def _value(name: str, column: str) -> Value:
    return name if column == "name" else 0 if column == "size_bytes" else None


def _named_caches(sample: Mapping[str, float | None]) -> set[str]:
    names = {
        fact.removeprefix(_PREFIX).removesuffix(_SUFFIX): value
        for fact, value in sample.items()
        if fact.startswith(_PREFIX)
    }
    return {name for name, value in names.items() if value and name != DEFAULT_CACHE}
