"""One trial of engines from begin to end: the private servers, the copies, the ALTERs, the statements, the crash. Never as root: see engine_task.py."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path

from myisam_advisor.catalogue.innodb_pages import sort_file_bytes
from myisam_advisor.errors import TrialError
from myisam_advisor.remedies.engine_change import ARIA, INNODB
from myisam_advisor.trial.bench import Bench, TrialOptions
from myisam_advisor.trial.budget import Budget, fitted
from myisam_advisor.trial.engines.conversion import as_it_is, converted
from myisam_advisor.trial.engines.crash import crashed
from myisam_advisor.trial.engines.disk import flush_seconds
from myisam_advisor.trial.engines.drawn_rows import DrawnRows, drawn_rows
from myisam_advisor.trial.engines.mixes import MIXES, Compared, benches_for, mixes, speeds
from myisam_advisor.trial.engines.recorded import Events, RecordedStatements
from myisam_advisor.trial.engines.result import Conversion, Crash, EngineResult, KindSpeed, Recorded, Refusal, Stayed
from myisam_advisor.trial.engines.settings import (
    MYISAM,
    NO_QUERY_CACHE,
    OPTIONS,
    cache_bytes,
    cache_options,
    chosen_engines,
    may_sort_copies,
    told_settings,
)
from myisam_advisor.trial.engines.stage import EngineServer, Locks, Rows, server_on_copy
from myisam_advisor.trial.experiments.base import run_workload
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES, available_bytes, expect_room, machine_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.replay import sender_program
from myisam_advisor.trial.rounds import FEWEST_ROUNDS, Limits
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.made import MINIMUM_ROWS
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.trial import as_trial_errors
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.version_number import PRODUCT_NAMES

# Of a table on another engine: the copy it is made of, itself while the ALTER writes it, and its log.
ROOM_FOR_COPY, ROOM_FOR_TABLE, ROOM_FOR_LOG = 1, 3, 1
ROOM_PER_ENGINE = ROOM_FOR_COPY + ROOM_FOR_TABLE + ROOM_FOR_LOG
UNKNOWN = Locks(None, None)


@dataclass(frozen=True, slots=True)
class EngineMaterial:
    """What a trial of engines is about.

    `engines` are those that were asked for (none: those that the program has); `knows_moments`: the recording that `events` reads tells to the microsecond when
    statements began. `variables` and `watched` are the watched server's: the sizes
    of its caches, and what a private server has not; `left_out` says of tables why they are not among the sources.
    """

    binaries: ServerBinaries
    engines: Sequence[str]
    settings: Sequence[str]
    variables: Mapping[str, str]
    watched: Mapping[str, str]
    sources: Sequence[Source]
    left_out: Mapping[str, str]
    lock: Lock | None = field(default=None, repr=False)
    events: Events | None = field(default=None, repr=False)
    described: Mapping[str, str] = field(default_factory=dict)
    knows_moments: bool = False


def disk_bytes(tables: Sequence[int], engines: int, *, is_sorted: bool) -> int:
    """What tables of these sizes take on so many engines; where a copy is sorted, also the files for the largest one: the next one's are made when they are gone."""
    room = (ROOM_FOR_COPY + ROOM_PER_ENGINE * engines) * sum(tables) + engines * SERVER_DISK_BYTES
    return room + (int(sort_file_bytes(ROOM_FOR_TABLE * max(tables, default=0))) if is_sorted else 0)


def run_engine_trial(material: EngineMaterial, options: TrialOptions, listener: Listener) -> EngineResult:
    """Convert copies, and measure. Raises TrialError for whatever stops it, and for root; nothing is left behind."""
    expect_not_root()
    sender_program()
    with ReapedDirectory() as directory, ExitStack() as stack:
        trial = _EngineTrial(material, options, listener, directory.path, stack)
        with as_trial_errors(trial.expect_alive):
            return trial.run()


