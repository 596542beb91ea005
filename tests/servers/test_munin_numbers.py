"""What the munin plugin's numbers are on every kind of server: by the daemon, and without one."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import serving, wait_for
from tests.support.program import PROGRAM, run, run_process
from tests.support.repository import ROOT
from tests.support.servers import working

from .conftest import OTHER_UID, on_one_server, schema

pytestmark = on_one_server

PLUGIN = ROOT / "plugins" / "munin" / "myisam_advisor"
ALWAYS = (
    "key_cache_read_requests_total[default]", "key_cache_reads_total[default]", "key_cache_unused_bytes[default]", "key_cache_usable_bytes[default]",
    "key_cache_dirty_bytes[default]", "opened_tables_total", "open_tables", "table_cache_limit", "table_locks_immediate_total", "table_locks_waited_total",
    "slow_queries_total", "temporary_tables_total", "temporary_disk_tables_total", "connections_waiting_for_table_lock", "connections_waiting_for_server_lock[metadata]",
    "mysqld_minor_faults_total", "mysqld_open_files_limit", "tables_data_bytes", "tables_index_bytes", "threads_running",
)  # fmt: skip


def test_the_numbers_of_one_look(server: PrivateServer, tmp_path: Path) -> None:
    with schema(server, "graphed") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a CHAR(100) NOT NULL) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x')", database=name)
        state = tmp_path / "state"
        words = ("munin", "--socket", server.socket, "--user", "root", "--state", state)
        documents = []
        for _ in range(2):
            done = run(*words)
            assert done.returncode == 0, done.stderr
            documents.append(json.loads(done.stdout))
            with working(server, name, ["SELECT COUNT(*) FROM t", "UPDATE t SET a = 'y'"]):
                time.sleep(1)
    first, second = documents
    assert first["up"]
    assert set(ALWAYS) <= first["values"].keys()
    assert first["values"]["tables_data_bytes"] > 0
    assert "graphed" in {one["schema"] for one in first["tables"]}
    assert first["advice"]["counts"]["critical"] == 0
    # Growth is known from the second call on; what is not known is not there.
    assert "mysqld_context_switches_total[voluntary]" not in first["values"]
    assert second["values"]["mysqld_context_switches_total[voluntary]"] > 0
    assert first["peaks"] == {}


def test_the_numbers_of_a_daemon(server: PrivateServer) -> None:
    with schema(server, "graphed") as name:
        server.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, a CHAR(100) NOT NULL) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 'x')", database=name)
        with serving("--socket", server.socket, "--user", "root", "--collect.interval", "2s") as daemon, working(server, name, ["UPDATE t SET a = IF(a = 'y', 'z', 'y')", "SELECT SLEEP(0.5)"]):
            daemon.looked()

            def peaks() -> set[str]:
                return set(json.loads(daemon.get("/munin.json").text)["peaks"])

            assert wait_for(lambda: {"Key_reads", "Opened_tables", "threads_running", "voluntary_switches"} <= peaks())
            document = json.loads(daemon.get("/munin.json").text)
            assert set(ALWAYS) <= document["values"].keys()
            assert document["peaks"]["voluntary_switches"]["maximum"] >= document["peaks"]["voluntary_switches"]["percentile_95"] > 0
            assert wait_for(lambda: json.loads(daemon.get("/munin.json").text)["peaks"]["threads_running"]["maximum"] >= 1)
            assert wait_for(lambda: json.loads(daemon.get("/munin.json").text)["values"]["mysqld_context_switches_total[voluntary]"] > 0)
            busy = next(one for one in json.loads(daemon.get("/munin.json").text)["tables"] if (one["schema"], one["table"]) == (name, "t"))
            assert busy["values"]["write_statements_total"] > 0
            assert document["advice"]["counts"].keys() == {"critical", "warning", "info"}


def test_nothing_of_an_earlier_look_is_told_of_a_server_that_hangs(mariadb: PrivateServer) -> None:
    """The hit ratio is the last look's, which may be a minute old: it was drawn on while the server did not answer."""
    with schema(mariadb, "graphed") as name:
        mariadb.execute("CREATE TABLE t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, a CHAR(100) NOT NULL) ENGINE=MyISAM", "INSERT INTO t (a) VALUES ('x'), ('y')", database=name)
        mariadb.execute(*["INSERT INTO t (a) SELECT a FROM t"] * 10, database=name)
        # Longer than the plugin is kept waiting: no look has failed by then.
        with serving("--socket", mariadb.socket, "--user", "root", "--collect.interval", "2s", "--timeout", "30") as daemon:
            with working(mariadb, name, ["SELECT COUNT(*) FROM t WHERE a = 'z'"]):
                assert wait_for(lambda: "page_cache_hit_ratio" in json.loads(daemon.get("/munin.json").text)["values"], 30)
            os.kill(mariadb.pid, signal.SIGSTOP)
            try:
                document = json.loads(daemon.get("/munin.json").text)
            finally:
                os.kill(mariadb.pid, signal.SIGCONT)
    assert not document["up"]
    assert (document["values"], document["tables"], document["advice"]) == ({}, [], None)


def test_a_watcher_without_rights_says_less_and_nothing_wrong(mariadb: PrivateServer, tmp_path: Path) -> None:
    """Another user than the server's: files and /proc/PID/io are closed to it."""
    with schema(mariadb, "graphed") as name:
        mariadb.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1)", database=name)
        mariadb.execute("CREATE USER looker@localhost", "GRANT PROCESS ON *.* TO looker@localhost")
        try:
            words = ["setpriv", f"--reuid={OTHER_UID}", f"--regid={OTHER_UID}", "--clear-groups"] if os.geteuid() == 0 else []
            if words and subprocess.run([*words, str(PROGRAM), "--version"], capture_output=True, check=False).returncode:
                words = []  # this checkout, or its Python, is closed to others
            done = subprocess.run([*words, str(PROGRAM), "munin", "--socket", str(mariadb.socket), "--user", "looker"], capture_output=True, text=True, check=False,
                                  env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "LANG": "C.UTF-8"})  # fmt: skip
            assert done.returncode == 0, done.stderr
            document = json.loads(done.stdout)
            assert document["values"]["opened_tables_total"] > 0
            if words:
                assert "tables_data_resident_bytes" not in document["values"]
                assert "page_cache_hit_ratio" not in document["values"]
        finally:
            mariadb.execute("DROP USER looker@localhost")


def test_a_server_that_cannot_be_asked(tmp_path: Path) -> None:
    done = run("munin", "--socket", "/nowhere/s")
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_curves_reach_back_before_the_daemon(mariadb: PrivateServer, tmp_path: Path) -> None:
    words = ("--socket", mariadb.socket, "--user", "root", "--history", tmp_path / "history.sqlite")
    with serving(*words) as daemon:
        daemon.looked()
        time.sleep(3)
        daemon.stop()
    time.sleep(4)
    with serving(*words) as daemon:
        daemon.looked()
        # Two strokes: one from before the pause.
        assert wait_for(lambda: any(path.count("M") >= 2 for path in daemon.get("/").text.split('<path d="')[1:]))


@on_one_server
def test_a_state_that_cannot_be_kept_is_told_and_the_numbers_are_there(server: PrivateServer, tmp_path: Path) -> None:
    done = run_process("munin", "--socket", server.socket, "--user", "root", "--state", tmp_path / "gone" / "state")
    assert done.returncode == 0
    assert json.loads(done.stdout)["values"]
    assert done.stderr == f"the state cannot be kept in {tmp_path}/gone/state: No such file or directory. Without it context switches and the hit ratio stay unknown: give another --state.\n"
