"""Who stands in line for the query cache: a queue that comes and goes, so it is asked on the way through an interval, where there is one."""

from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import Context, Pair
from myisam_exporter.collectors.processlist import (
    COLLECTOR,
    FEWEST_GLANCES,
    Connections,
    _mean_of,
)
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.live import _Readings
from myisam_exporter.look.queue_glances import QUEUED, QUEUED_THREADS, QueueGlances
from myisam_exporter.server.version_number import parse_version
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.glancer import Glancer
from tests.support.moved_clock import MovedClock
from tests.support.recorded import TARGET

ON = {"query_cache_type": "ON", "query_cache_size": "67108864", "performance_schema": "ON"}


class Asked:
    """A session that notes what it was asked, and knows of two in line."""

    def __init__(self, version: str, grants: str = "GRANT ALL PRIVILEGES ON *.* TO `m`@`localhost`") -> None:
        self.version, self.statements, self._grants = parse_version(version), list[str](), grants

    def grants(self) -> list[tuple[str]]:
        return [(self._grants,)]

    def account(self) -> str:
        return "'m'@'localhost'"

    def status_number(self, name: str) -> float:
        return 9.0

    def rows_or_unknown(self, statement: str, columns: int, **_: Any) -> list[tuple[str | None, ...]]:
        self.statements.append(statement)
        return [("Threads_running", "9")] if "SHOW" in statement else [("2",)]


def glances(session: Any, **variables: str) -> QueueGlances:
    return QueueGlances(session, Variables({**ON, **variables}))


@pytest.mark.parametrize(("version", "statement"), [("10.11.19-MariaDB", QUEUED), ("5.6.51", QUEUED_THREADS), ("5.7.44", QUEUED_THREADS)])
def test_it_is_asked_where_there_is_one(version: str, statement: str) -> None:
    session: Any = Asked(version)
    assert (glances(session).glance(session), session.statements, bool(glances(session))) == ([2], [statement], True)


@pytest.mark.parametrize(("version", "variables"), [
    ("10.11.19-MariaDB", {"query_cache_type": "OFF"}),
    ("10.11.19-MariaDB", {"query_cache_size": "0"}),
    ("5.6.51", {"performance_schema": "OFF"}),  # the other table would be a temporary one of the engine that is watched
    ("5.5.68", {}),
])  # fmt: skip
def test_it_is_not_asked_where_there_is_none_or_asking_costs(version: str, variables: dict[str, str]) -> None:
    session: Any = Asked(version)
    assert (glances(session, **variables).glance(session), session.statements, bool(glances(session, **variables))) == ([], [], False)


def test_who_sees_no_others_does_not_say_that_nobody_waits() -> None:
    session: Any = Asked("10.11.19-MariaDB", "GRANT USAGE ON *.* TO `m`@`localhost`")
    assert glances(session).glance(session) == []
    assert QueueGlances(session, Unknown("away")).glance(session) == []


def test_the_mean_is_of_the_interval_and_not_of_few_readings() -> None:
    assert mysqld_row(Connections({}, 0.5)) == {"waiting_for_query_cache": 0.5}
    assert mysqld_row(Connections({})) == {}
    assert (_mean_of([0] * FEWEST_GLANCES + [6]), _mean_of([6] * (FEWEST_GLANCES - 1))) == (1.0, None)


@pytest.mark.parametrize(("type_", "seconds", "readings", "of_queue"), [("ON", 10.0, 10, 30), ("OFF", 10.0, 10, 0), ("ON", 2.0, 4, 10), ("OFF", 2.0, 10, 0), ("ON", 0.1, 1, 1)])
def test_check_asks_three_times_as_often_where_there_is_one(type_: str, seconds: float, readings: int, of_queue: int) -> None:
    session: Any = Asked("10.11.19-MariaDB")
    context = Context(TARGET, session, samples={"variables": Variables({**ON, "query_cache_type": type_})})
    taking = _Readings(context)
    for _ in range(taking.count(seconds)):
        taking.take()
    assert (context.threads_running, context.in_query_cache) == ([9.0] * readings, [2] * of_queue)


def mysqld_row(sample: Connections) -> dict[str, Any]:
    blocks = {block.table: dict(zip(block.columns, next(iter(block.rows)), strict=True)) for block in COLLECTOR.facts(Pair(sample)) if block.table == "mysqld"}
    return blocks.get("mysqld", {})


def test_a_daemons_glances_are_those_of_its_next_look() -> None:
    session: Any = Asked("10.11.19-MariaDB")
    clock = MovedClock()
    connection = Connection(lambda: pytest.fail("nobody connects"), 1, clock)
    connection._session = session
    glancer = Glancer(connection, Path("/proc"), clock)
    glancer.glance()
    assert glancer.taken_in_query_cache() == []  # no look has said yet how to ask
    glancer.watch_queue(glances(session))
    glancer.glance()
    clock.move(5)
    glancer.glance()
    assert [glancer.taken_in_query_cache(), glancer.taken_in_query_cache()] == [[2, 2], []]
