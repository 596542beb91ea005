"""A server that is killed between the renames at the end of an ALTER: a table has lost its name then, and what is told of it gives it back, with all of its rows."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from MySQLdb import Error

from myisam_advisor.migrate.prediction import Migration
from myisam_advisor.migrate.script import as_script
from tests.support.servers import CopiedServer, binaries_of

from .clients import client
from .conftest import error_of
from .test_migrate_scripts import engines, fed, looked

# Ends the server before it renames something to a name with this ending, or behind that. Without dlsym, which older C libraries have under another version.
ENDS_IT = """
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int rename(const char *old, const char *new) {
    const char *ending = ENDING;
    size_t long_enough = strlen(ending), length = strlen(new);
    int ends = length >= long_enough && !strcmp(new + length - long_enough, ending);
    if (ends && !BEHIND) syscall(SYS_kill, getpid(), SIGKILL);
    int result = syscall(SYS_rename, old, new);
    if (ends) syscall(SYS_kill, getpid(), SIGKILL);
    return result;
}
"""
MADE = "CREATE TABLE kills.t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(50), KEY (b)) ENGINE=MyISAM"
ROWS = "SELECT COUNT(*), SUM(CRC32(CONCAT(a, b))) FROM kills.t"


class Ended(CopiedServer):
    """It ends itself with SIGKILL before such a rename, as long as `library` is set."""

    library = ""

    def _environment(self) -> dict[str, str]:
        return {**super()._environment(), **({"LD_PRELOAD": self.library} if self.library else {})}


def ended(name: str, ending: str, *before: str, last: str = "InnoDB", table: str = "kills.t", behind: bool = False) -> Iterator[tuple[Ended, list[tuple[object, ...]]]]:
    """A server that was killed there, and runs again; and what the rows were."""
    made, rows_of = MADE.replace("kills.t", table), ROWS.replace("kills.t", table)
    server = Ended(binaries_of(name), ["--innodb-file-per-table=ON", "--innodb-flush-log-at-trx-commit=1"])
    with server:
        library = Path(f"{server.directory}.so")
        try:
            source = ENDS_IT.replace("ENDING", f'"{ending}"').replace("BEHIND", str(int(behind)))
            subprocess.run(["gcc", "-shared", "-fPIC", "-O1", "-o", library, "-xc", "-"], input=source, text=True, check=True)
            library.chmod(0o755)
            server.execute(f"CREATE DATABASE {table.partition('.')[0]}", made, f"INSERT INTO {table} (b) VALUES ('one'), ('two'), ('three')", *before, "FLUSH TABLES")
            rows = server.execute(rows_of)
            server.library = str(library)
            server.restart()
            with suppress(Error):
                server.execute(f"ALTER TABLE {table} ENGINE={last}")
            assert server.process is not None
            server.process.wait(10)
            server.library = ""
            server.restart()
            yield server, rows
        finally:
            library.unlink(missing_ok=True)


def renamed(server: Ended, old: str, new: str) -> None:
    """All files whose names begin so."""
    for file in list((server.data_directory / "kills").iterdir()):
        if file.name.startswith(old):
            file.rename(file.with_name(new + file.name[len(old) :]))
    server.execute("FLUSH TABLES")


def run_told(server: Ended, why: str, words: str) -> None:
    """The statement that begins so, of the table `t`."""
    assert words in why
    server.execute(words + why.partition(words)[2].partition(";")[0].replace("NAME", "t"))


def named_again(server: Ended, migration: Migration) -> None:
    """As it is told, step by step."""
    ((name, why),) = migration.killed
    if "backup" in name:
        of_backup(server, why)
        return
    old = name.partition("`")[2].strip("`")
    place = server.data_directory / "kills"
    copy = next(file.stem for file in sorted(place.iterdir()) if file.name.startswith("#sql-") and "backup" not in file.name)
    listed = ("t",) in server.execute("SHOW TABLES FROM kills")
    if listed:
        assert error_of(server, ROWS) == 1017
        assert f"rename the files whose names begin with {old} so that they begin with NAME, then FLUSH TABLES" in why
        renamed(server, old, "t")
    elif server.binaries.family == "mysql":
        run_told(server, why, "RENAME TABLE")
    else:
        assert f"rename {copy}.frm to NAME.frm" in why
        renamed(server, f"{copy}.frm", "t.frm")
        if "OK" not in str(server.execute("CHECK TABLE kills.t")):
            assert "Else rename it back" in why
            renamed(server, "t.frm", f"{copy}.frm")
            renamed(server, old, "t")
            if (place / "t.ibd").exists():
                assert f"rename it to {copy}.ibd, and start the server once more" in why
                renamed(server, "t.ibd", f"{copy}.ibd")
                server.restart()
    assert "DROP TABLE" in why
    try:
        run_told(server, why, "DROP TABLE")
    except Error as error:
        assert error.args[0] == 1051
    # Of 1051 it is told to remove what is left.
    for file in place.glob(f"{old}*"):
        file.unlink()


# Of MySQL: the index has another name; the old table has, and the copy not yet the old one's; the definition alone is without. Of MariaDB the same.
KILLS = [
    ("mysql-5.6", ".MYD"), ("mysql-5.6", "/t.ibd"), ("mysql-5.6", "/t.frm"),
    ("mysql-8.0", "/t.ibd"), ("mysql-9.7", ".MYD"), ("mysql-9.7", "/t.ibd"),
    ("mariadb-10.5", "/t.frm"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "ending"), KILLS)
def test_a_table_that_lost_its_name_is_told_of_and_gets_it_back(name: str, ending: str) -> None:
    for server, rows in ended(name, ending):
        migration = looked(server, "kills")
        assert not [one.name for one in migration.predictions if one.name != ("kills", "t")]
        script = as_script(migration)
        assert migration.killed[0][0] in script
        assert "lost its name" in script
        # Whoever runs the script reads no comment, and a further ALTER would be the last one; a client that goes on behind errors converts nothing either.
        for further in ([], ["CREATE TABLE kills.other (a INT) ENGINE=MyISAM"]):
            server.execute("DO 0", *further)
            script = as_script(looked(server, "kills"))
            assert "a server was killed in an ALTER and a table may have lost its name" in fed(server, script)
            said = subprocess.run([*client("mariadb"), f"--socket={server.socket}", "--user=root", "--force"], input=script, capture_output=True, text=True, check=False).stderr
            assert said.count("may have lost its name") >= 1 + len(further)
        assert engines(server, "kills")["other"] == "MyISAM"
        server.execute("DROP TABLE kills.other")
        named_again(server, migration)
        assert server.execute(ROWS) == rows
        assert fed(server, as_script(looked(server, "kills"))) == ""
        assert engines(server, "kills") == {"t": "InnoDB"}
        assert server.execute(ROWS) == rows


def test_a_file_that_had_its_name_already_stands_in_no_later_alters_way() -> None:
    """Behind the rename of the copy's file the next ALTER ended with error 1025, until the server was started once more."""
    for server, rows in ended("mysql-5.6", "/t.ibd", behind=True):
        named_again(server, looked(server, "kills"))
        assert server.execute(ROWS) == rows
        assert fed(server, as_script(looked(server, "kills"))) == ""
        assert engines(server, "kills")["t"] == "InnoDB"
        assert server.execute(ROWS) == rows


