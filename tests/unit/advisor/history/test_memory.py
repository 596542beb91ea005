"""Episodes from look to look: pauses, gaps in which nobody looked, restarts of server and daemon, and clocks that are set."""

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.history.curves import episodes_in_words
from myisam_advisor.history.episodes import prune_episodes
from myisam_advisor.history.format import SAMPLE
from myisam_advisor.history.memory import (
    BACK,
    CAME,
    EPISODE_GAP_SECONDS,
    MAXIMUM_EPISODES,
    MAXIMUM_FOLLOWED,
    REMEMBERED_SECONDS,
    STAYED_AWAY,
    STILL,
    WENT,
    Clocks,
    Memory,
    Turns,
)
from myisam_advisor.history.reader import recorded_episodes, unwatched
from myisam_advisor.history.records import checksum_of
from myisam_advisor.history.writer import History, Remembered
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import GONE, HOLDS, NO_SILENCE, NOT_KNOWN, Silence
from myisam_advisor.texts.moments import moment_in_words, span_in_words

NOW, LOOK = 1_763_816_400.0, 60.0
QUIET = Silence(frozenset({"lock", "disk"}), frozenset())


def finding(rule: str, about: str = "", severity: str = "warning") -> Finding:
    return Finding(rule, f"Title of {rule}", severity, "likely", "table", about, None, "words", (), "", "", "", "", "", ())


class Watched:
    """A server that is looked at each minute, by a clock of our own."""

    def __init__(self, memory: Memory | None = None, now: float = NOW) -> None:
        self.memory = memory or Memory("db", LOOK)
        self.now, self.monotonic, self.uptime = now, 5000.0, 86_400.0

    def wait(self, seconds: float = LOOK) -> None:
        self.now += seconds
        self.monotonic += seconds
        self.uptime += seconds

    def look(self, *rules: str, silence: Silence = QUIET) -> list[tuple[str, str]]:
        turns = self.turns(rules, silence)
        return [(turn.kind, turn.episode.rule) for turn in turns.turns]

    def turns(self, rules: Iterable[str] = (), silence: Silence = QUIET) -> Turns:
        turns = self.memory.look([finding(rule) for rule in rules], silence, Clocks(self.now, self.monotonic, self.uptime))
        self.wait()
        return turns


def test_a_finding_comes_and_goes_and_is_one_episode() -> None:
    server = Watched()
    assert server.look() == []
    assert server.look("lock") == [(CAME, "lock")]
    assert server.look("lock") == []
    assert server.look() == [(WENT, "lock")]
    assert server.look() == []
    (one,) = server.memory.past().episodes
    assert (one.first_seen, one.last_seen, one.gone_at) == (NOW + 60, NOW + 120, NOW + 180)
    assert one.begin_seen
    assert server.memory.since() == {}
    assert server.memory.past().standing(one) == GONE
    assert not any(server.look() for _ in range(int(EPISODE_GAP_SECONDS / LOOK) + 2)), "that it went was told"


def test_a_finding_that_flaps_is_one_episode_with_its_pauses() -> None:
    server = Watched()
    server.look()
    kinds = [kind for _ in range(6) for kind, _ in (*server.look("lock"), *server.look())]
    assert kinds == [CAME, *[WENT, BACK] * 5, WENT]
    (one,) = server.memory.past().episodes
    assert (one.pauses, one.away_seconds, one.seconds) == (5, 300.0, 600.0)
    quiet = [turn for _ in range(int(EPISODE_GAP_SECONDS / LOOK) + 2) for turn in server.look()]
    assert quiet == [(STAYED_AWAY, "lock")], "its end is told once"
    assert server.look("lock") == [(CAME, "lock")]
    assert len(server.memory.past().episodes) == 2


def test_what_nobody_can_tell_is_neither_gone_nor_there() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    for _ in range(30):
        assert server.look(silence=NO_SILENCE) == [], "a rule that lacks a fact says nothing"
    (one,) = server.memory.past().episodes
    assert (one.gone_at, server.memory.past().standing(one)) == (None, NOT_KNOWN)
    assert server.look() == [(WENT, "lock")]
    (one,) = server.memory.past().episodes
    assert one.gone_at is not None
    assert one.gone_at - one.last_seen == 31 * LOOK


