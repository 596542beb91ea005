"""`prove` from beginning to end: recorded, replayed, kept; nothing is left, and every setting is what it was."""

import json
import random
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import CopiedServer, binaries_of

from .test_proofs import program, state
from .test_record import settings

__all__ = ["state"]  # a fixture that tests of proofs share
RULE = "key-buffer-too-small"
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


def test_a_finding_is_put_to_the_servers_own_statements(state: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--key-buffer-size=64K"]) as server:
        server.execute(
            "CREATE DATABASE shop",
            "CREATE TABLE shop.words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, w VARCHAR(40) NOT NULL, KEY (w)) ENGINE=MyISAM",
            "INSERT INTO shop.words (w) VALUES (MD5(RAND()))",
            *["INSERT INTO shop.words (w) SELECT MD5(RAND()) FROM shop.words"] * DOUBLINGS,
        )
        before = settings(server)
        with searching(server):
            done = program(state, server, "prove", RULE, "--seconds", "2s", "--yes", "--budget", "20s", "--interval", "3s", "--format", "json")
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


def test_without_anything_to_try_nothing_is_recorded(mariadb: PrivateServer, state: Path) -> None:
    before = mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'")
    done = program(state, mariadb, "prove", "--seconds", "2s", "--yes", "--interval", "1s")
    assert done.returncode == 2
    assert "no finding has a change that can be tried" in done.stderr
    assert mariadb.execute("SHOW GLOBAL STATUS LIKE 'Slow_queries'") == before
