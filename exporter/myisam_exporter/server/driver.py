"""The one place that speaks with a server: PyMySQL, on a socket of ours.

Whoever answers may be anybody, and may send anything. So the client is Python throughout: what a server sends can raise an exception and
nothing worse. We make the socket, and count on it (wire.py); we read the greeting before the library does (greeting.py); the password is of a
type that keeps itself (password.py); values come as text, which numbers.py alone makes numbers of. Every exception that the library
may raise ends here: as StatementRefusedError where the server refused a statement, as BrokenConnectionError for everything else.
"""

from __future__ import annotations

import contextlib
import ipaddress
import logging
import os
import socket as sockets
import struct
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from myisam_exporter.errors import MORE_MEMORY, ServerLostError, StatementRefusedError, UserError
from myisam_exporter.server.answer_rows import read_rows
from myisam_exporter.server.client_library import client_library
from myisam_exporter.server.default_sockets import server_users
from myisam_exporter.server.greeting import Greeting, read_greeting
from myisam_exporter.server.password import Password, PasswordKeptError
from myisam_exporter.server.target import ALL_PLUGINS, SENDING_PLUGINS, Target
from myisam_exporter.server.wire import ANSWER_BYTES, Meter, MeteredSocket, TooMuchError, keep, metered, metered_tls

if TYPE_CHECKING:
    from pymysql.connections import Connection
    from pymysql.cursors import SSCursor

Row = tuple[str | None, ...]

# Greeting, login and what belongs to it; then, of each answer, the descriptions of its columns.
LOGIN_BYTES, COLUMNS_BYTES = 256 << 10, 64 << 10
# What a row, and a value, take in memory beside their bytes; and how much an answer may take in all.
ROW_BYTES, VALUE_BYTES, ANSWER_MEMORY_BYTES = 64, 56, 64 << 20
# Rows of an answer, where nothing else is said: variables, counters, caches.
MAXIMUM_ROWS = 10_000
# Error numbers of clients (2000 to 2999) and of servers that end a connection: manual, "Error Message Reference".
CLIENT_ERRORS = range(2000, 3000)
# Below 1000 are those of its files, as of a temporary one that it cannot make: mysys_err.h, my_base.h. The library's own have 0 or none.
FIRST_SERVER_ERROR = 1
SERVER_SHUTDOWN, CONNECTION_KILLED = 1053, 1927
ENDING = frozenset({SERVER_SHUTDOWN, CONNECTION_KILLED})
# What the library could do with a password and never may: its names for clear text, for questions, and for the hash of before 4.1.
NEVER = ("mysql_clear_password", "dialog", "mysql_old_password")
LONGEST_NAME = 64  # of a plugin: mysql.user.plugin
_CREDENTIALS = struct.Struct("3i")  # unix(7), SO_PEERCRED: process, user, group
_log = logging.getLogger(__name__)


class UnreachableError(Exception):
    """Nothing answered: the OSError is its cause."""


class BrokenConnectionError(Exception):
    """The connection ended, or what came over it is not the protocol. The message says what is known."""


class UnknownPluginError(UserError):
    """The account logs in by an authentication plugin that this client does not speak."""


class UnverifiedWayError(UserError):
    """A password would travel to another host without TLS, or by a plugin that shows it."""


def dial(target: Target, timeout_seconds: float) -> sockets.socket:
    """A connection with the target, over TCP or its socket. Raises OSError."""
    if target.socket is not None:
        connection = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
        try:
            connection.settimeout(timeout_seconds)
            connection.connect(_address(str(target.socket)))
        except BaseException:
            connection.close()
            raise
        return connection
    # Where there is a port, "localhost" is an address, not a socket.
    host = "127.0.0.1" if target.host == "localhost" else target.host
    try:
        connection = sockets.create_connection((host, target.port), timeout_seconds)
    except UnicodeError:
        why = "it is not a host name: a part is empty, longer than 63 letters, or no text"
        raise sockets.gaierror(sockets.EAI_NONAME, why) from None
    connection.setsockopt(sockets.IPPROTO_TCP, sockets.TCP_NODELAY, 1)
    connection.setsockopt(sockets.SOL_SOCKET, sockets.SO_KEEPALIVE, 1)
    return connection


def _address(path: str) -> str:
    """Where a socket is: @name is one without a file, as MariaDB's servers and clients have them (unix(7), abstract)."""
    return f"\0{path[1:]}" if path.startswith("@") else path


