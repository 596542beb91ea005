"""The load of the published case: several tables, several threads, multi-row inserts. Driven by sysbench, which is not the bottleneck."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.private_server import PrivateServer

SCRIPT = Path(__file__).with_name("inserts.lua")
# Read at once: where we were installed, the demonstration's own user may not be able to read.
SCRIPT_TEXT = SCRIPT.read_bytes()
SCHEMA = "demo"


class LoadError(TrialError):
    """The load could not be run; the message says why."""


@dataclass(frozen=True, slots=True)
class InsertLoad:
    """One insert load: how many threads into how many tables, in statements of how many rows."""

    tables: int = 8
    threads: int = 8
    rows_per_insert: int = 20
    string_keys: bool = True
    one_table: bool = False

    def make_tables(self, server: PrivateServer, pack_keys: str = "DEFAULT") -> None:
        """Make the empty tables, in a schema of their own."""
        strings = ", c CHAR(40) NOT NULL, v VARCHAR(100) NOT NULL, KEY (c), KEY (v)" if self.string_keys else ""
        statements = [f"CREATE DATABASE IF NOT EXISTS {SCHEMA} CHARACTER SET latin1"]
        for number in range(1, self.tables + 1):
            statements += [
                f"DROP TABLE IF EXISTS {SCHEMA}.load_{number}",
                f"CREATE TABLE {SCHEMA}.load_{number} (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, KEY (k){strings}) "
                f"ENGINE=MyISAM PACK_KEYS={pack_keys}",
            ]
        server.execute(*statements)

    def command(self, server: PrivateServer, seconds: float) -> list[str]:
        """The words that start sysbench."""
        program = shutil.which("sysbench")
        if program is None:
            raise LoadError("sysbench is not installed: run script/bootstrap demo")
        return [
            program, str(_script(server)), "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", f"--mysql-db={SCHEMA}",
            f"--threads={self.threads}", f"--time={max(round(seconds), 1)}", "--events=0", "--rand-type=uniform", f"--tables={self.tables}",
            f"--rows_per_insert={self.rows_per_insert}", f"--string_keys={int(self.string_keys)}", f"--one_table={int(self.one_table)}", "run",
        ]  # fmt: skip

    def start(self, server: PrivateServer, seconds: float) -> subprocess.Popen[str]:
        """Start the load; it ends by itself, or with its parent."""
        command = ["setpriv", "--pdeathsig", "KILL", "--", *self.command(server, seconds)]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def rows_per_second(self, output: str) -> float:
        """Rows inserted per second, from sysbench's report."""
        found = re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", output) or re.search(
            r"queries:\s+\d+\s+\(([\d.]+) per sec", output
        )
        if found is None:
            raise LoadError(f"sysbench did not report its rate:\n{output[-1500:]}")
        return float(found[1]) * self.rows_per_insert


def _script(server: PrivateServer) -> Path:
    """The script where it was installed, or in a copy of our own."""
    if os.access(SCRIPT, os.R_OK):
        return SCRIPT
    copy = server.directory / SCRIPT.name
    copy.write_bytes(SCRIPT_TEXT)
    return copy
