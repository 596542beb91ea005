"""The socket to a server, which counts what the server sends: more than was allowed ends the connection, whatever the library is reading.

Its limit of time is the kernel's. Python's own asks `poll` before each piece, and each call lets another thread take the interpreter: a daemon
of 500 targets spent a quarter of its time on that.

Source: socket(7) (SO_RCVTIMEO, SO_SNDTIMEO).
"""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import IOBase
from typing import Any

from myisam_exporter.declaring.lean_dataclasses import dataclass

# One answer: the rows of 100,000 tables take 6 to 16 MiB.
ANSWER_BYTES = 32 << 20
# All answers to one look at a server, as they come and as they are held in memory.
LOOK_BYTES, LOOK_MEMORY_BYTES = 64 << 20, 128 << 20
# For so long a server may be waited for in one look, over all that it is asked: one that answers each question just in time would hold a thread for
# an hour, and a daemon that has such a look under way is taken for stuck by systemd's watchdog.
LOOK_SECONDS = 60.0
# What is read at once: all variables of a server, or its whole status, are 16 to 30 KiB.
READ_BYTES = 32 << 10
# A limit, by its bytes: seconds and microseconds, of 32 bits only where the system's time still has so many.
_LIMITS = {limit.size: limit for limit in (struct.Struct("@ii"), struct.Struct("@qq"))}


class TooMuchError(Exception):
    """The server sent more than it may. The message says how much that is."""


@dataclass(slots=True)
class Allowance:
    """What may still come, of a whole look."""

    remaining_bytes: int = LOOK_BYTES
    remaining_memory_bytes: int = LOOK_MEMORY_BYTES
    waited_seconds: float = 0.0


_LOOK: ContextVar[Allowance | None] = ContextVar("look", default=None)


@contextmanager
def one_look(maximum_bytes: int = LOOK_BYTES) -> Iterator[None]:
    """All that is asked inside, in this thread, is one look: together its answers may have so many bytes."""
    token = _LOOK.set(Allowance(maximum_bytes))
    try:
        yield
    finally:
        _LOOK.reset(token)


def keep(count: int) -> None:
    """Note memory that an answer takes. Raises TooMuchError when it is more than a look may."""
    look = _LOOK.get()
    if look is not None:
        look.remaining_memory_bytes -= count
        if look.remaining_memory_bytes < 0:
            raise TooMuchError(f"more than {_size(LOOK_MEMORY_BYTES)} in one look")


def patience_seconds(of_a_query: float) -> float:
    """For how long the next answer may be waited for, where a query by itself may take so long. In a look that is less, the more others took."""
    look = _LOOK.get()
    return of_a_query if look is None else min(of_a_query, max(LOOK_SECONDS, of_a_query) - look.waited_seconds)


def waited(seconds: float) -> None:
    """Note for how long an answer was waited for."""
    look = _LOOK.get()
    if look is not None:
        look.waited_seconds += seconds


class Meter:
    """Counts the bytes that came, encrypted ones as they are inside; and knows whether a verified TLS connection was made."""

    def __init__(self) -> None:
        self.received_bytes = 0
        self.is_encrypted = False
        self._end = 0
        self._allowed_bytes = 0

    def allow(self, maximum_bytes: int) -> None:
        """From here on, so many bytes may come."""
        self._allowed_bytes = maximum_bytes
        self._end = self.received_bytes + maximum_bytes

    def take(self, count: int) -> None:
        """Note bytes that came. Raises TooMuchError when they are more than were allowed, for this answer or for the look."""
        self.received_bytes += count
        if self.received_bytes > self._end:
            raise TooMuchError(f"more than {_size(self._allowed_bytes)} in one answer")
        look = _LOOK.get()
        if look is not None:
            look.remaining_bytes -= count
            if look.remaining_bytes < 0:
                raise TooMuchError(f"more than {_size(LOOK_BYTES)} in one look")


class MeteredSocket(socket.socket):
    """A socket whose received bytes are counted. What was read from it beforehand can be put back, to be read again."""

    meter: Meter
    put_back: bytes = b""
    _limit_seconds: float | None = None

    def settimeout(self, value: float | None, /) -> None:
        """As socket.settimeout, for a connection that is made."""
        super().settimeout(None)
        # Zero is no limit to the kernel, and would be none at all to Python.
        microseconds = 0 if value is None else max(1, round(value * 1e6))
        for option in (socket.SO_RCVTIMEO, socket.SO_SNDTIMEO):
            limit = _LIMITS[len(self.getsockopt(socket.SOL_SOCKET, option, max(_LIMITS)))]
            self.setsockopt(socket.SOL_SOCKET, option, limit.pack(*divmod(microseconds, 1_000_000)))
        self._limit_seconds = value

    def gettimeout(self) -> float | None:
        """What was set."""
        return self._limit_seconds

    def makefile(self, *_: Any, **__: Any) -> IOBase:  # type: ignore[override]  # it has one mode of all
        """For the library, which reads bytes: a file that takes a whole answer at once, mostly."""
        return super().makefile("rb", READ_BYTES)

    def recv(self, *arguments: Any) -> bytes:
        """As socket.recv."""
        try:
            return super().recv(*arguments)
        except BlockingIOError:
            raise _timed_out() from None

    def sendall(self, *arguments: Any) -> None:
        """As socket.sendall."""
        try:
            super().sendall(*arguments)
        except BlockingIOError:
            raise _timed_out() from None

    def recv_into(self, buffer: Any, nbytes: int = 0, flags: int = 0) -> int:
        """As socket.recv_into; what was put back comes first."""
        if self.put_back:
            count = min(len(self.put_back), len(buffer))
            buffer[:count], self.put_back = self.put_back[:count], self.put_back[count:]
        else:
            try:
                count = super().recv_into(buffer, nbytes, flags)
            except BlockingIOError:
                raise _timed_out() from None
        self.meter.take(count)
        return count


def _timed_out() -> TimeoutError:
    """The kernel says that it would have to wait on; Python, of its own limit, that the time is over."""
    return TimeoutError("timed out")


def metered(plain: socket.socket, meter: Meter) -> MeteredSocket:
    """The same connection, counted; `plain` is used up."""
    timeout = plain.gettimeout()
    counted = MeteredSocket(plain.family, plain.type, plain.proto, fileno=plain.detach())
    counted.settimeout(timeout)
    counted.meter = meter
    return counted


def metered_tls(context: ssl.SSLContext, meter: Meter) -> ssl.SSLContext:
    """The same context; what it wraps is counted, and the meter learns of the first handshake that succeeds."""

    class MeteredTls(ssl.SSLSocket):
        """A TLS connection whose received bytes are counted."""

        def recv_into(self, buffer: Any, nbytes: int | None = None, flags: int = 0) -> int:
            """As SSLSocket.recv_into."""
            count = super().recv_into(buffer, nbytes, flags)
            meter.take(count)
            return count

        def do_handshake(self, block: bool = False) -> None:
            """As SSLSocket.do_handshake: it raises where the certificate is not what it should be."""
            super().do_handshake(block)
            meter.is_encrypted = True

    context.sslsocket_class = MeteredTls
    return context


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count >> 10} KiB"
