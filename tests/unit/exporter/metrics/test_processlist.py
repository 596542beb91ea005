"""Connections that wait for a table's lock, and those that repair."""

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.processlist import Connections
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.processlist import GROUP
from tests.support.recorded import RecordedLook

Groups = dict[tuple[str, str, str], tuple[int, int | None]]


def test_the_recorded_machine_has_one_that_waits(look: RecordedLook) -> None:
    values = look.values(GROUP)
    assert values["connections_waiting_for_table_lock",] == 1
    assert values["longest_table_lock_wait_seconds",] >= 2
    assert values["connections_repairing",] == 0


@pytest.mark.parametrize(("groups", "waiting", "longest", "repairing"), [
    ({}, 0, 0, 0),
    ({("a", "Locked", "Query"): (2, 3), ("b", "Waiting for table level lock", "Query"): (1, 9)}, 3, 9, 0),
    ({("a", "Locked", "Query"): (2, None), ("b", "System lock", "Query"): (1, 9)}, 3, None, 0),
    ({("a", "Repair by sorting", "Query"): (1, 60), ("a", "Sending data", "Query"): (5, 1)}, 0, 0, 1),
])  # fmt: skip
def test_states_are_summed_and_an_unknown_wait_stays_unknown(groups: Groups, waiting: int, longest: int | None, repairing: int) -> None:
    values = [value.number for value in GROUP.values(Pair(Connections(groups)), Scene({}, Running()))]
    assert values == [waiting, longest, repairing]