@pytest.mark.parametrize(("name", "ending"), [("mysql-5.6", "/t.MYI"), ("mysql-5.6", "/t.frm"), ("mysql-9.7", "/t.MYI")])
def test_the_same_on_the_way_back(name: str, ending: str) -> None:
    for server, rows in ended(name, ending, "ALTER TABLE kills.t ENGINE=InnoDB", last="MyISAM"):
        ((_, why),) = looked(server, "kills").killed
        place = server.data_directory / "kills"
        old, copy = (next(file.stem for file in sorted(place.iterdir()) if file.name.startswith(start)) for start in ("#sql2-", "#sql-"))
        if server.binaries.family == "mysql":
            run_told(server, why, "RENAME TABLE")
        else:
            assert f"rename NAME.frm, where it is there, to {old}.frm, and the files whose names begin with {copy} so that they begin with NAME" in why
            renamed(server, "t.frm", f"{old}.frm")
            renamed(server, copy, "t")
        assert server.execute(ROWS) == rows
        run_told(server, why, "DROP TABLE")
        assert server.execute(ROWS) == rows
        assert engines(server, "kills") == {"t": "InnoDB" if server.binaries.family == "mysql" else "MyISAM"}
        server.execute("ALTER TABLE kills.t ENGINE=MyISAM", "ALTER TABLE kills.t ENGINE=InnoDB")
        assert server.execute(ROWS) == rows


@pytest.mark.parametrize("name", ["mariadb-10.11", "mariadb-11.8"])
def test_later_mariadb_comes_to_its_end(name: str) -> None:
    for server, rows in ended(name, "/t.frm"):
        migration = looked(server, "kills")
        assert (migration.killed, migration.left_out, migration.predictions) == ((), (), ())
        assert engines(server, "kills") == {"t": "InnoDB"}
        assert server.execute(ROWS) == rows
        assert "#sql-" not in as_script(migration)


# Behind the rename of the copy that takes the table's place, and of the table of InnoDB that makes room on the way back.
ODD_NAMES = [
    ("mysql-8.0", "/t.ibd", "InnoDB", "`kill s`.t"), ("mysql-9.7", "/t.ibd", "InnoDB", "`kill s`.t"),
    ("mysql-9.7", ".ibd", "MyISAM", "`kill s`.t"), ("mysql-8.0", ".ibd", "MyISAM", "kills.`t-`"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "ending", "last", "table"), ODD_NAMES)
