"""MyISAM tables from their files, and how fast they are written.

The headers count too few write statements where several connections write at once (files/writes.py). Where the server's own Com_ counters
show that many are missing, rows per statement stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.facts.columns import Block, Row, TableName, Value, column_names, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan, scan_data_directory
from myisam_exporter.files.index_rows import COLUMNS
from myisam_exporter.files.indexes_of_scan import indexes_of
from myisam_exporter.files.merge_members import merged_into
from myisam_exporter.files.pages_in_passing import PagesInPassing
from myisam_exporter.files.table_columns import FROM_FRM
from myisam_exporter.files.told_tables import Telling, ToldTables, first_told, told_again, told_anew
from myisam_exporter.files.unseen import definitions_unread, incomplete, unseen_in
from myisam_exporter.files.writes import NOTHING_WRITTEN, Written, statements_between, statements_of, written_between

WRITE_COMMANDS = (
    "Com_insert", "Com_insert_select", "Com_replace", "Com_replace_select", "Com_load", "Com_update", "Com_update_multi", "Com_delete",
    "Com_delete_multi",
)  # fmt: skip
# The server counts statements when they begin and the header when they end, and some change no row.
MINIMUM_COUNTED_SHARE = 0.8
NOT_IN_HEADER = Unknown(
    "names of indexes and PACK_KEYS as declared are not in the .MYI file: SHOW CREATE TABLE shows them", off=True
)
NOT_RECORDED = Unknown(
    "trials measure this, and no file of the server has it: what they kept is used all the same (myisam-advisor proofs)",
    off=True,
)
NOT_FROM_FILES = {"pack_keys_option", "key_cache", "unpacked_keys_speed_ratio"}
# What a .frm tells is of use where it stops an upgrade, or is misread: not on MariaDB, and MySQL keeps none from 8.0 on.
KEEPS_FRM_BEFORE = 80000
NO_DEFINITIONS = Unknown(
    "the .frm files are read on MySQL before 8.0 alone: only there do they stop an upgrade, or are misread", off=True
)
FROM_DEFINITION = tuple(f"tables.{name}" for name in FROM_FRM)
NOT_EXPOSED = Unknown("no server shows which key cache a table is assigned to", off=True)
HIDDEN_STATEMENTS = Unknown(
    "several connections write at once, or nothing was written: the headers do not show all statements", off=True
)


MYI = SampleKey("myi", DataDirectoryScan)


class MyiCollector(Collector[DataDirectoryScan]):
    """The data directory and the headers in it."""

    name = MYI.name
    source = ".MYI header"
    after = ("server", "status")
    expensive = True
    steady = True
    sections = {
        "totals": columns(
            ("myisam_tables", "integer", "MyISAM tables outside the system schemas."),
            ("myisam_rows", "integer", "Their rows."),
            ("myisam_data_bytes", "integer", "Bytes in their data files."),
            ("myisam_index_bytes", "integer", "Bytes in their index files."),
            ("compressed_tables", "integer", "Tables packed by myisampack."),
            ("compressed_data_bytes", "integer", "Bytes in their data files."),
            (
                "crashed_tables",
                "integer",
                "Tables marked crashed, or whose header cannot be read; damaged ones of the server's own database with them.",
            ),
            ("other_engine_data_bytes", "integer", "Bytes in the files of other storage engines."),
            source=source,
        ),
        "tables": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("row_format", "text", "fixed, dynamic or compressed."),
            ("rows", "integer", "Rows as of the last finished write statement."),
            ("deleted_rows", "integer", "Deleted rows or blocks whose space can be used again."),
            ("data_bytes", "integer", "Bytes in the data file."),
            ("index_bytes", "integer", "Bytes in the index file."),
            ("free_bytes", "integer", "Bytes of holes in the data file."),
            ("max_data_bytes", "integer", "What the row pointers can address, over all partitions."),
            ("max_index_bytes", "integer", "What the index pointers can address, over all partitions."),
            ("has_holes", "integer", "1 when there are holes: inserts then wait for readers (concurrent_insert=AUTO)."),
            ("fragments_per_row", "real", "Blocks by rows in dynamic format, without the deleted ones; 1.0 is whole."),
            ("crashed", "integer", "1 when the server marked it crashed, or its header cannot be read."),
            ("recovery_failed", "integer", "1 when an automatic repair failed."),
            ("header_problem", "text", "What is wrong with an index file that holds no header."),
            ("partitions", "integer", "Number of partitions; unknown for a table without any."),
            ("crashed_partitions", "text", "The crashed partitions, by name."),
            ("fullest_partition", "text", "The partition that has used most of what its pointers can address."),
            (
                "fullest_partition_used_ratio",
                "real",
                "How much of it that partition has used, of its data or index file.",
            ),
            (
                "write_statements_per_second",
                "real",
                "Finished write statements; at least so many: each open handle of a table counts its own.",
            ),
            ("rows_added_per_second", "real", "Growth of the number of rows."),
            (
                "rows_per_write_statement",
                "real",
                "Over the interval: rows added by write statements; unknown while handles hide statements.",
            ),
            (
                "data_modified_seconds_ago",
                "real",
                "Age of the data file's last change; a daemon may tell up to two thirds less, at most twenty minutes or a fiftieth, while nothing changes.",
            ),
            (
                "fixed_row_bytes",
                "integer",
                "What each row takes in fixed format; unknown where BLOB or TEXT forbid that.",
            ),
            ("blob_columns", "integer", "Columns of type BLOB or TEXT, which the fixed format cannot hold."),
            (
                "auto_increment_within_index",
                "integer",
                "1 when AUTO_INCREMENT is not the first column of its index and counts within a group.",
            ),
            (
                "auto_increment_value",
                "integer",
                "The last AUTO_INCREMENT value; unknown where it counts within a group.",
            ),
            ("auto_increment_maximum", "integer", "What the AUTO_INCREMENT column can hold."),
            (
                "delay_key_write",
                "integer",
                "1 when made with DELAY_KEY_WRITE=1; MariaDB notes an ALTER in the .frm alone.",
            ),
            (
                "not_analyzed",
                "integer",
                "1 when it has rows and an index without statistics: none were ever collected since it was filled.",
            ),
            (
                "open_count",
                "integer",
                "Servers that the header counts as having changed and not closed it; what a crash leaves stays until CHECK TABLE.",
            ),
            (
                "written_since_start",
                "integer",
                "1 when the data file changed since the server started.",
            ),
            (
                "created_version",
                "integer",
                "The server that made its .frm, as a version number: 50624 is 5.6.24; 0 before MySQL 5.0.",
            ),
            (
                "old_temporal_columns",
                "integer",
                "TIME, DATETIME and TIMESTAMP columns in the format of before MySQL 5.6.4, by its .frm.",
            ),
            (
                "obsolete_columns",
                "integer",
                "DECIMAL and VARCHAR columns of before MySQL 5.0.3, and YEAR(2), by its .frm.",
            ),
            ("utf8mb3_columns", "integer", "Columns with texts in utf8mb3 (once called utf8), by its .frm."),
            (
                "misread_columns",
                "integer",
                "ENUM and SET columns of ucs2, utf16 or utf32 that share a list of members, which MySQL before 8.0 misreads, by its .frm.",
            ),
            ("merge_tables", "text", "The MERGE tables that it is a part of, with their databases: the first eight."),
            ("pack_keys_option", "integer", "PACK_KEYS as declared: 0 or 1; unknown for DEFAULT."),
            ("key_cache", "text", "The key cache that CACHE INDEX assigned the table to."),
            (
                "unpacked_keys_speed_ratio",
                "real",
                "Speed of this table's load with PACK_KEYS=0 by that without, the lower end of what a trial on it measured: for facts files.",
            ),
            source=source,
        ),
        "indexes": columns(
            ("schema_name", "text", "Database."),
            ("table_name", "text", "Table."),
            ("index_number", "integer", "Place in the .MYI file, from 1, as myisamchk counts."),
            (
                "index_name",
                "text",
                "The index's name; the .MYI file does not hold it: performance_schema does, or the .frm where userstat is on (1,000 largest tables).",
            ),
            ("algorithm", "text", "btree, rtree or fulltext."),
            ("is_unique", "integer", "1 when it forbids duplicates."),
            ("is_packed", "integer", "1 when keys are compressed (PACK_KEYS)."),
            ("is_variable_length", "integer", "1 when entries differ in length: VARCHAR, BLOB or nullable parts."),
            ("binary_search", "integer", "1 when a page is searched by binary search, 0 when from its start."),
            ("binary_search_without_packing", "integer", "1 when PACK_KEYS=0 would bring binary search."),
            ("page_bytes", "integer", "Size of its pages."),
            ("maximum_key_bytes", "integer", "Longest entry, with the row pointer."),
            ("key_parts", "integer", "Number of columns."),
            ("key_description", "text", "The columns' types, lengths in bytes."),
            ("is_enabled", "integer", "0 after ALTER TABLE ... DISABLE KEYS: no statement uses it."),
            ("duplicate_of", "integer", "The number of the index of the same columns that makes this one superfluous."),
            (
                "is_left_prefix_of",
                "integer",
                "The number of the index that begins with all columns of this one, in order.",
            ),
            source=source,
        ),
    }

    def collect(self, context: Context) -> DataDirectoryScan | Unknown:
        """Read every header below the verified data directory."""
        server = context.sample(SERVER)
        if isinstance(server, Unknown):
            return server
        directory = server.location.data_directory
        if isinstance(directory, Unknown):
            return directory
        try:
            owner = server.location.owner
            reads_frm = server.flavour != "mariadb" and server.version_number < KEEPS_FRM_BEFORE
            if context.scanner is not None:
                scan = context.scanner.scan(directory, owner, reads_frm=reads_frm)
            else:
                pages = PagesInPassing(context.page_cache_sweep_seconds, context.clock) if context.one_pass else None
                scan = scan_data_directory(directory, owner, context.clock, reads_frm=reads_frm, pages=pages)
        except OSError as error:
            return Unknown(f"{directory} cannot be read now ({error.strerror})")
        unread = incomplete(scan)
        # Where nothing can be read there is no scan: what SQL tells is better.
        return unread if unread and not scan.files else scan

    def facts(self, pair: Pair[DataDirectoryScan]) -> Iterable[Block]:
        """One row a table, its partitions summed; its indexes; the totals."""
        indexes = indexes_of(pair.after, pair.before)
        told = pair.after.memo.told = _told(pair)
        sums = told.sums.facts(pair.after.other_engine_data_bytes)
        return [
            # A part must not pass for the whole.
            *([] if incomplete(pair.after) else [single("totals", sums)]),
            Block("tables", TABLE_COLUMNS, told, False, told.generation, told.change),
            Block("indexes", COLUMNS, indexes, generation=indexes.generation),
        ]

    def notes(self, sample: DataDirectoryScan) -> Iterable[Unknown]:
        """What could not be read, what is no table, and what there is no room for."""
        return unseen_in(sample)

    def unknown_over_interval(self) -> Mapping[str, Unknown]:
        """Rows per statement, while handles hide statements."""
        return {"tables.rows_per_write_statement": HIDDEN_STATEMENTS}

    def unknown_columns(self, sample: DataDirectoryScan) -> Mapping[str, Unknown]:
        """What only a facts file can say; every sum, where tables are missing from it."""
        unread = incomplete(sample)
        sums = {f"totals.{column.name}": unread for column in self.sections["totals"]} if unread else {}
        without_frm = not sample.read_definitions().any_read
        why_without = definitions_unread(sample) or NO_DEFINITIONS
        return (
            sums
            | (dict.fromkeys(FROM_DEFINITION, why_without) if without_frm else {})
            | {
                "tables.pack_keys_option": NOT_IN_HEADER,
                "indexes.index_name": NOT_IN_HEADER,
                "tables.key_cache": NOT_EXPOSED,
                "tables.unpacked_keys_speed_ratio": NOT_RECORDED,
            }
        )

    def incomplete(self, sample: DataDirectoryScan) -> Unknown | None:
        """Directories and files that could not be read, or that are another user's."""
        return incomplete(sample)


