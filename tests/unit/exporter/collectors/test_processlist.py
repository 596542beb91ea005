"""Connections by state: one holds a table, one waits for it, the others are between two statements."""

import re

import pytest

from myisam_exporter.collectors.processlist import (
    PROCESSLIST,
    SYSTEM_USERS,
    THREADS,
    Connections,
    ProcesslistCollector,
)
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.server.version_number import parse_version
from tests.support.recorded import RecordedLook, RecordedSession


def test_states_are_counted(look: RecordedLook) -> None:
    rows = {(row["state"], row["command"]): row for row in look.rows("processlist", "processlist")}
    waiting = rows["Waiting for table level lock", "Query"]
    assert waiting["threads"] == 1
    assert waiting["longest_seconds"] >= 2
    assert rows["User sleep", "Query"]["longest_seconds"] >= waiting["longest_seconds"]
    asked = THREADS if look.sample("server").flavour == "mysql" else PROCESSLIST + SYSTEM_USERS
    assert sum(row["threads"] for row in rows.values()) == len(look.told(asked))


@pytest.mark.parametrize("seconds", [("2", "40", "7"), ("40", None, "2"), ("7", "2", "40")])
def test_of_a_state_the_longest_is_told(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch, seconds: tuple[str | None, ...]) -> None:
    answered = RecordedSession.rows

    def rows(session: RecordedSession, statement: str, *rest: object, **names: object) -> list[tuple[str | None, ...]]:
        if statement.startswith(PROCESSLIST):
            return [("shop", "Waiting for table level lock", "Query", one) for one in seconds]
        return answered(session, statement)

    monkeypatch.setattr(RecordedSession, "rows", rows)
    context = on_mariadb.machine.context()
    context.samples = dict(on_mariadb.second.samples)
    found = ProcesslistCollector().collect(context)
    assert isinstance(found, Connections)
    assert found.groups == {("shop", "Waiting for table level lock", "Query"): (3, 40)}


def test_our_own_connection_and_the_system_users_are_left_out(on_mariadb: RecordedLook) -> None:
    assert "ID <> CONNECTION_ID()" in PROCESSLIST
    assert len(on_mariadb.told(PROCESSLIST + SYSTEM_USERS)) == on_mariadb.number_told("SHOW GLOBAL STATUS", "Threads_connected") - 1


@pytest.mark.parametrize(("grants", "sees"), [
    ("GRANT USAGE ON *.* TO `m`@`localhost`", False),
    ("GRANT SELECT ON `shop`.* TO `m`@`localhost`", False),
    ("GRANT PROCESS ON *.* TO `m`@`localhost`", True),
    ("GRANT ALL PRIVILEGES ON *.* TO `m`@`localhost`", True),
    ("GRANT SELECT, RELOAD, PROCESS, FILE ON *.* TO 'm'@'localhost' IDENTIFIED BY PASSWORD <secret> WITH GRANT OPTION", True),
    ("GRANT USAGE ON *.* TO `m`@`localhost`\nGRANT ALL PRIVILEGES ON `shop`.* TO `m`@`localhost`", False),
    ("GRANT USAGE ON *.* TO `m`@`localhost`\nGRANT SELECT ON `PROCESS`.* TO `m`@`localhost`", False),
    ("GRANT USAGE ON *.* TO `m`@`localhost`\nGRANT SELECT ON `PROCESS_LOG`.`SUPER` TO `m`@`localhost`", False),
    ("GRANT USAGE ON *.* TO `m`@`localhost`\nGRANT PROCESS ON `a ON *.* TO `.* TO `m`@`localhost`", False),
    ("GRANT USAGE ON *.* TO `PROCESS`@`localhost`", False),
    ("GRANT SUPER ON *.* TO `m`@`localhost`", False),
    ("GRANT PROCESS_ADMIN ON *.* TO `m`@`localhost`", False),
    ("GRANT `monitor`@`%` TO `m`@`localhost`", True),
])  # fmt: skip
def test_without_the_right_to_see_others_nothing_is_counted(on_mariadb: RecordedLook, monkeypatch: pytest.MonkeyPatch, grants: str, sees: bool) -> None:
    answered = RecordedSession.rows

    def rows(session: RecordedSession, statement: str, *rest: object, **names: object) -> list[tuple[str | None, ...]]:
        if statement == "SHOW GRANTS":
            return [(line,) for line in grants.splitlines()]
        return [("m@localhost",)] if statement == "SELECT CURRENT_USER()" else answered(session, statement)

    monkeypatch.setattr(RecordedSession, "rows", rows)
    context = on_mariadb.machine.context()
    context.samples = dict(on_mariadb.second.samples)
    found = ProcesslistCollector().collect(context)
    assert isinstance(found, Connections if sees else Unknown)
    if isinstance(found, Unknown):
        assert found.remedy == "GRANT PROCESS ON *.* TO 'm'@'localhost';"


