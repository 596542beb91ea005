"""How much free disk a rebuild that can wait has to leave: what the rule disk-nearly-full calls too little.

That rule says not to start one. So none is offered that would bring the disk there while its copy is written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.factbase.storable import LARGEST_INTEGER
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of

RULE = "disk-nearly-full"
LIMITS = ("critical_bytes", "small_bytes", "warning_share", "warning_bytes", "warning_days")


def disk_limits(rules: Iterable[Rule]) -> Mapping[str, Value]:
    """The thresholds of that rule, as the site has them; the shipped ones where its own are not among these rules."""
    return next(rule.values() for rule in (*rules, *shipped_rules()) if rule.id == RULE)


def reserve_bytes(host: Mapping[str, Value], limits: Mapping[str, Value]) -> int:
    """The free bytes below which that rule speaks of the data directory."""
    critical, small, share, most, days = (number_of(limits[name]) or 0.0 for name in LIMITS)
    total = number_of(host.get("data_directory_total_bytes"))
    growth = number_of(host.get("data_directory_growth_bytes_per_day"))
    by_share = 0.0 if total is None else min(share * total, most)
    critical *= min(total / small, 1.0) if total is not None and small else 1.0
    # A disk that is known not to grow is small by its bytes alone; where growth is not known, the share decides.
    if growth is None:
        return int(max(critical, by_share))
    return int(min(max(critical, by_share, growth * days), LARGEST_INTEGER)) if growth > 0 else int(critical)
