"""`prove` from beginning to end: recorded, replayed, kept; nothing is left, and every setting is what it was."""

import json
import os
import random
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of

from .test_proofs import program, state
from .test_record import leftovers, settings
from .trials import processes, temporary

__all__ = ["state", "temporary"]  # fixtures that tests of proofs and trials share
RULE = "key-buffer-too-small"
# Two searchers make more statements a second on a quiet machine than a recording takes unasked.
SURE = ("--yes", "--maximum-rate", "1000000")
DOUBLINGS = 16


@contextmanager
def searching(server: PrivateServer) -> Iterator[None]:
    """Look-ups all over an index that the key buffer does not hold, by connections that come and go: only those are recorded."""
    ended = threading.Event()

    def run() -> None:
        draw = random.Random(1)
        while not ended.is_set():
            with server.session("shop") as connection, closing(connection.cursor()) as cursor:
                for _ in range(50):
                    low = draw.randrange(0xFF00)
                    cursor.execute(f"SELECT COUNT(*) FROM words WHERE w BETWEEN '{low:04x}' AND '{low + 30:04x}'")
                    cursor.fetchall()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def words(server: PrivateServer) -> None:
    """A table with an index that the key buffer does not hold."""
    server.execute(
        "CREATE DATABASE shop",
        "CREATE TABLE shop.words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, w VARCHAR(40) NOT NULL, KEY (w)) ENGINE=MyISAM",
        "INSERT INTO shop.words (w) VALUES (MD5(RAND()))",
        *["INSERT INTO shop.words (w) SELECT MD5(RAND()) FROM shop.words"] * DOUBLINGS,
    )


def test_a_finding_is_put_to_the_servers_own_statements(state: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        before = settings(server)
        with searching(server):
            done = program(state, server, "prove", RULE, "--seconds", "2s", *SURE, "--budget", "20s", "--interval", "3s", "--format", "json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert [variant["rules"] for variant in document["variants"]] == [[RULE]]
        assert document["fidelity"]["sent"] > 100
        assert document["fidelity"]["rows_equal"] == document["fidelity"]["sent"]
        assert [kind["fingerprint"] for kind in document["kinds"]][:1] == ["select count(*) from words where w between ? and ?"]
        # Busy processors give no interval, and no proof; then that is said.
        assert document["kept"] or document["not_kept"]
        assert settings(server) == before
        assert not list(server.data_directory.glob("myisam-advisor-*"))
    assert "MD5" not in done.stdout


@pytest.mark.parametrize("moment", ["recording", "replaying"])
def test_nothing_is_left_of_one_that_is_killed(state: Path, temporary: Path, moment: str) -> None:
    """By SIGKILL: the guardian gives the settings back, and a pipe's end removes the servers, their files and the statements."""
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        words(server)
        server.execute("SET GLOBAL long_query_time = 7.5")
        before = settings(server)
        seconds = "60s" if moment == "recording" else "2s"
        command = [PROGRAM, "prove", RULE, "--seconds", seconds, *SURE, "--budget", "120s", "--interval", "4s", "--socket", server.socket, "--user", "root"]
        environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8", "STATE_DIRECTORY": str(state), "TMPDIR": str(temporary)}
        with searching(server):
            running = subprocess.Popen(list(map(str, command)), env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True)
            try:
                if moment == "recording":
                    begun = wait_for(lambda: settings(server) != before and bool(leftovers(server)), 120)
                else:
                    begun = wait_for(lambda: any("sysbench" in line for line in processes(temporary)), 240)
                left_files = list(temporary.iterdir())
            finally:
                running.send_signal(signal.SIGKILL)
                errors = running.communicate()[1]
            assert begun, errors
            assert left_files, "there was nothing to leave behind"
            assert wait_for(lambda: settings(server) == before and not leftovers(server), 60)
            assert wait_for(lambda: not processes(temporary) and not list(temporary.iterdir()), 60), processes(temporary)
        assert not list(state.rglob("*.json"))


def test_without_anything_to_try_nothing_is_recorded(mariadb: PrivateServer, state: Path) -> None:
    before = mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'")
    done = program(state, mariadb, "prove", "--seconds", "2s", "--yes", "--interval", "1s")
    assert done.returncode == 2
    assert "no finding has a change that can be tried" in done.stderr
    assert mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'") == before
