"""Where an engine is tried: a private server on a copy of the data, its tables converted, its counters read, killed and begun anew."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path

from myisam_advisor.remedies.engine_change import INNODB, SummedColumn, sum_of_values
from myisam_advisor.trial.engines.settings import MYISAM
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import run
from myisam_advisor.trial.statements.stages import copy_directory
from myisam_advisor.trial.tables.copied_table import is_generated
from myisam_advisor.trial.tables.sources import Source
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table

# Types whose values not every server gives a CRC32 of as they stand.
HEX_TYPES = frozenset((
    "bit", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geometrycollection", "geomcollection",
    "vector",
))  # fmt: skip
# A YEAR(2) may be a YEAR(4) behind the ALTER: nothing tells then what it was.
YEARS = "year"
DEFINITIONS = frozenset((".frm", ".sdi", ".opt"))
ROW_LOCK_WAITS, TABLE_LOCK_WAITS, DEADLOCKS = "innodb_row_lock_waits", "table_locks_waited", "innodb_deadlocks"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the private server shows it."""

    name: str
    type: str
    nullable: bool
    generated: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows there are, and the sum over their values."""

    count: int
    total: str


@dataclass(frozen=True, slots=True)
class Locks:
    """What statements waited for. `deadlocks` is None where the server does not tell."""

    waits: int | None
    deadlocks: int | None

    def since(self, before: Locks) -> Locks:
        """What came since then."""
        return Locks(_difference(self.waits, before.waits), _difference(self.deadlocks, before.deadlocks))

    def plus(self, more: Locks) -> Locks:
        """Both together."""
        return Locks(_sum(self.waits, more.waits), _sum(self.deadlocks, more.deadlocks))


NONE_YET = Locks(0, 0)


@dataclass(frozen=True, slots=True)
class EngineServer:
    """A private server on which the tables are of this engine."""

    engine: str
    server: PrivateServer

    def locks(self) -> Locks:
        """What was waited for since the start. Locks of whole tables are taken in one order: they know no deadlock."""
        status = {
            text_of(name).lower(): whole_number(text_of(value))
            for name, value in self.server.execute("SHOW GLOBAL STATUS WHERE Variable_name LIKE '%lock%'")
        }
        if self.engine != INNODB:
            return Locks(status.get(TABLE_LOCK_WAITS), 0)
        deadlocks = status.get(DEADLOCKS)
        return Locks(status.get(ROW_LOCK_WAITS), self._deadlocks() if deadlocks is None else deadlocks)

    def _deadlocks(self) -> int | None:
        """MySQL's counter, which is on unless somebody turned it off."""
        rows = self.server.execute(
            "SELECT COUNT FROM information_schema.INNODB_METRICS WHERE NAME = 'lock_deadlocks' AND STATUS = 'enabled'"
        )
        return whole_number(text_of(rows[0][0])) if rows else None

    def columns(self, table: Source) -> list[Column]:
        """The table's columns."""
        rows = self.server.execute(f"SHOW COLUMNS FROM {named(table)}")
        return [
            Column(
                text_of(row[0]),
                text_of(row[1]).lower(),
                text_of(row[2]).upper() == "YES",
                is_generated(text_of(row[5])),
            )
            for row in rows
        ]

    def rows(self, table: Source) -> Rows:
        """How many rows it has, and the sum over their values, which each engine computes alike."""
        summed = [
            SummedColumn(
                one.name,
                one.nullable,
                one.type.partition("(")[0].split(" ")[0] in HEX_TYPES,
                one.type.startswith(YEARS),
            )
            for one in self.columns(table)
            if not one.generated
        ]
        count, total = self.server.execute(f"SELECT COUNT(*), {sum_of_values(summed)} FROM {named(table)}")[0]
        return Rows(int(str(count)), str(total))

    def folder_bytes(self, table: Source) -> int:
        """All files of the table's database but definitions: those of FULLTEXT indexes in InnoDB are named otherwise than their table."""
        folder = self.server.data_directory / table.folder
        return sum(
            path.stat(follow_symlinks=False).st_size for path in folder.iterdir() if path.suffix not in DEFINITIONS
        )

    def warm(self, tables: Sequence[Source]) -> None:
        """Everything in memory, as far as it has room: the rows, and each index."""
        for table in tables:
            name = named(table)
            if self.engine == MYISAM:
                self.server.execute(f"LOAD INDEX INTO CACHE {name}")
            for index in self._indexes(name):
                self.server.execute(f"SELECT COUNT(*) FROM {name} FORCE INDEX ({index})")
            # Of a column's values each row must be looked at: COUNT(*) alone MyISAM knows without.
            self.server.execute(f"SELECT MAX(CRC32({quote_identifier(self.columns(table)[-1].name)})) FROM {name}")

    def _indexes(self, name: Sql) -> list[Sql]:
        rows = self.server.execute(f"SHOW INDEX FROM {name}")
        return [
            quote_identifier(one)
            for one in dict.fromkeys(text_of(row[2]) for row in rows if text_of(row[10]) == "BTREE")
        ]

    def kill(self) -> None:
        """SIGKILL; it is down afterwards."""
        self.server.stop(signal.SIGKILL)
        run("rm", "-f", "--", str(self.server.socket))

    def start_again(self) -> None:
        """After a death of its own."""
        self.kill()
        self.server.start()


def named(table: Source) -> Sql:
    """The table's name in SQL."""
    return quote_table(table.schema, table.table)


def server_on_copy(
    engine: str, template: PrivateServer, options: Sequence[str], folder: Path
) -> EngineServer:  # fmt: skip
    """A server of its own, not yet started, on a copy of the stopped template's data."""
    folder.mkdir()
    copy_directory(template.data_directory, folder / "data")
    server = PrivateServer(template.binaries, options, folder)
    server.give_away(folder)
    return EngineServer(engine, server)


def keep_data(one: EngineServer) -> Path:
    """A copy of the server's data as they are, to begin runs from; the server goes on."""
    kept = one.server.directory / "kept"
    one.server.stop()
    copy_directory(one.server.data_directory, kept)
    one.server.restart()
    return kept


def put_back(one: EngineServer, kept: Path) -> None:
    """The server's data as they were kept; it runs again afterwards."""
    one.kill()
    run("rm", "-rf", "--", str(one.server.data_directory))
    copy_directory(kept, one.server.data_directory)
    one.server.start()


def error_words(error: Exception) -> tuple[int, str]:
    """The number and the words of a server's refusal."""
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    return number, str(error.args[-1]) if error.args else str(error)


def server_error() -> type[Exception]:
    """What a server's refusals are raised as."""
    return driver().error


def text_of(value: object) -> str:
    """A value as text, of whichever type the library gives it."""
    return value.decode(errors="replace") if isinstance(value, bytes) else "" if value is None else str(value)


def _difference(now: int | None, before: int | None) -> int | None:
    return None if now is None or before is None else max(now - before, 0)


def _sum(first: int | None, second: int | None) -> int | None:
    return None if first is None or second is None else first + second
