"""Statements on tables whose ENUM members MySQL before 8.0 reads cut in half: which write that for good, and that none of these is offered."""

import json
import subprocess

import pytest
from MySQLdb import Error

from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.sql import Sql
from tests.support.frm import with_old_types
from tests.support.program import run
from tests.support.servers import binaries_of

from .conftest import look, schema
from .test_expert_rules import findings
from .test_full_disk import mark_crashed
from .test_migrate_misread import on_old_servers
from .test_remedies import admitted

MADE = "(i TINYINT NOT NULL AUTO_INCREMENT, a ENUM('yes','no') CHARACTER SET ucs2, b ENUM('yes','no') CHARACTER SET ucs2, y YEAR, KEY (i), KEY (a)) ENGINE=MyISAM"
BY_HASH = " PARTITION BY HASH (i) PARTITIONS 2"
READ = "SELECT CONCAT(a), CONCAT(b) FROM t ORDER BY i"
# Whether they write the members as they are read.
STATEMENTS = {
    **{f"ALTER TABLE `halved`.`t` {words};": True for words in ("FORCE", "ENGINE=MyISAM", "ROW_FORMAT=DYNAMIC", "PACK_KEYS=0", "MAX_ROWS=0 AVG_ROW_LENGTH=0", "DELAY_KEY_WRITE=1", "ADD INDEX of_b (b)", "DROP INDEX a", "COMMENT='x'")},
    **{f"ALTER TABLE `halved`.`t` {words};": False for words in ("ENABLE KEYS", "DISABLE KEYS")},
    # As sites write their own.
    **dict.fromkeys(("CREATE INDEX of_b ON `halved`.`t` (b);", "CREATE UNIQUE INDEX of_b ON halved.t (b, i)", "DROP INDEX a ON `halved`.`t`;", "ALTER IGNORE TABLE `halved`.`t` FORCE;", "alter table halved.t force;", "/* at night */ ALTER TABLE `halved`.`t` FORCE;"), True),
    **{f"{words};": False for words in ("OPTIMIZE TABLE `halved`.`t`", "ANALYZE TABLE `halved`.`t`", "CHECK TABLE `halved`.`t` EXTENDED", "REPAIR TABLE `halved`.`t`", "REPAIR TABLE `halved`.`t` USE_FRM")},
}  # fmt: skip


def made(server: PrivateServer, further: str = "") -> None:
    server.execute("SET SESSION sql_mode = ''", "DROP TABLE IF EXISTS t", f"CREATE TABLE t {MADE}{further}", "INSERT INTO t (a, b) VALUES (1, 2), (2, 1)", "FLUSH TABLES", database="halved")


def passes(server: PrivateServer, words: str) -> bool:
    return bool(admitted(server, parsed(Sql(words))).remedy.commands)


@on_old_servers
@pytest.mark.parametrize("words", STATEMENTS)
def test_what_writes_the_members_for_good_is_refused_and_nothing_else_is(server: PrivateServer, words: str) -> None:
    with schema(server, "halved"):
        made(server)
        before = server.execute(READ, database="halved")
        assert [row["misread_columns"] for row in look(server).tables["tables"].dictionaries() if row["schema_name"] == "halved"] == [2]
        assert passes(server, words) is not STATEMENTS[words]
        server.execute("SET SESSION sql_mode = ''", words.rstrip(";"), "FLUSH TABLES", database="halved")
        assert (server.execute(READ, database="halved") != before) is STATEMENTS[words]


OF_PARTITIONS = {
    **dict.fromkeys(("TRUNCATE PARTITION old", "REPAIR PARTITION late", "OPTIMIZE PARTITION late", "CHECK PARTITION late", "ANALYZE PARTITION late", "RENAME TO u"), False),
    **dict.fromkeys(("DROP PARTITION old", "REMOVE PARTITIONING", "COMMENT = 'x'"), True),
}  # fmt: skip


@on_old_servers
@pytest.mark.parametrize("words", OF_PARTITIONS)
def test_what_is_done_to_the_rows_of_partitions_leaves_the_members(server: PrivateServer, words: str) -> None:
    with schema(server, "halved"):
        made(server, " PARTITION BY RANGE (i) (PARTITION old VALUES LESS THAN (1), PARTITION late VALUES LESS THAN (9))")
        before = server.execute(READ, database="halved")
        assert passes(server, f"ALTER TABLE `halved`.`t` {words};") is not OF_PARTITIONS[words]
        server.execute("SET SESSION sql_mode = ''", f"ALTER TABLE t {words}", "FLUSH TABLES", database="halved")
        after = server.execute(READ.replace("FROM t", f"FROM {'u' if words == 'RENAME TO u' else 't'}"), database="halved")
        assert (after != before) is OF_PARTITIONS[words]


@pytest.mark.parametrize(("words", "loses"), [("REPAIR TABLE `halved`.`t`", True), ("REPAIR TABLE `halved`.`t` USE_FRM", False), ("OPTIMIZE TABLE `halved`.`t`", False)])
def test_a_repair_of_a_table_with_a_short_year_is_an_alter(running: object, words: str, *, loses: bool) -> None:
    server = running("mysql-5.6")  # type: ignore[operator]
    with schema(server, "halved"):
        made(server)
        with_old_types(server.data_directory / "halved" / "t.frm")
        before = server.execute(READ, database="halved")
        assert passes(server, f"{words};") is not loses
        server.execute("SET SESSION sql_mode = ''", words, "FLUSH TABLES", database="halved")
        assert (server.execute(READ, database="halved") != before) is loses


