"""A plan, carried out on real servers by a real client, and taken back."""

import re
import subprocess
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import serving, wait_for
from tests.support.program import run
from tests.support.servers import keeps_dictionary

from .conftest import on_one_server, schema

BUFFER = 64 << 20


def feed(server: PrivateServer, script: str) -> None:
    command = ["mariadb", "--no-defaults", f"--socket={server.socket}", "--user=root"]
    done = subprocess.run(command, input=script, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr


def test_part_one_runs_and_part_four_takes_it_back(server: PrivateServer, tmp_path: Path) -> None:
    if keeps_dictionary(server):
        pytest.skip("MySQL 8.0 and later ignore read_buffer_size for MyISAM: there is no such finding")
    with schema(server, "plan") as database:
        server.execute(
            f"CREATE TABLE {database}.large (c CHAR(250) NOT NULL) ENGINE=MyISAM ROW_FORMAT=FIXED",
            f"INSERT INTO {database}.large VALUES ('a')",
            *[f"INSERT INTO {database}.large SELECT * FROM {database}.large"] * 18,
            f"SET GLOBAL read_buffer_size = {BUFFER}",
        )
        words = ("--socket", server.socket, "--user", "root", "--interval", "1s")
        try:
            assert run("plan", *words, "--output", tmp_path / "p", "read-buffer-too-large").returncode == 0
            script = (tmp_path / "p" / "plan.sql").read_text()
            assert server.execute("SELECT @@GLOBAL.read_buffer_size") == [(BUFFER,)]  # it applied nothing itself
            feed(server, script)
            assert server.execute("SELECT @@GLOBAL.read_buffer_size") == [(131072,)]
            rollback = script.split("-- ==== Rollback")[1].split("-- ====")[0]
            feed(server, "\n".join(line.removeprefix("-- ") for line in rollback.splitlines() if line.startswith("-- SET GLOBAL")))
            assert server.execute("SELECT @@GLOBAL.read_buffer_size") == [(BUFFER,)]
            assert re.search(r"^read_buffer_size = 131072$", (tmp_path / "p" / "my.cnf").read_text(), re.MULTILINE)
        finally:
            server.execute("SET GLOBAL read_buffer_size = 131072")


@on_one_server
def test_the_daemon_notices_a_change_and_verify_speaks_of_it(server: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with serving("--socket", server.socket, "--user", "root", "--history", path) as daemon:
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= 2)
        (before,) = server.execute("SELECT @@GLOBAL.key_buffer_size")[0]
        server.execute(f"SET GLOBAL key_buffer_size = {int(str(before)) * 2}")
        try:
            said = f"key_buffer_size: {before} -> {int(str(before)) * 2}"
            assert wait_for(lambda: said in run("verify", "--history", path, "--changes").stdout)
            done = run("verify", "--history", path, "key-buffer-too-small", "--settle", "0")
            assert done.returncode == 3
            assert "Not enough data." in done.stdout
            assert said in done.stdout
        finally:
            server.execute(f"SET GLOBAL key_buffer_size = {before}")
