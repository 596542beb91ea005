"""`trial upgrade`: copies of a server's tables under a newer one, and what that one refuses."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.compressed_tables import make_compressed_table
from tests.support.servers import CopiedServer, binaries_of

from .conftest import schema
from .trials import fails, measured, temporary, trial

__all__ = ["temporary"]  # a fixture that tests of a trial share
ROOT = Path(__file__).parents[2]
PLAIN = "id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40), at DATETIME, x TEXT, KEY (name), FULLTEXT (x)"
ROWS = "INSERT INTO plain (name, at, x) VALUES ('one', '2020-02-02 10:00:00', 'word'), ('two', NULL, NULL)"
# Of MySQL before 8.0 and MariaDB; NO_FIELD_OPTIONS and NO_KEY_OPTIONS belong to it there.
LESS_SHOWN = "ANSI_QUOTES,NO_TABLE_OPTIONS"
PARTED = "CREATE TABLE parted (a INT) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 2"


@dataclass(frozen=True)
class Upgrading:
    """What `trial upgrade` is asked of: a running server, and a directory for whatever the trial makes."""

    temporary: Path
    server: PrivateServer

    def words(self, new: str, *words: str) -> list[str]:
        """The words behind `trial`."""
        return ["upgrade", "--socket", str(self.server.socket), "--user", "root", "--server", str(binaries_of(new).mysqld), *words]


def upgraded(asked: Upgrading, new: str, *words: str) -> dict[str, Any]:
    """The document of an upgrade, held to its schema."""
    document = measured(asked.temporary, *asked.words(new, *words))
    jsonschema.validate(document, json.loads((ROOT / "docs/reference/upgrade.schema.json").read_text("utf-8")))
    return document


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {table["table_name"]: table["verdict"] for table in document["tables"]}


@pytest.mark.parametrize(
    ("old", "new", "way"),
    [
        ("mysql-5.6", "mariadb-10.11", "files"),
        ("mysql-5.6", "mariadb-11.8", "files"),
        ("mariadb-10.11", "mariadb-11.8", "files"),
        ("mysql-5.6", "mysql-9.7", "definition"),
        ("mysql-8.0", "mysql-9.7", "definition"),
        ("mysql-9.7", "mysql-9.7", "import"),
    ],
)
def test_tables_that_a_newer_server_takes(temporary: Path, running: Callable[[str], PrivateServer], old: str, new: str, way: str) -> None:
    server = running(old)
    with schema(server, "up"):
        server.execute(f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", ROWS, "CREATE TABLE bare (a INT) ENGINE=MyISAM", database="up")
        server.execute("CREATE TABLE `odd ``-ä` (`select` INT) ENGINE=MyISAM", "INSERT INTO `odd ``-ä` VALUES (1)", "FLUSH TABLES", database="up")
        before = server.execute("CHECKSUM TABLE plain", database="up")
        found = upgraded(Upgrading(temporary, server), new)
        assert verdicts(found) == {"plain": "opens", "bare": "opens", "odd `-ä": "opens"}
        assert {table["way"] for table in found["tables"]} == {way}
        plain = next(table for table in found["tables"] if table["table_name"] == "plain")
        assert (plain["rows"], plain["problems"]) == (2, [])
        assert {"CHECK TABLE ... FOR UPGRADE", "SELECT", "UPDATE", "DELETE", "INSERT"} <= set(plain["steps"])
        assert any("step by step" in note for note in found["notes"]) == (way == "definition")
        assert server.execute("CHECKSUM TABLE plain", database="up") == before


def test_times_of_before_5_6_4_are_refused_by_mysql_9_and_taken_by_mariadb(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server = running("mysql-5.5")
    with schema(server, "up"):
        server.execute(f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", ROWS, "FLUSH TABLES", database="up")
        refused = upgraded(Upgrading(temporary, server), "mysql-9.7", "--table", "up.plain")["tables"][0]
        assert refused["verdict"] == "refused"
        assert "5.6.4" in refused["remedy"]
        assert "Incorrect key file" in refused["problems"][-1]["words"]
        assert verdicts(upgraded(Upgrading(temporary, server), "mariadb-11.8", "--table", "up.plain")) == {"plain": "opens"}


def test_partitions_are_refused_by_mysql_9_in_its_own_words(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server = running("mysql-5.6")
    with schema(server, "up"):
        server.execute(PARTED, f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", "FLUSH TABLES", database="up")
        found = upgraded(Upgrading(temporary, server), "mysql-9.7")
        parted = next(table for table in found["tables"] if table["table_name"] == "parted")
        assert (parted["verdict"], parted["problems"][0]["code"]) == ("refused", 1178)
        assert "REMOVE PARTITIONING" in parted["remedy"]
        assert verdicts(found)["plain"] == "opens"
        _, text, _ = trial(temporary, *Upgrading(temporary, server).words("mysql-9.7"))
        assert "2 tables; 1 is refused, 1 opens." in text
        assert "CREATE TABLE: error 1178: The storage engine" in text
        assert [one["name"] for one in upgraded(Upgrading(temporary, server), "mariadb-11.8")["not_tried"]] == ["up.parted"]


def test_a_mode_and_a_row_that_the_newer_refuses(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server = running("mysql-5.6")
    mode = str(server.execute("SELECT @@global.sql_mode")[0][0])
    with schema(server, "up"):
        server.execute("CREATE TABLE zero (d DATE NOT NULL) ENGINE=MyISAM", "SET SESSION sql_mode = ''", "INSERT INTO zero VALUES ('0000-00-00')", "FLUSH TABLES", database="up")
        server.execute("SET GLOBAL sql_mode = 'NO_AUTO_CREATE_USER,STRICT_ALL_TABLES,NO_ZERO_DATE'")
        try:
            found = upgraded(Upgrading(temporary, server), "mysql-9.7")
        finally:
            server.execute(f"SET GLOBAL sql_mode = '{mode}'")
        assert any("NO_AUTO_CREATE_USER is refused (error 1231" in note for note in found["notes"])
        assert verdicts(found) == {"zero": "refuses statements"}
        assert [problem["code"] for problem in found["tables"][0]["problems"]] == [1292]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("mariadb-11.8", "mariadb-10.11", "does not read what a later one wrote"),
        ("mariadb-10.11", "mysql-9.7", "MySQL reads no definitions of MariaDB"),
        ("mysql-9.7", "mariadb-11.8", "MariaDB reads no .sdi"),
    ],
)
def test_what_is_no_upgrade_is_said(temporary: Path, running: Callable[[str], PrivateServer], old: str, new: str, said: str) -> None:
    server = running(old)
    with schema(server, "up"):
        server.execute(f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", database="up")
        fails(temporary, said, *Upgrading(temporary, server).words(new))


def test_bad_input_is_named(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server, new = running("mysql-5.6"), "mariadb-11.8"
    asked = Upgrading(temporary, server)
    with schema(server, "up"):
        server.execute(f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", database="up")
        fails(temporary, "upgrade needs --server PATH", "upgrade")
        fails(temporary, "up.plian: there is no such table", *asked.words(new, "--table", "up.plian"))
        fails(temporary, "no server program /nowhere", *asked.words(new, "--server", "/nowhere"))
        fails(temporary, "belong to replay", *asked.words(new, "--set", "key_buffer_size=1M"))
        fails(temporary, "draws no --chart", *asked.words(new, "--chart", "x.svg"))


def test_what_a_rebuild_mends_is_tried_on_the_copy(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server = running("mysql-5.6")
    with schema(server, "up"):
        server.execute("CREATE TABLE words (w VARCHAR(20), KEY (w)) ENGINE=MyISAM CHARSET=utf8", "INSERT INTO words VALUES ('one')", "FLUSH TABLES", database="up")
        # As MySQL 5.0 left it: utf8_general_ci was sorted otherwise before 5.1.24.
        with (server.data_directory / "up" / "words.frm").open("r+b") as file:
            file.seek(51)
            file.write((50_045).to_bytes(4, "little"))
        (words,) = upgraded(Upgrading(temporary, server), "mariadb-11.8", "--table", "up.words")["tables"]
        assert (words["verdict"], words["rows"]) == ("opens after a rebuild", 1)
        assert words["problems"][0]["step"] == "CHECK TABLE ... FOR UPGRADE"
        assert words["remedy"].startswith("ALTER TABLE `up`.`words` FORCE; after the upgrade")
        assert "ALTER TABLE ... FORCE" in words["steps"]


def test_rows_and_nulls_that_a_constraint_refuses(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    """A row that breaks its constraint is told as that; a NULL that only the trial would put there is not."""
    server = running("mariadb-10.11")
    with schema(server, "up"):
        server.execute(
            "CREATE TABLE broken (a INT NOT NULL, CHECK (a > 0)) ENGINE=MyISAM", "CREATE TABLE sound (a INT, CHECK (a IS NOT NULL)) ENGINE=MyISAM",
            "SET SESSION check_constraint_checks = 0", "INSERT INTO broken VALUES (-1)", "INSERT INTO sound VALUES (1)", "FLUSH TABLES", database="up",
        )  # fmt: skip
        found = upgraded(Upgrading(temporary, server), "mariadb-11.8")
        assert verdicts(found) == {"broken": "refuses statements", "sound": "opens"}
        broken = next(table for table in found["tables"] if table["table_name"] == "broken")
        assert broken["problems"][0]["code"] == 4025
        assert "no matter of the upgrade" in broken["remedy"]


@pytest.mark.parametrize(("old", "new"), [("mysql-8.0", "mysql-9.7"), ("mariadb-10.11", "mariadb-11.8")])
def test_a_default_that_no_calendar_has_stays(temporary: Path, running: Callable[[str], PrivateServer], old: str, new: str) -> None:
    server = running(old)
    with schema(server, "up"):
        server.execute("SET SESSION sql_mode = 'ALLOW_INVALID_DATES'", "CREATE TABLE never (a INT, d DATE DEFAULT '2010-02-30') ENGINE=MyISAM", "INSERT INTO never VALUES (1, '2010-02-03')", "FLUSH TABLES", database="up")
        assert verdicts(upgraded(Upgrading(temporary, server), new)) == {"never": "opens"}


@pytest.mark.parametrize(("old", "new"), [("mysql-5.6", "mysql-9.7"), ("mariadb-10.11", "mariadb-11.8")])
def test_a_compressed_table_is_opened_and_not_written(temporary: Path, running: Callable[[str], PrivateServer], old: str, new: str) -> None:
    server = running(old)
    with schema(server, "up"):
        make_compressed_table(server, binaries_of("mariadb-10.11"), "up", "packed")
        (packed,) = upgraded(Upgrading(temporary, server), new, "--table", "up.packed")["tables"]
        assert (packed["verdict"], packed["rows"], packed["problems"]) == ("opens", 2000, [])
        assert "CHECK TABLE" in packed["steps"]
        assert not {"UPDATE", "DELETE", "INSERT"} & set(packed["steps"])


def test_an_upgrade_is_tried_with_whole_definitions(temporary: Path) -> None:
    """MySQL 9.7 makes the tables of 5.6 by what SHOW CREATE says: other quotes were a syntax error of every table, and a missing ENGINE ended the trial."""
    with CopiedServer(binaries_of("mysql-5.6"), [f"--sql-mode={LESS_SHOWN}"]) as server, schema(server, "upgraded") as name:
        server.execute(f"CREATE TABLE plain ({PLAIN}) ENGINE=MyISAM", ROWS, database=name)
        assert verdicts(upgraded(Upgrading(temporary, server), "mysql-9.7")) == {"plain": "opens"}


@pytest.mark.parametrize(("old", "new"), [("mysql-5.6", "mysql-8.0"), ("mysql-5.6", "mysql-9.7"), ("mysql-8.0", "mysql-9.7")])
def test_utf8mb4_compares_as_it_did_before_the_upgrade(temporary: Path, running: Callable[[str], PrivateServer], old: str, new: str) -> None:
    server = running(old)
    with schema(server, "up"):
        server.execute("CREATE TABLE whole (a VARCHAR(20) PRIMARY KEY) ENGINE=MyISAM CHARSET=utf8mb4", "INSERT INTO whole VALUES ('x')", database="up")
        server.execute("CREATE TABLE one (a INT, b VARCHAR(20) CHARACTER SET utf8mb4, KEY (b)) ENGINE=MyISAM CHARSET=latin1", "INSERT INTO one VALUES (1, 'x')", database="up")
        server.execute("CREATE TABLE other (a VARCHAR(20) PRIMARY KEY) ENGINE=MyISAM CHARSET=utf8mb4 COLLATE=utf8mb4_unicode_ci", "INSERT INTO other VALUES ('x')", "FLUSH TABLES", database="up")
        assert verdicts(upgraded(Upgrading(temporary, server), new)) == {"whole": "opens", "one": "opens", "other": "opens"}


def test_an_index_that_the_newer_makes_shorter_is_told_with_what_helps(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    """255 bytes of a TINYTEXT are the most there. Whatever is done to its files there ends with 1034; FORCE on the present server ends with nothing or 1170."""
    server = running("mysql-5.6")
    with schema(server, "up"):
        for table, columns in (("tiny", "id INT, b TINYTEXT, KEY (id, b(255))"), ("longer", "b TINYTEXT, KEY (b(300)), KEY c (b(85))")):
            server.execute(f"CREATE TABLE {table} ({columns}) ENGINE=MyISAM CHARSET=utf8", f"INSERT INTO {table} (b) VALUES (REPEAT('a', 255)), ('b')", "FLUSH TABLES", database="up")
        server.execute("CREATE TABLE uniquely (b TINYTEXT, UNIQUE KEY (b(255))) ENGINE=MyISAM CHARSET=utf8", "FLUSH TABLES", database="up")
        found = {table["table_name"]: table for table in upgraded(Upgrading(temporary, server), "mysql-9.7")["tables"]}
        assert {name: table["verdict"] for name, table in found.items()} == {"tiny": "refused", "longer": "refused", "uniquely": "refused"}
        assert found["uniquely"]["problems"][0]["code"] == 1071
        assert "a column of TEXT keeps the whole index" in found["uniquely"]["remedy"]
        server.execute("ALTER TABLE uniquely MODIFY b TEXT", "FLUSH TABLES", database="up")
        for name, mend in (("tiny", "DROP INDEX `id`, ADD INDEX `id` (`id`, `b`(85))"), ("longer", "DROP INDEX `b`, ADD INDEX `b` (`b`(85))")):
            assert "warning 1071" in found[name]["problems"][0]["words"]
            assert f"ALTER TABLE `up`.`{name}` {mend};" in found[name]["remedy"]
            server.execute(f"ALTER TABLE `up`.`{name}` {mend};", "FLUSH TABLES")
        assert verdicts(upgraded(Upgrading(temporary, server), "mysql-9.7")) == {"tiny": "opens", "longer": "opens", "uniquely": "opens"}


def test_what_the_limit_leaves_out_is_one_line_with_its_size(temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    """The definitions count, too: that of ten tables within the limit by their rows alone ended the trial with an error."""
    server = running("mysql-5.6")
    with schema(server, "up"):
        server.execute(*(f"CREATE TABLE t{number} (a INT, KEY (a)) ENGINE=MyISAM" for number in range(9)), "FLUSH TABLES", database="up")
        limited = ("mysql-9.7", "--copy-limit", "20000")
        found = upgraded(Upgrading(temporary, server), *limited)
        assert verdicts(found) == {"t0": "opens", "t1": "opens"}
        assert [(one["name"], one["bytes"]) for one in found["not_tried"]] == [(f"up.t{number}", 1024) for number in range(2, 9)]
        _, text, _ = trial(temporary, *Upgrading(temporary, server).words(*limited))
        said = "7 tables, 7 KiB: beyond --copy-limit (19.5 KiB), which smaller tables use up: name it (--table), or raise the limit. They are up.t2, up.t3, up.t4 and 4 more (--format json names all)."
        assert said in " ".join(text.split())
        fails(temporary, "there is nothing to try: up.t0: larger than --copy-limit .100 B.: raise it", *Upgrading(temporary, server).words("mysql-9.7", "--copy-limit", "100"))
