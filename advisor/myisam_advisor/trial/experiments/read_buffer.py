"""read_buffer_size from 8K to 128M: full scans, INSERT ... SELECT, and a connection for each scan.

On MariaDB the INSERT writes through a buffer of this size, too; on MySQL before 8.0 through one of the size at the server's start, which SET GLOBAL leaves as
it is, and later ones through none (storage/myisam/ha_myisam.cc, start_bulk_insert; traced on MySQL 5.6 and 9.7, MariaDB 10.11).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing

from myisam_advisor.proofs.proof import WORSE, WORTH_IT
from myisam_advisor.texts.templates import size
from myisam_advisor.trial.bench import SCHEMA, Bench
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import times
from myisam_advisor.trial.experiments.base import SOURCE_2014, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import SyntheticTable
from myisam_exporter.server.sql import quote_identifier

KIB, MIB = 1 << 10, 1 << 20
BASELINE = 128 * KIB
SIZES = (BASELINE, 8 * KIB, 32 * KIB, 512 * KIB, 2 * MIB, 8 * MIB, 32 * MIB, 128 * MIB)
FIRST_ROWS, DOUBLINGS = 16_384, 5
CONNECTION_ROWS = 20_000
TABLE, TARGET, SMALL = "scanned", "filled", "scanned_small"
SCAN, FILL, CONNECT = "full scan", "INSERT ... SELECT", "connect, scan, disconnect"
SOURCE_2007 = "MySQL Performance Blog, September 2007"


def workloads(bench: Bench) -> Iterable[Workload]:
    """Each with one client, which only waits."""
    source = _make_scanned(bench)
    rows = bench.server.count(source)
    scan = f"SELECT COUNT(*) FROM {source} WHERE {_never(bench, source)}"
    repeats = bench.repeats(scan)
    yield _swept(bench, SCAN, lambda: bench.statement(scan, rows, repeats))

    def fill() -> Run:
        bench.server.execute(f"TRUNCATE {SCHEMA}.{TARGET}")
        return bench.statement(f"INSERT INTO {SCHEMA}.{TARGET} SELECT * FROM {source}", rows)

    bench.server.execute(
        f"DROP TABLE IF EXISTS {SCHEMA}.{TARGET}",
        f"CREATE TABLE {SCHEMA}.{TARGET} ENGINE=MyISAM AS SELECT * FROM {source} LIMIT 0",
    )
    yield _swept(bench, FILL, fill)
    bench.server.execute(
        f"DROP TABLE IF EXISTS {SCHEMA}.{SMALL}",
        f"CREATE TABLE {SCHEMA}.{SMALL} ENGINE=MyISAM AS SELECT * FROM {source} LIMIT {CONNECTION_ROWS}",
    )
    small = f"SELECT COUNT(*) FROM {SCHEMA}.{SMALL} WHERE {_never(bench, f'{SCHEMA}.{SMALL}')}"
    yield _swept(bench, CONNECT, _connections(bench, small))


def _swept(bench: Bench, name: str, run: Callable[[], Run]) -> Workload:
    def at(value: int) -> Callable[[], Run]:
        def variant() -> Run:
            bench.server.execute(f"SET GLOBAL read_buffer_size = {value}")
            return run()

        return variant

    return Workload(name, "scans" if name == CONNECT else "rows", {size(value): at(value) for value in SIZES})


def _make_scanned(bench: Bench) -> str:
    """The copy, or a made-up table of half a million rows without indexes: 50 MB."""
    if bench.copies:
        bench.server.execute(f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
        return bench.copies[0].name
    bench.listener.doing("making the table to scan")
    SyntheticTable().make(bench, "seed", FIRST_ROWS)
    table = f"{SCHEMA}.{TABLE}"
    bench.server.execute(
        f"CREATE TABLE {table} (k INT NOT NULL, c CHAR(40) NOT NULL, v CHAR(56) NOT NULL) ENGINE=MyISAM ROW_FORMAT=FIXED",
        f"INSERT INTO {table} SELECT k, c, LEFT(v, 56) FROM {SCHEMA}.seed",
        *[f"INSERT INTO {table} SELECT * FROM {table}"] * DOUBLINGS,
    )
    return table


def _never(bench: Bench, table: str) -> str:
    """A condition that no row fulfils and no index answers."""
    column = quote_identifier(str(bench.server.execute(f"SHOW COLUMNS FROM {table}")[-1][0]))
    return f"CONCAT({column}, '') = 'no such value'"


def _connections(bench: Bench, statement: str) -> Callable[[], Run]:
    count = max(20, round(bench.options.seconds * 50))

    def connect_and_scan() -> float:
        for _ in range(count):
            with bench.server.session() as connection, closing(connection.cursor()) as cursor:
                cursor.execute(statement)
                cursor.fetchall()
        return count

    return lambda: bench.measured(connect_and_scan)


def conclude(bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """Whether any size beats 128K, and what the large ones cost."""
    better = [
        f"{result.name} with {one.variant} {times(one)}"
        for result in results
        for one in result.comparisons
        if one.verdict == WORTH_IT
    ]
    largest = next(iter(results)).comparisons[-1].variant if results else ""
    said = f"Beats 128 KiB: {'; '.join(better)}" if better else "No size beats 128 KiB, the default"
    slower = [
        f"{result.name} {times(result.comparisons[-1])}"
        for result in results
        if result.comparisons[-1].verdict == WORSE
    ]
    cost = f"; {largest} is slower: {', '.join(slower)}" if slower else ""
    is_half = not bench.is_mariadb and not bench.server.binaries.keeps_dictionary
    half = (
        f" Of {FILL} this moved the buffer of the scan alone; in my.cnf read_buffer_size moves that of the writes, too."
    )
    return f"{said}{cost}.{half if is_half else ''}"


EXPERIMENT = Experiment(
    "read_buffer_size: 8 KiB to 128 MiB",
    workloads,
    conclude,
    runs_a_round=24,
    published=(
        Published(SCAN, size(32 * MIB), "43.0 s at 128K, 67.2 s at 32M (0.64 times)", SOURCE_2007),
        Published(FILL, size(8 * MIB), "writes halve with each doubling, elapsed time does not follow", SOURCE_2014),
        Published(CONNECT, size(8 * MIB), "5M: page faults and memset of 6 to 12 % of 8 cores, gone at 128K", SOURCE_2007),
    ),
    options=("--key-buffer-size=32M",),
    takes_few_rows=True,
)  # fmt: skip
