"""What the history file holds, for the daemon that writes it and the commands that read it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any

from myisam_exporter.collector import declared_columns
from myisam_exporter.columns import Value
from myisam_exporter.fact_set import FactRows, FactSet
from myisam_exporter.table_choice import Choice
from myisam_exporter.unknown import Unknown

FORMAT = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS target (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sample (
    target INTEGER NOT NULL, taken_at REAL NOT NULL, interval_seconds REAL, facts BLOB NOT NULL, UNIQUE (target, taken_at)
);
CREATE INDEX IF NOT EXISTS sample_by_age ON sample (taken_at);
CREATE TABLE IF NOT EXISTS latest (
    target INTEGER PRIMARY KEY, taken_at REAL NOT NULL, identity TEXT NOT NULL, started_at REAL, facts BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS episode (
    target INTEGER NOT NULL, rule TEXT NOT NULL, object TEXT NOT NULL, first_seen REAL NOT NULL, last_seen REAL NOT NULL,
    severity TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (target, rule, object, first_seen)
);
"""
# Whole facts of more tables are not kept: writing them every minute would cost more than `check` gains by them.
MAXIMUM_WHOLE_TABLES, MAXIMUM_WHOLE_INDEXES = 20_000, 60_000
SINGLES = ("server", "totals", "mysqld", "host")
KEYED = {"key_cache": "name", "mutex_wait": "name"}
TABLE_COLUMNS = (
    "rows", "data_bytes", "index_bytes", "free_bytes", "write_statements_per_second", "rows_added_per_second", "rows_read_per_second",
    "lock_wait_seconds_per_second", "data_resident_bytes", "data_dirty_bytes", "data_recently_evicted_bytes", "index_resident_bytes",
)  # fmt: skip
SIGNIFICANT_DIGITS = 6
_ACTIVE = ("write_statements_per_second", "rows_read_per_second", "data_recently_evicted_bytes")


def samples_of(facts: FactSet, choice: Choice) -> dict[str, float | None]:
    """The numbers worth a curve, by name: `mysqld.threads`, `status.Key_reads.per_second`, `key_cache.reads[default]`.

    None is unknown. Of the tables, those that are shown and did something.
    """
    samples: dict[str, float | None] = {}
    for table in SINGLES:
        numeric = {column.name for column in declared_columns()[table] if column.type != "text"}
        samples |= {
            f"{table}.{name}": _rounded(value) for name, value in facts.single(table).items() if name in numeric
        }
    for row in facts.tables["status"].dictionaries():
        if row["per_second"] is not None:
            samples[f"status.{row['name']}.per_second"] = _rounded(row["per_second"])
        elif isinstance(row["value"], int | float):
            samples[f"status.{row['name']}"] = _rounded(row["value"])
    for table, key in KEYED.items():
        for row in facts.tables[table].dictionaries():
            named = {f"{table}.{name}[{row[key]}]": value for name, value in row.items() if name != key}
            samples |= {name: _rounded(value) for name, value in named.items()}
    for active in _active(choice.shown):
        table_name = f"{active['schema_name']}.{active['table_name']}"
        samples |= {f"tables.{name}[{table_name}]": _rounded(active[name]) for name in TABLE_COLUMNS}
    return samples


def _active(tables: FactRows) -> Iterable[Mapping[str, Value]]:
    return (row for row in tables.dictionaries() if any(row[name] for name in _ACTIVE))


def _rounded(value: Value) -> float | None:
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}")
    return value if isinstance(value, int) else None


def pack_facts(facts: FactSet) -> bytes | None:
    """All facts, to be judged again by `check`; None when there are too many tables or indexes."""
    tables_and_indexes = (len(facts.tables["tables"].rows), len(facts.tables["indexes"].rows))
    if tables_and_indexes[0] > MAXIMUM_WHOLE_TABLES or tables_and_indexes[1] > MAXIMUM_WHOLE_INDEXES:
        return None
    tables = ",".join(f"{_json(name)}:{table.once('json', _table_json)}" for name, table in facts.tables.items())
    rest = _json(
        {
            "interval_seconds": facts.interval_seconds,
            "unknown": {name: [reason.reason, reason.remedy, reason.off] for name, reason in facts.unknown.items()},
            "notes": [[note.reason, note.remedy, note.off] for note in facts.notes],
        }
    )
    return zlib.compress(f'{{"tables":{{{tables}}},{rest[1:]}'.encode("utf-8", "surrogatepass"), 1)


def _table_json(table: FactRows) -> str:
    return _json({"columns": table.columns, "rows": list(map(list, table.rows))})


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":"))


def unpack_facts(packed: bytes, origin: str) -> FactSet | None:
    """What `pack_facts` packed; None when it was written by a version with other columns."""
    document: dict[str, Any] = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
    tables = {name: FactRows(tuple(table["columns"]), table["rows"]) for name, table in document["tables"].items()}
    wanted = {name: tuple(column.name for column in columns) for name, columns in declared_columns().items()}
    if {name: table.columns for name, table in tables.items()} != wanted:
        return None
    return FactSet(
        tables,
        {name: Unknown(*reason) for name, reason in document["unknown"].items()},
        document["interval_seconds"],
        tuple(Unknown(*note) for note in document["notes"]),
        origin,
    )


def identity_of(facts: FactSet, now: float) -> tuple[str, float | None]:
    """Which server these facts are of, as it says itself, and when it started."""
    server = facts.single("server")
    port = next((row["value"] for row in facts.tables["variable"].dictionaries() if row["name"] == "port"), None)
    uptime = server.get("uptime_seconds")
    started = now - uptime if isinstance(uptime, int | float) else None
    return identity(server.get("hostname"), port, server.get("data_directory")), started


def identity(hostname: object, port: object, data_directory: object) -> str:
    """One text for a server."""
    return f"{hostname}:{port}:{data_directory}"
