"""A process of its own that may look at any process, and tells two things of a database server's: myisam-advisor-process.service.

It holds CAP_SYS_PTRACE in the daemon's stead. A question is `io PID` or `maps PID`; the answer is `ok`, the text and `end`, or what refused it.
Of `maps` it tells data files and allocators, without addresses. It opens nothing else, and ends when nobody has asked for a while.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress

from myisam_exporter.kernel.process_files import (
    DATA_FILE_SUFFIX,
    END,
    GRANTED,
    MALLOC_LIBRARIES,
    MAXIMUM_ANSWER_BYTES,
)
from myisam_exporter.outside.bounded_reading import bounded_lines
from myisam_exporter.server.server_process import SERVER_PROGRAMS

FIRST_DESCRIPTOR = 3  # sd_listen_fds(3)
IDLE_SECONDS = 600.0
CONNECTION_SECONDS = 1.0
MAXIMUM_QUESTION_BYTES = 32
QUESTION = re.compile(rb"(io|maps) ([1-9][0-9]{0,9})\n")
_TOLD = (DATA_FILE_SUFFIX, *MALLOC_LIBRARIES)


def answer(question: bytes, proc: str = "/proc") -> bytes:
    """What is told to a question: `ok`, a text and `end`, or the reason in one line."""
    asked = QUESTION.fullmatch(question)
    if asked is None:
        return b"the question is not understood\n"
    name, pid = asked[1].decode(), asked[2].decode()
    try:
        # One descriptor for all: a number that goes to another process in between does not lead there.
        folder = os.open(f"{proc}/{pid}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        return f"{error.strerror}\n".encode()
    try:
        if next(_lines(folder, "comm"), "").strip() not in SERVER_PROGRAMS:
            return b"it is no database server\n"
        lines = _lines(folder, name)
        text = "".join(lines if name == "io" else _without_addresses(lines))
        return GRANTED + text.encode("utf-8", "replace") + END
    except OSError as error:
        return f"{error.strerror}\n".encode()
    finally:
        os.close(folder)


def serve(listener: socket.socket, idle_seconds: float = IDLE_SECONDS) -> None:
    """Answer one connection after the other until nobody has come for that long."""
    while True:
        listener.settimeout(idle_seconds)
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return
        # Who asks and goes, or asks nothing, ends only their own connection.
        with connection, suppress(OSError):
            connection.settimeout(CONNECTION_SECONDS)
            connection.sendall(answer(connection.recv(MAXIMUM_QUESTION_BYTES)))


def main() -> int:
    """Serve the socket that systemd opened; 2 where there is none."""
    if os.environ.get("LISTEN_FDS") != "1" or os.environ.get("LISTEN_PID") != str(os.getpid()):
        print("process_reader: systemd starts this, by myisam-advisor-process.socket", file=sys.stderr)
        return 2
    with socket.socket(fileno=FIRST_DESCRIPTOR) as listener:
        serve(listener)
    return 0


def _lines(folder: int, name: str) -> Iterator[str]:
    descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    with open(descriptor, encoding="utf-8", errors="replace", newline="\n") as file:
        yield from bounded_lines(file, name, MAXIMUM_ANSWER_BYTES)


def _without_addresses(maps: Iterable[str]) -> Iterator[str]:
    """The lines about data files and allocators, each mapping as if it began at 0."""
    for line in maps:
        if any(word in line for word in _TOLD):
            addresses, _, rest = line.partition(" ")
            start, _, end = addresses.partition("-")
            yield f"0-{int(end, 16) - int(start, 16):x} {rest}"


if __name__ == "__main__":
    sys.exit(main())
