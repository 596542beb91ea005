"""What the daemon keeps, and what check and history make of it."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from demo.demo import make_crashed_table
from myisam_advisor.history.memory import Clocks
from myisam_advisor.history.reader import curves, recent_look, recorded_episodes
from myisam_advisor.history.writer import History
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import NO_SILENCE
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.session import Session
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.moved_clock import MovedClock
from tests.support.program import run
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, on_one_server, schema, target


@pytest.fixture
def recorded(mariadb: PrivateServer, tmp_path: Path) -> Iterator[tuple[Daemon, Path]]:
    path = tmp_path / "history.sqlite"
    with serving("--socket", mariadb.socket, "--user", "root", "--history", path) as daemon:
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= 3)
        yield daemon, path


@on_one_server
def test_check_judges_the_interval_of_a_running_daemon_without_waiting(server: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    words = ["--socket", server.socket, "--user", "root", "--history", path]
    with serving(*words) as daemon:
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= 3)
        started = time.monotonic()
        done = run("check", *words)
        assert time.monotonic() - started < 5  # the default interval is 10 s
        assert done.returncode == 0, done.stderr
        assert "from the daemon's history" in " ".join(done.stdout.split())
        judge_again(words)


def judge_again(words: list[object]) -> None:
    document = json.loads(run("check", *words, "--format", "json").stdout)
    assert 0.5 < document["interval_seconds"] < 5
    assert "daemon's history" in document["origin"]
    # Who asks for an interval gets it.
    asked = json.loads(run("check", *words, "--interval", "1s", "--format", "json").stdout)
    assert asked["origin"] is None
    # Both know of the daemon's looks.
    assert document["past"]["since"]
    assert asked["past"]["until"] >= document["past"]["until"]


def test_facts_of_another_or_a_restarted_server_are_not_used(recorded: tuple[Daemon, Path], mariadb: PrivateServer) -> None:
    _, path = recorded
    with CopiedServer(binaries_of("mariadb-10.11")) as other, Session(target(other)) as session:
        assert recent_look(path, session) is None
    with Session(target(mariadb)) as session:
        assert recent_look(path, session) is not None
        daemon, _ = recorded
        daemon.stop()
        with closing(sqlite3.connect(path)) as database, database:
            database.execute("UPDATE latest SET started_at = started_at - 60")
        assert recent_look(path, session) is None


def test_a_daemon_that_ended_long_ago_is_not_a_running_one(mariadb: PrivateServer, recorded: tuple[Daemon, Path]) -> None:
    daemon, path = recorded
    daemon.stop()
    with Session(target(mariadb)) as session:
        assert recent_look(path, session) is not None
        time.sleep(3)
        assert recent_look(path, session) is None


def test_findings_carry_first_and_last_seen(mariadb: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with schema(mariadb, "bad") as name, serving("--socket", mariadb.socket, "--user", "root", "--history", path) as daemon:
        make_crashed_table(mariadb, name, "broken")
        labels = {"rule": "table-crashed", "severity": "critical", "scope": "table", "object": "bad.broken"}
        assert wait_for(lambda: daemon.get().value("advice_finding", **labels) == 1)
        first = daemon.get().value("advice_finding_first_seen_timestamp_seconds", rule="table-crashed", object="bad.broken") or 0
        assert abs(time.time() - first) < 10
        time.sleep(2)
        document = json.loads(run("check", "--socket", mariadb.socket, "--user", "root", "--history", path, "--format", "json").stdout)
        finding = next(found for found in document["findings"] if found["rule"] == "table-crashed")
        assert finding["first_seen"] == pytest.approx(first, abs=1e-3)
        assert finding["last_seen"] >= finding["first_seen"] + 1
        text = run("check", "--socket", mariadb.socket, "--user", "root", "--history", path, "--full").stdout
        assert " since " in text
        told = run("history", "--history", path).stdout
        assert "table-crashed bad.broken" in told


def test_history_draws_curves(recorded: tuple[Daemon, Path]) -> None:
    _, path = recorded
    drawn = run("history", "status.Questions.per_second", "--history", path)
    assert drawn.returncode == 0, drawn.stderr
    assert set("▁▂▃▄▅▆▇█") & set(drawn.stdout)
    assert "median" in drawn.stdout
    assert "key_cache.reads[default]" in run("history", "key_cache.reads", "--history", path).stdout
    assert "mysqld.threads" in run("history", "--list", "--history", path).stdout.split()
    wrong = run("history", "mysqld.treads", "--history", path)
    assert wrong.returncode == 2
    assert "Did you mean mysqld.threads" in wrong.stderr


def test_histories_that_cannot_be_read_are_clear_errors(tmp_path: Path, mariadb: PrivateServer) -> None:
    missing = run("history", "--history", tmp_path / "none")
    assert missing.returncode == 2
    assert "there is no history" in missing.stderr
    (tmp_path / "junk").write_bytes(b"junk" * 1000)
    for words in (["history"], ["check", "--socket", mariadb.socket, "--user", "root"]):
        broken = run(*words, "--history", tmp_path / "junk")
        assert broken.returncode == 2
        assert "cannot be read" in broken.stderr
        assert "Traceback" not in broken.stderr


def finding(rule: str) -> Finding:
    return Finding(rule, "", "warning", "likely", "server", "", None, "words", (), "", "", "", "", "", ())


@pytest.fixture(scope="module")
def facts(mariadb: PrivateServer) -> FactSet:
    return look(mariadb, 0.3)


def test_it_is_bounded_by_age_and_by_size(tmp_path: Path, facts: FactSet) -> None:
    path = tmp_path / "h.sqlite"
    clock = MovedClock()
    history = History(path, days=1, megabytes=1, clock=clock)
    choice = TableChooser().choose(facts.tables["tables"])
    clock.move(-3 * 86_400)
    for _ in range(100):
        list(history.follow("s", facts, choice))
        clock.move(60)
    clock.move(3 * 86_400)
    for _ in range(2000):
        list(history.follow("s", facts, choice))
        clock.move(60)
    history.close()
    with closing(sqlite3.connect(path)) as database, database:
        oldest, count = database.execute("SELECT MIN(taken_at), COUNT(*) FROM sample").fetchone()
    assert oldest > clock.time() - 86_400
    assert 50 < count < 1440
    assert path.stat().st_size < 2 << 20


def since(history: History, findings: list[Finding], now: float) -> dict[tuple[str, str], float]:
    kept = history.remember("s", findings, NO_SILENCE, Clocks(now, now))
    assert kept is not None
    return {key: one.first_seen for key, one in kept.since.items()}


def test_an_episode_ends_after_a_pause(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    history = History(path)
    assert since(history, [finding("a")], 1000.0) == {("a", ""): 1000.0}
    assert since(history, [finding("a")], 1500.0) == {("a", ""): 1000.0}
    assert since(history, [finding("a"), finding("b")], 9000.0) == {("a", ""): 9000.0, ("b", ""): 9000.0}
    history.close()
    found = [recorded.episode for recorded in recorded_episodes(path)]
    assert [(one.rule, one.first_seen, one.last_seen) for one in found] == [("a", 9000.0, 9000.0), ("b", 9000.0, 9000.0), ("a", 1000.0, 1500.0)]


def test_a_history_of_others_is_not_readable(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    assert path.stat().st_mode & 0o007 == 0
    assert curves(path, "mysqld.threads", 0) == []
