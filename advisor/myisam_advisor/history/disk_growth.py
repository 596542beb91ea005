"""How fast the data directory's file system fills, by the samples of the last days: three to seven."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice

from myisam_advisor.history.format import SAMPLE, unpack_sample_of
from myisam_advisor.history.records import Records
from myisam_exporter.look.fact_set import FactRows, FactSet

DAY_SECONDS = 86_400.0
# One import or restore is no pace, and a day may hold nothing else. More than a week says nothing of this week.
SHORTEST_SECONDS, LONGEST_SECONDS = 3 * DAY_SECONDS, 7 * DAY_SECONDS
# Damaged ones are passed over, to the next.
SAMPLES_TRIED = 20
_FREE, _TOTAL = "data_directory_free_bytes", "data_directory_total_bytes"
GROWTH = "data_directory_growth_bytes_per_day"


def with_disk_growth(facts: FactSet, records: Records, target: int) -> FactSet:
    """The facts, with what the oldest sample of the week says of free space then; negative where space was freed.

    Unknown stays unknown: without a sample of three days ago, and where the file system has another size since.
    """
    host, now = facts.single("host"), time.time()
    free, total = host.get(_FREE), host.get(_TOTAL)
    if not isinstance(free, int) or not isinstance(total, int):
        return facts
    window = (target, now - LONGEST_SECONDS, now - SHORTEST_SECONDS)
    rows = records.rows(SAMPLE, "target = ? AND taken_at BETWEEN ? AND ?", window, "taken_at")
    for _, taken_at, _, packed in islice(rows, SAMPLES_TRIED):
        before = unpack_sample_of(records, packed) or {}
        free_before, total_before = before.get(f"host.{_FREE}"), before.get(f"host.{_TOTAL}")
        if free_before is not None and total_before is not None and _same(total, total_before):
            days = (now - taken_at) / DAY_SECONDS
            return _with_growth(facts, (free_before - free) / days)
    return facts


def _same(size: float, before: float) -> bool:
    # Samples have six digits.
    return abs(size - before) <= 1e-5 * size


def _with_growth(facts: FactSet, bytes_per_day: float) -> FactSet:
    rows = facts.tables["host"]
    changed = [
        [bytes_per_day if name == GROWTH else cell for name, cell in zip(rows.columns, row, strict=True)]
        for row in rows.rows
    ]
    unknown = {name: reason for name, reason in facts.unknown.items() if name != f"host.{GROWTH}"}
    tables = {**facts.tables, "host": FactRows(rows.columns, changed)}
    return replace(facts, tables=tables, unknown=unknown)
