"""MyISAM tables from their files, and how fast they are written.

The header's update_count counts write statements, but of the open handle of the table that wrote last (mi_locking.c: ++info->this_loop):
one connection's statements are counted exactly, those of several at once too low. Where the server's own Com_ counters show that many are
missing, rows per statement stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.facts.columns import Block, Row, RowMaker, Value, column_names, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan, LeftOut, TableFile, scan_data_directory
from myisam_exporter.files.index_rows import COLUMNS, IndexRows, TableName
from myisam_exporter.files.myi_header import Header
from myisam_exporter.kernel.rights import READ_FILES
from myisam_exporter.outside.numbers import bounded_sum

UPDATE_COUNT_MODULUS = 2**32
NAMED_UNREADABLE = 5
WRITE_COMMANDS = (
    "Com_insert", "Com_insert_select", "Com_replace", "Com_replace_select", "Com_load", "Com_update", "Com_update_multi", "Com_delete",
    "Com_delete_multi",
)  # fmt: skip
# The server counts statements when they begin and the header when they end, and some change no row.
MINIMUM_COUNTED_SHARE = 0.8
NOT_IN_HEADER = Unknown(
    "names of indexes and PACK_KEYS as declared are not in the .MYI file: SHOW CREATE TABLE has them", off=True
)
NOT_RECORDED = Unknown("results of trials are not recorded: who has one writes it into a facts file", off=True)
NOT_FROM_FILES = {"pack_keys_option", "key_cache", "unpacked_keys_speed_ratio"}
NOT_LOOKED_INTO = "take away links and special files that are not the server's"
GIVE_BACK = "give them to the user that the server runs as (chown), or take them away"
NOT_READABLE = "it cannot be read"
NOT_EXPOSED = Unknown("no server tells which key cache a table is assigned to", off=True)
HIDDEN_STATEMENTS = Unknown(
    "several connections write at once, or nothing was written: the headers do not show all statements", off=True
)


MYI = SampleKey("myi", DataDirectoryScan)


class Written(NamedTuple):
    """What was written to a table: statements, None while its handles hide some, and rows added."""

    statements: int | None
    rows_added: int


NOTHING_WRITTEN = Written(0, 0)


class MyiCollector(Collector[DataDirectoryScan]):
    """The data directory and the headers in it."""

    name = MYI.name
    source = ".MYI header"
    after = ("server", "status")
    expensive = True
    steady = True
    sections = {  # noqa: RUF012
        "totals": columns(
            ("myisam_tables", "integer", "MyISAM tables outside the system schemas."),
            ("myisam_rows", "integer", "Their rows."),
            ("myisam_data_bytes", "integer", "Bytes in their data files."),
            ("myisam_index_bytes", "integer", "Bytes in their index files."),
            ("compressed_tables", "integer", "Tables packed by myisampack."),
            ("compressed_data_bytes", "integer", "Bytes in their data files."),
            ("crashed_tables", "integer", "Tables marked crashed, or whose header cannot be read."),
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
            ("fragments_per_row", "real", "Blocks by rows in dynamic format; 1.0 is whole."),
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
                "Age of the data file's last change; in a daemon up to half of it, at most ten minutes, less while nothing changes.",
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
            ("index_name", "text", "The index's name; the .MYI file does not hold it."),
            ("algorithm", "text", "btree, rtree or fulltext."),
            ("is_unique", "integer", "1 when it forbids duplicates."),
            ("is_packed", "integer", "1 when keys are compressed (PACK_KEYS)."),
            ("is_variable_length", "integer", "1 when entries differ in length: VARCHAR, BLOB or nullable parts."),
            ("binary_search", "integer", "1 when a page is searched by halving, 0 when from its start."),
            ("binary_search_without_packing", "integer", "1 when PACK_KEYS=0 would bring binary search."),
            ("page_bytes", "integer", "Size of its pages."),
            ("maximum_key_bytes", "integer", "Longest entry, with the row pointer."),
            ("key_parts", "integer", "Number of columns."),
            ("key_description", "text", "The columns' types, lengths in bytes."),
            ("is_enabled", "integer", "0 after ALTER TABLE ... DISABLE KEYS: no statement uses it."),
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
            scan = context.scanner.scan(directory, owner) if context.scanner else scan_data_directory(directory, owner)
        except OSError as error:
            return Unknown(f"{directory} cannot be read now ({error.strerror})")
        unread = self.incomplete(scan)
        # Where nothing can be read there is no scan: what SQL tells is better.
        return unread if unread and not scan.files else scan

    def facts(self, pair: Pair[DataDirectoryScan]) -> Iterable[Block]:
        """One row a table, its partitions summed; its indexes; the totals."""
        tables = _grouped(pair.after.files)
        written = _written_between(tables, _grouped(pair.before.files) if pair.before else {})
        told = _counts_all_statements(written.values(), pair)
        idle = _write_rates(NOTHING_WRITTEN, pair, told)

        def rates(name: TableName) -> Row:
            found = written.get(name)
            if found is None:
                return NOTHING_KNOWN
            return idle if found is NOTHING_WRITTEN else _write_rates(found, pair, told)

        indexes = _indexes(pair)
        rows = (_table_row(name, files, pair.after.now, rates(name)) for name, files in tables.items())
        return [
            # A part must not pass for the whole.
            *([] if self.incomplete(pair.after) else [single("totals", _totals(pair.after, tables))]),
            TABLE_ROWS.block("tables", rows),
            Block("indexes", COLUMNS, indexes, generation=indexes.generation),
        ]

    def notes(self, sample: DataDirectoryScan) -> Iterable[Unknown]:
        """What could not be read, what is no table, and tables whose indexes have no room."""
        unread = self.incomplete(sample)
        no_tables = [one for one in sample.left_out if not one.is_table]
        return [
            *([unread] if unread else []),
            *(
                [Unknown(f"in the data directory, but not looked into: {_named(no_tables)}", NOT_LOOKED_INTO)]
                if no_tables
                else []
            ),
            *_without_indexes(sample),
        ]

    def unknown_over_interval(self) -> Mapping[str, Unknown]:
        """Rows per statement, while handles hide statements."""
        return {"tables.rows_per_write_statement": HIDDEN_STATEMENTS}

    def unknown_columns(self, sample: DataDirectoryScan) -> Mapping[str, Unknown]:
        """What only a facts file can say; every sum, where tables are missing from it."""
        unread = self.incomplete(sample)
        sums = {f"totals.{column.name}": unread for column in self.sections["totals"]} if unread else {}
        return sums | {
            "tables.pack_keys_option": NOT_IN_HEADER,
            "indexes.index_name": NOT_IN_HEADER,
            "tables.key_cache": NOT_EXPOSED,
            "tables.unpacked_keys_speed_ratio": NOT_RECORDED,
        }

    def incomplete(self, sample: DataDirectoryScan) -> Unknown | None:
        """Directories and files that could not be read, or that are another user's."""
        unread = [LeftOut(name, NOT_READABLE, True) for name in sample.unreadable]
        others = [one for one in sample.left_out if one.is_table]
        if not unread and not others:
            return None
        seen = "not all tables" if sample.files else "none of the tables"
        return Unknown(f"{seen} can be seen: {_named([*unread, *others])}", READ_FILES if unread else GIVE_BACK)