@pytest.mark.parametrize("looked", ["mysql-9.7", "mariadb-10.11"])
def test_a_right_that_is_granted_later_counts_from_when_the_server_goes_by_it(
    looks: dict[str, RecordedLook], monkeypatch: pytest.MonkeyPatch, looked: str
) -> None:
    """performance_schema is shown at once; the process list goes by what a connection was allowed when it began."""
    answered, granted = RecordedSession.rows, ["GRANT USAGE ON *.* TO `m`@`localhost`"]

    def rows(session: RecordedSession, statement: str, *rest: object, **names: object) -> list[tuple[str | None, ...]]:
        if statement == "SHOW GRANTS":
            return [(granted[0],)]
        return [("m@localhost",)] if statement == "SELECT CURRENT_USER()" else answered(session, statement)

    monkeypatch.setattr(RecordedSession, "rows", rows)
    context = looks[looked].machine.context()
    context.samples = dict(looks[looked].second.samples)
    assert isinstance(ProcesslistCollector().collect(context), Unknown)
    granted[0] = "GRANT PROCESS ON *.* TO `m`@`localhost`"
    assert isinstance(ProcesslistCollector().collect(context), Connections if looked.startswith("mysql") else Unknown)


def test_without_variables_it_is_not_known_whom_to_ask(look: RecordedLook) -> None:
    gone = Unknown("refused")
    assert look.collected("processlist", variables=gone) is gone


REPAIRING, WAITING = ("shop", "Repair with keycache", "Query", "7"), ("shop", "Waiting for table level lock", "Query", "7")
ENGINE, OTHER = ("shop", None, "Query", "0"), ("shop", "executing", "Query", "50")


@pytest.mark.parametrize(
    ("version", "threads", "is_asked"),
    [
        ("9.7.0", [OTHER, ENGINE], True), ("8.0.21", [("shop", None, "Execute", "0")], True), ("5.7.44", [ENGINE], True),
        ("9.7.0", [OTHER, ("shop", None, "Sleep", "900"), ("shop", None, "Daemon", "900")], False), ("9.7.0", [], False),
        ("5.6.22", [ENGINE], False), ("5.6.22", [("shop", None, "Query", "60")], True),
    ],
)  # fmt: skip
def test_what_an_engine_calls_its_work_is_asked_of_whom_it_tells(
    on_mysql: RecordedLook, monkeypatch: pytest.MonkeyPatch, version: str, threads: list[tuple[str | None, ...]], is_asked: bool
) -> None:
    """performance_schema has no state for it. Before MySQL 5.7 the other table costs a temporary one, so it has to have lasted."""
    asked: list[str] = []
    context = on_mysql.machine.context()
    monkeypatch.setattr(context.session, "version", parse_version(version))

    def rows(session: RecordedSession, statement: str, *rest: object, **names: object) -> list[tuple[str | None, ...]]:
        asked.append(statement)
        answers: dict[str, list[tuple[str | None, ...]]] = {
            "SHOW GRANTS": [("GRANT PROCESS ON *.* TO `m`@`localhost`",)], THREADS: threads, PROCESSLIST + SYSTEM_USERS: [REPAIRING] * max(len(threads), 1),
        }  # fmt: skip
        return answers[statement]

    monkeypatch.setattr(RecordedSession, "rows", rows)
    context.samples = dict(on_mysql.second.samples)
    found = ProcesslistCollector().collect(context)
    assert isinstance(found, Connections)
    assert (PROCESSLIST + SYSTEM_USERS in asked) == is_asked
    assert (("shop", "Repair with keycache", "Query") in found.groups) == is_asked


def test_an_answer_that_shows_fewer_connections_does_not_hide_them(on_mysql: RecordedLook, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rights on performance_schema alone: the process list then has our own connections, and would hide who waits."""
    answers: dict[str, list[tuple[str | None, ...]]] = {
        "SHOW GRANTS": [("GRANT `monitor`@`%` TO `m`@`localhost`",)], THREADS: [ENGINE, *[WAITING] * 9], PROCESSLIST + SYSTEM_USERS: [REPAIRING],
    }  # fmt: skip
    context = on_mysql.machine.context()
    monkeypatch.setattr(context.session, "version", parse_version("9.7.0"))
    monkeypatch.setattr(RecordedSession, "rows", lambda _session, statement, *_rest, **_names: answers[statement])
    context.samples = dict(on_mysql.second.samples)
    found = ProcesslistCollector().collect(context)
    assert isinstance(found, Connections)
    assert found.groups["shop", "Waiting for table level lock", "Query"] == (9, 7)


# As MySQL 5.6 and 9.7 and MariaDB 10.11 name them, with whether the applier counts.
@pytest.mark.parametrize(("state", "is_busy"), [
    ("User sleep", True), ("Updating", True), ("Reading event from the relay log", True), ("Waiting for table level lock", True), ("Waiting for table metadata lock", True),
    ("Waiting for table flush", True), ("", True), ("Slave has read all relay log; waiting for the slave I/O thread t", False), ("Waiting for an event from Coordinator", False),
    ("Replica has read all relay log; waiting for more updates", False), ("Waiting for master to send event", False), ("Queueing master event to the relay log", False),
    ("Connecting to master", False), ("Waiting for work from SQL thread", False), ("Waiting for the next event in relay log", False),
])  # fmt: skip
def test_a_replicas_applier_counts_while_it_works_or_stands_in_line(state: str, is_busy: bool) -> None:
    for asked in (THREADS, SYSTEM_USERS):
        idle, locked = re.findall(r"REGEXP '(.*?)'", asked)
        assert (not re.search(idle, state, re.IGNORECASE) or bool(re.search(locked, state, re.IGNORECASE))) is is_busy
