"""Where in a session's THD its number and its default database stand: found by looking at sessions of our own, of which both are known.

No table of offsets per version is kept: a build with the same function may have another THD. What cannot be found is not guessed.
"""

from __future__ import annotations

import contextlib
import secrets
import struct
from collections.abc import Callable, Iterator
from typing import Protocol

from myisam_advisor.workload.probing.place import INSTEAD, Offsets, Packet
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.server.driver import Row
from myisam_exporter.server.sql import quote_identifier, quote_text, statement

# A THD is some 10 to 30 kB.
_SEEN_BYTES = 1 << 16
_SCHEMA = b"information_schema"
_OTHER_NUMBER = 3_999_999_999
# How many statements are prepared in turn; how often one is executed: where that is counted, the server counts for its statistics.
_PREPARED, _EXECUTED, _NEIGHBOURS = (3, 2), 7, 32
_LARGEST_NUMBER = 1 << 31
# Twice as many letters are sent, and once as many looked for. A Protocol_classic has some 130 bytes.
_MARK_BYTES, _OBJECT_BYTES = 48, 256


class Memory(Protocol):
    """A process's memory."""

    def read(self, address: int, size: int) -> bytes:
        """What is there, as much as can be read."""


class Session(Protocol):
    """A connection of our own."""

    def connection_number(self) -> int:
        """What the server counts it as."""

    def rows(self, statement: str) -> list[Row]:
        """The rows of an answer."""


class ProcessMemory(Memory):
    """The memory of a process, by /proc. Raises UserError where that may not be opened."""

    def __init__(self, pid: int) -> None:
        try:
            self._file = open(f"/proc/{pid}/mem", "rb", buffering=0)  # noqa: SIM115 - __exit__ closes it
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
    memory: Memory,
    sessions: tuple[Session, Session],
    session_of: Callable[[Session], int],
    build_id: str,
    is_parsed: bool,
) -> Offsets:
    """Find all offsets. Raises UserError where that of the connection's number or of its database is not found.

    Args:
        memory: of the server.
        sessions: two of ours.
        session_of: the address of a session's THD.
        build_id: of the server, for the message.
        is_parsed: the probed function is given what was sent as parsed, so that the packet is looked for.
    """
    first, second = sessions
    first.rows("USE information_schema")
    places = [session_of(first), session_of(second)]
    numbers = [session.connection_number() for session in sessions]
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
            f"where this server (build id {build_id or 'unknown'}) has its {missing} was not found: its statements cannot be distinguished. {INSTEAD}"
        )
    packet = _packet(memory, places, sessions) if is_parsed else None
    return Offsets(min(connections), min(schemas), _prepared(memory, places, sessions), packet)


def _prepared(memory: Memory, places: list[int], sessions: tuple[Session, Session]) -> int | None:
    """Where it is counted how many statements were prepared: the next one's number; None where that is not one place."""

    def changed(number: int, question: str, asked: int = 0, seen: int = 0) -> dict[int, int]:
        before = _words(memory.read(places[seen], _SEEN_BYTES))
        for _ in range(number):
            sessions[asked].rows(question)
        now = _words(memory.read(places[seen], _SEEN_BYTES))
        return {
            at * 8: new - old for at, (old, new) in enumerate(zip(before, now, strict=False)) if new < _LARGEST_NUMBER
        }

    name = quote_identifier(f"myisam_advisor_{secrets.token_hex(4)}")
    found: set[int] | None = None
    try:
        for number in _PREPARED:
            made = changed(number, statement("PREPARE {} FROM 'DO 1'", name))
            done = changed(_EXECUTED, statement("EXECUTE {}", name))
            gone = changed(1, statement("DEALLOCATE PREPARE {}", name))
            counted = {at for at, more in made.items() if more == number and done.get(at) == 0 and gone.get(at) == 0}
            # Not what counts every statement.
            statistics = {
                at for at, more in done.items() if more == _EXECUTED and not made.get(at) and not gone.get(at)
            }
            counted = {at for at in counted if not any(abs(at - other) <= _NEIGHBOURS for other in statistics)}
            found = counted if found is None else found & counted
        # Behind a session may stand what counts the whole server's; or the statement that it prepared last, with the same number, which is
        # made at one address again and again: not behind both sessions.
        for seen, more in ((0, 0), (1, 1)):
            of_other = changed(1, statement("PREPARE {} FROM 'DO 1'", name), 1, seen)
            sessions[1].rows(statement("DEALLOCATE PREPARE {}", name))
            found = {at for at in found or () if of_other.get(at) == more}
    except StatementRefusedError:
        return None
    return found.pop() if found is not None and len(found) == 1 else None


def _words(seen: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(seen) // 8}Q", seen[: len(seen) // 8 * 8])


def _packet(memory: Memory, places: list[int], sessions: tuple[Session, Session]) -> Packet | None:
    """Where a session has what was sent to it; None where that is not found."""
    found: set[Packet] | None = None
    # Twice: what was there by chance is not.
    for place, session in (*zip(places, sessions, strict=True), *zip(places, sessions, strict=True)):
        sent = statement("DO {}", quote_text(secrets.token_hex(_MARK_BYTES)))
        session.rows(sent)
        here = set(_packets(memory.read(place, _SEEN_BYTES), memory, sent.encode()))
        found = here if found is None else found & here
    # What lies directly in the object, not in one that happens to stand before it.
    return min(found, key=lambda packet: (packet.address, packet.holder)) if found else None


def _packets(seen: bytes, memory: Memory, sent: bytes) -> Iterator[Packet]:
    """Where the session has an object that has the address of what was sent, and beside it the length of that.

    The network's buffer begins one byte before, with the command, and the session has its address too. The answer was written over its first bytes.
    """
    words = _words(seen)
    addresses = {word for word in words if word > _SEEN_BYTES}
    rest = sent[-_MARK_BYTES:]
    for index, address in enumerate(words):
        if address not in addresses:
            continue
        inner = _words(memory.read(address, _OBJECT_BYTES))
        for at, word in enumerate(inner):
            if word - 1 in addresses and memory.read(word + len(sent) - len(rest), len(rest)) == rest:
                yield from (
                    Packet(index * 8, at * 8, beside * 8)
                    for beside in (at - 1, at + 1)
                    if 0 <= beside < len(inner) and inner[beside] == len(sent)
                )


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