def _named(entries: Sequence[LeftOut]) -> str:
    """The first of them, each with why, and how many more there are."""
    more = len(entries) - NAMED_UNREADABLE
    named = [f"{one.name} ({one.why})" if one.why else one.name for one in entries[:NAMED_UNREADABLE]]
    return ", ".join(named) + (f" and {more} more" if more > 0 else "")


def _without_indexes(scan: DataDirectoryScan) -> list[Unknown]:
    left_out = _index_rows(scan).tables_left_out
    if not left_out:
        return []
    return [Unknown(f"the indexes of {left_out} tables are not told: all of them together would take too much memory")]


def _grouped(files: Iterable[TableFile]) -> dict[TableName, list[TableFile]]:
    groups: dict[TableName, list[TableFile]] = {}
    for file in files:
        groups.setdefault((file.schema_name, file.table_name), []).append(file)
    return groups


def _totals(scan: DataDirectoryScan, tables: Mapping[TableName, list[TableFile]]) -> dict[str, Value]:
    headers = [file.header for file in scan.files if file.header]
    compressed = [header for header in headers if header.row_format == "compressed"]
    return {
        "myisam_tables": len(tables),
        "myisam_rows": bounded_sum(header.rows for header in headers),
        "myisam_data_bytes": bounded_sum(header.data_bytes for header in headers),
        "myisam_index_bytes": bounded_sum(header.index_bytes for header in headers),
        "compressed_tables": len(compressed),
        "compressed_data_bytes": bounded_sum(header.data_bytes for header in compressed),
        "crashed_tables": sum(any(map(_crashed, files)) for files in tables.values()),
        "other_engine_data_bytes": scan.other_engine_data_bytes,
    }


