"""Facts from a file: YAML or JSON, any subset of the fact tables. What is absent is unknown.

An unknown table, column or type is an error that names the file and the line.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from myisam_advisor.yaml_files import line_of
from myisam_exporter.collector import declared_columns
from myisam_exporter.columns import TABLES, Column, FactTable, Value
from myisam_exporter.errors import UserError
from myisam_exporter.fact_set import FactRows, FactSet, mark_unknown
from myisam_exporter.interval import empty_facts
from myisam_exporter.unknown import Unknown

SCHEMA_VERSION = 1
NOT_IN_FILE = Unknown("not in the facts file")
SINGULAR_KEYS = frozenset({"schema", "interval_seconds"})
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt])(?:i?b)?", re.IGNORECASE)
_SIZE_FACTORS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

KeyPath = tuple[str | int, ...]


class _FactsError(Exception):
    """A fault at a place in the document."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path


def read_facts_file(path: str) -> FactSet:
    """The facts in a file; "-" reads standard input.

    Raises UserError, with the line, when it is not a facts file.
    """
    text = _read(path)
    document = _parse(path, text)
    try:
        return facts_from_document(document)
    except _FactsError as error:
        line = line_of(text, error.path)
        raise UserError(f"{path}, line {line}: {error}") from None


def facts_from_document(document: object) -> FactSet:
    """The facts in a parsed document."""
    if not isinstance(document, dict):
        raise _FactsError((), "a facts file is a mapping of fact tables; it begins with schema: 1")
    if document.get("schema") != SCHEMA_VERSION:
        raise _FactsError(
            ("schema",) if "schema" in document else (),
            f"schema must be {SCHEMA_VERSION}: write schema: {SCHEMA_VERSION} first",
        )
    seconds = document.get("interval_seconds")
    if seconds is not None and (isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0):
        raise _FactsError(
            ("interval_seconds",), f"interval_seconds must be a number of seconds above 0, not {seconds!r}"
        )
    known = {table.name for table in TABLES} | {"status_per_second"} | SINGULAR_KEYS
    for name in document:
        if name not in known:
            raise _FactsError(
                (name,), f"unknown fact table {name!r}; known are {', '.join(sorted(known - SINGULAR_KEYS))}"
            )
    tables = {table.name: _rows(table, document) for table in TABLES}
    absent = empty_facts(NOT_IN_FILE)
    present = {table.name for table in TABLES if table.name in document}
    absent = {name: reason for name, reason in absent.items() if name not in present}
    unknown = mark_unknown(tables, absent)
    unknown |= {f"{table.name}.*": NOT_IN_FILE for table in TABLES if table.shape == "pairs"}
    return FactSet(tables, unknown, None if seconds is None else float(seconds))


def _read(path: str) -> str:
    try:
        if path == "-":
            return sys.stdin.read()
        return Path(path).read_text("utf-8")
    except OSError as error:
        raise UserError(f"cannot read the facts file {path}: {error.strerror}. Check the path.") from None
    except UnicodeDecodeError:
        raise UserError(
            f"{path} is not UTF-8 text, so it is no facts file. Make one with: myisam-advisor snapshot > facts.json"
        ) from None


def _parse(path: str, text: str) -> Any:
    if text.lstrip().startswith("{"):
        try:
            return json.loads(text)
        except json.JSONDecodeError:
            pass  # YAML's flow style begins so too
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(text, Loader=loader)  # noqa: S506 - a safe loader, the C one where there is one
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise UserError(f"{path}{where}: neither JSON nor YAML: {getattr(error, 'problem', None) or error}") from None
    except RecursionError:
        raise UserError(f"{path}: nested too deeply to be a facts file") from None


def _rows(table: FactTable, document: dict[str, Any]) -> FactRows:
    columns = declared_columns()[table.name]
    names = tuple(column.name for column in columns)
    content = document.get(table.name)
    if table.shape == "pairs":
        return FactRows(names, _pair_rows(table, names, document))
    if content is None:
        return FactRows(names, [])
    by_name = {column.name: column for column in columns}
    if table.shape == "single":
        return FactRows(names, [_row((table.name,), content, names, by_name)])
    if not isinstance(content, list):
        raise _FactsError((table.name,), f"{table.name} must be a list of mappings")
    return FactRows(names, [_row((table.name, place), row, names, by_name) for place, row in enumerate(content)])


def _row(path: KeyPath, content: object, names: Sequence[str], columns: dict[str, Column]) -> list[Value]:
    if not isinstance(content, dict):
        raise _FactsError(path, f"{path[0]} holds mappings of column to value, not {content!r}")
    for name in content:
        if name not in columns:
            raise _FactsError((*path, name), f"unknown column {name!r} in {path[0]}; known are {', '.join(names)}")
    return [
        _value((*path, name), content[name], columns[name]) if content.get(name) is not None else None for name in names
    ]


def _value(path: KeyPath, value: object, column: Column) -> Value:
    if isinstance(value, bool):
        value = int(value)
    if column.type == "text":
        if isinstance(value, str | int | float):
            return str(value)
    elif isinstance(value, int) and abs(value) < 1 << 63:
        return value
    elif isinstance(value, float) and math.isfinite(value) and (column.type == "real" or value.is_integer()):
        return value if column.type == "real" else int(value)
    raise _FactsError(path, f"{path[0]}.{column.name} must be {_article(column.type)}, not {value!r}")


def _article(kind: str) -> str:
    return {"integer": "a whole number", "real": "a number", "text": "text"}[kind]


def _pair_rows(table: FactTable, names: Sequence[str], document: dict[str, Any]) -> list[list[Value]]:
    values, rates = _mapping(document, table.name), _mapping(document, f"{table.name}_per_second")
    rows = []
    for name in dict.fromkeys([*values, *rates]):
        row: dict[str, Value] = {"name": str(name), "value": _pair_value((table.name, name), values.get(name))}
        rate = rates.get(name)
        if rate is not None and (
            isinstance(rate, bool) or not isinstance(rate, int | float) or not math.isfinite(rate)
        ):
            raise _FactsError((f"{table.name}_per_second", name), f"the rate of {name} must be a number, not {rate!r}")
        row["per_second"] = rate
        rows.append([row.get(column) for column in names])
    return rows


def _mapping(document: dict[str, Any], name: str) -> dict[str, Any]:
    content = document.get(name) or {}
    if not isinstance(content, dict):
        raise _FactsError((name,), f"{name} must map names to values")
    return content


def _pair_value(path: KeyPath, value: object) -> Value:
    """A variable's value. YAML reads ON as true; option files write sizes as 64M."""
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if value is None or isinstance(value, int | float):
        # SQLite's integers end at 2**63 - 1, and myisam_mmap_size is 2**64 - 1 by default.
        return float(value) if isinstance(value, int) and abs(value) >= 1 << 63 else value
    if isinstance(value, str):
        size = _SIZE.fullmatch(value.strip())
        return int(float(size[1]) * _SIZE_FACTORS[size[2].lower()]) if size else value
    raise _FactsError(path, f"the value of {path[-1]} must be a number or text, not {value!r}")
