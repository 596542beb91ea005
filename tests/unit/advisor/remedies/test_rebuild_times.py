"""Times of rebuilds are those that were measured, with everything in memory, or none."""

import re
import time
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.conversions import Conversion, Rates
from myisam_advisor.catalogue.copy_work import BY_ROW
from myisam_advisor.catalogue.measured import RebuildRates, evidence, rebuild_rates_for
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.changes.offline import describe_offline
from myisam_advisor.changes.plan import make_plan
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.remedies.planners import engine_migration
from myisam_advisor.remedies.planners.base import Plan, PlanContext, PlanFacts
from myisam_advisor.remedies.rebuild_times import INTO_INNODB, check_and_repair_last, lasts, lasts_into_innodb
from myisam_advisor.remedies.statements.tables import AlterTable, option
from tests.rules.test_cases import CASES
from tests.support.judging import judged_facts
from tests.unit.advisor.catalogue.test_copy_work import WORK

GIB = 1 << 30
RATES = RebuildRates("a server", {"ALTER": GIB / 100, "CHECK": GIB / 10})
FIGURE = re.compile(r"about \d[\d.,]* (?:ms|s|second|minute|hour|day|min|h)\b|\bat \d[\d.,]* [KMG]iB/s")
CRASHED: dict[str, Any] = {"schema_name": "x", "table_name": "t", "row_format": "fixed", "data_bytes": 3 * GIB, "index_bytes": GIB, "crashed": 1}
NEARLY_FULL: dict[str, Any] = {**CRASHED, "crashed": 0, "row_format": "dynamic", "max_data_bytes": 3 * GIB, "rows": 1000}


