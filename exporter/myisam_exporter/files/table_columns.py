"""What the files of many tables say, column by column, by the names of the facts: a partitioned table is one row, its partitions summed.

By columns, as a thousand headers are taken apart by one call: row by row it took three times as long.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from myisam_exporter.facts.columns import Value
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.frm_definition import TableDefinition
from myisam_exporter.files.myi_definition import INTEGER_MAXIMUM, Definition
from myisam_exporter.files.myi_header import (
    CRASHED,
    DELAYS_KEY_WRITES,
    DYNAMIC,
    HAS_HOLES,
    NOT_ANALYZED,
    RECOVERY_FAILED,
    ROW_FORMATS,
    Header,
)
from myisam_exporter.files.table_file import FileCounts, TableFile, counts_of
from myisam_exporter.files.table_groups import Files, modified_last
from myisam_exporter.outside.numbers import bounded_sum

# A server's uptime has whole seconds: a file that was written in the second of its start counts as written by it.
UPTIME_STEP_SECONDS = 1.0
# Another clock made a file that is so far ahead of ours: its age is not known. A moment that we tell by may lag behind by a third of that (told_ages.py).
AHEAD_SECONDS = 3600.0
Values = Sequence[Value]
Defined = TypeVar("Defined", Definition, TableDefinition)
FROM_FRM = ("created_version", "old_temporal_columns", "obsolete_columns", "utf8mb3_columns", "misread_columns")
_FROM_DEFINITION = (
    "max_data_bytes", "max_index_bytes", "fixed_row_bytes", "blob_columns", "auto_increment_within_index", "auto_increment_maximum",
)  # fmt: skip
# What the headers of a table's partitions are together.
_SUMMED = ("rows", "deleted_rows", "data_blocks", "data_bytes", "index_bytes", "free_bytes")
_IN_ANY, _THE_MOST = ("has_holes", "crashed", "recovery_failed", "not_analyzed"), ("auto_increment", "open_count")
_OF_PARTITIONS = ("partitions", "crashed_partitions", "fullest_partition", "fullest_partition_used_ratio")


def table_columns(tables: Sequence[Files], now: Sequence[float], server_started: float | None) -> dict[str, Values]:
    """What is known of these tables, at least one, each at its own moment; of a damaged one that is little."""
    files = list(map(_whole, tables))
    counts = counts_of(files)
    problems: Values = [file.problem for file in files]
    found: dict[str, Values] = {
        "schema_name": [file.schema_name for file in files],
        "table_name": [file.table_name for file in files],
        "header_problem": problems,
        **_partitions(tables),
        **_ages(counts, now, server_started),
        **dict(zip(FROM_FRM, _by_definition([file.definition for file in files], _of_frm, len(FROM_FRM)), strict=True)),
    }
    of_headers = _of_headers(counts, [file.myi for file in files])
    damaged = [place for place, file in enumerate(files) if not file.has_header]
    if damaged:
        of_headers = {name: _without(values, damaged) for name, values in of_headers.items()}
        found["written_since_start"] = _without(found["written_since_start"], damaged)
    if any(problems):
        crashed = of_headers["crashed"]
        of_headers["crashed"] = [one if problem is None else 1 for one, problem in zip(crashed, problems, strict=True)]
    return {**found, **of_headers}


def _of_headers(counts: FileCounts, definitions: Sequence[Definition | None]) -> dict[str, Values]:
    limits = dict(
        zip(_FROM_DEFINITION, _by_definition(definitions, _of_definition, len(_FROM_DEFINITION)), strict=True)
    )
    flags = bytes(counts.flags)
    return {
        "row_format": [ROW_FORMATS[one] for one in counts.row_format],
        "rows": counts.rows,
        "deleted_rows": counts.deleted_rows,
        "data_bytes": counts.data_bytes,
        "index_bytes": counts.index_bytes,
        "free_bytes": counts.free_bytes,
        # The header counts blocks of rows and deleted ones together (mi_dynrec.c: split); each of the rows has one block at least.
        "fragments_per_row": [
            (blocks - deleted) / rows if one == DYNAMIC and 0 < rows <= blocks - deleted else None
            for blocks, deleted, rows, one in zip(
                counts.data_blocks, counts.deleted_rows, counts.rows, counts.row_format, strict=True
            )
        ],
        "has_holes": _flagged(flags, HAS_HOLES),
        "crashed": _flagged(flags, CRASHED),
        "recovery_failed": _flagged(flags, RECOVERY_FAILED),
        "delay_key_write": _flagged(flags, DELAYS_KEY_WRITES),
        "not_analyzed": _flagged(flags, NOT_ANALYZED),
        "open_count": counts.open_count,
        **limits,
        "auto_increment_value": [
            None if maximum is None else value
            for value, maximum in zip(counts.auto_increment, limits["auto_increment_maximum"], strict=True)
        ],
    }


def _flagged(flags: bytes, flag: int) -> list[int]:
    """For each table whether it has the flag: 0 or 1."""
    return list(flags.translate(_ONE_IF[flag]))


_ONE_IF = {
    flag: bytes(one & flag != 0 for one in range(256))
    for flag in (CRASHED, RECOVERY_FAILED, HAS_HOLES, DELAYS_KEY_WRITES, NOT_ANALYZED)
}


def _ages(counts: FileCounts, now: Sequence[float], server_started: float | None) -> dict[str, Values]:
    ages = [
        None if modified is None or modified > moment + AHEAD_SECONDS else max(moment - modified, 0.0)
        for moment, modified in zip(now, counts.data_modified, strict=True)
    ]
    since_start: Values = [None] * len(ages)
    if server_started is not None:
        since_start = [
            None if age is None else int(age < moment - server_started + UPTIME_STEP_SECONDS)
            for age, moment in zip(ages, now, strict=True)
        ]
    return {"data_modified_seconds_ago": ages, "written_since_start": since_start}


def _without(values: Values, places: Sequence[int]) -> Values:
    found = list(values)
    for place in places:
        found[place] = None
    return found


def _of_definition(one: Definition) -> tuple[Value, ...]:
    """In the order of _FROM_DEFINITION."""
    maximum = one.auto_increment_maximum
    return (
        one.maximum_data_bytes,
        one.maximum_index_bytes,
        None if one.blob_columns else one.record_bytes,
        one.blob_columns,
        int(one.auto_increment_within_index),
        None if maximum is None else min(maximum, INTEGER_MAXIMUM),
    )


def _of_frm(one: TableDefinition) -> tuple[Value, ...]:
    """In the order of FROM_FRM."""
    return (
        one.created_version,
        one.old_temporal_columns,
        one.obsolete_columns,
        one.utf8mb3_columns,
        one.misread_columns,
    )


def _by_definition(
    definitions: Sequence[Defined | None], told: Callable[[Defined], tuple[Value, ...]], width: int
) -> list[Values]:
    """Columns of what definitions tell, each of which is asked once; nothing of a table without one."""
    different = {id(one): one for one in definitions}
    nothing: tuple[Value, ...] = (None,) * width
    answers = {number: nothing if one is None else told(one) for number, one in different.items()}
    return list(zip(*[answers[id(one)] for one in definitions], strict=True))


def _whole(files: Files) -> TableFile:
    """One file for a table: its own, or what its partitions are together."""
    first = files[0]
    if len(files) == 1:
        return first
    return TableFile(
        first.database,
        NamedFile(first.stem, first.table_name, None),
        _whole_header([file.header for file in files if file.header]),
        next((file.problem for file in files if file.problem), None),
        modified_last(files),
        first.definition,
    )


def _whole_header(headers: list[Header]) -> Header | None:
    if len(headers) <= 1:
        return headers[0] if headers else None
    definitions = [header.definition for header in headers]
    limits = replace(
        definitions[0],
        maximum_data_bytes=bounded_sum(definition.maximum_data_bytes for definition in definitions),
        maximum_index_bytes=bounded_sum(definition.maximum_index_bytes for definition in definitions),
    )
    together: dict[str, Any] = {
        **{name: bounded_sum(getattr(header, name) for header in headers) for name in _SUMMED},
        **{name: any(getattr(header, name) for header in headers) for name in _IN_ANY},
        **{name: max(getattr(header, name) for header in headers) for name in _THE_MOST},
    }
    return headers[0]._replace(definition=limits, **together)


def _partitions(tables: Sequence[Files]) -> dict[str, Values]:
    """Of partitioned tables how many parts there are, which are crashed, and the one nearest to what its pointers can address."""
    nothing: tuple[Value, ...] = (None,) * len(_OF_PARTITIONS)
    rows = [nothing if files[0].partition is None else _of_partitions(files) for files in tables]
    return dict(zip(_OF_PARTITIONS, zip(*rows, strict=True), strict=True))


def _of_partitions(files: Files) -> tuple[Value, ...]:
    """In the order of _OF_PARTITIONS."""
    used = [(_used(file.header), file.partition) for file in files if file.partition is not None and file.header]
    ratio, fullest = max(used, default=(None, None))
    crashed = ", ".join(file.partition or "" for file in files if file.header is None or file.header.crashed)
    return len(files), crashed or None, fullest, ratio


def _used(header: Header) -> float:
    limits = header.definition
    return max(
        header.data_bytes / limits.maximum_data_bytes if limits.maximum_data_bytes else 0.0,
        header.index_bytes / limits.maximum_index_bytes if limits.maximum_index_bytes else 0.0,
    )