class ServerConnection:
    """One connection, logged in. Not thread-safe but for `abort`."""

    def __init__(self, target: Target, timeout_seconds: float, dialled: Callable[[MeteredSocket], None]) -> None:
        """Connect and log in; `dialled` is told of the socket before anything comes over it.

        Raises UnreachableError, StatementRefusedError for an error of the server's, NoServerError for what is no server, UnverifiedWayError
        where the password would not be safe, ServerLostError for one that sent too much, and BrokenConnectionError for all else.
        """
        self.target = target
        self._meter = Meter()
        try:
            wire = metered(dial(target, timeout_seconds), self._meter)
        except OSError as error:
            raise UnreachableError from error
        try:
            wire.settimeout(timeout_seconds)
            dialled(wire)
            self._is_socket = wire.family == sockets.AF_UNIX
            self.peer_process = self._peer(wire)
            refuse_open_way(target, wire)
            self._meter.allow(LOGIN_BYTES)
            greeting = read_greeting(wire)
            self._check(greeting)
            wire.put_back = greeting.packet
            self._library = self._log_in(wire, timeout_seconds)
        except (OSError, EOFError) as error:
            wire.close()
            raise BrokenConnectionError(type(error).__name__) from error
        except BaseException:
            wire.close()
            raise

    def query(
        self,
        statement: str,
        arguments: Sequence[str] | None = None,
        maximum_rows: int = MAXIMUM_ROWS,
        *,
        names: bool = False,
    ) -> list[Row]:
        """The rows of an answer, as text; with `names` those of the columns first.

        Raises StatementRefusedError, and UserError for what is no text; after ServerLostError and BrokenConnectionError the connection is of no use.
        """
        refuse_no_text(statement, *(arguments or ()))
        cursor = self._library.cursor()
        text = cursor.mogrify(statement, arguments)
        try:
            self._meter.allow(COLUMNS_BYTES)
            cursor.execute(text)
            rows = self._rows(cursor, maximum_rows)
            heading = [tuple(str(column[0]) for column in cursor.description or ())] if names else []
            cursor.close()
        except Exception as error:
            known = self._known(error)
            if not isinstance(known, StatementRefusedError):
                self._abandon()
            raise known from None
        except BaseException:  # Ctrl-C: what comes yet would be read on, over no connection, and told by a traceback
            self._abandon()
            raise
        return heading + rows if heading else rows

    def close(self) -> None:
        """End it; what goes wrong meanwhile is of no interest."""
        with contextlib.suppress(Exception):
            self._library.close()

    def _rows(self, cursor: Any, maximum_rows: int) -> list[Row]:
        """Row by row: an answer is never held twice, and given up when it grows beyond what any server has to say."""
        if not cursor.description:
            return []
        rows: list[Row] = []
        meter = self._meter
        started = meter.received_bytes
        meter.allow(ANSWER_BYTES)
        columns = len(cursor.description)
        each = ROW_BYTES + VALUE_BYTES * columns
        for row in read_rows(self._library, self._library._result, columns):  # type: ignore[attr-defined]  # types-PyMySQL has what is public
            rows.append(row)
            received = meter.received_bytes
            if len(rows) > maximum_rows or len(rows) * each + received - started > ANSWER_MEMORY_BYTES:
                raise TooMuchError(f"{len(rows)} rows in one answer")
        keep(len(rows) * each + meter.received_bytes - started)
        return rows

    def _peer(self, wire: sockets.socket) -> int | None:
        """The process at a socket's other end, as the kernel knows it. Raises UnverifiedWayError when a socket that nobody named is not a server's."""
        if not self._is_socket:
            return None
        process, user, _ = _CREDENTIALS.unpack(
            wire.getsockopt(sockets.SOL_SOCKET, sockets.SO_PEERCRED, _CREDENTIALS.size)
        )
        if self.target.is_found and user not in server_users():
            raise UnverifiedWayError(
                f"what listens at {self.target.label} belongs to the user with number {user}: it is not used automatically. "
                f"If it is your server, say so: --socket {self.target.label}."
            )
        return process or None

    def _check(self, greeting: Greeting) -> None:
        """Before anything is answered: TLS where it is wanted, and no plugin that would ask for the password itself on an open way."""
        label = self.target.label
        wants_tls = self.target.tls.wanted
        if wants_tls and not greeting.can_tls and not self._is_socket:
            raise UnverifiedWayError(
                f"the server at {label} offers no TLS, which the option file asks for: give it a certificate (ssl_cert, ssl_key in its "
                "configuration), or take the ssl options out."
            )
        self._with_tls = wants_tls and greeting.can_tls
        if not self.target.password:
            return
        if greeting.plugin in ALL_PLUGINS - self.target.plugins:
            raise self._kept(f"{greeting.plugin}, which restricted-auth leaves out")
        if greeting.plugin in SENDING_PLUGINS and not self._with_tls:
            raise self._kept(greeting.plugin)

    def _may_be_sent(self) -> bool:
        """Whether the password itself may travel now: over a socket, or where TLS with a verified certificate is."""
        return self._is_socket or self._meter.is_encrypted

    def _log_in(self, wire: MeteredSocket, timeout_seconds: float) -> Connection[SSCursor]:
        connect = client_library().connect
        from pymysql.cursors import SSCursor

        target = self.target
        refuse_no_text(target.user)
        context = metered_tls(target.tls.context(has_name=not self._is_socket), self._meter) if self._with_tls else None
        library: Connection[SSCursor] = connect(
            user=target.user,
            password=Password(target.password, self._may_be_sent),
            host=target.host,
            port=target.port,
            charset="utf8mb4",
            autocommit=None,  # session.py sets it: the library's own way wants a converter, and believes a greeting that may not know it
            connect_timeout=timeout_seconds,
            read_timeout=timeout_seconds,
            write_timeout=timeout_seconds,
            local_infile=False,  # a server may answer any query by asking for a file of the client's
            conv={},
            use_unicode=False,
            cursorclass=SSCursor,
            auth_plugin_map=self._handlers(),
            # No key: the library would otherwise ask for the server's, and encrypt the password for whoever answers.
            server_public_key=b"none",
            ssl=context,
            ssl_disabled=context is None,
            defer_connect=True,
        )
        # A socket is as good as TLS; where the library does not know, it sends no password.
        library._secure = self._is_socket  # type: ignore[attr-defined]  # as above
        try:
            library.connect(wire)
        except Exception as error:
            raise self._known(error) from None
        return library

    def _handlers(self) -> _Handlers:
        """For each plugin that may not be used, what refuses it; sha256_password takes no socket for a verified way, but TLS only."""
        allowed = self.target.plugins - (frozenset() if self._with_tls else SENDING_PLUGINS)

        def refusing(name: str) -> Callable[[Any], Any]:
            def refuse(_: Any) -> Any:
                raise self._kept(name)

            return refuse

        return _Handlers({name: refusing(name) for name in {*NEVER, *ALL_PLUGINS} - allowed}, self._not_spoken)

    def _not_spoken(self, plugin: str) -> UserError:
        target = self.target
        return UnknownPluginError(
            f"the server at {target.label} wants the user {target.user!r} to log in by the plugin {plugin!r}, which this program does not speak. Make an account "
            "that logs in otherwise (myisam-advisor grants prints one: by the server's own socket, or by a password), and name it with --user or in the option file."
        )

    def _known(self, error: Exception) -> Exception:
        """What happened, as one of ours. What the library raised is not kept: it is only told to the log for debugging."""
        if isinstance(error, UserError):
            return error
        # Without the library cryptography, PyMySQL says so before it touches the password.
        if isinstance(error, PasswordKeptError) or (isinstance(error, RuntimeError) and "cryptography" in str(error)):
            return self._kept("its plugin")
        if isinstance(error, RuntimeError) and "pynacl" in str(error):
            return UnknownPluginError(
                f"the server at {self.target.label} wants the user {self.target.user!r} to log in by the plugin 'client_ed25519', which needs the Python library PyNaCl: "
                "install it (python3-nacl on Debian, or pip install PyNaCl), or name an account that logs in otherwise (--user; myisam-advisor grants prints one)."
            )
        if isinstance(error, (MemoryError, TooMuchError)):
            where = f"the server at {self.target.label} sent"
            return ServerLostError(
                f"there was not enough memory for what {where}: {MORE_MEMORY}."
                if isinstance(error, MemoryError)
                else f"{where} {error}, which no server does: the connection was closed. "
                "Check what answers there; if it is your server, report this to the developers."
            )
        failure = _tls_failure(error)
        if failure is not None:
            return self._untrusted(failure)
        _log.debug("%s", self.target.label, exc_info=error)
        return _of_the_library(error)

    def _untrusted(self, failure: Exception) -> UserError:
        why = getattr(failure, "verify_message", "") or getattr(failure, "reason", "") or failure
        return UnverifiedWayError(
            f"TLS with {self.target.label} failed: {why}. Check ssl-ca (the certificate of the authority that signed the server's) in the option "
            "file, and that --host is a name in the server's certificate; ssl-mode=VERIFY_CA takes any name."
        )

    def _kept(self, plugin: str) -> UserError:
        socket_or = "" if self._is_socket else "the server's socket, or "
        return UnverifiedWayError(
            f"the server at {self.target.label} asks for the password by {plugin}, which would show it: it was not sent. Use {socket_or}"
            "TLS with its authority's certificate (ssl-ca). An account with caching_sha2_password may log in by a hash, where the password is right and "
            "the server has seen it log in over its socket or TLS; those with mysql_native_password or ed25519 always do."
        )

    def _abandon(self) -> None:
        """Leave what still comes: the library would read it to its end."""
        result = getattr(self._library, "_result", None)
        if result is not None:
            result.unbuffered_active = False
        self.close()


