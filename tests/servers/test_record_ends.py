"""Recordings that are refused, or end before their time: for a full disk, for a log that grows too fast, and for one that somebody rotates."""

import select
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload import live
from myisam_advisor.workload.guardian import Guardian
from myisam_advisor.workload.live import LiveRecording
from myisam_advisor.workload.log_settings import assignment
from myisam_advisor.workload.recording import Recorded
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.server.sql import Sql
from myisam_exporter.server.target import Target
from tests.support.daemon import wait_for

from .conftest import on_every_server, schema
from .test_record import leftovers, recorded, sending, settings

SECONDS = 60.0
STATEMENTS = [b"SELECT 1", b"INSERT INTO t VALUES (1), (2)"]


@contextmanager
def busy(server: PrivateServer) -> Iterator[None]:
    with schema(server, "ending") as database:
        server.execute(f"CREATE TABLE {database}.t (a INT) ENGINE=MyISAM")
        with sending(server, database, STATEMENTS):
            yield


def record(server: PrivateServer, output: Path, seconds: float = SECONDS) -> Recorded:
    with LiveRecording(Target("root", socket=server.socket), 10, seconds, 1e6) as recording:
        return recording.record(output, recording.prospect())


def log_of(server: PrivateServer) -> Path | None:
    """The log that the server writes for a recording, once it is there."""
    directory = Path(str(server.execute("SELECT @@datadir")[0][0]))
    return next((directory / name for name in leftovers(server) if name.endswith(".log")), None)


@pytest.mark.parametrize("server", ["mysql-5.6", "mysql-9.7"], indirect=True, scope="session")
def test_what_is_set_behind_its_time_limit_is_given_back_too(server: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The server goes on with a statement whose sender has given it up, as where its thread gets no processor, or waits for a disk."""

    def late(name: str, value: str) -> Sql:
        return Sql("SET GLOBAL long_query_time = IF(SLEEP(4) = 0, 0, 0)") if name == "long_query_time" else assignment(name, value)

    monkeypatch.setattr(live, "assignment", late)
    before, began = settings(server), time.monotonic()
    with LiveRecording(Target("root", socket=server.socket), 1, SECONDS, 1e6) as recording:
        prospect = recording.prospect()
        with pytest.raises(ServerLostError):
            recording.record(tmp_path / "w", prospect)
    assert (settings(server), leftovers(server)) == (before, [])
    time.sleep(max(0.0, 8 - (time.monotonic() - began)))
    assert settings(server) == before


def test_a_full_disk_is_refused_before_anything_is_changed(mariadb: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LiveRecording, "_free_bytes", lambda _: live._SPARE_BYTES - 1)
    before = settings(mariadb)
    with busy(mariadb), pytest.raises(UserError, match=r"has .* free, and the log may take .*Make room there, or record for a shorter time \(--seconds\)"):
        record(mariadb, tmp_path / "w")
    assert (settings(mariadb), leftovers(mariadb)) == (before, [])
    assert not (tmp_path / "w").exists()


def test_a_disk_that_fills_ends_the_recording_early(mariadb: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = LiveRecording._free_bytes
    asked: list[None] = []

    def free_bytes(recording: LiveRecording) -> int | None:
        asked.append(None)
        return kept(recording) if len(asked) < 4 else live._SPARE_BYTES - 1

    monkeypatch.setattr(LiveRecording, "_free_bytes", free_bytes)
    before, began = settings(mariadb), time.monotonic()
    with busy(mariadb):
        record(mariadb, tmp_path / "w")
    assert time.monotonic() - began < SECONDS
    assert (settings(mariadb), leftovers(mariadb)) == (before, [])
    workload, events = recorded(tmp_path / "w")
    assert workload.totals.note["stopped early"] == f"the disk of {mariadb.data_directory} was nearly full"
    assert {event.statement for event in events} >= set(STATEMENTS)


def test_a_log_that_grows_faster_than_was_to_be_expected_ends_the_recording_early(mariadb: PrivateServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Nothing is sent while it looks, so that a log of no bytes is expected, and what is spare is less than a hundred statements.
    monkeypatch.setattr(live, "_SPARE_BYTES", 20_000)
    before, began = settings(mariadb), time.monotonic()
    with LiveRecording(Target("root", socket=mariadb.socket), 10, SECONDS, 1e6) as recording:
        prospect = recording.prospect()
        with busy(mariadb):
            recording.record(tmp_path / "w", prospect)
    assert time.monotonic() - began < SECONDS
    assert (settings(mariadb), leftovers(mariadb)) == (before, [])
    workload, events = recorded(tmp_path / "w")
    assert workload.totals.note["stopped early"].startswith("the log grew faster than the ")
    assert len(events) > 1


@on_every_server
def test_a_log_that_is_rotated_meanwhile_is_read_to_where_that_was_and_said(server: PrivateServer, tmp_path: Path) -> None:
    before, moved = settings(server), []

    def rotate() -> None:
        assert wait_for(lambda: (found := log_of(server)) is not None and found.stat().st_size > 10_000, 30)
        log = log_of(server)
        assert log is not None
        log.rename(log.with_suffix(".1"))
        moved.append(log.with_suffix(".1"))
        server.execute("FLUSH SLOW LOGS")

    rotating = threading.Thread(target=rotate)
    try:
        with busy(server):
            with LiveRecording(Target("root", socket=server.socket), 10, 8.0, 1e6) as recording:
                prospect = recording.prospect()
                rotating.start()
                recording.record(tmp_path / "w", prospect)
            rotating.join()
        assert settings(server) == before
        assert leftovers(server) == [path.name for path in moved]
        workload, events = recorded(tmp_path / "w")
        assert workload.totals.note["moved"].startswith("somebody renamed the log while it was written")
        assert {event.statement for event in events} >= set(STATEMENTS)
    finally:
        for path in moved:
            path.unlink()


def test_an_end_while_the_guardian_answers_is_no_fault(server: PrivateServer) -> None:
    target = Target("root", socket=server.socket)
    with Guardian(target, 5) as guardian:
        # As where Ctrl-C meets the recorder while it waits for this answer.
        guardian._order({"hold": str(server.data_directory), "owner": server.data_directory.stat().st_uid})
        assert wait_for(lambda: bool(select.select([guardian._reports], [], [], 0)[0]), 30)
        assert guardian.finish() == []
    # Nobody holds the server any more.
    with Guardian(target, 5) as next_one:
        assert next_one.hold(server.data_directory, server.data_directory.stat().st_uid) > 0
