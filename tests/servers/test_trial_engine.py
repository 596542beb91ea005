"""`trial engine`: copies of a server's tables on another engine; converted, compared, killed."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support import workloads
from tests.support.servers import binaries_of, keeps_dictionary

from .conftest import schema
from .test_daemon_faults import small_disk
from .trials import SMALL_DISK_KILOBYTES, begin, fails, measured, temporary, trial, warned

__all__ = ["begin", "temporary"]  # a fixture that tests of a trial share
SCHEMA = Path(__file__).parents[2] / "docs" / "reference" / "engine.schema.json"
ROWS = 20_000
# As small as a verdict allows; the words of the command's own test.
SMALL = ("--seconds", "0.02", "--rounds", "4")


@contextmanager
def shop(server: PrivateServer) -> Iterator[None]:
    """Tables that can be converted, one that InnoDB refuses, one of another engine, and a view."""
    with schema(server, "shop"):
        server.execute(
            "CREATE TABLE words (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(40) NOT NULL, price INT NOT NULL DEFAULT 0, note TEXT, KEY (name)) ENGINE=MyISAM",
            "CREATE TABLE counted (place INT NOT NULL, number INT NOT NULL AUTO_INCREMENT, what VARCHAR(20), PRIMARY KEY (place, number)) ENGINE=MyISAM",
            "CREATE TABLE kept (id INT NOT NULL PRIMARY KEY) ENGINE=InnoDB",
            "CREATE VIEW seen AS SELECT id FROM words",
            database="shop",
        )
        words = ",".join(f"('word {number * 7919 % 100_003}', {number % 97}, REPEAT('x', {number % 50}))" for number in range(ROWS))
        counted = ",".join(f"({number % 7}, 'w{number}')" for number in range(2000))
        server.execute(
            f"INSERT INTO words (name, price, note) VALUES {words}", f"INSERT INTO counted (place, what) VALUES {counted}", "FLUSH TABLES", database="shop"
        )  # fmt: skip
        yield


def on(server: PrivateServer, *words: object) -> tuple[object, ...]:
    return ("engine", "--socket", server.socket, "--user", "root", *words, *SMALL)


def engines_of(server: PrivateServer) -> list[str]:
    return ["InnoDB", "Aria"] if server.binaries.flavour == "mariadb" else ["InnoDB"]


@contextmanager
def durable(server: PrivateServer, flush: int = 1) -> Iterator[None]:
    """With commits that are flushed, or are not (0): what a trial's servers then have, too."""
    before = server.execute("SELECT @@innodb_flush_log_at_trx_commit")[0][0]
    server.execute(f"SET GLOBAL innodb_flush_log_at_trx_commit = {flush}")
    try:
        yield
    finally:
        server.execute(f"SET GLOBAL innodb_flush_log_at_trx_commit = {before}")


def test_tables_are_converted_compared_and_killed_and_one_that_fails_stops_none(flavour: PrivateServer, temporary: Path) -> None:
    with shop(flavour), durable(flavour):
        names = ("shop.counted", "shop.words", "shop.kept", "shop.seen", "shop.wordz")
        document = measured(temporary, *on(flavour, *(word for name in names for word in ("--table", name))))
        rows_after = flavour.execute("SELECT COUNT(*) FROM shop.words")
    assert rows_after == [(ROWS,)]
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    found: dict[tuple[str, str], dict[str, Any]] = {(one["table_name"], one["to"]): one for one in document["tables"]}
    assert set(found) == {(table, to) for table in ("counted", "words") for to in engines_of(flavour)}
    assert found["counted", "InnoDB"]["error"]["code"] == 1075
    assert (found["counted", "InnoDB"]["seconds"], found["counted", "InnoDB"]["crash"]) == (None, None)
    for to in engines_of(flavour):
        expect_measured(found["words", to])
    assert set(document["left_out"]) == {"shop.kept", "shop.seen", "shop.wordz"}
    assert "InnoDB table" in document["left_out"]["shop.kept"]
    assert "Did you mean shop.words" in document["left_out"]["shop.wordz"]
    assert document["settings"]["innodb_flush_log_at_trx_commit"] == "1"
    assert int(document["settings"]["key_buffer_size"]) == int(document["settings"]["innodb_buffer_pool_size"])
    expect_survived(found["words", "InnoDB"]["crash"])
    as_it_is = next(one for one in document["stayed"] if one["table_name"] == "words")["crash"]
    assert as_it_is["acknowledged"] > 0
    assert as_it_is["lost"] > 0 or "closed" in as_it_is["check"] or as_it_is["is_damaged"], as_it_is


def test_rows_that_were_taken_out_before_the_crash_do_not_pass_for_rows_that_came_back(flavour: PrivateServer, temporary: Path) -> None:
    with schema(flavour, "shop"), durable(flavour, 0):
        flavour.execute("CREATE TABLE few (id INT NOT NULL PRIMARY KEY, name VARCHAR(20)) ENGINE=MyISAM", f"INSERT INTO few VALUES {','.join(f'({n}, 5)' for n in range(1000))}", "FLUSH TABLES", database="shop")
        (few,) = measured(temporary, *on(flavour, "--table", "shop.few", "--to", "innodb"))["tables"]
    crash = few["crash"]
    # Commits lie in memory for a second: what is lost of the few that came back is lost, and no more of them can be there than were sent.
    assert crash["is_exact"]
    assert crash["found"] <= crash["acknowledged"] + crash["in_flight"]
    assert crash["acknowledged"] - crash["lost"] <= crash["found"]


