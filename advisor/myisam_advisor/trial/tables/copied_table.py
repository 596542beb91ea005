"""A table copied from the watched server, as experiments use it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.bench import SCHEMA, Bench
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_identifier, quote_table

# Rows kept back from a copy, to be inserted again: a quarter of it, and no more than memory holds easily.
HELD_BACK_SHARE, MAXIMUM_HELD_BACK_ROWS, MAXIMUM_HELD_BACK_BYTES = 4, 400_000, 256 << 20


@dataclass
class CopiedTable:
    """A table copied from the watched server, as it lies on the private one."""

    server: PrivateServer
    schema: str
    table: str
    total_rows: int
    data_bytes: int

    @property
    def name(self) -> str:
        """The copy's name in SQL."""
        return quote_table(self.schema, self.table)

    @property
    def label(self) -> str:
        """The name to print."""
        return f"{object_name(self.schema, self.table)} (copy)"

    @cached_property
    def columns(self) -> Sequence[str]:
        """Its columns, without generated ones."""
        rows = self.server.execute(f"SHOW COLUMNS FROM {self.name}")
        return [str(row[0]) for row in rows if not is_generated(str(row[5]))]

    @property
    def further_rows(self) -> int:
        """The last rows are held back."""
        row_bytes = max(self.data_bytes // max(self.total_rows, 1), 1)
        return min(self.total_rows // HELD_BACK_SHARE, MAXIMUM_HELD_BACK_ROWS, MAXIMUM_HELD_BACK_BYTES // row_bytes)

    @property
    def first_rows(self) -> int:
        """What is not held back."""
        return self.total_rows - self.further_rows

    def make(self, bench: Bench, name: str, rows: int, options: str = "", database: str = SCHEMA) -> None:
        """The copy's definition with other options, and its first rows."""
        target, columns = f"{database}.{name}", ", ".join(map(quote_identifier, self.columns))
        statements = [
            "SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO'",
            f"CREATE DATABASE IF NOT EXISTS {database}",
            f"DROP TABLE IF EXISTS {target}",
            f"CREATE TABLE {target} LIKE {self.name}",
            *([f"ALTER TABLE {target} {options}"] if options else []),
            f"INSERT INTO {target} ({columns}) SELECT {columns} FROM {self.name} LIMIT {rows}",
        ]
        bench.server.execute(*statements)

    def rows(self, bench: Bench, thread: int, threads: int, count: int) -> Iterator[bytes]:
        """The rows held back, one part for each thread."""
        share = self.further_rows // threads
        begin = thread * share
        return iter(self._held_back[begin : begin + min(count, share)])

    @cached_property
    def _held_back(self) -> list[bytes]:
        columns = ", ".join(map(quote_identifier, self.columns))
        statement = f"SELECT {columns} FROM {self.name} LIMIT {self.further_rows} OFFSET {self.first_rows}"
        return [b"(" + b",".join(row) + b")" for row in literal_rows(self.server, statement)]


def is_generated(extra: str) -> bool:
    """Whether a column is, by what SHOW COLUMNS says of it besides."""
    words = extra.upper().split()
    return not {"GENERATED", "VIRTUAL", "PERSISTENT", "STORED"}.isdisjoint(words)


def literal_rows(server: PrivateServer, statement: str) -> Iterator[list[bytes]]:
    """The rows of a SELECT, each value as SQL on one line, with the very bytes that are stored: every type is taken from a string."""
    return driver().literal_rows(server.socket, statement)
