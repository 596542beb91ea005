"""`check --statements` and `top --statements`: which kinds hold locks and scan, by the server's digests or by a probe; never a value."""

import json
import os
import struct
import subprocess
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.kinds import probed
from myisam_advisor.workload.kinds.digests import DigestWatch
from myisam_advisor.workload.kinds.probed import ProbeWatch
from myisam_advisor.workload.kinds.seen import MyisamTables
from myisam_exporter.server.session import Session
from tests.servers.conftest import on_four_servers, schema, target
from tests.servers.prepared_client import PreparingClient
from tests.servers.test_record_prepared import LONG
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of, meanwhile, working

SECRET = "hunter2"
TABLES = ["CREATE TABLE posts (id INT PRIMARY KEY AUTO_INCREMENT, author INT, body VARCHAR(200)) ENGINE=MyISAM", "CREATE TABLE elsewhere (id INT) ENGINE=MEMORY"]
ROWS = "INSERT INTO posts (author, body) SELECT a.n, 'text' FROM (SELECT 1 n UNION SELECT 2 UNION SELECT 3 UNION SELECT 4) a"
SCAN = f"SELECT COUNT(*) FROM posts WHERE body LIKE '%{SECRET}%'"
WRITE = f"UPDATE posts SET body = '{SECRET}' WHERE id = 3"
OTHER = "SELECT COUNT(*) FROM elsewhere"
can_probe = os.geteuid() == 0 and Path("/sys/bus/event_source/devices/uprobe/type").exists()


def busy_table(server: PrivateServer, database: str) -> None:
    # A server that ran many tests may have no row left for the digests of further statements.
    if server.execute("SELECT @@performance_schema")[0][0]:
        server.execute("TRUNCATE TABLE performance_schema.events_statements_summary_by_digest")
    with server.session(database) as connection:
        cursor = connection.cursor()
        for statement in (*TABLES, ROWS, *[ROWS.replace("(SELECT 1 n", "posts b, (SELECT 1 n")] * 6):
            cursor.execute(statement)