def test_the_extended_check_of_a_spatial_index_is_no_part_of_the_time_away(flavour: PrivateServer, temporary: Path) -> None:
    srid = " SRID 0" if keeps_dictionary(flavour) else ""
    with schema(flavour, "shop"), durable(flavour):
        flavour.execute(
            f"CREATE TABLE places (id INT NOT NULL PRIMARY KEY, g GEOMETRY NOT NULL{srid}, SPATIAL KEY (g)) ENGINE=MyISAM",
            "INSERT INTO places VALUES " + ", ".join(f"({number}, ST_GeomFromText('POINT({number} 1)'))" for number in range(1000)), "FLUSH TABLES", database="shop",
        )  # fmt: skip
        document = measured(temporary, *on(flavour, "--table", "shop.places", "--to", "innodb"))
    (converted,), (stayed,) = ([one["crash"] for one in document[which]] for which in ("tables", "stayed"))
    assert converted["extended_check_seconds"] == 0
    assert stayed["extended_check_seconds"] > 0 or stayed["is_damaged"]
    for crash in (converted, stayed):
        mended = 0 if crash["check"] == "OK" else crash["check_seconds"] + crash["repair_seconds"]
        assert crash["recovery_seconds"] == pytest.approx(crash["start_seconds"] + mended)


def test_rows_of_generated_columns_alone_are_counted(flavour: PrivateServer, temporary: Path) -> None:
    with schema(flavour, "shop"), durable(flavour):
        flavour.execute("CREATE TABLE made (a INT GENERATED ALWAYS AS (1) VIRTUAL) ENGINE=MyISAM", "INSERT INTO made VALUES (DEFAULT), (DEFAULT)", "FLUSH TABLES", database="shop")
        status, output, errors = trial(temporary, *on(flavour, "--table", "shop.made"))
    assert status == 0, errors
    assert "InnoDB: 1 of 1 table converted." in output
    assert output.count("The same rows and values as before.") == len(engines_of(flavour))


def expect_measured(words: dict[str, Any]) -> None:
    """A conversion that succeeded, and statements on both sides."""
    assert (words["error"], words["checksum_equal"], words["rows"]) == (None, True, ROWS)
    assert words["seconds"] > 0
    assert words["bytes_before"] == words["data_bytes"] + words["index_bytes"]
    # Less than the rows hold would be a file that was not looked at.
    assert words["bytes_after"] > words["data_bytes"]
    kinds = {kind["name"]: kind for kind in words["kinds"]}
    assert {"reads by key", "updates by key", "inserts of one row", "full scan"} <= set(kinds)
    assert all(kind["times"] > 0 and kind["myisam_per_second"] > 0 and kind["engine_per_second"] > 0 for kind in kinds.values())
    # No engine reads so many rows in a second on two processors: a cache answers.
    assert kinds["full scan"]["engine_per_second"] * ROWS < 1e9
    assert (words["lock_waits"], words["deadlocks"]) == (words["lock_waits"] or 0, 0)


def expect_survived(crash: dict[str, Any]) -> None:
    """Nothing that was acknowledged is lost, each row looked for by its key."""
    assert crash["is_exact"]
    assert crash["acknowledged"] > 0
    assert (crash["lost"], crash["check"], crash["is_damaged"]) == (0, "OK", False)
    assert crash["acknowledged"] <= crash["found"] <= crash["acknowledged"] + crash["in_flight"]
    assert 0 < crash["recovery_seconds"] == crash["start_seconds"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), r"engine needs --table"),
        (("--table", "shop.kept"), r"no table can be tried: shop\.kept: it is an InnoDB table"),
        (("--table", "shop.seen"), r"no table can be tried: shop\.seen: it is no MyISAM table"),
        (("--table", "shop.wordz"), r"no such table.*Did you mean shop\.words"),
        (("--table", "words"), r"names no database"),
        (("--table", "shop.words", "--copy-limit", "1k"), r"--copy-limit"),
        (("--table", "shop.words", "--set", "key_buffer_size=1M"), r"--set and --sql belong to replay"),
        (("--table", "shop.words", "--to", "ndb"), r"ndb"),
        (("--table", "shop.words", "--chart", "x.svg"), r"--chart"),
    ],
)
def test_what_cannot_be_tried_is_said(mariadb: PrivateServer, temporary: Path, words: tuple[str, ...], message: str) -> None:
    with shop(mariadb):
        fails(temporary, message, *on(mariadb, *words))


def test_an_engine_that_the_program_has_not_is_said(mariadb: PrivateServer, temporary: Path) -> None:
    with shop(mariadb):
        fails(temporary, r"mysql-9\.7 has no Aria", *on(mariadb, "--table", "shop.words", "--to", "aria", "--server", binaries_of("mysql-9.7").mysqld))


