"""What the history file holds, for the daemon that writes it and the commands that read it."""

from __future__ import annotations

import hashlib
import json
import math
import zlib
from collections.abc import Iterable, Mapping
from itertools import compress
from typing import Any

from myisam_advisor.errors import DamagedError
from myisam_advisor.history.records import Records, Table
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.look.table_choice import Choice
from myisam_exporter.outside.documents import DocumentError, parse_json
from myisam_exporter.outside.numbers import is_number

# 1 had no checksums. Both are read; what a newer version wrote is left alone.
FORMAT = 2
FORMATS = (1, FORMAT)
TARGET = Table("target", {"id": "id", "label": "text"}, ", PRIMARY KEY (id), UNIQUE (label)")
SAMPLE = Table(
    "sample",
    {"target": "id", "taken_at": "moment", "interval_seconds": "number?", "facts": "blob"},
    ", UNIQUE (target, taken_at)",
)
LATEST = Table(
    "latest",
    {"target": "id", "taken_at": "moment", "identity": "text", "started_at": "moment?", "facts": "blob"},
    ", PRIMARY KEY (target)",
)
EPISODE = Table(
    "episode",
    {
        "target": "id", "rule": "text", "object": "text", "first_seen": "moment", "last_seen": "moment", "severity": "text", "message": "text",
    },
    ", PRIMARY KEY (target, rule, object, first_seen)",
)  # fmt: skip
# How an episode went: whether its begin was seen, when it was seen to be gone, the pauses within.
COURSE = Table(
    "course",
    {
        "target": "id", "rule": "text", "object": "text", "first_seen": "moment", "begin_seen": "id", "gone_at": "moment?", "pauses": "id",
        "away_seconds": "number",
    },
    ", PRIMARY KEY (target, rule, object, first_seen)",
)  # fmt: skip
# Looks without a gap between them.
STRETCH = Table(
    "stretch",
    {"target": "id", "begun_at": "moment", "ended_at": "moment", "pause_seconds": "number"},
    ", PRIMARY KEY (target, begun_at)",
)
SETTING = Table("setting", {"target": "id", "name": "text", "value": "text?"}, ", PRIMARY KEY (target, name)")
CHANGE = Table("change", {"target": "id", "noticed_at": "moment", "name": "text", "old": "text?", "new": "text?"}, "")
TABLES = (TARGET, SAMPLE, LATEST, EPISODE, COURSE, STRETCH, SETTING, CHANGE)
SCHEMA = "\n".join(
    [*(table.definition for table in TABLES), "CREATE INDEX IF NOT EXISTS sample_by_age ON sample (taken_at);"]
)
# What a sample, and the last facts whole, may become when they are unpacked: a few kilobytes can stand for gigabytes.
MAXIMUM_SAMPLE_BYTES = 32 << 20
MAXIMUM_WHOLE_BYTES = 64 << 20
MAXIMUM_JSON_MEMORY_BYTES = 512 << 20
# Whole facts of more tables are not kept: writing them every minute would cost more than `check` gains by them.
MAXIMUM_WHOLE_TABLES, MAXIMUM_WHOLE_INDEXES = 20_000, 60_000
SINGLES = ("server", "totals", "mysqld", "host")
KEYED = {"key_cache": "name", "mutex_wait": "name"}
TABLE_COLUMNS = (
    "rows", "data_bytes", "index_bytes", "free_bytes", "write_statements_per_second", "rows_added_per_second", "rows_read_per_second",
    "lock_wait_seconds_per_second", "data_resident_bytes", "data_dirty_bytes", "data_recently_evicted_bytes", "index_resident_bytes",
)  # fmt: skip
SIGNIFICANT_DIGITS = 6
_SHORT = f"%.{SIGNIFICANT_DIGITS}g"
LARGEST_NUMBER = 1e300
_CELLS = frozenset((int, float, str, type(None)))
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
    rates = facts.tables["status"].by_name("per_second")
    for name, value in facts.tables["status"].by_name("value").items():
        if rates[name] is not None:
            samples[f"status.{name}.per_second"] = _rounded(rates[name])
        elif isinstance(value, int | float):
            samples[f"status.{name}"] = _rounded(value)
    for table, key in KEYED.items():
        for row in facts.tables[table].dictionaries():
            named = {f"{table}.{name}[{row[key]}]": value for name, value in row.items() if name != key}
            samples |= {name: _rounded(value) for name, value in named.items()}
    for active in _active(choice.shown):
        table_name = f"{active['schema_name']}.{active['table_name']}"
        samples |= {f"tables.{name}[{table_name}]": _rounded(active[name]) for name in TABLE_COLUMNS}
    return samples


