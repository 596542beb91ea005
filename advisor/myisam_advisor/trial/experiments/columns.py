"""One column in a file of its own, against a scan of the whole table and an index on the column; and a join with and without indexes.

The column file holds (value, row position) for each row. It is written from the .MYD of a table that has the column alone: fixed rows
without holes keep their order, so the n-th value belongs to the n-th row. Scanning and fetching run in Python: equality at the speed of
bytes.find, one read call for each row that matches.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import WORTH_IT
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.bench import SCHEMA, Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import comparison_of, times
from myisam_advisor.trial.experiments.base import SOURCE_2014, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.copied_table import literal_rows
from myisam_advisor.trial.tables.made import SyntheticTable, subjects
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import brief
from myisam_exporter.files.myi_header import parse_header, read_header_bytes
from myisam_exporter.server.sql import quote_identifier, quote_table

SEED_ROWS, DOUBLINGS = 16_384, 4
DISTINCT_VALUES = 10_000
PARTNER_ROWS, JOINED_VALUES = 20_000, 1000
TABLE, NARROW, JOINED, PARTNER = "subject", "narrow", "joined", "partner"
SCAN, COLUMN_FILE, INDEX = "full scan", "column file", "index on the column"
EQUALITY, NO_MATCH, ALL_MATCH = "one value", "no match", "all rows match"
JOIN, NO_INDEX, JOIN_INDEX, FILTER_INDEX = (
    "join of two tables",
    "no index",
    "index on the join column",
    "index on the filter column",
)
TEXT_TYPES = ("char", "varchar", "enum", "set")
_POSITION = struct.Struct("<Q")


@dataclass(frozen=True, slots=True)
class _ColumnFile:
    """The column on disk: entries of `value_bytes` and a row position; `rows_file` and `row_bytes` lead to the rows."""

    path: Path
    value_bytes: int
    rows_file: Path
    row_bytes: int

    def find(self, value: bytes) -> int:
        """How many rows have the value; each is read."""
        data, entry, count = self.path.read_bytes(), self.value_bytes + _POSITION.size, 0
        descriptor = os.open(self.rows_file, os.O_RDONLY)
        try:
            place = data.find(value)
            while place >= 0:
                if place % entry == 0:
                    (position,) = _POSITION.unpack_from(data, place + self.value_bytes)
                    count += len(os.pread(descriptor, self.row_bytes, position)) == self.row_bytes
                place = data.find(value, place + 1)
        finally:
            os.close(descriptor)
        return count

    def all_but(self, value: bytes) -> int:
        """How many rows have another value; each is read."""
        data, entry, count = self.path.read_bytes(), self.value_bytes + _POSITION.size, 0
        descriptor = os.open(self.rows_file, os.O_RDONLY)
        try:
            for place in range(0, len(data), entry):
                if data[place : place + self.value_bytes] != value:
                    (position,) = _POSITION.unpack_from(data, place + self.value_bytes)
                    count += len(os.pread(descriptor, self.row_bytes, position)) == self.row_bytes
        finally:
            os.close(descriptor)
        return count


def workloads(bench: Bench) -> Iterable[Workload]:
    """Three conditions on one column, then the join."""
    bench.skipped["filtered in the engine"] = "no server has it: published with a patched one (7.4 s against 12.3 s)"
    table, column = _make_subject(bench), _column(bench)
    rows = bench.server.count(table)
    file = _extract(bench, table, column)
    bench.server.execute(
        f"CREATE TABLE {SCHEMA}.indexed LIKE {table}",
        f"ALTER TABLE {SCHEMA}.indexed ADD INDEX chosen ({quote_identifier(column)})",
    )
    bench.server.execute(
        f"INSERT INTO {SCHEMA}.indexed SELECT * FROM {table}", f"LOAD INDEX INTO CACHE {SCHEMA}.indexed"
    )
    value, stored = _some_value(bench, column, rows)
    other = b"\xff" * (len(stored) - 1) + b"\xfe"
    quoted, absent = quote_identifier(column), _absent_value(bench, column)
    note = _disagreement(bench, file.find(stored), f"{table} WHERE {quoted} = {value}")

    def sql(name: str, condition: str) -> Callable[[], Run]:
        text = f"SELECT SUM(LENGTH(CONCAT_WS('', {_last_column(bench, table)}))) FROM {name} WHERE {condition}"
        repeats = bench.repeats(text)
        return lambda: bench.statement(text, 1, repeats)

    def by_file(action: Callable[[], int]) -> Callable[[], Run]:
        def run() -> float:
            action()
            return 1

        return lambda: bench.measured(run)

    force = f"{SCHEMA}.indexed FORCE INDEX (chosen)"
    yield Workload(EQUALITY, "queries", {
        SCAN: sql(table, f"{quoted} = {value}"),
        COLUMN_FILE: by_file(lambda: file.find(stored)),
        INDEX: sql(force, f"{quoted} = {value}"),
    }, note)  # fmt: skip
    yield Workload(NO_MATCH, "queries", {
        SCAN: sql(table, f"{quoted} = {absent}"),
        COLUMN_FILE: by_file(lambda: file.find(other)),
        INDEX: sql(force, f"{quoted} = {absent}"),
    })  # fmt: skip
    yield Workload(ALL_MATCH, "queries", {
        SCAN: sql(table, f"{quoted} <> {absent}"),
        COLUMN_FILE: by_file(lambda: file.all_but(other)),
    })  # fmt: skip
    if not bench.copies:
        yield _join(bench)


def _make_subject(bench: Bench) -> str:
    """A table of fixed rows without holes. Raises TrialError for one that cannot be."""
    kind = subjects(bench)[0]
    bench.listener.doing(f"making the table to search ({kind.label})")
    table = f"{SCHEMA}.{TABLE}"
    if bench.copies:
        kind.make(bench, TABLE, kind.first_rows or 0, "ROW_FORMAT=FIXED")
        indexes = {str(row[2]) for row in bench.server.execute(f"SHOW INDEX FROM {table}")}
        if indexes:
            # The scan must be a scan. AUTO_INCREMENT needs its key, so it goes with the key.
            kept = ", ".join(map(quote_identifier, kind.columns))
            bench.server.execute(
                f"CREATE TABLE {SCHEMA}.plain ENGINE=MyISAM ROW_FORMAT=FIXED AS SELECT {kept} FROM {table}"
            )
            bench.server.execute(f"DROP TABLE {table}", f"RENAME TABLE {SCHEMA}.plain TO {table}")
        if str(bench.server.execute(f"SHOW TABLE STATUS FROM {SCHEMA} LIKE '{TABLE}'")[0][3]) != "Fixed":
            raise TrialError(
                f"{kind.label} has columns of type BLOB or TEXT: its rows cannot be fixed, and a column file needs that."
            )
        return table
    SyntheticTable().make(bench, "seed", SEED_ROWS)
    bench.server.execute(
        f"CREATE TABLE {table} (k INT NOT NULL, f INT NOT NULL, c CHAR(40) NOT NULL, v CHAR(54) NOT NULL) ENGINE=MyISAM ROW_FORMAT=FIXED",
        f"INSERT INTO {table} SELECT k, k % {DISTINCT_VALUES}, c, LEFT(v, 54) FROM {SCHEMA}.seed",
        *[f"INSERT INTO {table} SELECT k + 1, (f * 7 + 1) % {DISTINCT_VALUES}, c, v FROM {table}"] * DOUBLINGS,
    )
    return table


def _column(bench: Bench) -> str:
    """The column to search by: the user's choice. Raises TrialError when there is none of that name."""
    if not bench.copies:
        return "f"
    known = list(bench.copies[0].columns)
    if bench.options.column not in known:
        what = f"there is no column {brief(bench.options.column)}" if bench.options.column else "no column was named"
        raise TrialError(
            f"{what}: name the column to search by (--column). {bench.copies[0].label} has {', '.join(known[:40])}."
        )
    return bench.options.column


