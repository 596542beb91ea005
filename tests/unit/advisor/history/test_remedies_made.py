"""Which changes are a rule's remedy: its variable, changed the rule's way."""

import json
import math
import sqlite3
import time
import zlib
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.history.format import CHANGE, FORMAT, SAMPLE, SCHEMA, TARGET
from myisam_advisor.history.ledger import Ledger
from myisam_advisor.history.noticed_changes import Change, separate
from myisam_advisor.history.records import Records
from myisam_advisor.history.remedies_made import doubts, is_made, is_remedy, last_change, undisturbed
from myisam_exporter.errors import UserError
from tests.support import program
from tests.unit.advisor.history.test_verification import LOAD, SECONDS, Noticed, followed, history

RULES = {rule.id: rule for rule in shipped_rules()}
# What no history notices, or what has no way to go: an engine, and the file in which a layout of key caches is written down.
WITHOUT_A_WAY = {"migrate-engine", "key-cache-layout-lost"}


def test_every_shipped_rule_that_can_be_verified_says_which_way_its_variable_goes() -> None:
    assert {rule.id for rule in RULES.values() if rule.variable and rule.measures and not rule.becomes} == WITHOUT_A_WAY


@pytest.mark.parametrize(
    ("rule", "name", "old", "new", "expected"),
    [
        ("key-buffer-too-small", "key_buffer_size", "8388608", "16777216", True), ("key-buffer-too-small", "key_buffer_size", "16777216", "8388608", False),
        ("key-buffer-too-large", "key_buffer_size", "16777216", "8388608", True), ("key-buffer-too-large", "key_buffer_size", "8388608", "16777216", False),
        ("table-cache-too-small", "table_cache", "64", "400", True), ("table-cache-too-large", "table_open_cache", "64", "400", False),
        ("concurrent-insert-lock", "concurrent_insert", "AUTO", "NEVER", True), ("concurrent-insert-lock", "concurrent_insert", "AUTO", "ALWAYS", False),
        ("concurrent-insert-lock", "concurrent_insert", "NEVER", "AUTO", False), ("mmap-enable", "myisam_use_mmap", "ON", "OFF", False),
        ("query-cache-contention", "query_cache_type", "ON", "OFF", True), ("query-cache-contention", "query_cache_type", "OFF", "ON", False),
        ("query-cache-contention", "query_cache_size", "67108864", "0", True),
        ("key-cache-contention", "key_cache_segments", "0", "16", True), ("key-cache-contention", "key_cache_segments", "16", "0", False),
        ("key-cache-contention", "named key caches", "", "hot_1 (5), hot_2 (6)", True), ("key-cache-contention", "named key caches", "a (5), b (6)", "a (5)", False),
        ("pack-keys", "table s.t", "dynamic, 2 packed indexes", "dynamic, 0 packed indexes", True), ("pack-keys", "table s.t", "dynamic, 0 packed indexes", "dynamic, 2 packed indexes", False),
        # What was not known before went no way that is known.
        ("key-buffer-too-small", "key_buffer_size", None, "16777216", False), ("key-buffer-too-small", "slow_query_log", "0", "1", False),
    ],
)  # fmt: skip
def test_the_opposite_change_is_no_remedy(rule: str, name: str, old: str | None, new: str | None, expected: bool) -> None:
    assert is_remedy(Change(1000.0, name, old, new), RULES[rule]) is expected


RAISED, TAKEN_BACK = Change(1000.0, "key_buffer_size", "8", "16"), Change(5000.0, "key_buffer_size", "16", "8")
LOGGED = Change(6000.0, "slow_query_log", "0", "1")


