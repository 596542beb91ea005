"""A tmpdir without room for the files in which MariaDB sorts a copy to InnoDB, and what a trial says of a disk that is full in the middle of an ALTER."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.sort_files import TEMPORARY_FULL
from myisam_advisor.remedies.engine_change import UNSORTED_COPIES
from myisam_advisor.trial.engines.conversion import converted
from myisam_advisor.trial.engines.stage import EngineServer
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.sources import find_copyable
from tests.support.mounts import mounted
from tests.support.servers import CopiedServer, binaries_of

from .conftest import error_of
from .test_migrate_scripts import engines, fed, looked

TEMPORARY = ("-t", "tmpfs", "-o", "size=2m,mode=1777", "myisam-advisor-test")
DISK = ("-t", "tmpfs", "-o", "size=400m,mode=0755", "myisam-advisor-test")
LEFT_BYTES = 1 << 20
DOUBLINGS = 15


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sort-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def fill(server: PrivateServer) -> None:
    """A table of some megabytes, and one of a row."""
    server.execute(
        "CREATE DATABASE sorted", "CREATE TABLE sorted.t (a INT AUTO_INCREMENT PRIMARY KEY, b CHAR(50), c CHAR(50), KEY (c, b)) ENGINE=MyISAM CHARSET=latin1",
        "CREATE TABLE sorted.small (a INT PRIMARY KEY) ENGINE=MyISAM", "INSERT INTO sorted.small VALUES (1)", "INSERT INTO sorted.t (b, c) VALUES ('x', 'y')",
        *["INSERT INTO sorted.t (b, c) SELECT UUID(), UUID() FROM sorted.t"] * DOUBLINGS, "FLUSH TABLES",
    )  # fmt: skip


@pytest.mark.parametrize("name", ["mariadb-10.5", "mariadb-10.11", "mariadb-11.8", "mysql-9.7"])
def test_a_tmpdir_without_room_is_told_and_keeps_the_table_back(name: str, place: Path) -> None:
    with mounted(place, *TEMPORARY), CopiedServer(binaries_of(name), [f"--tmpdir={place}"]) as server:
        fill(server)
        found = looked(server, "sorted")
        told = {one.name[1] for one in found.predictions if TEMPORARY_FULL in [change.id for change in one.changes]}
        code = error_of(server, "ALTER TABLE sorted.t ENGINE=InnoDB")
        assert (code, told) == ((1296, {"t"}) if found.here.sorts_copies else (0, set()))
        assert found.here.sorts_copies is (name in {"mariadb-10.11", "mariadb-11.8"})
        if not code:
            return
        script = as_script(found)
        assert "error 1296" in script
        assert "Make room there, or set that" in " ".join(script.replace("\n-- ", " ").split())
        assert fed(server, script) == ""
        assert engines(server, "sorted") == {"t": "MyISAM", "small": "InnoDB"}
        server.execute(UNSORTED_COPIES)
        assert fed(server, as_script(looked(server, "sorted"))) == ""
        assert engines(server, "sorted") == {"t": "InnoDB", "small": "InnoDB"}


@pytest.mark.parametrize("name", ["mysql-9.7", "mariadb-11.8"])
def test_an_alter_that_finds_no_room_says_nothing_of_the_table(name: str, place: Path) -> None:
    """It was told as what the engine refuses of the table."""
    with mounted(place, *DISK), CopiedServer(binaries_of(name), ["--innodb-file-per-table=ON"], directory=place / "s") as server:
        fill(server)
        one = EngineServer("InnoDB", server)
        with find_copyable(server.data_directory, [("sorted", "t")], 1 << 30) as ((table,), _):
            rows = one.rows(table)
            _take_room(place)
            with pytest.raises(TrialError, match="is full: the trial was given up"):
                converted(one, table, rows)


def _take_room(place: Path) -> None:
    """All but a little."""
    with (place / "ballast").open("wb") as file:
        while (free := shutil.disk_usage(place).free) > LEFT_BYTES:
            file.write(bytes(min(1 << 20, free - LEFT_BYTES)))
            file.flush()
