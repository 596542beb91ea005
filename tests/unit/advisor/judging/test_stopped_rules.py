"""Rules of the site that run into a limit: they are asked no more, and everything else is judged as ever."""

import logging
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Rule, load_rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase import guarded_query as guard
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.guarded_query import QueryError
from myisam_advisor.judging import asking
from myisam_advisor.judging.asking import Inquiry
from myisam_advisor.judging.faults import STOPPED_SECONDS, KnownFaults
from myisam_advisor.judging.findings import STOPPED
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.judging.verdict import UNKNOWN, verdict_of
from myisam_exporter.look.table_choice import TableChooser
from tests.support.rules import write as write_rule

FACTS = facts_from_document({"schema": 1, "variable": {"myisam_recover_options": "OFF"}, "totals": {"myisam_tables": 3}, "tables": [{"schema_name": "s", "table_name": f"t{number}"} for number in range(100)]})
ENDLESS = "SELECT count(*) AS n FROM tables a, tables b, tables c, tables d, tables e, tables f"


def site(folder: Path, number: int = 1) -> Site:
    slow = []
    for each in range(number):
        write_rule(folder, f"slow-{each}", id=f"slow-{each}", query=ENDLESS)
        slow.append(load_rule(folder / f"slow-{each}.yaml"))
    return Site((*slow, *shipped_rules()))


@pytest.mark.slow
def test_a_rule_of_the_site_that_stops_is_said_once_and_disabled_until_a_reload(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    sites = [site(tmp_path)]
    board = Board()
    advice = Advice(lambda: sites[0], None, board)
    choice = TableChooser().choose(FACTS.tables["tables"])
    seconds = []
    for _ in range(3):
        started = time.monotonic()
        list(advice.follow("db", FACTS, choice))
        seconds.append(time.monotonic() - started)
        look = board.look("db")
        assert look is not None
        assert "recovery-disabled" in {finding.rule for finding in look.judgement.findings}
        assert "slow-0" in {one.rule for one in look.judgement.not_evaluated}
    assert seconds[0] >= guard.QUERY_SECONDS
    assert max(seconds[1:]) < 1
    (said,) = [record.message for record in caplog.records if record.levelno == logging.WARNING and record.name.endswith(".advice")]
    assert "the rule slow-0 is disabled until a reload: the query took longer than 2 s" in said
    assert str(tmp_path / "slow-0.yaml") in said
    sites[0] = replace(sites[0])  # a reload
    started = time.monotonic()
    list(advice.follow("db", FACTS, choice))
    assert time.monotonic() - started >= guard.QUERY_SECONDS


@pytest.mark.slow
def test_many_rules_that_stop_hold_up_a_look_for_some_seconds_only(tmp_path: Path) -> None:
    many, stopped = site(tmp_path, 12), KnownFaults()
    started = time.monotonic()
    judgement = judge(prepared(FACTS, many), known=stopped)
    assert time.monotonic() - started < STOPPED_SECONDS + 2 * guard.QUERY_SECONDS + 2
    assert 0 < len(stopped.reasons) < 12
    assert "recovery-disabled" in {finding.rule for finding in judgement.findings}
    assert len([one for one in judgement.not_evaluated if one.rule in {rule.id for rule in many.rules if not rule.is_shipped}]) == 12


def test_a_shipped_rule_that_stops_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rule, stopped = shipped_rules()[0], KnownFaults()
    assert not stopped.stop(rule, "the query took longer than 2 s and was stopped", 2.0, 2.0)
    assert stopped.why_not(rule) is None


@pytest.mark.parametrize(("worked", "kept_out"), [(0.1, False), (1.9, True)])
def test_a_rule_that_stood_still_with_the_whole_program_is_asked_again(tmp_path: Path, worked: float, kept_out: bool) -> None:
    """A machine that was paused, a process that was stopped or had no processor: its rule was called too slow until a reload."""
    rule, stopped = site(tmp_path).rules[0], KnownFaults()
    assert stopped.stop(rule, "the query took longer than 2 s and was stopped", 2.0, worked) == kept_out
    assert (stopped.why_not(rule) is not None) == kept_out
    assert stopped.seconds == 2.0


def test_of_a_rule_that_stood_still_nobody_is_told_to_mend_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "QUERY_SECONDS", 0.05)
    monkeypatch.setattr(asking, "RULE_SECONDS", 0.05)
    for worked, remedy in ((lambda: 0.0, asking.ASK_AGAIN), (time.monotonic, f"mend {tmp_path / 'slow-0.yaml'}")):
        monkeypatch.setattr(time, "thread_time", worked)
        (said,) = [one for one in judge(prepared(FACTS, site(tmp_path))).not_evaluated if one.rule == "slow-0"]
        assert said.how == remedy


def test_where_shipped_rules_stop_nothing_is_called_healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with 60 MB of address space: table-crashed could not be asked, and the verdict was that nothing holds the server back."""
    whole = Inquiry._apply

    def without_memory(self: Inquiry, rule: Rule) -> Any:
        if rule.id in {"table-crashed", "mmap-enable"}:
            raise QueryError("the query needs too much memory and was stopped", stopped=True)
        return whole(self, rule)

    monkeypatch.setattr(Inquiry, "_apply", without_memory)
    facts = facts_from_document({"schema": 1, "interval_seconds": 60, "tables": [{"schema_name": "s", "table_name": "t", "crashed": 1}], "status_per_second": {"Questions": 90.0}, "totals": {"myisam_tables": 1, "crashed_tables": 1}})
    judgement = judge(prepared(facts, Site(tuple(shipped_rules()))))
    (spot,) = [one for one in judgement.blind if one.what == STOPPED]
    assert set(spot.rules) == {"table-crashed"}  # the other one only ever says what could be gained
    assert spot.sentence == "Table-crashed could not be asked to the end."
    assert spot.why == "The query needs too much memory and was stopped"
    verdict = verdict_of(judgement, 60.0)
    assert (verdict.kind, verdict.headline) == (UNKNOWN, spot.sentence)
    assert judgement.count("critical") is None
