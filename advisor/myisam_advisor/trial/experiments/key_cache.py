"""One key cache for all tables, divided into segments (MariaDB), or one for each table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from myisam_advisor.remedies.key_caches import recommended_segments
from myisam_advisor.trial.bench import SCHEMA, Bench, TableKind
from myisam_advisor.trial.conclusions import best_variant, said
from myisam_advisor.trial.experiments.base import SOURCE_2008, Experiment, Published
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import (
    Restorable,
    insert_name,
    inserts,
    lookup_index,
    lookups,
    most_statements,
    subjects,
)

TABLES = 8
FIRST_ROWS = 20_000
BATCH_SIZES = (1, 10, 20, 100)
KEYS_PER_LOOKUP = 100
CACHE_BYTES = 256 << 20
SHARED, SEGMENTS, OWN = "one shared cache", "segments", "a cache for each table"


def workloads(bench: Bench) -> Iterable[Workload]:
    """Inserts of several sizes, and point reads, each thread on its own table."""
    kinds = list(subjects(bench))
    if len(kinds) == 1 and not bench.copies:
        kinds *= TABLES
    threads = max(bench.options.threads_at_once, len(kinds) if not bench.copies else 1)
    tables = [_Table(bench, f"table_{number + 1}", kind) for number, kind in enumerate(kinds)]
    layouts = _layouts(bench, [table.name for table in tables])
    each = -(-threads // len(tables))
    for size in BATCH_SIZES:
        shares = [most_statements(table.kind, each, size) for table in tables]
        known = [share for share in shares if share is not None]
        name = insert_name(size)
        work = bench.fixed_work(
            name, _inserts(bench, tables, threads, size), _ready(layouts[SHARED], tables), threads, size, min(known, default=None)
        )  # fmt: skip
        yield Workload(name, "rows", {layout: work(_ready(set_up, tables)) for layout, set_up in layouts.items()})
    indexes = [lookup_index(bench, table.name) for table in tables]
    if not all(indexes):
        bench.skipped["point reads"] = "a table without an index to look up by"
        return
    name = f"point reads, {KEYS_PER_LOOKUP} keys a statement"
    readers = [
        lookups(bench, [table.name], index, KEYS_PER_LOOKUP)
        for table, index in zip(tables, indexes, strict=True)
        if index
    ]
    work = bench.fixed_work(
        name, lambda thread, count: readers[thread % len(readers)](thread, count), _ready(layouts[SHARED], tables), threads, KEYS_PER_LOOKUP
    )  # fmt: skip
    yield Workload(name, "keys", {layout: work(_ready(set_up, tables)) for layout, set_up in layouts.items()})


class _Table:
    """One table with its first rows, which can be restored."""

    def __init__(self, bench: Bench, name: str, kind: TableKind) -> None:
        bench.listener.doing(f"making {name} ({kind.label})")
        self.name = name
        self.kind = kind
        kind.make(bench, name, FIRST_ROWS if kind.first_rows is None else kind.first_rows)
        self.files = Restorable(bench, name)


def _ready(layout: Callable[[], None], tables: Sequence[_Table]) -> Callable[[], None]:
    def ready() -> None:
        for table in tables:
            table.files.restore()
        layout()
        for table in tables:
            table.files.load_index()

    return ready


def _inserts(bench: Bench, tables: Sequence[_Table], threads: int, size: int) -> Callable[[int, int], Iterable[bytes]]:
    """Each thread into one table; threads of the same table share the rows that a copy holds back."""
    each = -(-threads // len(tables))

    def statements(thread: int, count: int) -> Iterable[bytes]:
        table = tables[thread % len(tables)]
        own = thread // len(tables) if table.kind.further_rows is not None else thread
        return inserts(bench, table.kind, [table.name], each, size)(own, count)

    return statements


def _layouts(bench: Bench, names: Sequence[str]) -> dict[str, Callable[[], None]]:
    """What sets each layout up, while nobody works: changing segments under load crashes MariaDB."""
    caches = [f"trial_{number + 1}" for number in range(len(names))]

    def shared() -> None:
        if bench.is_mariadb:
            bench.server.execute("SET GLOBAL key_cache_segments = 0")
        bench.server.execute(
            *(f"CACHE INDEX {SCHEMA}.{name} IN default" for name in names),
            *(f"SET GLOBAL {cache}.key_buffer_size = 0" for cache in caches),
        )

    def segments() -> None:
        shared()
        bench.server.execute(f"SET GLOBAL key_cache_segments = {recommended_segments(_cores())}")

    def own() -> None:
        shared()
        bench.server.execute(
            *(f"SET GLOBAL {cache}.key_buffer_size = {CACHE_BYTES // len(caches)}" for cache in caches),
            # A cache that is made has blocks of 1 KiB, whatever the default one has.
            *(f"SET GLOBAL {cache}.key_cache_block_size = @@GLOBAL.key_cache_block_size" for cache in caches),
            *(f"CACHE INDEX {SCHEMA}.{name} IN {cache}" for name, cache in zip(names, caches, strict=True)),
        )

    layouts: dict[str, Callable[[], None]] = {SHARED: shared}
    if bench.is_mariadb:
        layouts[SEGMENTS] = segments
    else:
        bench.skipped["segments"] = "MySQL has no key_cache_segments"
    if len(names) > 1:
        layouts[OWN] = own
    else:
        bench.skipped["a cache for each table"] = "it takes two tables or more (--table, twice)"
    return layouts


def _cores() -> int:
    import os

    return len(os.sched_getaffinity(0))


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """The layout that helps most, over all workloads."""
    best = best_variant(results)
    if best is None:
        return "No other layout is clearly worth it for this load: keep the one shared cache."
    return f"{best[0].capitalize()} helps most: {said(results, best[0])}."


EXPERIMENT = Experiment(
    "Key cache: shared, in segments, one for each table",
    workloads,
    conclude,
    runs_a_round=15,
    published=(
        Published("inserts of 20 rows", OWN, "throughput almost doubled, context switches down almost tenfold", SOURCE_2008),
    ),
    options=(f"--key-buffer-size={CACHE_BYTES}",),
    memory_bytes=2 * CACHE_BYTES,
)  # fmt: skip
