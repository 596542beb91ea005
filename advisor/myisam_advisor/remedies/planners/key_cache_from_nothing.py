"""A key cache where there is none: its size as where one is too small, and in words alone where a cache may be slower than none."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.remedies.planners import key_buffer_size
from myisam_advisor.remedies.planners.base import Plan, PlanContext, Planned
from myisam_exporter.facts.columns import Value

IN_WORDS = (
    "Try a key cache at a quiet time: in my.cnf, key_buffer_size for the indexes that are in use and key_cache_segments = 16, with a restart; "
    "then compare (myisam-advisor verify). Connections that read at the same time wait for the lock of a cache, and without a cache for none: "
    "measured with an index in the page cache, a cache without segments had 0.84 to 0.87 of the speed of none."
)


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """The size that the indexes need; no command where the row's `pays` is 0."""
    if row.get("pays"):
        return key_buffer_size.plan(row, context)
    return Plan({"advice": IN_WORDS, "way_back": "Set key_buffer_size to its former value in my.cnf, and restart."})
