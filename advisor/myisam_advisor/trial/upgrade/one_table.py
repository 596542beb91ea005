"""One copy under the newer version, step by step; a step that is refused ends it, with the server's own code and words."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import field, replace

from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.stages import ACCOUNT
from myisam_advisor.trial.tables.copied_table import CopiedTable
from myisam_advisor.trial.tables.copying import OTHER_DICTIONARY, take_files
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source, is_packed
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.trial.upgrade.remedies import CONSTRAINTS, remedy_of
from myisam_advisor.trial.upgrade.shortened_indexes import Shortened, shortened
from myisam_advisor.trial.upgrade.upgrade_result import (
    BY_DEFINITION,
    BY_IMPORT,
    CREATE,
    FINE,
    MENDED,
    REFUSED,
    STATEMENTS,
    Problem,
    UpgradedTable,
)
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.sql import Sql, quote_identifier, quote_table, quote_text, sql_list, statement

READ_ROWS = 1000
KEPT_ROW = quote_identifier("myisam_advisor_kept_row")
IMPORT = "IMPORT TABLE"
# An upgrade reads no default anew: one such as 2010-02-30 stays.
ANY_DEFAULT = "ALLOW_INVALID_DATES"
CHECK, OPEN, REBUILD, CHECK_AGAIN = "CHECK TABLE ... FOR UPGRADE", "SELECT", "ALTER TABLE ... FORCE", "CHECK TABLE"
OBJECTIONS = frozenset({"error", "warning"})
FORMER_COLLATION = "utf8mb4_general_ci"
NO_VALUES_FOR_ZERO = "NO_AUTO_VALUE_ON_ZERO"


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as SHOW CREATE TABLE has it."""

    schema: str
    table: str
    text: str


