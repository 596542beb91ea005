"""Files read whole, to a limit: whoever makes one long decides nothing about our memory.

A process may have 65,530 mappings with names of 4,096 bytes each, and says itself where its command line begins and ends (prctl(2),
PR_SET_MM_ARG_START): /proc tells as much as it likes. Sources: proc(5); Documentation/admin-guide/sysctl/vm.rst (max_map_count).
"""

from __future__ import annotations

import errno
import os
import select
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol

# /proc/cpuinfo of 4,096 processors has 6 MB.
KERNEL_TEXT_BYTES = 16 << 20
_PART_BYTES = 1 << 16
# A snapshot over ssh takes an interval, and at 100,000 tables half a minute more.
PIPE_SECONDS = 60
# Nearly all files of a thread are shorter; a process may be in 65,536 groups, and its status names them.
_SMALL_BYTES, _MOST_SMALL_BYTES = 4096, 1 << 20


class Readable(Protocol):
    """A binary file, with a buffer or without one."""

    def read(self, size: int, /) -> bytes | None:
        """So many bytes at most; none at the end."""


def at_most(file: Readable, maximum_bytes: int) -> bytes:
    """What a file holds, at most one byte more than allowed: it tells that there is more. A pipe gives a little at a time."""
    parts, left = [], maximum_bytes + 1
    while left > 0 and (part := file.read(min(left, _PART_BYTES))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def bounded_bytes(path: Path | str, maximum_bytes: int = KERNEL_TEXT_BYTES) -> bytes:
    """The bytes of a file. Raises OSError as open(2) and read(2) do, and EFBIG where there are more than allowed."""
    with open(path, "rb", buffering=0) as file:
        content = at_most(file, maximum_bytes)
    if len(content) > maximum_bytes:
        raise _too_large(path)
    return content


class GivenFile:
    """A file that the user named, to be read once. A pipe or FIFO may have nobody who writes: it is waited for, but not for ever.

    Raises OSError as open(2) and read(2) do, and TimeoutError once nothing came for PIPE_SECONDS.
    """

    def __init__(self, path: Path | str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | os.O_NONBLOCK)
        self.mode = os.fstat(self._descriptor).st_mode
        self._is_pipe = stat.S_ISFIFO(self.mode)
        self._path = path
        os.set_blocking(self._descriptor, not self._is_pipe)

    def __enter__(self) -> GivenFile:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def expect_content(self, may_be_fifo: bool) -> None:
        """Raise OSError for a device, which has no end or waits for somebody, and for a FIFO with a name: a pipe of the shell's has none."""
        opened = os.readlink(f"/proc/self/fd/{self._descriptor}")  # noqa: PTH115 - Python 3.6 has no Path.readlink
        is_fifo = self._is_pipe and not opened.startswith("pipe:")
        is_device = stat.S_ISBLK(self.mode) or stat.S_ISCHR(self.mode)
        if (is_fifo and not may_be_fifo) or (is_device and not Path(self._path).samefile(os.devnull)):
            raise OSError(errno.EINVAL, "it is a named pipe" if is_fifo else "it is a device", os.fspath(self._path))

    def read(self, size: int, /) -> bytes:
        """So many bytes at most; none at the end."""
        if self._is_pipe:
            # A FIFO that nobody opened for writing yet is not at its end here, as it would be for read(2).
            ready = select.poll()
            ready.register(self._descriptor, select.POLLIN)
            if not ready.poll(PIPE_SECONDS * 1000):
                raise TimeoutError(errno.ETIMEDOUT, f"nobody wrote into this pipe for {PIPE_SECONDS} s")
        return os.read(self._descriptor, size)


def bounded_text(path: Path | str, encoding: str = "ascii") -> str:
    """The text of a file; what is none in this encoding is replaced. Raises as `bounded_bytes` does."""
    return bounded_bytes(path).decode(encoding, "replace")


def first_bytes(path: Path | str, maximum_bytes: int) -> bytes:
    """The beginning of a file, however long it is. Raises OSError as open(2) and read(2) do."""
    with open(path, "rb", buffering=0) as file:
        return at_most(file, maximum_bytes)[:maximum_bytes]


class KernelFolder:
    """A folder of /proc with many small files, each of one record: a read(2) that gives less than it could was the last one.

    Raises OSError as open(2) does.
    """

    def __init__(self, path: Path) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def __enter__(self) -> KernelFolder:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def names(self) -> list[str]:
        """What lies in it now. Raises OSError when what it tells of is gone."""
        return os.listdir(self._descriptor)

    def content(self, name: str) -> bytes:
        """What a file below it holds. Raises OSError as open(2) and read(2) do, and EFBIG where it is longer than any such file."""
        descriptor = os.open(name, os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._descriptor)
        try:
            found = part = os.read(descriptor, _SMALL_BYTES)
            while len(part) == _SMALL_BYTES:
                if len(found) > _MOST_SMALL_BYTES:
                    raise _too_large(name)
                part = os.read(descriptor, _SMALL_BYTES)
                found += part
            return found
        finally:
            os.close(descriptor)


def bounded_lines(lines: Iterable[str], path: Path | str, maximum_characters: int) -> Iterator[str]:
    """The lines of an open text file of this name. Raises OSError (EFBIG) once they are more than allowed."""
    left = maximum_characters
    for line in lines:
        left -= len(line)
        if left < 0:
            raise _too_large(path)
        yield line


def _too_large(path: Path | str) -> OSError:
    return OSError(errno.EFBIG, os.strerror(errno.EFBIG), os.fspath(path))
