"""performance_schema's history, as servers answer: what is whole becomes events, what is not is left out by name."""

import re
from dataclasses import dataclass, field

import pytest

from myisam_advisor.workload.sources import all_sources, live_sources
from myisam_advisor.workload.sources.base import NESTED, Reading
from myisam_advisor.workload.sources.performance_schema import LOST, PREPARED, SOURCE, UNSURE
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.driver import Row

ON = dict.fromkeys(("global_instrumentation", "thread_instrumentation", "events_statements_current", "events_statements_history_long"), "YES")
OURS, SECOND = "7", 10**12
BEGAN = 100 * SECOND


def row(number: int, text: str | None, name: str = "statement/sql/select", thread: str = "40", nesting: str | None = None) -> Row:
    start = BEGAN + number * SECOND
    return (thread, str(number), name, str(start), str(start + 5 * 10**8), text, "shop", "1", "2", "3", "0", nesting)


@dataclass
class Server:
    """Answers as a server with this history. `counted` is what its summary counts beside it."""

    consumers: dict[str, str] = field(default_factory=lambda: dict(ON))
    variables: dict[str, str] = field(default_factory=lambda: {"performance_schema": "ON", "performance_schema_events_statements_history_long_size": "10000"})
    character_set: str = "utf8mb4"
    history: list[Row] = field(default_factory=list)
    counted: int = 0
    clock: int = BEGAN
    refused: int = 0
    unwatched: int = 0

    def rows(self, statement: str, *, columns: int | None = None) -> list[Row]:  # noqa: PLR0911 - one for each that is asked
        if self.refused:
            raise StatementRefusedError(self.refused, "SELECT command denied")
        if "SHOW GLOBAL VARIABLES" in statement:
            return list(self.variables.items())
        if "setup_consumers" in statement:
            return list(self.consumers.items())
        if "information_schema" in statement:
            return [(self.character_set,)]
        if "SELECT COUNT(*)" in statement:
            return [(str(self.unwatched),)]
        if "COUNT_STAR" in statement:
            return [(str(self.counted),)]
        if "CONNECTION_ID()" in statement:
            return [(OURS,)]
        if "NAME <>" in statement:
            return [("99",)]
        if "@@timestamp" in statement:
            return [(str(self.clock), "1700000000.5")]
        return self._history(statement)

    def _history(self, statement: str) -> list[Row]:
        begin, *end = (int(number) for number in re.findall(r"TIMER_END >?<?=? (\d+)", statement))
        found = [one for one in self.history if begin < int(one[4] or 0) <= (end[0] if end else 10**30)]
        if "LENGTH(SQL_TEXT)" not in statement:
            return found
        return [(one[4], "1", str(len(one[5] or ""))) for one in reversed(found)]


def watched(server: Server, *polls: list[Row]) -> tuple[list[bytes], Reading]:
    watch, reading = SOURCE.watch(server), Reading()
    events = []
    for rows in polls:
        server.history = [*server.history, *rows]
        server.counted += len(rows)
        events += list(watch.poll(reading))
    server.clock = BEGAN + 1000 * SECOND
    events += list(watch.finish(reading))
    return [event.statement for event in events], reading


def test_it_is_a_source_and_no_log() -> None:
    assert SOURCE in live_sources()
    assert SOURCE.name == "performance_schema"
    assert SOURCE.name not in {source.name for source in all_sources()}


def test_what_ended_since_the_poll_before_is_told_once_and_in_order() -> None:
    server = Server(history=[row(-5, "SELECT 'before'")])
    statements, reading = watched(server, [row(2, "SELECT 2"), row(1, "SELECT 1")], [], [row(3, "SELECT 'é'")])
    assert statements == [b"SELECT 1", b"SELECT 2", "SELECT 'é'".encode()]
    assert not reading.left_out