@on_old_servers
def test_no_form_of_the_advice_has_an_alter_of_it_and_each_says_why(server: PrivateServer) -> None:
    with schema(server, "halved"):
        made(server, BY_HASH)
        server.execute("CREATE TABLE sound (i INT) ENGINE=MyISAM PARTITION BY HASH (i) PARTITIONS 2", "FLUSH TABLES", database="halved")
        (found,) = findings(server, "upgrade-blockers")
        assert found.commands == ("ALTER TABLE `halved`.`sound` REMOVE PARTITIONING;",)
        assert "2 ENUM or SET columns of halved.t share a list of members" in found.recommendation
        way = ("--interval", "0", "--socket", server.socket, "--user", "root")
        text = " ".join(run("check", "upgrade-blockers", *way, "--verbose").stdout.split())
        assert "myisam-advisor migrate shows them (members-misread)" in text
        document = json.loads(run("check", *way, "--format", "json").stdout)
        assert [one["commands"] for one in document["findings"] if one["rule"] == "upgrade-blockers"] == [list(found.commands)]
        plan = run("plan", *way).stdout
        assert not [line for line in plan.splitlines() if "ALTER TABLE `halved`.`t`" in line and not line.startswith("--")]


@on_old_servers
def test_advice_in_words_says_it_too_until_the_two_alters_were_run(server: PrivateServer) -> None:
    with schema(server, "halved"):
        made(server, " AUTO_INCREMENT=126")
        (found,) = findings(server, "auto-increment-nearly-full")
        assert "No ALTER TABLE yet" in found.recommendation
        server.execute("ALTER TABLE t MODIFY a SMALLINT UNSIGNED NULL, MODIFY b SMALLINT UNSIGNED NULL", "FLUSH TABLES", database="halved")
        (found,) = findings(server, "auto-increment-nearly-full")
        assert "No ALTER TABLE yet" not in found.recommendation


TWO_ALTERS = ("ALTER TABLE t MODIFY a SMALLINT UNSIGNED NULL, MODIFY b SMALLINT UNSIGNED NULL", "ALTER TABLE t MODIFY a ENUM('yes','no') CHARACTER SET utf8 NULL, MODIFY b ENUM('yes','no') CHARACTER SET utf8 NULL")


def crash(server: PrivateServer, *, is_old: bool) -> None:
    made(server)
    if is_old:
        with_old_types(server.data_directory / "halved" / "t.frm")
    mark_crashed(server.data_directory / "halved" / "t.MYI")
    with pytest.raises(Error) as refused:
        server.execute(TWO_ALTERS[0], database="halved")
    assert refused.value.args[0] in (144, 145, 1194, 1195)


@on_old_servers
def test_a_crashed_table_is_repaired_and_then_the_two_alters_keep_its_values(server: PrivateServer) -> None:
    with schema(server, "halved"):
        crash(server, is_old=False)
        (found,) = findings(server, "table-crashed")
        assert "REPAIR TABLE `halved`.`t`;" in found.commands
        assert found.recommendation.count("members-misread") == 1
        assert "Once the table is repaired" in found.recommendation
        server.execute("SET SESSION sql_mode = ''", "REPAIR TABLE t", *TWO_ALTERS, database="halved")
        assert server.execute(READ, database="halved") == [("yes", "no"), ("no", "yes")]


def test_a_crashed_table_with_a_short_year_is_repaired_by_its_files(running: object) -> None:
    """Its values are read as they are: the REPAIR fails all the same."""
    server, tool = running("mysql-5.6"), binaries_of("mariadb-10.11").tool("myisamchk")  # type: ignore[operator]
    assert tool is not None
    with schema(server, "halved"):
        server.execute("CREATE TABLE t (i INT, y YEAR, KEY (i)) ENGINE=MyISAM", "INSERT INTO t VALUES (1, 2001), (2, 1999)", "FLUSH TABLES", database="halved")
        with_old_types(server.data_directory / "halved" / "t.frm")
        mark_crashed(server.data_directory / "halved" / "t.MYI")
        (found,) = findings(server, "table-crashed")
        assert not [one for one in found.commands if "REPAIR" in one]
        assert "run myisamchk -r" in found.recommendation
        assert server.execute("REPAIR TABLE t", database="halved")[-1][3] == "Operation failed"
        server.execute("FLUSH TABLES", database="halved")
        subprocess.run([*tool, "-r", "--silent", str(server.data_directory / "halved" / "t.MYI")], check=True, capture_output=True)
        assert "Table upgrade required" in str(server.execute("CHECK TABLE t", database="halved")[-1][3])
        server.execute("ALTER TABLE t FORCE", database="halved")
        assert server.execute("CHECK TABLE t", database="halved")[-1][3] == "OK"
        assert server.execute("SELECT i, y FROM t ORDER BY i", database="halved") == [(1, 2001), (2, 1999)]


def test_a_crashed_table_that_a_repair_would_copy_is_repaired_by_its_files(running: object) -> None:
    server, tool = running("mysql-5.6"), binaries_of("mariadb-10.11").tool("myisamchk")  # type: ignore[operator]
    assert tool is not None
    with schema(server, "halved"):
        crash(server, is_old=True)
        (found,) = findings(server, "table-crashed")
        assert not [one for one in found.commands if one.startswith("REPAIR")]
        assert found.recommendation.count("members-misread") == 1
        assert "run myisamchk -r" in found.recommendation
        assert server.execute("REPAIR TABLE t", database="halved")[-1][3] == "Operation failed"
        server.execute("FLUSH TABLES", database="halved")
        subprocess.run([*tool, "-r", "--silent", str(server.data_directory / "halved" / "t.MYI")], check=True, capture_output=True)
        server.execute("SET SESSION sql_mode = ''", *TWO_ALTERS, database="halved")
        assert server.execute(READ, database="halved") == [("yes", "no"), ("no", "yes")]