class _EngineTrial:
    def __init__(
        self, material: EngineMaterial, options: TrialOptions, listener: Listener, folder: Path, stack: ExitStack
    ) -> None:
        self._material, self._options, self._listener = material, options, listener
        self._folder, self._stack = folder, stack
        self._left_out = dict(material.left_out)
        self._skipped: dict[str, str] = {}
        self._notes: list[str] = []
        self._servers: list[EngineServer] = []
        self._tables: list[Source] = []
        self._rows: dict[str, Rows] = {}
        self._budget = Budget(options, 1)
        self._engines = chosen_engines(material.engines, material.binaries.flavour == "mariadb")
        self._cache = cache_bytes(material.variables, available_bytes(), 1 + len(self._engines))

    def expect_alive(self) -> None:
        """Raises TrialError where a server has died."""
        for one in self._servers:
            one.server.expect_alive()

    def run(self) -> EngineResult:
        """All of it, step by step."""
        if ARIA in self._engines and self._material.binaries.flavour != "mariadb":
            raise TrialError(
                f"{self._material.binaries.name} has no Aria: --to innodb, or a program of MariaDB (--server)."
            )
        self._expect_room()
        flush = flush_seconds(self._folder)
        base = self._base()
        self._begin_engines(base)
        self._begin_budget()
        conversions = {table.label: self._conversions(table) for table in self._tables}
        recorded = self._recorded(conversions)
        tried = [self._tried(table, conversions[table.label]) for table in self._tables]
        return EngineResult(
            tables=tuple(one for of_table, _ in tried for one in of_table),
            stayed=tuple(stayed for _, stayed in tried),
            recorded=tuple(recorded),
            workload=self._material.described,
            left_out=self._left_out,
            skipped=self._skipped,
            server=PRODUCT_NAMES[self._material.binaries.flavour],
            version=str(base.server.execute("SELECT @@version")[0][0]),
            settings=told_settings({one.engine: one.server.variables() for one in self._servers}),
            watched=self._material.watched,
            cache_bytes=self._cache,
            flush_seconds=flush,
            machine=machine_name(),
            taken_at=time.time(),
            notes=tuple(self._notes),
        )

    def _begin_budget(self) -> None:
        """It is for the statements; ALTERs and crashes take what they take."""
        runs = MIXES * len(self._servers) * len(self._tables)
        self._options = fitted(self._options, runs)
        self._budget = Budget(self._options, runs)

    def _expect_room(self) -> None:
        engines = len(self._engines)
        is_sorted = INNODB in self._engines and may_sort_copies(self._material.binaries, self._material.settings)
        expect_room(
            self._folder,
            disk_bytes([source.counted_bytes for source in self._material.sources], engines, is_sorted=is_sorted),
            (1 + engines) * self._cache,
        )

    def _options_for(self, engine: str) -> list[str]:
        without_cache = NO_QUERY_CACHE if self._material.events is None else ()
        return [*OPTIONS, *self._material.settings, *without_cache, *cache_options(engine, self._cache)]

    def _base(self) -> EngineServer:
        """The server with the tables as they are. A table that cannot be copied is left out, with the reason; without any, that is all."""
        self._listener.doing("starting a private server")
        folder = self._folder / "s"
        folder.mkdir()
        server = PrivateServer(self._material.binaries, self._options_for(MYISAM), folder)
        self._stack.enter_context(server)
        base = EngineServer(MYISAM, server)
        self._servers.append(base)
        for source in self._material.sources:
            try:
                copy_tables([source], server, self._material.lock, self._listener)
            except TrialError as error:
                server.expect_alive()
                self._left_out[source.label] = str(error).rstrip(".")
                continue
            self._listener.doing(f"reading {source.label}")
            self._rows[source.label] = base.rows(source)
            self._tables.append(source)
        if not self._tables:
            raise TrialError(f"no table is left to try: {'; '.join(self._left_out.values())}.")
        return base

    def _begin_engines(self, base: EngineServer) -> None:
        """A server for each engine, on a copy of the base's data."""
        base.server.stop()
        for number, engine in enumerate(self._engines):
            self._listener.doing(f"starting a private server for {engine}")
            one = server_on_copy(engine, base.server, self._options_for(engine), self._folder / f"e{number}")
            self._stack.callback(one.server.close)
            one.server.start()
            self._servers.append(one)
        base.server.restart()

    def _conversions(self, table: Source) -> dict[str, Conversion]:
        """The table on each engine's server."""
        return {one.engine: self._converted(one, table) for one in self._servers[1:]}

    def _recorded(self, conversions: Mapping[str, Mapping[str, Conversion]]) -> list[Recorded]:
        """The recorded statements, where there are any, on the engines to which any table could go."""
        if self._material.events is None:
            return []
        servers = self._servers[:1]
        for one in self._servers[1:]:
            failed = [name for name, of_table in conversions.items() if of_table[one.engine].error]
            if len(failed) == len(conversions):
                continue
            servers.append(one)
            for name in failed:
                self._notes.append(f"In the recorded statements on {one.engine}, {name} stayed in MyISAM.")
        if len(servers) == 1:
            return []
        limits = Limits(FEWEST_ROUNDS, self._options.rounds or None, self._options.budget_seconds)
        recorded = RecordedStatements(
            servers, self._tables, self._material.events, self._folder, self._listener, knows_moments=self._material.knows_moments
        )  # fmt: skip
        results = recorded.compare(limits)
        self._notes += recorded.notes
        return results

    def _tried(self, table: Source, conversions: dict[str, Conversion]) -> tuple[list[Conversion], Stayed]:
        """One table: the same statements on all servers, and a crash of each."""
        stayed = Stayed(table.schema, table.table)
        servers = [
            one for one in self._servers if one.engine == MYISAM or not conversions[one.engine].error
        ]  # fmt: skip
        if len(servers) == 1:
            return list(conversions.values()), stayed
        if self._rows[table.label].count < MINIMUM_ROWS:
            self._skipped[f"{table.label}: statements and crash"] = f"fewer than {MINIMUM_ROWS} rows measure nothing"
            return list(conversions.values()), stayed
        try:
            with as_trial_errors():
                rows = drawn_rows(servers[0], table)
                kinds, locks = self._compared(table, servers, rows) if self._material.events is None else ({}, {})
        except TrialError as error:
            # What one table does not bear costs it its figures, and the others nothing.
            self.expect_alive()
            self._skipped[f"{table.label}: statements and crash"] = str(error).rstrip(".")
            return list(conversions.values()), stayed
        crashes = {one.engine: self._crashed(one, table, rows) for one in servers}
        for one in servers[1:]:
            engine = one.engine
            conversions[engine] = replace(
                conversions[engine], kinds=tuple(kinds.get(engine, ())), lock_waits=locks.get(engine, UNKNOWN).waits,
                deadlocks=locks.get(engine, UNKNOWN).deadlocks, crash=crashes[engine],
            )  # fmt: skip
        waits = locks.get(MYISAM, UNKNOWN).waits
        return list(conversions.values()), replace(stayed, lock_waits=waits, crash=crashes[MYISAM])

    def _converted(self, one: EngineServer, table: Source) -> Conversion:
        self._listener.doing(f"{table.label} to {one.engine}")
        try:
            return converted(one, table, self._rows[table.label])
        except TrialError as error:
            # The server did not come up again: the other engines go on.
            return replace(as_it_is(table, one.engine, self._rows[table.label]), error=Refusal(0, str(error)))

    def _compared(
        self, table: Source, servers: Sequence[EngineServer], rows: DrawnRows
    ) -> tuple[dict[str, list[KindSpeed]], dict[str, Locks]]:
        """The built-in statements, as far as the budget goes."""
        bench = Bench(self._options, self._folder, servers[0].server, (), self._listener)
        compared = Compared(servers, benches_for(servers, bench), table.schema)
        compared.make_twins(rows)
        for one in servers:
            self._listener.doing(f"{table.label}: reading it into memory, {one.engine}")
            one.warm([table])
        kinds: dict[str, list[KindSpeed]] = {one.engine: [] for one in servers}
        for mix in mixes(rows, self._options.threads_at_once, self._skipped, table.label):
            try:
                limits = self._budget.limits(len(servers))
                with as_trial_errors():
                    result = run_workload(compared.workload(mix), limits, self._listener)
            except TrialError as error:
                for one in servers:
                    one.server.expect_alive()
                self._skipped[f"{table.label}: {mix.name}"] = str(error).rstrip(".")
                continue
            self._listener.left(self._budget.left)
            for engine, speed in speeds(result).items():
                kinds[engine].append(speed)
        return kinds, compared.locks

    def _crashed(self, one: EngineServer, table: Source, rows: DrawnRows) -> Crash | None:
        self._listener.doing(f"{table.label}: a crash under inserts, {one.engine}")
        try:
            with as_trial_errors():
                return crashed(one, rows, self._rows[table.label].count, self._options.threads_at_once)
        except TrialError as error:
            one.server.restart()
            self._skipped[f"{table.label}: crash, {one.engine}"] = str(error).rstrip(".")
            return None