def test_a_program_that_cannot_open_the_copies_is_said(mariadb: PrivateServer, temporary: Path) -> None:
    with shop(mariadb):
        fails(temporary, r"no table is left to try: .*shop\.words", *on(mariadb, "--table", "shop.words", "--server", binaries_of("mysql-9.7").mysqld))


def test_too_little_room_is_said_before_anything_is_made(mariadb: PrivateServer, temporary: Path) -> None:
    with shop(mariadb), small_disk(temporary / "disk", SMALL_DISK_KILOBYTES) as disk:
        fails(disk, r"has .* free, and the trial needs about", *on(mariadb, "--table", "shop.words"))


def test_a_newer_release_takes_the_copies(mariadb: PrivateServer, temporary: Path) -> None:
    program = binaries_of("mariadb-11.8").mysqld
    with shop(mariadb):
        status, text, errors = trial(temporary, *on(mariadb, "--table", "shop.words", "--to", "innodb", "--server", program))
    assert (status, warned(errors)) == (0, [])
    assert "MariaDB 11.8" in text
    assert "The same rows and values as before." in text


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("mysql-8.0", "mysql-9.7", "Imported dd version"), ("mysql-9.7", "mysql-8.0", "Imported mysqld_version"), ("mariadb-11.8", "mariadb-10.5", "Character set"),
        ("mysql-8.0", "mariadb-11.8", "MySQL 8.0 and later keep definitions in .sdi files"), ("mariadb-11.8", "mysql-8.0", "MySQL 8.0 and later keep definitions in .sdi files"),
    ],
)  # fmt: skip
def test_another_release_takes_no_copies_and_calls_none_damaged(old: str, new: str, words: str, temporary: Path, running: Callable[[str], PrivateServer]) -> None:
    server = running(old)
    with shop(server):
        status, _, errors = trial(temporary, *on(server, "--table", "shop.words", "--to", "innodb", "--server", binaries_of(new).mysqld))
    assert status == 2
    assert f"{new} cannot open the copy of shop.words: {words}" in errors
    assert "A copy needs a server of the same kind and version" in errors
    assert "damaged" not in errors
    assert ", try 2" not in errors


def test_recorded_statements_are_compared_by_kind_and_by_their_answers(mariadb: PrivateServer, temporary: Path, tmp_path: Path) -> None:
    events = [workloads.event(number % 3, number * 1000, b"SELECT name FROM words WHERE id = %d" % (number + 1), 1) for number in range(60)]
    events += [workloads.event(number % 3, number * 1000 + 500, b"INSERT INTO words (id, name) VALUES (%d, 'new')" % (ROWS + 1 + number)) for number in range(60)]
    events += [workloads.event(4, 70_000, b"SELECT COUNT(*) FROM words", 1), workloads.event(4, 70_001, b"SELECT RAND() FROM words LIMIT 3", 3)]
    events.append(workloads.event(4, 70_002, b"SELECT id FROM kept", 1))
    path = workloads.write(tmp_path / "w", sorted(events, key=lambda one: one.start_microseconds))
    with shop(mariadb):
        words = on(mariadb, "--table", "shop.words", "--table", "shop.counted", "--to", "innodb", "--workload", path)
        document = measured(temporary, *words)
        fails(temporary, "No such file", *on(mariadb, "--table", "shop.words", "--workload", tmp_path / "none"))
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    (recorded,) = document["recorded"]
    assert recorded["to"] == "InnoDB"
    # Each run began from the same rows: an INSERT of a key that is there fails, and would be another answer.
    assert recorded["problem"] == ""
    assert recorded["all"]["times"] > 0
    assert any("insert into words" in kind["name"] for kind in recorded["kinds"])
    # RAND answers otherwise by itself, and one SELECT reads a table that is not copied.
    assert (recorded["answers"]["compared"], recorded["answers"]["equal"]) == (2, 2)
    assert document["workload"]["statements"] == str(len(events))
    assert any("shop.counted stayed in MyISAM" in note for note in document["notes"])
    assert all(one["kinds"] == [] for one in document["tables"])


def test_what_one_table_does_not_bear_ends_nothing(mariadb: PrivateServer, temporary: Path) -> None:
    """A history of rows bears no TRUNCATE: no inserts are measured, and the rest is."""
    with schema(mariadb, "past"):
        mariadb.execute("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, v INT NOT NULL) ENGINE=MyISAM WITH SYSTEM VERSIONING", database="past")
        rows = ",".join(f"({number}, {number % 9})" for number in range(1500))
        mariadb.execute(f"INSERT INTO t VALUES {rows}", "FLUSH TABLES", database="past")
        document = measured(temporary, *on(mariadb, "--table", "past.t", "--to", "aria"))
    (one,) = document["tables"]
    assert (one["error"], one["checksum_equal"]) == (None, True)
    assert any(name.startswith("past.t: inserts of one row") for name in document["skipped"])
    assert "reads by key" in [kind["name"] for kind in one["kinds"]]
