"""Two private servers with the same copies of the tables: the present version, and the newer one.

The newer one's copies are made of those on the present one, so that both are of the same moment. What the newer one refuses to open is on
neither; what a rebuild mended is rebuilt there.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import field, replace
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.stages import make_account
from myisam_advisor.trial.statements.watched import replay_settings
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source, SourceFile
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.trial import OPTIONS
from myisam_advisor.trial.upgrade.carried_settings import (
    MODE,
    carried,
    give_charset,
    give_deciding,
    name_options,
    options_of,
    settings_told,
)
from myisam_advisor.trial.upgrade.recorded_result import ServerSetting
from myisam_advisor.trial.upgrade.upgrade_result import REFUSED, UpgradedTable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.outside.foreign_files import ForeignFiles

# Places a table of this copy on the newer server, opens and checks it there, and says what came of it.
Place = Callable[[PrivateServer, Source], UpgradedTable]


class NoTableError(TrialError):
    """There is no table that both versions open."""


@dataclass(frozen=True, slots=True)
class Versions:
    """Both programs, what of the watched server's settings matters, and which of its `sql_mode` the newer version takes."""

    present: ServerBinaries
    newer: ServerBinaries
    variables: Mapping[str, str]
    taken_mode: str


@dataclass(frozen=True, slots=True)
class BothServers:
    """Both servers, the tables that are on both, why others are not, and how they are set."""

    present: PrivateServer
    newer: PrivateServer
    sources: Sequence[Source]
    missing: Mapping[TableName, str]
    settings: Sequence[ServerSetting]
    notes: list[str] = field(default_factory=list)


@contextlib.contextmanager
def both_servers(
    versions: Versions, sources: Sequence[Source], place: Place, lock: Lock | None, folder: Path, listener: Listener
) -> Iterator[BothServers]:
    """Start both, with the tables that both can open. Raises NoTableError where there is none."""
    schemas = sorted({source.schema for source in sources})
    with ExitStack() as stack:
        listener.doing("starting a private server of the present version")
        first_options = [*OPTIONS, *name_options(versions.variables)]
        present = stack.enter_context(PrivateServer(versions.present, first_options, _made(folder / "p")))
        defaults = present.variables()
        missing: dict[TableName, str] = {}
        copied = _copied(sources, present, lock, listener, missing)
        make_account(present, schemas)
        present.options = [*OPTIONS, *replay_settings(versions.variables)]
        present.restart()
        given = carried(versions.variables, defaults)
        listener.doing("starting a private server of the newer version")
        options = [*first_options, *options_of(given)]
        newer = stack.enter_context(PrivateServer(versions.newer, options, _made(folder / "n")))
        make_account(newer, schemas)
        placed = _placed(copied, present, newer, place, missing)
        if not placed:
            raise NoTableError("; ".join(missing.values()))
        deciding = {**given, MODE: versions.taken_mode} if MODE in given else given
        notes = give_deciding(newer, deciding)
        give_charset((present, newer), schemas, versions.variables)
        settings = settings_told(present.variables(), newer.variables(), given)
        yield BothServers(present, newer, placed, missing, settings, notes)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def _copied(
    sources: Sequence[Source], server: PrivateServer, lock: Lock | None, listener: Listener, missing: dict[TableName, str]
) -> list[Source]:  # fmt: skip
    """Those of which the present version has a copy."""
    copied = []
    for source in sources:
        try:
            copy_tables([source], server, lock, listener)
        except TrialError as error:
            server.expect_alive()
            missing[source.schema, source.table] = str(error).rstrip(".")
        else:
            copied.append(source)
    return copied


def _placed(
    sources: Sequence[Source],
    present: PrivateServer,
    newer: PrivateServer,
    place: Place,
    missing: dict[TableName, str],
) -> list[Source]:
    """Those that the newer version opens, too."""
    present.execute("FLUSH TABLES")
    placed = []
    for source in sources:
        with _its_copy(source, present) as copy:
            table = place(newer, copy)
        if table.verdict == REFUSED:
            said = table.problems[-1]
            missing[source.schema, source.table] = (
                f"{source.label} is refused by the newer version ({said.step}: {said.words})"
            )
        else:
            placed.append(source)
    return placed


@contextlib.contextmanager
def _its_copy(source: Source, server: PrivateServer) -> Iterator[Source]:
    """The table as it lies on the private server; its definition as it was."""
    opener, folder = ForeignFiles(os.geteuid()), server.data_directory / source.folder
    with ExitStack() as stack:
        files = []
        for file in source.files:
            if file.name.endswith((DATA, INDEX)):
                descriptor = opener.open_named(str(folder / file.name))
                stack.callback(os.close, descriptor)
                files.append(SourceFile(file.name, descriptor, os.fstat(descriptor).st_size))
            else:
                files.append(file)
        held = sum(file.state().st_size for file in files)
        yield replace(source, files=tuple(files), limit_bytes=max(source.limit_bytes, held))
