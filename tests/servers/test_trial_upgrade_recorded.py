"""`trial upgrade --workload`: the same recorded statements under the present version and under a newer one."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support import workloads
from tests.support.servers import binaries_of

from .conftest import schema
from .trials import fails, measured, temporary, trial, warned

__all__ = ["temporary"]  # a fixture that tests of a trial share
SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "upgrade.schema.json"
ROWS = 2000
SECRET = "opensesame"
# Each with the rows that a recording would tell of it.
READ = [(b"SELECT name FROM words WHERE id = %d" % number, 1) for number in range(1, 60)]
LIMITS = ("--rounds", "4")


@contextmanager
def shop(server: PrivateServer) -> Iterator[None]:
    """A table with a column whose name a later version reserves, one that is written, and one of another engine."""
    with schema(server, "shop"):
        server.execute(
            "CREATE TABLE words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, `rank` INT NOT NULL, price INT NOT NULL) ENGINE=MyISAM",
            "CREATE TABLE log (id INT NOT NULL PRIMARY KEY, at DATE NOT NULL, what VARCHAR(10)) ENGINE=MyISAM",
            "CREATE TABLE idle (id INT NOT NULL) ENGINE=MyISAM",
            "CREATE TABLE kept (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
            database="shop",
        )
        words = ",".join(f"('word {number * 7919 % 1009}', {number % 7}, {number * 31 % 97})" for number in range(ROWS))
        server.execute(f"INSERT INTO words (name, `rank`, price) VALUES {words}", "INSERT INTO log VALUES (1, '2020-02-02', 'x')", "FLUSH TABLES", database="shop")
        yield


def recorded(path: Path, statements: Sequence[tuple[bytes, int | None]]) -> Path:
    """A workload of them, one after another on one connection."""
    return workloads.write(path, [workloads.event(1, number * 1000, text, rows) for number, (text, rows) in enumerate(statements)])


def on(server: PrivateServer, new: str, path: Path, *words: object) -> tuple[object, ...]:
    return ("upgrade", "--socket", server.socket, "--user", "root", "--server", binaries_of(new).mysqld, "--workload", path, *LIMITS, *words)


def compared(temporary: Path, *words: object) -> dict[str, Any]:
    """What the document says of the recorded statements; the document itself is held to its schema."""
    document = measured(temporary, *words)
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    found: dict[str, Any] = document["recorded"]
    return found


def refused(found: dict[str, Any], side: str = "only_newer") -> dict[str, dict[str, Any]]:
    return {one["fingerprint"]: one for one in found[side]}


def test_what_mysql_9_refuses_of_statements_that_5_6_takes(temporary: Path, running: Callable[[str], PrivateServer], tmp_path: Path) -> None:
    server, value = running("mysql-5.6"), SECRET.encode()
    path = recorded(
        tmp_path / "w",
        [
            *READ,
            (b"SELECT rank FROM words WHERE name = '%b'" % value, 0),
            (b"SELECT rank FROM words WHERE name = '%b' AND id = 4711" % value, 0),
            (b"SELECT SQL_CACHE name FROM words WHERE id = 7", 1),
            (b"SELECT PASSWORD('%b') FROM words LIMIT 1" % value, 1),
            (b"SELECT name, price FROM words GROUP BY `rank`", 7),
            (b"SELECT price, COUNT(*) FROM words GROUP BY price", 97),
            (b"SELECT name, price FROM words ORDER BY id LIMIT 5", 5),
            *[(b"SELECT VERSION(), COUNT(*) FROM words WHERE name LIKE '%9%'", 1)] * 40,
            (b"INSERT INTO log (id, at, what) VALUES (1, '2021-01-01', '%b')" % value, 0),
            (b"INSERT INTO log (id, at, what) VALUES (2, '0000-00-00', 'y')", 0),
            (b"INSERT INTO log (id, at, what) VALUES (3, '2021-01-01', '%b and much more')" % value, 0),
            (b"SELECT id FROM log WHERE id > 1", 2),
            (b"SELECT ROW_NUMBER() OVER (ORDER BY id) FROM words LIMIT 3", None),
            (b"SELECT id FROM kept", 0),
        ],
    )
    with shop(server):
        words = on(server, "mysql-9.7", path)
        before = server.execute("CHECKSUM TABLE shop.words, shop.log")
        document = measured(temporary, *words)
        assert server.execute("CHECKSUM TABLE shop.words, shop.log") == before
    jsonschema.validate(document, json.loads(SCHEMA.read_text("utf-8")))
    # The tables that the statements touch, and no others.
    assert {table["table_name"] for table in document["tables"]} == {"words", "log"}
    found = document["recorded"]
    by_kind = refused(found)
    reserved = by_kind["select rank from words where name = ?"]
    assert (reserved["code"], reserved["statements"], reserved["other_code"], reserved["taken_under_present_mode"]) == (1064, 1, 0, False)
    assert "near 'from words where name = ?' at line 1" in reserved["words"]
    # No word of the language any more, and so a column.
    cached = by_kind["select sql_cache name from words where id = ?"]
    assert (cached["code"], cached["words"]) == (1054, "Unknown column 'SQL_CACHE' in 'field list'")
    assert by_kind["select password(?) from words limit ?"]["code"] in (1064, 1305)
    grouped = by_kind["select name, price from words group by rank"]
    assert (grouped["code"], grouped["taken_under_present_mode"]) == (1055, True)
    assert "shop.words.name" in grouped["words"]
    # One of a kind is refused by both, as its row is there; two by the newer version's sql_mode alone.
    inserts = [one for one in found["only_newer"] if one["fingerprint"].startswith("insert into log")]
    assert {one["code"]: one["taken_under_present_mode"] for one in inserts} == {1292: True, 1406: True}
    assert [(one["code"], one["statements"], one["other_code"]) for one in found["only_present"]] == [(1064, 1, 0)]
    assert found["only_present"][0]["fingerprint"].startswith("select row_number() over")
    assert found["refused_by_both"] == 1
    assert any("InnoDB" in reason for reason in found["left_out"])
    others = {one["fingerprint"]: one for one in found["others"]}
    assert others["select id from log where id > ?"]["what"] == "number of rows"
    assert (others["select id from log where id > ?"]["present_rows"], others["select id from log where id > ?"]["newer_rows"]) == (2, 0)
    counted = "select price, count(*) from words group by price"
    assert others[counted]["what"] == "order of rows"
    assert "ORDER BY" in others[counted]["note"]
    assert "select name, price from words order by id limit ?" not in others
    # A kind that is answered alike is timed, all together are not.
    assert found["all"] is None
    timed = {kind["fingerprint"] for kind in found["kinds"]}
    assert "select name from words where id = ?" in timed
    # It takes half of the time, and has no speed, as its rows are others.
    versions = "select version(), count(*) from words where name like ?"
    assert (others[versions]["what"], versions in timed) == ("rows", False)
    mode = next(one for one in found["settings"] if one["name"] == "sql_mode")
    assert (mode["is_carried"], "ONLY_FULL_GROUP_BY" in mode["newer"], "ONLY_FULL_GROUP_BY" in mode["present"]) == (False, True, False)
    assert SECRET not in json.dumps(document)
    assert "4711" not in json.dumps(found)


def test_two_releases_of_mariadb_and_the_report_for_a_person(temporary: Path, running: Callable[[str], PrivateServer], tmp_path: Path) -> None:
    """What both refuse is counted; what is set on the watched server goes with it."""
    server = running("mariadb-10.11")
    mode = str(server.execute("SELECT @@global.sql_mode")[0][0])
    with shop(server):
        reading: list[tuple[bytes, int | None]] = [*READ, (b"INSERT INTO log VALUES (1, '2021-01-01', '%b')" % SECRET.encode(), 0), (b"INSERT INTO log VALUES (2, '0000-00-00', 'y')", 0)]
        # Of one the recording has no row counts, and one answers otherwise by itself.
        reading += [(b"SELECT name, price FROM words WHERE id < 9 ORDER BY id", None), (b"SELECT RAND(), name FROM words WHERE id < 9", 8)]
        path = recorded(tmp_path / "w", reading)
        server.execute("SET GLOBAL sql_mode = 'NO_ENGINE_SUBSTITUTION'")
        try:
            status, text, errors = trial(temporary, *on(server, "mariadb-11.8", path))
            found = compared(temporary, *on(server, "mariadb-11.8", path, "--table", "shop.log", "--table", "shop.idle"))
        finally:
            server.execute(f"SET GLOBAL sql_mode = '{mode}'")
    assert (status, warned(errors)) == (0, [])
    text = " ".join(text.split())
    assert "MariaDB 11.8 takes them as the present version does, with the same results" in text
    assert "63 of 63 statements were answered by both; 1 refused by both with the same error" in text
    assert "Rows of 2 kinds of SELECT were compared, one of each: 2 are the same, in the same order." in text
    assert "select name from words where id = ?" in text
    assert SECRET not in text
    # With --table, only statements on these.
    assert (found["sent"], found["refused_by_both"], found["only_newer"], found["only_present"], found["others"]) == (2, 1, [], [], [])
    assert found["left_out"] == {"shop.words was not copied": 61}
    settings = {one["name"]: one for one in found["settings"]}
    assert settings["sql_mode"] == {"name": "sql_mode", "present": "NO_ENGINE_SUBSTITUTION", "newer": "NO_ENGINE_SUBSTITUTION", "is_carried": True}
    assert not settings["character_set_server"]["is_carried"]


def test_a_release_that_imports_its_own_definitions_and_compares_names_in_lower_case(temporary: Path, tmp_path: Path) -> None:
    """MySQL 8.0 and later take lower_case_table_names when they make their dictionary, and no later."""
    path = recorded(tmp_path / "w", [*READ, (b"UPDATE words SET price = 1 WHERE id < 5", 0), (b"SELECT SUM(price) FROM words", 1)])
    with PrivateServer(binaries_of("mysql-9.7"), ["--lower-case-table-names=1"]) as server, shop(server):
        document = measured(temporary, *on(server, "mysql-9.7", path))
    found = document["recorded"]
    assert [table["way"] for table in document["tables"]] == ["import"]
    assert (found["sent"], found["only_newer"], found["others"], found["selects_equal"]) == (61, [], [], 2)
    assert not any(one["is_carried"] for one in found["settings"])


def test_what_cannot_be_compared_is_said(temporary: Path, running: Callable[[str], PrivateServer], tmp_path: Path) -> None:
    server, new = running("mariadb-10.11"), "mariadb-11.8"
    elsewhere = recorded(tmp_path / "elsewhere", [(b"SELECT id FROM kept", 1)])
    here = recorded(tmp_path / "here", READ)
    (tmp_path / "log").write_text("# Time: 2026-01-01T00:00:00Z\nSELECT 1;\n")
    with shop(server):
        fails(temporary, r"elsewhere touches no MyISAM table of this server: none of shop\.kept is one\. Record on this server", *on(server, new, elsewhere))
        fails(temporary, r"here has no statement on shop\.idle: it touches shop\.words\. Name one of these \(--table\)", *on(server, new, here, "--table", "shop.idle"))
        fails(temporary, r"log, line 1|no workload", *on(server, new, tmp_path / "log"))
        fails(temporary, "No such file", *on(server, new, tmp_path / "none"))


def test_a_budget_that_is_too_short_for_all_says_what_was_not_reached(temporary: Path, running: Callable[[str], PrivateServer], tmp_path: Path) -> None:
    server = running("mariadb-10.11")
    # One that takes longer than all that may be sent.
    path = recorded(tmp_path / "w", [(b"SELECT SLEEP(0.4) FROM words WHERE id = 1", 1), *READ])
    with shop(server):
        words = [word for word in on(server, "mariadb-11.8", path) if word not in LIMITS]
        found = compared(temporary, *words, "--budget", "0.3s")
    assert (found["sent"], found["not_reached"]) == (1, 59)
    assert (found["all"], found["kinds"], found["course"]) == (None, [], None)
    assert "the budget had ended" in found["speed_problem"]
    assert any("were not compared row by row" in note for note in found["notes"])


def test_without_a_table_that_both_open_the_rest_is_told(temporary: Path, running: Callable[[str], PrivateServer], tmp_path: Path) -> None:
    """A table whose rows are damaged: what the newer version says of it stands, and why no statement was sent."""
    server = running("mariadb-10.11")
    path = recorded(tmp_path / "w", [(b"SELECT id FROM log", 1)])
    with shop(server):
        (server.data_directory / "shop" / "log.MYD").write_bytes(b"\x07" * 64)
        document = measured(temporary, *on(server, "mariadb-11.8", path))
    assert (document["recorded"], [table["table_name"] for table in document["tables"]]) == (None, ["log"])
    assert any("The recorded statements were not sent, as no table is opened by both versions" in note for note in document["notes"])
