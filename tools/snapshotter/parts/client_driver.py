"""Stands for server/driver.py where there is no library that speaks with servers: the host's own `mysql` or `mariadb` does.

One client for a connection, held by two ends of a socket pair: cutting that ends a statement that takes too long, as it ends a connection
elsewhere. It is told everything by one option file, a pipe that it inherits: no password in its words or its environment, and none of the
habits that other option files may give it (pager, tee, init-command, safe-updates). Statements go in line by line; the answer's end is known by
its last tag, an error by the number of the statement's line.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import select
import socket as sockets
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence

from myisam_exporter.errors import ServerLostError, StatementRefusedError, UserError
from myisam_exporter.server.sql import quote_text
from myisam_exporter.server.target import Target
from myisam_exporter.server.wire import ANSWER_BYTES, Meter, TooMuchError, keep
from tools.snapshotter.parts.client_output import END, OutputError, Row, error_in, last_words, rows_in
from tools.snapshotter.parts.client_program import Client
from tools.snapshotter.parts.socket_owner import refuse_foreign_socket

ROW_BYTES, VALUE_BYTES, ANSWER_MEMORY_BYTES = 64, 56, 64 << 20
MAXIMUM_ROWS = 10_000
# Tags and names are around each value: as printed an answer is several times what it holds.
PRINTED_TIMES = 8
MAXIMUM_COMPLAINT_BYTES = 1 << 20
CLIENT_ERRORS = range(2000, 3000)
ENDING = frozenset({1053, 1927, 4031})
# The client's own numbers: errmsg.h. Nothing listens; the plugin is not there.
UNREACHABLE, NO_PLUGIN = frozenset({2002, 2003, 2005}), frozenset({2058, 2059})
_SETTINGS = (
    "--xml", "--batch", "--force", "--unbuffered", "--skip-auto-rehash", "--loose-skip-reconnect", "--default-character-set=utf8mb4",
    # A server that asks for a file of the client's gets none (LOAD DATA LOCAL): clients before MySQL 8.0 would send it.
    "--loose-local-infile=0",
)  # fmt: skip
# Over TCP anybody may listen where the server did: no plugin that hands over the password as it is (mysql_clear_password, dialog).
_OVER_TCP = ("--plugin-dir=/nonexistent", "--loose-skip-enable-cleartext-plugin")
_NUMBER = re.compile(r"\(([0-9]{1,4})[ )]")
ENDED_SECONDS = 1.0


class UnreachableError(Exception):
    """Nothing answered: the OSError is its cause."""


class BrokenConnectionError(Exception):
    """The connection ended, or what came over it is no answer. The message says what is known."""


class ServerConnection:
    """One client that is logged in. Not thread-safe but for the socket that `dialled` is told of."""

    # Which process is at the other end of the server's socket only the client could ask; the pid file tells too. Whose it is: socket_owner.py.
    peer_process: int | None = None

    def __init__(self, target: Target, timeout_seconds: float, dialled: Callable[[sockets.socket], None]) -> None:
        """Start the client and log in; `dialled` is told of the socket first. Raises as the driver of the project does."""
        self.target = target
        self._timeout_seconds = timeout_seconds
        self._meter = Meter()
        self._line = 0
        self._complaint = b""
        if target.socket is not None:
            refuse_foreign_socket(target.socket, is_found=target.is_found)
        self._wire, theirs = sockets.socketpair()
        self._errors, their_errors = os.pipe()
        try:
            dialled(self._wire)
            self._process = _started(target, timeout_seconds, theirs, their_errors)
        except BaseException:
            self._wire.close()
            os.close(self._errors)
            raise
        finally:
            theirs.close()
            os.close(their_errors)
        self._is_logged_in = False
        try:
            self.query("SELECT 1")
        except BaseException:
            self.close()
            raise
        self._is_logged_in = True

    def query(
        self,
        statement: str,
        arguments: Sequence[str] | None = None,
        maximum_rows: int = MAXIMUM_ROWS,
        *,
        names: bool = False,
    ) -> list[Row]:
        """The rows of an answer, as text; with `names` those of the columns first.

        Raises StatementRefusedError; after ServerLostError and BrokenConnectionError the connection is of no use.
        """
        text = _in_one_line(statement, arguments)
        try:
            answered = text.startswith(("SELECT", "SHOW"))
            self._send(text)
            # A setting has no answer of its own: the next statement's tells that it was taken.
            if not answered:
                self._send("SELECT 1")
            rows = self._rows(self._answer(), text if answered else "SELECT 1", maximum_rows, names)
        except (OSError, OutputError) as error:
            self.close()
            raise BrokenConnectionError(str(error) or type(error).__name__) from None
        except TooMuchError as error:
            self.close()
            raise ServerLostError(
                f"the server at {self.target.label} sent {error}, which no server does: the connection was closed."
            ) from None
        except StatementRefusedError:
            if not answered:
                self.close()  # what tells of its end is still to come
            raise
        except (BrokenConnectionError, UserError):
            self.close()
            raise
        return rows if answered else []

    def close(self) -> None:
        """Let the client end, which says goodbye to the server; what goes wrong meanwhile is of no interest."""
        if self._errors < 0:
            return
        with contextlib.suppress(OSError):
            self._wire.shutdown(sockets.SHUT_RDWR)
        try:
            self._process.wait(ENDED_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        Client.running.discard(self._process)
        self._wire.close()
        os.close(self._errors)
        self._errors = -1

    def _send(self, text: str) -> None:
        self._line += 1
        with contextlib.suppress(ConnectionError):  # a client that ended says why on standard error, which is read next
            self._wire.sendall(f"{text};\n".encode())

    def _rows(self, output: bytes, text: str, maximum_rows: int, names: bool) -> list[Row]:
        rows = rows_in(output, text, names=names)
        held = sum(ROW_BYTES + sum(VALUE_BYTES + len(value or "") for value in row) for row in rows)
        if len(rows) > maximum_rows + names or held > ANSWER_MEMORY_BYTES:
            raise TooMuchError(f"{len(rows)} rows in one answer")
        self._meter.allow(ANSWER_BYTES)
        self._meter.take(sum(len(value or "") for row in rows for value in row))
        keep(held)
        return rows

    def _answer(self) -> bytes:
        """What the client prints up to the end of an answer. Raises for an error of this line's in its stead, and at the client's end."""
        parts, tail, size = [], b"", 0
        waiting = select.poll()
        for descriptor in (self._wire.fileno(), self._errors):
            waiting.register(descriptor, select.POLLIN)
        while not tail.endswith(END):
            # The session cuts the socket when a statement takes too long; that wakes this.
            ready = dict(waiting.poll())
            if self._errors in ready:
                if not self._hear():
                    waiting.unregister(self._errors)
                self._refuse()
            if self._wire.fileno() in ready:
                part = self._received()
                if not part:
                    self._ended()
                parts.append(part)
                size += len(part)
                tail = (tail + part)[-len(END) :]
                if size > ANSWER_BYTES * PRINTED_TIMES:
                    raise TooMuchError(f"more than {ANSWER_BYTES * PRINTED_TIMES >> 20} MiB in one answer")
        return b"".join(parts)

    def _received(self) -> bytes:
        """What the client printed; nothing at its end, also where it left unread what it was asked."""
        try:
            return self._wire.recv(1 << 18)
        except ConnectionError:
            return b""

    def _hear(self) -> bool:
        """Take in what the client complains of; False at its end."""
        said = os.read(self._errors, 65536)
        self._complaint = (self._complaint + said)[-MAXIMUM_COMPLAINT_BYTES:]
        return bool(said)

    def _refuse(self) -> None:
        """Raise what the statement on this line was answered with, if it was an error."""
        whole = self._complaint.rpartition(b"\n")[0].decode("utf-8", "replace")
        # A setting stands a line above the statement that tells of its end.
        for line in (self._line, self._line - 1):
            found = error_in(whole, line)
            if found is not None:
                self._complaint = b""
                raise _raised(*found)

    def _ended(self) -> None:
        """Raise why the client ended."""
        deadline = time.monotonic() + ENDED_SECONDS
        waiting = select.poll()
        waiting.register(self._errors, select.POLLIN)
        while waiting.poll(max(0, int((deadline - time.monotonic()) * 1000))) and self._hear():
            pass
        complaint = self._complaint.decode("utf-8", "replace")
        found = error_in(complaint) or error_in(complaint, self._line)
        if found is None and not self._is_logged_in:
            raise UserError(
                f"the client {Client.path} ended before it asked anything: {last_words(complaint).rstrip('.') or 'it said nothing'}. Name another with --client."
            )
        if found is None:
            raise BrokenConnectionError("the client ended")
        raise _raised(*found) if self._is_logged_in else _not_connected(*found)


def second_handle(wire: sockets.socket) -> sockets.socket:
    """The same socket for another thread, which may cut it."""
    return sockets.socket(wire.family, wire.type, wire.proto, fileno=os.dup(wire.fileno()))


def _raised(number: int, text: str) -> Exception:
    """An error that the client told of, as one of ours."""
    if number in CLIENT_ERRORS or number in ENDING:
        return BrokenConnectionError(f"error {number}")
    return StatementRefusedError(number, text)


def _not_connected(number: int, text: str) -> Exception:
    if number in UNREACHABLE:
        told = _NUMBER.search(text)
        code = int(told.group(1)) if told else 0
        # MariaDB's client tells 115 of whatever became of a connection that it did not wait for.
        cause = (
            OSError(code, os.strerror(code))
            if code not in (0, errno.EINPROGRESS)
            else OSError(code, "the client could not connect")
        )
        unreachable = UnreachableError()
        unreachable.__cause__ = cause
        return unreachable
    if number in NO_PLUGIN:
        return UserError(
            f"{Client.path} cannot log in as this account wants it: {text}. Name an account that logs in by another plugin, or a newer client (--client)."
        )
    if number in CLIENT_ERRORS:
        return UserError(f"{Client.path} could not connect: {text} (error {number}).")
    return _raised(number, text)


def _in_one_line(statement: str, arguments: Sequence[str] | None) -> str:
    """The statement with its arguments quoted. Raises ValueError for one that the client would take apart: none of ours is."""
    if arguments is not None:
        pieces = statement.split("%s")
        statement = pieces[0] + "".join(
            quote_text(argument) + piece for argument, piece in zip(arguments, pieces[1:], strict=True)
        )
    # \ begins a command of the client's own, ; ends a statement, and a line's number tells whose an error is.
    if any(character in statement for character in "\\;\n\r\0"):
        raise ValueError("a statement that is more than one, or more than SQL")
    return statement


def _started(target: Target, timeout_seconds: float, theirs: sockets.socket, errors: int) -> subprocess.Popen[bytes]:
    """The client, with its option file in a pipe."""
    reading, writing = os.pipe()
    try:
        # Far less than a pipe holds: it is there before anybody reads.
        os.write(writing, _option_file(target, timeout_seconds).encode("utf-8", "surrogateescape"))
        os.close(writing)
        words = [
            Client.path,
            f"--defaults-file=/dev/fd/{reading}",
            *_SETTINGS,
            *(_OVER_TCP if target.socket is None else ()),
        ]
        process = subprocess.Popen(
            words,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=errors,
            pass_fds=(reading,),
            env=_environment(os.environ),
            cwd="/",
            start_new_session=True,
        )
        Client.running.add(process)
        return process
    except OSError as error:
        raise UserError(
            f"{Client.path} cannot be started: {error.strerror or error}. Name another client with --client."
        ) from None
    finally:
        os.close(reading)


def _environment(ours: Mapping[str, str]) -> dict[str, str]:
    """Ours without what the client would take options or a login file from."""
    kept = {name: value for name, value in ours.items() if not name.startswith(("MYSQL", "MARIADB", "LIBMYSQL"))}
    # It reads ~/.mylogin.cnf beside any option file; what is in there was read by us, as far as it can be.
    kept["MYSQL_TEST_LOGIN_FILE"] = "/nonexistent"
    return kept


def _option_file(target: Target, timeout_seconds: float) -> str:
    way = (
        {"socket": str(target.socket), "protocol": "SOCKET"}
        if target.socket
        else {"host": target.host, "port": str(target.port), "protocol": "TCP"}
    )
    if target.socket is None and target.host == "localhost":
        way["host"] = "127.0.0.1"
    settings = {"user": target.user, "password": target.password, **way, "connect-timeout": str(int(timeout_seconds))}
    if target.socket is None and target.tls.wanted:
        files = {"ssl-ca": target.tls.authority, "ssl-cert": target.tls.certificate, "ssl-key": target.tls.key}
        settings.update({name: path for name, path in files.items() if path})
    # As the project's own driver has it: over a socket no TLS that nobody asked for. The one word is MariaDB's, the other MySQL's.
    without_tls = "loose-skip-ssl\nloose-ssl-mode=DISABLED\n" if target.socket and not target.tls.wanted else ""
    return "[client]\n" + "".join(f'{name}="{_escaped(value)}"\n' for name, value in settings.items()) + without_tls


def _escaped(value: str) -> str:
    """As option files have it between quotes. Raises UserError for a value that cannot stand there."""
    if "\0" in value:
        raise UserError("a user's name, a password or a path holds a zero byte, which no option file can.")
    for character, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\r", "\\r"), ("\t", "\\t")):
        value = value.replace(character, written)
    return value
