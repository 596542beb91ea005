"""What the headers of a scan say of its tables, by the names of the facts: a partitioned table is one row, its partitions summed."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.files.definition_reader import MergeTable
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import INTEGER_MAXIMUM
from myisam_exporter.files.myi_header import Header
from myisam_exporter.files.table_file import TableFile, TableName
from myisam_exporter.outside.numbers import bounded_sum

# A server's uptime has whole seconds: a file that was written in the second of its start counts as written by it.
UPTIME_STEP_SECONDS = 1.0
NAMED_MERGE_TABLES = 8  # what belongs to more is told in a sentence all the same
NOT_PARTITIONED: Row = dict.fromkeys(
    ("partitions", "crashed_partitions", "fullest_partition", "fullest_partition_used_ratio")
)
NOT_DEFINED: Row = dict.fromkeys(("created_version", "old_temporal_columns", "obsolete_columns", "utf8mb3_columns"))


@dataclass(slots=True)
class Sums:
    """Sums over tables, unbounded, so that a table can be taken out of them again."""

    myisam_tables: int = 0
    myisam_rows: int = 0
    myisam_data_bytes: int = 0
    myisam_index_bytes: int = 0
    compressed_tables: int = 0
    compressed_data_bytes: int = 0
    crashed_tables: int = 0

    def add(self, files: Iterable[TableFile], sign: int = 1) -> None:
        """One more table; with -1 one less."""
        crashed = False
        for file in files:
            header = file.header
            crashed = crashed or header is None or header.crashed
            if header is None:
                continue
            self.myisam_rows += sign * header.rows
            self.myisam_data_bytes += sign * header.data_bytes
            self.myisam_index_bytes += sign * header.index_bytes
            if header.row_format == "compressed":
                self.compressed_tables += sign
                self.compressed_data_bytes += sign * header.data_bytes
        self.myisam_tables += sign
        self.crashed_tables += sign * crashed

    def facts(self, other_engine_data_bytes: int) -> dict[str, Value]:
        """The facts of the table `totals`: what files say of themselves may be made up, and is bounded."""
        return {
            "myisam_tables": self.myisam_tables,
            "myisam_rows": bounded_sum((self.myisam_rows,)),
            "myisam_data_bytes": bounded_sum((self.myisam_data_bytes,)),
            "myisam_index_bytes": bounded_sum((self.myisam_index_bytes,)),
            "compressed_tables": self.compressed_tables,
            "compressed_data_bytes": bounded_sum((self.compressed_data_bytes,)),
            "crashed_tables": self.crashed_tables,
            "other_engine_data_bytes": other_engine_data_bytes,
        }


def is_crashed(file: TableFile) -> bool:
    """Whether it is marked crashed, or its header cannot be read."""
    return file.header is None or file.header.crashed


class WithMergeTables(Protocol):
    """A scan, as far as it matters here."""

    @property
    def merge_tables(self) -> Sequence[MergeTable]:
        """The MERGE tables that were found."""


def merged_into(scan: WithMergeTables, tables: Container[TableName]) -> dict[TableName, str]:
    """The MERGE tables that each of these tables belongs to, of those that belong to one: the first, and how many more."""
    found: dict[TableName, list[str]] = {}
    for merge in scan.merge_tables:
        whole = f"{merge.schema_name}.{merge.table_name}"
        for name in merge.tables:
            if name in tables:
                found.setdefault(name, []).append(whole)
    return {name: _first_of(wholes) for name, wholes in found.items()}


def _first_of(names: list[str]) -> str:
    more = len(names) - NAMED_MERGE_TABLES
    return ", ".join(names[:NAMED_MERGE_TABLES]) + (f" and {more} more" if more > 0 else "")


def table_row(
    name: TableName,
    files: Sequence[TableFile],
    now: float,
    server_age: float | None,
    rates: Row,
    merge_tables: str | None = None,
) -> Row:
    """What is known of one table by the names of the columns; `rates` are what its writes gave. Of a damaged one little is known."""
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
            **_defined(files[0].definition),
            "merge_tables": merge_tables,
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
        "auto_increment_value": None if definition.auto_increment_maximum is None else header.auto_increment,
        "auto_increment_maximum": None
        if definition.auto_increment_maximum is None
        else min(definition.auto_increment_maximum, INTEGER_MAXIMUM),
        "delay_key_write": int(header.delay_key_write),
        "not_analyzed": int(header.not_analyzed),
        "open_count": header.open_count,
        "written_since_start": None
        if age is None or server_age is None
        else int(age < server_age + UPTIME_STEP_SECONDS),
        **_defined(files[0].definition),
        "merge_tables": merge_tables,
    }


def _defined(definition: TableDefinition | None) -> Row:
    """What its .frm says."""
    if definition is None:
        return NOT_DEFINED
    return {
        "created_version": definition.created_version,
        "old_temporal_columns": definition.old_temporal_columns,
        "obsolete_columns": definition.obsolete_columns,
        "utf8mb3_columns": definition.utf8mb3_columns,
    }


def _whole(files: Sequence[TableFile]) -> tuple[Header | None, float | None, str | None]:
    """A table's header, when its data were last changed, and what is wrong with it; of a partitioned one, over all partitions."""
    if len(files) == 1:
        return files[0].header, files[0].data_modified, files[0].problem
    return (
        _whole_table([file.header for file in files if file.header]),
        max((file.data_modified for file in files if file.data_modified is not None), default=None),
        next((file.problem for file in files if file.problem), None),
    )


def _partitions(files: Sequence[TableFile]) -> dict[str, Value]:
    """How many there are, which are crashed, and the one nearest to what its pointers can address."""
    used = [(_used(file.header), file.partition) for file in files if file.partition is not None and file.header]
    ratio, fullest = max(used, default=(None, None))
    return {
        "partitions": len(files),
        "crashed_partitions": ", ".join(file.partition or "" for file in files if is_crashed(file)) or None,
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
        auto_increment=max(header.auto_increment for header in headers),
        open_count=max(header.open_count for header in headers),
        not_analyzed=any(header.not_analyzed for header in headers),
    )
