"""A key cache grows where nobody knows whether the server's control group has a limit."""

from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.factbase.partial import NOT_IN_FILE
from myisam_advisor.remedies.costs import GROUP_LIMIT, Costs
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.variables import set_global
from myisam_exporter.collectors.cgroup import HIDDEN
from myisam_exporter.facts.unknown import Unknown
from tests.support.planning import MYSQL, facts

NO_PROCESS = Unknown("process 7 is not visible here", "share the server's process numbers")


def costs(size: int, name: str, why: Unknown, memory: float | None = 8e9, cache: str = "", **tables: Any) -> list[str]:
    found = facts(server=MYSQL, variable={"key_buffer_size": 1000}, host={"memory_bytes": memory}, **tables)
    known = PlanFacts(replace(found, unknown={name: why}))
    return list(Costs(known, ServerState(known)).of(set_global("key_buffer_size", size, cache)))


@pytest.mark.parametrize(("name", "why"), [(GROUP_LIMIT, HIDDEN), (GROUP_LIMIT, NO_PROCESS), ("mysqld", NO_PROCESS)])
def test_a_limit_that_cannot_be_seen_is_not_taken_for_none(name: str, why: Unknown) -> None:
    (said,) = costs(2000, name, why)
    assert "limits the server's memory is not known here" in said
    assert costs(500, name, why, cache="hot") == [said]
    assert costs(1000, name, why) == costs(500, name, why) == []  # it takes no more than before
    assert costs(2000, name, why, memory=None) == []  # the machine is not seen either, and nothing is measured by it


def test_no_limit_is_no_cost() -> None:
    assert costs(2000, GROUP_LIMIT, Unknown("the control group has no memory limit", off=True)) == []
    assert costs(2000, "host.cpu_count", HIDDEN) == []


def test_a_file_of_facts_that_has_the_process_and_no_limit_had_none_to_tell() -> None:
    assert costs(2000, GROUP_LIMIT, NOT_IN_FILE, mysqld={"pid": 7}) == []
    assert len(costs(2000, GROUP_LIMIT, NOT_IN_FILE, mysqld={"threads_running": 7})) == 1
