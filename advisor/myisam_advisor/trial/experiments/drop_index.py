"""A superfluous index kept and dropped: what it costs the writes, and what the index that takes its place costs the reads."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import WORSE, WORTH_IT
from myisam_advisor.texts.templates import count, rounded, size
from myisam_advisor.trial.bench import SCHEMA, Bench, Statements, TableKind
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import comparison_of, said
from myisam_advisor.trial.experiments.base import Experiment
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.indexes import TableIndex, chosen_index, index_in_place_of, table_indexes
from myisam_advisor.trial.tables.made import (
    Restorable,
    SyntheticTable,
    insert_name,
    inserts,
    most_statements,
    subjects,
)
from myisam_advisor.trial.tables.rows_by_index import as_statements, column_types, index_of_single_rows, sampled
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_identifier

FIRST_ROWS = 100_000
# Some five rows to a value, as an index that is not unique has.
DISTINCT_VALUES = 20_000
KEPT, DROPPED = "index kept", "index dropped"
DATABASES = {KEPT: f"{SCHEMA}_kept", DROPPED: f"{SCHEMA}_dropped"}
TABLE = "subject"
BATCH_SIZES = (1, 100)
MINIMUM_STATEMENTS, MINIMUM_SAMPLED = 10, 100
KEYS_PER_COUNT, MOST_FETCHED = 100, 100
UPDATES, DELETES = "updates of its first column", "deletes"
FETCHES, COUNTS = "rows of one key", f"counts of {KEYS_PER_COUNT} keys"
WRITES, READS = (*map(insert_name, BATCH_SIZES), UPDATES, DELETES), (FETCHES, COUNTS)
# What the server counts, and what it is called for each operation, by what a workload counts.
COUNTERS = {
    "rows": {"Key_write_requests": "key_blocks_changed_per_row", "Key_writes": "key_blocks_written_per_row"},
    "keys": {"Key_read_requests": "key_blocks_read_per_key"},
}


class _DoubledTable(SyntheticTable):
    """A short index beside a longer one that begins with its column, as tables of CMS have them."""

    label = "made up: an index on INT, another one on INT and CHAR(40)"
    columns = ("k", "c", "v")

    def make(self, bench: Bench, name: str, rows: int, options: str = "", database: str = SCHEMA) -> None:
        """Altered while it is empty, so that both variants grow alike."""
        table = f"{database}.{name}"
        bench.server.execute(
            f"CREATE DATABASE IF NOT EXISTS {database} CHARACTER SET latin1",
            f"DROP TABLE IF EXISTS {table}",
            f"CREATE TABLE {table} (id INT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(40) NOT NULL, "
            "v VARCHAR(100) NOT NULL, KEY k (k), KEY k_c (k, c)) ENGINE=MyISAM",
            *([f"ALTER TABLE {table} {options}"] if options else []),
        )
        self.fill(bench, name, database, rows)

    def rows(self, bench: Bench, thread: int, threads: int, count: int) -> Iterator[bytes]:
        """Random keys, the same for each variant."""
        draw = bench.random("doubled", thread).getrandbits
        for _ in range(count):
            bits = draw(96)
            value, name = bits % DISTINCT_VALUES, (bits >> 20) & 0xFFFFFFFF
            yield b"(%d,'%08x-%03d-%04d','http://%08x.example/')" % (value, name, bits % 1000, bits % 9973, name)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What is tried: the index to drop, the one that statements use then, and a unique one to find single rows by."""

    dropped: TableIndex
    in_place: TableIndex | None
    unique: TableIndex | None
    unique_columns: frozenset[str]  # those of any unique index
    others: tuple[TableIndex, ...]  # which another one can replace, too

    @property
    def note(self) -> str:
        """What is tried, in words."""
        instead = f"; {self.in_place.label} takes its place" if self.in_place else "; no other begins with its columns"
        others = f"; to be tried next: {', '.join(one.label for one in self.others)} (--index)" if self.others else ""
        return f"Dropped: index {self.dropped.label}{instead}{others}"


@dataclass(frozen=True, slots=True)
class _Work:
    """Statements by one thread, what they count, and how many there can be; `own` are those for the table without the index."""

    name: str
    unit: str
    statements: Statements
    operations: int
    most: int | None = None
    own: Statements | None = None


