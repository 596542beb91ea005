"""`record` on the command line: options that do not fit together are named, nothing is half written."""

import json
from pathlib import Path

import pytest

from tests.support.program import run

LOG = b"# User@Host: a[a] @ localhost []  Id: 8\n# Query_time: 0.000100  Lock_time: 0.000002 Rows_sent: 2  Rows_examined: 3\nSET timestamp=1795377600;\nSELECT 'secret';\n"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "give one of --slow-log"), (["--slow-log", "a", "--general-log", "b", "--output", "c"], "not --slow-log and --general-log together"), (["--slow-log", "a"], "--output FILE"),
        (["--show", "a", "--output", "b"], "leave out --output"), (["--slow-log", "a", "--output", "b", "--literals"], "--literals is for --show"),
        (["--slow-log", "a", "--output", "b", "--yes"], "--yes is for --seconds"), (["--seconds", "0.5", "--output", "b"], "--seconds is from 1 to 3600"),
        (["--seconds", "x", "--output", "b"], "not a duration"), (["--show", "/nonexistent"], "cannot read the workload"), (["--slow-log", "/", "--output", "b"], "it is a directory"),
        (["--seconds", "5", "--output", "b"], "add --yes"), (["--slow-log", "a", "--output", "b", "--source", "performance-schema"], "--source is for --seconds"),
        (["--slow-log", "a", "--output", "b", "--from", "auto"], "--source is for --seconds"),
        (["--seconds", "5", "--output", "b", "--source", "binlog"], "'binlog' is not one of"), (["--show", "a", "--format", "xml"], "xml"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = run("record", *words)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_log_is_recorded_and_shown(tmp_path: Path) -> None:
    (tmp_path / "slow.log").write_bytes(LOG)
    done = run("record", "--slow-log", tmp_path / "slow.log", "--output", tmp_path / "w")
    assert (done.returncode, "1 statement " in done.stdout) == (0, True)
    shown = run("record", "--show", tmp_path / "w")
    assert "select ?" in shown.stdout
    assert "secret" not in shown.stdout
    assert "secret" in run("record", "--show", tmp_path / "w", "--literals").stdout
    assert json.loads(run("record", "--show", tmp_path / "w", "--format", "json").stdout)["kinds"][0]["count"] == 1
    again = run("record", "--slow-log", tmp_path / "slow.log", "--output", tmp_path / "w", "--format", "json")
    assert (again.returncode, "is there already" in again.stdout + again.stderr) == (2, True)
