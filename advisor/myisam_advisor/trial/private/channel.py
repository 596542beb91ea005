"""Messages between a trial's two processes: JSON, each with its length before it, and open files from root to the trial's user.

Root believes nothing that comes the other way: length and form are bounded, no descriptor is taken, and numbers are finite.
"""

from __future__ import annotations

import json
import math
import socket
import struct
from collections.abc import Sequence
from typing import Any, NoReturn

from myisam_advisor.errors import TrialError

MAXIMUM_MESSAGE_BYTES = 64 << 20
MAXIMUM_DESCRIPTORS = 64  # the kernel's own limit is 253: unix(7), SCM_RIGHTS
_LENGTH = struct.Struct("!I")

Message = dict[str, Any]


class ChannelError(TrialError):
    """The other side said nothing, or something that is no message."""


class Channel:
    """One end of a connected pair of sockets."""

    def __init__(self, end: socket.socket) -> None:
        self._socket = end

    def fileno(self) -> int:
        """The socket's descriptor."""
        return self._socket.fileno()

    def close(self) -> None:
        """Close this end; the other hears of it."""
        self._socket.close()

    def send(self, message: Message, descriptors: Sequence[int] = ()) -> None:
        """Send one message, and open files with it. Raises ChannelError when nobody is there to take it."""
        data = json.dumps(message).encode("ascii")
        if len(data) > MAXIMUM_MESSAGE_BYTES:
            raise ChannelError(f"a message of {len(data)} bytes is too long.")
        try:
            socket.send_fds(self._socket, [_LENGTH.pack(len(data))], list(descriptors))
            self._socket.sendall(data)
        except OSError as error:
            raise ChannelError(f"the trial's process takes no messages any more: {error.strerror}.") from None

    def receive(self, timeout_seconds: float | None = None) -> Message:
        """The next message; files that came with it are dropped. Raises ChannelError at the end, after the timeout, or for nonsense."""
        self._socket.settimeout(timeout_seconds)
        try:
            return _parsed(self._exactly(self._length(self._exactly(_LENGTH.size))))
        except TimeoutError:
            raise ChannelError(f"the trial's process said nothing for {timeout_seconds} s.") from None
        except OSError as error:
            raise ChannelError(f"the trial's process cannot be heard: {error.strerror}.") from None
        finally:
            self._socket.settimeout(None)

    def receive_files(self) -> tuple[Message, list[int]]:
        """The next message and the files that came with it: for the side that trusts the other. Raises as `receive` does."""
        data, descriptors, _, _ = socket.recv_fds(self._socket, _LENGTH.size, MAXIMUM_DESCRIPTORS, socket.MSG_WAITALL)
        if len(data) < _LENGTH.size:
            raise ChannelError("the trial's process ended.")
        return _parsed(self._exactly(self._length(data))), descriptors

    def _length(self, data: bytes) -> int:
        length = int(_LENGTH.unpack(data)[0])
        if length > MAXIMUM_MESSAGE_BYTES:
            raise ChannelError(f"the trial's process announces a message of {length} bytes.")
        return length

    def _exactly(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            part = self._socket.recv(min(length - len(data), 1 << 20))
            if not part:
                raise ChannelError("the trial's process ended before it had a result.")
            data += part
        return bytes(data)


def _parsed(data: bytes) -> Message:
    try:
        message = json.loads(data, parse_constant=_refuse, parse_float=_finite, parse_int=_bounded)
    except (ValueError, RecursionError):
        raise ChannelError("the trial's process sent something that is not a message.") from None
    if not isinstance(message, dict):
        raise ChannelError("the trial's process sent something that is not a message.")
    return message


def _refuse(text: str) -> NoReturn:
    raise ValueError(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value


def _bounded(text: str) -> int:
    """A whole number below 2^63 or so: Python's own would take any number of digits."""
    if len(text) > 20:
        raise ValueError(text)
    return int(text)
