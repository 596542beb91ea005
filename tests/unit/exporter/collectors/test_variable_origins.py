"""Where values come from, by the words of each product."""

from typing import Any
from unittest.mock import Mock

import pytest

from myisam_exporter.collectors.base import Context, Pair
from myisam_exporter.collectors.status import Status
from myisam_exporter.collectors.variable_origins import (
    COLLECTOR,
    NO_ROOM,
    NOT_TOLD,
    PERSISTED,
    Origin,
    VariableOrigins,
)
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import ServerVersion
from tests.support.recorded import RecordedLook

REFUSED = Unknown("no privilege")
FILE = "/etc/mysql/my.cnf"


def collected(version: ServerVersion, told: Any, persisted: Any = ()) -> VariableOrigins | Unknown:
    session = Mock(spec=Session, version=version)
    session.rows_or_unknown.side_effect = lambda statement, *_: persisted if statement == PERSISTED else told
    return COLLECTOR.collect(Context(Target("me"), session, samples={"variables": Variables({}), "status": REFUSED}))


def mysql(told: Any, persisted: Any) -> VariableOrigins | Unknown:
    return collected(ServerVersion("mysql", (8, 0, 36), ""), told, persisted)


def mariadb(*told: tuple[str, str, str | None]) -> VariableOrigins | Unknown:
    return collected(ServerVersion("mariadb", (10, 11, 6), ""), list(told))


@pytest.mark.parametrize(("flavour", "number"), [("mysql", (5, 7, 44)), ("percona", (5, 6, 51)), ("mariadb", (10, 4, 34))])
def test_before_a_server_can_tell_it_is_not_asked(flavour: str, number: tuple[int, int, int]) -> None:
    assert collected(ServerVersion(flavour, number, ""), REFUSED) is NOT_TOLD


@pytest.mark.parametrize(
    ("source", "path", "origin"),
    [
        ("GLOBAL", FILE, Origin("option_file", FILE, False)),
        ("EXPLICIT", FILE, Origin("option_file", FILE, False)),
        ("SERVER", "", Origin("option_file", None, False)),
        ("COMMAND_LINE", "", Origin("command_line", None, False)),
        ("PERSISTED", "/var/lib/mysql/mysqld-auto.cnf", Origin("persisted", None, False)),
        ("DYNAMIC", "", Origin("run_time", None, False)),
        # A word of a later release is no default, and nothing else that is known.
        ("KEYRING", "", Origin(None, None, False)),
    ],
)
def test_each_word_of_mysql(source: str, path: str, origin: Origin) -> None:
    assert mysql([("key_buffer_size", source, path)], []) == VariableOrigins({"key_buffer_size": origin})


@pytest.mark.parametrize(
    ("source", "path", "origin"),
    [
        ("CONFIG", FILE, Origin("option_file", FILE, False)),
        ("COMMAND-LINE", None, Origin("command_line", None, False)),
        ("SQL", None, Origin("run_time", None, False)),
        ("AUTO", None, Origin("automatic", None, False)),
        ("ENVIRONMENT", None, Origin(None, None, False)),
    ],
)
def test_each_word_of_mariadb_which_persists_nothing(source: str, path: str | None, origin: Origin) -> None:
    assert mariadb(("KEY_BUFFER_SIZE", source, path)) == VariableOrigins({"key_buffer_size": origin})


def test_what_set_persist_wrote_is_told_whatever_is_in_force() -> None:
    told = mysql([("key_buffer_size", "DYNAMIC", ""), ("flush", "GLOBAL", FILE)], [("key_buffer_size",), ("open_files_limit",)])
    assert told == VariableOrigins({
        "key_buffer_size": Origin("run_time", None, True), "flush": Origin("option_file", FILE, False), "open_files_limit": Origin("default", None, True),
    })  # fmt: skip


def look_at(variables: Variables, started: float) -> dict[str, object]:
    return {"variables": variables, "status": Status({"Uptime": 1000.0 - started}, asked_at=1000.0)}


@pytest.mark.parametrize(("flavour", "version", "asked"), [("mariadb", (10, 11, 6), [0, 1, 1, 1]), ("mysql", (8, 0, 36), [2, 2, 2, 2])])
def test_mariadb_is_asked_again_only_where_a_variable_differs_or_it_has_started_anew(flavour: str, version: tuple[int, int, int], asked: list[int]) -> None:
    session = Mock(spec=Session, version=ServerVersion(flavour, version, ""))
    session.rows_or_unknown.return_value = []
    variables = Variables({"flush": "OFF"})
    known = {**look_at(variables, 100.0), "variable_origins": VariableOrigins({})}
    looks = [(look_at(variables, 100.5), known), (look_at(Variables({"flush": "ON"}), 100.0), known), (look_at(variables, 100.0), {**known, "variable_origins": REFUSED}), (look_at(variables, 990.0), known)]
    for (samples, before), times in zip(looks, asked, strict=True):
        session.rows_or_unknown.reset_mock()
        COLLECTOR.collect(Context(Target("me"), session, samples=samples, before=before))
        assert session.rows_or_unknown.call_count == times


@pytest.mark.parametrize(("cache", "instances", "is_asked"), [("4000", "16", True), ("400", "16", False), ("400", "1", True), ("400", "8", True), ("", "", True)])
def test_mysql_is_not_asked_where_that_would_close_other_tables(cache: str, instances: str, is_asked: bool) -> None:
    session = Mock(spec=Session, version=ServerVersion("mysql", (8, 0, 36), ""))
    session.rows_or_unknown.return_value = []
    variables = Variables({"table_open_cache": cache, "table_open_cache_instances": instances})
    found = COLLECTOR.collect(Context(Target("me"), session, samples={"variables": variables, "status": REFUSED}))
    assert (found == NO_ROOM, session.rows_or_unknown.called) == (not is_asked, is_asked)


def test_what_is_refused_is_unknown() -> None:
    assert mysql(REFUSED, []) is REFUSED
    without = mysql([("flush", "GLOBAL", FILE)], REFUSED)
    assert without == VariableOrigins({"flush": Origin("option_file", FILE, None)}, REFUSED)
    assert isinstance(without, VariableOrigins)
    assert COLLECTOR.unknown_columns(without) == {"variable_origin.is_persisted": REFUSED}
    (block,) = COLLECTOR.facts(Pair(without))
    assert list(block.rows) == [("flush", "option_file", FILE, None)]


def test_the_recorded_machines(look: RecordedLook) -> None:
    if isinstance(found := look.collected("variable_origins"), Unknown):
        assert found == NO_ROOM  # MySQL's, with 64 tables in 16 parts
        return
    rows = {row["name"]: row for row in look.rows("variable_origins", "variable_origin")}
    assert rows["myisam_recover_options"] == {"name": "myisam_recover_options", "origin": "command_line", "option_file": None, "is_persisted": 0}
    assert rows["key_buffer_size"]["origin"] == "run_time"
