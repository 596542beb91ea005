"""Replication channels, read off counters where no table lists them."""

import pytest

from myisam_exporter.collectors.replica import Channel, by_counters
from myisam_exporter.collectors.status import Status


@pytest.mark.parametrize(
    ("values", "channels"),
    [
        ({}, ()),
        ({"Slave_running": "OFF", "Slaves_running": 0, "Slave_heartbeat_period": 0}, ()),
        # Stopped, or no replica any more: the period stays in both.
        ({"Slave_running": "OFF", "Slaves_running": 0, "Slave_heartbeat_period": 30.0}, ()),
        ({"Slave_running": "ON", "Slaves_running": 1, "Slave_heartbeat_period": 30.0}, (Channel("", True, True),)),
        ({"Slave_running": "ON"}, (Channel("", True, True),)),
        ({"Slave_running": "ON", "Slaves_running": 3}, (Channel("", True, True), Channel(None, None, True))),
        ({"Slave_running": "OFF", "Slaves_running": 1}, (Channel(None, None, True),)),
    ],
)
def test_channels_by_counters(values: dict[str, int | float | str], channels: tuple[Channel, ...]) -> None:
    assert by_counters(Status(values)).channels == channels