def _last_column(bench: Bench, table: str) -> str:
    return quote_identifier(str(bench.server.execute(f"SHOW COLUMNS FROM {table}")[-1][0]))


def _extract(bench: Bench, table: str, column: str) -> _ColumnFile:
    """Write the column file."""
    bench.server.execute(
        f"CREATE TABLE {SCHEMA}.{NARROW} ENGINE=MyISAM ROW_FORMAT=FIXED AS SELECT {quote_identifier(column)} FROM {table}",
        f"FLUSH TABLES {SCHEMA}.{NARROW}, {table}",
    )
    folder, path = bench.server.data_directory / SCHEMA, bench.folder / "column"
    narrow_bytes, value_bytes = _stored(folder / f"{NARROW}.MYI")
    row_bytes, _ = _stored(folder / f"{TABLE}.MYI")
    values = (folder / f"{NARROW}.MYD").read_bytes()
    with path.open("wb") as file:
        for number, place in enumerate(range(0, len(values), narrow_bytes)):
            file.write(values[place + 1 : place + 1 + value_bytes] + _POSITION.pack(number * row_bytes))
    return _ColumnFile(path, value_bytes, folder / f"{TABLE}.MYD", row_bytes)


def _stored(path: Path) -> tuple[int, int]:
    """Bytes of a row as its file has it, and of its values without the byte of flags before them (short rows are padded)."""
    with path.open("rb") as file:
        header = parse_header(read_header_bytes(file.fileno()))
    return header.data_bytes // max(header.rows, 1), header.definition.record_bytes - 1


