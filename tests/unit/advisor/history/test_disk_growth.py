"""How fast the disk fills, by a history that is written over days."""

import time
from pathlib import Path

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history.disk_growth import GROWTH
from myisam_advisor.history.writer import History
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import TableChooser

LABEL, DAY, GIB = "db:3306", 86_400.0, 1 << 30
TOTAL = 200 * GIB


def facts(free: int, total: int = TOTAL) -> FactSet:
    host = {"data_directory_free_bytes": free, "data_directory_total_bytes": total}
    return complete(facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"hostname": "h", "uptime_seconds": 100}, "host": host}))


def growth(monkeypatch: pytest.MonkeyPatch, path: Path, looks: list[tuple[float, FactSet]]) -> object:
    """What is known of growth at the last of these looks; a look is a number of days and its facts."""
    begin = time.time()
    moment = [begin]
    monkeypatch.setattr(time, "time", lambda: moment[0])
    history = History(path)
    try:
        for days, known in looks:
            moment[0] = begin + days * DAY
            remembered = history.with_remembered(LABEL, known)
            list(history.follow(LABEL, known, TableChooser().choose(known.tables["tables"])))
    finally:
        history.close()
    return remembered.single("host").get(GROWTH)


def test_it_is_known_after_three_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert growth(monkeypatch, tmp_path / "h", [(0, facts(50 * GIB)), (0.5, facts(49 * GIB))]) is None
    found = growth(monkeypatch, tmp_path / "i", [(0, facts(50 * GIB)), (2, facts(40 * GIB)), (4, facts(30 * GIB))])
    assert found == pytest.approx(5 * GIB, rel=0.01)


def test_a_restore_on_the_second_day_is_no_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    restored = [(0.0, facts(190 * GIB)), (1.0, facts(110 * GIB)), (1.5, facts(30 * GIB))]
    assert growth(monkeypatch, tmp_path / "h", restored) is None


def test_space_that_was_freed_is_no_growth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = growth(monkeypatch, tmp_path / "h", [(0, facts(10 * GIB)), (4, facts(50 * GIB))])
    assert found == pytest.approx(-10 * GIB, rel=0.01)


def test_only_the_last_week_counts_and_no_other_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    older = [(0.0, facts(190 * GIB)), (5.0, facts(40 * GIB)), (8.0, facts(37 * GIB))]
    assert growth(monkeypatch, tmp_path / "h", older) == pytest.approx(GIB, rel=0.01)
    assert growth(monkeypatch, tmp_path / "i", [(0, facts(50 * GIB, 60 * GIB)), (4, facts(150 * GIB))]) is None
