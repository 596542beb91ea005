"""A client that prepares statements at the server: the protocol by hand, so that each type and each way to send one is at hand."""

import struct
from collections.abc import Sequence
from typing import Any

import pymysql

from myisam_advisor.trial.private.private_server import PrivateServer

PREPARE, EXECUTE, LONG_DATA, CLOSE, RESET = 22, 23, 24, 25, 26
LAST = 0xFFFFFFFF
UNSIGNED = 0x8000
QUERY, WITH_ATTRIBUTES, COUNT_IS_SENT = 3, 1 << 27, 8
# A parameter: its type, and its bytes; None is NULL.
Parameter = tuple[int, bytes | None]


def long_text(text: bytes) -> bytes:
    """With its length before it."""
    if len(text) < 251:
        return bytes([len(text)]) + text
    return (
        b"\xfc" + struct.pack("<H", len(text)) + text
        if len(text) < 1 << 16
        else b"\xfd" + struct.pack("<I", len(text))[:3] + text
    )


def execution(number: int, parameters: Sequence[Parameter], types: bool = True, long_data: Sequence[int] = (), names: Sequence[bytes] | None = None) -> bytes:
    """What COM_STMT_EXECUTE sends; with names, what a client does that may send attributes: those of the last parameters."""
    sent = struct.pack("<IBI", number, 0 if names is None else COUNT_IS_SENT, 1)
    if names is not None:
        sent += bytes([len(parameters)])
    if not parameters:
        return sent
    empty = bytearray((len(parameters) + 7) // 8)
    for place, (_, value) in enumerate(parameters):
        if value is None and place not in long_data:
            empty[place // 8] |= 1 << place % 8
    sent += bytes(empty) + bytes([types])
    if types:
        named = [b""] * len(parameters) if names is None else [b""] * (len(parameters) - len(names)) + [*names]
        sent += b"".join(struct.pack("<H", kind) + (b"" if names is None else long_text(name)) for (kind, _), name in zip(parameters, named, strict=True))
    return sent + b"".join(value for _, value in parameters if value is not None)


class _AttributesConnection(pymysql.connections.Connection):
    """One that may send attributes beside its statements, and sends none with those of text."""

    def _execute_command(self, command: int, sql: Any) -> None:
        text = sql.encode() if isinstance(sql, str) else sql
        connection: Any = super()
        connection._execute_command(command, b"\0\1" + text if command == QUERY else text)


class PreparingClient:
    """A connection. Use it as a context manager."""

    def __init__(self, server: PrivateServer, database: str | None = None, attributes: bool = False) -> None:
        connect: Any = _AttributesConnection if attributes else pymysql.connect
        flags = WITH_ATTRIBUTES if attributes else 0
        self._connection = connect(unix_socket=str(server.socket), user="root", charset="utf8mb4", database=database, autocommit=True, client_flag=flags)
        self.number = int(self._connection.thread_id())

    def __enter__(self) -> "PreparingClient":
        return self

    def __exit__(self, *error: object) -> None:
        self._connection.close()

    def query(self, text: bytes) -> None:
        """As text."""
        self._connection.query(text)

    def prepare(self, text: bytes) -> int:
        """Its number."""
        packet = self._asked(PREPARE, text)
        number, columns, parameters = struct.unpack_from("<IHH", packet, 1)
        for count in (parameters, columns):
            for _ in range(count + bool(count)):
                self._connection._read_packet()
        return int(number)

    def execute(self, number: int, *parameters: Parameter, types: bool = True, long_data: Sequence[int] = (), names: Sequence[bytes] | None = None) -> None:
        """And read what comes."""
        first = self._asked(EXECUTE, execution(number, parameters, types, long_data, names))
        if first[0] == 0:
            return
        for _ in range(2):
            while not self._connection._read_packet().is_eof_packet():
                pass

    def send_long_data(self, number: int, place: int, part: bytes) -> None:
        """No answer comes."""
        self._connection._execute_command(LONG_DATA, struct.pack("<IH", number, place) + part)

    def close_statement(self, number: int) -> None:
        """No answer comes."""
        self._connection._execute_command(CLOSE, struct.pack("<I", number))

    def reset_statement(self, number: int) -> None:
        """Forget its long values."""
        self._asked(RESET, struct.pack("<I", number))

    def _asked(self, command: int, packet: bytes) -> bytes:
        self._connection._execute_command(command, packet)
        answer: bytes = self._connection._read_packet().get_all_data()
        return answer