def test_the_first_look_does_not_know_since_when() -> None:
    server = Watched()
    server.look("lock")
    server.look("lock", "disk")
    since = server.memory.since()
    assert (since["lock", ""].begin_seen, since["disk", ""].begin_seen) == (False, True)
    server.wait(3600)  # the server did not answer for an hour
    server.look("lock", "disk")
    since = server.memory.since()
    assert since["disk", ""].first_seen == server.now - LOOK
    assert not since["disk", ""].begin_seen, "nobody saw it come"
    past = server.memory.past()
    assert past.gaps() == [(NOW + 60, NOW + 3720)]
    assert [past.standing(one) for one in past.episodes] == [HOLDS, HOLDS, NOT_KNOWN, NOT_KNOWN]


def test_a_short_gap_does_not_part_an_episode_and_is_still_a_gap() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    server.wait(600)
    assert server.look("lock") == []
    assert server.memory.since()["lock", ""].first_seen == NOW + 60
    assert server.memory.past().gaps() == [(NOW + 60, NOW + 720)]


def test_a_clock_that_is_set_ahead_begins_anew_and_says_so() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    server.now += 86_400  # and the clock that is never set is not
    server.look("lock")
    since = server.memory.since()["lock", ""]
    assert (since.first_seen, since.begin_seen) == (server.now - LOOK, False)
    assert not any(one.seconds > 3600 for one in server.memory.past().episodes), "a day passed on the clock alone"


def test_what_a_clock_that_was_ahead_put_into_the_future_is_no_past() -> None:
    """`/advice.json` had its moments of tomorrow for a day, before all that was true."""
    server = Watched(now=NOW + 86_400)
    server.look()
    server.look("lock")
    server.now = NOW
    server.look("disk")
    server.look("lock", "disk")
    told = server.memory.past()
    assert {one.rule: one.first_seen for one in told.episodes} == {"disk": NOW, "lock": NOW + LOOK}
    assert max(one.last_seen for one in told.episodes) <= told.end == NOW + LOOK
    assert told.unnamed == 0


def test_a_clock_that_is_set_back_leaves_no_age_below_nothing() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    server.now -= 7200
    assert server.look("lock") == [(CAME, "lock")]
    server.look("lock")
    since = server.memory.since()["lock", ""]
    assert (since.seconds, since.begin_seen) == (60.0, False)
    past = server.memory.past()
    assert all(one.seconds >= 0 for one in past.episodes)
    assert [one.first_seen for one in past.episodes] == [since.first_seen], "what began in the future is no past"
    assert past.gaps() == []


def test_a_step_of_seconds_is_none() -> None:
    server = Watched()
    server.look()
    server.look("lock")
    server.now -= 90  # 30 s before the last look
    assert server.look("lock") == []
    since = server.memory.since()["lock", ""]
    assert since.begin_seen
    assert since.seconds >= 0


@pytest.mark.parametrize(
    ("clock", "uptime", "monotonic", "restarted"),
    [
        (60.0, 60.0, 60.0, False),
        (60.0, -86_000.0, 60.0, True),
        (-7140.0, -7140.0, 60.0, False),  # the clock of both was set back
        (7260.0, 7260.0, 60.0, False),
        (7260.0, 60.0, 60.0, False),  # ours alone, of a server elsewhere
        (3600.0, -82_860.0, 3600.0, True),
    ],
)
def test_a_restart_is_told_from_a_clock_that_was_set(clock: float, uptime: float, monotonic: float, restarted: bool) -> None:
    memory = Memory("db", LOOK)
    memory.look([], QUIET, Clocks(NOW, 100.0, 86_400.0))
    turns = memory.look([], QUIET, Clocks(NOW + clock, 100.0 + monotonic, 86_400.0 + uptime))
    assert (turns.restarted_at is not None) == restarted
    assert len(memory.restarts) == restarted
    if restarted:
        assert turns.restarted_at == NOW + clock - (86_400.0 + uptime)


def test_a_server_that_does_not_say_its_uptime_was_not_restarted() -> None:
    memory = Memory("db", LOOK)
    assert memory.look([], QUIET, Clocks(NOW, 1.0)).restarted_at is None
    assert memory.look([], QUIET, Clocks(NOW + 60, 61.0, 5.0)).restarted_at is None