def _active(tables: FactRows) -> Iterable[Mapping[str, Value]]:
    did_something = map(any, zip(*map(tables.values, _ACTIVE), strict=True))
    return (dict(zip(tables.columns, row, strict=True)) for row in compress(tables.rows, did_something))


def _rounded(value: Value) -> float | None:
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(_SHORT % value) if value else value
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


def pack_sample(facts: FactSet, choice: Choice, beside: Mapping[str, float | None]) -> bytes:
    """The numbers worth a curve, and those `beside` them, as the file holds them."""
    return zlib.compress(_json({**samples_of(facts, choice), **beside}).encode("utf-8", "backslashreplace"), 1)


def unpack_sample(packed: bytes) -> Mapping[str, float | None]:
    """What `pack_sample` packed. Raises DamagedError."""
    document = _unpacked(packed, MAXIMUM_SAMPLE_BYTES)
    if not isinstance(document, dict):
        raise DamagedError("a sample is a mapping of facts to numbers")
    return {name: value for name, value in document.items() if value is None or is_number(value, LARGEST_NUMBER)}


def unpack_sample_of(records: Records, packed: bytes) -> Mapping[str, float | None] | None:
    """The sample; None where it is damaged, which is counted."""
    try:
        return unpack_sample(packed)
    except DamagedError:
        records.damaged.add((SAMPLE.name, hash(packed)))
        return None


def unpack_facts(packed: bytes, origin: str) -> FactSet | None:
    """What `pack_facts` packed; None when it was written by a version with other columns. Raises DamagedError."""
    document = _unpacked(packed, MAXIMUM_WHOLE_BYTES)
    try:
        tables = {name: FactRows(tuple(table["columns"]), table["rows"]) for name, table in document["tables"].items()}
        wanted = {name: tuple(column.name for column in columns) for name, columns in declared_columns().items()}
        if {name: table.columns for name, table in tables.items()} != wanted:
            return None
        if not all(_is_row(row, len(table.columns)) for table in tables.values() for row in table.rows):
            raise DamagedError("a row of facts has another form")
        unknown = {str(name): _reason(reason) for name, reason in document["unknown"].items()}
        seconds = document["interval_seconds"]
        if seconds is not None and not is_number(seconds, LARGEST_NUMBER):
            raise DamagedError("the interval is not a number")
        return FactSet(tables, unknown, seconds, tuple(_reason(note) for note in document["notes"]), origin)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedError(f"the facts have another form ({type(error).__name__})") from None


def _is_row(row: object, columns: int) -> bool:
    return isinstance(row, list) and len(row) == columns and set(map(type, row)) <= _CELLS


def _reason(content: Any) -> Unknown:
    reason, remedy, off = content
    return Unknown(str(reason), str(remedy), bool(off))


def _unpacked(packed: bytes, maximum_bytes: int) -> Any:
    """The document, inflated no further than is allowed. Raises DamagedError."""
    inflating = zlib.decompressobj()
    try:
        content = inflating.decompress(packed, maximum_bytes)
        if not inflating.eof:
            raise DamagedError(f"it is cut off, or has more than {maximum_bytes} bytes")
        return parse_json(content.decode("utf-8", "surrogatepass"), MAXIMUM_JSON_MEMORY_BYTES)
    except (zlib.error, ValueError, DocumentError) as error:
        raise DamagedError(str(error)) from None


def identity_of(facts: FactSet, now: float, monotonic: float) -> tuple[str, float | None]:
    """Which server these facts are of, as it says itself, and when it started; the moment by both clocks."""
    server = facts.single("server")
    port = facts.tables["variable"].by_name("value").get("port")
    uptime = facts.uptime_seconds_at(monotonic)
    started = None if uptime is None else now - uptime
    return identity(server.get("hostname"), port, server.get("data_directory")), started


def identity(hostname: object, port: object, data_directory: object) -> str:
    """One text for a server."""
    return f"{hostname}:{port}:{data_directory}"


def target_id(label: str) -> int:
    """The number of a server in the file, of its label alone: samples are found where the entry of the label is damaged."""
    return int.from_bytes(hashlib.blake2b(label.encode("utf-8", "surrogatepass"), digest_size=6).digest(), "big")
