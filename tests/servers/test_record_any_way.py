"""`record --from auto`: the first way that is possible, why the others are not, and nothing switched on that nobody agreed to."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.test_record import HISTORY, command, leftovers, recorded, sending, settings
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.support.servers import CopiedServer, binaries_of

pytestmark = needs_probes

ASKED = b"SELECT 'asked meanwhile'"


def auto(server: PrivateServer, output: Path, *words: str, seconds: int = 3, may_probe: bool = False) -> subprocess.CompletedProcess[str]:
    """The command, by default without the right to probe."""
    setpriv = shutil.which("setpriv")
    assert setpriv
    without = [] if may_probe else [setpriv, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"]
    asked = [*without, *command(server, "--from", "auto", "--output", str(output), "--seconds", str(seconds), *words)]
    return subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def source_of(path: Path) -> str:
    """Where the statements are from; what was asked is among them."""
    workload, events = recorded(path)
    assert ASKED in {event.statement for event in events}
    return workload.header.source


def test_each_way_is_taken_where_the_one_before_is_not_possible(tmp_path: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M", *HISTORY]) as server, sending(server, "mysql", [ASKED]):
        before = settings(server)
        done = auto(server, tmp_path / "probe", may_probe=True)
        assert (done.returncode, source_of(tmp_path / "probe")) == (0, "probe"), done.stderr
        assert "By a probe of the kernel's: lost are texts of more than 64 KiB" in done.stderr

        done = auto(server, tmp_path / "slow", "--yes")
        assert (done.returncode, source_of(tmp_path / "slow")) == (0, "live"), done.stderr
        assert "Not by a probe of the kernel's, which would lose" in done.stderr
        assert "CAP_SYS_ADMIN" in done.stderr
        assert "Record with the slow log" not in done.stderr
        assert (settings(server), leftovers(server)) == (before, [])

        done = auto(server, tmp_path / "history")
        assert (done.returncode, source_of(tmp_path / "history")) == (0, "performance_schema"), done.stderr
        assert [line.split(",")[0] for line in done.stderr.splitlines() if line.startswith("Not by")] == ["Not by a probe of the kernel's", "Not by the slow log", "Not by the general log"]
        assert "add --yes" in done.stderr
        assert settings(server) == before

        server.execute("SET GLOBAL general_log = ON")
        switched = settings(server)
        done = auto(server, tmp_path / "general")
        assert (done.returncode, source_of(tmp_path / "general")) == (0, "general_log"), done.stderr
        assert settings(server) == switched
        workload, _ = recorded(tmp_path / "general")
        assert "shrank" not in workload.totals.note
        assert "default database" in workload.header.note["connections"]
        status = (tmp_path / "general").stat()
        assert (status.st_mode & 0o777, status.st_uid) == (0o600, os.geteuid())


@pytest.mark.parametrize(("happens", "told"), [("cut", "Shrank: somebody cut the log off while it was written"), ("removed", "Removed: somebody removed the log while it was written")])
def test_what_happens_to_a_general_log_meanwhile_is_told(tmp_path: Path, happens: str, told: str) -> None:
    """By logrotate's copytruncate, and by hand: the server goes on in what is left, or in a file that nobody sees."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--general-log=1", "--general-log-file=host.log"]) as server, sending(server, "mysql", [ASKED]):
        log, output = server.data_directory / "host.log", tmp_path / "w"
        setpriv = shutil.which("setpriv")
        assert setpriv
        words = [setpriv, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", *command(server, "--from", "auto", "--output", str(output), "--seconds", "6")]
        with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
            stream, errors = running.stderr, ""
            assert stream
            while "By the general log" not in errors:
                line = stream.readline()
                assert line, errors
                errors += line
            # Of the server's whole life so far there is more than it writes in six seconds.
            time.sleep(2)
            os.truncate(log, 0) if happens == "cut" else log.unlink()
            said, more = running.communicate()
        assert running.returncode == 0, errors + more
        assert source_of(output) == "general_log"
        assert told in said


@pytest.mark.parametrize("output", ["FILE", "TABLE"])
def test_where_no_way_is_possible_each_reason_is_said(mariadb: PrivateServer, tmp_path: Path, output: str) -> None:
    mariadb.execute(f"SET GLOBAL log_output = '{output}'", f"SET GLOBAL general_log = {'ON' if output == 'TABLE' else 'OFF'}")
    before = settings(mariadb)
    try:
        done = auto(mariadb, tmp_path / "w", seconds=1)
        assert settings(mariadb) == before
    finally:
        mariadb.execute("SET GLOBAL general_log = OFF", "SET GLOBAL log_output = 'FILE'", "TRUNCATE mysql.general_log")
    assert (done.returncode, list(tmp_path.iterdir())) == (2, [])
    assert done.stderr.count("Not by") == 4
    assert "why is said above" in done.stderr
    assert ("general log is off" if output == "FILE" else "is a table") in done.stderr


def test_what_is_wrong_whatever_the_way_is_said_at_once(mariadb: PrivateServer, tmp_path: Path) -> None:
    (tmp_path / "w").touch()
    done = auto(mariadb, tmp_path / "w")
    assert (done.returncode, "is there already" in done.stderr, "Not by" in done.stderr) == (2, True, False)
    done = subprocess.run([*command(mariadb, "--from", "auto", "--output", str(tmp_path / "v"), "--seconds", "1"), "--user", "nobody-at-all"], capture_output=True, text=True, check=False)
    assert (done.returncode, "Not by" in done.stderr, "Traceback" in done.stderr) == (2, False, False)
