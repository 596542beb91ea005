"""Reading rows by pread or through mapped files: the seven workloads of the 2006 table and appends, at several thread counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from myisam_advisor.trial.bench import SCHEMA, Bench, Statements, TableKind
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import comparison_of
from myisam_advisor.trial.experiments.base import Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import (
    Restorable,
    SyntheticTable,
    inserts,
    lookup_index,
    most_statements,
    subjects,
)
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.kernel.process_files import DATA_FILE_SUFFIX, process_lines
from myisam_exporter.server.sql import quote_identifier

ROWS = 200_000
RANGE_ROWS, BATCH_ROWS, APPENDED_ROWS = 100, 20_000, 10
THREADS = (1, 4, 16, 64)
PREAD, MMAP = "pread", "mmap"
TABLE = "subject"
POINT, RANGE, READ_ONLY = "select by primary key", f"select a range of {RANGE_ROWS} rows", "OLTP read-only"
UPDATE_KEY, UPDATE_NON_KEY, READ_WRITE = "update key", "update non-key", "OLTP read-write"
BATCH, APPEND = f"batch of {BATCH_ROWS:,} rows by key", "appends"
SOURCE_2006 = "MySQL Performance Blog, 26 May 2006"
PUBLISHED_2006 = {
    POINT: "1.02 to 1.06 times", RANGE: "1.33 to 1.62 times", READ_ONLY: "1.09 to 1.21 times", UPDATE_KEY: "1.25 to 1.36 times",
    UPDATE_NON_KEY: "1.19 to 1.36 times", READ_WRITE: "1.28 to 1.35 times", BATCH: "2.43 (1 thread) to 6.78 times (64)", APPEND: "no gain",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Kind:
    """One kind of statement: what each counts for, how each of so many threads makes its own, whether they write."""

    unit: str
    operations: float
    statements: Callable[[int], Statements]
    writes: bool = False


def workloads(bench: Bench) -> Iterable[Workload]:
    """Each kind at each thread count, or at the one that was asked for; tables that were written to are restored before each run."""
    subject = subjects(bench)[0]
    bench.listener.doing(f"making the table ({subject.label})")
    subject.make(bench, TABLE, ROWS if subject.first_rows is None else subject.first_rows)
    table = Restorable(bench, TABLE)
    kinds = _kinds_of_copy(bench, subject) if bench.copies else _kinds(bench)
    for name, kind in kinds.items():
        for threads in (bench.options.threads,) if bench.options.threads else THREADS:
            full = f"{name}, {threads} thread{'s' if threads > 1 else ''}"
            ready = {
                PREAD: partial(_ready, bench, table, "OFF", kind.writes),
                MMAP: partial(_ready, bench, table, "ON", kind.writes),
            }
            most = most_statements(subject, threads, APPENDED_ROWS) if name == APPEND else None
            work = bench.fixed_work(full, kind.statements(threads), ready[PREAD], threads, kind.operations, most)
            yield Workload(full, kind.unit, {how: _with_mapped(bench, work(one)) for how, one in ready.items()})


def _kinds_of_copy(bench: Bench, subject: TableKind) -> dict[str, _Kind]:
    """What can be asked of any table: rows by its primary key, and appends of rows that were held back."""
    for name in (READ_ONLY, UPDATE_KEY, UPDATE_NON_KEY, READ_WRITE):
        bench.skipped[name] = "which columns your statements change is not known: it runs on the made-up table"
    kinds = {APPEND: _appends(bench, subject)}
    index = lookup_index(bench, TABLE, preferred="PRIMARY")
    if index is None or index.name != "PRIMARY":
        bench.skipped["rows by primary key"] = "the table has none"
        return kinds
    column, shown = (quote_identifier(name).encode() for name in (index.column, subject.columns[-1]))

    def reads(rows: int) -> _Kind:
        def statements(thread: int, count: int) -> Iterable[bytes]:
            for value in bench.random("reads", rows, thread).choices(index.values, k=count):
                if rows == 1:
                    yield b"SELECT %b FROM subject WHERE %b = %b" % (shown, column, value)
                else:
                    yield b"SELECT %b FROM subject FORCE INDEX (PRIMARY) WHERE %b >= %b ORDER BY %b LIMIT %d" % (
                        shown, column, value, column, rows,
                    )  # fmt: skip

        return _Kind("rows" if rows == 1 else "statements", 1, lambda _: statements)

    return {POINT: reads(1), RANGE: reads(RANGE_ROWS), BATCH: reads(BATCH_ROWS), **kinds}


def _appends(bench: Bench, subject: TableKind) -> _Kind:
    return _Kind("rows", APPENDED_ROWS, lambda threads: inserts(bench, subject, [TABLE], threads, APPENDED_ROWS), True)


def _ready(bench: Bench, table: Restorable, mapped: str, writes: bool) -> None:
    """How a file is read is decided when its table is opened."""
    bench.server.execute(f"SET GLOBAL myisam_use_mmap = {mapped}")
    if writes:
        table.restore()
    else:
        bench.server.execute(f"FLUSH TABLES {SCHEMA}.{TABLE}")
        table.load_index()


def _with_mapped(bench: Bench, run: Callable[[], Run]) -> Callable[[], Run]:
    """The run, with whether the server really maps the data file."""

    def measured() -> Run:
        done = run()
        return replace(done, figures={"mapped_data_files": float(mapped_data_files(bench.server.pid))})

    return measured


def mapped_data_files(pid: int) -> int:
    """How many data files the process maps now: /proc/PID/maps."""
    maps = process_lines(Path("/proc") / str(pid), "maps")
    return len({line.split()[-1] for line in maps if line.rstrip().endswith(DATA_FILE_SUFFIX)})


def _kinds(bench: Bench) -> dict[str, _Kind]:
    def drawn(*salt: object) -> Callable[[], int]:
        generator = bench.random(*salt)
        return lambda: generator.randrange(1, ROWS + 1)

    def each(make: Callable[[Callable[[], int]], list[bytes]], *salt: object) -> Callable[[int], Statements]:
        def statements(thread: int, count: int) -> Iterable[bytes]:
            draw = drawn(thread, *salt)
            for _ in range(count):
                yield from make(draw)

        return lambda _threads: statements

    return {
        POINT: _Kind("rows", 1, each(lambda draw: [_point(draw())], POINT)),
        RANGE: _Kind("rows", RANGE_ROWS, each(lambda draw: [_range(draw())], RANGE)),
        READ_ONLY: _Kind("transactions", 1, each(_read_only, READ_ONLY)),
        UPDATE_KEY: _Kind("rows", 1, each(lambda draw: [_update_key(draw())], UPDATE_KEY), True),
        UPDATE_NON_KEY: _Kind("rows", 1, each(lambda draw: [_update_non_key(draw(), draw())], UPDATE_NON_KEY), True),
        READ_WRITE: _Kind("transactions", 1, each(_read_write, READ_WRITE), True),
        BATCH: _Kind("rows", BATCH_ROWS, each(lambda draw: [_batch(draw() % (ROWS - BATCH_ROWS))], BATCH)),
        APPEND: _appends(bench, SyntheticTable()),
    }


def _point(number: int) -> bytes:
    return b"SELECT v FROM subject WHERE id = %d" % number


def _range(number: int) -> bytes:
    return b"SELECT SUM(LENGTH(v)) FROM subject WHERE id BETWEEN %d AND %d" % (number, number + RANGE_ROWS - 1)


def _batch(number: int) -> bytes:
    return b"SELECT SUM(LENGTH(v)) FROM subject FORCE INDEX (PRIMARY) WHERE id BETWEEN %d AND %d" % (
        number, number + BATCH_ROWS - 1,
    )  # fmt: skip


def _update_key(number: int) -> bytes:
    return b"UPDATE subject SET k = k + 1 WHERE id = %d" % number


def _update_non_key(number: int, value: int) -> bytes:
    """The row keeps its length, so that it keeps its place."""
    return b"UPDATE subject SET f = %d WHERE id = %d" % (value, number)


def _read_only(draw: Callable[[], int]) -> list[bytes]:
    """The mixture of sysbench, smaller: points, a range, a sum, an ordered range."""
    first = draw()
    return [
        *(_point(draw()) for _ in range(5)),
        _range(draw()),
        b"SELECT SUM(k) FROM subject WHERE id BETWEEN %d AND %d" % (first, first + RANGE_ROWS),
        b"SELECT c FROM subject WHERE id BETWEEN %d AND %d ORDER BY c LIMIT 10" % (first, first + RANGE_ROWS),
    ]


def _read_write(draw: Callable[[], int]) -> list[bytes]:
    return [*_read_only(draw), _update_key(draw()), _update_non_key(draw(), draw())]


def conclude(bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """Whether the server maps at all, and where that pays."""
    if not any(run.figures["mapped_data_files"] for result in results for run in result.runs[MMAP]):
        return "This server maps no data file, whatever myisam_use_mmap says: the variable has no effect."
    gains = []
    for kind in PUBLISHED_2006:
        ratios = [
            one.ratio
            for result in results
            if result.name.startswith(f"{kind},") and (one := comparison_of(result, MMAP))
        ]
        if ratios:
            gains.append(f"{kind} {min(ratios):.2f} to {max(ratios):.2f}")
    return f"Times faster mapped, over the thread counts: {'; '.join(gains)}."


EXPERIMENT = Experiment(
    "myisam_use_mmap: pread against mapped data files",
    workloads,
    conclude,
    runs_a_round=64,
    published=tuple(
        Published(f"{kind}, {threads} thread{'s' if threads > 1 else ''}", MMAP, figure, SOURCE_2006)
        for kind, figure in PUBLISHED_2006.items()
        for threads in THREADS
    ),
    options=("--key-buffer-size=256M", "--myisam-use-mmap=OFF"),
)  # fmt: skip
