"""Histories with flipped bits, of other formats, locked, and made to be large: what is sound is used, and a look goes on whatever happens."""

import json
import logging
import os
import random
import sqlite3
import threading
import time
import tracemalloc
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history import file as history_file
from myisam_advisor.history import format as history_format
from myisam_advisor.history.file import open_to_read
from myisam_advisor.history.format import SAMPLE
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.reader import (
    _recent_look,
    changes_of,
    curves,
    past_of_server,
    recorded_episodes,
    recorded_facts,
    samples_of_target,
    targets_of,
)
from myisam_advisor.history.records import Records
from myisam_advisor.history.writer import History
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import NO_SILENCE
from myisam_exporter.errors import UserError
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from tests.support.thoroughness import times

FLIPS, FLIPS_OF_A_DAEMON = times(10_000, 300), times(300, 60)
LABEL, SAMPLES = "db:3306", 6
QUESTIONS = "status.Questions.per_second"


@pytest.fixture(autouse=True)
def _said_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history_file, "_said", set())


def facts(uptime: float = 100.0, caches: tuple[str, ...] = ("default",)) -> FactSet:
    return complete(
        facts_from_document(
            {
                "schema": 1, "interval_seconds": 10, "server": {"hostname": "h", "data_directory": "/d/", "uptime_seconds": uptime},
                "status_per_second": {"Questions": 7.5}, "variable": {"port": 3306, "key_buffer_size": 8388608, "myisam_recover_options": "OFF"},
                "key_cache": [{"name": name, "size_bytes": 8388608} for name in caches], "totals": {"myisam_tables": 1, "crashed_tables": 0},
                "tables": [{"schema_name": "s", "table_name": "t", "data_bytes": 5, "row_format": "dynamic", "write_statements_per_second": 1.5}],
            }
        )
    )  # fmt: skip


def finding(rule: str) -> Finding:
    return Finding(rule, "", "warning", "likely", "server", "", None, "words", (), "", "", "", "", "", ())


def held(history: History, now: float) -> dict[tuple[str, str], float]:
    """A look that found one thing; since when what holds has held."""
    kept = history.remember(LABEL, [finding("recovery-disabled")], NO_SILENCE, Clocks(now, now))
    return {key: one.first_seen for key, one in kept.since.items()} if kept else {}


