"""A compressed table, as tests need one."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before


def make_compressed_table(server: PrivateServer, binaries: ServerBinaries, schema: str, name: str) -> None:
    """A table packed by myisampack, where the server came with it; else an ordinary one."""
    table, path = f"{schema}.{name}", server.data_directory / schema / name
    server.execute(
        f"CREATE DATABASE IF NOT EXISTS {schema}",
        f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, line VARCHAR(200) NOT NULL) ENGINE=MyISAM",
        f"INSERT INTO {table} VALUES "
        + ", ".join(f"({number}, REPEAT('line {number % 10} ', 20))" for number in range(2000)),
        "FLUSH TABLES",
    )
    pack, check = binaries.tool("myisampack"), binaries.tool("myisamchk")
    if pack and check:
        _run_tool([*pack, "--silent", "--force", str(path)])
        _run_tool([*check, "-rq", "--silent", str(path)])
    server.execute("FLUSH TABLES")


def _run_tool(command: Sequence[str]) -> None:
    done = subprocess.run([*words_before(), *command], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{Path(command[-2]).name} failed: {done.stderr or done.stdout}"
