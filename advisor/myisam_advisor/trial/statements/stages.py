"""Where variants run: private servers with the copied tables, and the tables as they were before each run.

What changes tables, or options of the start, has a server and files of its own; what SET GLOBAL can change and change back runs on the
server of the baseline.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.changes import are_alike
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.driver import Cursor, driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_advisor.trial.statements.definitions import Definition
from myisam_advisor.trial.statements.survey import Survey
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.tables.sources import DATA, INDEX
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import quote_identifier, quote_table, quote_value

ACCOUNT = "replay"
COPY_SECONDS = 3600
# Of the account that sends a replay: rows, temporary tables, and what is taken over (a trigger runs with its definer's rights).
PRIVILEGES = (
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EXECUTE", "SHOW VIEW", "TRIGGER",
)  # fmt: skip
READ_ONLY_VARIABLE = 1238
FILES_VARIABLE = "open_files_limit"
# A variant's limits are for its statements, not for ours. Words in /*! */ are for MySQL from 5.7.8 on, which MariaDB passes over, those in
# /*M! */ for MariaDB from 10.1.1 on: manuals, "Comments" and "Comment Syntax".
OUR_LIMITS = (
    "SET SESSION sql_select_limit = 18446744073709551615"
    "/*!50708 , SESSION max_execution_time = 0 *//*M!100101 , SESSION max_statement_time = 0 */"
)
# Nor is a transaction of ours read-only; MySQL before 5.6.5 and MariaDB before 10.0 know no such ones (manuals, "SET TRANSACTION").
OUR_ACCESS, WITHOUT_ACCESS_MODES = "SET SESSION TRANSACTION READ WRITE", ("mysql-5.5", "mariadb-5.5")


@dataclass(frozen=True, slots=True)
class StagedTable:
    """A table on a stage: its name, its files' folder and stem, and whether the workload writes it."""

    schema: str
    table: str
    folder: str
    stem: str
    is_written: bool

    @property
    def name(self) -> str:
        """The name in SQL."""
        return quote_table(self.schema, self.table)


class RefusedError(Exception):
    """The private server refuses a variant, in its own words."""


class Stage:
    """A private server with the tables, which begin each run as they are when `keep` is called."""

    def __init__(self, server: PrivateServer, tables: Sequence[StagedTable], folder: Path) -> None:
        self.server, self.tables = server, tables
        self._kept = folder / "kept"
        self._written = [table for table in tables if table.is_written]
        self._unwritten: dict[StagedTable, tuple[int, ...]] = {}

    def keep(self) -> None:
        """Keep the files of the tables that are written. Raises RefusedError where a change left no MyISAM table."""
        self._flush()
        for table in self.tables:
            if not (self.server.data_directory / table.folder / f"{table.stem}{INDEX}").exists():
                raise RefusedError(
                    f"{table.name} is no MyISAM table any more, and a small private server says nothing of other engines"
                )
        for table in self._written:
            kept = self._kept / table.folder
            kept.mkdir(parents=True, exist_ok=True)
            for ending in (DATA, INDEX):
                name = f"{table.stem}{ending}"
                shutil.copyfile(self.server.data_directory / table.folder / name, kept / name)
        self._unwritten = {table: self._rows_of(table) for table in self.tables if not table.is_written}

    def restore(self) -> None:
        """All tables as they were kept, closed, with their indexes in the key cache."""
        self.server.expect_alive()
        self._flush()
        for table in self._written:
            for ending in (DATA, INDEX):
                name = f"{table.stem}{ending}"
                shutil.copyfile(self._kept / table.folder / name, self.server.data_directory / table.folder / name)
        for table in self.tables:
            without_limits(self.server, f"LOAD INDEX INTO CACHE {table.name}")

    def expect_tables(self) -> None:
        """Raises TrialError where a run took the files of a table away, or wrote one that no statement says it writes: no later run would be like it."""
        for table in self.tables:
            if not (self.server.data_directory / table.folder / f"{table.stem}{INDEX}").exists():
                raise TrialError(
                    f"{table.name} is gone after a run: a statement of the workload, or a routine that it calls, drops or renames it. Leave the table out (--table)."
                )
        for table, rows in self._unwritten.items():
            if self._rows_of(table) != rows:
                raise TrialError(
                    f"{table.name} was written by a run, and the words of no statement say so (a MERGE table of it, names in double quotes, or words that "
                    "are for some versions alone): what came next would be compared with other rows. Leave the table out (--table)."
                )

    def _rows_of(self, table: StagedTable) -> tuple[int, ...]:
        """What changes with any row of it; nothing where its file is gone."""
        try:
            status = (self.server.data_directory / table.folder / f"{table.stem}{DATA}").stat(follow_symlinks=False)
        except FileNotFoundError:
            return ()
        return status.st_ino, status.st_size, status.st_mtime_ns

    def _flush(self) -> None:
        if self.tables:
            without_limits(self.server, "FLUSH TABLES")


def without_limits(server: PrivateServer, statement: str) -> list[tuple[object, ...]]:
    """Run a statement of our own, which no limit of a variant's is to end."""
    access = () if server.binaries.name in WITHOUT_ACCESS_MODES else (OUR_ACCESS,)
    return server.execute(OUR_LIMITS, *access, statement)


def make_account(
    server: PrivateServer, databases: Sequence[str], privileges: Sequence[str] = ("ALL PRIVILEGES",)
) -> None:
    """An account that may do this with these databases, and nothing with the server: statements of a workload are not trusted."""
    who, what = f"'{ACCOUNT}'@'localhost'", ", ".join(privileges)
    server.execute(f"CREATE USER {who}", *(f"GRANT {what} ON {_pattern(one)}.* TO {who}" for one in databases))


