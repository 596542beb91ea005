"""Replication channels, read off counters where no table lists them."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest

from myisam_exporter.collectors.base import Context, Pair
from myisam_exporter.collectors.replica import (
    APPLIERS,
    COLLECTOR,
    NOT_ASKED,
    Channel,
    Channels,
    by_counters,
    shown_channel,
    with_status,
)
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.variables import PERFORMANCE_SCHEMA_OFF, Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import ServerVersion


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


MYSQL = {"Replica_IO_Running": "Yes", "Replica_SQL_Running": "Yes", "Seconds_Behind_Source": "7", "Last_IO_Errno": "0", "Last_SQL_Errno": "0", "Channel_Name": "east"}
MARIADB = {"Connection_name": "", "Slave_IO_Running": "Connecting", "Slave_SQL_Running": "Yes", "Seconds_Behind_Master": None, "Last_IO_Errno": "2003", "Last_SQL_Errno": "0"}


@pytest.mark.parametrize(
    ("record", "channel"),
    [
        (MYSQL, Channel("east", True, True, 7, 0)),
        # A source that is away: the receiver tries again, nothing has stopped. (MariaDB 11.8 tells so with 2005.)
        (MARIADB, Channel("", False, True, None, 0)),
        (MARIADB | {"Last_SQL_Errno": None}, Channel("", False, True, None, None)),
        (MARIADB | {"Slave_IO_Running": "Preparing"}, Channel("", False, True, None, 0)),
        (MARIADB | {"Slave_IO_Running": "No", "Last_IO_Errno": "1236"}, Channel("", False, True, None, 1236)),
        (MARIADB | {"Slave_IO_Running": "No", "Last_IO_Errno": "1236", "Last_SQL_Errno": None}, Channel("", False, True, None, 1236)),
        (MARIADB | {"Slave_IO_Running": "No", "Last_IO_Errno": None}, Channel("", False, True, None, None)),
        (MARIADB | {"Slave_IO_Running": "No", "Last_IO_Errno": "0"}, Channel("", False, True, None, 0)),
        (MARIADB | {"Slave_IO_Running": None}, Channel("", None, True, None, None)),
        # Of two errors the one that stopped the rows.
        (MYSQL | {"Last_IO_Errno": "2003", "Last_SQL_Errno": "1062", "Replica_SQL_Running": "No", "Seconds_Behind_Source": None}, Channel("east", True, False, None, 1062)),
        # What a server leaves out, or says in no number, is unknown: never no lag, and never no error.
        (MYSQL | {"Seconds_Behind_Source": "soon", "Last_SQL_Errno": "x"}, Channel("east", True, True, None, None)),
        ({"Channel_Name": "east"}, Channel("east", None, None, None, None)),
        ({}, Channel(None, None, None, None, None)),
    ],
)
def test_a_channel_as_it_is_shown(record: dict[str, str | None], channel: Channel) -> None:
    assert shown_channel(record) == channel


def test_what_is_shown_adds_to_the_channels_that_are_listed_and_makes_none() -> None:
    listed = Channels((Channel("east", True, False), Channel("group_replication_applier", True, True)))
    shown = (Channel("east", False, True, 4, 0), Channel("west", True, True, 9, 0))
    assert with_status(listed, shown).channels == (Channel("east", True, False, 4, 0), Channel("group_replication_applier", True, True))


LISTED = [("east", "ON")], [("east", "ON")]
REFUSED = Unknown("no privilege")
OF_MYSQL = Status({}), Variables({"performance_schema": "ON"})
RUNS = Status({"Slave_running": "ON"}), Variables({})


@pytest.mark.parametrize(
    ("flavour", "version", "samples", "tables", "shown", "found"),
    [
        # Where no channel is listed there is nothing to show, and a missing right is none.
        ("mysql", (9, 7, 4), OF_MYSQL, ([], []), None, Channels(())),
        ("mysql", (9, 7, 4), OF_MYSQL, LISTED, [MYSQL], Channels((Channel("east", True, True, 7, 0),))),
        ("mysql", (9, 7, 4), OF_MYSQL, LISTED, REFUSED, Channels((Channel("east", True, True),), replace(REFUSED, off=True))),
        ("mysql", (9, 7, 4), OF_MYSQL, (REFUSED, []), REFUSED, REFUSED),
        ("mysql", (9, 7, 4), (Status({}), Variables({"performance_schema": "OFF"})), ([], []), REFUSED, PERFORMANCE_SCHEMA_OFF),
        ("mysql", (9, 7, 4), (Status({}), REFUSED), ([], []), REFUSED, REFUSED),
        ("mariadb", (10, 11, 9), (REFUSED, Variables({})), ([], []), REFUSED, REFUSED),
        # What is shown is all there is, where no table lists them; and counters tell where it may not be shown.
        ("mariadb", (10, 11, 9), RUNS, ([], []), [MARIADB], Channels((Channel("", False, True, None, 0),))),
        ("mariadb", (10, 11, 9), RUNS, ([], []), [], Channels(())),
        ("mariadb", (10, 11, 9), RUNS, ([], []), REFUSED, Channels((Channel("", True, True),), replace(REFUSED, off=True))),
        ("mariadb", (10, 11, 9), (Status({}), Variables({})), ([], []), REFUSED, Channels(())),
        ("mysql", (5, 6, 51), RUNS, ([], []), None, Channels((Channel("", True, True),), NOT_ASKED)),
    ],
)  # fmt: skip
def test_channels_are_those_that_are_listed_and_what_may_be_shown_of_them(
    flavour: str, version: tuple[int, int, int], samples: tuple[Status | Unknown, Variables | Unknown], tables: tuple[Any, Any], shown: Any, found: Channels | Unknown
) -> None:
    session = Mock(spec=Session, version=ServerVersion(flavour, version, ""))
    session.rows_or_unknown.side_effect = lambda statement, *_: tables[statement == APPLIERS]
    session.records_or_unknown.side_effect = lambda *_: shown
    assert COLLECTOR.collect(Context(Target("me"), session, samples={"status": samples[0], "variables": samples[1]})) == found
    asked = [] if shown is None else ["SHOW ALL SLAVES STATUS" if flavour == "mariadb" else "SHOW REPLICA STATUS"]
    assert [call.args[0] for call in session.records_or_unknown.call_args_list] == asked


def test_lag_that_was_not_asked_for_is_unknown_with_its_reason() -> None:
    sample = Channels((Channel("", True, True),), NOT_ASKED)
    (block,) = COLLECTOR.facts(Pair(sample))
    assert [dict(zip(block.columns, row, strict=True)) for row in block.rows] == [{"channel": "", "io_running": 1, "sql_running": 1, "seconds_behind": None, "error": None}]
    assert COLLECTOR.unknown_columns(sample) == {"replica.seconds_behind": NOT_ASKED, "replica.error": NOT_ASKED}
    assert COLLECTOR.unknown_columns(Channels(())) == {}
