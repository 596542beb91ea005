"""The two files of /proc/PID that the kernel shows to tracers only: `io` and `maps`.

Whoever may read them may read the whole memory of every process (PTRACE_MODE_READ, CAP_SYS_PTRACE). A service that looks at files
must not hold that right; beside it a process that does nothing else holds it: process_reader.py. Sources: proc(5), ptrace(2).
"""

from __future__ import annotations

import errno
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal

from myisam_exporter.outside.bounded_reading import bounded_lines

ProcessFile = Literal["io", "maps"]
READER_SOCKET = Path("/run/myisam-advisor-process.sock")
READER_TIMEOUT_SECONDS = 2.0
# A server may map 100,000 data files.
MAXIMUM_ANSWER_BYTES = 32 * 1024 * 1024
GRANTED: Final = b"ok\n"
# The last line of what is granted: without it an answer was cut short, as where one of the two was too slow.
END: Final = b"end\n"
LATE = "myisam-advisor-process.service, which may read it, did not answer in time"
DATA_FILE_SUFFIX = ".MYD"
MALLOC_LIBRARIES = ("jemalloc", "tcmalloc", "mimalloc")
_PROC = Path("/proc")


def process_lines(folder: Path, name: ProcessFile, reader: Path = READER_SOCKET) -> Iterator[str]:
    """The lines of one of these files below /proc/PID; of `maps` at least those about data files and allocators.

    Args:
        folder: /proc/PID.
        name: which file.
        reader: the socket of the process that may read it where this one may not.

    Raises:
        OSError: as open(2) and read(2) do, where no reader is there or it will not say either; EFBIG where there is too much of it.
        TimeoutError: the reader is there, and did not answer in time, or not to the end.
    """
    try:
        # The kernel writes no line break into a path but as \012.
        with open(folder / name, encoding="utf-8", errors="replace", newline="\n") as file:
            yield from bounded_lines(file, folder / name, MAXIMUM_ANSWER_BYTES)
    except PermissionError:
        text = _asked(f"{name} {folder.name}\n".encode("ascii"), reader) if folder.parent == _PROC else None
        if text is None:
            raise
        yield from (line for line in text.split("\n") if line)


def _asked(question: bytes, reader: Path) -> str | None:
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            deadline = time.monotonic() + READER_TIMEOUT_SECONDS
            connection.settimeout(READER_TIMEOUT_SECONDS)
            connection.connect(os.fspath(reader))
            connection.sendall(question)
            answer = bytearray()
            while chunk := connection.recv(65536):
                answer += chunk
                if len(answer) > MAXIMUM_ANSWER_BYTES:
                    return None
                if time.monotonic() > deadline:
                    raise _late()
    except TimeoutError:
        raise _late() from None
    except OSError:
        return None
    if not answer.startswith(GRANTED):
        return None
    if not answer.endswith(END):
        raise _late()
    return answer[len(GRANTED) : -len(END)].decode("utf-8", "replace")


def _late() -> TimeoutError:
    return TimeoutError(errno.ETIMEDOUT, LATE)