def privileges_for(found: Survey, definitions: Iterable[Definition]) -> tuple[str, ...]:
    """What these statements, and these views, triggers and routines, need: whatever else gets through to the server changes no definition of a copied table.

    TRUNCATE takes DROP. What a server checks before it knows that a table is a temporary one is more than it takes for that.
    """
    if found.redefines_temporary:
        return ("ALL PRIVILEGES",)
    truncates = found.truncates or any("truncate" in one.create.lower() for one in definitions)
    return (*PRIVILEGES, "DROP") if truncates else PRIVILEGES


def _pattern(database: str) -> str:
    """A database's name as GRANT takes it, where _ and % stand for anything else."""
    return quote_identifier(database.replace("\\", "\\\\").replace("_", "\\_").replace("%", "\\%"))


@contextlib.contextmanager
def stage_of(
    variant: Variant, template: Path, binaries: ServerBinaries, options: Sequence[str], tables: Sequence[StagedTable], folder: Path
) -> Iterator[Stage]:  # fmt: skip
    """A server of the variant's own, on a copy of the stopped template's data. Raises RefusedError where it does not take the variant."""
    folder.mkdir()
    copy_directory(template, folder / "data")
    server = PrivateServer(binaries, [*options, *variant.options], folder)
    server.give_away(folder)
    try:
        try:
            server.start()
        except TrialError as error:
            raise RefusedError(str(error)) from None
        for setting in variant.settings:
            set_global(server, setting)
        for option in variant.options:
            with contextlib.suppress(TrialError):
                expect_taken(server, Setting.parsed(option.removeprefix("--")))
        run_statements(server, variant.statements)
        yield Stage(server, tables, folder)
    finally:
        server.close()
        shutil.rmtree(folder, ignore_errors=True)


def copy_directory(source: Path, target: Path) -> None:
    """Copy a stopped server's data, sharing blocks where the file system can. Raises TrialError, as for a full disk."""
    command = [*words_before(), "cp", "--archive", "--reflink=auto", "--", str(source), str(target)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=COPY_SECONDS, check=False
    )  # fmt: skip
    if done.returncode != 0:
        raise TrialError(f"a variant's tables could not be copied: {done.stderr.strip()[:300]}. Choose another TMPDIR.")


def run_statements(server: PrivateServer, statements: Sequence[str]) -> None:
    """Run a variant's statements. Raises RefusedError with the server's error; OPTIMIZE and its like tell theirs as rows."""
    for statement in statements:
        try:
            rows = without_limits(server, statement)
        except driver().error as error:
            raise RefusedError(words_of(error)) from None
        for row in rows:
            if len(row) == 4 and str(row[2]).lower() == "error":
                raise RefusedError(str(row[3]))


def set_global(server: PrivateServer, setting: Setting) -> None:
    """Set it on the running server. Raises RefusedError with the server's error."""
    try:
        without_limits(server, f"SET GLOBAL {setting.sql_name} = {setting.sql_value}")
    except driver().error as error:
        raise RefusedError(words_of(error)) from None


def can_be_set(server: PrivateServer, setting: Setting) -> bool:
    """Whether the running server lets it be set and set back. Raises RefusedError for a name or a value that it does not know, or makes another of."""
    try:
        with changed(server, (setting,)):
            expect_taken(server, setting)
            return True
    except driver().error as error:
        if error.args[0] == READ_ONLY_VARIABLE:
            return False
        raise RefusedError(words_of(error)) from None


def expect_taken(server: PrivateServer, setting: Setting) -> None:
    """Raises RefusedError where the server made another value of it, with no more than a warning: what is measured would have another's name.

    Rounded it may be, as to blocks, and may leave more room for files, as servers make it for their connections. What cannot be asked for is taken for granted.
    """
    wanted = setting.sql_value
    if not wanted.isdigit():
        return
    try:
        found = str(server.execute(f"SELECT @@GLOBAL.{setting.sql_name}")[0][0])
    except driver().error:
        return
    if setting.variable == FILES_VARIABLE and found.isdigit() and int(found) >= int(wanted):
        return
    if found.isdigit() and not are_alike(found, wanted):
        raise RefusedError(f"the server does not take {wanted}: it makes {found} of it")


@contextlib.contextmanager
def changed(server: PrivateServer, settings: Sequence[Setting]) -> Iterator[None]:
    """With these settings, and the former ones afterwards."""
    before: list[tuple[Setting, str]] = []
    # A session that began before has none of the limits that are set, and so can set them back.
    with server.session() as connection:
        cursor = connection.cursor()
        try:
            for setting in settings:
                cursor.execute(f"SELECT @@GLOBAL.{setting.sql_name}")
                value = cursor.fetchall()[0][0]
                cursor.execute(f"SET GLOBAL {setting.sql_name} = {setting.sql_value}")
                before.append((setting, _literal(value)))
            yield
        finally:
            for setting, former in reversed(before):
                _set_back(server, cursor, f"SET GLOBAL {setting.sql_name} = {former}")


def _set_back(server: PrivateServer, cursor: Cursor, statement: str) -> None:
    """Raises TrialError where that cannot be done: what runs afterwards would run with the variant's setting."""
    try:
        cursor.execute(statement)
    except driver().error as error:
        server.expect_alive()
        raise TrialError(
            f"the private server does not take a setting back ({statement}): {words_of(error)}. Leave it out."
        ) from None


def _literal(value: object) -> str:
    if value is None:
        return "NULL"
    return quote_value(value if isinstance(value, int | float) else str(value))


def words_of(error: Exception) -> str:
    """The server's error, with its number."""
    return f"{error.args[-1]} (error {error.args[0]})"
