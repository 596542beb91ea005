"""Through which library private servers are asked: mysqlclient where it is installed, PyMySQL otherwise. Both give the same.

mysqlclient is the faster one, and has no binary for Linux: where it is missing nothing has to be compiled (decision 034). Errors are the
library's own, by which whoever asks tells a refusal from a fault; what both call alike is told by `Connection` and `Cursor`.

What is run is one statement at a time, and no file of ours is sent, whatever the libraries would do by themselves: views, routines and statements
of workloads are texts of the watched server's, and of whoever may write there. Behind a `;` in one of them another statement would run as root.
"""

from __future__ import annotations

import importlib.util
import os
import socket as sockets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

CONNECT_SECONDS = 5
CANNOT_CONNECT = 2002  # CR_CONNECTION_ERROR: manual, "Client Error Message Reference"
CHARACTER_SET = "utf8mb4"
ROWS_AT_ONCE = 1000


class Cursor(Protocol):
    """What runs statements (PEP 249)."""

    @property
    def description(self) -> Any:
        """The columns of the last statement; None where it has none."""

    def execute(self, query: Any, args: Any = None) -> object:
        """Run a statement."""

    def executemany(self, query: Any, args: Any) -> object:
        """Run a statement with each of these values."""

    def fetchone(self) -> Any:
        """The next row."""

    def fetchall(self) -> Any:
        """All rows."""

    def close(self) -> object:
        """End it."""


class Connection(Protocol):
    """A connection; autocommit is on. Its end is called (closing): no connection of mysqlclient 1.4, which Debian 12 has, stands behind `with`."""

    def cursor(self) -> Cursor:
        """What runs statements on it."""

    def thread_id(self) -> int:
        """The server's own number for it."""

    def close(self) -> None:
        """End it."""


class Driver(ABC):
    """One library. `folders` are what apart.py imports before it becomes another user."""

    folders: tuple[str, ...]

    @property
    @abstractmethod
    def error(self) -> type[Exception]:
        """What the library raises when a server refuses or is gone: `args` are number and message."""

    def connect(
        self,
        socket: Path,
        user: str = "root",
        password: str = "",
        database: str = "",
        answer_seconds: int | None = None,
    ) -> Connection:
        """A new connection over a server's socket, on which an answer that takes longer than `answer_seconds` is an error."""
        return self._opened(socket, user, password, database, answer_seconds)

    @abstractmethod
    def _opened(
        self, socket: Path, user: str, password: str, database: str, answer_seconds: int | None
    ) -> Connection: ...

    @abstractmethod
    def literal_rows(self, socket: Path, statement: str) -> Iterator[list[bytes]]:
        """The rows of a SELECT, each value as SQL on one line, with the very bytes that are stored."""


class Mysqlclient(Driver):
    """The C library."""

    folders = ("MySQLdb", "MySQLdb.constants")

    @property
    def error(self) -> type[Exception]:
        """See Driver."""
        import MySQLdb

        return MySQLdb.Error

    def _opened(self, socket: Path, user: str, password: str, database: str, answer_seconds: int | None) -> Connection:
        limits = {} if answer_seconds is None else {"read_timeout": answer_seconds}
        return cast(Connection, _connected(socket, user=user, passwd=password, db=database, **limits))

    def literal_rows(self, socket: Path, statement: str) -> Iterator[list[bytes]]:
        """See Driver."""
        connection = _connected(socket, user="root", conv={}, use_unicode=False)
        escape: Callable[[bytes], bytes] = connection.escape_string

        def quoted(value: bytes) -> bytes:
            return b"'%b'" % escape(value)

        with closing(connection):
            # The library's own calls: a cursor would decode names of columns, for which Python knows no encoding "binary".
            connection.query(b"SET NAMES binary")
            connection.query(statement.encode())
            result = connection.store_result()
            while rows := result.fetch_row(ROWS_AT_ONCE):
                yield from (_literals(row, quoted) for row in rows)


