"""Changes of the server that the daemon notices between two looks: variables that advice is about, restarts, key caches, formats of tables.

`myisam-advisor verify` compares what was before one with what came after.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import itemgetter

from myisam_advisor.history.format import CHANGE, SETTING
from myisam_advisor.history.memory import SAME_START_SECONDS
from myisam_advisor.history.records import Records
from myisam_advisor.judging.blindness import tables_are_seen
from myisam_advisor.workload.log_settings import is_of_a_recording
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet

# What the rules recommend to change, and what moves the same measures: logs that write each statement, what a commit waits for, memory that others take.
VARIABLES = frozenset({
    "bulk_insert_buffer_size", "concurrent_insert", "delay_key_write", "flush", "flush_time", "general_log", "init_file", "innodb_buffer_pool_size",
    "innodb_flush_log_at_trx_commit", "join_buffer_size", "key_buffer_size", "key_cache_age_threshold", "key_cache_block_size", "key_cache_division_limit",
    "key_cache_segments", "log_bin", "log_queries_not_using_indexes", "long_query_time", "low_priority_updates", "max_connections", "max_heap_table_size",
    "myisam_max_sort_file_size", "myisam_mmap_size", "myisam_recover_options", "myisam_sort_buffer_size", "myisam_use_mmap", "open_files_limit",
    "performance_schema", "query_cache_limit", "query_cache_size", "query_cache_type", "read_buffer_size", "read_rnd_buffer_size", "slow_query_log",
    "sort_buffer_size", "sync_binlog", "table_cache", "table_definition_cache", "table_open_cache", "thread_cache_size", "tmp_table_size", "userstat", "version",
})  # fmt: skip
# What a recording by the slow log (`record`, `prove`) sets of these, and gives back.
OF_A_RECORDING = frozenset(("long_query_time", "slow_query_log"))
TABLE = "table "
RESTART = "restart"
# Uptimes are whole seconds: by less than this a start seems to move from look to look.
DRIFT_SECONDS = 2.0
# The default one is told by key_buffer_size.
NAMED_KEY_CACHES = "named key caches"
# Other names under which a change of a rule's variable is noticed: an older one, one that is set with it, what its layout is made of.
ALSO_NOTICED_AS = {
    "table_open_cache": ("table_cache",),
    "query_cache_size": ("query_cache_type",),
    "tmp_table_size": ("max_heap_table_size",),
    "key_cache_segments": (NAMED_KEY_CACHES,),
    "init_file": (NAMED_KEY_CACHES,),
}
# What a server works out at its start from other variables, and what is raised with them: alone it moves nothing.
FOLLOWS = {
    "open_files_limit": frozenset(("table_open_cache", "table_cache", "max_connections")),
    "table_definition_cache": frozenset(("table_open_cache", "table_cache")),
}
# Which part of a table's setting an option of the table is told by.
PARTS_OF_TABLES = {"ROW_FORMAT": 0, "PACK_KEYS": 2}
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

    def is_of(self, variable: str | None) -> bool:
        """Whether it is one of the variable, or of the option of a table, that a rule is about."""
        if self.name == NAMED_KEY_CACHES and not self.new:
            return False  # a restart loses them: that is no remedy's work
        if variable in PARTS_OF_TABLES and self.name.startswith(TABLE):
            old, new = self.values_of(variable)
            return old != new
        return variable is not None and self.name in (variable, *ALSO_NOTICED_AS.get(variable, ()))

    def values_of(self, variable: str | None) -> tuple[str, str]:
        """What the variable, or the option of a table, was and became; empty for what is unknown or absent."""
        old, new = self.old or "", self.new or ""
        part = PARTS_OF_TABLES.get(variable or "")
        if part is None or not self.name.startswith(TABLE):
            return old, new
        return old.partition(", ")[part], new.partition(", ")[part]


def separate(changes: Iterable[Change]) -> list[Change]:
    """The changes without a restart that another was noticed with, and without what follows another: a setting that needs these to take effect is one change."""
    told = list(changes)
    together: dict[float, set[str]] = {}
    for change in told:
        if change.name != RESTART:
            together.setdefault(change.noticed_at, set()).add(change.name)

    def is_own(change: Change) -> bool:
        others = together.get(change.noticed_at, set())
        return not others if change.name == RESTART else others.isdisjoint(FOLLOWS.get(change.name, ()))

    return [change for change in told if is_own(change)]


def note_changes(
    records: Records,
    target: int,
    facts: FactSet,
    started_at: float | None,
    now: float,
    *,
    same_tables: bool,
) -> None:
    """Write down what differs from the last look, and what holds now. What is unknown now is left as it was.

    `same_tables` says that the tables are those that were noted last: they are not gone through again.
    """
    which = f"target = ? AND name NOT LIKE '{TABLE}%'" if same_tables else "target = ?"
    known = {name: value for _, name, value in records.rows(SETTING, which, (target,))}
    present = dict(_settings(facts))
    if not same_tables:
        present |= dict(_table_settings(facts))
        _forget_tables(records, target, facts, known.keys() - present.keys())
    changed = {name: value for name, value in present.items() if known.get(name) != value}
    rows: list[tuple[int, float, str, str | None, str | None]] = [
        (target, now, name, known[name], value) for name, value in changed.items() if name in known
    ]
    before = moment_of(known.get(RESTART))
    if started_at is not None:
        if before is not None and abs(before - started_at) > SAME_START_SECONDS:
            rows.append((target, now, RESTART, None, None))
        # Of another machine's server, the start moves with what the two clocks gain on each other: in weeks that is seconds.
        if before is None or abs(before - started_at) >= DRIFT_SECONDS:
            changed[RESTART] = f"{started_at:.0f}"
    records.put(CHANGE, rows)
    records.put(SETTING, ((target, name, value) for name, value in changed.items()))


def _forget_tables(records: Records, target: int, facts: FactSet, absent: Iterable[str]) -> None:
    """Drop those of the absent settings whose table is no longer there, or is not followed; none where some tables may be out of sight."""
    gone = {name for name in absent if name.startswith(TABLE)}
    if not gone or not tables_are_seen(facts):
        return
    rows = facts.tables["tables"]
    if len(rows.rows) <= MAXIMUM_TABLES:
        gone -= {_setting_of(*name) for name in zip(rows.values("schema_name"), rows.values("table_name"), strict=True)}
    records.database.executemany(
        "DELETE FROM setting WHERE target = ? AND name = ?", ((target, name) for name in sorted(gone))
    )


def moment_of(text: str | None) -> float | None:
    """The moment that a setting holds; None where it holds none."""
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def _settings(facts: FactSet) -> Iterable[tuple[str, str]]:
    variables = facts.tables["variable"].by_name("value")
    passed_over = OF_A_RECORDING if is_of_a_recording(_text(variables.get("slow_query_log_file"))) else frozenset()
    for name, value in variables.items():
        if name in VARIABLES - passed_over and value is not None:
            yield name, _text(value)
    caches = list(facts.tables["key_cache"].dictionaries())
    if caches:
        named = (
            f"{row['name']} ({_text(row['size_bytes'])})"
            for row in caches
            if row["size_bytes"] and row["name"] != DEFAULT_CACHE
        )
        yield NAMED_KEY_CACHES, ", ".join(sorted(named))


def _table_settings(facts: FactSet) -> Iterable[tuple[str, str]]:
    if len(facts.tables["tables"].rows) <= MAXIMUM_TABLES:
        packed = _packed_indexes(facts)
        for row in facts.tables["tables"].dictionaries():
            if row["row_format"]:
                name = (row["schema_name"], row["table_name"])
                yield _setting_of(*name), f"{row['row_format']}, {packed.get(name, 0)} packed indexes"


def _setting_of(schema: Value, table: Value) -> str:
    return f"{TABLE}{schema}.{table}"


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
