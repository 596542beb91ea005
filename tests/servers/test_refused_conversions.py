"""A finding gives no ALTER to InnoDB that the server refuses: tables of each kind under a load that asks for row locks, and each ALTER is run."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.migrate.refused_here import LEAST_KEPT_SECONDS, KeptRefusals
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from tests.support.daemon import serving, wait_for
from tests.support.moved_clock import MovedClock
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of, repeating

from .conftest import error_of, on_four_servers, schema

RULE = "migrate-engine"
GOOD = {"good": "id INT PRIMARY KEY, n INT", "odd`name": "id INT, n INT, w TEXT, FULLTEXT (w)"}
REFUSED = {
    "counted": (1075, "g INT NOT NULL DEFAULT 1, id INT NOT NULL AUTO_INCREMENT, n INT, PRIMARY KEY (g, id)", ""),
    "named": (1166, "id INT PRIMARY KEY, n INT, FTS_DOC_ID INT", ""),
    "wide": (1118, "id INT PRIMARY KEY, n INT, " + ", ".join(f"c{number} CHAR(100)" for number in range(90)), "CHARSET=latin1"),
}
OF_MARIADB = {
    "kept": (4120, "id INT PRIMARY KEY, n INT WITHOUT SYSTEM VERSIONING, v INT", "WITH SYSTEM VERSIONING"),
    "hashed": (1503, "id INT, n INT, b VARCHAR(100), UNIQUE u (b) USING HASH", "PARTITION BY HASH (id) PARTITIONS 2"),
}


def refused_of(server: PrivateServer) -> dict[str, tuple[int, str, str]]:
    return {**REFUSED, **(OF_MARIADB if server.binaries.name.startswith("mariadb") else {})}


def quoted(table: str) -> str:
    return "`" + table.replace("`", "``") + "`"


def made(server: PrivateServer, names: list[str]) -> None:
    tables = {**{name: (columns, "") for name, columns in GOOD.items()}, **{name: one[1:] for name, one in refused_of(server).items()}}
    server.execute("CREATE DATABASE d")
    for name, (columns, options) in tables.items():
        server.execute(f"CREATE TABLE {quoted(name)} ({columns}) ENGINE=MyISAM {options}", database="d")
        server.execute(*(f"INSERT INTO {quoted(name)} (id, n) VALUES ({number}, 0)" for number in range(1, 41)), database="d")
        names.append(name)


def statements(names: list[str]) -> list[list[str]]:
    """Of each table one writer and one reader, who sleeps while it holds the lock."""
    pairs = ([f"UPDATE {name} SET n = n + 1 WHERE id = 7", f"SELECT COUNT(*) FROM {name} WHERE id < 11 AND SLEEP(0.005) = 0"] for name in map(quoted, names))
    return [[statement] for pair in pairs for statement in pair]


@pytest.fixture(params=["mariadb-11.8", "mysql-9.7"])
def loaded(request: pytest.FixtureRequest) -> Iterator[PrivateServer]:
    names: list[str] = []
    with CopiedServer(binaries_of(request.param)) as server:
        made(server, names)
        if request.param.startswith("mariadb"):
            server.execute("SET GLOBAL userstat = ON")
        with repeating(server, "d", *statements(names)):
            yield server


def found(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["object"]: one for one in document["findings"] if one["rule"] == RULE}


def object_of(table: str) -> str:
    return f"d.{table if table.isalnum() else quoted(table)}"


def hold(server: PrivateServer, findings: dict[str, dict[str, Any]]) -> None:
    refused = refused_of(server)
    assert set(findings) == {object_of(name) for name in (*GOOD, *refused)}
    for name, (number, *_) in refused.items():
        finding = findings[object_of(name)]
        assert finding["commands"] + finding["offered_commands"] == [], name
        assert f"error {number}: " in finding["message"], name
        assert "ALTER" not in finding["undo"] + finding["cost"], "what is not given costs nothing, and is not undone"
        assert f"`sudo myisam-advisor migrate d.{name}`" in finding["recommendation"]
    for name in GOOD:
        assert findings[object_of(name)]["offered_commands"], name
        assert "nobody could look" not in findings[object_of(name)]["recommendation"]


def test_check_gives_no_alter_that_is_refused_and_each_that_it_gives_is_taken(loaded: PrivateServer) -> None:
    done = run("check", "--socket", loaded.socket, "--user", "root", "--interval", "3s", "--format", "json")
    findings = found(json.loads(done.stdout))
    hold(loaded, findings)
    for name, (number, *_) in refused_of(loaded).items():
        assert error_of(loaded, f"ALTER TABLE d.{quoted(name)} ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0") == number
    for finding in findings.values():
        assert [error_of(loaded, one.rstrip(";")) for one in finding["offered_commands"]] == [0] * len(finding["offered_commands"])


def test_a_daemon_gives_none_either(loaded: PrivateServer) -> None:
    with serving("--socket", loaded.socket, "--user", "root", "--collect.interval", "3s") as daemon:
        daemon.looked()
        named = {object_of(name) for name in (*GOOD, *refused_of(loaded))}
        assert wait_for(lambda: set(found(json.loads(daemon.get("/advice.json").text))) == named, 60)
        hold(loaded, found(json.loads(daemon.get("/advice.json").text)))


def test_where_nobody_may_read_definitions_the_words_say_what_to_ask_first(loaded: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "facts.json"
    run("snapshot", "--socket", loaded.socket, "--user", "root", "--interval", "3s", "--output", path)
    named = found(json.loads(run("check", "--facts", path, "--format", "json").stdout))["d.named"]
    assert "ENGINE=InnoDB" in named["offered_commands"][0]
    assert "Before that, run `sudo myisam-advisor migrate d.named`." in named["recommendation"]
    assert "nobody could look for that here" in named["recommendation"]


@on_four_servers
def test_a_daemon_looks_again_at_a_table_that_was_altered_and_not_where_none_was(server: PrivateServer) -> None:
    """It called a mended table refused for ten minutes."""
    clock, names = MovedClock(), [("sh`op", "wide")]
    with schema(server, "sh`op"), Session(Target("root", socket=server.socket)) as session:
        server.execute("CREATE TABLE wide (id INT PRIMARY KEY, FTS_DOC_ID INT) ENGINE=MyISAM", database="sh`op")
        kept = KeptRefusals(lambda: session, Path("/proc"), clock)
        first = kept(names)
        assert "1166" in first[names[0]][0]
        # More than the least, whatever a look takes here; less than what it is kept for in any case.
        clock.move(5 * LEAST_KEPT_SECONDS)
        assert kept(names) is first
        server.execute("ALTER TABLE wide DROP COLUMN FTS_DOC_ID", database="sh`op")
        assert kept(names) == {names[0]: ()}
        last = kept(names)
        server.execute("ALTER TABLE wide ADD COLUMN FTS_DOC_ID INT", database="sh`op")
        assert kept(names) is last
        clock.move(5 * LEAST_KEPT_SECONDS)
        assert "1166" in kept(names)[names[0]][0]
