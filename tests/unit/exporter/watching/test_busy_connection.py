"""A connection that others use for long: who waited in vain fails alone, and whose answer is on its way goes on."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.session import BusyConnectionError, Session
from myisam_exporter.server.target import Target
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch

TARGET = Target("root", socket=Path("/run/nowhere.sock"))


class BusySession(Session):
    """Another thread's query is under way in it; how often it was cut is counted."""

    def __init__(self) -> None:
        self.target, self.timeout_seconds, self.statements = TARGET, 0, 0
        self.cut = 0
        self._one_at_a_time = threading.Lock()
        self._one_at_a_time.acquire()

    def abort(self) -> None:
        self.cut += 1


@pytest.fixture
def watch() -> Iterator[Watch]:
    with ThreadPoolExecutor(1) as executor:
        watch = Watch("here", lambda: TARGET, executor, WatchOptions(), TableChooser())
        watch.connection._session = BusySession()
        yield watch


def test_who_waits_for_the_connection_for_too_long_is_told_so() -> None:
    with pytest.raises(BusyConnectionError, match="busy for more than 0 s"):
        BusySession().rows("SELECT 1")


def _glance(watch: Watch) -> str:
    watch.glance()
    return "busy"


@pytest.mark.parametrize(
    "job",
    [lambda watch: watch.scrape(watch.names()).result(5).failure, lambda watch: watch.look().failure, _glance],
    ids=["scrape", "look", "glance"],
)
def test_it_fails_and_leaves_the_session_to_who_uses_it(watch: Watch, job: Callable[[Watch], str]) -> None:
    session = watch.connection.open_session
    assert isinstance(session, BusySession)
    assert "busy" in job(watch)
    assert session.cut == 0
    assert watch.connection.session() is session
