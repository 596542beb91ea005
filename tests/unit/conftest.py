"""Recorded machines for unit tests: no server is needed. Each is unpacked and looked at once."""

import time
from collections.abc import Iterator

import pytest

from tests.support.recorded import MACHINES, RecordedLook, look_at


@pytest.fixture(scope="session")
def looks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, RecordedLook]:
    """Both machines."""
    return {name: look_at(name, tmp_path_factory.mktemp(name)) for name in MACHINES}


@pytest.fixture(scope="session")
def on_mariadb(looks: dict[str, RecordedLook]) -> RecordedLook:
    """MariaDB 10.11, looked at twice."""
    return looks["mariadb-10.11"]


@pytest.fixture(scope="session")
def on_mysql(looks: dict[str, RecordedLook]) -> RecordedLook:
    """MySQL 9.7, looked at twice."""
    return looks["mysql-9.7"]


@pytest.fixture(scope="session", params=MACHINES)
def look(request: pytest.FixtureRequest, looks: dict[str, RecordedLook]) -> RecordedLook:
    """Each of them in turn."""
    return looks[request.param]


@pytest.fixture
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Moments for people are told in the local time, which is UTC then."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
