"""How much of each MyISAM file the operating system holds in memory, by cachestat(2), or mincore(2) where that would tell the truth.

See sweeper.py. No page is read and none moved.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Key, RowMaker, Value, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.pages_by_table import TablePages
from myisam_exporter.files.sweeper import LARGEST_TABLES, PageCacheSweep, Sweeper
from myisam_exporter.files.table_file import TableName
from myisam_exporter.kernel.residency import PAGE_BYTES, FilePages
from myisam_exporter.outside.numbers import SQLITE_INTEGER_END

PAGE_CACHE = SampleKey("page_cache", PageCacheSweep)


class PageCacheCollector(Collector[PageCacheSweep]):
    """Page-cache residency per table."""

    name = PAGE_CACHE.name
    source = "cachestat(2)"
    after = ("myi",)
    states_only = True
    expensive = True
    steady = True
    sections = {  # noqa: RUF012
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
        return (context.sweeper or Sweeper(clock=context.clock)).sweep(scan, context.page_cache_sweep_seconds)

    def facts(self, pair: Pair[PageCacheSweep]) -> Iterable[Block]:
        """Residency of each table."""
        sweep = pair.after
        rows = SweptRows(sweep.pages)
        return [Block("tables", TABLE_ROWS.columns, rows, True, sweep.generation, sweep.change, rows.row_of)]

    def unknown_columns(self, sample: PageCacheSweep) -> Mapping[str, Unknown]:
        """Every column, where no file at all could be asked."""
        if not sample.problems or any(data or index for data, index in sample.pages.values()):
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
                f"what the page cache holds of all but the {LARGEST_TABLES:,} largest tables is asked in turn: it is up to "
                f"{sample.sweeps_in_turn} looks old",
                off=True,
            )
        ]
        return [*([skipped] if skipped else []), *(aged if sample.sweeps_in_turn > 1 else []), *sample.problems]

    def incomplete(self, sample: PageCacheSweep) -> Unknown | None:
        """Tables skipped for want of time."""
        if not sample.skipped_tables:
            return None
        return Unknown(
            f"{sample.skipped_tables} smaller tables were skipped: the sweep's time was over after {sample.seconds:.1f} s",
            "--page-cache-seconds allows more",
        )


@dataclass(frozen=True, slots=True)
class SweptRows:
    """One row a table, worked out while it is read."""

    pages: Mapping[TableName, TablePages]

    def __len__(self) -> int:
        return len(self.pages)

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return (_row(name, *pages) for name, pages in self.pages.items())

    def row_of(self, key: Key) -> tuple[Value, ...] | None:
        """The row of one table; None of one that was not asked for."""
        schema, table = key
        name = (str(schema), str(table))
        pages = self.pages.get(name)
        return None if pages is None else _row(name, *pages)


def _row(table: TableName, data: FilePages | None, index: FilePages | None) -> tuple[Value, ...]:
    """In the order of the columns."""
    data, index = data or NOT_ASKED, index or NOT_ASKED
    return (
        *table,
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
TABLE_ROWS = RowMaker(column_names(PageCacheCollector.sections["tables"]))
COLLECTOR = PageCacheCollector()
