"""What a look cannot know and the history does, put beside what the look saw."""

from __future__ import annotations

from myisam_advisor.history.disk_growth import with_disk_growth
from myisam_advisor.history.former_key_caches import with_former_key_caches
from myisam_advisor.history.records import Records
from myisam_exporter.look.fact_set import FactSet


def with_remembered(facts: FactSet, records: Records, target: int, started_at: float | None) -> FactSet:
    """The facts with the key caches that a restart lost, and with how fast the disk fills. `started_at` is when the server did."""
    return with_disk_growth(with_former_key_caches(facts, records, target, started_at), records, target)
