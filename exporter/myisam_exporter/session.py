"""One connection with the server: read-only, every query bounded in time, never waiting for a lock."""

from __future__ import annotations

import contextlib
import os
import socket as sockets
import struct
import threading
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from myisam_exporter.deadlines import DEADLINES
from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.sql import Sql, quote_account
from myisam_exporter.target import Target
from myisam_exporter.unknown import Unknown
from myisam_exporter.version_number import ServerVersion, parse_version

if TYPE_CHECKING:
    from MySQLdb.connections import Connection

DEFAULT_TIMEOUT_SECONDS = 10
LOCK_WAIT_TIMEOUT_SECONDS = 1
# A query and its answer may take so many times what one read may: the server's own limit comes first.
WHOLE_QUERY_TIMEOUTS = 2

# Client and server error numbers: manual, "Error Message Reference".
SOCKET_ERROR, HOST_ERROR, UNKNOWN_HOST = 2002, 2003, 2005
SERVER_GONE, SERVER_LOST, SERVER_SHUTDOWN, CONNECTION_KILLED = 2006, 2013, 1053, 1927
TLS_ERROR = 2026
ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD = 1045, 1698
TOO_MANY_CONNECTIONS, HOST_BLOCKED, HOST_NOT_PRIVILEGED = 1040, 1129, 1130
LOST = frozenset({SERVER_GONE, SERVER_LOST, SERVER_SHUTDOWN, CONNECTION_KILLED})
PRIVILEGE_ERRORS = frozenset({1044, ACCESS_DENIED, 1142, 1143, 1227})


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
        self._connection = _connect_in_time(target, timeout_seconds)
        # A second handle on the same socket: the library lets no other thread near its own while a query runs.
        self._wire = sockets.socket(fileno=os.dup(int(self._connection.fileno())))  # type: ignore[no-untyped-call]
        try:
            text, comment = self.rows("SELECT @@version, @@version_comment")[0]
            self.version: ServerVersion = parse_version(str(text), str(comment))
            self._limit()
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
        import MySQLdb

        if not self._one_at_a_time.acquire(blocking=False):
            self.abort()
            return
        try:
            with contextlib.suppress(MySQLdb.Error):  # it is closed already
                self._connection.close()  # type: ignore[no-untyped-call]
            self._wire.close()
        finally:
            self._one_at_a_time.release()

    def abort(self) -> None:
        """End it from another thread: a query that waits for the server ends at once with ServerLostError."""
        with contextlib.suppress(OSError):
            self._wire.shutdown(sockets.SHUT_RDWR)

    def rows(self, statement: str, arguments: Sequence[object] | None = None) -> list[tuple[Any, ...]]:
        """The rows of a SELECT or SHOW.

        Raises ServerLostError when the server is gone or answers too late, and MySQLdb's own error otherwise.
        """
        import MySQLdb

        if not self._one_at_a_time.acquire(timeout=self.timeout_seconds):
            raise ServerLostError(
                f"the connection with {self.target.label} is busy for more than {self.timeout_seconds} s."
            )
        try:
            # The library's own limit is on each read: a server that sends byte by byte would keep to it for ever.
            limit = DEADLINES.limit(WHOLE_QUERY_TIMEOUTS * self.timeout_seconds, self.abort)
            with limit, self._connection.cursor() as cursor:
                cursor.execute(statement, arguments)
                return list(cursor.fetchall())
        except MySQLdb.Error as error:
            # Without a number it is the library's own word for a connection that is closed.
            if _number(error) in LOST or isinstance(error, MySQLdb.InterfaceError):
                raise self._lost(error) from None
            raise
        finally:
            self._one_at_a_time.release()

    def rows_or_unknown(
        self, statement: str, grant: str = "", arguments: Sequence[object] | None = None
    ) -> list[tuple[Any, ...]] | Unknown:
        """`rows`, or why they cannot be had; `grant` is the privilege whose absence would explain it."""
        import MySQLdb

        try:
            return self.rows(statement, arguments)
        except MySQLdb.Error as error:
            number, text = _number(error), str(error.args[1] if len(error.args) > 1 else error)
            if number in PRIVILEGE_ERRORS and grant:
                return Unknown(f"no privilege: {text}", f"GRANT {grant} TO {self.account()};")
            return Unknown(f"the server refused: {text} (error {number})")

    def account(self) -> Sql:
        """The account this session is authorised as, quoted for a GRANT."""
        user, _, host = str(self.rows("SELECT CURRENT_USER()")[0][0]).rpartition("@")
        return quote_account(user, host)

    def peer_process(self) -> int | None:
        """The process at the other end of a UNIX socket, as the kernel knows it; None for TCP or another PID namespace."""
        if self.target.socket is None:
            return None
        if self._wire.family != sockets.AF_UNIX:
            return None
        credentials = self._wire.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, struct.calcsize("3i"))
        pid = int(struct.unpack("3i", credentials)[0])
        return pid or None

    def _limit(self) -> None:
        version = self.version
        settings = [f"SESSION lock_wait_timeout={LOCK_WAIT_TIMEOUT_SECONDS}"]
        if version.at_least(mariadb=(10, 1)):
            settings.append(f"SESSION max_statement_time={self.timeout_seconds}")
        if version.at_least(mysql=(5, 7, 8)):
            settings.append(f"SESSION max_execution_time={self.timeout_seconds * 1000}")
        if version.at_least(mysql=(8, 0)):
            settings.append("SESSION information_schema_stats_expiry=0")
        self.rows("SET " + ", ".join(settings))
        if version.at_least(mysql=(5, 6), mariadb=(10, 0)):
            self.rows("SET SESSION TRANSACTION READ ONLY")

    def _lost(self, error: Exception) -> ServerLostError:
        return ServerLostError(
            f"lost the server at {self.target.label}: it was stopped, killed, or did not answer within {self.timeout_seconds} s "
            f"(error {_number(error)}). Look at its error log, then run this again; --timeout allows more time."
        )