def test_it_stays_small() -> None:
    memory = Memory("db", LOOK)
    for number in range(30):
        now = NOW + 1000 * number
        found = [finding("lock", f"s.t{number}_{one}") for one in range(MAXIMUM_FOLLOWED + 50)]
        memory.look(found, QUIET, Clocks(now, now))
    assert len(memory._episodes) <= MAXIMUM_EPISODES
    assert len(memory._latest) <= MAXIMUM_EPISODES
    assert len(memory.since()) == MAXIMUM_FOLLOWED
    assert memory.past().unnamed > 0
    memory.look([], QUIET, Clocks(NOW + 5 * REMEMBERED_SECONDS, NOW + 5 * REMEMBERED_SECONDS))
    assert (memory._episodes, memory._latest, memory._titles) == ({}, {}, {})


def remembered(path: Path, now: float, *rules: str, silence: Silence = QUIET) -> Remembered:
    """What a daemon that starts now remembers after its first look."""
    history = History(path)
    try:
        kept = history.remember("db", [finding(rule) for rule in rules], silence, Clocks(now, 1.0, 50_000.0 + now - NOW))
    finally:
        history.close()
    assert kept is not None
    return kept


def test_ages_outlive_the_daemon(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    remembered(path, NOW)
    history = History(path)
    for number in range(3):
        history.remember("db", [finding("lock")] if number else [], QUIET, Clocks(NOW + 60 * number, 60.0 * number))
    history.close()
    kept = remembered(path, NOW + 400, "lock")
    assert [(turn.kind, turn.episode.first_seen) for turn in kept.turns.turns] == [(STILL, NOW + 60)]
    assert kept.since["lock", ""].begin_seen
    assert kept.past.gaps() == [(NOW + 120, NOW + 400)]
    kept = remembered(path, NOW + 4000)
    assert [turn.kind for turn in kept.turns.turns] == [WENT]
    found = [(one.episode.gone_at, one.standing) for one in recorded_episodes(path, NOW + 4010)]
    assert found == [(NOW + 4000, GONE)]


def test_a_daemon_that_stopped_leaves_it_unknown_what_holds(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    remembered(path, NOW, "lock")
    assert [one.standing for one in recorded_episodes(path, NOW + 10)] == [HOLDS]
    assert [one.standing for one in recorded_episodes(path, NOW + 7200)] == [NOT_KNOWN]


def test_entries_in_the_future_are_not_gone_on_with(tmp_path: Path) -> None:
    """A machine whose clock was a year ahead once."""
    path, ahead = tmp_path / "h.sqlite", NOW + 365 * 86_400
    remembered(path, ahead, "lock")
    kept = remembered(path, NOW, "lock")
    assert kept.since["lock", ""].first_seen == NOW
    assert [turn.kind for turn in kept.turns.turns] == [CAME]
    assert kept.past.gaps() == []
    assert [(one.episode.first_seen, one.standing) for one in recorded_episodes(path, NOW + 5)] == [(ahead, NOT_KNOWN), (NOW, HOLDS)]


def test_a_damaged_course_leaves_the_episode_and_what_is_not_known_of_it(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    history = History(path)
    history.remember("db", [], QUIET, Clocks(NOW, 0.0))
    history.remember("db", [finding("lock")], QUIET, Clocks(NOW + 60, 60.0))
    history.remember("db", [], QUIET, Clocks(NOW + 120, 120.0))
    database = history._records
    assert database is not None
    with database.database:
        database.database.execute("UPDATE course SET pauses = 7")
        database.database.execute("UPDATE stretch SET pause_seconds = 1e9")
    history.close()
    (one,) = recorded_episodes(path, NOW + 130)
    assert (one.episode.pauses, one.episode.begin_seen, one.episode.gone_at, one.standing) == (0, False, None, NOT_KNOWN)
    kept = remembered(path, NOW + 180, "lock")
    assert kept.since["lock", ""].first_seen == NOW + 60


def test_a_moment_that_is_none_is_skipped_though_its_checksum_is_right(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    remembered(path, NOW, "lock")
    history = History(path)
    database = history._records
    assert database is not None
    row = list(database.database.execute("SELECT target, rule, object, first_seen, last_seen, severity, message FROM episode").fetchone())
    row[4] = 1e18
    with database.database:
        database.database.execute("UPDATE episode SET last_seen = ?, checksum = ?", (row[4], checksum_of("episode", row)))
    history.close()
    assert recorded_episodes(path, NOW + 5) == []
    assert remembered(path, NOW + 60, "lock").since["lock", ""].first_seen == NOW + 60


def test_what_could_not_be_written_is_written_later(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    history = History(path)
    history.remember("db", [], QUIET, Clocks(NOW, 0.0))
    records = history._records
    assert records is not None
    records.database.execute("PRAGMA query_only=ON")
    kept = history.remember("db", [finding("lock")], QUIET, Clocks(NOW + 60, 60.0))
    assert kept is not None
    assert kept.since["lock", ""].begin_seen
    records.database.execute("PRAGMA query_only=OFF")
    history.remember("db", [finding("lock")], QUIET, Clocks(NOW + 120, 120.0))
    history.close()
    (one,) = recorded_episodes(path, NOW + 125)
    assert replace(one.episode, message="") == replace(kept.since["lock", ""], last_seen=NOW + 120, message="")


def test_the_start_tells_which_history_it_is(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    history = History(path)
    assert history.in_words() == f"the history in {path} begins now"
    records = history._records
    assert records is not None
    with records.database:
        records.database.execute("INSERT INTO sample VALUES (1, 0, 60, x'00', 5)")  # damaged: its checksum is another
        records.put(SAMPLE, [(1, NOW, 60.0, b"packed")])
    assert history.in_words() == f"the history in {path} goes back to {moment_in_words(NOW, time.time())}"
    history.close()


def test_what_is_too_old_and_what_never_grows_old_goes(tmp_path: Path) -> None:
    path, day = tmp_path / "h.sqlite", 86_400.0
    for now in (NOW - 9 * day, NOW - 2 * day, NOW, NOW + 400 * day):
        remembered(path, now, "lock")
    history = History(path)
    records = history._records
    assert records is not None
    with records.database:
        prune_episodes(records.database, NOW - 7 * day, NOW + 7 * day)
        left = {
            table: [row[0] - NOW for row in records.database.execute(f"SELECT {moment} FROM {table} ORDER BY 1")]
            for table, moment in (("episode", "first_seen"), ("course", "first_seen"), ("stretch", "begun_at"))
        }
    history.close()
    assert left == {key: [-2 * day, 0.0] for key in ("episode", "course", "stretch")}


def test_a_long_episode_keeps_how_it_began(tmp_path: Path) -> None:
    """It began before what is kept, and holds still."""
    path, day = tmp_path / "h.sqlite", 86_400.0
    history = History(path)
    records = history._records
    assert records is not None
    history.remember("db", [], QUIET, Clocks(NOW, 0.0))
    for minute in range(1, 20):
        history.remember("db", [finding("lock")], QUIET, Clocks(NOW + 60 * minute, 60.0 * minute))
    with records.database:
        prune_episodes(records.database, NOW + 600, NOW + 7 * day)
    history.close()
    kept = remembered(path, NOW + 1300, "lock")
    assert (kept.since["lock", ""].first_seen, kept.since["lock", ""].begin_seen) == (NOW + 60, True)


def test_history_tells_when_nobody_looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "h.sqlite"
    for now in (NOW, NOW + 7200, NOW + 7260):
        remembered(path, now)
    assert unwatched(path, NOW + 7270) == [("db", [(NOW, NOW + 7200)])]
    assert unwatched(path, NOW + 9000) == [("db", [(NOW, NOW + 7200), (NOW + 7260, None)])]
    monkeypatch.setattr(time, "time", lambda: NOW + 9000)
    told = episodes_in_words(path).splitlines()
    since, gap = moment_in_words(NOW + 7260, NOW + 9000), span_in_words(NOW, NOW + 7200, NOW + 9000)
    assert told == ["no finding is on record", f"db was not looked at: since {since}; {gap}. What held then is not known."]


def test_history_tells_what_holds_still(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "h.sqlite"
    history = History(path)
    for minute in range(4):
        history.remember("db", [finding("lock", "s.x\x1b[2J")] if minute else [], QUIET, Clocks(NOW + 60 * minute, 60.0 * minute))
    history.close()
    monkeypatch.setattr(time, "time", lambda: NOW + 200)
    first, second = episodes_in_words(path).splitlines()
    assert first == f"since {moment_in_words(NOW + 60, NOW + 200)}, still (2 min)"
    assert second == "    warning  lock s.x\\x1b[2J: words"
    monkeypatch.setattr(time, "time", lambda: NOW + 7200)
    assert "still" not in episodes_in_words(path)
    assert "not known since" in episodes_in_words(path)
