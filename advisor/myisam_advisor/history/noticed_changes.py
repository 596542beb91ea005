"""Changes of the server that the daemon notices between two looks: variables that advice is about, restarts, key caches, formats of tables.

`myisam-advisor verify` compares what was before one with what came after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from myisam_advisor.history.format import CHANGE, SETTING
from myisam_advisor.history.records import Records
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet

# What the rules recommend to change, and what moves the same measures.
VARIABLES = frozenset({
    "bulk_insert_buffer_size", "concurrent_insert", "delay_key_write", "flush_time", "init_file", "key_buffer_size", "key_cache_age_threshold",
    "key_cache_block_size", "key_cache_division_limit", "key_cache_segments", "log_queries_not_using_indexes", "low_priority_updates",
    "max_connections", "myisam_max_sort_file_size", "myisam_mmap_size", "myisam_recover_options", "myisam_sort_buffer_size", "myisam_use_mmap",
    "open_files_limit", "query_cache_size", "query_cache_type", "read_buffer_size", "read_rnd_buffer_size", "slow_query_log", "sort_buffer_size",
    "table_cache", "table_definition_cache", "table_open_cache", "thread_cache_size", "version",
})  # fmt: skip
TABLE = "table "
RESTART = "restart"
KEY_CACHES = "key caches"
SAME_START_SECONDS = 5.0
# Beyond so many tables their formats are not followed: the look of each minute would write megabytes.
MAXIMUM_TABLES = 20_000


@dataclass(frozen=True, slots=True)
class Change:
    """Something that was different at two looks; `noticed_at` is the later one. None is unknown or absent."""

    noticed_at: float
    name: str
    old: str | None
    new: str | None

    def __str__(self) -> str:
        """For a person."""
        return self.name if self.name == RESTART else f"{self.name}: {self.old or 'none'} -> {self.new or 'none'}"


def note_changes(
    records: Records,
    target: int,
    facts: FactSet,
    started_at: float | None,
    now: float,
    *,
    same_tables: bool = False,
) -> None:
    """Write down what differs from the last look, and what holds now. What is unknown now is left as it was.

    `same_tables` says that the tables are those that were noted last: they are not gone through again.
    """
    which = f"target = ? AND name NOT LIKE '{TABLE}%'" if same_tables else "target = ?"
    known = {name: value for _, name, value in records.rows(SETTING, which, (target,))}
    present = dict(_settings(facts))
    if not same_tables:
        present |= dict(_table_settings(facts))
    changed = {name: value for name, value in present.items() if known.get(name) != value}
    rows: list[tuple[int, float, str, str | None, str | None]] = [
        (target, now, name, known[name], value) for name, value in changed.items() if name in known
    ]
    before = moment_of(known.get(RESTART))
    if started_at is not None:
        if before is not None and abs(before - started_at) > SAME_START_SECONDS:
            rows.append((target, now, RESTART, None, None))
        if before is None or (rows and rows[-1][2] == RESTART):
            changed[RESTART] = f"{started_at:.0f}"
    records.put(CHANGE, rows)
    records.put(SETTING, ((target, name, value) for name, value in changed.items()))


def moment_of(text: str | None) -> float | None:
    """The moment that a setting holds; None where it holds none."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _settings(facts: FactSet) -> Iterable[tuple[str, str]]:
    for name, value in facts.tables["variable"].by_name("value").items():
        if name in VARIABLES and value is not None:
            yield name, _text(value)
    caches = [
        f"{row['name']} ({_text(row['size_bytes'])})"
        for row in facts.tables["key_cache"].dictionaries()
        if row["size_bytes"]
    ]
    if caches:
        yield KEY_CACHES, ", ".join(sorted(caches))


def _table_settings(facts: FactSet) -> Iterable[tuple[str, str]]:
    if len(facts.tables["tables"].rows) <= MAXIMUM_TABLES:
        packed = _packed_indexes(facts)
        for row in facts.tables["tables"].dictionaries():
            if row["row_format"]:
                name = (row["schema_name"], row["table_name"])
                yield f"{TABLE}{name[0]}.{name[1]}", f"{row['row_format']}, {packed.get(name, 0)} packed indexes"


def _packed_indexes(facts: FactSet) -> Mapping[tuple[Value, Value], int]:
    counted: dict[tuple[Value, Value], int] = {}
    indexes = facts.tables["indexes"]
    columns = (indexes.columns.index(column) for column in ("schema_name", "table_name", "is_packed"))
    for schema, table, packed in map(itemgetter(*columns), indexes.rows):
        if packed:
            counted[schema, table] = counted.get((schema, table), 0) + 1
    return counted


def _text(value: Value) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def read_changes(records: Records, target: int) -> list[Change]:
    """What was noticed of a target, the latest last."""
    changes = (Change(*row[1:]) for row in records.rows(CHANGE, "target = ?", (target,)))
    return sorted(changes, key=lambda change: (change.noticed_at, change.name))