def test_the_last_remedy_is_looked_at_and_not_what_took_it_back() -> None:
    small, large = RULES["key-buffer-too-small"], RULES["key-buffer-too-large"]
    assert last_change([RAISED, TAKEN_BACK, LOGGED], [small]) == RAISED.noticed_at
    assert last_change([RAISED, TAKEN_BACK, LOGGED], [large]) == TAKEN_BACK.noticed_at
    assert last_change([TAKEN_BACK, LOGGED], [small]) == TAKEN_BACK.noticed_at
    assert last_change([RAISED, LOGGED], [RULES["read-buffer-too-large"]]) == LOGGED.noticed_at
    assert last_change([RAISED, LOGGED], []) == LOGGED.noticed_at
    with pytest.raises(UserError, match="say when it was made"):
        last_change([], [small])


def test_doubts_are_told_of_what_was_not_done() -> None:
    small = RULES["key-buffer-too-small"]
    assert doubts([small], [RAISED]) == []
    assert doubts([small], [TAKEN_BACK]) == ["key_buffer_size went another way than key-buffer-too-small asks for: this says nothing of its advice."]
    assert doubts([small], [LOGGED]) == ["No change of key_buffer_size was noticed then: whether key-buffer-too-small was followed is not known."]
    assert doubts([RULES["page-cache-cold"], RULES["pack-keys"]], [LOGGED]) == []  # no variable, and one that is not followed where there are many tables
    assert not is_made(small, [TAKEN_BACK], said=True)
    assert is_made(small, [RAISED], said=False)


def test_what_a_table_cache_takes_with_it_is_no_further_change() -> None:
    """Advice that was followed to the letter (open_files_limit, table_open_cache, a restart) was noted as no outcome."""
    rule, cache = RULES["table-cache-too-small"], Change(1000.0, "table_open_cache", "12", "400")
    limit, definitions = Change(1000.0, "open_files_limit", "760", "6584"), Change(1000.0, "table_definition_cache", "405", "600")
    restart = Change(1000.0, "restart", None, None)
    assert separate([limit, restart, cache, definitions]) == [cache]
    assert is_made(rule, [limit, restart, cache, definitions], said=False)
    # By itself, or at another time, each is a change.
    assert separate([limit, restart]) == [limit]
    assert separate([Change(900.0, "open_files_limit", "760", "6584"), cache]) != [cache]
    assert not is_made(rule, [cache, LOGGED], said=False)


def test_other_changes_of_the_same_end_the_time_that_is_compared() -> None:
    restart = Change(3000.0, "restart", None, None)
    assert undisturbed(5000.0, [RAISED, restart, TAKEN_BACK, LOGGED]) == (1000.0, math.inf)
    assert undisturbed(1000.0, [RAISED, TAKEN_BACK]) == (-math.inf, 5000.0)
    assert undisturbed(3000.0, [RAISED, restart, TAKEN_BACK]) == (-math.inf, math.inf)
    # As `--at` takes it from what `verify --changes` prints.
    later = replace(TAKEN_BACK, noticed_at=5000.7)
    assert undisturbed(5000.0, [RAISED, later]) == (1000.0, math.inf)


@pytest.mark.parametrize(("before", "again", "samples", "said"), [
    (-1800, 1200, [29, 19], ""), (-300, 1200, [4, 19], "Before the change no more come: the same was changed at "),
    (-1800, 300, [29, 4], "After it no more come: it was changed again at "),
    # The change itself was not among the changes then, and the time before it ended before it began.
    (-20, 1200, [0, 19], "Before the change no more come: the same was changed at "), (-1800, 20, [29, 0], "After it no more come: it was changed again at "),
])  # fmt: skip
def test_what_was_taken_back_is_judged_by_the_time_that_it_held(tmp_path: Path, before: int, again: int, samples: list[int], said: str) -> None:
    """The hour after it was half an hour of the setting, and half an hour without: together a small gain."""
    changed = history(tmp_path / "h", 50, 10)
    with closing(sqlite3.connect(tmp_path / "h")) as database, database:
        Records(database).put(CHANGE, [(1, changed + before, "key_cache_segments", "16", "0"), (1, changed + again, "key_cache_segments", "8", "0")])
    words = ("verify", "key-cache-contention", "--history", tmp_path / "h")
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    document = json.loads(program.run(*words, "--format", "json", environment=state).stdout)
    assert [change["new"] for change in document["changes"]] == ["8"]
    assert list(document["window"].values()) == sorted(document["window"].values())
    assert next(one for one in document["measures"] if one["ratio"] or said)["samples"] == samples
    text = " ".join(program.run(*words, environment=state).stdout.split())
    assert "Left out is the time before 20" in text
    assert said in text
    assert "Several changes" not in text


