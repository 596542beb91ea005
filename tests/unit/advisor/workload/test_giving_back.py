"""Settings are given back where the server lets nobody in for long, or has ended."""

import errno
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from myisam_advisor.workload import giving_back
from myisam_advisor.workload.giving_back import Duty, fulfil
from myisam_exporter.errors import ServerLostError
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "our.log"
    path.write_text("SELECT 1")
    return path


def duty_for(log: Path, server: int | None) -> Duty:
    return Duty({"long_query_time": "10.000000"}, log.parent, log.name, (os.geteuid(), os.getegid()), server)


def test_the_log_stays_until_the_settings_were_given_back(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = iter([True, True, True])
    told: list[str] = []

    def session(*_: object) -> object:
        assert log.exists()
        if next(refused, False):
            raise ServerLostError("Too many connections.")
        return object()

    monkeypatch.setattr(giving_back, "_reached", session)
    monkeypatch.setattr(giving_back, "changed_since", lambda *_: {})
    monkeypatch.setattr(giving_back, "give_back", lambda *_: [])
    monkeypatch.setattr(giving_back, "PATIENCE_SECONDS", 0.0)
    monkeypatch.setattr(giving_back, "_LONGEST_PAUSE_SECONDS", 0.01)
    directory = os.open(log.parent, os.O_RDONLY)
    assert fulfil(duty_for(log, os.getpid()), directory, None, Target("root"), 1, [], (3600.0, told.append)) == []
    os.close(directory)
    assert not log.exists()
    assert len(told) == 1
    assert "SET GLOBAL long_query_time = 10;" in told[0]


def test_a_log_whose_settings_stay_is_kept_and_named(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_back, "_reached", lambda *_: object())
    monkeypatch.setattr(giving_back, "changed_since", lambda *_: {})
    monkeypatch.setattr(giving_back, "give_back", lambda *_: ["long_query_time: Access denied"])
    directory = os.open(log.parent, os.O_RDONLY)
    problems = fulfil(duty_for(log, None), directory, None, Target("root"), 1, [], (0.0, lambda _: None))
    os.close(directory)
    assert problems[0] == "the settings could not be given back (long_query_time: Access denied). By hand:\n  SET GLOBAL long_query_time = 10;"
    assert str(log) in problems[1]
    assert log.exists()


def test_another_server_at_the_same_address_keeps_its_settings(monkeypatch: pytest.MonkeyPatch, log: Path) -> None:
    class Other:
        """Answers as another server."""

        is_closed = False

        def __init__(self, *_: object) -> None:
            """Connected."""

        def rows(self, statement: str, *, columns: int | None = None) -> list[tuple[str, str]]:
            assert statement.startswith("SHOW")
            return [("datadir", "/srv/other/"), ("port", "3306")]

        def close(self) -> None:
            Other.is_closed = True

    monkeypatch.setattr(giving_back, "Session", Other)
    duty = replace(duty_for(log, os.getpid()), identity={"datadir": "/srv/ours/", "port": "3306"})
    directory = os.open(log.parent, os.O_RDONLY)
    problems = fulfil(duty, directory, None, Target("root"), 1, [], (0.0, lambda _: None))
    os.close(directory)
    assert "another server now, with the data directory /srv/other/" in problems[0]
    assert (Other.is_closed, log.exists()) == (True, True)


def test_settings_end_with_the_server(log: Path) -> None:
    with subprocess.Popen(["true"]) as ended:
        pass
    directory = os.open(log.parent, os.O_RDONLY)
    assert fulfil(duty_for(log, ended.pid), directory, None, Target("root"), 1, [], (0.0, lambda _: None)) == []
    os.close(directory)
    assert not log.exists()


@pytest.mark.parametrize("call", ["unlink", "fork"])
def test_a_log_that_cannot_be_removed_is_told_with_its_place_and_what_is_in_it(log: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    if call == "fork" and os.geteuid() != 0:
        pytest.skip("only root removes as somebody else")
    ended = subprocess.Popen(["true"])
    ended.wait()

    def failed(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(os, call, failed)
    directory = os.open(log.parent, os.O_RDONLY)
    (problem,) = fulfil(duty_for(log, ended.pid), directory, None, Target("root"), 1, [], (0.0, lambda _: None))
    os.close(directory)
    assert problem == f"the log {log} could not be removed: Input/output error. What was recorded is still in it (record --slow-log {log}); remove it by hand"
    assert log.exists()


@pytest.mark.parametrize(("ours", "connection", "listed", "given"), [
    ({}, 7, [["7"], ["7"], []], 3), ({}, 7, [[]], 1), ({"long_query_time": "0.000000"}, 7, [["7"]] * 9, 1), ({}, 0, [["7"]] * 9, 1),
])  # fmt: skip
def test_what_may_still_be_set_is_given_back_again_when_its_connection_has_ended(
    ours: dict[str, str], connection: int, listed: list[list[str]], given: int, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, calls = iter(listed), list[object]()
    session = SimpleNamespace(rows=lambda *_, **__: [(number,) for number in next(left)])
    monkeypatch.setattr(giving_back, "changed_since", lambda *_: {})

    def give(*asked: object) -> list[str]:
        calls.append(asked)
        return []

    monkeypatch.setattr(giving_back, "give_back", give)
    monkeypatch.setattr(time, "sleep", lambda _: None)
    directory = os.open(log.parent, os.O_RDONLY)
    duty = replace(duty_for(log, None), ours=ours, connection=connection)
    assert fulfil(duty, directory, cast(Session, session), Target("root"), 1, []) == []
    os.close(directory)
    assert len(calls) == given


def test_nobody_waits_for_longer_than_a_minute_for_a_connection_that_a_proxy_keeps(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giving_back, "changed_since", lambda *_: {})
    monkeypatch.setattr(giving_back, "give_back", lambda *_: [])
    monkeypatch.setattr(giving_back, "PATIENCE_SECONDS", 0.5)
    directory = os.open(log.parent, os.O_RDONLY)
    kept = SimpleNamespace(rows=lambda *_, **__: [("7",)])
    assert fulfil(replace(duty_for(log, None), connection=7), directory, cast(Session, kept), Target("root"), 1, [], (3600.0, lambda _: None)) == []
    os.close(directory)
