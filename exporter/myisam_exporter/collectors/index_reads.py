"""Rows read by index, from performance_schema, where it counts them by default (MySQL) or is on (MariaDB). We never switch it on.

It lists all indexes of each table that was opened since, those without a read too, in the order in which the .MYI file has them: tried on
MySQL 5.6 and 9.7, MariaDB 10.11 and 11.8, with keys that were declared in another order. So the name that the header lacks is known too.
The counters begin at the server's start, at the table's last ALTER, or with a TRUNCATE of the summary, which nothing tells. Where more tables
are open than performance_schema has room for, as on MySQL 5.6 once table_open_cache was raised, what uses the others is not counted: then 0 is
not known to be nothing. FLUSH STATUS sets back what tells so (tried on MySQL 5.6), and not the counters.

MariaDB's INDEX_STATISTICS is asked where this tells nothing: see index_statistics.py.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.myi import MYI
from myisam_exporter.collectors.performance_schema import PERFORMANCE_SCHEMA
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Row, RowMaker, TableName, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS, DataDirectoryScan
from myisam_exporter.files.merge_members import all_members
from myisam_exporter.files.myi_definition import Key
from myisam_exporter.outside.numbers import LARGEST_COUNTER, whole_number
from myisam_exporter.server.granting import READ_PERFORMANCE_SCHEMA
from myisam_exporter.server.sql import Sql, quote_text, sql_list, statement

# Each is asked at every look and merged into the table of indexes. So many take 0.3 s of our CPU and 0.26 s of the server: measured on MySQL 9.7.
MAXIMUM_INDEXES = 20_000
TOO_MANY = Unknown(f"more than {MAXIMUM_INDEXES:,} indexes are counted: they are not asked for", off=True)
QUERY: Sql = statement(
    "SELECT OBJECT_SCHEMA, OBJECT_NAME, INDEX_NAME, COUNT_FETCH FROM performance_schema.table_io_waits_summary_by_index_usage "
    "WHERE OBJECT_TYPE = 'TABLE' AND INDEX_NAME IS NOT NULL AND OBJECT_SCHEMA NOT IN ({}) LIMIT {}",
    sql_list(map(quote_text, sorted(SYSTEM_SCHEMAS))),
    MAXIMUM_INDEXES + 1,
)
# Their reads go past the handler's counters.
UNCOUNTED = frozenset({"fulltext"})
Reads = Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class IndexReads:
    """By table the rows read by each index, by its name, in the order of the indexes. `is_partial`: some reads were not counted."""

    tables: Mapping[TableName, Reads]
    is_partial: bool = False


INDEX_READS = SampleKey("index_reads", IndexReads)


class IndexReadsCollector(Collector[IndexReads]):
    """Which index serves, and which never did."""

    name = INDEX_READS.name
    source = "performance_schema.table_io_waits_summary_by_index_usage"
    after = ("performance_schema", "myi")
    expensive = True
    sections = {
        "indexes": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("index_number", "integer", "Place in the .MYI file, from 1, as myisamchk counts."),
            ("index_name", "text", "The index's name."),
            ("rows_read_per_second", "real", "Rows read by this index."),
            (
                "rows_read_since_start",
                "integer",
                "Rows read by this index since the server's start, or since the table was altered or its counters set back; by userstat: see "
                "reads_counted_ratio.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> IndexReads | Unknown:
        """One statement, where the instrument is on and the headers tell which index has which number."""
        scan = context.sample(MYI)
        if isinstance(scan, Unknown):
            return scan
        waits = context.sample(PERFORMANCE_SCHEMA)
        if isinstance(waits, Unknown):
            return waits
        if isinstance(waits.table_reads, Unknown):
            return waits.table_reads
        rows = context.session.rows_or_unknown(QUERY, 4, READ_PERFORMANCE_SCHEMA, maximum_rows=MAXIMUM_INDEXES + 1)
        if isinstance(rows, Unknown):
            return rows
        return TOO_MANY if len(rows) > MAXIMUM_INDEXES else IndexReads(reads_by_table(rows), waits.is_partial)

    def facts(self, pair: Pair[IndexReads]) -> Iterable[Block]:
        """Reads by index of the tables whose headers have as many; before an interval without rates."""
        scan = pair.other(MYI)
        if isinstance(scan, Unknown):
            return
        rows = _rows(pair, keys_by_table(scan, pair.after.tables), all_members(scan))
        yield INDEX_ROWS.block("indexes", rows, extends=True)


def reads_by_table(rows: Iterable[tuple[str | None, ...]]) -> dict[TableName, dict[str, int | None]]:
    """Rows of schema, table, index and rows read; the indexes of a table in the order in which they come."""
    tables: dict[TableName, dict[str, int | None]] = {}
    for schema, table, index, reads in rows:
        tables.setdefault((schema or "", table or ""), {})[index or ""] = whole_number(reads, LARGEST_COUNTER)
    return tables


def keys_by_table(scan: DataDirectoryScan, wanted: Mapping[TableName, object]) -> dict[TableName, Sequence[Key]]:
    """The indexes as the headers have them, of these tables."""
    found: dict[TableName, Sequence[Key]] = {}
    for file in scan.files:
        name = (file.schema_name, file.table_name)
        if name in wanted and name not in found and file.header is not None:
            found[name] = file.header.definition.keys or ()
    return found


def known_reads(reads: int | None, key: Key, *, is_partial: bool) -> int | None:
    """What was counted. Where that need not be all 0 is unknown: of a member of a MERGE table what is read through that one is counted there."""
    return None if key.kind in UNCOUNTED or (is_partial and reads == 0) else reads


def _rows(
    pair: Pair[IndexReads], keys_of: Mapping[TableName, Sequence[Key]], members: Container[TableName]
) -> Iterator[Row]:
    for name, counted in pair.after.tables.items():
        keys = keys_of.get(name, ())
        if len(keys) != len(counted):
            continue  # it was altered between the two readings: nobody can say which index is which
        former = {} if pair.before is None else pair.before.tables.get(name, {})
        is_partial = pair.after.is_partial or name in members
        for number, ((index, reads), key) in enumerate(zip(counted.items(), keys, strict=True), 1):
            known = known_reads(reads, key, is_partial=is_partial)
            yield {
                "schema_name": name[0],
                "table_name": name[1],
                "index_number": number,
                "index_name": index,
                "rows_read_per_second": pair.rate(former.get(index, 0), known),
                "rows_read_since_start": known,
            }


INDEX_ROWS = RowMaker(column_names(IndexReadsCollector.sections["indexes"]))
COLLECTOR = IndexReadsCollector()
