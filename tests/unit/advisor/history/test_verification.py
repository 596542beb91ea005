"""What a change did, by samples made up for it."""

import json
import random
import sqlite3
import subprocess
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import Measure
from myisam_advisor.cli.outcome_lines import outcome_lines
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.format import CHANGE, FORMAT, SAMPLE, SCHEMA, SETTING, TARGET
from myisam_advisor.history.missing_samples import what_is_missing
from myisam_advisor.history.noticed_changes import MAXIMUM_TABLES, Change, note_changes, read_changes, separate
from myisam_advisor.history.reader import Curve
from myisam_advisor.history.records import Records
from myisam_advisor.history.verification import (
    IMPROVED,
    NOT_ENOUGH,
    UNCHANGED,
    WORSE,
    MeasureOutcome,
    Window,
    compare_measure,
    overall,
    verdict_of,
)
from tests.support import program

SECONDS = 60
LOAD = "status.Questions.per_second"
SWITCHES = "mysqld.voluntary_switches_per_second"
# A name, what was and what is.
Noticed = tuple[str, str | None, str | None]
SEGMENTS: tuple[Noticed, ...] = (("key_cache_segments", "0", "8"),)


def run(*words: object, **environment: str) -> subprocess.CompletedProcess[str]:
    """Beside the history lies what is noted of the outcomes."""
    path = Path(str(words[words.index("--history") + 1]))
    return program.run(*words, environment={"STATE_DIRECTORY": str(path.parent / "state"), **environment})


def history(path: Path, before: float, after: float, samples: int = 60, load: tuple[float, float] = (100, 100), noise: float = 0.1, changes: Sequence[Noticed] = SEGMENTS) -> float:
    """An hour before and after a change, a sample a minute; returns the moment of the change."""
    generator = random.Random(1)
    changed = time.time() - samples * SECONDS - 120
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(SCHEMA + f"PRAGMA user_version={FORMAT};")
        records = Records(database)
        records.put(TARGET, [(1, "here")])
        for number in range(-samples, samples):
            side = int(number >= 0)
            rate = load[side] * generator.gauss(1, noise)
            facts = {LOAD: rate, SWITCHES: (before, after)[side] * rate * generator.gauss(1, noise), "mysqld.cpu_system_ratio": 0.1, "mysqld.threads_running": None,
                     "mysqld.page_cache_misses_per_second": (before, after)[side] * rate}
            records.put(SAMPLE, [(1, changed + (number + 0.5) * SECONDS, SECONDS, zlib.compress(json.dumps(facts).encode()))])
        records.put(CHANGE, [(1, changed, *change) for change in changes])
    return changed


def verdict(path: Path, *words: object) -> tuple[int, dict[str, object]]:
    done = run("verify", "--history", path, "--format", "json", *words)
    assert done.stderr == ""
    document = json.loads(done.stdout)
    (switches,) = [one for one in document["measures"] if one["name"].startswith(SWITCHES)]
    return done.returncode, document | {"switches": switches}


@pytest.mark.parametrize(("ratio", "low", "high", "expected"), [
    (0.9, 0.85, 0.99, IMPROVED), (1.1, 1.01, 1.2, WORSE),
    (0.96, 0.93, 0.99, UNCHANGED), (1.04, 1.01, 1.07, UNCHANGED),  # it is certain, and not worth a word
    (0.9, 0.75, 1.05, NOT_ENOUGH), (1.0, 0.85, 1.25, NOT_ENOUGH), (1.0, 0.75, 1.1, NOT_ENOUGH), (1.0, 0.8, 1.2, UNCHANGED),
    (None, None, None, WORSE),  # from nothing to something
])  # fmt: skip
def test_a_change_is_certain_and_worthwhile_or_it_is_none(ratio: float | None, low: float | None, high: float | None, expected: str) -> None:
    assert verdict_of("lower", ratio, low, high) == expected
    other = {IMPROVED: WORSE, WORSE: IMPROVED}
    assert verdict_of("higher", ratio, low, high) == other.get(expected, expected)


def compared(before: Sequence[float], after: Sequence[float], better: str = "lower") -> MeasureOutcome:
    points: list[tuple[float, float | None]] = [(float(moment), value) for moment, value in enumerate([*before, *after])]
    return compare_measure(Measure("x", better), Curve("here", "x", tuple(points)), None, Window(0, len(before), len(before), len(points)))


