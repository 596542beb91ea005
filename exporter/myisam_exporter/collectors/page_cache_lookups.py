"""Page-cache lookups and insertions of each table, counted by kernel tracepoints: the only exact hit ratio per table.

Opt-in, and only in a daemon: counting goes on between the looks, in windows; see tracepoints.py. Rates are those of the windows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import Block, Row, RowMaker, Value, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import ForeignFiles

if TYPE_CHECKING:
    from myisam_exporter.files.data_directory import DataDirectoryScan
    from myisam_exporter.kernel.tracepoints import File

FILES = {"data": ".MYD", "index": ".MYI"}
TableFileName = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Lookups:
    """Pages since each file was looked at first by (schema, table, data or index), the windows' length, our CPU time, and lost events."""

    lookups: Mapping[TableFileName, int]
    insertions: Mapping[TableFileName, int]
    observed_seconds: float
    cpu_seconds: float
    lost: int
    lost_lately: int


LOOKUPS = SampleKey("page_cache_lookups", Lookups)


class PageCacheLookupsCollector(Collector[Lookups]):
    """Tracepoint counts, by table."""

    name = LOOKUPS.name
    source = "tracepoints filemap:mm_filemap_get_pages, filemap:mm_filemap_add_to_page_cache"
    after = ("myi",)
    expensive = True
    sections = {
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("data_lookups_per_second", "real", "Pages of the data file asked of the page cache by read calls."),
            ("data_insertions_per_second", "real", "Pages of it put into the page cache, by readahead too."),
            (
                "data_page_cache_hit_ratio",
                "real",
                "Over the interval: 1 - insertions/lookups; unknown without lookups or where readahead brought more.",
            ),
            ("index_lookups_per_second", "real", "Pages of the index file asked of the page cache: key-cache misses."),
            ("index_insertions_per_second", "real", "Pages of it put into the page cache."),
            source=source,
        )
    }

    def collect(self, context: Context) -> Lookups | Unknown:
        """The counts so far; from now on also of files that are new."""
        following = context.following
        scan = context.sample(MYI)
        if isinstance(following, Unknown):
            return following
        if isinstance(scan, Unknown):
            return scan
        files = dict(_files(scan))
        following.follow(frozenset(files))
        try:
            counts = following.counts()
        except UserError as error:
            return Unknown(str(error))
        return Lookups(
            _by_name(counts.lookups, files),
            _by_name(counts.insertions, files),
            counts.observed_seconds,
            counts.cpu_seconds,
            counts.lost,
            counts.lost_lately,
        )

    def facts(self, pair: Pair[Lookups]) -> Iterable[Block]:
        """Rates over the windows within the interval."""
        now, before = pair.after, pair.before
        seconds = now.observed_seconds - before.observed_seconds if before else 0.0
        if before is None or seconds <= 0:
            return
        tables = sorted({name[:2] for name in now.lookups})
        yield TABLE_ROWS.block("tables", (_row(before, now, seconds, *table) for table in tables), extends=True)

    def incomplete(self, sample: Lookups) -> Unknown | None:
        """Events that the kernel could not hand over."""
        if not sample.lost_lately:
            return None
        return Unknown(f"{sample.lost_lately} events were lost: the server reads faster than can be counted")


def _row(before: Lookups, now: Lookups, seconds: float, schema: str, table: str) -> Row:
    row: dict[str, Value] = {"schema_name": schema, "table_name": table}
    for file in FILES:
        name = (schema, table, file)
        lookups = max(now.lookups.get(name, 0) - before.lookups.get(name, 0), 0)
        insertions = max(now.insertions.get(name, 0) - before.insertions.get(name, 0), 0)
        row[f"{file}_lookups_per_second"] = lookups / seconds
        row[f"{file}_insertions_per_second"] = insertions / seconds
        if file == "data":
            row["data_page_cache_hit_ratio"] = 1 - insertions / lookups if 0 < lookups >= insertions else None
    return row


def _files(scan: DataDirectoryScan) -> Iterable[tuple[File, TableFileName]]:
    files = ForeignFiles(scan.owner)
    for table in scan.files:
        for kind, ending in FILES.items():
            try:
                state = files.status(f"{table.directory}/{table.stem}{ending}")
            except OSError:
                continue  # dropped since the scan, or not the server's
            yield (state.st_dev, state.st_ino), (table.schema_name, table.table_name, kind)


def _by_name(counts: Mapping[File, int], names: Mapping[File, TableFileName]) -> dict[TableFileName, int]:
    """Partitions are summed. A file that nothing was read of has 0: it was looked at."""
    summed = dict.fromkeys(names.values(), 0)
    for file, name in names.items():
        summed[name] += counts.get(file, 0)
    return summed


TABLE_ROWS = RowMaker(column_names(PageCacheLookupsCollector.sections["tables"]))
COLLECTOR = PageCacheLookupsCollector()
