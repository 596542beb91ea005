"""Writes a workload file: gzip of lines of JSON, whole and with mode 0600, or not at all.

Source: RFC 1952 (gzip).
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from myisam_advisor.texts.templates import size
from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import (
    MAXIMUM_LINE_BYTES,
    Header,
    Totals,
    encoded,
    header_document,
    totals_document,
    unfit,
)
from myisam_exporter.errors import UserError
from myisam_exporter.outside.free_space import free_bytes_at

_BUFFER_BYTES = 1 << 20
# The lowest level: statements repeat themselves, and higher ones cost several times as much for a tenth.
_COMPRESSION = 1
_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode
# With less the disk is as good as full.
LEAST_FREE_BYTES = 16 << 20
# What helps whoever named the file, at the end of what is said.
OTHER_PLACE, OTHER_FILE = "Give an --output elsewhere.", "Give another --output."
LONG_LINE = f"longer than {MAXIMUM_LINE_BYTES >> 20} MiB as a workload file writes it"


def expect_place(path: Path) -> None:
    """Refuse before anything is recorded what would be refused when all of it is. Raises UserError."""
    try:
        with OutputDirectory(path.parent) as directory:
            if directory.holds(path.name):
                raise UserError(f"{path} is there already. Give another --output, or remove it.")
        free = free_bytes_at(path.parent)
    except OSError as error:
        raise UserError(f"cannot write into {path.parent}: {error.strerror}. {OTHER_FILE}") from None
    if not os.access(path.parent, os.W_OK):
        raise UserError(f"cannot write into {path.parent}: you may not, or its file system is read-only. {OTHER_FILE}")
    if free is not None and free < LEAST_FREE_BYTES:
        raise UserError(f"{path.parent} has {size(free)} free, and a recording needs more. {OTHER_PLACE}")


class WorkloadWriter:
    """Writes a workload file, which takes its name at the end; after an exception nothing is left of it. Use it as a context manager.

    Raises UserError where there is such a file already, and where it cannot be written.
    """

    def __init__(self, path: Path, header: Header) -> None:
        self.path = path
        self.statements = 0
        self.left_out: Counter[str] = Counter()
        self.ended_at_microseconds: int | None = None
        self.note: dict[str, str] = {}
        self.header = header
        self._open = contextlib.ExitStack()
        self._file: IO[bytes]

    def __enter__(self) -> WorkloadWriter:
        with contextlib.ExitStack() as opened, self._faults():
            directory = opened.enter_context(OutputDirectory(self.path.parent))
            if directory.holds(self.path.name):
                raise UserError(f"{self.path} is there already. Give another --output, or remove it.")
            file = opened.enter_context(directory.file(self.path.name, private=True))
            packed = opened.enter_context(gzip.GzipFile("", "wb", _COMPRESSION, file.buffer))
            # GzipFile is slow for small writes.
            self._file = opened.enter_context(io.BufferedWriter(_Raw(packed), _BUFFER_BYTES))
            self._line(header_document(self.header))
            self._open = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._faults():
            if error is None:
                with contextlib.ExitStack() as closing:
                    closing.push(self._open)
                    self._line(totals_document(self.totals))
            else:
                self._open.__exit__(kind, error, trace)

    def write(self, event: Event) -> bool:
        """Add an event, or leave one out by name that no file may hold: whether it was added. Raises UserError where the disk is full."""
        reason = unfit(event)
        if reason is None:
            line = encoded(event)
            reason = LONG_LINE if len(line) > MAXIMUM_LINE_BYTES else None
        if reason is not None:
            self.leave_out(reason)
            return False
        self.statements += 1
        try:
            self._file.write(line)
        except OSError as error:
            raise self._not_written(error) from None
        return True

    def leave_out(self, reason: str) -> None:
        """Count a statement that is not written."""
        self.left_out[reason] += 1

    @property
    def totals(self) -> Totals:
        """What it has come to."""
        return Totals(self.statements, self.ended_at_microseconds, dict(self.left_out), note=dict(self.note))

    def _line(self, document: Mapping[str, Any]) -> None:
        self._file.write(_json(document).encode() + b"\n")

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise UserError(f"{self.path} is there already. Give another --output, or remove it.") from None
        except OSError as error:
            raise self._not_written(error) from None

    def _not_written(self, error: OSError) -> UserError:
        return UserError(f"cannot write {self.path}: {error.strerror or error}. {OTHER_FILE}")


class _Raw(io.RawIOBase):
    """GzipFile as what io.BufferedWriter writes to."""

    def __init__(self, packed: gzip.GzipFile) -> None:
        super().__init__()
        self._packed = packed

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, part: Any) -> int:
        """All of it."""
        return self._packed.write(part)
