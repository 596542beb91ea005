"""How much free disk a rebuild leaves: as much as the rule disk-nearly-full wants, at the site's thresholds."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.disk_reserve import RULE, disk_limits, reserve_bytes

GB = 10**9
(NEARLY_FULL,) = (rule for rule in shipped_rules() if rule.id == RULE)


@pytest.mark.parametrize(("host", "reserve"), [
    ({}, 1 << 28),
    ({"data_directory_total_bytes": 200 * GB}, 10 * GB),
    ({"data_directory_total_bytes": 1 << 28}, 1 << 26),
    ({"data_directory_total_bytes": 16_000 * GB}, 20 << 30),
    ({"data_directory_total_bytes": 200 * GB, "data_directory_growth_bytes_per_day": -1}, 1 << 28),
    ({"data_directory_total_bytes": 200 * GB, "data_directory_growth_bytes_per_day": 1}, 10 * GB),
    ({"data_directory_total_bytes": 200 * GB, "data_directory_growth_bytes_per_day": 2 * GB}, 14 * GB),
])  # fmt: skip
def test_the_reserve_is_where_the_rule_begins_to_speak(host: dict[str, Any], reserve: int) -> None:
    assert reserve_bytes(host, disk_limits(())) == reserve
    for free, speaks in ((reserve - 1, True), (reserve, False)):
        facts = facts_from_document({"schema": 1, "host": {**host, "data_directory_free_bytes": free, "temporary_directory_free_bytes": 10**15}})
        assert bool(judge(prepared(facts, Site([NEARLY_FULL]))).findings) is speaks


def test_a_site_has_its_own_reserve() -> None:
    parameters = {**NEARLY_FULL.parameters, "critical_bytes": replace(NEARLY_FULL.parameters["critical_bytes"], default=5 * GB)}
    assert reserve_bytes({}, disk_limits([replace(NEARLY_FULL, parameters=parameters)])) == 5 * GB
