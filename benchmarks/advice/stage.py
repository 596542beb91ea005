"""Servers of a scenario: one that is asked about, and pairs of which one has the change. All begin with copies of the same files."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.advice.limits import SIDES, evict, hold_back, started_with
from benchmarks.advice.made_tables import make_tables
from benchmarks.advice.scenarios import FAULT, Beside, Scenario
from benchmarks.common import in_background
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import run

# MySQLTuner 1.9.9 divides by the chunk size, which is 0 in recent releases of MariaDB where nobody sets it: so it answers.
OPTIONS = ("--max-connections=200", "--loose-innodb-buffer-pool-chunk-size=2M")
# MySQL's default leaves crashed tables as they are, which is a risk of its own: where nothing is to be wrong, nothing is.
NOTHING_WRONG = ("--myisam-recover-options=BACKUP,QUICK",)
FIRST_COUNT, MORE, MOST, ENOUGH_SECONDS = 4, 4, 50_000, 0.25
# Many short runs make a verdict clear where neighbours come and go (docs/decisions/036-verdicts.md).
SHORT_RUN_SECONDS = 0.25
# What beats beside a load must beat in each run, or most of the load meets none of it.
FEWEST_BEATS, BEATS = 2, 3
SYSTEM = "('mysql', 'sys', 'information_schema', 'performance_schema')"
MOST_COUNTED_TABLES = 50


def options_of(scenario: Scenario) -> tuple[str, ...]:
    """What its servers are started with."""
    return (*OPTIONS, *(() if scenario.kind == FAULT else NOTHING_WRONG), *scenario.options)


@dataclass
class Player:
    """A server with its load: the runs of both of a pair are the same ones, in the same order."""

    scenario: Scenario
    server: PrivateServer
    count: int
    number: int = 0

    def run(self) -> float:
        """One run more; its rate, in pieces of work a second."""
        scenario, self.number = self.scenario, self.number + 1
        if scenario.before_each:
            self.server.execute(*scenario.before_each)
        if scenario.evict:
            self.server.execute("FLUSH TABLES")
            evict(self.files())
        with _beside(self.server, scenario.beside):
            seconds = scenario.load.send(self.server, self.server.directory / "load", self.count, self.number)
        return self.count / max(seconds, 1e-6)

    def files(self) -> list[Path]:
        """The tables' files."""
        schemas = [path for path in self.server.data_directory.iterdir() if path.is_dir()]
        own = [folder for folder in schemas if folder.name in ("made", "sbtest", "site")]
        return [path for folder in own for path in folder.iterdir() if path.suffix in (".MYI", ".MYD", ".MAI", ".MAD")]

    def calibrate(self, seconds: float) -> int:
        """How much work takes about so long."""
        beside = self.scenario.beside
        beat_seconds = 1 / beside.per_second if beside else 0.0
        enough_seconds = max(min(ENOUGH_SECONDS, seconds), FEWEST_BEATS * beat_seconds)
        self.count = FIRST_COUNT
        while True:
            rate = self.run()
            if self.count / rate >= enough_seconds or self.count >= MOST:
                break
            self.count = min(self.count * MORE, MOST)
        self.count = max(min(round(rate * max(seconds, BEATS * beat_seconds)), MOST), 1)
        return self.count


class Stage:
    """A folder with the scenario's tables as they are at the beginning, from which servers are made."""

    def __init__(self, scenario: Scenario, binaries: ServerBinaries, folder: Path, seconds: float) -> None:
        self.scenario, self.binaries, self.folder = scenario, binaries, folder
        self._seconds, self._count = min(seconds, SHORT_RUN_SECONDS) if scenario.may_be_short else seconds, 0
        kept = folder / "kept"
        kept.mkdir()
        with PrivateServer(binaries, options_of(scenario), kept) as server:
            scenario.load.prepare(server)
            make_tables(server, scenario.tables)
            if scenario.statements:
                server.execute(*scenario.statements)
            if scenario.killed:
                server.stop(signal.SIGKILL)
            else:
                server.execute("FLUSH TABLES")

    @contextlib.contextmanager
    def untouched(self) -> Iterator[Player]:
        """The server that is asked about."""
        with self.player(SIDES[0], ()) as player:
            yield player

    @contextlib.contextmanager
    def player(self, side: str, options: Sequence[str]) -> Iterator[Player]:
        """A server with these options beside the scenario's. Raises PrivateServerError where it does not start."""
        folder = self.folder / side
        run("rm", "-rf", "--", str(folder))
        folder.mkdir()
        run("cp", "-a", "--", str(self.folder / "kept" / "data"), str(folder / "data"))
        with contextlib.ExitStack() as until_the_end:
            with started_with(self.scenario.open_files):
                started = PrivateServer(self.binaries, [*options_of(self.scenario), *options], folder)
                server = until_the_end.enter_context(started)
            player = Player(self.scenario, server, self._count or FIRST_COUNT)
            hold_back(self.scenario, side, server.pid, player.files())
            if not self._count and side == SIDES[0]:
                self._count = player.calibrate(self._seconds)
            yield player

    def calibrated(self) -> None:
        """Find out how much work a run is, once: a pair must do the same."""
        if not self._count:
            with self.untouched():
                pass


@contextlib.contextmanager
def under_load(player: Player) -> Iterator[list[Exception]]:
    """The load, again and again, until the end; what went wrong with it."""
    failed = list[Exception]()

    def work(over: threading.Event) -> None:
        try:
            while not over.is_set():
                player.run()
        except Exception as error:  # told by who reads the list
            failed.append(error)

    with in_background(work):
        yield failed


@contextlib.contextmanager
def _beside(server: PrivateServer, beside: Beside | None) -> Iterator[None]:
    """The statement beside the load, at its pace."""
    if beside is None:
        yield
        return

    def work(over: threading.Event) -> None:
        due = time.monotonic()
        with contextlib.suppress(Exception), server.session() as connection:
            cursor = connection.cursor()
            while not over.wait(max(0.0, due - time.monotonic())):
                cursor.execute(beside.statement)
                cursor.fetchall()
                due = max(due + 1 / beside.per_second, time.monotonic())

    with in_background(work):
        yield


def row_counts(server: PrivateServer) -> dict[str, int]:
    """How many rows the scenario's tables have, the first ones of many; nothing of one that is damaged so that nobody can count them."""
    rows = server.execute(
        f"SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema NOT IN {SYSTEM} AND table_type = 'BASE TABLE' "
        f"ORDER BY 1, 2 LIMIT {MOST_COUNTED_TABLES}"
    )
    names = [f"`{schema}`.`{table}`" for schema, table in rows]
    counts = {}
    for name in names:
        with contextlib.suppress(driver().error):
            counts[name] = server.count(name)
    return counts


def crashed_tables(server: PrivateServer, names: Sequence[str]) -> list[str]:
    """Which of these tables CHECK TABLE finds an error in."""
    found = []
    for name in names:
        answers = [str(row[2]).lower() for row in server.execute(f"CHECK TABLE {name} MEDIUM")]
        if "error" in answers:
            found.append(name)
    return found