def _number(error: Exception) -> int:
    return int(error.args[0]) if error.args and isinstance(error.args[0], int) else 0


def _connect_in_time(target: Target, timeout_seconds: int) -> Connection:
    """A thread of its own connects: the library limits each read of a handshake, not the whole, and lets nobody cut it short."""
    from concurrent.futures import Future, wait

    attempt: Future[Connection] = Future()

    def connect() -> None:
        try:
            connection = _connect(target, timeout_seconds)
        except BaseException as error:
            if attempt.set_running_or_notify_cancel():
                attempt.set_exception(error)
            return
        if attempt.set_running_or_notify_cancel():
            attempt.set_result(connection)
        else:  # given up meanwhile
            connection.close()  # type: ignore[no-untyped-call]

    threading.Thread(target=connect, name="connect", daemon=True).start()
    seconds = WHOLE_QUERY_TIMEOUTS * timeout_seconds
    wait([attempt], seconds)
    if attempt.cancel():
        raise ServerLostError(
            f"no connection with {target.label} came about within {seconds} s: its name is not resolved, or what answers there is too slow. "
            "Check the name and the network; --timeout allows more time."
        )
    return attempt.result()


def _connect(target: Target, timeout_seconds: int) -> Connection:
    import MySQLdb

    where: dict[str, Any] = (
        {"unix_socket": str(target.socket)} if target.socket else {"host": target.host, "port": target.port}
    )
    if not target.socket and target.host == "localhost":
        where["host"] = "127.0.0.1"  # the client library would take "localhost" for a socket
    if target.tls:
        where["ssl"] = target.tls
    if target.tls_mode:
        where["ssl_mode"] = target.tls_mode
    try:
        return MySQLdb.connect(
            user=target.user, passwd=target.password, charset="utf8mb4", autocommit=True,
            connect_timeout=timeout_seconds, read_timeout=timeout_seconds, write_timeout=timeout_seconds,
            local_infile=0,  # a server may answer any query by asking for a file of the client's (manual, "Security Considerations for LOAD DATA LOCAL")
            **where,
        )  # fmt: skip
    except MySQLdb.Error as error:
        raise _connection_error(target, error, timeout_seconds) from None
    except TypeError as error:  # its name for a keyword that it does not know: Debian 12 has 1.4.6
        raise UserError(
            f"the library mysqlclient {'.'.join(map(str, MySQLdb.version_info[:3]))} is too old for an option: {error}. Take ssl-mode out of "
            "the option file (ssl-ca alone asks for TLS), or install mysqlclient 2.1 or later."
        ) from None


# What to say and do about each kind of failure to connect.
CONNECTION_ERRORS = {
    frozenset(
        {SOCKET_ERROR, HOST_ERROR, UNKNOWN_HOST}
    ): "no server answers at {target}: {text}. Check that it runs and listens there (--socket, --host, --port).",
    LOST: "the server at {target} accepted the connection but did not answer within {seconds} s: it hangs, is stopped or is starting up.",
    frozenset(
        {TOO_MANY_CONNECTIONS}
    ): "the server at {target} has no connection left: {text}. Close some, or raise max_connections.",
    frozenset(
        {HOST_BLOCKED, HOST_NOT_PRIVILEGED}
    ): "the server at {target} does not accept this host: {text}. See FLUSH HOSTS and the account's host part.",
    frozenset({TLS_ERROR}): "TLS with {target} failed: {text}. Check ssl-ca, ssl-cert and ssl-key in the option file.",
}


def _connection_error(target: Target, error: Exception, timeout_seconds: int) -> UserError:
    number, text = _number(error), str(error.args[-1])
    if number in (ACCESS_DENIED, ACCESS_DENIED_NO_PASSWORD):
        origin = (
            f"The password came {target.password_origin}."
            if target.password_origin
            else "No option file gave a password."
        )
        return UserError(
            f"the server at {target.label} refused the user {target.user!r}: {text}. {origin} "
            "Give another --user, or an option file with the right password (--defaults-file)."
        )
    if number == SOCKET_ERROR and target.socket and not target.socket.exists():
        return UserError(
            f"no server: the socket {target.socket} does not exist. Start the server, or name its socket (--socket) or its host (--host)."
        )
    message = next(
        (message for numbers, message in CONNECTION_ERRORS.items() if number in numbers),
        "could not connect to {target}: {text} (error {number}).",
    )
    kind = ServerLostError if number in LOST else UserError
    return kind(message.format(target=target.label, text=text, seconds=timeout_seconds, number=number))
