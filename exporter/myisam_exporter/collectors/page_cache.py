"""How much of each MyISAM file the operating system holds in memory, by cachestat(2), or mincore(2) where that would tell the truth.

See sweeper.py. No page is read and none moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.host import HOST
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.facts.columns import Block, Key, RowsByPlace, Value, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.pages_by_table import PagesByTable, TablePages
from myisam_exporter.files.sweep_pace import STILL_PACE
from myisam_exporter.files.sweep_turns import LARGEST_TABLES, SWEEPS_OF_LARGEST
from myisam_exporter.files.sweeper import PageCacheSweep, Sweeper, swept_in_passing
from myisam_exporter.kernel.page_cache_traffic import pages_moved
from myisam_exporter.kernel.residency import PAGE_BYTES, FilePages
from myisam_exporter.outside.numbers import SQLITE_INTEGER_END

PAGE_CACHE = SampleKey("page_cache", PageCacheSweep)


class PageCacheCollector(Collector[PageCacheSweep]):
    """Page-cache residency per table."""

    name = PAGE_CACHE.name
    source = "cachestat(2)"
    after = ("myi", "host")
    states_only = True
    expensive = True
    steady = True
    sections = {
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("data_resident_bytes", "integer", "Bytes of the data file in the page cache."),
            ("data_dirty_bytes", "integer", "Bytes of the data file changed and not yet written."),
            ("data_evicted_bytes", "integer", "Bytes of the data file that reclaim dropped and that are not back."),
            ("data_recently_evicted_bytes", "integer", "Those dropped so recently that memory is short for them."),
            ("index_resident_bytes", "integer", "Bytes of the index file in the page cache."),
            ("index_recently_evicted_bytes", "integer", "Bytes of the index file dropped recently."),
            source=source,
        )
    }

    def collect(self, context: Context) -> PageCacheSweep | Unknown:
        """Ask the kernel about every file that the scan found, as far as the time reaches."""
        scan = context.sample(MYI)
        if isinstance(scan, Unknown):
            return scan
        if scan.pages is not None:
            return swept_in_passing(scan, scan.pages)
        host = context.sample(HOST)
        moved = None if isinstance(host, Unknown) else pages_moved(host.vmstat)
        return (context.sweeper or Sweeper(clock=context.clock)).sweep(scan, context.page_cache_sweep_seconds, moved)

    def facts(self, pair: Pair[PageCacheSweep]) -> Iterable[Block]:
        """Residency of each table."""
        sweep = pair.after
        return [Block("tables", TABLE_COLUMNS, SweptRows(sweep.pages), True, sweep.generation, sweep.change)]

    def unknown_columns(self, sample: PageCacheSweep) -> Mapping[str, Unknown]:
        """Every column, where no file at all could be asked."""
        if not sample.problems or any(map(any, sample.pages.each())):  # in C: where none tells, all are looked at
            return {}
        return {
            f"tables.{column.name}": sample.problems[0]
            for column in self.sections["tables"]
            if column.name not in ("schema_name", "table_name")
        }

    def notes(self, sample: PageCacheSweep) -> Iterable[Unknown]:
        """What was skipped for want of time, and what could not be asked."""
        skipped = self.incomplete(sample)
        aged = [
            Unknown(
                f"what the page cache holds is asked in turn where nothing moves: of the {LARGEST_TABLES:,} largest tables it is up to "
                f"{SWEEPS_OF_LARGEST} looks old, of the others up to {sample.sweeps_in_turn}; {STILL_PACE} times as many while this machine reads, drops "
                "and writes hardly any pages",
                off=True,
            )
        ]
        return [*([skipped] if skipped else []), *(aged if sample.sweeps_in_turn else []), *sample.problems]

    def incomplete(self, sample: PageCacheSweep) -> Unknown | None:
        """Tables skipped for want of time."""
        if not sample.skipped_tables:
            return None
        return Unknown(
            f"what the page cache holds was not asked of all tables: {sample.skipped_tables:,} were left when the time for it was over, "
            f"after {sample.seconds:.1f} s",
            "--page-cache-seconds allows more",
        )


class SweptRows(RowsByPlace):
    """One row a table, worked out while it is read; of one that was not asked for nothing is known."""

    def __init__(self, pages: PagesByTable) -> None:
        self._pages = pages

    @property
    def places(self) -> Mapping[Key, int]:
        """Where the row of each table stands: as in the scan that the sweep followed."""
        return cast("Mapping[Key, int]", self._pages.places)  # names are keys of two texts

    def columns_at(self, places: Sequence[int]) -> list[Sequence[Value]]:
        """The columns of the tables at these places, at least one."""
        names = list(map(self._pages.places.name_at, places))
        pages = list(map(self._pages.at, places))
        # Small tables are much alike, and what is known of those is one object.
        different = {id(one): one for one in pages}
        told = {number: _told(one) for number, one in different.items()}
        return [*zip(*names, strict=True), *zip(*[told[id(one)] for one in pages], strict=True)]


def _told(pages: TablePages | None) -> tuple[Value, ...]:
    """In the order of the columns behind the names."""
    data, index = pages or (None, None)
    data, index = data or NOT_ASKED, index or NOT_ASKED
    return (
        _bytes(data.resident),
        _bytes(data.dirty),
        _bytes(data.evicted),
        _bytes(data.recently_evicted),
        _bytes(index.resident),
        _bytes(index.recently_evicted),
    )


def _bytes(pages: int | None) -> int | None:
    return None if pages is None else min(pages * PAGE_BYTES, SQLITE_INTEGER_END - 1)


NOT_ASKED = FilePages()
TABLE_COLUMNS = column_names(PageCacheCollector.sections["tables"])
COLLECTOR = PageCacheCollector()
