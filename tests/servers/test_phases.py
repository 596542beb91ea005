"""The server is killed, or stopped, at every phase of a look: in front of each collector in turn."""

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import MySQLdb
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors.base import Collector, Context, all_collectors
from myisam_exporter.look import snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.connection import LONGEST_PAUSE_SECONDS
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch
from tests.support.daemon import Answer, wait_for
from tests.support.moved_clock import MovedClock
from tests.support.servers import CopiedServer, binaries_of

from .conftest import target

PHASES = tuple(collector.name for collector in all_collectors())
# On MySQL those that ask it something that MariaDB is not asked, or answers otherwise.
CASES = [("mariadb-10.11", phase) for phase in PHASES] + [("mysql-9.7", phase) for phase in ("performance_schema", "processlist", "key_caches")]
TIMEOUT_SECONDS = 1
at_every_phase = pytest.mark.parametrize(("victim", "phase"), CASES, indirect=["victim"], scope="module")


@pytest.fixture(scope="module")
def victim(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server with tables that a crash leaves open, and that checks them then."""
    with CopiedServer(binaries_of(request.param), ["--myisam-recover-options=BACKUP,QUICK"]) as server:
        server.execute("CREATE DATABASE shop", "CREATE TABLE shop.t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT, KEY (k)) ENGINE=MyISAM")
        yield server


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
def watch(victim: PrivateServer, clock: MovedClock) -> Iterator[Watch]:
    with ThreadPoolExecutor(4) as pool:
        watching = Watch("here", lambda: target(victim), pool, WatchOptions(timeout_seconds=TIMEOUT_SECONDS), TableChooser(), clock=clock)
        watching.look()
        watching.look()
        assert watching.failure == ""
        yield watching
        watching.close()


def in_front_of(phase: str, happening: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Let something happen when a look comes to this collector, once; the list tells that it did."""
    happened: list[str] = []
    collect = snapshot._collect

    def collecting(collector: Collector[Any], context: Context) -> Any:
        if collector.name == phase and not happened:
            happened.append(phase)
            happening()
        return collect(collector, context)

    monkeypatch.setattr(snapshot, "_collect", collecting)
    return happened


def exposed(watch: Watch) -> Answer:
    return Answer(200, watch.exposition(watch.scrape(watch.names()).result(20), watch.names(), (), False), {})


def comes_back(watch: Watch, clock: MovedClock) -> bool:
    clock.move(LONGEST_PAUSE_SECONDS)  # after a failure it would wait for so long before it connects again
    watch.look()
    return watch.failure == "" and exposed(watch).value("up") == 1


@at_every_phase
def test_a_crash_in_front_of_each_collector(victim: PrivateServer, watch: Watch, clock: MovedClock, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies while rows are written, recovers, and is looked at as soon as it answers."""
    stop = threading.Event()

    def write() -> None:
        # It dies while this connects, or writes, or closes.
        with contextlib.suppress(MySQLdb.Error), victim.session("shop") as connection:
            cursor = connection.cursor()
            while not stop.is_set():
                cursor.execute("INSERT INTO t (k) VALUES (1), (2), (3)")

    writer = threading.Thread(target=write)
    writer.start()
    happened = in_front_of(phase, lambda: victim.stop(signal.SIGKILL), monkeypatch)
    try:
        watch.look()  # what was found before the crash, or that the server was lost: never an exception
    finally:
        stop.set()
        writer.join()
    assert happened == [phase]
    assert exposed(watch).value("up") == 0
    victim.start()
    assert wait_for(lambda: comes_back(watch, clock), 30, 0.2)
    page = exposed(watch)
    # No rate spans the crash, no counter went backwards.
    assert all(value >= 0 for value in page.samples().values())
    assert {name: value for name, value in page.samples().items() if name[0] == "myisam_table_rows"}
    victim.execute("REPAIR TABLE shop.t")  # a crash in the middle of a write is more than a quick recovery can mend


@at_every_phase
def test_a_server_that_stands_still_in_front_of_each_collector(victim: PrivateServer, watch: Watch, clock: MovedClock, phase: str, monkeypatch: pytest.MonkeyPatch) -> None:
    happened = in_front_of(phase, lambda: os.kill(victim.pid, signal.SIGSTOP), monkeypatch)
    try:
        started = time.monotonic()
        watch.look()
        # One query waits for as long as it may; the look does not go on to the others.
        assert time.monotonic() - started < 20 * TIMEOUT_SECONDS
        assert happened == [phase]
        assert exposed(watch).value("up") == 0
    finally:
        os.kill(victim.pid, signal.SIGCONT)
    assert wait_for(lambda: comes_back(watch, clock), 30, 0.2)
