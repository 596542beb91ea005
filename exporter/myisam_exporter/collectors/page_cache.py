"""How much of each MyISAM file the operating system holds in memory, by cachestat(2), or mincore(2) where that would tell the truth.

The sweep has a time budget, begins with the largest tables and says what it skipped. No page is read and none moved.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from myisam_exporter.collector import Collector, Context, Pair
from myisam_exporter.columns import Block, Value, columns
from myisam_exporter.residency import PAGE_BYTES, FilePages, Prober
from myisam_exporter.unknown import Unknown

if TYPE_CHECKING:
    from myisam_exporter.data_directory import DataDirectoryScan, TableFile

CLOCK_EVERY_FILES = 64


@dataclass(frozen=True, slots=True)
class PageCacheSweep:
    """Pages of data and index file by (schema, table); partitions are summed."""

    pages: Mapping[tuple[str, str], tuple[FilePages | None, FilePages | None]]
    skipped_tables: int
    problems: tuple[Unknown, ...]
    seconds: float


class PageCacheCollector(Collector[PageCacheSweep]):
    """Page-cache residency per table."""

    name = "page_cache"
    source = "cachestat(2)"
    after = ("myi",)
    states_only = True
    expensive = True
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
        scan: DataDirectoryScan | Unknown = context.sample("myi")
        if isinstance(scan, Unknown):
            return scan
        return sweep(scan.files, Prober(), context.page_cache_sweep_seconds)

    def facts(self, pair: Pair[PageCacheSweep]) -> Iterable[Block]:
        """Residency of each table."""
        names = tuple(column.name for column in self.sections["tables"])
        return [
            Block("tables", names, (_row(table, *pages) for table, pages in pair.after.pages.items()), extends=True)
        ]

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
        return [*([skipped] if skipped else []), *sample.problems]

    def incomplete(self, sample: PageCacheSweep) -> Unknown | None:
        """Tables skipped for want of time."""
        if not sample.skipped_tables:
            return None
        return Unknown(
            f"{sample.skipped_tables} smaller tables were skipped: the sweep's time was over after {sample.seconds:.1f} s",
            "--page-cache-seconds allows more",
        )


def sweep(files: Iterable[TableFile], prober: Prober, budget_seconds: float) -> PageCacheSweep:
    """Residency of these tables, the largest first, for at most `budget_seconds`."""
    started = time.monotonic()
    ordered = sorted((file for file in files if file.header), key=_size, reverse=True)
    pages: dict[tuple[str, str], tuple[FilePages | None, FilePages | None]] = {}
    directory, directory_path, done = -1, "", 0
    try:
        for done, file in enumerate(ordered):
            if done % CLOCK_EVERY_FILES == 0 and time.monotonic() - started > budget_seconds:
                break
            if file.directory != directory_path:
                if directory >= 0:
                    os.close(directory)
                    directory = -1
                directory_path = file.directory
                try:
                    directory = os.open(directory_path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
                except OSError:
                    directory_path = ""
                    continue
            name = (file.schema_name, file.table_name)
            data, index = prober.probe(file.stem + ".MYD", directory), prober.probe(file.stem + ".MYI", directory)
            earlier = pages.get(name)
            pages[name] = (_add(earlier[0], data), _add(earlier[1], index)) if earlier else (data, index)
        else:
            done = len(ordered)
    finally:
        if directory >= 0:
            os.close(directory)
    return PageCacheSweep(pages, len(ordered) - done, tuple(prober.problems.values()), time.monotonic() - started)


def _size(file: TableFile) -> int:
    return file.header.data_bytes + file.header.index_bytes if file.header else 0


def _add(one: FilePages | None, other: FilePages | None) -> FilePages | None:
    if one is None or other is None:
        return None
    return FilePages(*(None if a is None or b is None else a + b for a, b in zip(one, other, strict=True)))


def _row(table: tuple[str, str], data: FilePages | None, index: FilePages | None) -> tuple[Value, ...]:
    data, index = data or FilePages(), index or FilePages()
    sizes = (data.resident, data.dirty, data.evicted, data.recently_evicted, index.resident, index.recently_evicted)
    return (*table, *(None if size is None else size * PAGE_BYTES for size in sizes))


COLLECTOR = PageCacheCollector()
