"""One trial of engines from begin to end: the private servers, the copies, the ALTERs, the statements, the crash. Never as root: see engine_task.py."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.remedies.engine_change import ARIA
from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.engines.conversion import as_it_is, converted
from myisam_advisor.trial.engines.disk import flush_seconds
from myisam_advisor.trial.engines.result import Conversion, EngineResult, Refusal, Stayed
from myisam_advisor.trial.engines.settings import (
    MYISAM,
    OPTIONS,
    cache_bytes,
    cache_options,
    chosen_engines,
    told_settings,
)
from myisam_advisor.trial.engines.stage import EngineServer, Rows, server_on_copy
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES, available_bytes, expect_room, machine_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.trial import told_of
from myisam_exporter.server.version_number import PRODUCT_NAMES

# Of a table on another engine: the copy it is made of, itself while the ALTER writes it, and its log.
ROOM_PER_ENGINE, ROOM_FOR_COPY = 5, 1


@dataclass(frozen=True, slots=True)
class EngineMaterial:
    """What a trial of engines is about.

    `engines` are those that were asked for (none: those that the program has); `variables` and `watched` are the watched server's: the sizes
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


def run_engine_trial(material: EngineMaterial, options: TrialOptions, listener: Listener) -> EngineResult:
    """Convert copies, and measure. Raises TrialError for whatever stops it, and for root; nothing is left behind."""
    expect_not_root()
    with ReapedDirectory() as directory, ExitStack() as stack:
        trial = _EngineTrial(material, options, listener, directory.path, stack)
        try:
            return trial.run()
        except TrialError:
            raise
        except Exception as error:
            trial.expect_alive()
            told = told_of(error)
            if told is None:
                raise
            raise told from error


class _EngineTrial:
    def __init__(
        self, material: EngineMaterial, options: TrialOptions, listener: Listener, folder: Path, stack: ExitStack
    ) -> None:
        self._material, self._options, self._listener = material, options, listener
        self._folder, self._stack = folder, stack
        self._left_out = dict(material.left_out)
        self._skipped: dict[str, str] = {}
        self._servers: list[EngineServer] = []
        self._tables: list[Source] = []
        self._rows: dict[str, Rows] = {}
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
        conversions = [self._converted(one, table) for one in self._servers[1:] for table in self._tables]
        return EngineResult(
            tuple(sorted(conversions, key=self._place)),
            tuple(Stayed(table.schema, table.table) for table in self._tables),
            (),
            {},
            self._left_out,
            self._skipped,
            PRODUCT_NAMES[self._material.binaries.flavour],
            str(base.server.execute("SELECT @@version")[0][0]),
            told_settings({one.engine: one.variables() for one in self._servers}),
            self._material.watched,
            self._cache,
            flush,
            machine_name(),
            time.time(),
        )

    def _place(self, one: Conversion) -> int:
        return [(table.schema, table.table) for table in self._tables].index((one.schema_name, one.table_name))

    def _expect_room(self) -> None:
        copied = sum(source.counted_bytes for source in self._material.sources)
        engines = len(self._engines)
        expect_room(
            self._folder,
            (ROOM_FOR_COPY + ROOM_PER_ENGINE * engines) * copied + engines * SERVER_DISK_BYTES,
            (1 + engines) * self._cache,
        )

    def _options_for(self, engine: str) -> list[str]:
        return [*OPTIONS, *self._material.settings, *cache_options(engine, self._cache)]

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

    def _converted(self, one: EngineServer, table: Source) -> Conversion:
        self._listener.doing(f"{table.label} to {one.engine}")
        try:
            return converted(one, table, self._rows[table.label])
        except TrialError as error:
            # The server did not come up again: the other engines go on.
            return _failed(as_it_is(table, one.engine, self._rows[table.label]), str(error))


def _failed(known: Conversion, why: str) -> Conversion:
    return replace(known, error=Refusal(0, why))