def test_what_has_an_odd_name_is_found_when_the_server_starts_once_more(name: str, ending: str, last: str, table: str) -> None:
    before = [f"ALTER TABLE {table} ENGINE=InnoDB"] if last == "MyISAM" else []
    for server, rows in ended(name, ending, *before, last=last, table=table, behind=True):
        found = looked(server, table.partition(".")[0].strip("`"))
        rows_of = ROWS.replace("kills.t", table)
        if last == "MyISAM":
            assert error_of(server, rows_of) == 1812
            assert "ends with error 1812 then, start the server once more" in as_script(found)
            server.restart()
        else:
            ((_, why),) = found.killed
            told = re.findall("RENAME TABLE [^;]*", why)[0].replace("NAME`", "t`")
            assert error_of(server, told) == 1025
            assert "errors 1025 and 1812" in why
            server.restart()
            server.execute(told)
        assert server.execute(rows_of) == rows


def of_backup(server: Ended, why: str, table: str = "t") -> None:
    """As MariaDB 10.5 is told, step by step."""
    place = server.data_directory / "kills"
    old = next(re.split(r"\.|#P#", file.name)[0] for file in place.glob("#sql-backup-*"))
    copy = next((file.stem for file in place.glob("#sql-alter-*.frm")), "")
    is_away = not (place / f"{table}.frm").exists()
    if is_away:
        assert f"Where NAME.frm is not there: rename {copy}.frm to NAME.frm, then FLUSH TABLES" in why
        renamed(server, f"{copy}.frm", f"{table}.frm")
    if "'OK'" not in str(server.execute(f"CHECK TABLE kills.{table}")):
        assert f"rename NAME.frm back, if you renamed it, and rename the files whose names begin with {old} so that they begin with NAME" in why
        if is_away:
            renamed(server, f"{table}.frm", f"{copy}.frm")
        renamed(server, old, table)
        run_told(server, why, f"DROP TABLE `kills`.`#mysql50#{copy}`")
    elif "=MyISAM" in str(server.execute(f"SHOW CREATE TABLE kills.{table}")):
        moved, dropped, named = (one.replace("`NAME", f"`{table}") for one in re.findall(r"(?:RENAME|DROP) TABLE `kills`\.`NAME[^;]*", why))
        server.execute(moved)
        assert f"rename {old}.frm to NAME.frm" in why
        renamed(server, f"{old}.frm", f"{table}.frm")
        server.execute(dropped, named)
    else:
        assert f"remove NAME.MYI, NAME.MYD and the files whose names begin with {old}" in why
        for file in [place / f"{table}.MYI", place / f"{table}.MYD", *place.glob(f"{old}*")]:
            file.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("ending", "behind", "last", "engine"),
    [
        ("/t.frm", False, "InnoDB", "InnoDB"), ("/t.frm", True, "InnoDB", "InnoDB"), ("/t.ibd", True, "InnoDB", "MyISAM"),
        # On the way back NAME.MYI and NAME.MYD are the rows of the copy: they were told to be removed.
        ("/t.frm", False, "MyISAM", "MyISAM"), ("/t.frm", True, "MyISAM", "MyISAM"), ("/t.MYD", False, "MyISAM", "InnoDB"), ("/t.MYD", True, "MyISAM", "MyISAM"),
        ("/t.frm", False, "Aria", "Aria"),
    ],
)  # fmt: skip
def test_a_definition_that_lost_its_name_gets_it_back_on_both_ways(ending: str, behind: bool, last: str, engine: str) -> None:
    before = ["ALTER TABLE kills.t ENGINE=InnoDB"] if last == "MyISAM" else []
    for server, rows in ended("mariadb-10.5", ending, *before, last=last, behind=behind):
        ((_, why),) = looked(server, "kills").killed
        of_backup(server, why)
        assert engines(server, "kills") == {"t": engine}
        assert server.execute(ROWS) == rows
        server.execute("ALTER TABLE kills.t ENGINE=MyISAM", "ALTER TABLE kills.t ENGINE=InnoDB")
        assert server.execute(ROWS) == rows
        assert looked(server, "kills").killed == ()
        server.execute("DROP DATABASE kills")


@pytest.mark.parametrize("ending", ["/t.frm", ".MYD"])
def test_a_table_in_partitions_gets_the_files_of_all_of_them_back(ending: str) -> None:
    """Their names begin as the definition's does."""
    parts = "ALTER TABLE kills.t PARTITION BY HASH (a) PARTITIONS 3"
    for server, rows in ended("mariadb-10.5", ending, parts):
        of_backup(server, looked(server, "kills").killed[0][1])
        assert server.execute(ROWS) == rows
        assert fed(server, as_script(looked(server, "kills"))) == ""
        assert engines(server, "kills") == {"t": "InnoDB"}
        assert server.execute(ROWS) == rows
        server.execute("DROP DATABASE kills")
