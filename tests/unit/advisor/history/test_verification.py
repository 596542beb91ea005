"""What a change did, by samples made up for it."""

import json
import random
import sqlite3
import subprocess
import time
import zlib
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.format import CHANGE, FORMAT, SAMPLE, SCHEMA, TARGET
from myisam_advisor.history.noticed_changes import note_changes, read_changes
from myisam_advisor.history.records import Records
from myisam_advisor.history.verification import IMPROVED, NOT_ENOUGH, UNCHANGED, WORSE, verdict_of
from tests.support import program

SECONDS = 60
LOAD = "status.Questions.per_second"
SWITCHES = "mysqld.voluntary_switches_per_second"


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """Beside the history lies what is noted of the outcomes."""
    path = Path(str(words[words.index("--history") + 1]))
    return program.run(*words, environment={"STATE_DIRECTORY": str(path.parent / "state")})


def history(path: Path, before: float, after: float, samples: int = 60, load: tuple[float, float] = (100, 100), noise: float = 0.1) -> float:
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
            facts = {LOAD: rate, SWITCHES: (before, after)[side] * rate * generator.gauss(1, noise), "mysqld.cpu_system_ratio": 0.1, "mysqld.threads_running": None}
            records.put(SAMPLE, [(1, changed + (number + 0.5) * SECONDS, SECONDS, zlib.compress(json.dumps(facts).encode()))])
        records.put(CHANGE, [(1, changed, "key_cache_segments", "0", "8")])
    return changed


def verdict(path: Path, *words: object) -> tuple[int, dict[str, object]]:
    done = run("verify", "--history", path, "--format", "json", *words)
    assert done.stderr == ""
    document = json.loads(done.stdout)
    (switches,) = [one for one in document["measures"] if one["name"].startswith(SWITCHES)]
    return done.returncode, document | {"switches": switches}


@pytest.mark.parametrize(
    ("before", "after", "expected", "status"),
    [(50.0, 10.0, IMPROVED, 0), (50.0, 50.0, UNCHANGED, 0), (10.0, 50.0, WORSE, 1)],
)
def test_the_four_verdicts(tmp_path: Path, before: float, after: float, expected: str, status: int) -> None:
    history(tmp_path / "h", before, after)
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
    history(tmp_path / "h", 50, 50, load=(100, 500))
    _, document = verdict(tmp_path / "h", "key-cache-contention")
    found = document["switches"]
    assert isinstance(found, dict)
    assert found["verdict"] == UNCHANGED
    assert "The load was" in str(document["caution"])


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
        (["no-such-rule"], "neither a rule"), (["table-crashed"], "names nothing that a history could show"), (["--at", "yesterday"], "is no time"),
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


def noted(*looks: tuple[dict[str, object], float]) -> list[str]:
    with closing(sqlite3.connect(":memory:")) as database:
        database.executescript(SCHEMA)
        records = Records(database)
        for number, (facts, started) in enumerate(looks):
            note_changes(records, 1, facts_from_document({"schema": 1, **facts}), started, 1000.0 + number)
        return [str(change) for change in read_changes(records, 1)]


def test_changes_of_variables_caches_tables_and_restarts_are_noticed() -> None:
    table = {"schema_name": "shop", "table_name": "orders", "row_format": "dynamic"}
    first: dict[str, object] = {"variable": {"key_buffer_size": 8388608, "hostname": "a"}, "tables": [table]}
    second: dict[str, object] = {"variable": {"key_buffer_size": 16777216, "hostname": "b"}, "tables": [{**table, "row_format": "fixed"}]}
    assert noted((first, 100), (first, 101)) == []
    assert noted((first, 100), (second, 100)) == ["key_buffer_size: 8388608 -> 16777216", "table shop.orders: dynamic, 0 packed indexes -> fixed, 0 packed indexes"]
    assert noted((first, 100), ({}, 100), (first, 100)) == []  # what is unknown for a moment did not change
    assert noted((first, 100), (first, 500), (first, 500)) == ["restart"]
