"""Whether facts may be of a part of the tables only. It imports nothing that reads files: `myisam-snapshot` brings it along to old hosts."""

from __future__ import annotations

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactSet

NOT_IN_FILE = Unknown("not in the facts file")


def may_be_part(facts: FactSet) -> bool:
    """Whether there may be more tables than these.

    Those of a live server whose files are out of sight come by SQL, a few at a time; and of those whose files are read some may be out of sight.
    """
    reasons = {facts.unknown.get("totals"), facts.unknown.get("totals.myisam_tables")} - {None, NOT_IN_FILE}
    return facts.single("server").get("local") == 0 or bool(reasons)