class StepRefusedError(Exception):
    """A step that the newer server refuses."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.words)
        self.problem = problem


def told_words(server: PrivateServer, words: str) -> tuple[int, str] | None:
    """The number and the words with which the server refuses a statement; None where it does not."""
    try:
        server.execute(words)
    except driver().error as error:
        return _of(error)
    return None


def tried_definition(server: PrivateServer, definition: TableDefinition) -> UpgradedTable | None:
    """What becomes of a table without a copy, where its definition alone is refused; None where it is not."""
    with contextlib.suppress(driver().error):
        server.execute(statement("CREATE DATABASE IF NOT EXISTS {}", quote_identifier(definition.schema)))
    try:
        _create(server, definition)
    except StepRefusedError as refused:
        remedy = remedy_of([refused.problem], quote_table(definition.schema, definition.table), BY_DEFINITION)
        return UpgradedTable(
            definition.schema, definition.table, BY_DEFINITION, 0, None, REFUSED, (), (refused.problem,), remedy
        )
    return None


@dataclass
class TableTrial:
    """One table's copy, on the newer server."""

    server: PrivateServer
    source: Source
    way: str
    definition: str
    sql_mode: str
    lock: Lock | None
    listener: Listener
    steps: list[str] = field(default_factory=list)
    rows: int | None = None
    shortened: Shortened | None = None

    @property
    def table(self) -> Sql:
        """Its name in SQL."""
        return quote_table(self.source.schema, self.source.table)

    def run(self) -> UpgradedTable:
        """Place it, check it, read it, write it; a compressed one, which takes no rows from anybody, is not written."""
        found = self.opened()
        if found.verdict == REFUSED:
            return found
        try:
            if not is_packed(self.source):
                self._write()
        except StepRefusedError as refused:
            return self._result(STATEMENTS, [*found.problems, refused.problem])
        return self._result(found.verdict, found.problems)

    def opened(self) -> UpgradedTable:
        """Place it, check it, read it, and rebuild it where that is refused; nothing of it is written otherwise."""
        problems: list[Problem] = []
        verdict = FINE
        try:
            self._place()
            try:
                self._check_and_open()
            except StepRefusedError as refused:
                problems.append(refused.problem)
                self._rebuild()
                verdict = MENDED
        except StepRefusedError as refused:
            problems.append(refused.problem)
            return self._result(REFUSED, problems)
        return self._result(verdict, problems)

    def _result(self, verdict: str, problems: Sequence[Problem]) -> UpgradedTable:
        source = self.source
        remedy = remedy_of(problems, self.table, self.way, rebuilt=verdict == MENDED) if problems else ""
        if self.shortened is not None and verdict == REFUSED:
            problems, remedy = [Problem(CREATE, 0, self.shortened.words), *problems], self.shortened.remedy
        return UpgradedTable(
            source.schema, source.table, self.way, source.counted_bytes, self.rows, verdict, tuple(self.steps), tuple(problems), remedy
        )  # fmt: skip

    def _place(self) -> None:
        source, server = self.source, self.server
        folder = server.data_directory / source.folder
        server.execute(statement("CREATE DATABASE IF NOT EXISTS {}", quote_identifier(source.schema)))
        if self.way == BY_IMPORT:
            take_files(source, folder, self.lock, self.listener)
            description = next(file.name for file in source.files if file.name.endswith(".sdi"))
            try:
                self._ask(IMPORT, statement("IMPORT TABLE FROM {}", quote_text(str(folder / description))))
                return
            except StepRefusedError as refused:
                if refused.problem.code != OTHER_DICTIONARY or not self.definition:
                    raise
            # MySQL imports what its own release wrote; another one's it makes anew when the directory is upgraded.
            for file in source.files:
                (folder / file.name).unlink()
            self.way = BY_DEFINITION
        if self.way == BY_DEFINITION:
            self.shortened = _create(server, TableDefinition(source.schema, source.table, self.definition))
            if self.shortened is None:
                self.steps.append(CREATE)
            server.execute(statement("FLUSH TABLES {}", self.table))
            for ending in (DATA, INDEX):
                (folder / f"{source.stem}{ending}").unlink()
            rows_alone = tuple(file for file in source.files if file.name.endswith((DATA, INDEX)))
            source = replace(source, files=rows_alone)
        take_files(source, folder, self.lock, self.listener)

    def _check_and_open(self) -> None:
        if is_packed(self.source):
            # MySQL 8.0 and later learn when they open it that it is compressed; a CHECK TABLE before that says "Row format changed" (202), and OK.
            self._ask(OPEN, statement("SELECT * FROM {} LIMIT 0", self.table))
        self._check(CHECK, statement("CHECK TABLE {} FOR UPGRADE", self.table))
        # FOR UPGRADE looks at the definition alone where the table is of this version already.
        self._check(CHECK_AGAIN, statement("CHECK TABLE {}", self.table))
        self._ask(OPEN, statement("SELECT * FROM {} LIMIT {}", self.table, READ_ROWS))
        self.rows = int(str(self._ask(OPEN, statement("SELECT COUNT(*) FROM {}", self.table))[0][0]))

    def _rebuild(self) -> None:
        self._ask(REBUILD, statement("ALTER TABLE {} FORCE", self.table))
        self._check_and_open()

    def _write(self) -> None:
        """A row is changed, deleted and inserted again; the copy is thrown away afterwards."""
        source = self.source
        copied = CopiedTable(self.server, source.schema, source.table, self.rows or 0, source.data_bytes)
        columns = sql_list(map(quote_identifier, copied.columns))
        if not copied.columns:
            return
        modes = ",".join(filter(None, (self.sql_mode, NO_VALUES_FOR_ZERO)))
        with self.server.session(source.schema) as connection:
            self._on(connection, "", statement("SET SESSION sql_mode = {}", quote_text(ANY_DEFAULT)))
            kept = statement(
                "CREATE TEMPORARY TABLE {} ENGINE=MyISAM SELECT {} FROM {} USE INDEX () LIMIT 1",
                KEPT_ROW,
                columns,
                self.table,
            )
            self._on(connection, "", kept)
            self._on(connection, "", statement("SET SESSION sql_mode = {}", quote_text(modes)))
            self._update(connection, copied)
            self._on(connection, "DELETE", statement("DELETE FROM {} LIMIT 1", self.table))
            self._on(
                connection,
                "INSERT",
                statement("INSERT INTO {} ({}) SELECT {} FROM {}", self.table, columns, columns, KEPT_ROW),
            )
        self._check(CHECK_AGAIN, statement("CHECK TABLE {}", self.table))

    def _update(self, connection: Connection, copied: CopiedTable) -> None:
        def update(change: Sql) -> None:
            self._on(connection, "UPDATE", statement("UPDATE {} SET {} LIMIT 1", self.table, change))

        try:
            update(self._change(copied))
        except StepRefusedError as refused:
            if refused.problem.code not in CONSTRAINTS:
                raise
            # The NULL may be what the constraint forbids; the row as it is goes through the INSERT.
            first = quote_identifier(copied.columns[0])
            update(statement("{} = {}", first, first))

    def _change(self, copied: CopiedTable) -> Sql:
        """NULL for a column that may be so; else the column as it is, which is parsed and reads a row, and writes none."""
        nullable = {str(row[0]) for row in self.server.execute(f"SHOW COLUMNS FROM {self.table}") if row[2] == "YES"}
        name = next((one for one in copied.columns if one in nullable), None)
        if name is not None:
            return statement("{} = NULL", quote_identifier(name))
        first = quote_identifier(copied.columns[0])
        return statement("{} = {}", first, first)

    def _ask(self, step: str, words: Sql) -> list[tuple[object, ...]]:
        with self.server.session(self.source.schema) as connection:
            return self._on(connection, step, words)

    def _on(self, connection: Connection, step: str, words: Sql) -> list[tuple[object, ...]]:
        """Run it, and remember the step, where it is one to tell."""
        with closing(connection.cursor()) as cursor:
            try:
                cursor.execute(words)
                rows = list(cursor.fetchall()) if cursor.description else []
            except driver().error as error:
                self.server.expect_alive()
                raise StepRefusedError(Problem(step or "a copy of one row", *_of(error))) from None
        if step and step not in self.steps:
            self.steps.append(step)
        return rows

    def _check(self, step: str, words: Sql) -> None:
        objections = [str(row[3]) for row in self._ask(step, words) if str(row[2]).lower() in OBJECTIONS]
        if objections:
            self.steps.remove(step)
            raise StepRefusedError(Problem(step, 0, "; ".join(dict.fromkeys(objections))))


