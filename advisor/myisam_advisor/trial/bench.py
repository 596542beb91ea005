"""What experiments run on: a private server, measured from outside while it works."""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import field
from pathlib import Path
from typing import Protocol

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.replay import Replayed, replay, write_statements
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.kernel.process import TICKS_PER_SECOND, ProcessIo, ProcessSample, read_process

SCHEMA = "myisam_advisor_trial"
SEED = 2008
CALIBRATION_SHARE = 0.2
USUAL_THREADS = 4
# Statements that each thread begins with, fewer where one is worth so many operations: 64 threads that read 20,000 rows 20 times take half a minute.
FIRST_CALIBRATION, FIRST_OPERATIONS = 20, 2000
TIMINGS = 5
MAXIMUM_STATEMENT_BYTES = 256 << 20
# (thread, number of statements) -> the statements
Statements = Callable[[int, int], Iterable[bytes]]


@dataclass(frozen=True, slots=True)
class TrialOptions:
    """What the user chose, also a column or an index for the experiment that wants one.

    `seconds` of each run (0: what suits the budget), up to `longest_seconds` where making ready for one takes longer than that; `rounds` at most
    (0: any number); `threads` (0: what suits the experiment); `budget_seconds` for all rounds together (None: as long as they take).
    """

    seconds: float = 0.0
    rounds: int = 0
    threads: int = 0
    column: str = ""
    index: str = ""
    budget_seconds: float | None = 300.0
    longest_seconds: float = 0.0

    @property
    def threads_at_once(self) -> int:
        """For an experiment that is about no number of threads."""
        return self.threads or USUAL_THREADS


class TableKind(Protocol):
    """A kind of table: how to make one with some rows in it, and further rows to insert."""

    @property
    def label(self) -> str:
        """What the table is, in words."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that rows have values for."""

    @property
    def further_rows(self) -> int | None:
        """How many rows can be inserted beside those made; None is any number."""

    @property
    def first_rows(self) -> int | None:
        """How many rows `make` can give; None is any number."""

    def make(self, bench: Bench, name: str, rows: int, options: str = "", database: str = SCHEMA) -> None:
        """Make the table, with table options, and so many rows."""

    def rows(self, bench: Bench, thread: int, threads: int, count: int) -> Iterator[bytes]:
        """Rows as SQL, `(1, 'a')`, of which each thread has its own."""


class Copy(TableKind, Protocol):
    """A copy of one of the user's tables, which also lies on the private server as it is."""

    schema: str
    table: str
    total_rows: int

    @property
    def name(self) -> str:
        """The copy's name in SQL."""


