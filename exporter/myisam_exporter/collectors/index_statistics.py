"""Rows read by index from MariaDB's user statistics, where userstat is on and performance_schema does not tell. We never switch it on.

INDEX_STATISTICS has the names of used indexes alone. The .frm file of a table has the names of all, in the order of the .MYI: so the others
were not used, as far as was counted. That is never since the server's start for certain: userstat may be on since later, FLUSH sets the
counters back, and accounts see those of the tables that they may SELECT from. So beside each number stands for how long its table is as it
is, and which share of all reads is in the counters, at least. DROP and RENAME leave the counters of a name as they are, an ALTER those of the
other indexes. Reads of partitioned tables and by FULLTEXT are counted nowhere, nor what several indexes read together (index_merge) or in
batches (mrr, BKA): the handlers that do are closed uncounted. A look-up that finds nothing is no row read, in performance_schema of MariaDB
neither.

Source: sql/handler.cc (update_global_table_stats, update_global_index_stats), sql/sql_show.cc (fill_schema_index_stats) of MariaDB; tried on
10.11 and 11.8. Percona Server has INDEX_STATISTICS too, but not Rows_read.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from heapq import nlargest

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.index_reads import (
    INDEX_READS,
    MAXIMUM_INDEXES,
    TOO_MANY,
    Reads,
    keys_by_table,
    known_reads,
    reads_by_table,
)
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.status import FLUSH_TOLERANCE_SECONDS, STATUS, Status
from myisam_exporter.collectors.user_statistics import USER_STATISTICS, TableStatistics
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Row, RowMaker, TableName, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.index_names import FoundNames, NamedIndexes
from myisam_exporter.files.merge_members import all_members
from myisam_exporter.files.myi_definition import Key
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.server.granting import SEE_PROCESSES
from myisam_exporter.server.sql import Sql, statement

# Those with the largest index files: there an index costs most. A daemon looks at each .frm at every look, and reads those that changed.
MAXIMUM_TABLES = 1000
NAMED_UNREAD = 5
QUERY: Sql = statement(
    "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, ROWS_READ FROM information_schema.INDEX_STATISTICS LIMIT {}",
    MAXIMUM_INDEXES + 1,
)
BY_INDEX = tuple(f"Handler_read_{how}" for how in ("first", "key", "last", "next", "prev"))
HOUR_SECONDS = 3600
TOLD_ALREADY = Unknown("performance_schema counts the reads by index", off=True)
SEES_NONE = Unknown(
    "userstat shows the counters of no table: none was read or written since it counts, or the account may SELECT from none of them",
    "GRANT SELECT ON DATABASE.* (it may then read the rows, too)",
)
CHECK_DEFINITIONS = "ask the server whether it can read them (CHECK TABLE)"
NOTHING: Reads = {}


@dataclass(frozen=True, slots=True)
class IndexStatistics:
    """Rows read by table and name of the index, of used ones alone; the names of all. `counted_ratio` is the share of all reads that is in them."""

    tables: Mapping[TableName, Reads]
    names: FoundNames
    counted_ratio: float | None
    uptime_seconds: float | None
    now: float


INDEX_STATISTICS = SampleKey("index_statistics", IndexStatistics)


class IndexStatisticsCollector(Collector[IndexStatistics]):
    """MariaDB's INDEX_STATISTICS, and the names that it lacks."""

    name = INDEX_STATISTICS.name
    source = "information_schema.INDEX_STATISTICS, .frm file"
    after = ("server", "status", "myi", "user_statistics", "index_reads")
    expensive = True
    sections = {
        "indexes": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("index_number", "integer", "Place in the .MYI file, from 1, as myisamchk counts."),
            ("index_name", "text", "The index's name."),
            ("rows_read_per_second", "real", "Rows read by this index."),
            ("rows_read_since_start", "integer", "Rows read by this index, as far as userstat counted."),
            (
                "reads_counted_seconds",
                "integer",
                "For so long at most its reads have been counted: since the server's start, or since the table was made, altered or renamed; whole hours.",
            ),
            (
                "reads_counted_ratio",
                "real",
                "Share of the rows read by indexes since the server's start that the counters hold, at least: userstat may be on since later, "
                "FLUSH sets it back, and some tables may be out of the account's sight. Unknown where nothing tells, and of performance_schema.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> IndexStatistics | Unknown:
        """One statement, and the .frm files that changed, where userstat counts and performance_schema does not."""
        server, by_performance_schema = context.sample(SERVER), context.sample(INDEX_READS)
        if isinstance(server, Unknown):
            return server
        if not isinstance(by_performance_schema, Unknown):
            return TOLD_ALREADY
        if server.flavour != "mariadb":
            return by_performance_schema  # nothing else would help there
        counted, scan = context.sample(USER_STATISTICS), context.sample(MYI)
        if isinstance(counted, Unknown):
            return counted
        return scan if isinstance(scan, Unknown) else _sample(context, counted, scan)

    def facts(self, pair: Pair[IndexStatistics]) -> Iterable[Block]:
        """Names and reads of the tables whose names are known; before an interval without rates."""
        scan = pair.other(MYI)
        if isinstance(scan, Unknown):
            return
        rows = _rows(pair, keys_by_table(scan, pair.after.names.tables), all_members(scan))
        yield INDEX_ROWS.block("indexes", rows, extends=True)

    def notes(self, sample: IndexStatistics) -> Iterable[Unknown]:
        """Definitions that could not be read."""
        unread = sample.names.unread
        if not unread:
            return
        named = ", ".join(".".join(name) for name in unread[:NAMED_UNREAD])
        more = f" and {len(unread) - NAMED_UNREAD} more" if len(unread) > NAMED_UNREAD else ""
        count = f"{len(unread)} table{'s' if len(unread) != 1 else ''}"
        yield Unknown(
            f"the names of indexes in the definitions (.frm) of {count} cannot be read: {named}{more}",
            CHECK_DEFINITIONS,
        )


def _sample(context: Context, counted: TableStatistics, scan: DataDirectoryScan) -> IndexStatistics | Unknown:
    status = context.sample(STATUS)
    if isinstance(status, Unknown):
        return status
    tables = _asked(context) if counted.rows else SEES_NONE
    if isinstance(tables, Unknown):
        return tables
    names = context.index_names.of(_largest(scan, counted.rows.keys() | tables.keys()), scan.owner)
    ratio = _counted_ratio(status, counted, tables.values())
    return IndexStatistics(tables, names, ratio, status.uptime_seconds, context.clock.time())


def _asked(context: Context) -> Mapping[TableName, Reads] | Unknown:
    rows = context.session.rows_or_unknown(QUERY, 4, grant=SEE_PROCESSES, maximum_rows=MAXIMUM_INDEXES + 1)
    if isinstance(rows, Unknown):
        return rows
    return TOO_MANY if len(rows) > MAXIMUM_INDEXES else reads_by_table(rows)


def _largest(scan: DataDirectoryScan, counted: Iterable[TableName]) -> list[TableFile]:
    """Of the tables that the counters name and that have indexes, those with most bytes of them: of a partitioned one any partition."""
    wanted = set(counted)
    found: dict[TableName, TableFile] = {}
    for file in scan.files:
        name = (file.schema_name, file.table_name)
        if name in wanted and file.header is not None and file.header.definition.keys:
            found.setdefault(name, file)
    return nlargest(MAXIMUM_TABLES, found.values(), key=_index_bytes)


def _index_bytes(file: TableFile) -> int:
    return file.header.index_bytes if file.header else 0


def _counted_ratio(status: Status, counted: TableStatistics, by_index: Iterable[Reads]) -> float | None:
    """Of the rows that indexes gave since the server's start the share that the counters hold, at least; None where nothing tells.

    They cannot have given more rows than were read at all, nor than there were calls for one. While nothing was ever flushed, not more either
    than are counted and those that the counters of tables lack: Rows_read counts the same as these, whatever userstat is.
    """
    uptime, since_flush = status.uptime_seconds, status.number("Uptime_since_flush_status")
    read, flushes = status.number("Rows_read"), status.number("Com_flush")
    if uptime is None or since_flush is None or read is None or flushes is None:
        return None
    if uptime - since_flush > FLUSH_TOLERANCE_SECONDS:
        return None  # from MariaDB 11.5 on that sets Rows_read back, and the statistics not
    known = sum(rows or 0 for table in by_index for rows in table.values())
    at_most = min(read, sum(status.number(name) or 0 for name in BY_INDEX))
    if not flushes:
        of_tables = sum(rows or 0 for rows, _ in counted.rows.values())
        at_most = min(at_most, known + max(read - of_tables, 0))
    return _share(known, at_most)


def _share(part: float, whole: float) -> float | None:
    """In whole hundredths."""
    return min(int(100 * part / whole), 100) / 100 if whole > 0 else None


def _rows(
    pair: Pair[IndexStatistics], keys_of: Mapping[TableName, Sequence[Key]], members: Container[TableName]
) -> Iterator[Row]:
    for name, indexes in pair.after.names.tables.items():
        keys = keys_of.get(name, ())
        if len(keys) != len(indexes.names):
            continue
        counted = pair.after.tables.get(name, NOTHING)
        former = None if pair.before is None else pair.before.tables.get(name, NOTHING)
        seconds = _counted_seconds(pair.after, indexes)
        for number, (index, key) in enumerate(zip(indexes.names, keys, strict=True), 1):
            reads = None if indexes.is_partitioned else _reads(index, indexes, counted)
            known = known_reads(reads, key, is_partial=name in members)
            yield {
                "schema_name": name[0],
                "table_name": name[1],
                "index_number": number,
                "index_name": index,
                "rows_read_per_second": None if former is None else pair.rate(_reads(index, indexes, former), known),
                "rows_read_since_start": known,
                "reads_counted_seconds": None if known is None else seconds,
                "reads_counted_ratio": None if known is None else pair.after.counted_ratio,
            }


def _reads(index: str, indexes: NamedIndexes, counted: Reads) -> int | None:
    """Rows read by this index: 0 where others of the table are named and it is not. A name that the table has not makes that unknown: it may be this one's former."""
    return counted[index] if index in counted else 0 if counted.keys() <= set(indexes.names) else None


def _counted_seconds(sample: IndexStatistics, indexes: NamedIndexes) -> int | None:
    if sample.uptime_seconds is None:
        return None
    seconds = max(min(sample.uptime_seconds, sample.now - indexes.defined), 0)
    return int(seconds // HOUR_SECONDS) * HOUR_SECONDS


INDEX_ROWS = RowMaker(column_names(IndexStatisticsCollector.sections["indexes"]))
COLLECTOR = IndexStatisticsCollector()
