"""The built-in statements of a trial of engines: the same ones to each engine's server, made of the table's own rows.

No run leaves the table otherwise than it found it, as far as that matters: updates change values to others of the same length, and back
again the next time; inserts go into an empty table of the same definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from myisam_advisor.trial.bench import SCHEMA, Bench, Statements
from myisam_advisor.trial.comparison import Run, median_of
from myisam_advisor.trial.engines.drawn_rows import DrawnRows
from myisam_advisor.trial.engines.result import KindSpeed
from myisam_advisor.trial.engines.settings import MYISAM
from myisam_advisor.trial.engines.stage import NONE_YET, EngineServer
from myisam_advisor.trial.replay import write_statements
from myisam_advisor.trial.report import course_line
from myisam_advisor.trial.results import Workload, WorkloadResult
from myisam_exporter.declaring.lean_dataclasses import dataclass

TWIN = "twin"
READS_PER_UPDATE, BATCH = 4, 100
LEAST_STATEMENTS = 5
# Between the places where threads begin.
STEP = 7919
MIXES = 7


@dataclass(frozen=True, slots=True)
class Mix:
    """One kind of statements. `ready` is run before each run; `most` is how many there are for each thread (None: any number)."""

    name: str
    unit: str
    statements: Statements
    threads: int
    operations: int = 1
    most: int | None = None
    ready: tuple[str, ...] = ()


def mixes(rows: DrawnRows, threads: int, skipped: dict[str, str], label: str) -> Iterator[Mix]:
    """All that the table has rows and columns for; of the others `skipped` hears why not."""
    if rows.key_columns:
        yield Mix("reads by key", "rows", _reads(rows), threads)
    else:
        skipped[f"{label}: reads and updates by key"] = "no unique index finds single rows"
    if rows.key_columns and rows.changing:
        yield Mix("updates by key", "rows", _updates(rows, 0), threads)
        yield Mix(f"one update to {READS_PER_UPDATE} reads", "statements", _updates(rows, READS_PER_UPDATE), threads)
    elif rows.key_columns:
        skipped[f"{label}: updates"] = "no column of numbers or text is outside unique indexes"
    for batch in (1, BATCH):
        most = len(rows.rows) // threads // batch
        if most >= LEAST_STATEMENTS:
            name = "inserts of one row" if batch == 1 else f"inserts of {batch} rows"
            yield Mix(name, "rows", _inserts(rows, threads, batch), threads, batch, most, (f"TRUNCATE TABLE {SCHEMA}.{TWIN}",))  # fmt: skip
        else:
            skipped[f"{label}: inserts of {batch}"] = "the table has too few rows for that many statements"
    scan = f"SELECT MAX(CRC32({rows.scanned})) FROM {rows.name}".encode()
    yield Mix("full scan", "scans", _always(scan), 1)
    yield Mix("COUNT(*) of the table", "counts", _always(f"SELECT COUNT(*) FROM {rows.name}".encode()), 1)


def _always(text: bytes) -> Statements:
    def statements(_thread: int, count: int) -> Iterator[bytes]:
        return iter([text] * count)

    return statements


def _reads(rows: DrawnRows) -> Statements:
    def statements(thread: int, count: int) -> Iterator[bytes]:
        for number in range(count):
            yield _read(rows, thread * STEP + number)

    return statements


def _read(rows: DrawnRows, number: int) -> bytes:
    return b"SELECT * FROM %b WHERE %b" % (rows.name.encode(), rows.condition(rows.rows[number % len(rows.rows)]))


def _updates(rows: DrawnRows, reads: int) -> Statements:
    """One update, then so many reads."""

    def statements(thread: int, count: int) -> Iterator[bytes]:
        for number in range(count):
            if number % (reads + 1):
                yield _read(rows, thread * STEP + number)
                continue
            row = rows.rows[(thread * STEP + number) % len(rows.rows)]
            changed = (rows.name.encode(), (rows.changing or "").encode(), rows.condition(row))
            yield b"UPDATE IGNORE %b SET %b WHERE %b" % changed

    return statements


def _inserts(rows: DrawnRows, threads: int, batch: int) -> Statements:
    """Each thread its own rows."""
    share = len(rows.rows) // threads

    def statements(thread: int, count: int) -> Iterator[bytes]:
        own = rows.rows[thread * share : (thread + 1) * share]
        for number in range(count):
            yield rows.insert(own[number * batch : (number + 1) * batch], f"{SCHEMA}.{TWIN}", ignores=True)

    return statements


class Compared:
    """One table's statements on each engine's server, and what they waited for."""

    def __init__(self, servers: Sequence[EngineServer], benches: Mapping[str, Bench], schema: str) -> None:
        self.servers, self._benches, self._schema = servers, benches, schema
        self.locks = dict.fromkeys((one.engine for one in servers), NONE_YET)

    def make_twins(self, rows: DrawnRows) -> None:
        """An empty table of the same definition, on each server."""
        for one in self.servers:
            one.server.execute(
                f"CREATE DATABASE IF NOT EXISTS {SCHEMA}", f"DROP TABLE IF EXISTS {SCHEMA}.{TWIN}", f"CREATE TABLE {SCHEMA}.{TWIN} LIKE {rows.name}"
            )  # fmt: skip

    def workload(self, mix: Mix) -> Workload:
        """The statements, as many as fill a run of the slowest engine. Raises TrialError where one of them fails."""
        first = self._benches[self.servers[0].engine]
        folder = first.folder / "statements"
        count = min(
            self._benches[one.engine].calibrated(
                f"{mix.name}, {one.engine}", folder, mix.statements, self._ready(one, mix), mix.threads, mix.operations, mix.most,
                first.options.seconds, self._schema,
            )
            for one in self.servers
        )  # fmt: skip
        written = write_statements(folder, [mix.statements(thread, count) for thread in range(mix.threads)])

        def way(one: EngineServer) -> Callable[[], Run]:
            def run() -> Run:
                self._ready(one, mix)()
                before = one.locks()
                done = self._benches[one.engine].replayed(folder, mix.threads, written * mix.operations, self._schema)
                self.locks[one.engine] = self.locks[one.engine].plus(one.locks().since(before))
                return done

            return run

        return Workload(mix.name, mix.unit, {one.engine: way(one) for one in self.servers})

    def _ready(self, one: EngineServer, mix: Mix) -> Callable[[], None]:
        def ready() -> None:
            if mix.ready:
                one.server.execute(*mix.ready)

        return ready


def speeds(result: WorkloadResult) -> dict[str, KindSpeed]:
    """By engine, each against MyISAM."""
    base = median_of(result.runs[MYISAM], "operations_per_second")
    return {
        one.variant: KindSpeed(
            f"{result.name}",
            one.ratio if one.ratio == one.ratio else None,
            one.low,
            one.high,
            one.verdict,
            base,
            median_of(result.runs[one.variant], "operations_per_second"),
            course_line(result.course),
        )
        for one in result.comparisons
    }


def benches_for(servers: Sequence[EngineServer], bench: Bench) -> dict[str, Bench]:
    """What measures each server."""
    return {one.engine: replace(bench, private=one.server) for one in servers}
