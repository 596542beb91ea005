"""In which order a replay sends writes: what waits for its turn, and for how long."""

from pathlib import Path

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements import sender
from myisam_advisor.trial.statements.schedule import write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, Sent, send
from myisam_advisor.trial.statements.survey import Judging, survey
from myisam_advisor.trial.statements.window import ends_of
from myisam_advisor.workload.events import Event
from tests.support import workloads

from .test_trial_replay import by_anybody, shop


def apart_seconds(server: PrivateServer, folder: Path, second_at: int, *, knows_moments: bool) -> float:
    """How long after a write of half a second another is sent, which began so many microseconds after it."""
    slow = b"UPDATE words SET name = name WHERE id = 1 AND SLEEP(0.5) = 0"
    events = [
        workloads.event(1, 0, slow, duration=500_000), workloads.event(2, 10, b"SELECT 1", 1), workloads.event(2, second_at, slow, duration=500_000),
        workloads.event(1, 2_000_000, b"SELECT 1", 1),
    ]  # fmt: skip

    judging = Judging()
    schedule = write_schedule(events, survey(events, judging), judging, folder, frozenset({"shop"}), lambda _: "", knows_moments=knows_moments)
    sent = send(server, schedule, MAXIMUM_SPEED, 60, account="root")
    assert sent.lost_turns == 0
    answers = [answer for thread in range(2) for answer in sent.answers(thread)]
    first, second = sorted(answer.begun_nanoseconds / 1e9 for answer in answers if answer.duration_nanoseconds > 4e8)
    return second - first


def test_what_overlapped_may_overlap_and_what_had_ended_is_waited_for(mariadb: PrivateServer) -> None:
    with shop(mariadb), by_anybody() as folder:
        assert apart_seconds(mariadb, folder / "a", 100_000, knows_moments=True) < 0.4
        assert apart_seconds(mariadb, folder / "b", 700_000, knows_moments=True) > 0.45
        assert apart_seconds(mariadb, folder / "c", 100_000, knows_moments=False) > 0.45


def sent_at_once(server: PrivateServer, folder: Path, events: list[Event]) -> Sent:
    """What comes of a recording with whole seconds, as fast as it goes."""
    judging = Judging()
    schedule = write_schedule(events, survey(events, judging), judging, folder, frozenset({"shop"}), lambda _: "")
    return send(server, schedule, MAXIMUM_SPEED, 60, account="root")


def test_nobody_waits_with_a_lock_for_a_turn_that_it_holds_up(mariadb: PrivateServer) -> None:
    update, insert, pause = b"UPDATE words SET name = name WHERE id = 1", b"INSERT INTO log (place) VALUES (1)", b"SELECT SLEEP(0.3)"
    # Another's write stands between a lock and what is written with it: logs have it so, where the lock waited for that write.
    inside = [(1, b"LOCK TABLES words WRITE"), (1, pause), (2, pause[:-2] + b"1)"), (2, update), (1, update), (1, b"UNLOCK TABLES")]
    # A lock waits for a write that waits for another lock of the same connection.
    again = [(1, b"LOCK TABLES log WRITE"), (2, pause[:-2] + b"1)"), (2, insert), (2, update), (1, b"LOCK TABLES words WRITE"), (1, update), (1, b"UNLOCK TABLES")]
    with shop(mariadb), by_anybody() as folder:
        for name, statements in (("inside", inside), ("again", again)):
            events = [workloads.event(connection, 1000 * number, statement, None) for number, (connection, statement) in enumerate(statements)]
            sent = sent_at_once(mariadb, folder / name, events)
            assert (name, sent.lost_turns, sent.seconds < 5) == (name, 0, True)


def test_locks_that_are_asked_for_by_name_hold_nobody_up(mariadb: PrivateServer) -> None:
    """Each connection asks for the lock as soon as it has released it, and gets it when all others had it, as a queue of writers does."""
    turn = [b"SELECT GET_LOCK('held', 10)", b"INSERT INTO log (place) VALUES (1)", b"SELECT RELEASE_LOCK('held')"]
    statements = [(connection, statement) for _ in range(20) for connection in (1, 2, 3, 4) for statement in turn]
    events = [workloads.event(connection, 1000 * number, statement, None) for number, (connection, statement) in enumerate(statements)]
    with shop(mariadb), by_anybody() as folder:
        sent = sent_at_once(mariadb, folder / "s", events)
        assert (sent.lost_turns, sent.seconds < 4) == (0, True)


def test_turns_that_do_not_come_hold_up_a_run_for_ten_seconds_in_all(mariadb: PrivateServer) -> None:
    insert = b"INSERT INTO log (place) VALUES (1)"
    statements = [
        (1, b"SELECT GET_LOCK('held', 1)"), (2, b"SELECT SLEEP(1)"), (2, b"SELECT GET_LOCK('held', 60)"), (2, insert), *[(3, insert)] * 5,
        (1, b"SELECT SLEEP(13)"), (1, b"SELECT RELEASE_LOCK('held')"), (2, b"SELECT 1"),
    ]  # fmt: skip
    events = [workloads.event(connection, 1000 * number, statement, None) for number, (connection, statement) in enumerate(statements)]
    with shop(mariadb), by_anybody() as folder:
        sent = sent_at_once(mariadb, folder / "s", events)
        assert sent.lost_turns == 5
        [begun] = [[answer.begun_nanoseconds / 1e9 for answer in answers] for answers in map(list, map(sent.answers, range(3))) if len(answers) == 5]
    assert 5 < begun[0] < begun[-1] < 12  # the lock is held for 13


def test_no_run_is_stopped_before_all_of_its_threads_have_begun(mariadb: PrivateServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a fifth of a processor a thread that began late sent nothing, and 2 of 21,329 statements passed for all that a run could send."""
    late = b"   begin()\n   if sysbench.tid == 1 then sleep_until(now() + 600000000ULL) end\n"
    monkeypatch.setattr(sender, "SCRIPT_TEXT", sender.SCRIPT_TEXT.replace(b"   begin()\n", late))
    judging, events = Judging(), [workloads.event(1 + number % 2, 1000 * number, b"SELECT name FROM words WHERE id = 1 AND SLEEP(0.01) = 1", 0) for number in range(600)]
    with shop(mariadb), by_anybody() as folder:
        schedule = write_schedule(events, survey(events, judging), judging, folder / "a", frozenset({"shop"}), lambda _: "")
        sent = send(mariadb, schedule, MAXIMUM_SPEED, 60, stop_seconds=0.3, account="root")
        assert len(ends_of(schedule, sent)) > 10
    assert sent.reports[1].begun_seconds > 0.6
    assert sent.seconds < 2  # all of it takes three


def test_a_run_is_given_up_at_its_limit(mariadb: PrivateServer) -> None:
    judging, events = Judging(), [workloads.event(1, 0, b"SELECT name FROM words WHERE id = 1 AND SLEEP(3) = 1", 1)]
    with shop(mariadb), by_anybody() as folder:
        schedule = write_schedule(events, survey(events, judging), judging, folder / "a", frozenset({"shop"}), lambda _: "")
        with pytest.raises(TrialError, match=r"did not end within 1 s: .* \(--budget\)\. For \d+ s the server had been at this \(\w.*\): select name from words where id = \? and sleep\(\?\) = \?\.$"):
            send(mariadb, schedule, MAXIMUM_SPEED, 1, account="root")
