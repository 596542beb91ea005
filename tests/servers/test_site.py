"""A site's configuration and a running daemon; key caches that a restart of the server lost, as its history remembers them."""

import subprocess
import time
from pathlib import Path

from demo.demo import make_crashed_table
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.web.access import RELOADS_APART_SECONDS
from tests.support.daemon import serving, wait_for
from tests.support.program import PROGRAM

from .conftest import schema

CRASHED = {"rule": "table-crashed", "severity": "critical", "scope": "table"}


def test_a_reload_brings_another_configuration_and_a_faulty_one_changes_nothing(mariadb: PrivateServer, tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("suppressions: [{rule: table-crashed, reason: known}, {rule: mmap-size, reason: old, until: 2020-01-01}]")
    with schema(mariadb, "sited") as name, serving("--socket", mariadb.socket, "--user", "root", "--config", config, "--web.enable-lifecycle") as daemon:
        make_crashed_table(mariadb, name, "broken")
        crashed = f"{name}.broken"
        assert wait_for(lambda: daemon.get().value("advice_suppressed") == 1)
        assert daemon.get().value("advice_finding", object=crashed, **CRASHED) is None
        config.write_text("thresholds: {nonsense: {}}")
        assert daemon.get("/-/reload", method="POST").status == 500
        time.sleep(RELOADS_APART_SECONDS)
        assert daemon.get().value("advice_suppressed") == 1
        config.write_text("")
        assert daemon.get("/-/reload", method="POST").status == 200
        assert wait_for(lambda: daemon.get().value("advice_finding", object=crashed, **CRASHED) == 1)
        assert daemon.get().value("advice_suppressed") == 0
        daemon.stop()
        assert b"expired on 2020-01-01" in daemon.log
        assert b"there is no rule 'nonsense'" in daemon.log


def test_a_faulty_configuration_keeps_the_daemon_from_starting(tmp_path: Path) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("suppressions: [{rule: table-crashed}]")
    done = subprocess.run([PROGRAM, "serve", "--config", config, "--web.listen-address", "127.0.0.1:0", "--no-history"], capture_output=True, text=True, timeout=20, check=False)
    assert done.returncode == 2
    assert "config.yaml, line 1: suppressions.0: the key reason is missing" in done.stderr
    assert "Traceback" not in done.stderr


def test_key_caches_that_the_history_remembers_are_missed_after_a_restart(mariadb: PrivateServer, tmp_path: Path) -> None:
    words = ["--socket", mariadb.socket, "--user", "root", "--history", tmp_path / "history.sqlite"]
    config = tmp_path / "config.yaml"
    config.write_text("thresholds: {key-cache-layout-lost: {minimum_uptime_seconds: 0}}")
    with schema(mariadb, "planned") as name:
        mariadb.execute("CREATE TABLE t (a INT NOT NULL PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO t VALUES (1), (2), (3)", database=name)
        # A cache that nobody asks counts as lost too, on a server that is busy.
        plan = ["SET GLOBAL hot.key_buffer_size = 8388608", f"CACHE INDEX {name}.t IN hot", f"SELECT * FROM {name}.t WHERE a = 2"]
        mariadb.execute(*plan)
        lost = {"rule": "key-cache-layout-lost", "severity": "warning", "scope": "server", "object": ""}
        with serving(*words, "--config", config) as daemon:
            assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= 2)
            assert daemon.get().value("advice_finding", **lost) is None
            mariadb.restart()
            assert wait_for(lambda: daemon.get().value("advice_finding", **lost) == 1, seconds=30)
            # Brought back, it is no longer missed.
            mariadb.execute(*plan)
            assert wait_for(lambda: daemon.get().value("up") == 1 and daemon.get().value("advice_finding", **lost) is None)
        mariadb.execute("SET GLOBAL hot.key_buffer_size = 0")