def _told(pair: Pair[DataDirectoryScan]) -> ToldTables:
    """The rows of all tables; of what was told before only those that differ are others, where that is known."""
    after, before = pair.after, pair.before
    groups, changed = after.groups(), after.changed_since(before)
    names = groups if changed is None else changed
    written = {} if before is None else written_between({name: groups[name] for name in names}, before.groups())
    if before is not None:
        after.memo.write_statements = before.files_generation, statements_of(written)
    known = None if before is None else before.memo.told
    status = pair.other(STATUS)
    all_told = _counts_all_statements(written.values(), pair)
    telling = Telling(
        after.now,
        first_told(None if isinstance(status, Unknown) else status.server_started, known),
        NOTHING_KNOWN if before is None else _write_rates(NOTHING_WRITTEN, pair, all_told),
        merged_into(after, groups.places),
    )

    found = ((name, written.get(name)) for name in (names if before is not None else ()))
    rates = {
        name: NOTHING_KNOWN if one is None else _write_rates(one, pair, all_told)
        for name, one in found
        if one is not NOTHING_WRITTEN
    }
    if known is not None and changed is not None and telling.continues(known.telling):
        return told_again(known, groups, telling, rates, changed)
    return told_anew(TABLE_COLUMNS, groups, telling, rates)


