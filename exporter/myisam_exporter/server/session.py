"""One connection with the server: read-only, every query bounded in time, never waiting for a lock."""

from __future__ import annotations

import contextlib
import socket as sockets
import threading
import time
from collections.abc import Sequence
from types import TracebackType

from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import finite_number, whole_number
from myisam_exporter.server.connection_errors import REFUSALS, explained
from myisam_exporter.server.deadlines import DEADLINES
from myisam_exporter.server.driver import MAXIMUM_ROWS, BrokenConnectionError, Row, ServerConnection, second_handle
from myisam_exporter.server.granting import logged_in_anonymously, way_to
from myisam_exporter.server.sql import Sql, quote_account
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import ServerVersion, parse_version
from myisam_exporter.server.wire import patience_seconds, waited

DEFAULT_TIMEOUT_SECONDS = 10
LOCK_WAIT_TIMEOUT_SECONDS = 1
NO_LIMIT = 2**64 - 1
# A query and its answer may take so many times what one read may: the server's own limit comes first.
WHOLE_QUERY_TIMEOUTS = 2
TOO_SLOW = "what it was asked in one look took too long together"
# Servers' error numbers: manual, "Error Message Reference".
# ER_OPTION_PREVENTS_STATEMENT, of SHOW GRANTS.
NO_ACCOUNTS = 1290
PRIVILEGE_ERRORS = frozenset({1044, 1045, 1142, 1143, 1227})


class BusyConnectionError(UserError):
    """Others used the connection for as long as one may wait for it. It goes on: nothing is known to be wrong with the server."""


