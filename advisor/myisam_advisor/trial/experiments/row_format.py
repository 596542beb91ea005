"""Fixed rows against dynamic ones: inserts and scans."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from myisam_advisor.trial.bench import SCHEMA, Bench, TableKind
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import best_variant, comparison_of, times
from myisam_advisor.trial.experiments.base import SOURCE_2014, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import Restorable, SyntheticTable, inserts, most_statements, subjects
from myisam_exporter.server.sql import quote_identifier

SEED_ROWS, DOUBLINGS = 16_384, 4
# 103 bytes a row when fixed, 90 when dynamic: the published table's.
FIRST_LENGTHS, SECOND_LENGTHS = (28, 40), (40, 56)
BATCH_ROWS = 100
DYNAMIC, FIXED = "ROW_FORMAT=DYNAMIC", "ROW_FORMAT=FIXED"
DATABASES = {DYNAMIC: f"{SCHEMA}_dynamic", FIXED: f"{SCHEMA}_fixed"}
TABLE, SOURCE = "subject", "source"
FILL, BATCHES, SCAN = "INSERT ... SELECT", f"inserts of {BATCH_ROWS} rows", "full scan"


class _RecordTable(SyntheticTable):
    """An integer and two strings that mostly fill their columns."""

    label = "made up: INT, VARCHAR(40), VARCHAR(56), an index"
    columns = ("k", "a", "b")

    def make(self, bench: Bench, name: str, rows: int, options: str = "", database: str = SCHEMA) -> None:
        """With an index on the integer."""
        bench.server.execute(
            f"CREATE DATABASE IF NOT EXISTS {database} CHARACTER SET latin1",
            f"DROP TABLE IF EXISTS {database}.{name}",
            f"CREATE TABLE {database}.{name} (k INT NOT NULL, a VARCHAR(40) NOT NULL, b VARCHAR(56) NOT NULL, KEY (k)) ENGINE=MyISAM {options}",
        )
        self.fill(bench, name, database, rows)

    def rows(self, bench: Bench, thread: int, threads: int, count: int) -> Iterator[bytes]:
        """Strings of random length within their limits."""
        generator = bench.random("records", thread)
        for _ in range(count):
            first, second = generator.randint(*FIRST_LENGTHS), generator.randint(*SECOND_LENGTHS)
            yield b"(%d,'%s','%s')" % (generator.getrandbits(24), b"a" * first, b"b" * second)


def workloads(bench: Bench) -> Iterable[Workload]:
    """The same columns and rows in both formats."""
    kind: TableKind = subjects(bench)[0] if bench.copies else _RecordTable()
    first = SEED_ROWS if kind.first_rows is None else kind.first_rows
    bench.listener.doing(f"making tables in both formats ({kind.label})")
    for variant, database in DATABASES.items():
        kind.make(bench, TABLE, first, variant, database)
    if not _is_fixed(bench):
        bench.skipped["all workloads"] = "columns of type BLOB or TEXT keep the table dynamic: it cannot be fixed"
        return
    columns = ", ".join(map(quote_identifier, kind.columns))
    source = f"{DATABASES[DYNAMIC]}.{SOURCE}"
    bench.server.execute(
        f"CREATE TABLE {source} ENGINE=MyISAM AS SELECT {columns} FROM {DATABASES[DYNAMIC]}.{TABLE}",
        *([f"INSERT INTO {source} SELECT * FROM {source}"] * DOUBLINGS if isinstance(kind, SyntheticTable) else []),
    )
    rows = bench.server.count(source)
    plain = {variant: f"{database}.plain" for variant, database in DATABASES.items()}
    for variant, table in plain.items():
        bench.server.execute(f"CREATE TABLE {table} ENGINE=MyISAM {variant} AS SELECT * FROM {source} LIMIT 0")

    fills = bench.repeats(f"INSERT INTO {plain[DYNAMIC]} SELECT * FROM {source}")

    def fill(table: str) -> Callable[[], Run]:
        def run() -> Run:
            bench.server.execute(f"TRUNCATE {table}")
            done = bench.statement(f"INSERT INTO {table} SELECT * FROM {source}", rows, fills)
            return replace(done, figures={"data_bytes_per_row": _data_bytes(bench, table) / rows / fills})

        return run

    yield Workload(FILL, "rows", {variant: fill(table) for variant, table in plain.items()})
    column = quote_identifier(kind.columns[-1])
    condition = f"CONCAT({column}, '') = 'no such value'"

    repeats = bench.repeats(f"SELECT COUNT(*) FROM {source} WHERE {condition}")

    def scan(table: str) -> Callable[[], Run]:
        text = f"SELECT COUNT(*) FROM {table} WHERE {condition}"
        return lambda: bench.statement(text, rows * fills, max(repeats // fills, 1))

    yield Workload(SCAN, "rows", {variant: scan(table) for variant, table in plain.items()})
    tables = {variant: Restorable(bench, TABLE, database) for variant, database in DATABASES.items()}
    work = bench.fixed_work(
        BATCHES, inserts(bench, kind, [TABLE], 1, BATCH_ROWS), tables[DYNAMIC].restore, 1, BATCH_ROWS,
        most_statements(kind, 1, BATCH_ROWS), database=DATABASES[DYNAMIC],
    )  # fmt: skip
    yield Workload(
        BATCHES, "rows", {variant: work(table.restore, DATABASES[variant]) for variant, table in tables.items()}
    )


def _is_fixed(bench: Bench) -> bool:
    rows = bench.server.execute(f"SHOW TABLE STATUS FROM {DATABASES[FIXED]} LIKE '{TABLE}'")
    return str(rows[0][3]) == "Fixed"


def _data_bytes(bench: Bench, table: str) -> float:
    database, _, name = table.partition(".")
    return (bench.server.data_directory / database / f"{name}.MYD").stat().st_size


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """Whether fixed rows pay, and what they weigh."""
    if not results:
        return "This table cannot have fixed rows."
    found = [f"{result.name} {times(one)}" for result in results if (one := comparison_of(result, FIXED))]
    weights = [results[0].runs[variant][0].figures["data_bytes_per_row"] for variant in (DYNAMIC, FIXED)]
    judged = "Fixed rows are worth it" if best_variant(results) else "Fixed rows are not clearly worth it"
    return f"{judged}: {', '.join(found)}; the data file takes {weights[1] / weights[0]:.2f} times the space."


EXPERIMENT = Experiment(
    "Row format: fixed against dynamic",
    workloads,
    conclude,
    runs_a_round=6,
    published=(
        Published(FILL, FIXED, "10 million rows in 32 s instead of 48 s (1.5 times), 1,030 MB instead of 895", SOURCE_2014),
    ),
    options=("--key-buffer-size=128M",),
)  # fmt: skip
