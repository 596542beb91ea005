"""The tables that experiments work on: made up, or filled from a copy of the user's own."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.bench import SCHEMA, Bench, Statements, TableKind
from myisam_advisor.trial.tables.copied_table import literal_rows
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_identifier

LOOKUP_VALUES = 2000
MINIMUM_ROWS = 1000


class SyntheticTable:
    """The table of the published case: an integer key, and keys of CHAR(40) and VARCHAR(100)."""

    label = "made up: INT, CHAR(40) and VARCHAR(100) keys"
    columns: Sequence[str] = ("k", "c", "v")
    further_rows = None
    first_rows = None

    def make(self, bench: Bench, name: str, rows: int, options: str = "", database: str = SCHEMA) -> None:
        """The rows that are there first have keys over the same range as those that come."""
        bench.server.execute(
            f"CREATE DATABASE IF NOT EXISTS {database} CHARACTER SET latin1",
            f"DROP TABLE IF EXISTS {database}.{name}",
            f"CREATE TABLE {database}.{name} (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(40) NOT NULL, "
            f"v VARCHAR(100) NOT NULL, f INT NOT NULL DEFAULT 0, KEY (k), KEY (c), KEY (v)) ENGINE=MyISAM {options}",
        )
        self.fill(bench, name, database, rows)

    def fill(self, bench: Bench, name: str, database: str, rows: int) -> None:
        """Insert rows that no thread will insert again."""
        with bench.server.session(database) as connection, closing(connection.cursor()) as cursor:
            for batch in batches(self.rows(bench, -1, 1, rows), 2000):
                cursor.execute(insert_statement(name, self.columns, batch))

    def rows(self, bench: Bench, thread: int, threads: int, count: int) -> Iterator[bytes]:
        """Random keys, the same for each variant."""
        return _made_up(bench, thread, count)


def _made_up(bench: Bench, thread: int, count: int) -> Iterator[bytes]:
    draw = bench.random("rows", thread).getrandbits
    for _ in range(count):
        bits = draw(96)
        yield b"(%d,'%08x-%03d-%04d','http://%08x.example/%04x')" % (
            bits % 1_000_000,
            (bits >> 20) & 0xFFFFFFFF,
            bits % 1000,
            bits % 9973,
            (bits >> 52) & 0xFFFFFFFF,
            bits & 0xFFFF,
        )


def insert_statement(table: str, columns: Sequence[str], rows: Iterable[bytes]) -> bytes:
    """One INSERT of several rows into a table of our own schema."""
    names = ",".join(map(quote_identifier, columns)).encode()
    return b"INSERT INTO %b (%b) VALUES %b" % (table.encode(), names, b",".join(rows))


def batches(rows: Iterable[bytes], size: int) -> Iterator[list[bytes]]:
    """The rows in groups of `size`; what is left over makes a last one."""
    iterator = iter(rows)
    while group := list(itertools.islice(iterator, size)):
        yield group


def inserts(bench: Bench, subject: TableKind, tables: Sequence[str], threads: int, size: int) -> Statements:
    """Statements of `size` rows, thread by thread into the tables in turn."""

    def statements(thread: int, count: int) -> Iterator[bytes]:
        table = tables[thread % len(tables)]
        for group in batches(subject.rows(bench, thread, threads, count * size), size):
            yield insert_statement(table, subject.columns, group)

    return statements


def insert_name(size: int) -> str:
    """What the inserts of so many rows are called."""
    return f"inserts of {size} row{'s' if size > 1 else ''}"


def most_statements(subject: TableKind, threads: int, size: int) -> int | None:
    """How many statements of `size` rows each thread can have; None is any number."""
    return None if subject.further_rows is None else max(subject.further_rows // threads // size, 1)


class Restorable:
    """A table whose present files can be put back, as often as wanted, without rebuilding it."""

    def __init__(self, bench: Bench, name: str, database: str = SCHEMA) -> None:
        self.bench = bench
        self.name = f"{database}.{name}"
        self._files = [bench.server.data_directory / database / f"{name}{ending}" for ending in (".MYD", ".MYI")]
        self._kept = bench.folder / "kept" / database
        self._kept.mkdir(exist_ok=True, parents=True)
        bench.server.execute(f"FLUSH TABLES {self.name}")
        for file in self._files:
            shutil.copyfile(file, self._kept / file.name)

    def restore(self) -> None:
        """The table as it was, with its indexes in the key cache."""
        self.bench.server.execute(f"FLUSH TABLES {self.name}")
        for file in self._files:
            shutil.copyfile(self._kept / file.name, file)
        self.load_index()

    def load_index(self) -> None:
        """Warm the key cache, so that every variant begins alike."""
        self.bench.server.execute(f"LOAD INDEX INTO CACHE {self.name}")


def subjects(bench: Bench) -> Sequence[TableKind]:
    """The user's tables, or the made-up one. Raises TrialError for a copy of too few rows to measure anything."""
    for copy in bench.copies:
        expect_rows(copy.label, copy.total_rows)
    return bench.copies or [SyntheticTable()]


