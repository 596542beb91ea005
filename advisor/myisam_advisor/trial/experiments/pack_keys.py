"""PACK_KEYS DEFAULT, 1 and 0 on the same keys and rows: inserts by batch size, lookups, joins, size."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from myisam_advisor.proofs.proof import WORSE, WORTH_IT
from myisam_advisor.trial.bench import SCHEMA, Bench, Statements
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import comparison_of, times
from myisam_advisor.trial.experiments.base import SOURCE_2008, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import (
    LookupIndex,
    Restorable,
    batches,
    insert_name,
    insert_statement,
    inserts,
    lookup_index,
    lookups,
    most_statements,
    subjects,
)
from myisam_exporter.server.sql import quote_identifier

TABLES = 8
FIRST_ROWS = 20_000
BATCH_SIZES = (1, 10, 20, 100, 1000)
MINIMUM_STATEMENTS = 10
KEYS_PER_LOOKUP = 100
DEFAULT, PACKED, UNPACKED = "PACK_KEYS=DEFAULT", "PACK_KEYS=1", "PACK_KEYS=0"
# The same table in a database of its own for each variant: the statements are the same, too.
DATABASES = {DEFAULT: f"{SCHEMA}_default", PACKED: f"{SCHEMA}_packed", UNPACKED: f"{SCHEMA}_unpacked"}
PROBES = "probes"
LOOKUPS, JOINS = f"lookups, {KEYS_PER_LOOKUP} random keys a statement", "joins by random keys"
BACKWARD = f"{KEYS_PER_LOOKUP} keys in descending order"
SOURCE_2006 = "MySQL Performance Blog, 2006"


def workloads(bench: Bench) -> Iterable[Workload]:
    """A writer for each table, because writers of one table wait for each other; readers likewise."""
    kind = subjects(bench)[0]
    names = [f"subject_{number + 1}" for number in range(1 if bench.copies else TABLES)]
    tables: dict[str, list[Restorable]] = {}
    for variant, database in DATABASES.items():
        bench.listener.doing(f"making {len(names)} tables with {variant} ({kind.label})")
        for name in names:
            kind.make(bench, name, FIRST_ROWS if kind.first_rows is None else kind.first_rows, variant, database)
        tables[variant] = [Restorable(bench, name, database) for name in names]
    sizes = {variant: {"index_bytes_per_row": index_bytes_per_row(bench, name)} for variant, name in DATABASES.items()}

    def compared(name: str, unit: str, statements: Statements, operations: float, most: int | None = None) -> Workload:
        def sized(variant: str, run: Callable[[], Run]) -> Callable[[], Run]:
            return lambda: replace(run(), figures=sizes[variant])

        work = bench.fixed_work(
            name, statements, partial(_restore, tables[DEFAULT]), len(names), operations, most, database=DATABASES[DEFAULT]
        )  # fmt: skip
        return Workload(
            name,
            unit,
            {
                variant: sized(variant, work(partial(_restore, mine), DATABASES[variant]))
                for variant, mine in tables.items()
            },
        )

    for size in BATCH_SIZES:
        most = most_statements(kind, len(names), size)
        if most is not None and most < MINIMUM_STATEMENTS:
            bench.skipped[insert_name(size)] = "the table has too few rows to insert for statements of that many"
            continue
        yield compared(insert_name(size), "rows", inserts(bench, kind, names, len(names), size), size, most)
    index = lookup_index(bench, names[0], DATABASES[DEFAULT], preferred=_fixed_length_index(bench, names[0]))
    if index is None:
        bench.skipped["lookups and joins"] = "the table has no index to look up by"
        return
    yield compared(LOOKUPS, "keys", lookups(bench, names, index, KEYS_PER_LOOKUP), KEYS_PER_LOOKUP)
    yield compared(BACKWARD, "keys", _backward(bench, names, index), KEYS_PER_LOOKUP)
    probes = [_make_probes(bench, names[0], index, database) for database in DATABASES.values()]
    yield compared(JOINS, "keys", _joins(names, index), probes[0])


def _restore(tables: Iterable[Restorable]) -> None:
    for table in tables:
        table.restore()


def _fixed_length_index(bench: Bench, table: str) -> str:
    """An index that begins with a CHAR or BINARY NOT NULL, if there is one: only such keys are searched by halving when they are unpacked."""
    rows = bench.server.execute(
        "SELECT s.INDEX_NAME FROM information_schema.STATISTICS AS s JOIN information_schema.COLUMNS AS c "
        "ON c.TABLE_SCHEMA = s.TABLE_SCHEMA AND c.TABLE_NAME = s.TABLE_NAME AND c.COLUMN_NAME = s.COLUMN_NAME "
        f"WHERE s.TABLE_SCHEMA = '{DATABASES[DEFAULT]}' AND s.TABLE_NAME = '{table}' AND s.SEQ_IN_INDEX = 1 "
        "AND c.DATA_TYPE IN ('char', 'binary') AND c.IS_NULLABLE = 'NO' ORDER BY c.CHARACTER_OCTET_LENGTH DESC LIMIT 1"
    )
    return str(rows[0][0]) if rows else ""


def index_bytes_per_row(bench: Bench, database: str) -> float:
    """What the indexes take, a row."""
    rows = bench.server.execute(
        "SELECT SUM(INDEX_LENGTH) / GREATEST(SUM(TABLE_ROWS), 1) FROM information_schema.TABLES "
        f"WHERE TABLE_SCHEMA = '{database}' AND TABLE_NAME LIKE 'subject%'"
    )
    return float(str(rows[0][0]))


def _make_probes(bench: Bench, table: str, index: LookupIndex, database: str) -> int:
    """A small table of values to join by, in random order; how many they are."""
    column = quote_identifier(index.column)
    bench.server.execute(
        f"DROP TABLE IF EXISTS {database}.{PROBES}",
        f"CREATE TABLE {database}.{PROBES} ENGINE=MyISAM AS SELECT {column} FROM {database}.{table} LIMIT 0",
    )
    generator = bench.random("probes")
    with bench.server.session(database) as connection, closing(connection.cursor()) as cursor:
        for batch in batches(generator.sample(list(index.values), len(index.values)), 500):
            cursor.execute(insert_statement(PROBES, [index.column], [b"(" + value + b")" for value in batch]))
    return len(index.values)


def _backward(bench: Bench, tables: Sequence[str], index: LookupIndex) -> Statements:
    name, column = (quote_identifier(text).encode() for text in (index.name, index.column))

    def statements(thread: int, count: int) -> Iterable[bytes]:
        table = tables[thread % len(tables)].encode()
        for value in bench.random("backward", thread).choices(index.values, k=count):
            yield b"SELECT %b FROM %b FORCE INDEX (%b) WHERE %b <= %b ORDER BY %b DESC LIMIT %d" % (
                column, table, name, column, value, column, KEYS_PER_LOOKUP,
            )  # fmt: skip

    return statements


def _joins(tables: Sequence[str], index: LookupIndex) -> Statements:
    name, column = (quote_identifier(text) for text in (index.name, index.column))
    joins = [
        f"SELECT COUNT(*) FROM {PROBES} STRAIGHT_JOIN {table} FORCE INDEX ({name}) ON {table}.{column} = {PROBES}.{column}".encode()
        for table in tables
    ]
    return lambda thread, count: [joins[thread % len(joins)]] * count


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """From which batch size on PACK_KEYS=0 stops to pay, and what it costs reads and space."""
    sizes = {
        size: comparison_of(result, UNPACKED)
        for size in BATCH_SIZES
        for result in results
        if result.name == insert_name(size)
    }
    gains = [size for size, one in sizes.items() if one and one.verdict == WORTH_IT]
    losses = [size for size, one in sizes.items() if one and one.verdict == WORSE]
    if gains:
        beyond = f"; from {min(losses)} rows on packed keys are faster" if losses and min(losses) > max(gains) else ""
        said = f"PACK_KEYS=0 is worth it for inserts of {_listed(gains)} rows{beyond}"
    elif losses:
        said = f"Keep the keys packed: PACK_KEYS=0 makes inserts of {_listed(losses)} rows slower, and none faster"
    else:
        said = "PACK_KEYS makes no clear difference to inserts into this table"
    reads = [
        f"{result.name} {times(one)}"
        for result in results
        if result.name in (LOOKUPS, BACKWARD, JOINS)
        if (one := comparison_of(result, UNPACKED))
    ]
    grown = [
        runs[0].figures["index_bytes_per_row"]
        for result in results[:1]
        for runs in (result.runs[DEFAULT], result.runs[UNPACKED])
    ]
    space = [f"the index takes {grown[1] / grown[0]:.2f} times the space"] if grown and grown[0] else []
    return f"{said}. With PACK_KEYS=0: {'; '.join([*space, *reads])}."


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


EXPERIMENT = Experiment(
    "PACK_KEYS: packed and unpacked index keys",
    workloads,
    conclude,
    runs_a_round=24,
    published=(
        Published(insert_name(20), UNPACKED, "almost doubled inserts", SOURCE_2008),
        Published(JOINS, UNPACKED, "a gain for joins by CHAR keys", SOURCE_2006),
    ),
    options=("--key-buffer-size=256M",),
)  # fmt: skip