class _Handlers(dict[str, "Callable[[Any], Any]"]):
    """What the library asks for each plugin that the server names. Those that nobody knows get one that says so, once it is to answer."""

    def __init__(self, refused: dict[str, Callable[[Any], Any]], not_spoken: Callable[[str], Exception]) -> None:
        super().__init__(refused)
        self._not_spoken = not_spoken

    def get(self, name: Any, default: Any = None) -> Any:
        """None for plugins that the library itself speaks, which it asks for as bytes first."""
        known = super().get(name, default)
        if known is not None or not isinstance(name, str) or name in ALL_PLUGINS:
            return known
        error = self._not_spoken(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}...")

        class Refusing:
            """Made when the plugin is named in the greeting too, where the account may have another: it speaks when it is to answer."""

            def __init__(self, connection: object) -> None:
                pass

            def authenticate(self, packet: object) -> object:
                raise error

        return Refusing


def refuse_open_way(target: Target, wire: sockets.socket) -> None:
    """Raise UnverifiedWayError when a password would go to another host without TLS, and nobody allowed that."""
    if wire.family == sockets.AF_UNIX or not target.password or target.tls.wanted or target.allow_cleartext:
        return
    if not is_this_machine(wire.getpeername()[0]):
        raise UnverifiedWayError(
            f"the password for {target.label} would travel to another host without TLS: name the certificate of the authority that signed the server's "
            "(ssl-ca=FILE in the option file's [client]). Where the network itself is protected (a tunnel, a VPN), --allow-cleartext goes without."
        )


