"""Traced lookups: tables with series of their own, the others summed, and nothing lost when one leaves the list."""

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.page_cache_lookups import Lookups
from myisam_exporter.metrics.base import Running, Scene
from myisam_exporter.metrics.page_cache_lookups import GROUP
from tests.support.recorded import RecordedLook


def lookups(orders: int, counters: int) -> Lookups:
    counts = {("shop", "orders", "data"): orders, ("shop", "counters", "data"): counters, ("shop", "counters", "index"): 1}
    return Lookups(counts, dict.fromkeys(counts, 0), 12.0, 0.5, 3, 0)


def values(look: RecordedLook, pair: Pair[Lookups], running: Running) -> dict[tuple[str, ...], float | None]:
    scene = Scene({}, running, look.facts, look.choice)
    return {(value.name, *value.labels): value.number for value in GROUP.values(pair, scene)}


def test_shown_tables_have_series_and_the_others_a_sum(look: RecordedLook) -> None:
    assert ["shop", "orders"] in [list(row[:2]) for row in look.choice.shown.rows]
    running = Running()
    values(look, Pair(lookups(100, 10)), running)
    found = values(look, Pair(lookups(150, 25), lookups(100, 10), 60.0), running)
    assert found["table_page_cache_lookups_total", "shop", "orders", "data"] == 150
    assert found["omitted_tables_page_cache_lookups_total", "data"] == 25
    assert ("table_page_cache_lookups_total", "shop", "counters", "data") not in found
    assert found["exporter_tracing_seconds_total",] == 12.0
    assert found["exporter_tracing_cpu_seconds_total",] == 0.5
    assert found["exporter_tracing_lost_events_total",] == 3


def test_without_a_choice_of_tables_nothing_is_said() -> None:
    assert list(GROUP.values(Pair(lookups(1, 1)), Scene({}, Running()))) == []
