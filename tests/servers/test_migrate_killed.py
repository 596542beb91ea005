"""What is left of an ALTER whose client, or whose server, is killed in the middle: the script says it, and its words take it away."""

import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.script import as_script
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError
from tests.support.servers import CopiedServer, binaries_of

from .clients import client
from .test_migrate_schemas import FOUR
from .test_migrate_scripts import engines, fed, looked

CONVERT = "ALTER TABLE kills.big ENGINE=InnoDB"
DOUBLINGS = 16
COPIED_BYTES = 4 << 20
DROPS = re.compile(r"DROP TABLE `DATABASE`\.`#mysql50##sql-\.\.\.`")
KEEPING = frozenset({"mysql-5.6", "mariadb-10.5"})
# Its number is that of the next table.
WORDS = re.compile(r"FTS_[0-9a-f]{16}_\w+\.ibd\Z")


@pytest.fixture(params=sorted({*FOUR, "mysql-8.0", "mariadb-10.5"}))
def filled(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    """A server of its own, with a table whose ALTER lasts long enough to be met."""
    with CopiedServer(binaries_of(request.param), ["--innodb-file-per-table=ON"]) as server:
        columns = "a INT AUTO_INCREMENT PRIMARY KEY, b CHAR(50), c CHAR(50), KEY (b), KEY (c, b)"
        server.execute("CREATE DATABASE kills", f"CREATE TABLE kills.big ({columns}) ENGINE=MyISAM CHARSET=latin1", "INSERT INTO kills.big (b, c) VALUES ('x', 'y')")
        server.execute(*["INSERT INTO kills.big (b, c) SELECT UUID(), UUID() FROM kills.big"] * DOUBLINGS, database="kills")
        yield server


def until(seen: Callable[[], bool]) -> None:
    """Look again and again, for ten seconds at most."""
    end = time.monotonic() + 10
    while not seen():
        assert time.monotonic() < end
        time.sleep(0.001)


def converts(server: PrivateServer) -> bool:
    return any(CONVERT in str(row) for row in server.execute("SHOW FULL PROCESSLIST"))


def test_the_alter_of_a_killed_client_goes_on(filled: PrivateServer) -> None:
    kind = "mariadb" if "mariadb" in filled.binaries.name else "mysql-client"
    with subprocess.Popen([*client(kind), f"--socket={filled.socket}", "--user=root", "--execute", CONVERT]) as running:
        until(lambda: converts(filled))
        running.kill()
    assert "A client that is killed leaves its ALTER running" in as_script(looked(filled, "kills.big"))
    until(lambda: not converts(filled))
    assert engines(filled, "kills") == {"big": "InnoDB"}


def test_the_copy_that_a_killed_server_keeps_is_told(filled: PrivateServer) -> None:
    directory = filled.data_directory / "kills"

    def alter() -> None:
        with suppress(Error):
            filled.execute(CONVERT)

    running = threading.Thread(target=alter)
    running.start()
    # A copy that the log has not yet is unknown to the server that starts again.
    until(lambda: any(one.stat().st_size > COPIED_BYTES for one in directory.glob("#sql*.ibd")))
    filled.stop(signal.SIGKILL)
    running.join()
    filled.start()
    kept = sorted({one.stem for one in directory.glob("#sql*")})
    script = as_script(looked(filled, "kills.big"))
    told = DROPS.findall(script)
    assert told or not kept
    assert bool(told) is (filled.binaries.name in KEEPING)
    for name in kept:
        filled.execute(told[0].replace("DATABASE", "kills").replace("#sql-...", name))
    assert not any(directory.glob("#sql*"))
    assert engines(filled, "kills") == {"big": "MyISAM"}
    assert filled.execute("SELECT COUNT(*) FROM kills.big") == [(2**DOUBLINGS,)]


@pytest.mark.parametrize("name", sorted(KEEPING))
def test_files_of_words_that_no_table_has_are_told(name: str) -> None:
    """The script that was made again ended with error 1005, or the server with it."""
    with CopiedServer(binaries_of(name), ["--innodb-file-per-table=ON", "--innodb-flush-log-at-trx-commit=1"]) as server:
        server.execute("CREATE DATABASE kills", "CREATE TABLE kills.words (a INT PRIMARY KEY, b TEXT, c TEXT, FULLTEXT (b), FULLTEXT (c)) ENGINE=MyISAM", "INSERT INTO kills.words VALUES (1, 'some words', 'others')")
        directory = server.data_directory / "kills"

        def alter() -> None:
            with suppress(Error):
                server.execute("ALTER TABLE kills.words ENGINE=InnoDB")

        running = threading.Thread(target=alter)
        running.start()
        until(lambda: any(directory.glob("FTS_*_INDEX_1.ibd")))
        server.stop(signal.SIGKILL)
        running.join()
        try:
            server.start()
        except PrivateServerError:
            # MySQL 5.6, where the log has the file and the file has nothing.
            server.start(["--innodb-force-recovery=1"])
            server.restart()
        script = " ".join(as_script(looked(server, "kills")).replace("\n-- ", " ").split())
        assert "What SELECT NAME FROM information_schema.INNODB_SYS_TABLES; does not name, as DATABASE/FTS_..., is no table's: remove it" in script
        assert "start it once with innodb_force_recovery=1, stop it, start it without, and remove them then" in script
        known = {str(row[0]) for row in server.execute("SELECT NAME FROM information_schema.INNODB_SYS_TABLES")}
        for copy in {one.stem for one in directory.glob("#sql*")}:
            with suppress(Error):
                server.execute(DROPS.findall(script)[0].replace("DATABASE", "kills").replace("#sql-...", copy))
        for left in [*directory.glob("#sql*"), *(one for one in directory.iterdir() if WORDS.match(one.name) and f"kills/{one.stem}" not in known)]:
            left.unlink()
        assert fed(server, as_script(looked(server, "kills"))) == ""
        assert engines(server, "kills") == {"words": "InnoDB"}
        server.restart()
        assert server.execute("SELECT COUNT(*) FROM kills.words WHERE MATCH (b) AGAINST ('words')") == [(1,)]
        server.execute("DROP DATABASE kills")
