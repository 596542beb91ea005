"""Rows for a table of which only the structure is known: of each column a profile is drawn - how full, how many values, how many zeros.

The draws are fixed by the names of application, table and column: another run makes the same rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

CHUNK_ROWS = 20_000
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789    "
NULL = r"\N"
NUMBERS = {"tinyint": 1, "smallint": 2, "mediumint": 3, "int": 4, "bigint": 8}
TEXTS = {"tinytext": 60, "text": 400, "mediumtext": 1500, "longtext": 1500, "tinyblob": 60, "blob": 400, "mediumblob": 1500, "longblob": 1500}  # fmt: skip
SOME_TIME = 1_200_000_000


class MadeColumn:
    """One column's values, chunk by chunk."""

    def __init__(self, table: str, column: Mapping[str, Any], indexed: bool, unique: bool, rows: int) -> None:
        self.random = Random(f"{table}.{column['name']}")  # noqa: S311 -- repeatable, not secret
        self.words = "".join(self.random.choices(LETTERS, k=200_000))
        self.kind, _, rest = re.sub(r" unsigned| zerofill", "", column["type"]).partition("(")
        self.inner = rest.rpartition(")")[0]
        self.counts = column["extra"] == "auto_increment"
        self.unsigned = "unsigned" in column["type"]
        self.nulls = self.random.choice([0.0, 0.1, 0.6]) if column["nullable"] and not unique else 0.0
        self.zeros = 0.0 if unique else self.random.choice([0.0, 0.0, 0.2, 0.7] if indexed else [0.0, 0.2, 0.5, 0.9])
        self.fill = self.random.choice([0.1, 0.25, 0.5, 0.8])
        self.values = rows * 50 if unique else self.random.choice([8, 300, max(rows // 20, 8), rows * 20])
        self.ascends = not unique and re.search(r"time|date|stamp", column["name"]) is not None

    def chunk(self, start: int, count: int) -> list[str]:
        """The values of so many rows from this one on."""
        if self.counts:
            return [str(number) for number in range(start + 1, start + count + 1)]
        made = [self._value(start + number) for number in range(count)]
        draw = self.random.random
        if self.nulls:
            made = [NULL if draw() < self.nulls else value for value in made]
        return made

    def _value(self, row: int) -> str:
        number = row * 7 if self.ascends else self.random.randrange(self.values)
        is_zero = self.zeros > 0 and self.random.random() < self.zeros
        if self.kind in NUMBERS:
            bits = NUMBERS[self.kind] * 8 - (0 if self.unsigned else 1)
            return "0" if is_zero else str((SOME_TIME + number if self.ascends and bits > 24 else number) % (1 << bits))
        if self.kind in ("enum", "set"):
            members = re.findall(r"'((?:[^']|'')*)'", self.inner)
            return str(members[number % len(members)]).replace("''", "'")
        if self.kind in ("date", "datetime", "timestamp", "time", "year"):
            return self._moment(SOME_TIME + number * 37 % 300_000_000)
        if self.kind in ("float", "double", "decimal"):
            return (
                "0"
                if is_zero
                else f"{number % 97}.{number % 89}"
                if "," in self.inner or not self.inner
                else str(number % 9)
            )
        return "" if is_zero else self._text(number)

    def _moment(self, seconds: int) -> str:
        days, rest = divmod(seconds, 86_400)
        clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
        day = f"{1970 + days // 365}-{days % 365 // 31 + 1:02d}-{days % 28 + 1:02d}"
        if self.kind == "year":
            return str(1970 + days // 365)
        return clock if self.kind == "time" else day if self.kind == "date" else f"{day} 03{clock[2:]}"

    def _text(self, number: int) -> str:
        """Always the same one for a number, its length around the share that is full."""
        longest = int(self.inner) if self.inner.isdecimal() else 60_000
        mean = TEXTS.get(self.kind) or longest * self.fill
        varied = number * 2_654_435_761 % 4_294_967_296
        length = max(min(int(mean * (0.5 + varied / 4_294_967_296)), longest), 1)
        place = varied % (len(self.words) - length) if length < len(self.words) else 0
        text = (f"{number:x}"[::-1] + self.words[place : place + length])[:length]
        return text.rstrip() or "a"


def made_rows(application: str, table: Mapping[str, Any], rows: int) -> Iterator[list[str]]:
    """The lines of such a table, in chunks, for LOAD DATA; generated columns have no place in them."""
    name = f"{application}.{table['name']}"
    indexed = {part["name"] for index in table["indexes"] for part in index["columns"]}
    unique = {index["columns"][-1]["name"] for index in table["indexes"] if index["unique"]}
    columns = [
        MadeColumn(name, one, one["name"] in indexed, one["name"] in unique, rows) for one in given_columns(table)
    ]
    for start in range(0, rows, CHUNK_ROWS):
        count = min(CHUNK_ROWS, rows - start)
        yield list(map("\t".join, zip(*(column.chunk(start, count) for column in columns), strict=True)))


def given_columns(table: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Those that take a value."""
    return [column for column in table["columns"] if not column.get("generated")]