def _create(server: PrivateServer, definition: TableDefinition) -> Shortened | None:
    """By an account that may do nothing else: the text is another server's. Directories that it names are passed over."""
    with _former_collation(server), closing(server.connect(definition.schema, user=ACCOUNT)) as connection:
        _made(server, connection, definition.text)
        return shortened(connection, definition.schema, definition.table, definition.text)


def _made(server: PrivateServer, connection: Connection, text: str) -> None:
    with closing(connection.cursor()) as cursor:
        try:
            cursor.execute(statement("SET SESSION sql_mode = {}", quote_text(f"NO_DIR_IN_CREATE,{ANY_DEFAULT}")))
            cursor.execute(text)
        except driver().error as error:
            server.expect_alive()
            raise StepRefusedError(Problem(CREATE, *_of(error))) from None


@contextlib.contextmanager
def _former_collation(server: PrivateServer) -> Iterator[None]:
    """Meanwhile utf8mb4 alone means what it meant to MySQL before 8.0, which names no collation that is the default; 8.0 and later name theirs.

    With utf8mb4_0900_ai_ci the files would not fit (1034), nor texts compare as they do. Only an administrator may set it, and of a session
    that is there already only for itself.
    """
    former = statement("SET GLOBAL default_collation_for_utf8mb4 = {}", quote_text(FORMER_COLLATION))
    is_set = told_words(server, former) is None
    try:
        yield
    finally:
        if is_set:
            server.execute("SET GLOBAL default_collation_for_utf8mb4 = DEFAULT")


def _of(error: Exception) -> tuple[int, str]:
    return int(error.args[0]), str(error.args[-1])


def steps_in_words(steps: Sequence[str], rows: int | None) -> str:
    """What was done without an objection."""
    counted = "" if rows is None else f"; {rows} {'row' if rows == 1 else 'rows'}"
    return f"{', '.join(steps)}{counted}"