@dataclass(slots=True)
class _Counted:
    """A variant's table, and what the key cache did in each of its runs."""

    bench: Bench
    files: Restorable
    unit: str
    further: Mapping[str, float]
    _before: Mapping[str, int] = field(default_factory=dict)

    def ready(self) -> None:
        """The table as it was; what is counted begins behind that."""
        self.files.restore()
        self._before = _status(self.bench)

    def counting(self, replayed: Callable[[], Run]) -> Callable[[], Run]:
        """The run with its counters for each operation."""

        def run() -> Run:
            done = replayed()
            after = _status(self.bench)
            figures = {
                name: (after[counter] - self._before[counter]) / done.operations
                for counter, name in COUNTERS[self.unit].items()
            }
            return replace(done, figures={**figures, **self.further})

        return run


def workloads(bench: Bench) -> Iterable[Workload]:
    """The same rows in both tables: writes, then reads."""
    kind = _subject(bench)
    choice = _choice(bench, kind)
    tables = {variant: _made(bench, kind, variant, choice.dropped) for variant in DATABASES}
    sizes = {variant: _sizes(bench, files, DATABASES[variant]) for variant, files in tables.items()}
    works = [*_inserts(bench, kind), *_row_writes(bench, kind, choice), *_reads(bench, choice)]
    for work in works:
        yield _compared(
            bench, tables, work, sizes if work is works[-1] else {}, choice.note if work is works[0] else ""
        )


def _compared(
    bench: Bench, tables: Mapping[str, Restorable], work: _Work, sizes: Mapping[str, Mapping[str, float]], note: str
) -> Workload:
    variant = bench.fixed_work(
        work.name, work.statements, tables[KEPT].restore, 1, work.operations, work.most, database=DATABASES[KEPT]
    )
    runs: dict[str, Callable[[], Run]] = {}
    for name, files in tables.items():
        counted = _Counted(bench, files, work.unit, sizes.get(name, {}))
        own = work.own if name == DROPPED else None
        runs[name] = counted.counting(variant(counted.ready, DATABASES[name], own))
    return Workload(work.name, work.unit, runs, note)


def _subject(bench: Bench) -> TableKind:
    """The user's one table, or the made-up one. Raises TrialError for several: an index belongs to one."""
    if len(bench.copies) > 1:
        raise TrialError("drop-index tries one table at a time: give --table once.")
    return subjects(bench)[0] if bench.copies else _DoubledTable()


def _choice(bench: Bench, kind: TableKind) -> _Choice:
    """By the table's definition, before any row is moved."""
    database = DATABASES[KEPT]
    kind.make(bench, TABLE, 0, "", database)
    indexes = table_indexes(bench, database, TABLE)
    dropped = chosen_index(indexes, bench.options.index, kind.label)
    unique = index_of_single_rows(indexes, dropped, column_types(bench, database, TABLE))
    taking_part = frozenset(column for one in indexes if one.is_unique for column in one.columns)
    others = tuple(one for one in indexes if one.is_replaceable and one != dropped)
    return _Choice(dropped, index_in_place_of(indexes, dropped), unique, taking_part, others)


def _made(bench: Bench, kind: TableKind, variant: str, dropped: TableIndex) -> Restorable:
    bench.listener.doing(f"making a table, {variant} ({kind.label})")
    options = f"DROP INDEX {quote_identifier(dropped.name)}" if variant == DROPPED else ""
    rows = FIRST_ROWS if kind.first_rows is None else kind.first_rows
    kind.make(bench, TABLE, rows, options, DATABASES[variant])
    return Restorable(bench, TABLE, DATABASES[variant])


def _sizes(bench: Bench, files: Restorable, database: str) -> dict[str, float]:
    """Bytes of the .MYI, and blocks of the key cache that the whole of it takes, where there is room for it."""
    bench.server.execute(f"FLUSH TABLES {files.name}")
    unused = _status(bench)["Key_blocks_unused"]
    files.load_index()
    left = _status(bench)["Key_blocks_unused"]
    index_bytes = (bench.server.data_directory / database / f"{TABLE}.MYI").stat().st_size
    return {"index_bytes": float(index_bytes), **({"key_cache_blocks": float(unused - left)} if left else {})}


def _status(bench: Bench) -> dict[str, int]:
    return {str(name): int(str(value)) for name, value in bench.server.execute("SHOW GLOBAL STATUS LIKE 'Key\\_%'")}


def _inserts(bench: Bench, kind: TableKind) -> Iterator[_Work]:
    for batch in BATCH_SIZES:
        most = most_statements(kind, 1, batch)
        if batch > 1 and most is not None and most < MINIMUM_STATEMENTS:
            bench.skipped[insert_name(batch)] = "the table has too few rows to insert for statements of that many"
        else:
            yield _Work(insert_name(batch), "rows", inserts(bench, kind, [TABLE], 1, batch), batch, most)