def expect_rows(label: str, rows: int) -> None:
    """Raises TrialError for a table of too few rows to measure anything."""
    if rows < MINIMUM_ROWS:
        raise TrialError(f"{label} has {rows} rows: too few to measure anything (at least {MINIMUM_ROWS}).")


@dataclass(frozen=True, slots=True)
class LookupIndex:
    """An index to look up rows by: its name, its first column, and values that are there, as SQL."""

    name: str
    column: str
    values: Sequence[bytes]


def lookup_index(bench: Bench, table: str, database: str = SCHEMA, preferred: str = "") -> LookupIndex | None:
    """The index with the longest keys (or the preferred one), with values from the table; None without any."""
    rows = [
        row
        for row in bench.server.execute(f"SHOW INDEX FROM {database}.{table}")
        if row[3] == 1 and row[10] == "BTREE" and row[4] is not None
    ]
    if not rows:
        return None
    lengths = _column_lengths(bench, database, table)
    chosen = max(rows, key=lambda row: (row[2] == preferred, lengths.get(str(row[4]), 0)))
    name, column = f"{database}.{table}", quote_identifier(str(chosen[4]))
    total = bench.server.count(name)
    statement = (
        f"SELECT {column} FROM {name} WHERE RAND(7) < {LOOKUP_VALUES} * 1.5 / {total} AND {column} IS NOT NULL "
        f"LIMIT {LOOKUP_VALUES}"
    )
    values = [value for (value,) in literal_rows(bench.server, statement)]
    return LookupIndex(str(chosen[2]), str(chosen[4]), values) if len(values) >= 2 else None


def _column_lengths(bench: Bench, database: str, table: str) -> dict[str, int]:
    rows = bench.server.execute(
        "SELECT COLUMN_NAME, CHARACTER_OCTET_LENGTH FROM information_schema.COLUMNS "
        f"WHERE TABLE_SCHEMA = '{database}' AND TABLE_NAME = '{table}'"
    )
    return {str(name): int(str(length)) if length is not None else 0 for name, length in rows}


def lookups(bench: Bench, tables: Sequence[str], index: LookupIndex, keys: int) -> Statements:
    """Statements that look up `keys` random values each, thread by thread in the tables in turn."""

    def statements(thread: int, count: int) -> Iterator[bytes]:
        generator = bench.random("lookups", thread)
        for _ in range(count):
            wanted = b",".join(generator.choices(index.values, k=keys))
            yield b"SELECT COUNT(*) FROM %b FORCE INDEX (%b) WHERE %b IN (%b)" % (
                tables[thread % len(tables)].encode(), quote_identifier(index.name).encode(), quote_identifier(index.column).encode(), wanted,
            )  # fmt: skip

    return statements