class Session:
    """A connection to one target.

    The server's own limits are set where its version has them: max_statement_time (MariaDB 10.1), max_execution_time (MySQL
    5.7.8), lock_wait_timeout (5.5), information_schema_stats_expiry=0 (MySQL 8.0).
    """

    def __init__(self, target: Target, timeout_seconds: int = DEFAULT_TIMEOUT_SECONDS) -> None:
        self.target = target
        self.timeout_seconds = timeout_seconds
        # The daemon's scrapes and its background work share one connection, query by query.
        self._one_at_a_time = threading.Lock()
        # They count in the server's Questions: who asks what others asked has to take them away.
        self.statements = 0
        attempt = _Attempt(target, timeout_seconds)
        self._connection = attempt.connection()
        # A second handle on the same socket: nobody else may use the library's while a query runs.
        self._wire = attempt.wire
        self._grants: list[Row] | None = None
        try:
            self.version: ServerVersion = parse_version(*self.row("SELECT @@version, @@version_comment", 2))
            self._limit()
        except StatementRefusedError as error:
            self.close()
            # An expired password (MariaDB) and a used-up allowance are refused here, and not at the login.
            raise (explained(target, error, timeout_seconds) if error.number in REFUSALS else error) from None
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the connection. One that another thread is using is cut, and closed when that thread lets go of it."""
        if not self._one_at_a_time.acquire(blocking=False):
            self.abort()
            return
        try:
            self._connection.close()
            self._wire.close()
        finally:
            self._one_at_a_time.release()

    def abort(self) -> None:
        """End it from another thread: a query that waits for the server ends at once with ServerLostError."""
        _cut(self._wire)

    def rows(
        self,
        statement: str,
        arguments: Sequence[str] | None = None,
        maximum_rows: int = MAXIMUM_ROWS,
        *,
        columns: int | None = None,
        names: bool = False,
    ) -> list[Row]:
        """The rows of a SELECT or SHOW, each value as text; numbers.py makes numbers of them. With `names` the columns' names come first.

        Whoever reads the rows says how many `columns` they have. Raises StatementRefusedError for an error of the server's, and ServerLostError
        when the server is gone, answers too late, too much, or another number of columns; BusyConnectionError where another thread's query
        takes longer than we may wait.
        """
        started = time.monotonic()
        if not self._one_at_a_time.acquire(timeout=self.timeout_seconds):
            raise BusyConnectionError(
                f"the connection with {self.target.label} is busy for more than {self.timeout_seconds} s."
            )
        whole = WHOLE_QUERY_TIMEOUTS * self.timeout_seconds
        patience = patience_seconds(whole)
        try:
            if patience <= 0:
                raise BrokenConnectionError(TOO_SLOW)
            # The library's own limit is on each read: a server that sends byte by byte would keep to it for ever.
            with DEADLINES.limit(patience, self.abort):
                self.statements += 1
                rows = self._connection.query(statement, arguments, maximum_rows, names=names)
            if columns is not None and any(len(row) != columns for row in rows):
                raise BrokenConnectionError("an answer with another number of columns than was asked for")
            return rows
        except BrokenConnectionError as error:
            is_late = patience < whole and time.monotonic() - started >= patience
            raise self._lost(BrokenConnectionError(TOO_SLOW) if is_late else error) from None
        finally:
            waited(time.monotonic() - started)
            self._one_at_a_time.release()

    def row(self, statement: str, columns: int, arguments: Sequence[str] | None = None) -> list[str]:
        """The one row of a statement, NULL as nothing. Raises ServerLostError where another number of values came, and as `rows` does."""
        rows = self.rows(statement, arguments, columns=columns)
        if not rows:
            raise self._lost(BrokenConnectionError("an answer without the row that was asked for"))
        return [value or "" for value in rows[0]]

    def connection_number(self) -> int:
        """What the server counts this connection as. Raises ServerLostError where it says no number, and as `rows` does."""
        said = self.row("SELECT CONNECTION_ID()", 1)[0]
        number = whole_number(said)
        if number is None:
            raise self._lost(BrokenConnectionError("a connection's number that is none"))
        return number

    def global_variables(self) -> dict[str, str]:
        """All global variables as the server has them, NULL as nothing. Raises as `rows` does."""
        return {name or "": value or "" for name, value in self.rows("SHOW GLOBAL VARIABLES", columns=2)}

    def status_number(self, name: str) -> float | None:
        """One status variable; None where the server has none of that name, or it is no number. Raises as `rows` does."""
        rows = self.rows("SHOW GLOBAL STATUS LIKE %s", (name,))
        return finite_number(rows[0][1]) if rows and len(rows[0]) == 2 else None

    def grants(self) -> list[Row] | Unknown:
        """What SHOW GRANTS says, asked once for a connection.

        Global privileges that are granted or revoked later concern later connections (manual, "When Privilege Changes Take Effect"); those of
        tables hold at once: see `forget_grants`.
        """
        if self._grants is None:
            said = self.rows_or_unknown("SHOW GRANTS", 1)
            if isinstance(said, Unknown):
                return said
            self._grants = said
        return self._grants

    def forget_grants(self) -> None:
        """Ask again next time."""
        self._grants = None

    def rows_or_unknown(
        self,
        statement: str,
        columns: int,
        grant: str = "",
        arguments: Sequence[str] | None = None,
        maximum_rows: int = MAXIMUM_ROWS,
    ) -> list[Row] | Unknown:
        """`rows`, or why they cannot be had.

        Args:
            statement: what to ask.
            columns: how many values each row has; rows of another length are no answer.
            grant: the privilege whose absence would explain a refusal.
            arguments: texts for the placeholders.
            maximum_rows: more are no answer of a server's: the connection ends.
        """
        try:
            rows = self.rows(statement, arguments, maximum_rows)
        except StatementRefusedError as error:
            return self._refused(error, grant)
        if any(len(row) != columns for row in rows):
            return Unknown("the server's answer has another number of columns than was asked for")
        return rows

    def records_or_unknown(self, statement: str, grant: str = "") -> list[dict[str, str | None]] | Unknown:
        """The rows of a statement whose columns differ from version to version, by name; or why they cannot be had, as `rows_or_unknown`."""
        try:
            names, *rows = self.rows(statement, names=True) or [()]
        except StatementRefusedError as error:
            return self._refused(error, grant)
        if any(len(row) != len(names) for row in rows):
            return Unknown("the server's answer has another number of columns than names")
        return [{name or "": value for name, value in zip(names, row, strict=True)} for row in rows]

    def _refused(self, error: StatementRefusedError, grant: str) -> Unknown:
        if error.number in PRIVILEGE_ERRORS and grant:
            account = self.account()
            return Unknown(f"no privilege: {error.text}{logged_in_anonymously(account)}", way_to(grant, account))
        return Unknown(f"the server refused: {error.text} (error {error.number})")

    def account(self) -> Sql:
        """The account this session is authorised as, quoted for a GRANT."""
        user, _, host = self.row("SELECT CURRENT_USER()", 1)[0].rpartition("@")
        return quote_account(user, host)

    def asks_nobody(self) -> bool:
        """Whether the server runs with skip-grant-tables: it lets everybody in, with all rights, and has no accounts until it is started without."""
        try:
            self.rows("SHOW GRANTS")
        except StatementRefusedError as error:
            return error.number == NO_ACCOUNTS
        return False

    def stay(self) -> None:
        """Have it kept where nothing is asked for long: some sites end a connection that was idle for half a minute. Raises as `rows` does."""
        # A proxy may know nothing of it, or allow less.
        with contextlib.suppress(StatementRefusedError):
            self.rows("SET SESSION wait_timeout=86400")

    def peer_process(self) -> int | None:
        """The process at the other end of a UNIX socket, as the kernel knows it; None for TCP or another PID namespace."""
        return None if self.target.socket is None else self._connection.peer_process

    def _limit(self) -> None:
        version = self.version
        # Where a server is set to autocommit=0, what we read of a table would keep its definition locked from look to look.
        # A server may pass over the character set that a client asks for (skip-character-set-client-handshake), or set another (init_connect).
        settings = ["NAMES utf8mb4", "SESSION autocommit=1", f"SESSION lock_wait_timeout={LOCK_WAIT_TIMEOUT_SECONDS}"]
        # What the server sets for everybody decides how SHOW CREATE quotes, which parts it leaves out (NO_TABLE_OPTIONS), whether '' is NULL.
        settings += ["SESSION sql_mode=''", "SESSION sql_quote_show_create=1"]
        # Where a server limits everybody's SELECTs, answers would be cut without a word, or refused (max_join_size).
        settings += [f"SESSION sql_select_limit={NO_LIMIT}", "SESSION sql_big_selects=1"]
        if version.at_least(mariadb=(10, 1)):
            settings.append(f"SESSION max_statement_time={self.timeout_seconds}")
        if version.at_least(mysql=(5, 7, 8)):
            settings.append(f"SESSION max_execution_time={self.timeout_seconds * 1000}")
        if version.at_least(mysql=(8, 0)):
            settings.append("SESSION information_schema_stats_expiry=0")
        self.rows("SET " + ", ".join(settings))
        if version.at_least(mysql=(5, 6), mariadb=(10, 0)):
            self.rows("SET SESSION TRANSACTION READ ONLY")

    def _lost(self, error: BrokenConnectionError) -> ServerLostError:
        return ServerLostError(
            f"lost the server at {self.target.label}: it was stopped, killed, or did not answer within {self.timeout_seconds} s "
            f"({error}). Check its error log; --timeout allows more time."
        )


class _Attempt:
    """A thread of its own connects: each step has its limit, the whole has one here, and the resolver of names can only be left behind."""

    def __init__(self, target: Target, timeout_seconds: int) -> None:
        self._target = target
        self._timeout_seconds = timeout_seconds
        self._state = threading.Lock()
        self._ended = threading.Event()
        self._given_up = False
        self._connection: ServerConnection | None = None
        self._error: Exception | None = None
        self._wire: sockets.socket | None = None

    @property
    def wire(self) -> sockets.socket:
        """The second handle on the socket of the connection that was made."""
        assert self._wire is not None
        return self._wire

    def connection(self) -> ServerConnection:
        """Connect. Raises UserError when that fails, and ServerLostError when it takes too long."""
        threading.Thread(target=self._connect, name="connect", daemon=True).start()
        seconds = WHOLE_QUERY_TIMEOUTS * self._timeout_seconds
        self._ended.wait(seconds)
        with self._state:
            if self._connection is not None:
                return self._connection
            if self._error is not None:
                raise explained(self._target, self._error, self._timeout_seconds) from None
            self._given_up = True
            self._let_go()
        over_network = self._target.socket is None
        why = "its name is not resolved, or what answers there" if over_network else "what answers there"
        check = "Check the name and the network; " if over_network else ""
        raise ServerLostError(
            f"no connection with {self._target.label} came about within {seconds} s: {why} is too slow. {check}--timeout allows more time."
        )

    def _connect(self) -> None:
        connection, failure = None, None
        try:
            connection = ServerConnection(self._target, self._timeout_seconds, self._dialled)
        except Exception as error:
            failure = error
        with self._state:
            if self._given_up:
                if connection is not None:
                    connection.close()
                return
            self._connection, self._error = connection, failure
            if connection is None:
                self._let_go()
        self._ended.set()

    def _dialled(self, wire: sockets.socket) -> None:
        with self._state:
            if self._given_up:
                raise UserError("given up meanwhile")
            self._wire = second_handle(wire)

    def _let_go(self) -> None:
        if self._wire is not None:
            _cut(self._wire)
            self._wire.close()


def _cut(wire: sockets.socket) -> None:
    with contextlib.suppress(OSError):
        wire.shutdown(sockets.SHUT_RDWR)