class PyMySQL(Driver):
    """The library that watched servers are asked by, too."""

    folders = ("pymysql", "pymysql.constants")

    @property
    def error(self) -> type[Exception]:
        """See Driver."""
        import pymysql

        return pymysql.Error

    def _opened(self, socket: Path, user: str, password: str, database: str, answer_seconds: int | None) -> Connection:
        connection = _dialled(socket, user=user, password=password, database=database or None, conv=_conversions())
        connection._read_timeout = answer_seconds
        return cast(Connection, connection)

    def literal_rows(self, socket: Path, statement: str) -> Iterator[list[bytes]]:
        """See Driver."""
        from pymysql.cursors import SSCursor

        connection = _dialled(socket, user="root", conv={}, use_unicode=False)

        def quoted(value: bytes) -> bytes:
            # The library quotes text, in the way of the server's mode: each byte is a letter of Latin-1.
            return cast(str, connection.escape(value.decode("latin-1"))).encode("latin-1")

        with closing(connection), closing(connection.cursor(SSCursor)) as cursor:
            # By a statement, not as the connection's character set: names of columns still come as UTF-8, and are decoded as that.
            cursor.execute("SET NAMES binary")
            cursor.execute(statement)
            yield from (_literals(row, quoted) for row in cursor.fetchall_unbuffered())


def _literals(row: Sequence[bytes | None], quoted: Callable[[bytes], bytes]) -> list[bytes]:
    return [b"NULL" if value is None else quoted(value) for value in row]


def _connected(socket: Path, **options: Any) -> Any:
    """A connection by mysqlclient."""
    return _one_by_one()(
        unix_socket=str(socket), charset=CHARACTER_SET, autocommit=True, read_default_file=os.devnull, connect_timeout=CONNECT_SECONDS,
        local_infile=0, **options,
    )  # fmt: skip


@cache
def _one_by_one() -> Callable[..., Any]:
    """Mysqlclient's class without the flag that it sets by itself: until 2.1 nobody could ask it not to."""
    from MySQLdb import _mysql
    from MySQLdb.connections import Connection as Whole
    from MySQLdb.constants import CLIENT

    class Flagless(_mysql.connection):
        """What Whole calls as its base."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            options["client_flag"] &= ~CLIENT.MULTI_STATEMENTS
            super().__init__(*arguments, **options)

    class OneByOne(Whole, Flagless):
        """A connection that runs one statement at a time."""

    return OneByOne


def _dialled(socket: Path, **options: Any) -> Any:
    """PyMySQL's connection, on a socket of ours: the library leaves its own open where nobody listens, and waits for a greeting without end (1.2.4)."""
    import pymysql

    connection: Any = pymysql.connect(
        charset=CHARACTER_SET, autocommit=True, connect_timeout=CONNECT_SECONDS, read_timeout=CONNECT_SECONDS, defer_connect=True, **options,
    )  # fmt: skip
    wire = sockets.socket(sockets.AF_UNIX, sockets.SOCK_STREAM)
    try:
        wire.settimeout(CONNECT_SECONDS)
        wire.connect(str(socket))
        connection._secure = True  # a socket is as good as TLS
        connection.connect(wire)
        connection._read_timeout = None
    except BaseException as error:
        wire.close()
        if isinstance(error, OSError):
            raise pymysql.OperationalError(CANNOT_CONNECT, f"{socket}: {error.strerror or error}") from None
        raise
    return connection


@cache
def _conversions() -> dict[Any, Any]:
    """As mysqlclient has them: a date that is none (0000-00-00) is None, where PyMySQL gives its text."""
    from pymysql.constants import FIELD_TYPE
    from pymysql.converters import conversions

    dates = (FIELD_TYPE.DATE, FIELD_TYPE.DATETIME, FIELD_TYPE.TIME, FIELD_TYPE.TIMESTAMP)
    return conversions | {kind: _date_or_none(conversions[kind]) for kind in dates}


def _date_or_none(convert: Callable[[str], object]) -> Callable[[str], object]:
    def converted(text: str) -> object:
        value = convert(text)
        return None if isinstance(value, str) else value

    return converted


@cache
def driver() -> Driver:
    """The one that is used here."""
    return Mysqlclient() if _is_usable("MySQLdb") else PyMySQL()


def _is_usable(library: str) -> bool:
    """A library of C may be there, and not fit the client library of the system any more."""
    if importlib.util.find_spec(library) is None:
        return False
    try:
        importlib.import_module(library)
    except ImportError:
        return False
    return True
