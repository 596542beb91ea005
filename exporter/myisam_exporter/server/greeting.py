"""What a server says first, read before the library sees it: an error in any encoding, or what it can do.

Source: MySQL internals, Protocol::HandshakeV10 and ERR_Packet. Before the handshake a server writes errors in its own character set, which is
latin1 on MySQL up to 5.7 and MariaDB up to 11.5.
"""

from __future__ import annotations

import socket
import struct

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import StatementRefusedError

PROTOCOL_VERSION = 10
ERROR_PACKET = 0xFF
CAN_TLS = 0x0800
HEADER_BYTES = 4
# The longest that servers send is an error of 512 characters.
MAXIMUM_GREETING_BYTES = 4096


class NoServerError(Exception):
    """What answers speaks another protocol."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """A server's first words: the bytes themselves, what it can do, and how it would have the client prove itself."""

    packet: bytes
    capabilities: int
    plugin: str

    @property
    def can_tls(self) -> bool:
        """Whether it offers TLS."""
        return bool(self.capabilities & CAN_TLS)


def read_greeting(connection: socket.socket) -> Greeting:
    """The greeting.

    Raises StatementRefusedError for an error in its stead, NoServerError for anything else, OSError as the socket does, and EOFError at its end.
    """
    header = _exactly(connection, HEADER_BYTES)
    length = int.from_bytes(header[:3], "little")
    if not 0 < length <= MAXIMUM_GREETING_BYTES or header[3] > 2:
        raise NoServerError
    body = _exactly(connection, length)
    if body[0] == ERROR_PACKET and length >= 3:
        raise StatementRefusedError(int.from_bytes(body[1:3], "little"), _text(body[3:]))
    try:
        return Greeting(header + body, *_parsed(body))
    except (struct.error, ValueError, IndexError):
        raise NoServerError from None


def _parsed(body: bytes) -> tuple[int, str]:
    """Capabilities and plugin: version, 4 bytes of connection id, 8 of challenge, filler, then capabilities around charset and status."""
    if body[0] != PROTOCOL_VERSION:
        raise ValueError
    at = body.index(b"\0", 1) + 1 + 4 + 8 + 1
    (low,) = struct.unpack_from("<H", body, at)
    if len(body) < at + 8:
        return low, ""
    _, _, high, challenge_length = struct.unpack_from("<BHHB", body, at + 2)
    at += 8 + 10 + max(13, challenge_length - 8)
    return low | high << 16, body[at:].split(b"\0", 1)[0].decode("ascii", "replace")


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = connection.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


def _text(message: bytes) -> str:
    plain = message[6:] if message[:1] == b"#" else message  # '#' and five letters of SQLSTATE
    try:
        return plain.decode("utf-8")
    except UnicodeDecodeError:
        return plain.decode("latin-1")
