"""Structures of real applications (../shared/schemas) as statements that make their tables. Where they are not there, tests are skipped by name."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import ROOT

SCHEMAS = ROOT.parent.parent / "shared" / "schemas", ROOT.parent / "shared" / "schemas"
UTF8MB3 = re.compile(r"\butf8mb3")


def applications() -> list[Path]:
    """Their files."""
    return sorted(path for folder in SCHEMAS for path in folder.glob("*.json"))


def needs_applications() -> pytest.MarkDecorator:
    """Marks what cannot run without them."""
    return pytest.mark.skipif(not applications(), reason="../shared/schemas is not there: the structures of real applications")


def tables_of(path: Path) -> list[dict[str, Any]]:
    """The tables of one application; MERGE tables last, behind their members."""
    tables: list[dict[str, Any]] = json.loads(path.read_text("utf-8"))["tables"]
    return sorted(tables, key=lambda table: table["engine"] != "MyISAM")


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def statement_of(table: dict[str, Any], *, utf8mb3: bool) -> str:
    """CREATE TABLE as the application has it; `utf8mb3` where the server knows that name."""
    lines = [_column(column) for column in table["columns"]] + [_index(index) for index in table["indexes"]]
    union = f" UNION=({', '.join(map(quoted, table['union']))})" if "union" in table else ""
    engine = "MRG_MyISAM" if union else "MyISAM"
    collation = f"DEFAULT CHARSET={table['charset']} COLLATE={table['collation']}"
    options = " ".join(word for word in table["create_options"].split() if word != "partitioned")
    text = f"CREATE TABLE {quoted(table['name'])} ({', '.join(lines)}) ENGINE={engine} {collation} {options}{union}{_partitions(table)}"
    return text if utf8mb3 else UTF8MB3.sub("utf8", text)


def _column(column: dict[str, Any]) -> str:
    charset = f" CHARACTER SET {column['charset']} COLLATE {column['collation']}" if column["charset"] else ""
    words = [quoted(column["name"]), column["type"] + charset, "NULL" if column["nullable"] else "NOT NULL"]
    default = column["default"]
    if default is not None and not (default == "NULL" and not column["nullable"]):
        words.append(f"DEFAULT {default.replace('current_timestamp()', 'CURRENT_TIMESTAMP')}")
    if column["extra"]:
        words.append(column["extra"].replace("current_timestamp()", "CURRENT_TIMESTAMP"))
    return " ".join(words)


def _index(index: dict[str, Any]) -> str:
    parts = ", ".join(quoted(part["name"]) + (f"({part['prefix']})" if part["prefix"] else "") for part in index["columns"])
    if index["name"] == "PRIMARY":
        return f"PRIMARY KEY ({parts})"
    kind = index["type"] if index["type"] != "BTREE" else "UNIQUE" if index["unique"] else ""
    return f"{kind} KEY {quoted(index['name'])} ({parts})"


def _partitions(table: dict[str, Any]) -> str:
    found = table.get("partitioning")
    if not found:
        return ""
    parts = ", ".join(f"PARTITION {quoted(part['name'])} {_values(found['method'], part)}" for part in found["partitions"])
    return f" PARTITION BY {found['method']} ({found['expression']}) ({parts})"


def _values(method: str, part: dict[str, Any]) -> str:
    bound = part["description"]
    if method.startswith("RANGE"):
        return f"VALUES LESS THAN {bound if bound == 'MAXVALUE' else f'({bound})'}"
    return f"VALUES IN ({bound})" if method.startswith("LIST") else ""


def all_tables() -> Iterator[tuple[str, dict[str, Any]]]:
    """Application and table."""
    for path in applications():
        for table in tables_of(path):
            yield path.stem, table