def asked(server: PrivateServer, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(PROGRAM), *words, "--socket", str(server.socket), "--user", "root"]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def kinds_seen(server: PrivateServer) -> dict[str, Any]:
    with schema(server, "forum") as database:
        busy_table(server, database)
        with working(server, database, [SCAN, WRITE, OTHER]):
            done = asked(server, "check", "--statements", "--interval", "3s", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    assert SECRET not in done.stdout + done.stderr
    seen = json.loads(done.stdout)["statements"]
    assert isinstance(seen, dict)
    return seen


def expect_both(seen: dict[str, Any]) -> None:
    kinds = {kind["fingerprint"]: kind for kind in seen["kinds"]}
    scan = next(kind for name, kind in kinds.items() if name.startswith("select count(*) from posts"))
    write = next(kind for name, kind in kinds.items() if name.startswith("update posts"))
    assert (scan["reads"], scan["writes"], write["reads"], write["writes"]) == (["forum.posts"], [], [], ["forum.posts"])
    assert scan["count"] > 5
    assert write["count"] > 5
    # One connection scans all the time: it holds the table, or waits for it.
    assert 0.2 < scan["seconds"] / seen["seconds"] < 1.3
    assert not [name for name in kinds if "elsewhere" in name]
    assert seen["others"]["count"] > 5


@on_four_servers
def test_kinds_are_told_by_whichever_way_the_server_has(server: PrivateServer) -> None:
    by_digests = server.execute("SHOW GLOBAL VARIABLES LIKE 'performance_schema'")[0][1] == "ON"
    if not by_digests and not can_probe:
        done = asked(server, "check", "--statements", "--interval", "1s")
        assert done.returncode == 2
        assert "leave --statements out" in done.stderr
        return
    seen = kinds_seen(server)
    expect_both(seen)
    assert ("digests" in str(seen["source"])) == by_digests


def test_digests_tell_waits_rows_and_missing_indexes() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--performance-schema=ON"]) as server:
        seen = kinds_seen(server)
    expect_both(seen)
    assert "digests" in str(seen["source"])
    scan = next(kind for kind in seen["kinds"] if kind["fingerprint"].startswith("select count(*) from posts"))
    assert scan["without_index"] == scan["count"]
    assert scan["rows_examined"] >= 1000 * scan["count"]
    assert scan["lock_wait_seconds"] is not None


@pytest.mark.parametrize(("name", "digests"), [("mariadb-10.11", "ON"), ("mariadb-10.11", "OFF"), ("mysql-9.7", "ON")])
def test_a_watch_outlives_its_connection(name: str, digests: str) -> None:
    if digests == "OFF" and not can_probe:
        pytest.skip("a probe needs root and a kernel with uprobes")
    with CopiedServer(binaries_of(name), [f"--performance-schema={digests}", "--wait-timeout=1"]) as server:
        seen = kinds_seen(server)
    expect_both(seen)
    assert ("digests" in str(seen["source"])) == (digests == "ON")


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-9.7"])
def test_what_digests_do_not_tell_is_not_said_to_be_none(name: str) -> None:
    columns = ", ".join(f"1 AS a_column_with_a_rather_long_name_{number}" for number in range(100))
    with CopiedServer(binaries_of(name), ["--performance-schema=ON"]) as server, schema(server, "forum") as database:
        busy_table(server, database)
        server.execute("CREATE PROCEDURE work() SELECT COUNT(*) FROM posts WHERE id = 1", database=database)
        with working(server, database, ["CALL work()", f"SELECT {columns} FROM posts LIMIT 1"]):
            done = asked(server, "check", "--statements", "--interval", "3s", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    seen = json.loads(done.stdout)["statements"]
    assert seen["unknown"]["count"] > 10
    assert not [kind for kind in seen["kinds"] if "a_column" in kind["fingerprint"] and kind["is_whole"]]
    assert seen["tables_unknown"] is None


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-9.7", "mysql-5.6"])
def test_executions_are_of_their_kind_or_of_unknown_tables(name: str) -> None:
    tables = MyisamTables([("forum", "posts")])
    with CopiedServer(binaries_of(name), ["--performance-schema=ON"]) as server, schema(server, "forum") as database:
        busy_table(server, database)
        with closing(DigestWatch(lambda: Session(target(server), 10))) as watch, PreparingClient(server, database) as client:
            number = client.prepare(b"SELECT COUNT(*) FROM posts")
            for _ in range(7):
                client.execute(number)
            seen = watch.take(tables)
    # The server counts the INSERT that filled the table after it has answered it: on a busy machine after the watch began.
    counted = {kind.fingerprint: kind.sums.count for kind in seen.kinds if not kind.fingerprint.startswith("insert")}
    assert (counted, seen.unknown.count) == (({"select count(*) from posts": 7}, 0) if name == "mysql-9.7" else ({}, 7))


def test_digests_are_refused_where_statements_are_not_watched() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--performance-schema=ON", "--performance-schema-instrument=statement/%=OFF"]) as server:
        if can_probe:
            assert "probe" in str(kinds_seen(server)["source"])
            return
        done = asked(server, "check", "--statements", "--interval", "1s")
    assert done.returncode == 2
    assert "all instruments for statements are off" in done.stderr


@pytest.mark.skipif(not can_probe, reason="a probe needs root and a kernel with uprobes")
def test_a_probe_that_nobody_asks_goes_on_summing_up(mariadb: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probed, "SUMMED_BYTES", 1 << 18)
    monkeypatch.setattr(probed, "MAXIMUM_BYTES", 1 << 20)
    tables = MyisamTables([("forum", "posts")])
    with schema(mariadb, "forum") as database:
        busy_table(mariadb, database)
        with closing(ProbeWatch(target(mariadb), 10)) as watch, mariadb.session(database) as connection:
            cursor = connection.cursor()
            # Three times what the ring has room for.
            for _ in range(400):
                cursor.execute(f"SELECT COUNT(*) FROM posts WHERE id = 1 AND body = '{'x' * 60_000}'")
                cursor.fetchall()
                time.sleep(0.002)
            seen = watch.take(tables)
            assert sum(kind.sums.count for kind in seen.kinds) > 300
            # What has ended holds nothing.
            assert watch.take(tables).kinds == ()


@pytest.mark.skipif(not can_probe, reason="a probe needs root and a kernel with uprobes")
def test_a_probe_sees_what_is_prepared_and_what_goes_on(mariadb: PrivateServer) -> None:
    def prepared(ended: threading.Event) -> None:
        with PreparingClient(mariadb, "forum") as client:
            while not ended.is_set():
                # What was prepared before it is watched nobody tells where performance_schema is off. It waits for no lock: of those that do
                # for a second, a busy machine may see none from its preparation to its end.
                number = client.prepare(b"DELETE FROM calm WHERE id = ?")
                client.execute(number, (LONG, struct.pack("<i", 424_242)))
                client.close_statement(number)

    with schema(mariadb, "forum") as database:
        busy_table(mariadb, database)
        mariadb.execute("CREATE TABLE calm (id INT PRIMARY KEY) ENGINE=MyISAM", database=database)
        with meanwhile(prepared), working(mariadb, database, [f"SELECT SLEEP(1), '{SECRET}' FROM posts LIMIT 1"]):
            done = asked(mariadb, "check", "--statements", "--interval", "3s", "--format", "json")
    assert done.returncode in (0, 1), done.stderr
    assert SECRET not in done.stdout
    assert "424242" not in done.stdout
    seen = json.loads(done.stdout)["statements"]
    kinds = {kind["fingerprint"].split()[0]: kind for kind in seen["kinds"]}
    assert "delete" in kinds, seen["notes"]
    assert kinds["delete"]["writes"] == ["forum.calm"]
    assert kinds["delete"]["count"] >= 1
    # What had not ended is there as long as it was seen.
    assert 0.1 < kinds["select"]["held_seconds"] / seen["seconds"] < 1.1


@on_four_servers
def test_the_live_screen_tells_them_too(server: PrivateServer) -> None:
    if not can_probe:
        pytest.skip("some of the servers keep no digests, and a probe needs root")
    with schema(server, "forum") as database:
        busy_table(server, database)
        with working(server, database, [SCAN, WRITE]):
            done = asked(server, "top", "--once", "--statements")
    assert done.returncode == 0, done.stderr
    assert "update posts" in done.stdout
    assert "writes forum.posts" in done.stdout
    assert SECRET not in done.stdout


def test_what_has_no_place_for_statements_is_refused_before_anything_is_watched(mariadb: PrivateServer, tmp_path: Path) -> None:
    for words, said in (
        (("check", "--statements", "--format", "html"), "--format json and text"),
        (("check", "3", "--statements"), "leave out NUMBER"),
        (("check", "--statements", "--interval", "0"), "leave out --interval 0"),
        (("top", "--statements", "--daemon", str(tmp_path / "s")), "--statements watches a server"),
    ):
        done = subprocess.run([str(PROGRAM), *words], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 2
        assert said in done.stderr