def _crashed(file: TableFile) -> bool:
    return file.header is None or file.header.crashed


def _table_row(name: TableName, files: list[TableFile], now: float, rates: Row) -> Row:
    header, newest, problem = _whole(files)
    age = None if newest is None else max(now - newest, 0.0)
    partitions = NOT_PARTITIONED if files[0].partition is None else _partitions(files)
    if header is None:
        return {
            "schema_name": name[0],
            "table_name": name[1],
            "crashed": 1,
            "header_problem": problem,
            "partitions": partitions["partitions"],
            "crashed_partitions": partitions["crashed_partitions"],
            "data_modified_seconds_ago": age,
        }
    definition = header.definition
    return {
        "schema_name": name[0],
        "table_name": name[1],
        "row_format": header.row_format,
        "rows": header.rows,
        "deleted_rows": header.deleted_rows,
        "data_bytes": header.data_bytes,
        "index_bytes": header.index_bytes,
        "free_bytes": header.free_bytes,
        "max_data_bytes": definition.maximum_data_bytes,
        "max_index_bytes": definition.maximum_index_bytes,
        "has_holes": int(header.has_holes),
        "fragments_per_row": header.data_blocks / header.rows
        if header.row_format == "dynamic" and header.rows
        else None,
        "crashed": int(header.crashed or problem is not None),
        "recovery_failed": int(header.recovery_failed),
        "header_problem": problem,
        **partitions,
        **rates,
        "data_modified_seconds_ago": age,
        "fixed_row_bytes": None if definition.blob_columns else definition.record_bytes,
        "blob_columns": definition.blob_columns,
        "auto_increment_within_index": int(definition.auto_increment_within_index),
    }


def _whole(files: list[TableFile]) -> tuple[Header | None, float | None, str | None]:
    """A table's header, when its data were last changed, and what is wrong with it; of a partitioned one, over all partitions."""
    if len(files) == 1:
        return files[0].header, files[0].data_modified, files[0].problem
    return (
        _whole_table([file.header for file in files if file.header]),
        max((file.data_modified for file in files if file.data_modified is not None), default=None),
        next((file.problem for file in files if file.problem), None),
    )


def _partitions(files: list[TableFile]) -> dict[str, Value]:
    """How many there are, which are crashed, and the one nearest to what its pointers can address."""
    used = [(_used(file.header), file.partition) for file in files if file.partition is not None and file.header]
    ratio, fullest = max(used, default=(None, None))
    return {
        "partitions": len(files),
        "crashed_partitions": ", ".join(file.partition or "" for file in files if _crashed(file)) or None,
        "fullest_partition": fullest,
        "fullest_partition_used_ratio": ratio,
    }


def _used(header: Header) -> float:
    limits = header.definition
    return max(
        header.data_bytes / limits.maximum_data_bytes if limits.maximum_data_bytes else 0.0,
        header.index_bytes / limits.maximum_index_bytes if limits.maximum_index_bytes else 0.0,
    )


