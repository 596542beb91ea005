"""Facts from a file: YAML or JSON, any subset of the fact tables. What is absent is unknown.

An unknown table, column or type is an error that names the file and the line.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from myisam_advisor.factbase.partial import NOT_IN_FILE
from myisam_advisor.factbase.storable import LARGEST_INTEGER, storable
from myisam_advisor.texts.yaml_files import line_of
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.errors import UserError, brief, shortened
from myisam_exporter.facts.columns import TABLES, Column, FactTable, Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactRows, FactSet, mark_unknown
from myisam_exporter.look.interval import empty_facts
from myisam_exporter.outside.documents import DocumentError, Limits, parse_json, parse_yaml, read_text
from myisam_exporter.outside.numbers import is_number
from myisam_exporter.outside.quantities import size_in
from myisam_exporter.version import __version__

SCHEMA_VERSION = 1
# What is absent was not asked. `totals: {myisam_tables: null}` was: there are tables that could not be seen (`snapshot` writes it).
NOT_SEEN_THEN = Unknown(
    "not all tables could be seen when the facts were written", "on the server's own host: sudo myisam-advisor check"
)
# `snapshot` writes 2.7 KB a table: a server with 100,000 of them has its place here.
MAXIMUM_BYTES = 320 << 20
MAXIMUM_JSON_MEMORY_BYTES = 512 << 20
# A server has less than 2,000 variables, and as many counters.
MAXIMUM_PAIRS = 20_000
YAML_FACTS = Limits(file_bytes=4 << 20, values=400_000, characters=16 << 20)
# A year has 31,557,600 seconds; an interval of more than a hundred of them is no interval.
MAXIMUM_INTERVAL_SECONDS = 3_155_760_000
# A bare number between quotes is meant as text.
_SCALED = re.compile(r"[0-9]\s*[kmgt]", re.IGNORECASE)
# Columns that exist only with an interval; `status_per_second` is a table of them.
RATE = "_per_second"
SINGULAR_KEYS = frozenset({"schema", "interval_seconds", "time", "tool"})
# What tells one row from another, where all of it is known.
_NAMES_OF_ROWS = {
    "tables": ("schema_name", "table_name"),
    "key_cache": ("name",),
    "indexes": ("schema_name", "table_name", "index_number"),
}
# Texts of which there are a few, as rules compare them. SHOW TABLE STATUS writes Dynamic, SHOW INDEX BTREE and SPATIAL, and people Percona Server.
_WORDS = {
    "server.flavour": ("mysql", "mariadb", "percona"),
    "tables.row_format": ("fixed", "dynamic", "compressed"),
    "indexes.algorithm": ("btree", "rtree", "fulltext"),
}
_OTHER_WORDS = {"spatial": "rtree"}
# 10.10 is a number to YAML and JSON, and another one than what stands there: MariaDB 10.1.
_WRITTEN_VERSION = re.compile(r"\bversion[\"']?\s*:\s*([0-9]+\.[0-9]+)")

KeyPath = tuple[str | int, ...]


class _FactsError(ValueError):
    """A fault at a place in the document."""

    def __init__(self, path: KeyPath, message: str) -> None:
        super().__init__(message)
        self.path = path


def read_facts_file(path: str) -> FactSet:
    """The facts in a file; "-" reads standard input.

    Raises UserError, with the line, when it is not a facts file.
    """
    text = read_text(path, "facts file", MAXIMUM_BYTES, may_be_fifo=True)
    document = _parse(path, text)
    _keep_version(document, text)
    try:
        facts = facts_from_document(document)
        if facts.interval_seconds is None:
            _refuse_rates(document)
        return facts
    except _FactsError as error:
        is_long = len(text) > YAML_FACTS.file_bytes
        where = ".".join(map(str, error.path)) if is_long else f"line {line_of(text, error.path)}"
        raise UserError(f"{path}, {where}: {error}{_of_another_release(document)}") from None


def _of_another_release(document: object) -> str:
    """Which release wrote a file that this one cannot read, where `snapshot` says so."""
    tool = document.get("tool") if isinstance(document, dict) else None
    release = tool.get("version") if isinstance(tool, dict) else None
    if not isinstance(release, str) or release == __version__:
        return ""
    return f" (version {brief(release)} of this program wrote the file, this is {__version__}: read it with that one)"


def facts_from_document(document: object) -> FactSet:
    """The facts in a parsed document."""
    if not isinstance(document, dict):
        raise _FactsError((), "a facts file is a mapping of fact tables; it begins with schema: 1")
    written = document.get("schema")
    if isinstance(written, int) and written > SCHEMA_VERSION:
        raise _FactsError(
            ("schema",),
            f"the file is of a newer version of this program (schema {brief(written)}; this one reads {SCHEMA_VERSION}): "
            "read it with that version",
        )
    if written != SCHEMA_VERSION:
        raise _FactsError(
            ("schema",) if "schema" in document else (),
            f"schema must be {SCHEMA_VERSION}: write schema: {SCHEMA_VERSION} first",
        )
    seconds = document.get("interval_seconds")
    if seconds is not None and not (is_number(seconds) and 0 < seconds <= MAXIMUM_INTERVAL_SECONDS):
        raise _FactsError(
            ("interval_seconds",),
            f"interval_seconds must be a number of seconds above 0 (a hundred years at most), not {brief(seconds)}",
        )
    for name, kind in (("time", str), ("tool", dict)):  # when and by which release a snapshot was made: for people
        if not isinstance(document.get(name, kind()), kind):
            raise _FactsError((name,), f"{name} is what snapshot writes, not {brief(document[name])}: take it out")
    known = {table.name for table in TABLES} | {"status_per_second"} | SINGULAR_KEYS
    for name in document:
        if name not in known:
            raise _FactsError(
                (name,), f"unknown fact table {brief(name)}; known are {', '.join(sorted(known - SINGULAR_KEYS))}"
            )
    tables = {table.name: _rows(table, document) for table in TABLES}
    _refuse_twice(tables)
    absent = empty_facts(NOT_IN_FILE)
    present = {table.name for table in TABLES if table.name in document}
    # An empty list says that there are none: its columns lack nothing.
    present |= {
        f"{name}.{column.name}" for name in present if document[name] == [] for column in declared_columns()[name]
    }
    absent = {name: reason for name, reason in absent.items() if name not in present}
    unknown = mark_unknown(tables, absent)
    unknown |= {f"{table.name}.*": NOT_IN_FILE for table in TABLES if table.shape == "pairs"}
    totals = document.get("totals")
    if isinstance(totals, dict) and totals.get("myisam_tables", ...) is None:
        unknown["totals.myisam_tables"] = NOT_SEEN_THEN
    return FactSet(tables, unknown, None if seconds is None else float(seconds))


def _keep_version(document: object, text: str) -> None:
    """The version as it was written, where it was read as a number."""
    server = document.get("server") if isinstance(document, dict) else None
    if isinstance(server, dict) and isinstance(server.get("version"), float):
        found = _WRITTEN_VERSION.search(text)
        server["version"] = found[1] if found and float(found[1]) == server["version"] else server["version"]


def _refuse_twice(tables: dict[str, FactRows]) -> None:
    """Of two rows for one thing nobody knows which is true."""
    for table, names in _NAMES_OF_ROWS.items():
        known = set()
        for place, row in enumerate(zip(*(tables[table].values(name) for name in names), strict=True)):
            if row in known:
                raise _FactsError((table, place), f"{'.'.join(map(brief, row))} is there twice in {table}")
            if None not in row:
                known.add(row)


def _refuse_rates(document: dict[str, Any]) -> None:
    """Rates exist only with an interval: they were judged without one below a first line of "one moment, no rates"."""
    for table, content in document.items():
        places = enumerate(content) if isinstance(content, list) else [(None, content)]
        for place, row in places:
            for name, value in row.items() if isinstance(row, dict) else ():
                if value is not None and (table.endswith(RATE) or str(name).endswith(RATE)):
                    path = (table, name) if place is None else (table, place, name)
                    raise _FactsError(
                        path,
                        f"{_name(path)} is a rate: write interval_seconds, over how many seconds it was taken. "
                        "Counters since the server's start are not rates: status and key_cache hold them as they are",
                    )


def _parse(path: str, text: str) -> Any:
    """What the text holds, JSON or YAML."""
    if text.startswith(("{", "\n", " ")) and text.lstrip().startswith("{"):
        try:
            return parse_json(text, MAXIMUM_JSON_MEMORY_BYTES)
        except DocumentError as error:
            if error.line is None:
                raise UserError(f"{path}: {error}.") from None
            # YAML's flow style begins so too.
    try:
        if len(text) > YAML_FACTS.file_bytes:
            raise DocumentError(f"YAML of more than {YAML_FACTS.file_bytes} bytes: write it as JSON")
        return parse_yaml(text, YAML_FACTS)
    except DocumentError as error:
        where = f", line {error.line}" if error.line else ""
        raise UserError(f"{path}{where}: neither JSON nor YAML: {error}") from None


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
        row = _row((table.name,), content, names, by_name)
        return FactRows(names, [row] if row != [None] * len(row) else [])
    if not isinstance(content, list):
        raise _FactsError((table.name,), f"{table.name} must be a list of mappings")
    rows = [_row((table.name, place), row, names, by_name) for place, row in enumerate(content)]
    return FactRows(names, _connections(names, rows) if table.name == "processlist" else rows)


def _connections(names: Sequence[str], rows: list[list[Value]]) -> list[list[Value]]:
    """A process list as it was copied has a row for each connection, and counts none."""
    place = names.index("threads")
    return [row if row[place] is not None else [*row[:place], 1, *row[place + 1 :]] for row in rows]


def _row(path: KeyPath, content: object, names: Sequence[str], columns: dict[str, Column]) -> list[Value]:
    if not isinstance(content, dict):
        raise _FactsError(path, f"{path[0]} holds mappings of column to value, not {brief(content)}")
    for name in content:
        if name not in columns:
            raise _FactsError((*path, name), f"unknown column {brief(name)} in {path[0]}; known are {', '.join(names)}")
    return [
        _value((*path, name), content[name], columns[name]) if content.get(name) is not None else None for name in names
    ]


def _value(path: KeyPath, value: object, column: Column) -> Value:
    if isinstance(value, bool):
        value = int(value)
    if column.type == "text":
        if isinstance(value, str | int | float):
            return _text(path, str(value))
    elif isinstance(value, float) and column.type == "real":
        if math.isfinite(value):
            return value
    elif isinstance(value, int | float) and abs(value) <= LARGEST_INTEGER and value == int(value):
        return int(value)
    too_large = isinstance(value, int | float) and abs(value) > LARGEST_INTEGER
    most = f" of at most {LARGEST_INTEGER}" if too_large and column.type == "integer" else ""
    raise _FactsError(path, f"{path[0]}.{column.name} must be {_article(column.type)}{most}, not {brief(value)}")


def _text(path: KeyPath, text: str) -> str:
    """The text; of a column that has but a few, the one that is meant."""
    name = f"{path[0]}.{path[-1]}"
    words = _WORDS.get(name)
    if words is None:
        return str(storable(text))
    said = text.lower()
    for word in words:
        if _OTHER_WORDS.get(said, said).startswith(word):
            return word
    raise _FactsError(path, f"{name} must be {', '.join(words[:-1])} or {words[-1]}, not {brief(text)}")


def _article(kind: str) -> str:
    return {"integer": "a whole number", "real": "a number", "text": "text"}[kind]


def _pair_rows(table: FactTable, names: Sequence[str], document: dict[str, Any]) -> list[list[Value]]:
    values, rates = _named(document, table.name), _named(document, f"{table.name}_per_second")
    rows = []
    for name in dict.fromkeys([*values, *rates]):
        row: dict[str, Value] = {"name": str(name), "value": _pair_value((table.name, name), values.get(name))}
        rate = rates.get(name)
        if rate is not None and not is_number(rate):
            path = (f"{table.name}_per_second", name)
            raise _FactsError(path, f"the rate of {_name(path)} must be a number, not {brief(rate)}")
        row["per_second"] = storable(rate)
        rows.append([row.get(column) for column in names])
    return rows


def _named(document: dict[str, Any], name: str) -> dict[str, Any]:
    """Values by the names that SHOW gives them."""
    named: dict[str, Any] = {}
    for key, value in _mapping(document, name).items():
        shown = _as_shown(str(key), is_variable=name == "variable")
        if shown in named:
            raise _FactsError((name, key), f"{shortened(shown, 80)} is there twice in {name}")
        named[shown] = value
    return named


def _as_shown(name: str, *, is_variable: bool) -> str:
    """A name as SHOW has it: information_schema writes all of it in capitals (MySQL 5.1 to 5.6, MariaDB), exporters in small letters."""
    if is_variable or name.lower().startswith("wsrep_"):
        return name.lower().replace("-", "_")  # option files have dashes
    return name.capitalize() if name.isupper() or name.islower() else name


def _mapping(document: dict[str, Any], name: str) -> dict[str, Any]:
    content = document.get(name) or {}
    if not isinstance(content, dict):
        raise _FactsError((name,), f"{name} must map names to values")
    if len(content) > MAXIMUM_PAIRS:
        raise _FactsError((name,), f"{name} has {len(content)} names; at most {MAXIMUM_PAIRS} are read")
    return content


def _pair_value(path: KeyPath, value: object) -> Value:
    """A variable's value. YAML reads ON as true, JSON leaves "on" as it is; option files write sizes as 64M."""
    if isinstance(value, str) and value.lower() in ("on", "off", "true", "false"):
        value = value.lower() in ("on", "true")
    if isinstance(value, bool):
        return "ON" if value else "OFF"
    if value is None or is_number(value):
        return storable(value)
    if isinstance(value, str):
        size = size_in(value) if _SCALED.search(value) else None
        if size is None:
            return storable(value)
        if math.isfinite(size):
            return storable(int(size))
    raise _FactsError(path, f"the value of {_name(path)} must be a number or text, not {brief(value)}")


def _name(path: KeyPath) -> str:
    return shortened(str(path[-1]), 80)
