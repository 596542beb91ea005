"""A log that is read once, from its beginning to where it ended when it was opened, in parts of bounded size; gzip is unpacked.

Sources: open(2) (O_NONBLOCK), inode(7); logrotate(8) (copytruncate leaves a hole of zero bytes where the server goes on at its old place).
"""

from __future__ import annotations

import os
import stat
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import GZIP, GZIP_WINDOW, STANDARD_INPUT

_BLOCK_BYTES = 1 << 20
# What follows a part that gzip packed is copied for each part, and 20 bytes are one: so it is short.
_PACKED_BYTES = 1 << 16


class LogFile:
    """Reads a log. Use it as a context manager.

    Args:
        path: its name; "-" is standard input.
        kind: what it is to be, for messages.
        descriptor: of the file where it is open already; it is read from where that stands, and closed at the end.

    Attributes:
        shrank: it became shorter while it was read, and what was cut off is lost.

    Raises UserError for what cannot be read, or is no file.
    """

    def __init__(self, path: Path, kind: str, descriptor: int | None = None) -> None:
        self.path, self.kind = path, kind
        self.shrank = False
        self._left: int | None = None
        self._was_open = descriptor is not None
        self._descriptor = self._checked(self._opened() if descriptor is None else descriptor)

    def __enter__(self) -> LogFile:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if self._descriptor > 0:
            os.close(self._descriptor)

    @property
    def was_moved(self) -> bool:
        """Whether one that was open while it was written has another name by now: what came afterwards is in another file. One that was removed has none."""
        now = os.fstat(self._descriptor)
        if not self._was_open or not now.st_nlink:
            return False
        try:
            return not os.path.samestat(now, self.path.stat())
        except OSError:
            return True

    def blocks(self) -> Iterator[bytes]:
        """Its bytes, none of the parts empty."""
        first = self._read()
        if first.startswith(GZIP):
            yield from self._unpacked(first)
        elif first:
            yield from self._further(first)

    def _further(self, block: bytes) -> Iterator[bytes]:
        while block:
            yield block
            block = self._read()

    def _unpacked(self, first: bytes) -> Iterator[bytes]:
        """What gzip packed, in one part or several, as far as it goes."""
        blocks = self._short_blocks(first)
        packed = next(blocks, b"")
        while packed:
            inflating = zlib.decompressobj(wbits=GZIP_WINDOW)
            while packed and not inflating.eof:
                try:
                    block = inflating.decompress(packed, _BLOCK_BYTES)
                except zlib.error:
                    raise UserError(
                        f"the {self.kind} {self.path} is packed by gzip, and damaged. Give it unpacked, as far as it can be."
                    ) from None
                if block:
                    yield block
                packed = inflating.unconsumed_tail or (b"" if inflating.eof else next(blocks, b""))
            packed = inflating.unused_data or next(blocks, b"")
            if len(packed) == 1:  # the first of the two bytes that the next part begins with
                packed += next(blocks, b"")
            if not packed.startswith(GZIP):
                return

    def _short_blocks(self, first: bytes) -> Iterator[bytes]:
        for block in self._further(first):
            for begin in range(0, len(block), _PACKED_BYTES):
                yield block[begin : begin + _PACKED_BYTES]

    def _opened(self) -> int:
        if str(self.path) == STANDARD_INPUT:
            if sys.stdin is None:
                raise UserError(f"cannot read the {self.kind}: standard input is closed.")
            return sys.stdin.fileno()
        try:
            return os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            raise self._not_read(str(why)) from None

    def _checked(self, descriptor: int) -> int:
        if str(self.path) == STANDARD_INPUT:
            return descriptor
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            os.close(descriptor)
            raise self._not_read("it is a directory" if stat.S_ISDIR(status.st_mode) else "it is not a file")
        left = status.st_size - os.lseek(descriptor, 0, os.SEEK_CUR)
        if left <= 0:
            os.close(descriptor)
            raise UserError(
                f"the {self.kind} {self.path} is empty: nothing was logged. Give one that holds statements."
            )
        self._left = left
        return descriptor

    def _read(self) -> bytes:
        """The next part; nothing at the end that it had when it was opened."""
        if self._left == 0:
            return b""
        try:
            block = os.read(self._descriptor, min(_BLOCK_BYTES, self._left or _BLOCK_BYTES))
        except OSError as error:
            raise self._not_read(error.strerror or str(error)) from None
        if self._left is not None:
            self.shrank = self.shrank or not block
            self._left -= len(block)
        return block

    def _not_read(self, why: str) -> UserError:
        return UserError(
            f"cannot read the {self.kind} {self.path}: {why}. Give the path of a log that you may read (as root: sudo)."
        )
