"""A finding that comes and goes near a limit is told on for five minutes: whatever made it go, and never on facts that are not there."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import silence_of, worth_remembering
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.told import HELD_SECONDS, Told, is_of_load
from myisam_advisor.judging.verdict import verdict_of

SITE = Site(shipped_rules())
CHURN = "connection-churn"
BUSY, CALM, COSTLY = 60, 40, 700  # connections a second: more than 50 are told, 500 are a warning


def facts(connections: float | None, interval: float | None = 60, **changes: Any) -> dict[str, Any]:
    rates = {"Questions": 2 * (connections or 0), "Threads_created": 0.1}
    known = rates if connections is None else {**rates, "Connections": connections}
    return {"interval_seconds": interval, "status_per_second": known, "variable": {"thread_cache_size": 100}, "server": {"flavour": "mariadb", "version": "10.11.6"}} | changes


class Looks:
    """One server, a look after the other."""

    def __init__(self, site: Site = SITE, database: FactDatabase | None = None) -> None:
        self.told, self.now, self.site, self.database = Told(), 0.0, site, database

    def look(self, document: Mapping[str, Any], pause: float = 60) -> Judgement:
        ready = prepared(facts_from_document({"schema": 1, **document}), self.site)
        self.now += pause
        self.told.begin(ready, self.now)
        return judge(ready, self.database, told=self.told)


def found(judgement: Judgement, rule: str = CHURN) -> Finding | None:
    return next((one for one in judgement.findings if one.rule == rule), None)


def without_seconds(judgement: Judgement) -> Judgement:
    return replace(judgement, seconds={})


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from([BUSY, CALM, COSTLY]), st.sampled_from([20.0, 60.0, 150.0, 400.0])), max_size=25))
def test_it_is_told_as_bad_as_it_was_within_the_last_five_minutes_and_then_no_more(looks: list[tuple[int, float]]) -> None:
    server, last, at = Looks(), "", 0.0
    severity, order = {BUSY: "info", CALM: "", COSTLY: "warning"}, ["", "info", "warning"]
    for connections, pause in looks:
        finding = found(server.look(facts(connections), pause))
        now = severity[connections]
        if order.index(now) >= order.index(last) or server.now - at > HELD_SECONDS:
            last, at = now, server.now
        assert (finding.severity if finding else "") == last
        if finding is not None:
            assert finding.away_seconds == (server.now - at if not now else None)


def test_what_is_said_of_it_is_of_then_and_says_so_first() -> None:
    server = Looks()
    plain = found(server.look(facts(COSTLY)))
    later = server.look(facts(BUSY))
    milder = found(later)
    judgement = server.look(facts(CALM), 90)
    away = found(judgement)
    assert plain is not None
    assert milder is not None
    assert away is not None
    assert milder.message.startswith(f"60 s ago, info in this look: {plain.message}")
    assert away.message == f"Not in this look, but 2 min ago: {plain.message} It is shown until it has been gone for 5 min."
    assert verdict_of(judgement, 60).detail.startswith("Not in this look, but 2 min ago: 700 connections a second")
    assert (milder.severity, away.severity) == ("warning", "warning")
    assert CHURN not in judgement.quiet
    # What is remembered is what was found.
    assert milder in worth_remembering(later, 60)
    assert away not in worth_remembering(judgement, 60)
    assert silence_of(judgement, 60).says_gone((CHURN, ""))


@pytest.mark.parametrize(
    ("what", "then"),
    [
        ("a look without an interval", facts(CALM, None)),
        ("a setting that was changed", facts(CALM, variable={"thread_cache_size": 101})),
        ("a key cache that was changed", facts(CALM, key_cache=[{"name": "default", "size_bytes": 1 << 24}])),
        ("a rate that is not known", facts(None)),
    ],
)
def test_nothing_is_told_on(what: str, then: dict[str, Any]) -> None:
    server = Looks()
    assert found(server.look(facts(BUSY)))
    assert not found(server.look(then)), what
    assert not found(server.look(facts(CALM))), f"nor after {what}"


def test_what_the_first_look_suspects_of_counters_since_the_start_is_not_told_beside_the_answer() -> None:
    server, locks = Looks(), "table-lock-contention"
    waited: dict[str, Any] = {"server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": 400}, "status": {"Table_locks_immediate": 53148, "Table_locks_waited": 17716}}
    suspected = found(server.look({**waited}), locks)
    assert suspected is not None
    assert suspected.confidence == "suspected"
    calm = {**waited, "interval_seconds": 60, "status_per_second": {"Table_locks_immediate": 300, "Table_locks_waited": 0, "Questions": 300}}
    assert not found(server.look(calm), locks)


def test_who_changes_the_configuration_is_judged_anew() -> None:
    server = Looks()
    assert found(server.look(facts(BUSY)))
    server.site = replace(SITE)
    assert not found(server.look(facts(CALM)))


def test_what_is_there_is_told_while_it_is_seen() -> None:
    table = {"schema_name": "s", "table_name": "t", "data_bytes": 5, "index_bytes": 1024, "row_format": "dynamic", "crashed": 1}
    server = Looks()
    assert found(server.look(facts(BUSY, tables=[table])), "table-crashed")
    assert not found(server.look(facts(BUSY, tables=[{**table, "crashed": 0}])), "table-crashed")


def test_a_table_that_is_gone_is_no_finding_more() -> None:
    waited = facts(CALM, tables=[{"schema_name": "s", "table_name": name, "data_bytes": 5 << 20, "index_bytes": 1 << 20, "rows": 100000, "row_format": "fixed", "lock_wait_seconds_per_second": 0.9,
                                  "write_statements_per_second": 50, "rows_added_per_second": 0} for name in ("t", "u")])  # fmt: skip
    waited["status_per_second"] |= {"Table_locks_waited": 200.0, "Table_locks_immediate": 1000.0}
    server = Looks()
    tables = {one.object for one in server.look(waited).findings if one.rule == "migrate-engine"}
    assert tables == {"s.t", "s.u"}
    calm = facts(CALM, tables=[{**waited["tables"][0], "lock_wait_seconds_per_second": 0.0}])
    calm["status_per_second"] |= {"Table_locks_waited": 0.0, "Table_locks_immediate": 1000.0}
    left = {one.object: one for one in server.look(calm).findings if one.rule == "migrate-engine"}
    assert left.keys() == {"s.t"}
    assert left["s.t"].away_seconds == 60


def test_what_speaks_against_it_in_one_look_does_not_make_it_go_at_once() -> None:
    """And is not told beside it as the reason why there is nothing."""
    server = Looks()
    assert found(server.look(facts(BUSY)))
    refused = facts(BUSY)
    refused["status_per_second"] |= {"Aborted_connects": 50.0}
    assert [one.rule for one in judge(prepared(facts_from_document({"schema": 1, **refused}), SITE)).dropped] == [CHURN]
    judgement = server.look(refused)
    assert found(judgement)
    assert CHURN not in {one.rule for one in judgement.dropped}


def test_what_another_finding_makes_pointless_is_not_told_on() -> None:
    server = Looks(Site([rule if rule.id != "slow-queries" else replace(rule, severity="critical", moots=("*",)) for rule in SITE.rules]))
    assert found(server.look(facts(BUSY)))
    slow = facts(CALM)
    slow["status_per_second"] |= {"Slow_queries": 30.0, "Questions": 80.0}
    judgement = server.look(slow)
    assert found(judgement, "slow-queries")
    assert not found(judgement)
    assert CHURN in {one.rule for one in judgement.dropped}
    assert not found(server.look(facts(CALM)))


@settings(max_examples=5)
@given(st.lists(st.sampled_from([BUSY, CALM, COSTLY]), max_size=12))
def test_it_is_the_same_by_a_database_that_is_kept(looks: list[int]) -> None:
    kept = FactDatabase()
    whole, incremental = Looks(), Looks(database=kept)
    for connections in looks:
        assert without_seconds(whole.look(facts(connections))) == without_seconds(incremental.look(facts(connections)))
    kept.close()


def test_a_first_look_says_what_a_facts_file_says() -> None:
    for connections in (BUSY, CALM, COSTLY):
        alone = judge(prepared(facts_from_document({"schema": 1, **facts(connections)}), SITE))
        assert without_seconds(Looks().look(facts(connections))) == without_seconds(alone)


def test_all_that_holds_a_server_back_is_of_load_but_for_what_is_there() -> None:
    """A rule that needs a rate is damped without a word of its own; one of these, that tells what is full, off, or in line at this moment, is not."""
    assert {rule.id for rule in SITE.rules if rule.resource and not is_of_load(rule)} == {"data-directory-read-only", "disk-nearly-full", "key-cache-off", "lock-pile-up"}
    of_state = {"auto-increment-nearly-full", "insufficient-sample", "no-myisam", "open-files-limit", "recovery-disabled", "table-crashed", "table-near-size-limit", "upgrade-blockers"}
    assert not {rule.id for rule in SITE.rules if is_of_load(rule)} & of_state
