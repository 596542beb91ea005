"""What stops an upgrade, provoked for real: tables and settings of older servers, and what newer ones refuse."""

import subprocess

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.frm import with_old_types
from tests.support.servers import CopiedServer, binaries_of

from .test_expert_rules import findings, ran

ENGINE_DISABLED, NO_NATIVE_PARTITIONING = 3161, 1178


def of_before(server: PrivateServer) -> None:
    """Tables as a server may have them that was upgraded since MySQL 5.5: partitioned, with old columns, merged, and in utf8mb3."""
    server.execute(
        "CREATE DATABASE d", "CREATE TABLE d.parted (a INT, t TIME) ENGINE=MyISAM PARTITION BY HASH (a) PARTITIONS 2", "CREATE TABLE d.posts (v VARCHAR(9)) ENGINE=MyISAM DEFAULT CHARSET=utf8",
        "CREATE TABLE d.part (s TIMESTAMP NULL) ENGINE=MyISAM", "CREATE TABLE d.whole (s TIMESTAMP NULL) ENGINE=MERGE UNION=(d.part)",
    )  # fmt: skip


def test_what_stops_an_upgrade_is_found_and_its_remedy_takes_it_away() -> None:
    with CopiedServer(binaries_of("mysql-5.6")) as server:
        of_before(server)
        (found,) = findings(server, "upgrade-blockers")
        assert found.confidence == "confirmed"
        assert "(d.parted)" in found.message
        assert "d.part)" not in found.message
        assert "1 table has columns in utf8mb3" in found.recommendation
        server.execute("FLUSH TABLES")
        for table in ("part", "parted", "whole"):
            with_old_types(server.data_directory / "d" / f"{table}.frm")
        server.execute("INSERT INTO d.part VALUES ('2001-02-03 04:05:06')")
        (found,) = findings(server, "upgrade-blockers")
        assert "2 tables have TIME, DATETIME or TIMESTAMP columns in the format of before 5.6.4 (d.part, d.parted)" in found.message
        assert "(d.whole)" in found.recommendation
        # In one statement: the table is copied once.
        assert found.commands == ("ALTER TABLE `d`.`part` FORCE;", "ALTER TABLE `d`.`parted` FORCE REMOVE PARTITIONING;")
        server.execute(*(str(command).rstrip(";") for command in found.commands))
        assert findings(server, "upgrade-blockers") == []
        # As the recommendation says: until the MERGE table is made anew too, it reads times wrongly.
        times = "SELECT YEAR(s) FROM d.part UNION ALL SELECT YEAR(s) FROM d.whole"
        of_part, of_whole = (row[0] for row in server.execute(times))
        assert of_part == 2001 != of_whole
        server.execute("ALTER TABLE d.whole FORCE")
        assert [row[0] for row in server.execute(times)] == [2001, 2001]


PARTITIONED = "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE ENGINE = 'MyISAM' AND CREATE_OPTIONS LIKE '%partitioned%'"
DROPPED, NAMED, FULL = (1505, "ALTER TABLE p DROP PARTITION p0"), (1747, "SELECT * FROM p PARTITION (p0)"), (1114, "ALTER TABLE small REMOVE PARTITIONING")


def test_both_ways_out_of_partitions_lead_where_the_rule_says_and_back() -> None:
    by_range = "PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN MAXVALUE)"
    with CopiedServer(binaries_of("mysql-5.6")) as server:
        server.execute("CREATE DATABASE d", *(f"CREATE TABLE d.{name} (a INT NOT NULL, KEY (a)) ENGINE=MyISAM {by_range}" for name in "pq"), "INSERT INTO d.p VALUES (1), (11)")
        (found,) = findings(server, "upgrade-blockers")
        assert PARTITIONED in found.verify
        assert server.execute(PARTITIONED) == [("d", "p"), ("d", "q")]
        assert server.execute("CHECK TABLE d.p FOR UPGRADE")[0][3] == "OK", "which is why this verifies nothing"
        before = server.execute("SHOW CREATE TABLE d.p")
        server.execute("ALTER TABLE d.q ENGINE=InnoDB")
        assert "PARTITION p0" in str(server.execute("SHOW CREATE TABLE d.q")[0][1])
        server.execute(*(str(command).rstrip(";") for command in found.commands if "`p`" in str(command)))
        assert server.execute(PARTITIONED) == []
        assert findings(server, "upgrade-blockers") == []
        for error, statement in (DROPPED, NAMED):
            assert ran(server, statement) == error
            assert f"{error}" in found.recommendation
        server.execute(f"ALTER TABLE d.p {by_range}", "ALTER TABLE d.q ENGINE=MyISAM")
        assert server.execute("SHOW CREATE TABLE d.p") == before
        assert server.execute(PARTITIONED) == [("d", "p"), ("d", "q")]