def test_an_event_has_what_the_history_tells() -> None:
    server = Server()
    watch = SOURCE.watch(server)
    server.history = [row(2, "SELECT 2")]
    [event] = watch.poll(Reading())
    assert event.start_microseconds == 1_700_000_002_500_000
    assert (event.connection, event.duration_microseconds, event.database, event.rows_sent, event.rows_examined, event.rows_affected, event.error) == (40, 500, b"shop", 1, 2, 3, 0)


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (row(1, "SELECT '" + "x" * 1014 + "'"), "cut off"), (row(1, "SELECT 'xxx..."), "cut off"), (row(1, "SELECT 'bad "), "cut off"),
        (row(1, "SELECT ?", "statement/sql/execute_sql"), PREPARED), (row(1, "SELECT ?", "statement/com/Execute"), PREPARED), (row(1, None, "statement/com/Quit"), "administrator command"),
        (row(1, "SELECT 1", "statement/sp/stmt"), NESTED), (row(1, "SELECT 1", nesting="STATEMENT"), NESTED),
    ],
)  # fmt: skip
def test_what_is_not_whole_is_left_out_by_name(one: Row, reason: str) -> None:
    statements, reading = watched(Server(), [one, row(2, "SELECT 2", nesting="TRANSACTION")])
    assert (statements, reading.left_out) == ([b"SELECT 2"], {reason: 1})


def test_a_question_mark_may_be_a_character_where_the_column_has_not_all_of_them() -> None:
    rows = [row(1, "SELECT 'why?'")]
    assert watched(Server(), rows)[0] == [b"SELECT 'why?'"]
    statements, reading = watched(Server(character_set="utf8mb3"), rows)
    assert (statements, reading.left_out) == ([], {UNSURE: 1})


def test_a_longer_text_is_whole_where_the_server_keeps_more() -> None:
    server = Server()
    server.variables["performance_schema_max_sql_text_length"] = "4096"
    assert len(watched(server, [row(1, "SELECT '" + "x" * 2000 + "'")])[0]) == 1


def test_our_own_and_the_servers_threads_are_no_connections() -> None:
    statements, reading = watched(Server(), [row(1, "SELECT 1", thread=OURS), row(2, "SELECT 2", thread="99")])
    assert (statements, reading.left_out) == ([], {})


def test_what_was_overwritten_is_counted_and_named() -> None:
    server = Server()
    watch, reading = SOURCE.watch(server), Reading()
    server.history, server.counted = [row(1, "SELECT 1")], 8
    assert len(list(watch.poll(reading))) == 1
    server.clock = BEGAN + 1000 * SECOND
    # What ended after the counting was counted by nobody.
    server.history = [row(2, "SELECT 2"), row(5000, "SELECT 3")]
    assert len(list(watch.finish(reading))) == 1
    assert reading.left_out == {LOST: 6}


def test_large_texts_are_asked_for_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_advisor.workload.sources.performance_schema._BATCH_BYTES", 100)
    asked: list[str] = []

    class Listening(Server):
        """Keeps what it was asked."""

        def rows(self, statement: str, *, columns: int | None = None) -> list[Row]:
            asked.append(statement)
            return super().rows(statement)

    statements, _ = watched(Listening(), [row(number, f"SELECT '{'x' * 50}{number}'") for number in range(1, 10)])
    assert len(statements) == 9
    assert len([one for one in asked if "SQL_TEXT, CURRENT_SCHEMA" in one]) >= 5


@pytest.mark.parametrize(
    ("server", "says"),
    [
        (Server(variables={"performance_schema": "OFF", "performance_schema_events_statements_history_long_size": "10000"}), "can only be switched on when the server starts"),
        (Server(variables={"performance_schema": "ON"}), "no statements in this version"), (Server(variables={}), "no statements in this version"),
        (Server(consumers={**ON, "events_statements_history_long": "NO"}), "events_statements_history_long off in setup_consumers.*UPDATE performance_schema.setup_consumers"),
        (Server(consumers={**ON, "thread_instrumentation": "NO"}), "thread_instrumentation off"), (Server(refused=1142), r"GRANT SELECT ON performance_schema\.\*"),
    ],
)  # fmt: skip
def test_a_server_that_keeps_none_is_named_with_the_remedy(server: Server, says: str) -> None:
    with pytest.raises(UserError, match=says):
        SOURCE.watch(server)


def test_what_is_not_watched_is_told() -> None:
    assert SOURCE.watch(Server()).notes().keys() == {"history"}
    notes = SOURCE.watch(Server(unwatched=3, consumers={**ON, "events_statements_history_long": "NO", "events_statements_history": "YES"})).notes()
    assert "events_statements_history:" in notes["history"]
    assert "not in it: 3" in notes["connections"]


def test_the_pause_is_for_a_quarter_of_the_ring() -> None:
    server = Server()
    server.variables["performance_schema_events_statements_history_long_size"] = "10"
    watch = SOURCE.watch(server)
    server.history = [row(number, "SELECT 1") for number in range(1, 500)]
    assert len(list(watch.poll(Reading()))) == 499
    assert watch.pause_seconds == 0.05