def test_a_side_alone_that_has_too_few_samples_is_not_compared() -> None:
    for before, after in ((11, 60), (60, 11)):
        found = compared([1.0] * before, [2.0] * after)
        assert (found.verdict, found.ratio, found.samples) == (NOT_ENOUGH, None, (before, after))
    assert compared([1.0] * 12, [2.0] * 12).verdict == WORSE


def one_in(every: int, samples: int) -> list[float]:
    """Samples of something that happens now and then: in the middle of each so many."""
    return [float(number % every == every // 2) for number in range(samples)]


@pytest.mark.parametrize(("before", "after"), [
    (one_in(60, 60), [0.0] * 60), ([0.0] * 60, one_in(60, 60)),  # once, and never
    (one_in(10, 60), [0.0] * 12), ([0.0] * 12, one_in(10, 60)),  # a dozen samples may well have none
    (one_in(60, 60), [value / 10 for value in one_in(60, 60)]),  # one event against another
])  # fmt: skip
def test_what_happens_in_few_samples_may_be_chance(before: Sequence[float], after: Sequence[float]) -> None:
    for better in ("lower", "higher"):
        found = compared(before, after, better)
        assert (found.verdict, found.low, found.high) == (NOT_ENOUGH, None, None)


@pytest.mark.parametrize(("before", "after", "expected"), [
    (one_in(10, 60), [0.0] * 60, IMPROVED), ([0.0] * 60, one_in(10, 60), WORSE),
    (one_in(3, 12), [0.0] * 12, IMPROVED), ([0.0] * 12, one_in(3, 12), WORSE),
    ([0.0] * 12, [0.0] * 12, UNCHANGED),
])  # fmt: skip
def test_what_would_have_been_seen_and_was_not_is_told(before: Sequence[float], after: Sequence[float], expected: str) -> None:
    assert compared(before, after).verdict == expected


def test_of_what_happens_seldom_equals_are_hardly_ever_told_as_better_or_worse() -> None:
    """Before samples without anything were drawn, six of ten were, where a dozen samples stood against sixty."""
    generator = random.Random(2)
    told = 0
    for number in range(60):
        few, many = ([float(generator.random() < 0.05) for _ in range(samples)] for samples in (12, 60))
        told += compared(*((few, many) if number % 2 else (many, few))).verdict in (IMPROVED, WORSE)
    assert told <= 6


def test_what_became_worse_is_not_hidden_by_what_improved() -> None:
    def together(*verdicts: str) -> str:
        return overall([MeasureOutcome("x", "lower", 1, 1, (60, 60), 1, 1, 1, verdict) for verdict in verdicts])

    assert together(IMPROVED, NOT_ENOUGH, WORSE, UNCHANGED) == WORSE
    assert together(UNCHANGED, NOT_ENOUGH, IMPROVED) == IMPROVED
    assert together(NOT_ENOUGH, UNCHANGED) == UNCHANGED
    assert together(NOT_ENOUGH) == together() == NOT_ENOUGH


@pytest.mark.parametrize(
    ("before", "after", "expected", "status"),
    [(50.0, 10.0, IMPROVED, 0), (50.0, 50.0, UNCHANGED, 0), (10.0, 50.0, WORSE, 1)],
)
def test_the_four_verdicts(tmp_path: Path, before: float, after: float, expected: str, status: int) -> None:
    history(tmp_path / "h", before, after, noise=0.05)
    code, document = verdict(tmp_path / "h", "key-cache-contention")
    found = document["switches"]
    assert isinstance(found, dict)
    assert found["verdict"] == expected
    assert found["low"] <= after / before * 1.1
    assert found["high"] >= after / before * 0.9
    assert code == status
    assert document["changes"] == [{"noticed_at": pytest.approx(document["changed_at"]), "name": "key_cache_segments", "old": "0", "new": "8"}]


def test_few_samples_are_not_enough_data(tmp_path: Path) -> None:
    history(tmp_path / "h", 50, 5, samples=8)
    code, document = verdict(tmp_path / "h", "key-cache-contention")
    assert document["verdict"] == NOT_ENOUGH
    assert code == 3


def test_the_load_is_divided_out_and_another_load_is_warned_of(tmp_path: Path) -> None:
    history(tmp_path / "h", 50, 50, load=(100, 500), noise=0.05)
    _, document = verdict(tmp_path / "h", "key-cache-contention")
    found = document["switches"]
    assert isinstance(found, dict)
    assert found["verdict"] == UNCHANGED
    assert "The load was" in str(document["caution"])


@pytest.mark.parametrize(("load", "said"), [((100, 1000), "times as high afterwards: this compares two loads"), ((100, 30), "The load was 0.3 times as high afterwards"), ((0, 100), "Before the change there was no load")])
def test_under_another_load_nothing_is_said_of_the_change(tmp_path: Path, load: tuple[float, float], said: str) -> None:
    """A night is no improvement: it was one, with exit status 0, and a warning above it."""
    history(tmp_path / "h", 50, 10, load=load, noise=0.05)
    done = run("verify", SWITCHES, "--history", tmp_path / "h")
    assert done.returncode == 3
    assert said in " ".join(done.stdout.split())
    assert done.stdout.rstrip().endswith("Not enough data.")
    code, document = verdict(tmp_path / "h", SWITCHES)
    assert (code, document["verdict"]) == (3, NOT_ENOUGH)


def test_text_report(tmp_path: Path) -> None:
    history(tmp_path / "h", 50, 10)
    done = run("verify", "key-cache-contention", "--history", tmp_path / "h")
    assert "key_cache_segments: 0 -> 8" in done.stdout
    assert done.stdout.rstrip().endswith("Improved.")
    assert "improved" in done.stdout


def test_any_fact_and_any_time(tmp_path: Path) -> None:
    changed = history(tmp_path / "h", 50, 10)
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(changed))
    done = run("verify", f"+{LOAD}", "--at", at, "--history", tmp_path / "h", "--format", "json")
    assert json.loads(done.stdout)["verdict"] == UNCHANGED
    # Elsewhere nothing changed.
    calm = run("verify", SWITCHES, f"--at=-{85}min", "--window", "20min", "--history", tmp_path / "h", "--format", "json")
    assert json.loads(calm.stdout)["verdict"] in (UNCHANGED, NOT_ENOUGH)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no-such-rule"], "neither a rule"), (["table-crashed"], "names nothing that a history could show"), (["--at", "yesterday"], "is not a time"),
        (["--target", "there"], "holds nothing of 'there'; it holds here"),
    ],
)  # fmt: skip
def test_bad_input(tmp_path: Path, words: list[str], message: str) -> None:
    history(tmp_path / "h", 50, 10)
    done = run("verify", "--history", tmp_path / "h", *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_no_history_and_no_change(tmp_path: Path) -> None:
    done = run("verify", "--history", tmp_path / "none")
    assert done.returncode == 2
    assert "there is no history" in done.stderr
    history(tmp_path / "h", 1, 1)
    # Empty, and as a daemon left it before changes were noted at all.
    for statement in ("DELETE FROM change", "DROP TABLE change"):
        with closing(sqlite3.connect(tmp_path / "h")) as database, database:
            database.execute(statement)
        done = run("verify", "--history", tmp_path / "h")
        assert done.returncode == 2
        assert "--at" in done.stderr


def test_from_nothing_to_something() -> None:
    assert verdict_of("lower", None, None, None) == WORSE
    assert verdict_of("higher", None, None, None) == IMPROVED


def followed(*looks: tuple[dict[str, object], float]) -> tuple[list[Change], dict[str, str | None]]:
    """The changes that were noticed, and the settings that are known after the last look."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA)
        records = Records(database)
        for number, (facts, started) in enumerate(looks):
            note_changes(records, 1, facts_from_document({"schema": 1, **facts}), started, 1000.0 + number, same_tables=False)
        return read_changes(records, 1), {name: value for _, name, value in records.rows(SETTING)}


def noted(*looks: tuple[dict[str, object], float]) -> list[str]:
    return [str(change) for change in followed(*looks)[0]]


def test_changes_of_variables_caches_tables_and_restarts_are_noticed() -> None:
    table = {"schema_name": "shop", "table_name": "orders", "row_format": "dynamic"}
    first: dict[str, object] = {"variable": {"key_buffer_size": 8388608, "hostname": "a"}, "tables": [table]}
    second: dict[str, object] = {"variable": {"key_buffer_size": 16777216, "hostname": "b"}, "tables": [{**table, "row_format": "fixed"}]}
    assert noted((first, 100), (first, 101)) == []
    assert noted((first, 100), (second, 100)) == ["key_buffer_size: 8388608 -> 16777216", "table shop.orders: dynamic, 0 packed indexes -> fixed, 0 packed indexes"]
    assert noted((first, 100), ({}, 100), (first, 100)) == []  # what is unknown for a moment did not change
    assert noted((first, 100), (first, 500), (first, 500)) == ["restart"]


def caches(key_buffer_size: int, **named: int) -> dict[str, object]:
    sizes = {"default": key_buffer_size, **named}
    return {"variable": {"key_buffer_size": key_buffer_size}, "key_cache": [{"name": name, "size_bytes": size} for name, size in sizes.items()]}


def test_another_key_buffer_is_one_change_and_named_caches_are_another() -> None:
    assert noted((caches(8), 100), (caches(16), 100)) == ["key_buffer_size: 8 -> 16"]
    assert noted((caches(8, hot=0), 100), (caches(8, hot=5), 100)) == ["named key caches: none -> hot (5)"]
    assert noted((caches(8, hot=5), 100), (caches(8), 100)) == ["named key caches: hot (5) -> none"]
    assert noted((caches(8, hot=5), 100), ({}, 100), (caches(8, hot=5), 100)) == []


def test_a_change_that_needs_a_restart_is_one_change() -> None:
    def told(*looks: tuple[dict[str, object], float]) -> list[str]:
        return [change.name for change in separate(followed(*looks)[0])]

    assert noted((caches(8), 100), (caches(16), 500)) == ["key_buffer_size: 8 -> 16", "restart"]
    assert told((caches(8), 100), (caches(16), 500)) == ["key_buffer_size"]
    assert told((caches(8), 100), (caches(8), 500)) == ["restart"]
    assert told((caches(8), 100), (caches(16), 100), (caches(16), 500)) == ["key_buffer_size", "restart"]
    # What is lost with it is a change of its own.
    assert told((caches(8, hot=5), 100), (caches(16), 500)) == ["key_buffer_size", "named key caches"]


@pytest.mark.parametrize(
    ("name", "old", "new", "variable", "expected"),
    [
        ("key_buffer_size", "8", "16", "key_buffer_size", True), ("slow_query_log", "0", "1", "key_buffer_size", False), ("restart", None, None, None, False),
        ("table_cache", "64", "400", "table_open_cache", True), ("query_cache_type", "ON", "OFF", "query_cache_size", True),
        ("named key caches", "", "hot (5)", "key_cache_segments", True), ("named key caches", "hot (5)", "", "key_cache_segments", False),
        ("table s.t", "dynamic, 2 packed indexes", "dynamic, 0 packed indexes", "PACK_KEYS", True),
        ("table s.t", "dynamic, 0 packed indexes", "fixed, 0 packed indexes", "PACK_KEYS", False),
        ("table s.t", "dynamic, 0 packed indexes", "fixed, 0 packed indexes", "ROW_FORMAT", True), ("slow_query_log", "0", "1", None, False),
    ],
)  # fmt: skip
def test_which_changes_are_those_of_a_rule(name: str, old: str | None, new: str | None, variable: str | None, expected: bool) -> None:
    assert Change(1000.0, name, old, new).is_of(variable) is expected


def test_what_a_recording_sets_for_its_time_is_no_change_of_the_server() -> None:
    def variables(file: str, **values: object) -> dict[str, object]:
        return {"variable": {"slow_query_log_file": file, **values}}

    own = variables("/d/slow.log", long_query_time=10, slow_query_log="OFF")
    recording = variables("/d/myisam-advisor-0123456789abcdef.log", long_query_time=0, slow_query_log="ON")
    changes, _ = followed((own, 100), (recording, 100), (own, 100), (variables("/d/slow.log", long_query_time=1, slow_query_log="OFF"), 100))
    assert [str(change) for change in changes] == ["long_query_time: 10 -> 1"]
    changes, _ = followed((own, 100), (variables("/d/myisam-advisor-slow.log", long_query_time=0, slow_query_log="ON"), 100))  # nobody's recording
    assert {change.name for change in changes} == {"long_query_time", "slow_query_log"}


def tables(*names: str, **more: object) -> dict[str, object]:
    return {"tables": [{"schema_name": "s", "table_name": name, "row_format": "fixed"} for name in names], **more}


def test_settings_of_tables_that_are_gone_are_dropped() -> None:
    def known(*looks: dict[str, object]) -> set[str]:
        return followed(*((facts, 100) for facts in looks))[1].keys() - {"restart"}

    both = {"table s.a", "table s.b"}
    assert known(tables("a", "b")) == both
    assert known(tables("a", "b"), tables("a")) == {"table s.a"}
    assert known(tables("a", "b"), {"totals": {"myisam_tables": 0}}) == set()
    assert known(tables("a", "b"), {"tables": [{"schema_name": "s", "table_name": name} for name in "ab"]}) == both  # there, of a format that is not known
    # Where tables may be out of sight, nothing says that one is gone.
    assert known(tables("a", "b"), {}) == both
    assert known(tables("a", "b"), tables("a", totals={"myisam_tables": None})) == both
    assert known(tables("a", "b"), tables("a", server={"local": 0})) == both


def test_so_many_tables_that_they_are_not_followed_leave_no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAXIMUM_TABLES > 1000
    monkeypatch.setattr("myisam_advisor.history.noticed_changes.MAXIMUM_TABLES", 2)
    assert followed((tables("a", "b"), 100), (tables("a", "b", "c"), 100))[1].keys() == {"restart"}


def test_as_much_time_is_compared_after_the_change_as_before_it(tmp_path: Path) -> None:
    history(tmp_path / "h", 50, 10)
    # A sample is of the minute before it: the first that is of the time after the change comes later than --settle says.
    _, document = verdict(tmp_path / "h", "key-cache-contention", "--window", "20min", "--settle", "1s")
    found = document["switches"]
    assert isinstance(found, dict)
    assert found["samples"] == [20, 20]


def test_no_name_is_cut_and_a_pipe_gets_no_frames(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history(path, 100, 50)
    lines = run("verify", "--history", path, SWITCHES, LOAD).stdout.splitlines()
    assert any(line.startswith(f"{SWITCHES}  ") and line.endswith("improved") for line in lines)
    assert all(line.isascii() for line in lines if line.startswith((SWITCHES, LOAD)))
    assert lines[-1] == "Improved."


def test_a_pipe_that_is_told_its_columns_gets_each_line_whole(tmp_path: Path) -> None:
    path = tmp_path / "history"
    history(path, 100, 50)
    lines = run("verify", "--history", path, SWITCHES, LOAD, COLUMNS="80").stdout.splitlines()
    assert SWITCHES in lines
    assert lines[lines.index(SWITCHES) + 1].endswith("  improved")
    assert all(len(line) <= 80 for line in lines)


@pytest.mark.parametrize(("width", "is_narrow"), [(80, True), (130, False)])
def test_names_are_whole_at_any_width(width: int, is_narrow: bool) -> None:
    outcome = MeasureOutcome("mysqld.voluntary_switches_per_second / status.Questions.per_second", "lower", 1234.5, 12.25, (60, 60), 0.01, 0.005, 0.02, IMPROVED)
    lines = [line.plain for line in outcome_lines([outcome], None, width)]
    assert any(line.startswith(outcome.name) for line in lines)
    assert (outcome.name in lines) == is_narrow
    assert all(len(line) <= width for line in lines)
    assert lines[-1].endswith("60, 60  improved")


@pytest.mark.parametrize(("samples", "words", "said"), [
    (60, ("--window", "5min"), "12 samples before the change and 12 after it are needed; there are 5 and 5. One is recorded every 60 s: --window takes in too few of them, give 12min or more."),
    (8, (), "there are 8 and 7. Before the change no more come: a longer --window takes in earlier ones, where the daemon ran then. Try again at "),
])  # fmt: skip
def test_too_few_samples_are_told_in_one_sentence(tmp_path: Path, samples: int, words: tuple[str, ...], said: str) -> None:
    path = tmp_path / "history"
    history(path, 100, 50, samples)
    done = run("verify", "--history", path, *words)
    assert done.returncode == 3
    text = " ".join(done.stdout.split())
    assert "Not enough data. " in text
    assert said in text
    assert SWITCHES not in text
    assert text.count("ot enough data") == 1


def test_it_names_the_minute_from_which_on_there_are_enough() -> None:
    now = time.mktime((2026, 11, 26, 14, 0, 30, 0, 0, -1))
    window = Window(now - 3660, now - 60, now, now + 3600)
    moments = [now - 60 - 10 * number for number in range(50, -1, -1)]
    assert what_is_missing((50, 0), moments, window, now).endswith("there are 50 and 0. Try again at 14:03.")
    assert what_is_missing((50, 3), moments, window, now + 3000).endswith("does it run, and does the server answer it?")
    assert what_is_missing((0, 0), [], window, now).endswith("(`myisam-advisor serve`) records them.")