def _some_value(bench: Bench, column: str, rows: int) -> tuple[str, bytes]:
    """A value that is there, as SQL and as it is stored. Raises TrialError when NULL is all that is found."""
    folder = bench.server.data_directory / SCHEMA
    row_bytes, value_bytes = _stored(folder / f"{NARROW}.MYI")
    for place in (rows // 2, rows // 3, rows - 1, 0):
        statement = f"SELECT {quote_identifier(column)} FROM {SCHEMA}.{NARROW} LIMIT 1 OFFSET {place}"
        value = next(literal_rows(bench.server, statement))[0].decode("utf-8", "surrogateescape")
        if value != "NULL":
            with (folder / f"{NARROW}.MYD").open("rb") as file:
                file.seek(place * row_bytes + 1)
                return value, file.read(value_bytes)
    raise TrialError(f"the column {column} is NULL wherever it was looked at: choose another (--column).")


def _absent_value(bench: Bench, column: str) -> str:
    """A value that no row has, as SQL: text would count as 0 beside numbers."""
    rows = bench.server.execute(
        f"SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{SCHEMA}' AND TABLE_NAME = '{NARROW}'"
    )
    if str(rows[0][0]).lower() in TEXT_TYPES:
        return "'no such value'"
    beyond = literal_rows(bench.server, f"SELECT MAX({quote_identifier(column)}) + 1 FROM {SCHEMA}.{NARROW}")
    return next(beyond)[0].decode("ascii", "replace")


def _disagreement(bench: Bench, found: int, rows: str) -> str:
    """What to say when file and server do not find the same rows. Raises TrialError where they must."""
    expected = bench.server.count(rows)
    if found == expected:
        return ""
    if not bench.copies:
        raise TrialError(f"the column file finds {found} rows, and the server {expected}: the experiment is broken.")
    return f"the column file compares bytes and finds {found} rows, the server compares by its collation and finds {expected}"


def _join(bench: Bench) -> Workload:
    """Rows of one table, filtered, and their partners in another."""
    joined, partner = f"{SCHEMA}.{JOINED}", f"{SCHEMA}.{PARTNER}"
    by_join, by_filter = "ALTER TABLE {p} ADD INDEX (k)", "ALTER TABLE {j} ADD INDEX (f)"
    variants: dict[str, list[str]] = {NO_INDEX: [], JOIN_INDEX: [by_join], FILTER_INDEX: [by_join, by_filter]}
    runs: dict[str, Callable[[], Run]] = {}
    for number, (name, indexes) in enumerate(variants.items()):
        mine = {"j": f"{joined}_{number}", "p": f"{partner}_{number}"}
        bench.server.execute(
            f"CREATE TABLE {mine['j']} ENGINE=MyISAM AS SELECT k, f % {JOINED_VALUES} AS f, v FROM {SCHEMA}.{TABLE}",
            f"CREATE TABLE {mine['p']} ENGINE=MyISAM AS SELECT k, v FROM {SCHEMA}.{TABLE} LIMIT {PARTNER_ROWS}",
            *(statement.format(**mine) for statement in indexes),
        )
        text = f"SELECT COUNT(*), SUM(LENGTH(p.v)) FROM {mine['j']} j STRAIGHT_JOIN {mine['p']} p ON p.k = j.k WHERE j.f = 5"
        repeats = bench.repeats(text)
        runs[name] = partial(bench.statement, text, 1, repeats)
    return Workload(JOIN, "queries", runs)


def conclude(bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """The index to create."""
    equality = next((result for result in results if result.name == EQUALITY), None)
    indexed, filed = (equality and comparison_of(equality, name) for name in (INDEX, COLUMN_FILE))
    if not indexed or not filed:
        return "Nothing was measured."
    if indexed.verdict != WORTH_IT:
        return f"An index on the column does not clearly help here: {times(indexed)}."
    if bench.copies:
        copy, column = bench.copies[0], bench.options.column
        statement = f"ALTER TABLE {quote_table(copy.schema, copy.table)} ADD INDEX ({quote_identifier(column)});"
        name = object_name(copy.schema, copy.table)
        return f"Create the index: {statement} Searching {name} by {column} is {times(indexed)} as fast with it; a column file gives {times(filed)}."
    return f"Create an index on the column of the WHERE clause: {times(indexed)} as fast as a scan; a column file gives {times(filed)}, and nothing where all rows match."


EXPERIMENT = Experiment(
    "Searching by a column: full scan, column file, index",
    workloads,
    conclude,
    runs_a_round=11,
    published=(
        Published(EQUALITY, COLUMN_FILE, "1.5 s instead of 12.3 s (8.2 times)", SOURCE_2014),
        Published(EQUALITY, INDEX, "0.6 s instead of 12.3 s (20 times)", SOURCE_2014),
        Published(NO_MATCH, COLUMN_FILE, "0.7 s instead of 12.3 s (18 times)", SOURCE_2014),
        Published(ALL_MATCH, COLUMN_FILE, "25 s instead of 12.3 s (0.5 times)", SOURCE_2014),
        Published(JOIN, JOIN_INDEX, "9 to 20 s instead of 4 min (12 to 27 times)", SOURCE_2014),
        Published(JOIN, FILTER_INDEX, "0.06 s instead of 4 min (4,000 times)", SOURCE_2014),
    ),
    options=("--key-buffer-size=128M",),
)  # fmt: skip