def _whole_table(headers: list[Header]) -> Header | None:
    """One header for a table: its own, or the sum of its partitions'."""
    if len(headers) <= 1:
        return headers[0] if headers else None
    definitions = [header.definition for header in headers]
    limits = replace(
        definitions[0],
        maximum_data_bytes=bounded_sum(definition.maximum_data_bytes for definition in definitions),
        maximum_index_bytes=bounded_sum(definition.maximum_index_bytes for definition in definitions),
    )
    return headers[0]._replace(
        definition=limits,
        rows=bounded_sum(header.rows for header in headers),
        deleted_rows=bounded_sum(header.deleted_rows for header in headers),
        data_blocks=bounded_sum(header.data_blocks for header in headers),
        data_bytes=bounded_sum(header.data_bytes for header in headers),
        index_bytes=bounded_sum(header.index_bytes for header in headers),
        free_bytes=bounded_sum(header.free_bytes for header in headers),
        has_holes=any(header.has_holes for header in headers),
        crashed=any(header.crashed for header in headers),
        recovery_failed=any(header.recovery_failed for header in headers),
    )


def _written_between(
    tables: Mapping[TableName, list[TableFile]], before: Mapping[TableName, list[TableFile]]
) -> dict[TableName, Written]:
    """What was written to each table in the interval; a table that was made or remade in between is left out."""
    written = ((name, _written(before[name], files)) for name, files in tables.items() if name in before)
    return {name: found for name, found in written if found is not None}


def write_statements(pair: Pair[DataDirectoryScan]) -> dict[TableName, int]:
    """Write statements by table, of those that have any: where a file is the one of the scan before, nobody wrote to it."""
    if pair.before is None:
        return {}
    unchanged = {id(file) for file in pair.before.files}
    names = {(file.schema_name, file.table_name) for file in pair.after.files if id(file) not in unchanged}
    after, before = (
        _grouped(file for file in scan.files if (file.schema_name, file.table_name) in names)
        for scan in (pair.after, pair.before)
    )
    written = _written_between(after, before).items()
    return {name: found.statements for name, found in written if found.statements}


def _written(before: list[TableFile], files: list[TableFile]) -> Written | None:
    earlier = {file.partition: file.header for file in before}
    statements: int | None = 0
    added = 0
    for file in files:
        old, new = earlier.get(file.partition), file.header
        if old is None or new is None:
            return None
        if old is new:
            continue  # a daemon's scans share what is as it was
        grown = (new.update_count - old.update_count) % UPDATE_COUNT_MODULUS
        if grown > UPDATE_COUNT_MODULUS // 2 or old.writer != new.writer:
            statements = (
                None  # it went backwards, or another handle wrote: the table was made anew, or its handle opened anew
            )
        elif statements is not None:
            statements += grown
        added += new.rows - old.rows
    return NOTHING_WRITTEN if statements == 0 and not added else Written(statements, added)


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


def _indexes(pair: Pair[DataDirectoryScan]) -> IndexRows:
    """One row an index: those of the scan before, of the same generation, where no table is defined anew, whatever was written."""
    after, before = pair.after, pair.before
    known = None if before is None else before.memo.indexes
    if after.memo.indexes is None and before is not None and known is not None and _all_defined_alike(after, before):
        after.memo.indexes = known
    return _index_rows(after)


def _all_defined_alike(one: DataDirectoryScan, other: DataDirectoryScan) -> bool:
    if one.files_generation == other.files_generation:
        return True
    return len(one.files) == len(other.files) and all(map(_defined_alike, one.files, other.files))


def _index_rows(scan: DataDirectoryScan) -> IndexRows:
    if scan.memo.indexes is None:
        scan.memo.indexes = IndexRows(_grouped(scan.files))
    return scan.memo.indexes


def _defined_alike(one: TableFile, other: TableFile) -> bool:
    if one is other:
        return True
    if (one.schema_name, one.table_name, one.partition) != (other.schema_name, other.table_name, other.partition):
        return False
    if one.header is None or other.header is None:
        return one.header is other.header
    return one.header.definition == other.header.definition and one.header.enabled_keys == other.header.enabled_keys


NOT_PARTITIONED: Row = dict.fromkeys(
    ("partitions", "crashed_partitions", "fullest_partition", "fullest_partition_used_ratio")
)
NOTHING_KNOWN: Row = dict.fromkeys(("write_statements_per_second", "rows_added_per_second", "rows_per_write_statement"))
TABLE_ROWS = RowMaker(name for name in column_names(MyiCollector.sections["tables"]) if name not in NOT_FROM_FILES)
COLLECTOR = MyiCollector()
