"""A daemon's looks: what they leave on the board and in the metrics, with a history, without one, and with one that cannot be used."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.reader import changes_of
from myisam_advisor.history.writer import History
from myisam_advisor.judging.past import GONE
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from tests.support.moved_clock import MovedClock

LABEL, FIRST_SEEN = "db", "advice_finding_first_seen_timestamp_seconds"


def facts(crashed: int, uptime: float = 5000.0) -> FactSet:
    table = {"schema_name": "s", "table_name": "t", "data_bytes": 5, "index_bytes": 1024, "row_format": "dynamic", "crashed": crashed}
    return complete(
        facts_from_document(
            {
                "schema": 1, "interval_seconds": 60, "server": {"flavour": "mariadb", "version": "10.11.6", "uptime_seconds": uptime, "data_directory": "/d/"},
                "totals": {"myisam_tables": 1, "crashed_tables": crashed}, "tables": [table], "variable": {"myisam_recover_options": "BACKUP"},
            }
        )
    )  # fmt: skip


class Daemon:
    """Looks a minute apart."""

    def __init__(self, history: History | None, clock: MovedClock) -> None:
        self.board, self.clock = Board(), clock
        self.advice = Advice(lambda: Site(shipped_rules()), history, self.board, clock)

    def look(self, crashed: int, took: float = 0.0) -> dict[tuple[str, ...], float | None]:
        known = replace(facts(crashed, 5000 + int(self.clock.monotonic())), status_read_at=self.clock.monotonic())
        self.clock.move(took)  # the rest of the look
        values = list(self.advice.follow(LABEL, known, TableChooser().choose(known.tables["tables"])))
        self.clock.move(60)
        return {(value.name, *value.labels): value.number for value in values}


def test_a_look_is_dated_by_the_history(tmp_path: Path) -> None:
    clock = MovedClock()
    daemon = Daemon(History(tmp_path / "h.sqlite", clock=clock), clock)
    daemon.look(0)
    began = clock.time()
    daemon.look(1)
    values = daemon.look(1)
    assert values[FIRST_SEEN, "table-crashed", "s.t"] == pytest.approx(began, abs=5)
    assert values["advice_rule_info", "table-crashed", "A table is crashed", ""] == 1
    look = daemon.board.look(LABEL)
    assert look is not None
    (found,) = (one for one in look.judgement.findings if one.rule == "table-crashed")
    assert found.begin_seen
    daemon.look(0)
    look = daemon.board.look(LABEL)
    assert look is not None
    assert look.past is not None
    (past,) = (one for one in look.past.episodes if one.rule == "table-crashed")
    assert look.past.standing(past) == GONE
    assert (look.past.titles or {})["table-crashed"] == "A table is crashed"


@pytest.mark.parametrize("kept", [False, True])
def test_without_a_history_that_can_be_used_the_log_tells_and_no_age_is_made_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: bool
) -> None:
    caplog.set_level(logging.INFO)
    clock, path = MovedClock(), tmp_path / "h.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA user_version = 99")  # of a newer version: it is left alone
        database.execute("CREATE TABLE later (a)")
    daemon = Daemon(History(path, clock=clock) if kept else None, clock)
    daemon.look(0)
    values = daemon.look(1)
    assert values["advice_finding", "table-crashed", "critical", "table", "s.t"] == 1
    assert values[FIRST_SEEN, "table-crashed", "s.t"] is None
    look = daemon.board.look(LABEL)
    assert look is not None
    assert look.past is None
    daemon.look(0)
    assert [line.split("; it held ")[0] for line in caplog.messages if "table-crashed" in line] == [
        "db: found: critical table-crashed s.t: A table is crashed", "db: gone: critical table-crashed s.t: A table is crashed",
    ]  # fmt: skip


def test_what_was_told_while_the_history_could_not_be_read_is_not_told_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    clock, path = MovedClock(), tmp_path / "h.sqlite"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("PRAGMA user_version = 99")
        database.execute("CREATE TABLE later (a)")
    daemon = Daemon(History(path, clock=clock), clock)
    daemon.look(1)
    path.unlink()
    values = daemon.look(1)
    assert values[FIRST_SEEN, "table-crashed", "s.t"] is not None
    assert [line for line in caplog.messages if "table-crashed" in line] == ["db: found: critical table-crashed s.t: A table is crashed"]


@pytest.mark.parametrize("kept", [False, True])
def test_a_target_that_is_watched_no_more_takes_no_memory_and_its_past_stays_in_the_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: bool
) -> None:
    monkeypatch.setattr("myisam_advisor.daemon.advice.TABLES_WORTH_KEEPING", 0)
    clock = MovedClock()
    history = History(tmp_path / "h.sqlite", clock=clock) if kept else None
    daemon = Daemon(history, clock)
    daemon.look(0)
    began = clock.time()
    daemon.look(1)
    if history is not None:
        list(history.follow(LABEL, facts(1), TableChooser().choose(facts(1).tables["tables"])))
    daemon.advice.forget(LABEL)
    daemon.advice.forget("another")
    assert not daemon.advice._memories
    assert not daemon.advice._databases
    assert not daemon.advice._announcer._lines
    assert daemon.board.look(LABEL) is None
    assert daemon.board.moment(LABEL) is None
    assert daemon.board.curves(LABEL) == {}
    if history is not None:
        history.forget(LABEL)
        assert not history._memories
        assert not history._forecasts
        assert not history._noted
        assert daemon.look(1)[FIRST_SEEN, "table-crashed", "s.t"] == pytest.approx(began, abs=5)


def test_a_look_that_takes_long_is_no_restart(tmp_path: Path) -> None:
    clock = MovedClock()
    path = tmp_path / "h.sqlite"
    daemon = Daemon(History(path, clock=clock), clock)
    for took in (0.0, 40.0, 0.0, 90.0, 1.0):
        daemon.look(0, took)
    look = daemon.board.look(LABEL)
    assert look is not None
    assert look.past is not None
    assert not look.past.restarts
    assert changes_of(path, LABEL) == []
