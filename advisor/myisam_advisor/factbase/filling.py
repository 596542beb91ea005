"""What writes into the fact tables, while nobody asks them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from myisam_exporter.facts.columns import Value

# How statements that fill begin, exactly so: a query that begins so is refused.
WRITES = ("BEGIN", "COMMIT", "DELETE ", "INSERT ", "REPLACE ", "UPDATE ")


class Filling:
    """Writes into a guarded database, by statements that no query may have the text of."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def execute(self, statement: str, parameters: Sequence[Value] = ()) -> sqlite3.Cursor:
        """Run one statement."""
        return self._database.execute(self._expected(statement), parameters)

    def executemany(self, statement: str, rows: Iterable[Sequence[Value]]) -> None:
        """Run one statement for each row. Raises OverflowError and UnicodeEncodeError where SQLite cannot hold one."""
        self._database.executemany(self._expected(statement), rows)

    def _expected(self, statement: str) -> str:
        if not statement.startswith((*WRITES, "SELECT")):
            raise ValueError(f"{statement.partition(' ')[0]} begins no statement that fills.")
        return statement
