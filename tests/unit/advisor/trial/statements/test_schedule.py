from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from myisam_advisor.trial.statements.definitions import FUNCTION, TRIGGER, VIEW, Definition
from myisam_advisor.trial.statements.effects import Effects
from myisam_advisor.trial.statements.material import Material
from myisam_advisor.trial.statements.records import CLOSE, OPEN, RECORD, STATEMENT, TICKET, UNLOCK, USE
from myisam_advisor.trial.statements.schedule import (
    DEFINES,
    NONE_INSERTED,
    RUN_BY_PROGRAM,
    UNKNOWN,
    USES_ANOTHER,
    Schedule,
    write_schedule,
)
from myisam_advisor.trial.statements.survey import Judging, survey
from myisam_advisor.workload.events import Event
from myisam_exporter.facts.columns import TableName
from tests.support.workloads import BEGAN, event

COPIED = {("shop", "words"), ("shop", "log")}


def missing(table: TableName) -> str:
    return "" if table in COPIED else f"{table[1]} is missing"


def scheduled(folder: Path, events: Sequence[Event], *, knows_moments: bool = False) -> Schedule:
    judging = Judging()
    return write_schedule(events, survey(events, judging), judging, folder / "s", frozenset({"shop"}), missing, knows_moments=knows_moments)


def records(schedule: Schedule, thread: int) -> list[tuple[int, int, bytes, list[tuple[int, int, int]]]]:
    """(action, handle, text, tickets) of each."""
    data, at, found = (schedule.folder / str(thread)).read_bytes(), 0, []
    while at < len(data):
        length, action, _, handle, tickets, _, _ = RECORD.unpack_from(data, at)
        at += RECORD.size
        turns = [TICKET.unpack_from(data, at + number * TICKET.size)[:3] for number in range(tickets)]
        at += tickets * TICKET.size
        found.append((action, handle, data[at : at + length], turns))
        at += length + 8 - length % 8
    return found


def tickets_of(schedule: Schedule) -> list[tuple[int, int, int]]:
    """(table, number of the write, how many before it are waited for) of each write."""
    threads = range(len(schedule.plans))
    return sorted(one[3][0] for thread in threads for one in records(schedule, thread) if one[0] == STATEMENT)


def test_each_connection_is_opened_and_closed_around_its_statements(tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, [event(1, 0, b"SELECT 1"), event(2, 10_000, b"SELECT 2"), event(2, 11_000, b"SELECT 3")])
    assert [(action, text) for action, _, text, _ in records(schedule, 0)] == [
        (OPEN, b"utf8mb4\0shop"), (STATEMENT, b"SELECT 1"), (CLOSE, b""),
        (OPEN, b"utf8mb4\0shop"), (STATEMENT, b"SELECT 2"), (STATEMENT, b"SELECT 3"), (CLOSE, b""),
    ]  # fmt: skip
    assert schedule.statements == [3]


def test_writes_to_a_table_are_numbered_in_the_order_of_the_file(tmp_path: Path) -> None:
    insert, delete = b"INSERT INTO log VALUES (1)", b"DELETE words, log FROM words JOIN log"
    schedule = scheduled(tmp_path, [event(1, 5, insert), event(2, 0, insert), event(1, 200, delete)])
    turns = {thread: [one[3] for one in records(schedule, thread) if one[0] == STATEMENT] for thread in (0, 1)}
    assert sorted(turns.values()) == [[[(0, 0, 0)], [(0, 2, 2), (1, 0, 0)]], [[(0, 1, 1)]]]
    assert schedule.writes == [3, 1]
    assert schedule.written == COPIED


def sent_by(schedule: Schedule, connection: int) -> list[tuple[int, bytes, list[tuple[int, int, int]]]]:
    """(action, text, tickets) of one that has a thread of its own, but for its beginning and end."""
    return [(action, text, turns) for action, _, text, turns in records(schedule, connection - 1) if action not in (OPEN, CLOSE)]