def write_statements(pair: Pair[DataDirectoryScan]) -> dict[TableName, int]:
    """Write statements by table, of those that have any."""
    after, before = pair.after, pair.before
    if before is None:
        return {}
    if after.files_generation == before.files_generation:
        return {}
    since, known = after.memo.write_statements or (None, {})
    return known if since == before.files_generation else statements_between(before.files, after.files)


def _write_rates(written: Written, pair: Pair[DataDirectoryScan], told: bool) -> dict[str, Value]:
    statements, added = written
    return {
        "write_statements_per_second": pair.per_second(statements),
        "rows_added_per_second": pair.per_second(added),
        "rows_per_write_statement": added / statements if told and statements and added > 0 else None,
    }


def _counts_all_statements(written: Iterable[Written], pair: Pair[DataDirectoryScan]) -> bool:
    """Whether the headers account for the write statements that the server counted."""
    now, before = pair.other(STATUS), pair.other_before(STATUS)
    if not pair.seconds or isinstance(now, Unknown) or isinstance(before, Unknown):
        return True
    begun = sum((now.number(name) or 0) - (before.number(name) or 0) for name in WRITE_COMMANDS)
    return sum(one.statements or 0 for one in written) >= MINIMUM_COUNTED_SHARE * begun


NOTHING_KNOWN: Row = dict.fromkeys(("write_statements_per_second", "rows_added_per_second", "rows_per_write_statement"))
TABLE_COLUMNS = tuple(name for name in column_names(MyiCollector.sections["tables"]) if name not in NOT_FROM_FILES)
COLLECTOR = MyiCollector()