def judged(table: dict[str, Any], available: int | None, version: str = "5.6.24", **more: Any) -> tuple[Finding, str]:
    """The finding, and the plan's time for the statement that rewrites the table."""
    host = {} if available is None else {"host": {"memory_available_bytes": available, "data_directory_free_bytes": 100 * GIB}}
    facts = complete(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": version}, "tables": [table], **host, **more}))
    (finding,) = (one for one in judge(prepared(facts, Site(shipped_rules()))).findings if one.rule in ("table-crashed", "table-near-size-limit"))
    return finding, make_plan([finding], facts).offline[-1].lasts


def test_a_figure_where_it_was_measured() -> None:
    assert lasts("ALTER TABLE", GIB, 2 * GIB, RATES).startswith("about 100 s (1 GiB at 10.2 MiB/s, measured on a server with everything in the page cache")
    assert FIGURE.search(lasts("CHECK TABLE", GIB, 2 * GIB, RATES))


@pytest.mark.parametrize(("table_bytes", "available", "rates"), [(2 * GIB, GIB, RATES), (GIB, None, RATES), (None, GIB, RATES), (GIB, 2 * GIB, RebuildRates("no server", {}))])
def test_no_figure_where_it_was_not(table_bytes: int | None, available: int | None, rates: RebuildRates) -> None:
    assert not FIGURE.search(lasts("ALTER TABLE", table_bytes, available, rates))


@pytest.mark.parametrize("table", [CRASHED, NEARLY_FULL], ids=["crashed", "nearly full"])
@pytest.mark.parametrize(("available", "figure"), [(8 * GIB, True), (2 * GIB, False), (None, False)])
def test_findings_and_plans_give_the_same_time_or_none(table: dict[str, Any], available: int | None, figure: bool) -> None:
    finding, planned = judged(table, available)
    assert bool(FIGURE.search(finding.cost)) is figure, finding.cost
    assert planned in finding.cost
    assert ("measured on MySQL 5.6.24" in finding.cost) is figure


VARIES = {"algorithm": "btree", "is_variable_length": 1, "maximum_key_bytes": 63}


@pytest.mark.parametrize(
    ("index", "limit", "index_bytes", "is_least"),
    [
        ({"algorithm": "rtree"}, 1 << 62, GIB, True),
        (VARIES, 62_999, GIB, True),
        (VARIES, 63_000, GIB, False),
        ({**VARIES, "is_variable_length": 0}, 62_999, GIB, False),
        ({"algorithm": "rtree"}, 1 << 62, GIB // 64, False),
    ],
)
def test_indexes_that_cannot_be_sorted_take_a_time_that_was_not_measured(index: dict[str, Any], limit: int, index_bytes: int, is_least: bool) -> None:
    table = {**NEARLY_FULL, "index_bytes": index_bytes}
    indexes = [{"schema_name": "x", "table_name": "t", "index_number": 1, **index}]
    for of in (table, {**table, "crashed": 1}):
        finding, planned = judged(of, 8 * GIB, variable={"myisam_max_sort_file_size": limit}, indexes=indexes)
        assert planned in finding.cost
        assert bool(re.search("key by key, .*; at least [0-9]", planned)) is is_least
        assert bool(finding.price.locked_seconds is None) is is_least


@pytest.mark.parametrize(
    ("table_bytes", "available", "said"),
    [
        (GIB, 2 * GIB, r"CHECK for about 10 s, REPAIR for about 50 s \(1 GiB at 20\.5 MiB/s, measured on a server with everything in the page cache; a slow disk takes longer\)"),
        (2 * GIB, GIB, r"REPAIR for a time that was not measured: 2 GiB do not fit .*; at least 100 s, CHECK for less"),
        (GIB, None, r"REPAIR for a time that was not measured: whether 1 GiB fit .*, CHECK for less"),
    ],
)
def test_what_the_times_of_a_check_and_a_repair_stand_on_is_told_once(table_bytes: int, available: int | None, said: str) -> None:
    rates = RebuildRates("a server", {"REPAIR": GIB / 50, "CHECK": GIB / 10})
    assert re.fullmatch(said, check_and_repair_last(table_bytes, available, rates, None, is_unsorted=False))


def test_each_server_has_its_own_rates() -> None:
    costs = {judged(NEARLY_FULL, 8 * GIB, about["version"])[0].cost for about in evidence()["servers"].values() if about["flavour"] == "mysql"}
    assert len(costs) == 2


@pytest.mark.slow
def test_no_finding_of_any_case_gives_a_time_of_a_rebuild_that_was_not_measured() -> None:
    seen = 0
    for _, case in CASES:
        facts = complete(facts_from_document({"schema": 1, **case["facts"]}))
        findings = judged_facts(facts).findings
        for finding in findings:
            if any(re.match(r"ALTER|OPTIMIZE|REPAIR", command) for command in finding.commands):
                assert not FIGURE.search(finding.cost) or "measured on" in finding.cost, (finding.rule, finding.cost)
                seen += 1
        for offline in make_plan(findings, facts).offline:
            assert not FIGURE.search(offline.lasts) or "measured on" in offline.lasts, offline
    assert seen


def test_no_rule_has_a_rate_of_its_own() -> None:
    assert [(rule.id, name) for rule in shipped_rules() for name in rule.parameters if re.search(r"(?:rebuild|repair|copy)_bytes_per_second", name)] == []


def measured_here(engine: str, seconds: float) -> Rates:
    return Rates((Conversion("MySQL", "5.6.24", engine, BY_ROW, seconds, replace(WORK, data_bytes=GIB * 3 // 4, index_bytes=GIB // 4), GIB, time.time()),))


def test_what_was_measured_on_this_machine_takes_the_place_of_what_was_elsewhere() -> None:
    facts = complete(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.51"}}))
    rates = rebuild_rates_for(facts, measured_here("MyISAM", 20.0))
    assert lasts("ALTER TABLE", GIB, 2 * GIB, rates).startswith("about 20 s (1 GiB at 51.2 MiB/s, measured here on ")
    assert "measured on MySQL 5.6.24" in lasts("CHECK TABLE", GIB, 2 * GIB, rates), "a check is another work"


@pytest.mark.parametrize(
    ("available", "pool", "said"),
    [
        (4 * GIB, GIB, r"25 s to 64 s \(measured here on "),
        (4 * GIB, GIB // 8, r"at least 25 s \(measured here on .*\): its indexes may not fit into innodb_buffer_pool_size"),
        (GIB // 2, GIB, r"at least 25 s .* memory is not known, or not so"),
        (None, GIB, r"at least 25 s .* memory is not known"),
    ],
)
def test_a_conversion_has_a_time_where_one_was_measured_here(available: int | None, pool: int, said: str) -> None:
    facts = complete(facts_from_document({"schema": 1, "server": {"flavour": "mysql", "version": "5.6.51"}}))
    rates = rebuild_rates_for(facts, measured_here("InnoDB", 40.0))
    assert re.match(said, lasts_into_innodb(0.75 * GIB, 0.25 * GIB, available, pool, rates))
    assert lasts_into_innodb(0.75 * GIB, 0.25 * GIB, available, pool, rebuild_rates_for(facts)) == INTO_INNODB


def test_beyond_memory_the_least_time_is_told_and_whether_the_indexes_fit() -> None:
    assert lasts("ALTER TABLE", 4 * GIB, 2 * GIB, RATES, 3 * GIB).endswith("(reported: 3 days for 4 GB with 2 GB of RAM); at least 7 min")
    assert lasts("ALTER TABLE", 4 * GIB, 2 * GIB, RATES, GIB).endswith("though its 1 GiB of indexes do; at least 7 min")


def test_the_plan_of_a_conversion_has_the_time_that_was_measured_here() -> None:
    table = {**CRASHED, "crashed": 0, "rows": 1000}
    facts = complete(facts_from_document({
        "schema": 1, "server": {"flavour": "mysql", "version": "5.6.24"}, "tables": [table], "host": {"memory_available_bytes": 64 * GIB},
        "variable": {"innodb_buffer_pool_size": 32 * GIB},
    }))  # fmt: skip
    conversion = AlterTable(("x", "t"), (option(ENGINE="InnoDB"),))
    known = PlanFacts(facts, measured_here("InnoDB", 40.0))
    described = describe_offline((), (conversion,), known, rebuild_rates_for(facts, known.rates))
    assert "measured here on" in described.lasts
    assert describe_offline((), (conversion,), PlanFacts(facts), rebuild_rates_for(facts)).lasts == INTO_INNODB
    planned = engine_migration.plan(known.tables_by_name["x", "t"], PlanContext(known, {}))
    assert isinstance(planned, Plan)
    assert "measured here on" in str(planned.values["price"])