def _row_writes(bench: Bench, kind: TableKind, choice: _Choice) -> Iterator[_Work]:
    """Updates and deletes of rows that a unique index finds."""
    if choice.unique is None:
        bench.skipped["updates and deletes"] = "no unique index is left to find single rows by"
        return
    found: dict[str, list[bytes]] = {}
    changed, keys = choice.dropped.columns[0], choice.unique.columns
    if changed in choice.unique_columns or changed not in kind.columns:
        bench.skipped[UPDATES] = "this column is generated, or part of a unique index"
    else:
        found[UPDATES] = sampled(bench, DATABASES[KEPT], TABLE, [*keys, changed]).updates()
    found[DELETES] = sampled(bench, DATABASES[KEPT], TABLE, keys).deletes()
    for name, texts in found.items():
        if len(texts) < MINIMUM_SAMPLED:
            bench.skipped[name] = "too few rows have no NULL in these columns"
        else:
            yield _Work(name, "rows", as_statements(texts), 1, len(texts))


def _reads(bench: Bench, choice: _Choice) -> Iterator[_Work]:
    """The same searches by the index to drop, and by the one in its place: with rows, and by the index alone, where its length matters most."""
    dropped, in_place = choice.dropped, choice.in_place
    why_not = ""
    if in_place is None:
        why_not = (
            "no other index begins with its columns: without it, statements that search by them read the whole table"
        )
    elif not dropped.is_visible:
        why_not = "the index is hidden: no statement reads by it"
    elif not all(dropped.columns):
        why_not = "an index on an expression"
    if in_place is None or why_not:
        bench.skipped["reads by its columns"] = why_not
        return
    values = sampled(bench, DATABASES[KEPT], TABLE, dropped.columns)
    if len(values.rows) < MINIMUM_SAMPLED:
        bench.skipped["reads by its columns"] = "too few rows have no NULL in them"
        return
    for name, what, keys, end in (
        (FETCHES, "*", 1, f" LIMIT {MOST_FETCHED}"),
        (COUNTS, "COUNT(*)", KEYS_PER_COUNT, ""),
    ):
        by = [values.selects(bench, what, index, keys, end) for index in (dropped, in_place)]
        yield _Work(name, "keys", by[0], keys, own=by[1])


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """What the index costs, and whether anything would miss it."""
    writes, reads = ([result for result in results if result.name in names] for names in (WRITES, READS))
    searched = f" Reads by its columns through the other index: {said(reads, DROPPED)}." if reads else ""
    return f"{writes[0].note}. {_judged(writes, reads)}. Without it: {said(writes, DROPPED)}; {_costs(writes[0], results[-1])}.{searched}"


def _judged(writes: Sequence[WorkloadResult], reads: Sequence[WorkloadResult]) -> str:
    slower = [result.name for result in reads if _verdict(result) == WORSE]
    verdicts = {_verdict(result) for result in writes}
    faster = WORTH_IT in verdicts and WORSE not in verdicts
    if FETCHES in slower:
        return "Keep it where such rows are read more often than written: the other index is slower to search"
    if slower and faster:
        return "It is worth dropping where statements fetch rows; what only searches the index becomes slower"
    if not reads:
        gain = "faster" if faster else "not clearly faster"
        return f"Writes are {gain} without it here; reads by its columns were not measured"
    if faster:
        return "It is worth dropping"
    return "Writes are not clearly faster without it here; dropping it saves room"


def _verdict(result: WorkloadResult) -> str:
    one = comparison_of(result, DROPPED)
    return one.verdict if one else ""


def _costs(first: WorkloadResult, last: WorkloadResult) -> str:
    """What the index takes: blocks by what is written first, and room, which the last workload tells."""
    words = {
        "key_blocks_written_per_row": (first, rounded, "key blocks written a row"),
        "index_bytes": (last, size, "of index file"),
        "key_cache_blocks": (last, count, "blocks of the key cache"),
    }
    return ", ".join(
        f"{say(dropped)} {what} instead of {say(kept)}"
        for name, (result, say, what) in words.items()
        if (kept := _median(result.runs[KEPT], name)) is not None
        and (dropped := _median(result.runs[DROPPED], name)) is not None
    )


def _median(runs: Sequence[Run], name: str) -> float | None:
    values = [run.figures[name] for run in runs if name in run.figures]
    return statistics.median(values) if values else None


EXPERIMENT = Experiment(
    "Dropping an index: writes with and without it, and reads through the one that replaces it",
    workloads,
    conclude,
    runs_a_round=12,
    options=("--key-buffer-size=128M",),
)
