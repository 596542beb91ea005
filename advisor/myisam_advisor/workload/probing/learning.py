"""Where in a session's THD its number and its default database stand: found by looking at sessions of our own, of which both are known.

No table of offsets per version is kept: a build with the same function may have another THD. What cannot be found is not guessed.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Callable, Iterator
from typing import Protocol

from myisam_advisor.workload.probing.place import INSTEAD, Offsets
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.driver import Row
from myisam_exporter.server.sql import statement

# A THD is some 10 to 30 kB.
_SEEN_BYTES = 1 << 16
_SCHEMA = b"information_schema"
_OTHER_NUMBER = 3_999_999_999


class Memory(Protocol):
    """A process's memory."""

    def read(self, address: int, size: int) -> bytes:
        """What is there, as much as can be read."""


class Session(Protocol):
    """A connection of our own."""

    def rows(self, statement: str) -> list[Row]:
        """The rows of an answer."""


class ProcessMemory(Memory):
    """The memory of a process, by /proc. Raises UserError where that may not be opened."""

    def __init__(self, pid: int) -> None:
        try:
            self._file = open(f"/proc/{pid}/mem", "rb", buffering=0)  # noqa: SIM115
        except OSError as error:
            raise UserError(
                f"the server's memory (/proc/{pid}/mem) cannot be read: {error.strerror}. Run this as root. {INSTEAD}"
            ) from None

    def __enter__(self) -> ProcessMemory:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._file.close()

    def read(self, address: int, size: int) -> bytes:
        """What is there, as much as can be read."""
        try:
            self._file.seek(address)
            return self._file.read(size) or b""
        except (OSError, OverflowError, ValueError):
            return b""


def learn(
    memory: Memory, sessions: tuple[Session, Session], session_of: Callable[[Session], int], build_id: str
) -> Offsets:
    """Find both offsets. Raises UserError where one is not found.

    Args:
        memory: of the server.
        sessions: two of ours.
        session_of: the address of a session's THD.
        build_id: of the server, for the message.
    """
    first, second = sessions
    first.rows("USE information_schema")
    places = [session_of(first), session_of(second)]
    numbers = [int(session.rows("SELECT CONNECTION_ID()")[0][0] or 0) for session in sessions]
    seen = [memory.read(place, _SEEN_BYTES) for place in places]
    connections = set(_numbers(seen[0], numbers[0])) & set(_numbers(seen[1], numbers[1]))
    schemas = {at for at in _schemas(seen[0], memory) if seen[1][at + 8 : at + 16] == bytes(8)}
    second.rows("USE information_schema")
    # What a client may set by itself, the number in its binary log, is not it.
    with contextlib.suppress(StatementRefusedError):
        second.rows(statement("SET SESSION pseudo_thread_id = {}", _OTHER_NUMBER))
    again = memory.read(places[1], _SEEN_BYTES)
    connections &= set(_numbers(again, numbers[1]))
    schemas &= set(_schemas(again, memory))
    if not connections or not schemas:
        missing = "connections' numbers" if not connections else "default databases"
        raise UserError(
            f"where this server (build id {build_id or 'unknown'}) has its {missing} was not found: its statements cannot be told apart. {INSTEAD}"
        )
    return Offsets(min(connections), min(schemas))


def _numbers(seen: bytes, number: int) -> Iterator[int]:
    """Where this number stands, as one of 32 bits."""
    wanted, at = struct.pack("<I", number), -1
    while (at := seen.find(wanted, at + 1)) >= 0:
        if at % 4 == 0:
            yield at


def _schemas(seen: bytes, memory: Memory) -> Iterator[int]:
    """Where an address stands with our schema's name behind it, and the length of that name."""
    wanted, at = struct.pack("<Q", len(_SCHEMA)), -1
    while (at := seen.find(wanted, at + 1)) >= 0:
        if at % 8 == 0 and at >= 8:
            (address,) = struct.unpack_from("<Q", seen, at - 8)
            if memory.read(address, len(_SCHEMA) + 1) == _SCHEMA + b"\0":
                yield at - 8
