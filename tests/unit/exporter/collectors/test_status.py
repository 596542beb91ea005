"""SHOW GLOBAL STATUS: numbers as numbers, counters as rates, states without."""

from typing import cast

import pytest

from myisam_exporter.collectors.status import COLLECTOR, GAUGES, STATUS, Status
from tests.support.recorded import RecordedLook

STATEMENT = "SHOW GLOBAL STATUS"


def test_every_variable_is_there_once(look: RecordedLook) -> None:
    rows = look.rows("status", "status")
    assert [row["name"] for row in rows] == [name for name, _ in look.told(STATEMENT)]


@pytest.mark.parametrize("name", ["Questions", "Com_insert", "Handler_read_rnd_next", "Opened_tables", "Key_read_requests"])
def test_counters_are_rates(look: RecordedLook, name: str) -> None:
    row = next(row for row in look.rows("status", "status") if row["name"] == name)
    before, after = (look.number_told(STATEMENT, name, part) for part in (0, 1))
    assert row["value"] == after
    assert row["per_second"] * look.seconds == pytest.approx(after - before)
    assert after > before


@pytest.mark.parametrize("name", ["Threads_running", "Threads_connected", "Open_tables", "Uptime", "Key_blocks_used", "Max_used_connections"])
def test_states_have_no_rate(look: RecordedLook, name: str) -> None:
    assert GAUGES.match(name)
    row = next(row for row in look.rows("status", "status") if row["name"] == name)
    assert row["per_second"] is None
    assert row["value"] == look.number_told(STATEMENT, name)


def test_our_own_part_is_told_apart(look: RecordedLook) -> None:
    running = look.number_told(STATEMENT, "Threads_running")
    assert look.sample("status").threads_running == running - 1
    (row,) = look.rows("status", "server")
    statements = [float(cast(Status, snapshot.sample(STATUS)).own_statements) for snapshot in (look.first, look.second)]
    assert statements[1] > statements[0] > 0
    assert row["own_statements_per_second"] * look.seconds == pytest.approx(statements[1] - statements[0])


def test_texts_are_no_numbers() -> None:
    status = Status({"Slave_running": "OFF", "Uptime": 7})
    assert status.number("Slave_running") is None
    assert status.number("Nothing") is None
    assert status.uptime_seconds == 7
    assert COLLECTOR.name == "status"


def test_the_start_is_told_by_the_moment_in_which_the_uptime_was_asked_for(look: RecordedLook) -> None:
    status = cast(Status, look.second.sample(STATUS))
    assert status.asked_at is not None
    assert status.asked_at == pytest.approx(look.second.taken_at, abs=60)
    assert status.server_started == status.asked_at - look.number_told(STATEMENT, "Uptime")
    assert Status({"Uptime": 7}).server_started is None
    assert Status({}, asked_at=9.0).server_started is None