def test_nobody_waits_for_a_turn_with_a_lock_that_may_hold_it_up(tmp_path: Path) -> None:
    lock, insert, update = b"LOCK TABLES words WRITE, log READ", b"INSERT INTO log VALUES (1)", b"UPDATE words SET name = 'a'"
    events = [
        event(1, 0, insert), event(2, 10, insert), event(1, 20, lock), event(2, 30, update), event(1, 40, update), event(1, 50, b"LOCK TABLES log WRITE"),
        event(1, 60, insert), event(1, 70, b"UNLOCK TABLES"), event(1, 80, insert), event(2, 90, insert),
    ]  # fmt: skip
    schedule = scheduled(tmp_path, events)
    log, words = 0, 1
    assert sent_by(schedule, 1) == [
        (STATEMENT, insert, [(log, 0, 0)]),
        (STATEMENT, lock, [(words, 0, 0)]),
        # The other's update was written into the log before this one, and waits for our lock.
        (STATEMENT, update, [(words, 2, 0)]),
        (UNLOCK, b"", []),
        (STATEMENT, b"LOCK TABLES log WRITE", [(log, 2, 2)]),
        (STATEMENT, insert, [(log, 3, 0)]),
        (STATEMENT, b"UNLOCK TABLES", []),
        (STATEMENT, insert, [(log, 4, 4)]),
    ]
    assert sent_by(schedule, 2) == [(STATEMENT, insert, [(log, 1, 1)]), (STATEMENT, update, [(words, 1, 1)]), (STATEMENT, insert, [(log, 5, 5)])]
    assert schedule.writes == [6, 3]
    assert len(schedule.plans[0].kinds) == 7


def test_what_ends_lock_tables_ends_writing_without_turns(tmp_path: Path) -> None:
    insert = b"INSERT INTO log VALUES (1)"
    for ended in (b"START TRANSACTION", b"BEGIN", b"LOCK TABLES words WRITE"):
        events = [event(1, 0, b"LOCK TABLES log WRITE"), event(1, 10, ended), event(1, 20, insert)]
        assert sent_by(scheduled(tmp_path / ended.decode(), events), 1)[-1] == (STATEMENT, insert, [(0, 1, 1)])


def test_locks_that_are_asked_for_by_name_are_given_in_the_recorded_order(tmp_path: Path) -> None:
    """By their ends: the second asked before the first did, on a thread before that one's, and got it after that one had released it."""
    get, free, write = b"SELECT GET_LOCK('q', 10)", b"DO RELEASE_LOCK('q')", b"INSERT INTO log (place) VALUES (1)"
    events = [
        event(1, 100, get, duration=100), event(1, 300, write, duration=100), event(1, 500, free, duration=100),
        event(2, 50, get, duration=600), event(2, 700, write, duration=100), event(2, 900, b"SELECT RELEASE_ALL_LOCKS()", duration=100),
    ]  # fmt: skip
    schedule = scheduled(tmp_path / "s", events, knows_moments=True)
    assert [tickets for _, _, tickets in (one for thread in (2, 1) for one in sent_by(schedule, thread))] == [
        [(0, 0, 0)], [(1, 0, 0)], [(0, 1, 0)], [(0, 2, 2)], [(1, 1, 1)], [(0, 3, 0)],
    ]  # fmt: skip
    assert (list(schedule.writes), schedule.written) == ([4, 2], frozenset({("shop", "log")}))
    locked = scheduled(tmp_path / "locked", [event(1, 0, get), event(2, 200, b"LOCK TABLES log WRITE"), event(2, 400, get)])
    assert [tickets for _, _, tickets in sent_by(locked, 1)] == [[(0, 0, 0)], [(1, 0, 0)], [(0, 1, 0)]]


def test_a_write_waits_for_those_that_had_ended_before_it_began(tmp_path: Path) -> None:
    insert = b"INSERT INTO log VALUES (1)"
    # By their ends: the second began before the first had ended, the third after both, the fourth before the third; the fifth tells no duration.
    events = [
        event(1, 0, insert, duration=100), event(2, 50, insert, duration=100), event(1, 150, insert, duration=100), event(2, 149, insert, duration=200),
        event(1, 400, insert)._replace(duration_microseconds=None), event(2, 400, insert, duration=5),
    ]  # fmt: skip
    schedule = scheduled(tmp_path, events, knows_moments=True)
    assert tickets_of(schedule) == [(0, 0, 0), (0, 1, 0), (0, 2, 2), (0, 3, 1), (0, 4, 4), (0, 5, 5)]


def test_statements_stay_whole_and_bytes_that_are_no_utf8_are_sent_as_bytes(tmp_path: Path) -> None:
    statement = b"SELECT 'a\0b\r\n\xff'"
    schedule = scheduled(tmp_path, [event(1, 0, statement)])
    opened, sent, _ = records(schedule, 0)
    assert opened[2] == b"binary\0shop"
    assert sent[2] == statement