def look(history: History, known: FactSet) -> dict[str, float | None]:
    return {
        value.name: value.number
        for value in history.follow(LABEL, known, TableChooser().choose(known.tables["tables"]))
    }


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six samples of a server, a minute apart until now, with a finding and a change; the named key cache is gone since a restart."""
    path, now = tmp_path / "h.sqlite", time.time()
    clock = [now - SAMPLES * 60]
    monkeypatch.setattr(time, "time", lambda: clock[0])
    history = History(path)
    for number in range(SAMPLES):
        look(history, facts(1000.0 + 60 * number, ("default", "hot") if number < SAMPLES - 1 else ("default",)))
        held(history, clock[0])
        clock[0] += 60
    history.close()
    monkeypatch.undo()
    return path


def flip(content: bytes, place: int, bit: int) -> bytes:
    return content[:place] + bytes([content[place] ^ (1 << bit)]) + content[place + 1 :]


def read_everything(path: Path) -> int | None:
    """What every command reads, and the daemon at its start; how many samples there were, None where the file as a whole is unreadable."""
    now = time.time()
    try:
        curves(path, QUESTIONS, 0)
        recorded_facts(path), recorded_episodes(path), targets_of(path), changes_of(path, LABEL)
        with open_to_read(path) as records:
            _recent_look(records, history_format.identity("h", 3306, "/d/"), now - 1300, now)
        past_of_server(path, history_format.identity("h", 3306, "/d/"), now, None)
        samples = samples_of_target(path, LABEL, 0, 1e11)
    except UserError:
        return None
    assert all(sample.get(QUESTIONS) in (7.5, None) and sample for _, _, sample in samples), "a damaged sample was used"
    return len(samples)


@pytest.mark.slow
def test_flipped_bits_cost_the_damaged_sample_and_no_traceback(
    written: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    with closing(sqlite3.connect(written)) as database:
        database.execute("PRAGMA journal_mode=DELETE")  # else each reading makes and drops two files beside it
    content, generator = written.read_bytes(), random.Random(5)
    unreadable = fewer = 0
    lost: dict[int, int] = {}
    with written.open("r+b", buffering=0) as file:
        for _ in range(FLIPS):
            place, bit = generator.randrange(len(content)), generator.randrange(8)
            file.seek(place)
            file.write(bytes([content[place] ^ (1 << bit)]))
            found = read_everything(written)
            if found is None:
                unreadable += 1
            else:
                lost[SAMPLES - found] = lost.get(SAMPLES - found, 0) + 1
                fewer += found < SAMPLES
            file.seek(place)
            file.write(content[place : place + 1])
    # The file's own head and schema are all that makes it unreadable as a whole, and a page of its index what makes more than a sample hard to find.
    print(f"{FLIPS} flips: {unreadable} unreadable, lost samples {sorted(lost.items())}")
    assert min(lost) == 0
    assert fewer > 0
    assert unreadable <= FLIPS * 0.05
    assert sum(times for samples, times in lost.items() if samples > 1) <= FLIPS * 0.01
    assert read_everything(written) == SAMPLES


@pytest.mark.slow
def test_a_daemon_that_starts_on_a_flipped_bit_judges_every_look(
    written: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    content, generator = written.read_bytes(), random.Random(6)
    site, now = Site(shipped_rules()), facts(30.0)
    choice = TableChooser().choose(now.tables["tables"])
    not_kept = 0
    for number in range(FLIPS_OF_A_DAEMON):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "h.sqlite"
        path.write_bytes(flip(content, generator.randrange(len(content)), generator.randrange(8)))
        history, board = History(path), Board(path)
        advice = Advice(lambda: site, history, board)
        for _ in range(2):
            values = {value.name: value.number for value in advice.follow(LABEL, now, choice)}
            assert values["advice_findings"] is not None
            kept = look(history, now)
        page = board.look(LABEL)
        assert page is not None
        assert {found.rule for found in page.judgement.findings} >= {"recovery-disabled"}
        not_kept += kept["history_writable"] != 1
        history.close()
    # What looks like the file of a newer version is left alone, whoever made it look so.
    assert not_kept <= FLIPS_OF_A_DAEMON * 0.02


def places_of_samples(path: Path) -> Iterator[tuple[int, int]]:
    """Where in the file the packed facts of each sample begin (some lie in overflow pages, and are left out), and how long they are."""
    content = path.read_bytes()
    with closing(sqlite3.connect(path)) as database:
        for (packed,) in database.execute("SELECT facts FROM sample ORDER BY taken_at"):
            if packed in content:
                yield content.index(packed), len(packed)


def test_a_damaged_sample_is_skipped_counted_and_said_once(written: Path, caplog: pytest.LogCaptureFixture) -> None:
    place, length = list(places_of_samples(written))[-2]
    written.write_bytes(flip(written.read_bytes(), place + length // 2, 3))
    history = History(written)
    now = facts(30.0)
    for _ in range(3):
        assert "hot" in history.with_remembered(LABEL, facts(90.0)).tables["key_cache"].values("name")
        kept = look(history, now)
    assert kept["history_damaged_entries"] == 1
    assert kept["history_writable"] == 1
    history.close()
    assert len([record for record in caplog.records if "1 damaged entry" in record.message]) == 1
    assert len(samples_of_target(written, LABEL, 0, time.time())) == SAMPLES - 1 + 3


def test_what_is_sound_of_a_file_that_is_set_aside_begins_the_new_one(written: Path) -> None:
    content = bytearray(written.read_bytes())
    with closing(sqlite3.connect(written)) as database:
        page = database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'sample_by_age'").fetchone()[0]
    content[(page - 1) * 4096 : (page - 1) * 4096 + 100] = b"\xff" * 100
    written.write_bytes(content)
    history = History(written)
    kept = look(history, facts(30.0))
    kept = look(history, facts(30.0))
    assert kept["history_writable"] == 1
    since = held(history, time.time())
    history.close()
    assert len({found.name.partition("-")[2][:15] for found in written.parent.glob("h.sqlite.corrupt-*")}) == 1
    assert len(samples_of_target(written, LABEL, 0, time.time() + 1)) >= SAMPLES
    assert time.time() - since["recovery-disabled", ""] > 300


FORMER_SCHEMA = """
CREATE TABLE target (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE sample (target INTEGER NOT NULL, taken_at REAL NOT NULL, interval_seconds REAL, facts BLOB NOT NULL, UNIQUE (target, taken_at));
CREATE INDEX sample_by_age ON sample (taken_at);
CREATE TABLE latest (target INTEGER PRIMARY KEY, taken_at REAL NOT NULL, identity TEXT NOT NULL, started_at REAL, facts BLOB NOT NULL);
CREATE TABLE episode (target INTEGER NOT NULL, rule TEXT NOT NULL, object TEXT NOT NULL, first_seen REAL NOT NULL, last_seen REAL NOT NULL,
    severity TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (target, rule, object, first_seen));
PRAGMA user_version=1;
"""


def test_a_file_without_checksums_is_read_and_goes_on(tmp_path: Path) -> None:
    path, now = tmp_path / "h.sqlite", time.time()
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(FORMER_SCHEMA)
        database.execute("INSERT INTO target VALUES (1, ?)", (LABEL,))
        for number, packed in enumerate(
            [zlib.compress(json.dumps({QUESTIONS: 7.5, "key_cache.size_bytes[hot]": 5}).encode()), b"damaged"]
        ):
            database.execute("INSERT INTO sample VALUES (1, ?, 10, ?)", (now - 600 + 60 * number, packed))
        database.execute(
            "INSERT INTO episode VALUES (1, 'recovery-disabled', '', ?, ?, 'warning', 'words')", (now - 600, now - 60)
        )
    assert [moment for moment, _, _ in samples_of_target(path, LABEL, 0, now)] == [now - 600]
    assert (recorded_episodes(path)[0].episode.rule, changes_of(path, LABEL), targets_of(path)) == ("recovery-disabled", [], [LABEL])
    history = History(path)
    assert held(history, now) == {("recovery-disabled", ""): now - 600}
    assert "hot" in history.with_remembered(LABEL, facts(30.0)).tables["key_cache"].values("name")
    assert look(history, facts(30.0))["history_writable"] == 1
    history.close()
    assert len(samples_of_target(path, LABEL, 0, time.time())) == 2
    assert not list(tmp_path.glob("*.corrupt-*"))


def test_the_file_of_a_newer_version_is_left_alone_and_said(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "h.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE later (a)")
        database.execute("PRAGMA user_version = 99")
    before = path.read_bytes()
    history = History(path)
    assert look(history, facts())["history_writable"] == 0
    assert history.with_remembered(LABEL, facts()).tables["key_cache"].rows
    history.close()
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["h.sqlite"]
    # Once, although each look tries again.
    (told,) = (line for line in caplog.messages if "is not kept" in line)
    assert "written by a newer version" in told
    assert "left as it is. Give another file (--history FILE), or --no-history" in told
    assert "corrupt" not in caplog.text
    with pytest.raises(UserError, match="format 99"):
        recorded_episodes(path)


def test_a_locked_history_is_waited_for_and_then_done_without(
    written: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(history_file, "WRITER_WAITS_SECONDS", 0.3)
    with closing(sqlite3.connect(written, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        started = time.monotonic()
        history = History(written)
        assert look(history, facts())["history_writable"] == 0
        assert 0.3 <= time.monotonic() - started < 3
        assert "locked" in caplog.text
        other.execute("ROLLBACK")
    assert look(history, facts())["history_writable"] == 1
    history.close()


def test_a_lock_that_is_released_in_time_is_not_noticed(written: Path) -> None:
    other = sqlite3.connect(written, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    release = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
    release.start()
    history = History(written)
    assert look(history, facts())["history_writable"] == 1
    release.join()
    other.close()
    history.close()


def test_an_entry_is_used_only_with_the_checksum_of_its_own_values(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    with closing(sqlite3.connect(path)) as database, database:
        records = Records(database)
        records.put(SAMPLE, [(1, 1000.0 + number, None, zlib.compress(b"{}")) for number in range(3)])
        database.execute("UPDATE sample SET taken_at = 2000.0 WHERE taken_at = 1000.0")
        database.execute("UPDATE sample SET facts = 'text' WHERE taken_at = 1001.0")
        assert [row[1] for row in records.rows(SAMPLE)] == [1002.0]
        assert len(records.damaged) == 2


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


@pytest.mark.parametrize("table", ["episode", "sample", "latest", "course"])
def test_a_view_in_the_place_of_a_table_is_refused(written: Path, table: str) -> None:
    with closing(sqlite3.connect(written)) as database:
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        database.execute(f"DROP TABLE IF EXISTS {table}")
        database.execute(f"CREATE VIEW {table} AS {ENDLESS} SELECT {', '.join(f'i AS {name}' for name in columns or ['i'])} FROM n")
        database.commit()
    for read in (targets_of, recorded_facts, recorded_episodes):
        with pytest.raises(UserError, match=f"'{table}' in it is not a table"):
            read(written)


# Each is one call to SQLite: gigabytes, or minutes without an end that anybody can interrupt.
WORKED_OUT = ("zeroblob(999999999)", "instr(hex(zeroblob(20000000)), hex(zeroblob(10000000)) || '1')")


@pytest.mark.parametrize("kind", ["VIRTUAL", "STORED"])
@pytest.mark.parametrize("value", WORKED_OUT)
@pytest.mark.parametrize("table", ["target", "sample", "latest", "stretch"])
def test_a_column_that_is_worked_out_is_refused(written: Path, table: str, value: str, kind: str) -> None:
    with closing(sqlite3.connect(written)) as database:
        database.execute("PRAGMA writable_schema=ON")
        definition = f"CREATE TABLE {table} (a INTEGER NOT NULL, worked_out GENERATED ALWAYS AS ({value}) {kind})"
        database.execute("UPDATE sqlite_master SET sql = ? WHERE name = ?", (definition, table))
        database.execute("DELETE FROM sqlite_master WHERE tbl_name = ? AND type = 'index'", (table,))
        database.commit()
    for read in (targets_of, recorded_facts, recorded_episodes):
        with pytest.raises(UserError, match=f"'{table}' in it has columns that are worked out"):
            read(written)


def test_an_entry_that_is_longer_than_any_may_be_is_skipped_unread(written: Path) -> None:
    with closing(sqlite3.connect(written)) as database, database:
        database.execute("INSERT INTO target (id, label) VALUES (77, zeroblob(?))", (history_format.MAXIMUM_WHOLE_BYTES + 1,))
    tracemalloc.start()
    try:
        assert targets_of(written) == [LABEL]
        assert tracemalloc.get_traced_memory()[1] < history_format.MAXIMUM_WHOLE_BYTES
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_named_pipe_beside_the_history_holds_nobody(written: Path, ending: str) -> None:
    """SQLite waits in open(2) for somebody who writes into a journal, and no signal but SIGKILL ends that; the directory is the service's user's."""
    for left in written.parent.glob(f"{written.name}-*"):
        left.unlink()
    os.mkfifo(f"{written}{ending}")
    with pytest.raises(UserError, match=f"{ending}, which SQLite opens with it, is not a regular file. Remove that"):
        recorded_facts(written)


def test_reading_ends_in_time(written: Path) -> None:
    with pytest.raises(UserError, match=r"it took longer than 0\.2 s"), open_to_read(written, 0.2) as records:
        records.database.execute(f"{ENDLESS} SELECT MAX(i) FROM n").fetchone()


def test_a_link_to_what_the_kernel_makes_up_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The service's user may lay one where root reads: /proc/kmsg held `history` and `verify` until they were killed. This file stands for it, as all may read it."""
    link = tmp_path / "history.sqlite"
    link.symlink_to("/proc/self/status")
    monkeypatch.setattr(sqlite3, "connect", lambda *_, **__: pytest.fail("it is opened"))
    with pytest.raises(UserError, match=r"holds no history \(format 0\)"), open_to_read(link):
        pass
