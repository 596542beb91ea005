"""Which sample is the last one before a restart, though the facts that tell of it may be older than the question."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.history.file import open_to_read
from myisam_advisor.history.format import identity
from myisam_advisor.history.reader import _recent_look
from myisam_advisor.history.writer import History
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser
from tests.support.moved_clock import MovedClock
from tests.unit.advisor.history.test_history_damage import LABEL, facts


@pytest.fixture
def restarted(tmp_path: Path) -> Path:
    """A server that had a named cache 100 seconds ago, and started anew 35 seconds ago: it was looked at twice since."""
    path, clock = tmp_path / "h.sqlite", MovedClock()
    history = History(path, clock=clock)
    for ago, known in (100, facts(1000.0, ("default", "hot"))), (25, facts(10.0)), (20, facts(15.0)):
        clock.ahead_seconds = -ago
        list(history.follow(LABEL, known, TableChooser().choose(known.tables["tables"])))
    history.close()
    return path


def caches(known: FactSet) -> Mapping[str, Value]:
    return known.tables["key_cache"].by_name("size_bytes")


def test_facts_of_a_while_ago_tell_of_the_restart_when_it_was(restarted: Path) -> None:
    now = time.time()
    with open_to_read(restarted) as records:
        look = _recent_look(records, identity("h", 3306, "/d/"), now - 35, now)
    assert look is not None
    assert caches(look.facts) == {"default": 8388608, "hot": 0}


def test_an_uptime_that_was_told_a_while_ago_is_longer_now(restarted: Path) -> None:
    history, clock = History(restarted), MovedClock()
    try:
        told = replace(facts(5.0), status_read_at=clock.monotonic() - 30)
        assert caches(history.with_remembered(LABEL, told)) == {"default": 8388608, "hot": 0}
        assert caches(history.with_remembered(LABEL, facts(1000.0))) == {"default": 8388608}
    finally:
        history.close()
