"""How much of each table's files the page cache holds, and what it dropped."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.page_cache import PAGE_CACHE
from myisam_exporter.files.sweeper import PageCacheSweep
from myisam_exporter.metrics.base import BACKGROUND, TABLE_LABELS, Group, Metric, Scene, Value, per_table

# metric, what it is, column by file
SIZES = (
    ("resident_bytes", "Bytes in the page cache", {"data": "data_resident_bytes", "index": "index_resident_bytes"}),
    ("dirty_bytes", "Bytes changed and not yet written", {"data": "data_dirty_bytes"}),
    ("evicted_bytes", "Bytes that reclaim dropped and that are not back", {"data": "data_evicted_bytes"}),
    (
        "recently_evicted_bytes",
        "Those dropped so recently that memory is short for them",
        {"data": "data_recently_evicted_bytes", "index": "index_recently_evicted_bytes"},
    ),
)


class TablePageCacheMetrics(Group[PageCacheSweep]):
    """cachestat(2), by table and file."""

    samples = (PAGE_CACHE,)
    metrics = (
        *(
            Metric(f"table_page_cache_{name}", "gauge", f"{text}: cachestat(2). {BACKGROUND}", (*TABLE_LABELS, "file"))
            for name, text, _ in SIZES
        ),
        *(
            Metric(
                f"omitted_tables_page_cache_{name}",
                "gauge",
                f"{text}, over the tables that have no series: cachestat(2). {BACKGROUND}",
                ("file",),
            )
            for name, text, _ in SIZES
        ),
    )

    def values(self, pair: Pair[PageCacheSweep], scene: Scene) -> Iterable[Value]:
        """From the facts of the last look; a sum with an unknown part is left out."""
        if scene.choice is None:
            return
        for name, _, columns in SIZES:
            for file, column in columns.items():
                yield from per_table(f"table_page_cache_{name}", scene.choice.shown, column, file)
                yield Value(f"omitted_tables_page_cache_{name}", scene.choice.omitted_total(column), (file,))


GROUP = TablePageCacheMetrics()
