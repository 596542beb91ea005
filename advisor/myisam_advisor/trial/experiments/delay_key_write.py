"""DELAY_KEY_WRITE: inserts with and without, and what a crash costs: the server is killed while it inserts."""

from __future__ import annotations

import signal
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.bench import SCHEMA, Bench, TableKind
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.conclusions import best_variant, comparison_of, times
from myisam_advisor.trial.experiments.base import Experiment
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_advisor.trial.tables.made import Restorable, insert_name, inserts, most_statements, subjects

FIRST_ROWS = 50_000
AT_ONCE, LATE = "DELAY_KEY_WRITE=0", "DELAY_KEY_WRITE=1"
DATABASES = {AT_ONCE: f"{SCHEMA}_at_once", LATE: f"{SCHEMA}_late"}
TABLE = "subject"
INSERTS, CRASH = insert_name(1), "after a crash: CHECK, and REPAIR where that finds damage"
NOTE = "The server is killed (SIGKILL) while it inserts; the operating system and its page cache live on. A machine without power loses more"
# Statements that are there for a crash to interrupt.
MOST_STATEMENTS = 1_000_000


def workloads(bench: Bench) -> Iterable[Workload]:
    """The same table both ways: inserts, then a crash among them."""
    kind: TableKind = subjects(bench)[0]
    bench.listener.doing(f"making tables of both kinds ({kind.label})")
    tables: dict[str, Restorable] = {}
    for variant, database in DATABASES.items():
        kind.make(bench, TABLE, FIRST_ROWS if kind.first_rows is None else kind.first_rows, variant, database)
        tables[variant] = Restorable(bench, TABLE, database)
    work = bench.fixed_work(
        INSERTS, inserts(bench, kind, [TABLE], 1, 1), tables[AT_ONCE].restore, 1, 1, most_statements(kind, 1, 1), database=DATABASES[AT_ONCE]
    )  # fmt: skip
    yield Workload(
        INSERTS, "rows", {variant: work(table.restore, DATABASES[variant]) for variant, table in tables.items()}
    )
    most = most_statements(kind, 1, 1) or MOST_STATEMENTS
    yield Workload(
        CRASH,
        "rows",
        {
            variant: _crash(bench, table, DATABASES[variant], lambda: inserts(bench, kind, [TABLE], 1, 1)(0, most))
            for variant, table in tables.items()
        },
        NOTE,
    )


def _crash(
    bench: Bench, table: Restorable, database: str, statements: Callable[[], Iterable[bytes]]
) -> Callable[[], Run]:
    """How long it takes until the table can be used again, and what is missing from it then."""

    def run() -> Run:
        table.restore()
        before = bench.server.count(table.name)
        acknowledged = _killed_among(bench, database, iter(statements()))
        bench.server.restart()
        started = time.perf_counter()
        damaged = not _is_whole(bench, f"CHECK TABLE {table.name}")
        if damaged and not _is_whole(bench, f"REPAIR TABLE {table.name}"):
            raise TrialError(f"REPAIR TABLE could not repair {table.name} after the crash.")
        seconds = time.perf_counter() - started
        rows = bench.server.count(table.name)
        # The statement that was under way may have written its row, and nobody was told.
        lost = max(before + acknowledged - rows, 0)
        return Run(
            seconds,
            rows,
            figures={
                "rows_inserted_before_the_crash": acknowledged,
                "rows_lost": lost,
                "index_was_damaged": float(damaged),
            },
        )

    return run


def _killed_among(bench: Bench, database: str, statements: Iterator[bytes]) -> int:
    """Insert until the server is killed under it, after the time of a run; how many statements were answered."""
    answered = 0
    under_way = threading.Event()

    def insert() -> None:
        nonlocal answered
        try:
            with bench.server.session(database) as connection, closing(connection.cursor()) as cursor:
                for statement in statements:
                    cursor.execute(statement)
                    answered += 1
                    under_way.set()
        except driver().error:
            pass  # it was killed, as is meant; a table that refuses rows shows in that none was answered
        finally:
            under_way.set()

    thread = threading.Thread(target=insert)
    thread.start()
    under_way.wait()
    thread.join(bench.options.seconds)
    bench.server.stop(signal.SIGKILL)
    thread.join()
    if not answered:
        raise TrialError("no row could be inserted before the crash.")
    return answered


def _is_whole(bench: Bench, statement: str) -> bool:
    """Whether CHECK or REPAIR ends with OK; what stands before its last line are warnings."""
    return str(bench.server.execute(statement)[-1][3]) in ("OK", "Table is already up to date")


def conclude(_bench: Bench, results: Sequence[WorkloadResult]) -> str:
    """What it gains, and what a crash cost with it."""
    gain = next(
        (times(one) for result in results if result.name == INSERTS and (one := comparison_of(result, LATE))), ""
    )
    judged = (
        "is worth it"
        if best_variant([result for result in results if result.name == INSERTS])
        else "is not clearly worth it"
    )
    runs = next((result.runs[LATE] for result in results if result.name == CRASH), ())
    if not runs:
        return f"DELAY_KEY_WRITE=1 {judged} for inserts: {gain}."
    damaged = int(sum(run.figures["index_was_damaged"] for run in runs))
    seconds, rows = statistics.median(run.seconds for run in runs), statistics.median(run.operations for run in runs)
    lost = max(run.figures["rows_lost"] for run in runs)
    return (
        f"DELAY_KEY_WRITE=1 {judged} for inserts: {gain}. Of {len(runs)} crashes {damaged} left an index that had to be repaired; "
        f"{seconds:.1f} s for {rows:,.0f} rows until the table could be used, and {lost:,.0f} rows lost at most. A larger table takes longer, "
        "and a machine that loses power loses more than one whose server dies."
    )


EXPERIMENT = Experiment(
    "Delayed writing of index blocks: inserts, and a crash among them",
    workloads,
    conclude,
    runs_a_round=4,
    options=("--key-buffer-size=128M", "--delay-key-write=ON"),
)
