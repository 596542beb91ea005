"""A daemon that remembers: what comes and goes is in its log, on its page and in its JSON, over restarts of the server and of itself."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from demo.demo import make_crashed_table
from myisam_advisor.history.memory import SAME_START_SECONDS
from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.program import PROGRAM, run
from tests.support.servers import binaries_of, status_number

CRASHED = 'rule="table-crashed"'


@pytest.fixture
def alone() -> Iterator[PrivateServer]:
    """A server that may be restarted."""
    with PrivateServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=16M", "--myisam-recover-options=OFF"]) as running:
        running.execute("CREATE DATABASE shop")
        yield running


def words(server: PrivateServer, path: Path) -> list[object]:
    return ["--socket", server.socket, "--user", "root", "--history", path]


def past(daemon: Daemon) -> dict[str, list[dict[str, object]]]:
    found = json.loads(daemon.get("/advice.json").text)["past"]
    assert isinstance(found, dict)
    return found


def episode(daemon: Daemon) -> dict[str, object]:
    return next(one for one in past(daemon)["episodes"] if one["rule"] == "table-crashed")


def test_what_came_and_went_is_told(alone: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    with serving(*words(alone, path)) as daemon:
        daemon.looked()
        make_crashed_table(alone, "shop", "orders")
        assert wait_for(lambda: CRASHED in daemon.get().text, 40)
        held = episode(daemon)
        assert (held["standing"], held["object"], held["begin_seen"]) == ("holds", "shop.orders", True)
        assert "Found earlier" not in daemon.get("/").text
        alone.execute("REPAIR TABLE shop.orders")
        assert wait_for(lambda: CRASHED not in daemon.get().text, 40)
        gone = episode(daemon)
        assert (gone["standing"], gone["since"]) == ("gone", held["since"])
        assert gone["gone_at"] is not None
        page = daemon.get("/").text
        assert "Found earlier, but not now" in page
        assert "shop.orders" in page.partition("Found earlier, but not now")[2].partition("</table>")[0]
        daemon.stop()
    log = daemon.log.decode()
    assert f"watching {alone.socket}, a look each 1 s; the history in {path} begins now" in log
    assert "/: the page; metrics at /metrics" in log
    assert "WARNING" in next(line for line in log.splitlines() if "found: critical table-crashed shop.orders: A table is crashed" in line)
    assert sum("gone: critical table-crashed shop.orders" in line for line in log.splitlines()) == 1
    told = run("history", "--history", path).stdout
    assert "critical  table-crashed shop.orders" in told
    assert "still" not in told.partition("table-crashed")[0].splitlines()[-2]


def test_ages_and_restarts_outlive_the_daemon(alone: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    make_crashed_table(alone, "shop", "orders")
    with serving(*words(alone, path)) as daemon:
        assert wait_for(lambda: CRASHED in daemon.get().text, 40)
        labels = {"rule": "table-crashed", "object": "shop.orders"}
        first = daemon.get().value("advice_finding_first_seen_timestamp_seconds", **labels)
        assert first is not None
        # Two starts within a few seconds are one to whoever counts by clocks that may be set.
        assert wait_for(lambda: status_number(alone, "Uptime") > SAME_START_SECONDS + 2, 20)
        alone.restart()
        assert wait_for(lambda: bool(past(daemon)["restarts"]) if daemon.get("/advice.json").status == 200 else False, 40)
        daemon.stop()
    assert daemon.log.decode().count("the server was started at ") == 1
    with serving(*words(alone, path)) as daemon:
        assert wait_for(lambda: daemon.get().value("advice_finding_first_seen_timestamp_seconds", **labels) is not None, 40)
        assert daemon.get().value("advice_finding_first_seen_timestamp_seconds", **labels) == first
        assert len(past(daemon)["restarts"]) == 1
        daemon.stop()
    log = daemon.log.decode()
    assert "still found, since " in log
    assert "the server was started" not in log
    assert " goes back to " in log


def test_without_a_history_no_age_is_told_and_the_log_is(alone: PrivateServer) -> None:
    make_crashed_table(alone, "shop", "orders")
    with serving("--socket", alone.socket, "--user", "root") as daemon:
        assert wait_for(lambda: CRASHED in daemon.get().text, 40)
        document = json.loads(daemon.get("/advice.json").text)
        assert document["past"] is None
        assert [one["since"] for one in document["findings"] if one["rule"] == "table-crashed"] == [None]
        assert daemon.get().value("advice_finding_first_seen_timestamp_seconds", rule="table-crashed", object="shop.orders") is None
        daemon.stop()
    assert "found: " in daemon.log.decode()
    assert "no history is kept (--no-history)" in daemon.log.decode()


def test_lines_for_the_journal_have_a_priority_and_no_time(tmp_path: Path) -> None:
    """Standard error is what systemd says that it connected to its journal."""
    log = tmp_path / "log"
    with log.open("wb") as stream:
        state = os.fstat(stream.fileno())
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "JOURNAL_STREAM": f"{state.st_dev}:{state.st_ino}"}
        command = [str(PROGRAM), "serve", "--web.listen-address", f"127.0.0.1:{free_port()}", "--no-own-server", "--no-history"]
        process = subprocess.Popen(command, stderr=stream, stdout=subprocess.DEVNULL, env=environment)
        try:
            assert wait_for(lambda: b"watching" in log.read_bytes(), 40)
        finally:
            process.terminate()
            process.wait(20)
    lines = log.read_text().splitlines()
    assert lines[0].startswith("<6>INFO listening on http://127.0.0.1:")
    assert all(line.startswith(("<6>INFO ", "<4>WARNING ")) for line in lines)


def test_what_the_first_look_suspects_of_former_days_is_not_said_to_come_and_go(alone: PrivateServer, tmp_path: Path) -> None:
    """It has only counters since the start: a few misses of long ago are no finding of now."""
    alone.execute("CREATE TABLE shop.items (id INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO shop.items VALUES (1), (2), (3)", "FLUSH TABLES", "SELECT * FROM shop.items WHERE id = 2")
    path = tmp_path / "h.sqlite"
    with serving(*words(alone, path)) as daemon:
        daemon.looked()
        assert wait_for(lambda: "advice_interval_seconds" in daemon.get().text, 40)
        daemon.stop()
    assert "found: warning recovery-disabled" in daemon.log.decode()
    assert "insufficient-sample" not in daemon.log.decode()
    assert "insufficient-sample" not in run("history", "--history", path).stdout
