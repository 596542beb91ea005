"""Counters that were set back within the interval: no rule that rests on their rates speaks, and nobody takes its silence for health."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import COUNTERS, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import silence_of
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import verdict_of
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import RESET

COUNTED = {"read_requests": 5_000_000, "reads": 900_000, "write_requests": 0, "writes": 0}
CACHE = {"name": "default", "size_bytes": 131072, "usable_bytes": 106496, "block_size_bytes": 1024, "blocks_used": 104, "blocks_unused": 0, **COUNTED}
RATES = {"read_requests_per_second": 80000, "reads_per_second": 60000, "write_requests_per_second": 0, "writes_per_second": 0}
SEEN: dict[str, Any] = {
    "server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 864000}, "interval_seconds": 10,
    "variable": {"myisam_recover_options": "BACKUP,QUICK", "table_open_cache": 2000, "max_connections": 151}, "host": {"cpu_count": 2, "memory_bytes": 8 << 30, "memory_available_bytes": 6 << 30},
    "mysqld": {"threads_running": 2}, "totals": {"myisam_tables": 1, "myisam_index_bytes": 16 << 20},
    "tables": [{"schema_name": "shop", "table_name": "orders", "row_format": "fixed", "rows": 100000, "data_bytes": 20 << 20, "index_bytes": 16 << 20, "crashed": 0, "has_holes": 0}],
}  # fmt: skip


def facts_of(**changed: Any) -> FactSet:
    return facts_from_document({"schema": 1, **SEEN, **changed})


def flushed(**changed: Any) -> FactSet:
    """A look in which the counters of the server and of its key caches were set back."""
    facts = facts_of(key_cache=[CACHE], status={"Questions": 90000, "Key_reads": 900000}, **changed)
    lacking = dict.fromkeys(("status.per_second", *(f"key_cache.{name}" for name in RATES), "key_cache.miss_ratio"), RESET)
    return replace(facts, unknown={**facts.unknown, **lacking})


def judged(facts: FactSet) -> Judgement:
    return judge(prepared(facts, Site(shipped_rules())))


def test_what_was_found_before_is_neither_there_nor_gone() -> None:
    before = judged(facts_of(key_cache=[{**CACHE, **RATES}], status={"Questions": 90000}, status_per_second={"Questions": 9000}))
    assert "key-buffer-too-small" in [one.rule for one in before.findings]
    facts = flushed()
    judgement = judged(facts)
    assert "key-buffer-too-small" not in [one.rule for one in judgement.findings]
    silence = silence_of(judgement, facts.interval_seconds)
    assert not silence.says_gone(("key-buffer-too-small", "default"))
    assert silence.says_gone(("table-crashed", "shop.orders"))  # headers count nothing


def test_the_verdict_says_that_nobody_knows() -> None:
    facts = flushed()
    judgement = judged(facts)
    (spot,) = [one for one in judgement.blind if one.what == COUNTERS]
    assert {"key-buffer-too-small", "table-cache-too-small", "temporary-tables-on-disk"} <= set(spot.rules)
    assert "table-crashed" not in spot.rules
    verdict = verdict_of(judgement, facts.interval_seconds)
    assert (verdict.kind, verdict.headline.startswith("The counters were reset within the interval")) == ("unknown", True)


def test_what_a_rate_would_have_silenced_is_not_told() -> None:
    """Without the statements of a second, mmap-enable took ranges of any length for long ones."""
    facts = flushed(
        variable={**SEEN["variable"], "myisam_use_mmap": "OFF"}, mysqld={"threads_running": 2, "read_syscalls_per_second": 200000, "page_cache_hit_ratio": 1.0},
        tables=[{**SEEN["tables"][0], "data_resident_bytes": 20 << 20, "rows_read_per_second": 200000, "rows_added_per_second": 0, "rows_changed_per_second": 0}],
    )  # fmt: skip
    judgement = judged(facts)
    assert "mmap-enable" in [one.rule for one in judged(replace(facts, unknown={name: why for name, why in facts.unknown.items() if why != RESET})).findings]
    assert "mmap-enable" not in [one.rule for one in judgement.findings]
    assert "mmap-enable" in [one.rule for one in judgement.not_evaluated]


@pytest.mark.parametrize(("columns", "is_asked"), [(("write_requests_per_second", "writes_per_second"), False), (("reads_per_second",), True)])
def test_what_a_rule_does_not_ask_for_keeps_it_from_nothing(columns: tuple[str, ...], is_asked: bool) -> None:
    """Of all rates of a cache only those of reads say that it is too large."""
    facts = facts_of(key_cache=[{**CACHE, **RATES, **dict.fromkeys(columns), "miss_ratio": 0.75}])
    facts = replace(facts, unknown={**facts.unknown, **{f"key_cache.{name}": RESET for name in columns}})
    lacking = {one.rule for one in judged(facts).not_evaluated if one.why == RESET.reason}
    assert ("key-buffer-too-large" in lacking) is is_asked


@pytest.mark.parametrize(("waiting", "told"), [(100, True), (20, False)])
def test_what_is_critical_does_not_wait_for_the_next_look(waiting: int, told: bool) -> None:
    """A queue of connections is seen without counters; half of max_connections is critical."""
    judgement = judged(flushed(processlist=[{"command": "Query", "state": "Waiting for table level lock", "threads": waiting, "longest_seconds": 40}]))
    found = {one.rule: one.severity for one in judgement.findings}
    assert found.get("table-lock-contention") == ("critical" if told else None)
    assert ("table-lock-contention" in [one.rule for one in judgement.not_evaluated]) is not told


def test_where_nothing_was_set_back_nothing_of_it_is_said() -> None:
    assert not [one for one in judged(facts_of(key_cache=[{**CACHE, **RATES}])).blind if one.what == COUNTERS]