def test_what_cannot_be_sent_is_left_out_by_reason(tmp_path: Path) -> None:
    schedule = scheduled(
        tmp_path,
        [
            event(1, 0, b"SELECT * FROM kept"),
            event(1, 1, b"LOAD DATA INFILE '/etc/passwd' INTO TABLE log"),
            event(1, 2, b"ALTER TABLE words ADD x INT"),
            event(1, 3, b"SHUTDOWN"),
            event(1, 4, b"SELECT name FROM words INTO OUTFILE '/tmp/x'"),
            event(1, 5, b"SELECT name FROM words", rows=7),
        ],
    )
    assert schedule.total == 1
    assert sum(schedule.left_out.values()) == 5
    assert {"kept is missing", "LOAD DATA", "changes definitions of tables", "SHUTDOWN"} <= set(schedule.left_out)


def test_temporary_tables_are_the_connections_own(tmp_path: Path) -> None:
    schedule = scheduled(
        tmp_path,
        [
            event(1, 0, b"CREATE TEMPORARY TABLE mine SELECT id FROM words"),
            event(1, 1, b"INSERT INTO mine VALUES (1)"),
            event(1, 2, b"DROP TABLE mine"),
            event(2, 3, b"SELECT * FROM mine"),
        ],
    )
    assert schedule.total == 3
    assert schedule.left_out == {"mine is missing": 1}
    assert schedule.written == frozenset()


def test_a_temporary_table_is_gone_once_it_was_dropped(tmp_path: Path) -> None:
    events = [
        event(1, 0, b"CREATE TEMPORARY TABLE t (a INT)"), event(1, 1, b"DROP TEMPORARY TABLE t"), event(1, 2, b"DROP TABLE t"), event(1, 3, b"INSERT INTO t VALUES (1)"),
        event(2, 4, b"DROP TEMPORARY TABLE IF EXISTS log"), event(2, 5, b"INSERT INTO log VALUES (1)"),
        event(3, 6, b"CREATE TEMPORARY TABLE log (a INT)"), event(3, 7, b"DROP TABLE log"), event(3, 8, b"DROP TABLE log"),
    ]  # fmt: skip
    schedule = scheduled(tmp_path, events)
    assert schedule.left_out == {DEFINES: 2, "t is missing": 1}
    assert (schedule.written, schedule.writes) == (frozenset({("shop", "log")}), [1])
    found = survey(events, Judging())
    assert {table: use.writes for table, use in found.tables.items()} == {("shop", "t"): 1, ("shop", "log"): 1}


def test_where_no_durations_are_told_writes_go_one_by_one(tmp_path: Path) -> None:
    """As a general log of MySQL 5.7 has it: microseconds, and nothing of when statements ended."""
    insert = b"INSERT INTO log VALUES (1)"
    events = [event(number, number * 10, insert)._replace(duration_microseconds=None) for number in (1, 2, 3)]
    assert tickets_of(scheduled(tmp_path, events, knows_moments=True)) == [(0, 0, 0), (0, 1, 1), (0, 2, 2)]


def test_what_the_server_tells_of_itself_is_asked_for_though_nobody_copied_it(tmp_path: Path) -> None:
    schedule = scheduled(tmp_path, [event(1, 0, b"SELECT * FROM INFORMATION_SCHEMA.tables"), event(1, 1, b"SELECT * FROM words JOIN other")])
    assert (schedule.total, schedule.left_out) == (1, {"other is missing": 1})


def test_what_is_sent_is_counted_by_kind(tmp_path: Path) -> None:
    events = [event(1, 0, b"SELECT 1", duration=7), event(1, 1, b"SELECT 2", duration=8), event(1, 2, b"SELECT * FROM kept"), event(1, 3, b"SHOW STATUS")]
    schedule = scheduled(tmp_path, events)
    assert {schedule.kinds[kind]: (use.statements, use.microseconds) for kind, use in schedule.sent.items()} == {"select ?": (2, 15)}
    assert [schedule.kinds[kind] for kind in schedule.nameless] == ["show status"]


def test_the_database_follows_the_recording_where_no_statement_changes_it(tmp_path: Path) -> None:
    events = [
        event(1, 0, b"SELECT 1", database=None),
        event(1, 1, b"SELECT 2", database=b"shop"),
        event(1, 2, b"SELECT 3", database=b"elsewhere"),
        event(1, 3, b"USE shop", database=b"elsewhere"),
        event(1, 4, b"SELECT 4", database=b"shop"),
    ]
    actions = [(action, text) for action, _, text, _ in records(scheduled(tmp_path, events), 0)]
    assert actions[:4] == [(OPEN, b"utf8mb4\0"), (STATEMENT, b"SELECT 1"), (USE, b"shop"), (STATEMENT, b"SELECT 2")]
    assert actions[5:8] == [(STATEMENT, b"USE shop"), (USE, b"shop"), (STATEMENT, b"SELECT 4")]


