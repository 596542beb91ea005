"""Tables of a scenario: rows as benchmarks/made_rows.py draws them, or by an expression of the row's number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.made_rows import given_columns, made_rows
from myisam_advisor.trial.private.private_server import PrivateServer

DATABASE = "made"
MYISAM = "ENGINE=MyISAM DEFAULT CHARSET=latin1"
_DIGITS = "(SELECT 0 AS n" + "".join(f" UNION ALL SELECT {digit}" for digit in range(1, 10)) + ")"
_KEY = re.compile(r"(PRIMARY|UNIQUE)? ?KEY(?: \w+)? ?\((.*)\)")


@dataclass(frozen=True, slots=True)
class MadeTable:
    """A table; `copies` of it have a number behind the name. `values` are expressions of n, the row's number from 0; without any, rows are drawn."""

    name: str
    rows: int
    columns: Mapping[str, str]
    keys: Sequence[str] = ()
    options: str = MYISAM
    values: Mapping[str, str] = field(default_factory=dict)
    copies: int = 1

    @property
    def statement(self) -> str:
        """Its CREATE TABLE, in the database DATABASE."""
        columns = [
            f"{name} {kind if ' NULL' in kind.upper() else f'{kind} NOT NULL'}" for name, kind in self.columns.items()
        ]
        return f"CREATE TABLE {DATABASE}.{self.name} ({', '.join([*columns, *self.keys])}) {self.options}"

    @property
    def description(self) -> dict[str, Any]:
        """As made_rows asks for it."""
        indexes = []
        for key in self.keys:
            found = _KEY.fullmatch(key)
            names = re.findall(r"(\w+)(?:\(\d+\))?(?:,|$)", found[2].replace(" ", "")) if found else []
            if found and names:
                indexes.append({"unique": bool(found[1]), "columns": [{"name": name} for name in names]})
        return {"name": self.name, "indexes": indexes, "columns": [_column(*column) for column in self.columns.items()]}


def _column(name: str, kind: str) -> dict[str, Any]:
    words = kind.lower()
    plain = re.sub(r" (not null|null|auto_increment|default .*)", "", words)
    return {
        "name": name, "type": plain, "nullable": " null" in words and " not null" not in words,
        "extra": "auto_increment" if "auto_increment" in words else "",
    }  # fmt: skip


def make_tables(server: PrivateServer, tables: Sequence[MadeTable]) -> None:
    """Make and fill them."""
    if tables:
        server.execute(f"CREATE DATABASE {DATABASE}")
    for table in tables:
        server.execute(table.statement)
        if table.rows:
            _fill(server, table)
        copies = [f"{table.name}{number}" for number in range(1, table.copies)]
        for copy in copies:
            full = f"INSERT INTO {DATABASE}.{copy} SELECT * FROM {DATABASE}.{table.name}"
            server.execute(
                f"CREATE TABLE {DATABASE}.{copy} LIKE {DATABASE}.{table.name}", *([full] if table.rows else [])
            )


def _fill(server: PrivateServer, table: MadeTable) -> None:
    server.execute(f"ALTER TABLE {DATABASE}.{table.name} DISABLE KEYS")
    if table.values:
        places = len(str(max(table.rows - 1, 1)))
        number = " + ".join(f"d{place}.n * {10**place}" for place in range(places))
        joined = " CROSS JOIN ".join(f"{_DIGITS} AS d{place}" for place in range(places))
        server.execute(
            f"INSERT INTO {DATABASE}.{table.name} ({', '.join(table.values)}) "
            f"SELECT {', '.join(table.values.values())} FROM (SELECT {number} AS n FROM {joined}) AS numbers WHERE n < {table.rows}"
        )
    else:
        place = server.directory / "rows"
        with place.open("w", encoding="ascii") as file:
            for chunk in made_rows("advice", table.description, table.rows):
                file.write("\n".join(chunk) + "\n")
        place.chmod(0o644)
        columns = ", ".join(column["name"] for column in given_columns(table.description))
        into = f"LOAD DATA INFILE '{place}' IGNORE INTO TABLE {DATABASE}.{table.name} CHARACTER SET latin1 ({columns})"
        server.execute("SET SESSION sql_mode=''", into)
        place.unlink()
    server.execute(f"ALTER TABLE {DATABASE}.{table.name} ENABLE KEYS")
