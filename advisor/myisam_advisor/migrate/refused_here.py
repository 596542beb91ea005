"""Which tables this server refuses to convert to InnoDB, for findings that would give the ALTER: no table is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from myisam_advisor.remedies.refused_conversions import Refusals
from myisam_advisor.texts.templates import object_name
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.data_directory import owner_of, read_root
from myisam_exporter.files.file_names import decode_schema
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.server.session import Session

# A look reads all headers of the tables' databases. What it tells changes with a setting, or with a definition: then files are renamed in the database's directory.
KEPT_SECONDS = 600.0
# So long it is kept all the same, and so many times as long as the look took: where tables are made and dropped all the time, looks take a fiftieth of one processor.
LEAST_KEPT_SECONDS = 60.0
LEAST_KEPT_LOOKS = 50
# alter_algorithm, which the script of `migrate` sets for itself, and a finding's command does not.
OF_THE_ALGORITHM = 1845


def refused_here(session: Session, names: Sequence[TableName], proc: Path) -> Refusals:
    """Why the ALTER of each table is refused, by number; nothing of tables whose files nobody here may see."""
    return _looked(session, names, proc)[0]


def _looked(session: Session, names: Sequence[TableName], proc: Path) -> tuple[Refusals, Path | None]:
    """The same with the data directory, where it was seen."""
    # Much is imported for it, which a daemon without such a finding never needs.
    from myisam_advisor.migrate.looking import looked_at
    from myisam_advisor.migrate.server_kind import INNODB

    try:
        databases = {schema for schema, _ in names}
        asked = [object_name(*name) for name in names]
        migration = looked_at(session, asked, INNODB, None, proc, databases=databases)
    except (UserError, OSError):
        return {}, None
    found = {}
    for one in migration.predictions:
        of_session = (error for error in one.errors if error.code == OF_THE_ALGORITHM)
        found[one.name] = tuple(f"{error.label}: {error.why}" for error in (*of_session, *one.script_errors))
    return found, migration.data_directory


def _databases(directory: Path | None, names: Sequence[TableName]) -> Mapping[Path, int]:
    """The directories of the tables' databases, with when something was made, renamed or removed in each."""
    if directory is None:
        return {}
    schemas = {schema for schema, _ in names}
    try:
        folders = read_root(directory, owner_of(directory)).schemas
    except OSError:
        return {}
    paths = (directory / folder for folder in folders if decode_schema(folder) in schemas)
    return {path: _changed_at(path) for path in paths}


def _changed_at(path: Path) -> int:
    """In nanoseconds; 0 where it cannot be told any more."""
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


class KeptRefusals:
    """The same for somebody who looks again and again: what was found is kept for a while, also that nobody may look, and less long where a definition may have changed."""

    def __init__(self, session: Callable[[], Session], proc: Path, clock: Clock = CLOCK) -> None:
        self._session, self._proc, self._clock = session, proc, clock
        self._asked: frozenset[TableName] = frozenset()
        self._found: Refusals = {}
        self._looked_at = self._took_seconds = 0.0
        self._databases: Mapping[Path, int] = {}

    def __call__(self, names: Sequence[TableName]) -> Refusals:
        """Why the ALTER of each table is refused."""
        if not self._asked.issuperset(names) or not self._stands():
            self._look(names)
        return self._found

    def _stands(self) -> bool:
        kept_seconds = self._clock.monotonic() - self._looked_at
        if kept_seconds >= KEPT_SECONDS:
            return False
        if kept_seconds < max(LEAST_KEPT_SECONDS, LEAST_KEPT_LOOKS * self._took_seconds):
            return True
        return all(_changed_at(path) == before for path, before in self._databases.items())

    def _look(self, names: Sequence[TableName]) -> None:
        began = self._clock.monotonic()
        try:
            self._found, directory = _looked(self._session(), names, self._proc)
        except UserError:
            self._found, directory = {}, None
        # What changes while the look lasts may have been read or not: it is looked at again after the longer time.
        self._databases = _databases(directory, names)
        self._asked, self._looked_at = frozenset(names), self._clock.monotonic()
        self._took_seconds = self._looked_at - began
