"""`trial engine`: copies of a server's tables on another engine; converted, compared, killed."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.servers import binaries_of

from .conftest import schema
from .test_daemon_faults import small_disk
from .test_trial import SMALL_DISK_KILOBYTES, begin, fails, measured, temporary, trial

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


def test_tables_are_converted_measured_and_one_that_fails_stops_none(flavour: PrivateServer, temporary: Path) -> None:
    with shop(flavour):
        names = ("shop.counted", "shop.words", "shop.kept", "shop.seen", "shop.wordz")
        document = measured(temporary, *on(flavour, *(word for name in names for word in ("--table", name))))
        text_before = flavour.execute("SELECT COUNT(*) FROM shop.words")
    jsonschema.validate(document, json.loads(SCHEMA.read_text()))
    found: dict[tuple[str, str], dict[str, Any]] = {(one["table_name"], one["to"]): one for one in document["tables"]}
    assert set(found) == {(table, to) for table in ("counted", "words") for to in engines_of(flavour)}
    assert found["counted", "InnoDB"]["error"]["code"] == 1075
    assert found["counted", "InnoDB"]["seconds"] is None
    for to in engines_of(flavour):
        words = found["words", to]
        assert words["error"] is None
        assert words["checksum_equal"] is True
        assert words["rows"] == ROWS
        assert words["seconds"] > 0
        assert words["bytes_before"] == words["data_bytes"] + words["index_bytes"]
        # A million bytes of rows: less than they hold would be a file that was not looked at.
        assert words["bytes_after"] > words["data_bytes"]
    assert set(document["left_out"]) == {"shop.kept", "shop.seen", "shop.wordz"}
    assert "InnoDB table" in document["left_out"]["shop.kept"]
    assert "Did you mean shop.words" in document["left_out"]["shop.wordz"]
    assert document["settings"]["innodb_flush_log_at_trx_commit"] == flavour.execute("SELECT @@innodb_flush_log_at_trx_commit")[0][0].__str__()
    assert int(document["settings"]["key_buffer_size"]) == int(document["settings"]["innodb_buffer_pool_size"])
    assert text_before == [(ROWS,)]


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
    assert (status, errors) == (0, "")
    assert "MariaDB 11.8" in text
    assert "The same rows and values as before." in text