def refuse_no_text(*said: str) -> None:
    """Raises UserError for what a terminal or a file gave and no server would understand: bytes that are no UTF-8."""
    for text in said:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise UserError(
                f"{text.encode('utf-8', 'backslashreplace').decode()}: these bytes are not UTF-8, as names and statements have to be."
            ) from None


def is_this_machine(address: str) -> bool:
    """Whether packets to this address stay on the machine."""
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback


def second_handle(wire: sockets.socket) -> sockets.socket:
    """The same connection for another thread, which may end it: the library lets nobody near its own while a query runs."""
    return sockets.socket(fileno=os.dup(wire.fileno()))


def _of_the_library(error: Exception) -> Exception:
    """An error that the library raised: the server's own, or that nothing more can be had."""
    from pymysql.err import MySQLError

    if not isinstance(error, MySQLError):
        return BrokenConnectionError(f"what it sent is not MySQL's protocol: {type(error).__name__}")
    number = error.args[0] if error.args and isinstance(error.args[0], int) else 0
    if number >= FIRST_SERVER_ERROR and number not in CLIENT_ERRORS and number not in ENDING:
        return StatementRefusedError(number, str(error.args[1]) if len(error.args) > 1 else "")
    return BrokenConnectionError(f"error {number}")


def _tls_failure(error: BaseException) -> Exception | None:
    """The failure of TLS behind what the library raised, or None."""
    import ssl

    original = getattr(error, "original_exception", error)
    return original if isinstance(original, ssl.SSLError) else None
