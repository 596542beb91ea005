"""What the daemon's file does not keep for ever: the room of what was dropped, and the last facts and settings of servers that are gone."""

import os
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.history.file import pragma
from myisam_advisor.history.format import CHANGE, SAMPLE, target_id
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.reader import targets_of
from myisam_advisor.history.records import Records
from myisam_advisor.history.writer import PRUNE_EVERY_SAMPLES, History
from myisam_advisor.judging.past import NO_SILENCE
from myisam_exporter.errors import MORE_MEMORY, UserError
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from tests.support.moved_clock import MovedClock
from tests.unit.advisor.history.test_history_damage import LABEL, facts, finding

DAY, GONE = 86_400.0, "gone:3306"


def follow(history: History, label: str, known: FactSet) -> None:
    values = history.follow(label, known, TableChooser().choose(known.tables["tables"]))
    assert {value.name: value.number for value in values}["history_writable"] == 1


def targets_in(path: Path, table: str) -> set[int]:
    with closing(sqlite3.connect(path)) as database:
        return {number for (number,) in database.execute(f"SELECT target FROM {table}")}


def test_the_pages_of_samples_that_were_dropped_are_given_back(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    old = time.time() - 8 * DAY
    with closing(sqlite3.connect(path)) as database, database:
        Records(database).put(SAMPLE, ((1, old + number, None, os.urandom(4000)) for number in range(300)))
        Records(database).put(SAMPLE, [(1, old + 7 * DAY - 1, None, b"")])
    assert path.stat().st_size > 1 << 20
    history = History(path)
    follow(history, LABEL, facts())
    history.close()
    with closing(sqlite3.connect(path)) as database:
        assert pragma(database, "freelist_count") == 0
    assert path.stat().st_size < 1 << 20


def test_what_is_too_old_goes_where_the_size_leaves_less_than_a_day_of_samples(tmp_path: Path) -> None:
    """No sample told that somebody looked a day ago: findings and changes were kept for ever, and took the room of the samples."""
    path, clock = tmp_path / "h.sqlite", MovedClock()
    began = clock.time()
    history = History(path, days=2, megabytes=1, clock=clock)
    follow(history, LABEL, facts())
    history.close()
    with closing(sqlite3.connect(path)) as database, database:
        Records(database).put(CHANGE, [(target_id(LABEL), began, "key_buffer_size", "1", "2")])
    for _ in range(3 * 24 * 12):
        clock.move(300)
        history.remember(LABEL, [finding("recovery-disabled")], NO_SILENCE, Clocks(clock.time(), clock.monotonic()))
    history.close()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM sample")  # by the limit
    history = History(path, days=2, megabytes=1, clock=clock)
    follow(history, LABEL, facts())
    history.close()
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("SELECT COUNT(*) FROM change WHERE noticed_at <= ?", (began,)).fetchone() == (0,)


def test_of_a_server_that_was_removed_nothing_is_kept_after_its_last_sample(tmp_path: Path) -> None:
    path, clock = tmp_path / "h.sqlite", MovedClock()
    clock.move(-8 * DAY)
    for label, days in ((GONE, 7), (LABEL, 1), (LABEL, 0)):
        history = History(path, clock=clock)
        follow(history, label, facts())
        history.close()
        clock.move(days * DAY)
    assert targets_of(path) == [LABEL]
    assert targets_in(path, "latest") == targets_in(path, "setting") == {target_id(LABEL)}


def test_a_server_of_which_findings_are_kept_keeps_its_name(tmp_path: Path) -> None:
    path, clock = tmp_path / "h.sqlite", MovedClock()
    clock.move(-8 * DAY)
    history = History(path, clock=clock)
    follow(history, GONE, facts())
    clock.move(7 * DAY)
    follow(history, LABEL, facts())
    history.close()
    clock.move(DAY)
    history = History(path, clock=clock)
    history.remember(GONE, [finding("recovery-disabled")], NO_SILENCE, Clocks(clock.time(), clock.monotonic()))
    follow(history, LABEL, facts())
    history.close()
    assert targets_of(path) == [LABEL, GONE]


def test_a_server_that_comes_back_is_followed_anew(tmp_path: Path) -> None:
    path, clock = tmp_path / "h.sqlite", MovedClock()
    history, known = History(path, clock=clock), facts()
    follow(history, GONE, known)
    clock.move(7 * DAY)
    follow(history, LABEL, known)
    clock.move(DAY)
    for _ in range(PRUNE_EVERY_SAMPLES - 1):
        follow(history, LABEL, known)
        clock.move(1)
    assert targets_of(path) == [LABEL]
    follow(history, GONE, known)
    history.close()
    with closing(sqlite3.connect(path)) as database:
        names = [name for (name,) in database.execute("SELECT name FROM setting WHERE target = ?", (target_id(GONE),))]
    assert "table s.t" in names


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_removed_or_replaced_while_the_daemon_runs_is_written_where_others_look(tmp_path: Path, *, replaced: bool) -> None:
    path, other = tmp_path / "h.sqlite", tmp_path / "kept.sqlite"
    kept = History(other)
    follow(kept, GONE, facts())
    kept.close()
    history = History(path)
    follow(history, LABEL, facts())
    for file in tmp_path.glob("h.sqlite*"):
        file.unlink()
    if replaced:
        other.rename(path)
    follow(history, LABEL, facts())
    held = [str(file.readlink()) for file in Path("/proc/self/fd").iterdir() if file.is_symlink()]
    history.close()
    assert targets_of(path) == ([LABEL, GONE] if replaced else [LABEL])
    with closing(sqlite3.connect(path)) as database:
        # What is told once is told in the new file, too.
        assert "table s.t" in {name for (name,) in database.execute("SELECT name FROM setting WHERE target = ?", (target_id(LABEL),))}
    # The room of the old one is given back.
    assert not [one for one in held if one.startswith(str(path)) and one.endswith("(deleted)")]
    assert not list(tmp_path.glob("*damaged*"))


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o775, None])
def test_root_keeps_no_history_where_somebody_else_may_lay_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int | None) -> None:
    """The service's user has the directory of the default history, and root may start `serve` by hand: a link there had root make any file."""
    folder, victim = tmp_path / "state", tmp_path / "victim"
    folder.mkdir()
    (folder / "h.sqlite").symlink_to(victim)
    if mode is None:
        if os.geteuid() != 0:
            pytest.skip("root alone gives a directory away")
        os.chown(folder, 65534, 65534)
    else:
        folder.chmod(mode)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(UserError, match=r"root keeps no history in .*h\.sqlite: others may write there"):
        History(folder / "h.sqlite")
    assert not victim.exists()


def test_a_look_for_which_memory_is_short_pauses_the_history_and_is_no_bug(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    path = tmp_path / "h.sqlite"
    history = History(path)
    with monkeypatch.context() as patch:
        patch.setattr(Records, "put", fail)
        values = history.follow(LABEL, facts(), TableChooser().choose(facts().tables["tables"]))
        assert {value.name: value.number for value in values}["history_writable"] == 0
    assert [record.message for record in caplog.records] == [f"the history in {path} is not kept: there is not enough memory: {MORE_MEMORY}"]
    follow(history, LABEL, facts())
    history.close()