def test_a_copy_that_max_rows_forbids_leaves_the_table_as_it_was() -> None:
    with CopiedServer(binaries_of("mysql-5.6")) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.small (a INT NOT NULL, c CHAR(200) NOT NULL) ENGINE=MyISAM MAX_ROWS=200 PARTITION BY HASH (a) PARTITIONS 4")
        server.execute(f"INSERT INTO d.small VALUES {', '.join(f'({number}, 1)' for number in range(200))}", *["INSERT INTO d.small SELECT * FROM d.small"] * 10)
        (found,) = findings(server, "upgrade-blockers")
        error, statement = FULL
        assert ran(server, statement) == error
        assert "error 1114" in found.recommendation
        assert server.execute(PARTITIONED) == [("d", "small")]
        assert ran(server, statement.replace("REMOVE", "MAX_ROWS=1000000 REMOVE")) == 0
        assert server.execute("SELECT COUNT(*) FROM d.small") == [(204_800,)]


def test_nothing_of_it_stops_mariadb() -> None:
    with CopiedServer(binaries_of("mariadb-10.11"), ["--query-cache-size=8M", "--query-cache-type=1", "--myisam-repair-threads=2"]) as server:
        of_before(server)
        assert findings(server, "upgrade-blockers") == []


def test_settings_that_a_later_version_does_not_know_are_found() -> None:
    settings = ["--query-cache-size=8M", "--query-cache-type=1", "--myisam-repair-threads=2"]
    with CopiedServer(binaries_of("mysql-5.6"), settings) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM")
        (found,) = findings(server, "upgrade-blockers")
        assert found.confidence == "likely"
        assert "query_cache_size" in found.message
        assert "myisam_repair_threads" in found.message
        server.restart(["--query-cache-size=1M", "--query-cache-type=0", "--myisam-repair-threads=1"])
        assert findings(server, "upgrade-blockers") == []
    assert said_of_settings() == ""
    for setting in [*settings, "--internal-tmp-disk-storage-engine=MYISAM"]:
        assert f"unknown variable '{setting.removeprefix('--')}'" in said_of_settings(setting)


def said_of_settings(*settings: str) -> str:
    """What MySQL 9.7 finds wrong with them, without a start."""
    binaries = binaries_of("mysql-9.7")
    words = [*binaries.command(binaries.mysqld), "--no-defaults", "--validate-config", "--user=nobody", "--secure-file-priv=", f"--lc-messages-dir={binaries.share}"]
    return subprocess.run([*words, *settings], capture_output=True, text=True, timeout=60, check=False).stderr


def test_a_dump_that_a_setting_refuses_is_found() -> None:
    with CopiedServer(binaries_of("mysql-9.7")) as server:
        server.execute("CREATE DATABASE d", "CREATE TABLE d.m (a INT) ENGINE=MyISAM")
        assert findings(server, "upgrade-blockers") == []
        assert ran(server, "CREATE TABLE p (a INT) ENGINE=MyISAM PARTITION BY HASH (a)") == NO_NATIVE_PARTITIONING
        server.restart(["--disabled-storage-engines=MyISAM"])
        assert ran(server, "CREATE TABLE n (a INT) ENGINE=MyISAM") == ENGINE_DISABLED
        assert ran(server, "ALTER TABLE m FORCE") == 0
        (found,) = findings(server, "upgrade-blockers")
        assert "3161" in found.message
        assert ran(server, "SET SESSION sql_mode = ''", "CREATE TABLE n (a INT) ENGINE=MyISAM") == 0
        assert "ENGINE=InnoDB" in str(server.execute("SHOW CREATE TABLE d.n")[0][1])
