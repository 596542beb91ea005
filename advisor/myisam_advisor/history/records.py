"""The entries of a history, each under a checksum of its own: the one place where they are written and read.

SQLite keeps no checksums: a flipped bit in a value, or in the length of one, is a value like any other to it. An entry whose checksum, or the
form of whose values, is not right is skipped and counted. Where SQLite itself loses its way in a page, entries are asked for one by one.

Source: sqlite.org/fileformat2.html (there is no checksum in it), sqlite.org/howtocorrupt.html
"""

from __future__ import annotations

import math
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.numbers import is_moment, is_number

MAXIMUM_TEXT_CHARACTERS = 1 << 20
MAXIMUM_SALVAGED = 1_000_000
# What passes by itself, or is for the administrator to mend: it says nothing about the file's content.
PASSING = (
    "locked",
    "busy",
    "full",
    "readonly",
    "read-only",
    "disk i/o",
    "unable to open",
    "out of memory",
    "interrupted",
    "permission",
)
Cell = int | float | str | bytes | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the history: its columns with what each holds (moment, number, id, text, blob; with ? where it may be unknown)."""

    name: str
    columns: Mapping[str, str]
    key: str

    @property
    def definition(self) -> str:
        """The statement that makes it."""
        types = {"moment": "REAL", "number": "REAL", "id": "INTEGER", "text": "TEXT", "blob": "BLOB"}
        columns = (
            f"{name} {types[kind.rstrip('?')]}{'' if kind.endswith('?') else ' NOT NULL'}"
            for name, kind in self.columns.items()
        )
        return f"CREATE TABLE IF NOT EXISTS {self.name} ({', '.join(columns)}, checksum INTEGER{self.key});"

    def is_sound(self, values: Sequence[Any], checksum: Any) -> bool:
        """Whether an entry is as it was written; of one from before there were checksums, whether its form is right."""
        if checksum is not None and checksum != checksum_of(self.name, values):
            return False
        return all(
            _FORMS[kind.rstrip("?")](value) if value is not None else kind.endswith("?")
            for value, kind in zip(values, self.columns.values(), strict=True)
        )


def _is_id(value: Any) -> bool:
    return isinstance(value, int)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= MAXIMUM_TEXT_CHARACTERS


def _is_blob(value: Any) -> bool:
    return isinstance(value, bytes)


_FORMS: Mapping[str, Callable[[Any], bool]] = {
    "moment": is_moment,
    "number": is_number,
    "id": _is_id,
    "text": _is_text,
    "blob": _is_blob,
}


def checksum_of(table: str, values: Iterable[Cell]) -> int:
    """The CRC-32 of an entry, which finds every single flipped bit: over the values, each with its type and length."""
    checksum = zlib.crc32(table.encode())
    for value in values:
        if value is None:
            part = b"n"
        elif isinstance(value, int | float):
            part = b"d" + struct.pack("<d", value + 0.0)
        else:
            content = value.encode("utf-8", "replace") if isinstance(value, str) else value
            part = b"%c%d:%b" % (b"s" if isinstance(value, str) else b"b", len(content), content)
        checksum = zlib.crc32(part, checksum)
    return checksum


# SQLite quotes what is damaged in its messages, and Python cannot read every one of them.
FILE_FAULTS = (sqlite3.Error, UnicodeDecodeError)


def is_damage(error: Exception) -> bool:
    """Whether an error of FILE_FAULTS tells of the file's content, rather than of a lock, a disk or a right."""
    if isinstance(error, UnicodeDecodeError):
        return True
    text = str(error).lower()
    if isinstance(error, sqlite3.OperationalError) and any(word in text for word in PASSING):
        return False
    return isinstance(error, sqlite3.DatabaseError)


@dataclass(slots=True)
class Records:
    """A history that is open: entries go in and come out through here. `damaged` are those that were met and skipped."""

    database: sqlite3.Connection
    sealed: bool = True
    damaged: set[tuple[str, int]] = field(default_factory=set)
    torn: bool = False

    def __post_init__(self) -> None:
        # A flipped bit in a text need not leave UTF-8: that is for the checksum to find.
        self.database.text_factory = lambda content: content.decode("utf-8", "replace")

    def put(self, table: Table, rows: Iterable[Sequence[Cell]]) -> None:
        """Write entries; one with the same key is replaced."""
        places = ", ".join("?" * (len(table.columns) + 1))
        names = ", ".join((*table.columns, "checksum"))
        writable = ([_writable(value) for value in row] for row in rows)
        self.database.executemany(
            f"INSERT OR REPLACE INTO {table.name} ({names}) VALUES ({places})",
            ([*row, checksum_of(table.name, row)] for row in writable),
        )

    def has(self, table: Table) -> bool:
        """Whether the file has this table: one from before changes were noted has not all of them."""
        return self.database.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table.name,)).fetchone() is not None

    def rows(
        self, table: Table, where: str = "1", parameters: Sequence[Cell] = (), order: str = ""
    ) -> Iterator[tuple[Any, ...]]:
        """The sound entries. Where SQLite cannot give all, those that can be had follow in no order.

        Raises sqlite3.Error where it is not the file's content that is at fault.
        """
        seen: set[int] = set()
        ending = f" ORDER BY {order}" if order else ""
        try:
            for row in self.database.execute(f"{self._select(table)} WHERE {where}{ending}", parameters):
                seen.add(row[0])
                yield from self._sound(table, row)
        except FILE_FAULTS as error:
            if not is_damage(error):
                raise
        else:
            return
        self.torn = True
        for rowid in self._rowids(table) - seen:
            yield from self._one(table, rowid, where, parameters)

    def _select(self, table: Table) -> str:
        checksum = "checksum" if self.sealed else "NULL"
        return f"SELECT rowid, {', '.join(table.columns)}, {checksum} FROM {table.name}"

    def _sound(self, table: Table, row: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
        rowid, *values, checksum = row
        if table.is_sound(values, checksum):
            yield tuple(values)
        else:
            self.damaged.add((table.name, rowid))

    def _one(self, table: Table, rowid: int, where: str, parameters: Sequence[Cell]) -> Iterator[tuple[Any, ...]]:
        try:
            row = self.database.execute(
                f"{self._select(table)} NOT INDEXED WHERE rowid = {rowid} AND ({where})", parameters
            ).fetchone()
        except FILE_FAULTS as error:
            if not is_damage(error):
                raise
            self.damaged.add((table.name, rowid))
            return
        if row is not None:
            yield from self._sound(table, row)

    def _rowids(self, table: Table) -> set[int]:
        """From both ends of the table, and of its index by age: what one way does not reach another may."""
        found: set[int] = set()
        ways = [f"NOT INDEXED ORDER BY rowid {direction}" for direction in ("ASC", "DESC")]
        if "taken_at" in table.columns:
            ways += [f"ORDER BY taken_at {direction}" for direction in ("ASC", "DESC")]
        for way in ways:
            try:
                for (rowid,) in self.database.execute(f"SELECT rowid FROM {table.name} {way} LIMIT {MAXIMUM_SALVAGED}"):
                    found.add(rowid)
            except FILE_FAULTS as error:
                if not is_damage(error):
                    raise
        return found


def _writable(value: Cell) -> Cell:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    return None if isinstance(value, float) and not math.isfinite(value) else value