@pytest.mark.parametrize(
    ("changes", "words", "told"),
    [
        ([("key_cache_segments", "8", "0")], ("key-cache-contention",), "key_cache_segments went another way than key-cache-contention asks for"),
        ([("slow_query_log", "0", "1")], ("key-cache-contention",), "No change of key_cache_segments was noticed then"),
    ],
)  # fmt: skip
def test_verify_says_so_and_the_ledger_takes_nothing_of_it(tmp_path: Path, changes: Sequence[Noticed], words: tuple[str, ...], told: str) -> None:
    history(tmp_path / "h", 50, 10, changes=changes)
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    shown = program.run("verify", *words, "--history", tmp_path / "h", environment=state)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert told in " ".join(shown.stdout.split())
    document = json.loads(program.run("verify", *words, "--history", tmp_path / "h", "--format", "json", environment=state).stdout)
    assert told in document["caution"]
    assert Ledger(tmp_path / "state" / "forecasts").entries() == ([], [])


def test_a_forecast_is_held_against_what_it_is_about_and_nothing_else(tmp_path: Path) -> None:
    """Of a server whose running threads nobody counted, merges fall to a tenth: that is not what a statement takes."""
    rule, changed = "sort-buffer-too-small", time.time() - 32 * SECONDS
    with closing(sqlite3.connect(tmp_path / "h")) as database, database:
        database.executescript(SCHEMA + f"PRAGMA user_version={FORMAT};")
        records = Records(database)
        records.put(TARGET, [(1, "here")])
        for minute in range(-30, 30):
            facts = {LOAD: 100.0 + minute % 3, "status.Sort_merge_passes.per_second": 100.0 if minute < 0 else 10.0, f"forecast.{rule}.low": 1.2, f"forecast.{rule}.high": 1.4}
            records.put(SAMPLE, [(1, changed + (minute + 0.5) * SECONDS, SECONDS, zlib.compress(json.dumps(facts).encode()))])
        records.put(CHANGE, [(1, changed, "sort_buffer_size", "32768", "262144")])
    state = {"STATE_DIRECTORY": str(tmp_path / "state")}
    assert program.run("verify", rule, "--history", tmp_path / "h", environment=state).returncode == 0
    (noted,) = Ledger(tmp_path / "state" / "forecasts").entries()[0]
    assert [one.name.partition(" ")[0] for one in noted.measured] == ["mysqld.threads_running", "status.Sort_merge_passes.per_second"]
    assert noted.forecast is not None
    assert noted.came_true is None
    assert noted.verdict == "improved"


@pytest.mark.parametrize("name", ["general_log", "sync_binlog", "innodb_flush_log_at_trx_commit", "innodb_buffer_pool_size", "join_buffer_size", "query_cache_limit", "performance_schema", "userstat", "flush", "long_query_time", "log_bin"])
def test_what_moves_the_same_measures_and_was_changed_with_it_shares_what_came_of_it(name: str) -> None:
    """It was not noticed, and the rule had the credit."""
    before: dict[str, object] = {"variable": {"key_buffer_size": 8, name: 1}}
    after: dict[str, object] = {"variable": {"key_buffer_size": 16, name: 0}}
    changes, _ = followed((before, 100), (after, 100))
    assert {change.name for change in changes} == {"key_buffer_size", name}
    assert not is_made(RULES["key-buffer-too-small"], changes, said=False)
    assert not is_made(RULES["key-buffer-too-small"], changes, said=True)
