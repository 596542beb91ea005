"""What is counted stays a count: metrics grow by whole numbers, whatever the length of the interval."""

import ast
from pathlib import Path

import pytest

from myisam_exporter import metrics
from myisam_exporter.collectors.base import all_collectors
from myisam_exporter.collectors.performance_schema import Waits
from myisam_exporter.collectors.user_statistics import TableStatistics
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.tables import GROUP
from tests.unit.exporter.look.test_interval import status
from tests.unit.exporter.look.test_rows_by_name import HEADER

SECONDS = 0.7  # 48 / 0.7 * 0.7 is not 48
OFF = Unknown("off here", off=True)
IDLE = TableFile(Database("shop", "/data/shop"), NamedFile("idle", "idle", None), HEADER, None, 50.0)


def table(name: str, update_count: int, writer: int = 3) -> TableFile:
    return TableFile(Database("shop", "/data/shop"), NamedFile(name, name, None), HEADER._replace(update_count=update_count, writer=writer), None, 50.0)


def waits(reads: dict[tuple[str, str], int]) -> Waits:
    return Waits(frozenset(), {}, reads, OFF, OFF)


def snapshot(moment: float, files: tuple[TableFile, ...], **samples: object) -> Snapshot:
    every: dict[str, object] = {collector.name: OFF for collector in all_collectors()}
    taken = every | {"status": status(int(100 + moment)), "myi": DataDirectoryScan(files, 0, (), moment)} | samples
    return Snapshot(moment, taken, dict.fromkeys(every, moment), {})


def counted(before: Snapshot, after: Snapshot, running: Running, limit: int = 100) -> dict[tuple[str, ...], float | None]:
    facts = Interval(after, before).facts()
    scene = Scene(pairs_between(before, after), running, facts, TableChooser(limit).choose(facts.tables["tables"]))
    values = GROUP.values(scene.pairs["myi"], scene)
    return {(value.name, *value.labels[1:]): value.number for value in values if value.name.endswith("_total")}


def test_counters_of_tables_that_are_gone_do_not_stay_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_exporter.metrics.base.MOST_TOTALS", 10)
    running = Running()
    for minute in range(50):
        before, after = (snapshot(moment, (table("kept", count), table(f"log_{minute}", count))) for moment, count in ((0.0, minute), (SECONDS, minute + 1)))
        assert counted(before, after, running)["table_write_statements_total", "kept"] == minute + 1
        assert len(running.totals) <= 10


def test_counters_of_no_table_stay_where_tables_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("myisam_exporter.metrics.base.MOST_TOTALS", 3)
    running = Running()
    for key in (("switches", "voluntary"), ("rows_read",), ("rows_read", "shop", "shown"), ("rows_read", "shop", "gone")):
        running.grow(5, *key)
    running.forget_tables_but([("shop", "shown")])
    assert set(running.totals) == {("switches", "voluntary"), ("rows_read",), ("rows_read", "shop", "shown")}


def test_write_statements_are_counted_and_not_reckoned_back_from_a_rate() -> None:
    running = Running()
    before = snapshot(0.0, (table("a", 100), IDLE, table("moved", 5), table("several", 9)))
    after = snapshot(SECONDS, (table("a", 148), IDLE, table("moved", 4), table("several", 90, writer=8)))
    assert 48 / SECONDS * SECONDS != 48
    assert counted(before, after, running) == {
        ("table_write_statements_total", "a"): 48, ("table_write_statements_total", "idle"): 0, ("table_write_statements_total", "moved"): 0,
        ("table_write_statements_total", "several"): 0, ("omitted_tables_write_statements_total",): 0,
    }  # fmt: skip


def test_tables_without_series_are_summed_and_those_of_other_engines_left_out() -> None:
    before, after = ({("shop", "a"): 7 * at, ("shop", "b"): 11 * at, ("shop", "innodb"): 1000 * at} for at in (1, 2))
    files = (table("a", 1), table("b", 1))
    found = counted(snapshot(0.0, files, performance_schema=waits(before)), snapshot(SECONDS, files, performance_schema=waits(after)), Running(), limit=0)
    assert found == {("omitted_tables_rows_read_total",): 18, ("omitted_tables_write_statements_total",): 0}


def test_of_two_sources_the_later_is_right_and_one_that_just_began_takes_nothing_away() -> None:
    files = (table("a", 1),)
    statistics = [TableStatistics({("shop", "a"): (count, 0)}) for count in (3, 8)]
    for earlier in (waits({("shop", "a"): 0}), OFF):
        before = snapshot(0.0, files, user_statistics=statistics[0], performance_schema=earlier)
        after = snapshot(SECONDS, files, user_statistics=statistics[1], performance_schema=waits({("shop", "a"): 99}))
        assert counted(before, after, Running())["table_rows_read_total", "a"] == 5


def test_a_source_without_an_interval_has_no_counters() -> None:
    files = (table("a", 1),)
    found = counted(snapshot(0.0, files), snapshot(SECONDS, files, performance_schema=waits({("shop", "a"): 99})), Running())
    assert not [name for name in found if "rows_read" in name[0]]


@pytest.mark.parametrize("path", sorted(Path(metrics.__path__[0]).glob("*.py")), ids=lambda path: path.stem)
def test_no_group_multiplies_by_the_interval(path: Path) -> None:
    products = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)]
    named = [name.attr if isinstance(name, ast.Attribute) else name.id for node in products for name in ast.walk(node) if isinstance(name, ast.Attribute | ast.Name)]
    assert "seconds" not in named
