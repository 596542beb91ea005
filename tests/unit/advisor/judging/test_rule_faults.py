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
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.faults import OUR_FAULT, RuleError
from myisam_advisor.judging.findings import NotEvaluated
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared

SHIPPED = next(rule for rule in shipped_rules() if rule.id == "recovery-disabled")
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "planner": ({"query": "SELECT 1 AS one", "planner": "no_such_planner"}, "a planner that works: no_such_planner failed with ModuleNotFoundError"),
    "planner's columns": ({"query": "SELECT 1 AS one", "planner": "key_cache_layout"}, "a planner that works: key_cache_layout failed with KeyError"),
    "text": ({"query": "SELECT 1 AS one", "finding": "{{ one.two.three }}"}, "texts that work"),
    "query": ({"query": "SELECT no_such_fact"}, "a query that works: unknown fact"),
    "need": ({"needs": ("no_such_table.column",)}, "facts that exist: there is no no_such_table.column"),
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


def test_a_rule_error_passes_a_context_manager_as_what_it_is() -> None:
    @contextlib.contextmanager
    def held() -> Iterator[None]:
        yield

    with pytest.raises(RuleError, match="why"), held():
        raise RuleError("why")
