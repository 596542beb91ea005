"""Connections at work: read, counted and bounded in one place, whatever shows them."""

import pytest

from myisam_exporter.collectors.base import Pair, all_collectors
from myisam_exporter.collectors.status import COLLECTOR, Status, connections_at_work
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.status import GROUP
from myisam_exporter.watching.glances import Glance, Glances


@pytest.mark.parametrize(("readings", "mean"), [([], None), ([1], 0.0), ([0], 0.0), ([3, 5], 3.0), ([0, 1], 0.0)])
def test_the_mean_of_readings_leaves_our_own_connection_out_and_is_never_below_nothing(readings: list[int], mean: float | None) -> None:
    assert connections_at_work(readings) == mean


def test_one_source_declares_it() -> None:
    declaring = [collector.name for collector in all_collectors() for table, declared in collector.sections.items() for column in declared if (table, column.name) == ("mysqld", "threads_running")]
    assert declaring == ["status"]


def test_facts_metrics_and_peaks_tell_the_same_number() -> None:
    status = Status({"Threads_running": 4}, connections_at_work([4]))
    told = {block.table: dict(zip(block.columns, next(iter(block.rows)), strict=True)) for block in COLLECTOR.facts(Pair(status))}
    exposed = {value.name: value.number for value in GROUP.values(Pair(status), Scene({}, Running()))}
    glances = Glances()
    glances.take(Glance(1.0, {"Threads_running": 4.0}))
    assert (told["mysqld"]["threads_running"], exposed["threads_running"], glances.peaks(0.0)["threads_running"].maximum) == (3.0, 3.0, 3.0)


def test_a_server_that_does_not_tell_it_gives_no_row_of_mysqld() -> None:
    assert "mysqld" not in {block.table for block in COLLECTOR.facts(Pair(Status({"Uptime": 5})))}
