"""What a daemon shows of a finding that comes and goes: the page and its documents tell it on; metrics, the log and the history have what was found."""

import logging
from pathlib import Path

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.reader import recorded_episodes
from myisam_advisor.history.writer import History
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import GONE
from myisam_exporter.look.table_choice import TableChooser
from tests.support.moved_clock import MovedClock

LABEL, RULE = "db", "connection-churn"
METRIC = ("advice_finding", RULE, "info", "server", "")
COUNT = ("advice_findings", "info")


class Daemon:
    """Looks a minute apart, by one site: a reload would bring another."""

    def __init__(self, path: Path | None, clock: MovedClock) -> None:
        self.board, self.clock, site = Board(), clock, Site(shipped_rules())
        self.history = None if path is None else History(path, clock=clock)
        self.advice = Advice(lambda: site, self.history, self.board, clock)

    def look(self, connections: float) -> Finding | None:
        rates = {"Connections": connections, "Questions": 2 * connections, "Threads_created": 0.1}
        facts = complete(
            facts_from_document(
                {
                    "schema": 1, "interval_seconds": 60, "server": {"flavour": "mariadb", "version": "10.11.6", "data_directory": "/d/"},
                    "variable": {"thread_cache_size": 100}, "status_per_second": rates,
                }
            )
        )  # fmt: skip
        values = list(self.advice.follow(LABEL, facts, TableChooser().choose(facts.tables["tables"])))
        self.clock.move(60)
        look = self.board.look(LABEL)
        assert look is not None
        finding = next((one for one in look.judgement.findings if one.rule == RULE), None)
        metrics = {(value.name, *value.labels): value.number for value in values}
        assert metrics.get(METRIC) == (None if finding is None or finding.away_seconds is not None else 1)
        assert metrics[COUNT] == (1 if METRIC in metrics else None), "0 where all is seen; the tables are not here"
        return finding


@pytest.mark.parametrize("kept", [False, True])
def test_a_steady_load_near_a_limit_is_one_finding(tmp_path: Path, caplog: pytest.LogCaptureFixture, kept: bool) -> None:
    caplog.set_level(logging.INFO)
    path = tmp_path / "h.sqlite" if kept else None
    daemon = Daemon(path, MovedClock())
    assert daemon.look(40) is None
    told = [daemon.look(connections) for connections in (60, 40, 60, 40, 40, 60, 40)]
    assert all(told)
    if kept:
        assert len({one.first_seen for one in told if one}) == 1, "the episode that it is of"
        last = told[-1]
        assert last is not None
        assert last.last_seen == pytest.approx(daemon.clock.time() - 120, abs=5)
        assert path is not None
        (episode,) = (one for one in recorded_episodes(path, daemon.clock.time()) if one.episode.rule == RULE)
        assert (episode.standing, episode.episode.pauses) == (GONE, 2)
    # It stays away: told for five minutes after it was found last, the next look counted from then.
    assert [daemon.look(40) is not None for _ in range(6)] == [True] * 3 + [False] * 3
    # The log tells the first absence and the first return, as ever.
    assert [line.split(": ")[1].split(" after")[0] for line in caplog.messages if RULE in line] == ["found", "gone", "found again"]


def test_a_daemon_that_was_restarted_begins_with_what_it_finds(tmp_path: Path) -> None:
    clock, path = MovedClock(), tmp_path / "h.sqlite"
    daemon = Daemon(path, clock)
    assert daemon.look(60)
    assert daemon.look(40)
    assert daemon.history is not None
    daemon.history.close()
    daemon = Daemon(path, clock)
    assert daemon.look(40) is None
    assert daemon.look(60)
    assert daemon.look(40)


def test_a_server_that_is_watched_no_more_is_forgotten() -> None:
    daemon = Daemon(None, MovedClock())
    assert daemon.look(60)
    daemon.advice.forget(LABEL)
    assert not daemon.advice._told
    assert daemon.look(40) is None
