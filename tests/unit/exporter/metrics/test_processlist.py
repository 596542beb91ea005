"""Connections that wait for a table's lock, and those that repair."""

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.processlist import Connections
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.processlist import GROUP, SERVER_LOCK_STATES
from tests.support.recorded import RecordedLook
from tests.support.repository import ROOT

Groups = dict[tuple[str, str, str], tuple[int, int | None]]


def test_the_recorded_machine_has_one_that_waits(look: RecordedLook) -> None:
    values = look.values(GROUP)
    assert values["connections_waiting_for_table_lock",] == 1
    assert values["longest_table_lock_wait_seconds",] >= 2
    assert values["connections_repairing",] == 0


@pytest.mark.parametrize(("groups", "waiting", "longest", "repairing"), [
    ({}, 0, 0, 0),
    ({("a", "Locked", "Query"): (2, 3), ("b", "Waiting for table level lock", "Query"): (1, 9)}, 3, 9, 0),
    ({("a", "Locked", "Query"): (2, None), ("b", "Table lock", "Query"): (1, 9)}, 3, None, 0),
    ({("b", "System lock", "Query"): (1, 9), ("b", "Waiting for table level lock", "Query"): (1, 4)}, 1, 4, 0),
    ({("a", "Repair by sorting", "Query"): (1, 60), ("a", "Sending data", "Query"): (5, 1)}, 0, 0, 1),
    ({("a", "Repair with 3 threads", "Query"): (1, 60), ("a", "Parallel repair", "Query"): (1, 1), ("a", "Sorting index", "Query"): (1, 1), ("a", "Repairing", "Query"): (1, 1)}, 0, 0, 3),
])  # fmt: skip
def test_states_are_summed_and_an_unknown_wait_stays_unknown(groups: Groups, waiting: int, longest: int | None, repairing: int) -> None:
    values = {value.name: value.number for value in GROUP.values(Pair(Connections(groups)), Scene({}, Running())) if not value.labels}
    assert list(values.values()) == [waiting, longest, repairing]


def test_queues_for_locks_of_the_server_are_told_apart_by_what_they_wait_for() -> None:
    """States as tests/servers/test_expert_rules.py provokes them; a table's own lock is no lock of the server."""
    states = {"Waiting for table metadata lock": 2, "Waiting for schema metadata lock": 1, "Waiting for global read lock": 3, "Waiting for commit lock": 1, "Waiting for backup lock": 5,
              "Waiting for table flush": 1, "Flushing tables": 1, "Waiting for table level lock": 7, "Waiting for handler commit": 1, "": 9}  # fmt: skip
    groups: Groups = {("a", state, "Query"): (threads, 1) for state, threads in states.items()}
    groups["b", "Waiting for table metadata lock", "Execute"] = (1, None)
    found = {value.labels: value.number for value in GROUP.values(Pair(Connections(groups)), Scene({}, Running())) if value.labels}
    assert found == {("metadata",): 4, ("global",): 4, ("backup",): 5, ("flush",): 2}


def test_where_nobody_waits_each_queue_is_known_to_be_empty() -> None:
    found = {value.labels: value.number for value in GROUP.values(Pair(Connections({})), Scene({}, Running())) if value.labels}
    assert found == {("metadata",): 0, ("global",): 0, ("backup",): 0, ("flush",): 0}


def test_the_rule_knows_the_same_queues() -> None:
    """`lock-pile-up` names these states in its query: whoever adds one here adds it there."""
    query = (ROOT / "rules" / "advice" / "lock-pile-up.yaml").read_text("utf-8")
    assert "LIKE 'Waiting for % metadata lock'" in query
    for states in SERVER_LOCK_STATES.values():
        for state in states:
            assert f"'{state}'" in query