@dataclass(slots=True)
class Bench:
    """One trial's private server, tables and choices. Without a server (`server` is None) only files are measured.

    `skipped` gathers what could not be run, and why.
    """

    options: TrialOptions
    folder: Path
    private: PrivateServer | None
    copies: Sequence[Copy] = ()
    listener: Listener = field(default_factory=Listener)
    skipped: dict[str, str] = field(default_factory=dict)

    @property
    def server(self) -> PrivateServer:
        """The private server. Raises TrialError for an experiment that has none."""
        if self.private is None:
            raise TrialError("this experiment has no private server.")
        return self.private

    @property
    def is_mariadb(self) -> bool:
        """Whether the private server is MariaDB."""
        return self.server.binaries.flavour == "mariadb"

    def random(self, *salt: object) -> random.Random:
        """A generator that gives the same numbers in every run: all variants get the same work."""
        return random.Random(f"{SEED} {salt}")  # noqa: S311 -- repeatable, not secret

    def measured(self, action: Callable[[], float]) -> Run:
        """Run an action of our own that keeps the server busy; it returns how many operations it did."""
        before, started, client = self._process(), time.perf_counter(), time.process_time()
        operations = action()
        seconds, client_cpu = time.perf_counter() - started, time.process_time() - client
        return _run(before, self._process(), seconds, operations, client_cpu)

    def statement(self, text: str, operations: float, repeats: int = 1) -> Run:
        """One statement, so many times, on a connection that is open already."""
        with self.server.session() as connection, closing(connection.cursor()) as cursor:

            def run() -> float:
                for _ in range(repeats):
                    cursor.execute(text)
                    cursor.fetchall()
                return operations * repeats

            return self.measured(run)

    def repeats(self, text: str) -> int:
        """How often a statement fits into the time of a run, once the page cache is warm: by the fastest of a few, because one may be held up."""
        self.statement(text, 1)
        timings: list[float] = []
        while len(timings) < TIMINGS and sum(timings) < self.options.seconds:
            timings.append(self.statement(text, 1).seconds)
        return max(1, round(self.options.seconds / max(min(timings), 0.0001)))

    def replayed(self, folder: Path, threads: int, operations: float, database: str = SCHEMA) -> Run:
        """Send the statements that were written into the folder."""
        self.server.expect_alive()
        before = self._process()
        done: Replayed = replay(self.server, folder, threads, database)
        return _run(before, self._process(), done.seconds, operations, done.client_cpu_seconds)

    def fixed_work(
        self,
        name: str,
        statements: Statements,
        ready: Callable[[], None],
        threads: int = 0,
        operations_per_statement: float = 1,
        most: int | None = None,
        database: str = SCHEMA,
    ) -> Callable[..., Callable[[], Run]]:
        """A way to run the same statements under each variant: call it with what sets a variant up, and its database if it has one of its own.

        A variant whose statements must name another index gives its own, of which as many are sent.
        How many statements fill a run is found out first, with what is set up by `ready` (and warms up by it); `most` is how many
        there can be for each thread.
        """
        threads = threads or self.options.threads_at_once
        folder = self.folder / "statements" / name.replace(" ", "-").replace("/", "-")
        folder.parent.mkdir(exist_ok=True)
        count = self.calibrated(
            name, folder, statements, ready, threads, operations_per_statement, most, self.options.seconds, database
        )
        written = write_statements(folder, [statements(thread, count) for thread in range(threads)])

        def variant(
            set_up: Callable[[], None], its_database: str = database, own: Statements | None = None
        ) -> Callable[[], Run]:
            its_folder = folder
            if own is not None:
                its_folder = folder.with_name(f"{folder.name}-{its_database}")
                write_statements(its_folder, [own(thread, count) for thread in range(threads)])

            def run() -> Run:
                set_up()
                return self.replayed(its_folder, threads, written * operations_per_statement, its_database)

            return run

        return variant

    def calibrated(
        self, name: str, folder: Path, statements: Statements, ready: Callable[[], None], threads: int,
        operations_per_statement: float, most: int | None, seconds: float, database: str,
    ) -> int:  # fmt: skip
        """How many statements for each thread take about as long as a run should."""
        self.listener.doing(f"{name}: how much fills {seconds:g} s")
        limit, count = (
            most or 10_000_000,
            max(1, min(FIRST_CALIBRATION, int(FIRST_OPERATIONS / operations_per_statement))),
        )
        getting_ready = math.inf
        while True:
            count, began = min(count, limit), time.perf_counter()
            ready()
            getting_ready = min(getting_ready, time.perf_counter() - began)
            aimed = max(seconds, min(getting_ready, self.options.longest_seconds))
            write_statements(folder, [statements(thread, count) for thread in range(threads)])
            written = sum(file.stat().st_size for file in folder.iterdir())
            taken = self.replayed(folder, threads, count, database).seconds
            if taken >= aimed * CALIBRATION_SHARE:
                # Once more, because the first may have been held up.
                ready()
                taken = min(taken, self.replayed(folder, threads, count, database).seconds)
            enough = taken >= aimed * CALIBRATION_SHARE
            wanted = count * (aimed / max(taken, 0.001) if enough else 8)
            if enough or count == limit:
                return max(1, min(int(wanted), limit, int(count * MAXIMUM_STATEMENT_BYTES / max(written, 1))))
            count = int(wanted)

    def _process(self) -> ProcessSample:
        self.server.expect_alive()
        sample = read_process(Path("/proc") / str(self.server.pid), self.server.pid)
        if not isinstance(sample, ProcessSample):
            raise TrialError(f"the private server is gone: {sample.reason}.")
        return sample


def _run(
    before: ProcessSample,
    after: ProcessSample,
    seconds: float,
    operations: float,
    client_cpu: float,
) -> Run:
    """What the server did between two readings of its process.

    Threads that ended meanwhile are missing from the switches: the private servers keep theirs (thread_cache_size).
    """
    switches = [
        (count[0] - first[0], count[1] - first[1])
        for thread, count in after.switches.items()
        for first in (before.switches.get(thread, (0, 0)),)
    ]
    ticks = after.user_ticks + after.system_ticks - before.user_ticks - before.system_ticks
    reads = (
        after.io.calls - before.io.calls
        if isinstance(after.io, ProcessIo) and isinstance(before.io, ProcessIo)
        else None
    )
    return Run(
        seconds,
        operations,
        ticks / TICKS_PER_SECOND,
        client_cpu,
        sum(voluntary for voluntary, _ in switches),
        sum(involuntary for _, involuntary in switches),
        after.minor_faults - before.minor_faults,
        after.major_faults - before.major_faults,
        reads,
    )
