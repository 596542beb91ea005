"""The end of a recording of a running server: what was recorded is kept, whatever became of our own connection and of the server meanwhile."""

import os
import signal
import subprocess
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.probing.capture import Probing
from myisam_advisor.workload.server_end import ENDED, NOT_COUNTED
from tests.servers.conftest import target
from tests.servers.test_record import command, leftovers, recorded, sending
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.support.daemon import wait_for
from tests.support.servers import CopiedServer, binaries_of

pytestmark = needs_probes

ASKED = b"SELECT 'asked meanwhile'"
WAYS = {"probe": ("--from", "probe"), "slow log": ("--yes",)}
by_each_way = pytest.mark.parametrize("words", WAYS.values(), ids=WAYS)


def begun(server: PrivateServer, output: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(command(server, "--output", str(output), *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)


def idle_connections(server: PrivateServer, seconds: int = 0) -> list[int]:
    """Those that ask nothing, for so long: in these tests the recorder's."""
    rows = server.execute(
        f"SELECT id FROM information_schema.processlist WHERE command = 'Sleep' AND time >= {seconds} AND id <> CONNECTION_ID() AND COALESCE(db, '') <> 'mysql'"
    )
    return [int(str(number)) for (number,) in rows]


def said(path: Path) -> dict[str, str]:
    """What is to be known of a recording that holds what was asked."""
    workload, events = recorded(path)
    assert ASKED in {event.statement for event in events}
    return dict(workload.totals.note)


def is_logged(server: PrivateServer) -> bool:
    """Whether the log of our own holds what is asked: all that switches it on was done."""
    folder = Path(str(server.execute("SELECT @@datadir")[0][0]))
    return any(ASKED in (folder / name).read_bytes() for name in leftovers(server))


@by_each_way
def test_a_server_that_ends_idle_connections_keeps_ours(tmp_path: Path, words: tuple[str, ...]) -> None:
    with CopiedServer(binaries_of("mysql-5.6"), ["--wait-timeout=2"]) as server, sending(server, "mysql", [ASKED]):
        done = subprocess.run(command(server, "--output", str(tmp_path / "w"), "--seconds", "5", *words), capture_output=True, text=True, check=False)
        assert (done.returncode, leftovers(server)) == (0, []), done.stderr
    assert "meanwhile" in said(tmp_path / "w")["load"]
    assert NOT_COUNTED not in said(tmp_path / "w")["load"]


@by_each_way
def test_a_recording_whose_connections_were_killed_is_kept(mariadb: PrivateServer, tmp_path: Path, words: tuple[str, ...]) -> None:
    # Those of the statements have a database.
    with sending(mariadb, "mysql", [ASKED]), begun(mariadb, tmp_path / "w", "--seconds", "5", *words) as recorder:
        assert recorder.stderr is not None
        if "probe" in words:
            assert any(line == "It has begun.\n" for line in iter(recorder.stderr.readline, ""))
        else:
            assert wait_for(lambda: is_logged(mariadb), 60)
        for number in idle_connections(mariadb):
            mariadb.execute(f"KILL {number}")
        told, errors = recorder.communicate()
    assert (recorder.returncode, leftovers(mariadb)) == (0, []), errors
    assert NOT_COUNTED in said(tmp_path / "w")["load"]
    assert NOT_COUNTED in told
    assert "stopped early" not in said(tmp_path / "w")


def test_a_server_that_dies_before_the_slow_log_was_recorded_for_long_leaves_what_there_was(tmp_path: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as server, begun(server, tmp_path / "w", "--seconds", "60", "--yes") as recorder:
        assert wait_for(lambda: bool(leftovers(server)), 60)
        folder = Path(str(server.execute("SELECT @@datadir", ASKED.decode(), "SELECT @@datadir")[0][0]))
        assert wait_for(lambda: any(ASKED in path.read_bytes() for path in folder.glob("myisam-advisor-*")), 60)
        assert wait_for(lambda: bool(idle_connections(server, 1)), 60)  # it has asked all that it asks at its beginning
        server.stop(signal.SIGKILL)
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
        assert list(folder.glob("myisam-advisor-*")) == []
    assert said(tmp_path / "w")["stopped early"] == ENDED


@pytest.mark.skipif(os.geteuid() != 0, reason="a probe needs root")
def test_a_server_that_dies_at_the_last_moment_leaves_what_there_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with CopiedServer(binaries_of("mysql-5.6")) as server, Probing(target(server), 10, 1.0, tmp_path / "w") as probing:
        wait = probing._wait

        def then_dies(*words: object) -> str:
            stopped = wait(*words)  # type: ignore[arg-type]
            server.stop(signal.SIGKILL)
            return stopped

        def ask() -> None:
            server.execute(ASKED.decode())

        monkeypatch.setattr(probing, "_wait", then_dies)
        probing.record(probing.prospect(), ask)
    assert said(tmp_path / "w")["stopped early"] == ENDED
    assert NOT_COUNTED in said(tmp_path / "w")["load"]
