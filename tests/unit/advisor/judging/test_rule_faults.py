"""Whose fault it is when a rule does not work: the site mends its own, a shipped one is reported to us, with the place in the log."""

import contextlib
import logging
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.faults import LOGGED_OF_A_RULE, OUR_FAULT, KnownFaults, RuleError
from myisam_advisor.judging.findings import NotEvaluated
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_exporter.look.table_choice import TableChooser

SHIPPED = next(rule for rule in shipped_rules() if rule.id == "recovery-disabled")
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "planner": ({"query": "SELECT 1 AS one", "planner": "no_such_planner"}, "a planner that works: no_such_planner failed with ModuleNotFoundError"),
    "planner's columns": ({"query": "SELECT 1 AS one", "planner": "key_cache_layout"}, "a planner that works: key_cache_layout failed with KeyError"),
    "text": ({"query": "SELECT 1 AS one", "finding": "{{ one.two.three }}"}, "texts that work"),
    "query": ({"query": "SELECT no_such_fact"}, "a query that works: unknown fact"),
    "need": ({"needs": (("no_such_table.column",),)}, "facts that exist: there is no no_such_table.column"),
}  # fmt: skip


def fault_of(rule: Rule) -> NotEvaluated:
    plain = replace(rule, parameters={}, needs=(), applicable=(), not_if=(), flavours=("mysql", "percona", "mariadb"), versions={})
    changed = replace(plain, needs=rule.needs) if rule.needs != SHIPPED.needs else plain
    (found,) = judge(prepared(facts_from_document({"schema": 1}), Site((changed,)))).not_evaluated
    return found


@pytest.mark.parametrize("what", WRONG)
def test_a_shipped_rule_that_fails_is_our_fault_and_the_log_says_where(what: str, caplog: pytest.LogCaptureFixture) -> None:
    changes, needs = WRONG[what]
    found = fault_of(replace(SHIPPED, **changes))
    assert found.needs.startswith(needs)
    assert found.how == OUR_FAULT
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert SHIPPED.id in record.getMessage()
    if what != "need":
        assert record.exc_info is not None
        assert record.exc_info[1] is not None
    if what.startswith("planner"):
        assert "planner" in str(record.exc_info)
        assert "in _plan" in caplog.text, "the traceback of what failed"


@pytest.mark.parametrize("what", WRONG)
def test_a_rule_of_the_site_that_fails_is_its_own_to_mend(what: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    changes, needs = WRONG[what]
    found = fault_of(replace(SHIPPED, **changes, path=tmp_path / "own.yaml"))
    assert found.needs.startswith(needs)
    assert found.how == f"mend {tmp_path / 'own.yaml'}"
    assert not caplog.records


def test_a_daemon_logs_a_fault_once_until_a_reload_or_another_fault(caplog: pytest.LogCaptureFixture) -> None:
    """At one look a second and 33 rules the log would be nothing else."""
    facts, choice = facts_from_document({"schema": 1}), TableChooser().choose(facts_from_document({"schema": 1}).tables["tables"])
    plain = replace(SHIPPED, parameters={}, needs=(), applicable=(), not_if=())
    sites = [Site((replace(plain, query="SELECT no_such_fact"),))]
    advice = Advice(lambda: sites[0], None, board := Board())

    def looked(times: int) -> int:
        before = len(caplog.records)
        for _ in range(times):
            list(advice.follow("db", facts, choice))
            look = board.look("db")
            assert look is not None
            assert [one.how for one in look.judgement.not_evaluated] == [OUR_FAULT]
        return len(caplog.records) - before

    assert looked(3) == 1
    sites[0] = replace(sites[0])  # a reload
    assert looked(3) == 1
    sites[0] = Site((replace(plain, query="SELECT 1 AS one", finding="{{ one.two.three }}"),))
    assert looked(3) == 1
    assert "texts that work" in caplog.records[-1].getMessage()


def test_faults_that_differ_from_look_to_look_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    known = KnownFaults()
    for number in range(10 * LOGGED_OF_A_RULE):
        assert known.fault(SHIPPED, f"a number that is not {number}").needs == f"a number that is not {number}"
    assert len(caplog.records) == LOGGED_OF_A_RULE


def test_a_rule_error_passes_a_context_manager_as_what_it_is() -> None:
    @contextlib.contextmanager
    def held() -> Iterator[None]:
        yield

    with pytest.raises(RuleError, match="why"), held():
        raise RuleError("why")