def test_rows_and_errors_that_are_not_told_are_unknown(tmp_path: Path) -> None:
    told = Event(1, BEGAN, 5, b"shop", b"SELECT 1", 1, error=1146)
    schedule = scheduled(tmp_path, [told, event(1, 9, b"SELECT 2", rows=None)])
    assert list(schedule.plans[0].rows) == [1, UNKNOWN]
    assert list(schedule.plans[0].errors) == [1146, UNKNOWN]


def test_use_of_a_database_that_is_not_there_is_not_sent(tmp_path: Path) -> None:
    events = [event(1, 0, b"USE shop"), event(1, 1, b"use `Shop`"), event(1, 2, b"USE mysql"), event(1, 3, b"/* c */ USE other -- d")]
    schedule = scheduled(tmp_path, events)
    assert schedule.left_out == {USES_ANOTHER: 2}
    assert [text for action, _, text, _ in records(schedule, 0) if action == STATEMENT] == [b"USE shop", b"use `Shop`"]


def test_how_many_rows_a_write_changed_is_kept_where_it_says_something(tmp_path: Path) -> None:
    cases = [
        (b"DELETE FROM words", 5, 5), (b"DELETE FROM words", 0, 0), (b"REPLACE INTO words VALUES (1)", 2, 2), (b"UPDATE words SET a = 1", 3, 3),
        (b"UPDATE words SET a = NOW()", 0, UNKNOWN), (b"INSERT INTO words VALUES (1)", 1, 1), (b"INSERT INTO words VALUES (1)", 0, NONE_INSERTED),
        (b"INSERT INTO words VALUES (1) ON DUPLICATE KEY UPDATE a = 1", 1, UNKNOWN), (b"DELETE FROM words", None, UNKNOWN), (b"SELECT 1", 0, UNKNOWN),
    ]  # fmt: skip
    events = [event(1, number, statement)._replace(rows_affected=changed) for number, (statement, changed, _) in enumerate(cases)]
    assert list(scheduled(tmp_path, events).plans[0].changed) == [kept for _, _, kept in cases]


def test_what_a_trigger_ran_is_not_sent_beside_what_it_ran_for(tmp_path: Path) -> None:
    inner = b"INSERT INTO log (what) VALUES ('post')"
    programs = b"CREATE TRIGGER added AFTER INSERT ON words FOR EACH ROW\nBEGIN\n  " + inner + b";\n  UPDATE log SET n = 1;\nEND"
    effects = Effects(writes={("shop", "words"): frozenset({("shop", "words"), ("shop", "log")})})
    insert = b"INSERT INTO words VALUES (1), (2)"
    texts = [(1, insert), (1, inner), (2, inner), (1, b"UPDATE log SET n = 1"), (1, inner), (1, b"UPDATE log SET n = 2"), (1, inner), (1, b"SELECT 1"), (1, inner)]
    events = [event(connection, number, text) for number, (connection, text) in enumerate(texts)]

    def sent(name: str, programs: bytes) -> tuple[list[bytes], Mapping[str, int], int]:
        judging = Judging()
        schedule = write_schedule(events, survey(events, judging), judging, tmp_path / name, frozenset({"shop"}), missing, effects, programs=programs)
        return [text for thread in range(len(schedule.plans)) for action, _, text, _ in records(schedule, thread) if action == STATEMENT], schedule.left_out, sum(use.statements for use in schedule.sent.values())

    # Directly behind what runs it, and on the same connection; another's is its own, and so is what comes later.
    assert sent("log", programs) == ([insert, b"UPDATE log SET n = 2", inner, b"SELECT 1", inner, inner], {RUN_BY_PROGRAM: 3}, len(texts))
    assert len(sent("others", b"")[0]) == len(texts)


def test_programs_are_of_general_logs_alone() -> None:
    made = (Definition(TRIGGER, "shop", "added", "CREATE TRIGGER a"), Definition(VIEW, "shop", "seen", "CREATE VIEW v"), Definition(FUNCTION, "shop", "f", "CREATE FUNCTION f", problem="gone"))
    about = Material(None, [], lambda: iter(()), (), {}, described={"source": "general_log"}, definitions=made)  # type: ignore[arg-type]
    assert about.logged_programs == b"CREATE TRIGGER a"
    assert replace(about, described={"source": "slow_log"}).logged_programs == b""
