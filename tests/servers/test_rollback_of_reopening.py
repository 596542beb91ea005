"""A setting that holds from a table's next opening: what the plan takes back holds for the tables that are open, too."""

from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.servers.conftest import schema
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, status_number


def is_delayed(server: PrivateServer, database: str) -> bool:
    """Whether changed index blocks of an open table wait."""
    before = status_number(server, "Key_writes")
    server.execute(f"INSERT INTO {database}.t (b) VALUES ('x'), ('y'), ('z')")
    return status_number(server, "Key_writes") == before


@pytest.mark.parametrize("kind", ["mysql-5.5", "mysql-8.0", "mariadb-10.5"])
def test_tables_that_are_open_are_delayed_again_after_the_rollback(kind: str, tmp_path: Path) -> None:
    with CopiedServer(binaries_of(kind), ["--delay-key-write=ALL", "--myisam-recover-options=OFF"]) as server, schema(server, "late") as database:
        server.execute(f"CREATE TABLE {database}.t (a INT NOT NULL AUTO_INCREMENT PRIMARY KEY, b CHAR(20), KEY (b)) ENGINE=MyISAM")
        assert is_delayed(server, database)
        words = ("--socket", server.socket, "--user", "root", "--interval", "1s", "--output", tmp_path / "p", "delay-key-write")
        assert run("plan", *words).returncode == 0
        online, rollback = (
            [line.removeprefix("-- ") for line in part.splitlines() if line.removeprefix("-- ").startswith(("SET ", "FLUSH "))]
            for part in ((tmp_path / "p" / "plan.sql").read_text().split(f"-- ==== {name}")[1].split("-- ====")[0] for name in ("Online", "Rollback"))
        )
        server.execute(*online)
        assert not is_delayed(server, database)
        server.execute(*rollback)
        assert is_delayed(server, database)
