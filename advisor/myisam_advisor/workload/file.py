"""The workload file, read in bounded memory however hostile it is. What is in it: file_format.py.

Source: RFC 1952 (gzip).
"""

from __future__ import annotations

import io
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from myisam_advisor.texts.templates import so_many
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import (
    FORMAT,
    LONGEST_MICROSECONDS,
    MAXIMUM_COUNT,
    MAXIMUM_LINE_BYTES,
    VERSION,
    Header,
    LineError,
    Totals,
    decoded,
    is_foreign,
    is_moment,
)
from myisam_exporter.errors import UserError, brief
from myisam_exporter.outside.documents import DocumentError, parse_json

_DOCUMENT_BYTES = 1 << 16
_DOCUMENT_MEMORY_BYTES = 4 << 20
MAXIMUM_UNPACKED_BYTES = 64 << 30
_BUFFER_BYTES = 1 << 20


class Workload:
    """A workload file that is being read; `totals` are complete after the events were.

    Raises UserError naming the file and the line for what is no workload.
    """

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path = path
        self.totals = Totals(0, truncated=True)
        self._lines = _Lines(path, file)
        self.header = self._read_header()

    def close(self) -> None:
        """Close the file."""
        self._lines.file.close()

    def __enter__(self) -> Workload:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()

    def events(self) -> Iterator[Event]:
        """Each event once, in the order of the file; once they are through, the totals are known and the file is closed."""
        statements = 0
        with self:
            for line in self._lines:
                if line.startswith("{"):
                    self.totals = self._read_totals(line, statements)
                    if next(iter(self._lines), None) is not None:
                        raise self._lines.fault("there is more behind the last line")
                    return
                yield self._event(line)
                statements += 1
            self.totals = Totals(statements, truncated=True)

    def _event(self, line: str) -> Event:
        try:
            return decoded(line)
        except LineError as error:
            raise self._lines.fault(str(error)) from None

    def _document(self, line: str) -> Mapping[str, Any]:
        try:
            document = parse_json(line, _DOCUMENT_MEMORY_BYTES) if len(line) <= _DOCUMENT_BYTES else None
        except DocumentError:
            document = None
        if not isinstance(document, dict):
            raise self._lines.fault("it is not a JSON object")
        return document

    def _read_header(self) -> Header:
        first = next(iter(self._lines), None)
        if first is None:
            raise UserError(f"{self.path} is empty, or cut off in its first line: no workload. Record again.")
        if not first.startswith("{"):
            raise self._foreign()
        document = self._document(first)
        if document.get("format") != FORMAT:
            raise self._foreign()
        if document.get("version") != VERSION:
            version = brief(document.get("version"))
            raise UserError(
                f"{self.path}: a workload of version {version}; this program reads {VERSION}. Record again, or use the program that recorded it."
            )
        return Header(
            source=self._text(document, "source"),
            server_version=self._text(document, "server_version"),
            flavour=self._text(document, "flavour"),
            began_at_microseconds=self._moment(document, "began_at_microseconds"),
            resolution_microseconds=self._resolution(document),
            note=self._notes(document),
        )

    def _foreign(self) -> UserError:
        return UserError(
            f"{self.path} is not a myisam-advisor workload. Make one with: myisam-advisor record --output FILE"
        )

    def _read_totals(self, line: str, statements: int) -> Totals:
        document = self._document(line)
        written = document.get("statements")
        if not isinstance(written, int) or not _is_count(written):
            raise self._lines.fault("it does not say how many statements were written")
        if written != statements:
            there = "1 is" if statements == 1 else f"{statements} are"
            raise self._lines.fault(
                f"{so_many(written, 'statement')} {'was' if written == 1 else 'were'} written, {there} there"
            )
        left_out = document.get("left_out", {})
        if not isinstance(left_out, dict) or not all(_is_count(count) for count in left_out.values()):
            raise self._lines.fault("left_out is not an object of counts")
        ended = self._moment(document, "ended_at_microseconds")
        return Totals(statements, ended, left_out, truncated=False, note=self._notes(document))

    def _text(self, document: Mapping[str, Any], name: str) -> str:
        value = document.get(name, "")
        if not isinstance(value, str):
            raise self._lines.fault(f"{name} is not text")
        return value

    def _number(self, document: Mapping[str, Any], name: str) -> int | None:
        value = document.get(name)
        if value is not None and not _is_count(value):
            raise self._lines.fault(f"{name} is not a whole number")
        return value

    def _moment(self, document: Mapping[str, Any], name: str) -> int | None:
        value = self._number(document, name)
        if value is not None and not is_moment(value):
            raise self._lines.fault(f"{name} is before 1995 or after 2999")
        return value

    def _resolution(self, document: Mapping[str, Any]) -> int:
        value = self._number(document, "resolution_microseconds") or 1
        if value > LONGEST_MICROSECONDS:
            raise self._lines.fault("resolution_microseconds is longer than a day")
        return value

    def _notes(self, document: Mapping[str, Any]) -> Mapping[str, str]:
        notes = document.get("note", {})
        if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
            raise self._lines.fault("note is not an object of texts")
        return notes


def read_workload(path: Path) -> Workload:
    """The workload in a file, its header read. Raises UserError for a file that cannot be read, or is none."""
    try:
        # A pipe that nobody writes to would keep open(2) waiting.
        file = open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb")  # noqa: SIM115 - the workload closes it
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise UserError(
            f"cannot read the workload {path}: {why}. Make one with: myisam-advisor record --output FILE"
        ) from None
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise UserError(
                f"the workload {path} is not a regular file. Make one with: myisam-advisor record --output FILE"
            )
        return Workload(path, file)
    except BaseException:
        file.close()
        raise


class _Lines:
    """The lines of a packed file, none longer than allowed; a last line that is cut off is not told."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.path, self.file, self.number = path, file, 0
        self._bytes_left = MAXIMUM_UNPACKED_BYTES
        self._unpacked = io.BufferedReader(_Unpacked(file), _BUFFER_BYTES)

    def __iter__(self) -> Iterator[str]:
        while True:
            line = self._next_line()
            if not line.endswith(b"\n"):
                return
            self.number += 1
            self._bytes_left -= len(line)
            if self._bytes_left < 0:
                raise self.fault(f"unpacked it is longer than {MAXIMUM_UNPACKED_BYTES >> 30} GiB")
            yield self._text(line)

    def _text(self, line: bytes) -> str:
        is_document = line.startswith(b"{") and len(line) <= _DOCUMENT_BYTES
        if not is_document and is_foreign(line):
            raise self.fault("it is not an event")
        try:
            return line.decode()
        except UnicodeDecodeError:
            raise self.fault("it is not UTF-8") from None

    def _next_line(self) -> bytes:
        try:
            line = self._unpacked.readline(MAXIMUM_LINE_BYTES + 1)
        except zlib.error:
            self.number += 1
            raise self.fault("it is not a gzip file, or it is damaged") from None
        except OSError as error:
            raise UserError(f"cannot read the workload {self.path}: {error.strerror or error}.") from None
        if len(line) > MAXIMUM_LINE_BYTES:
            self.number += 1
            raise self.fault("it is longer than a statement can be")
        return line

    def fault(self, what: str) -> UserError:
        """What is wrong with the line that was read last."""
        return UserError(f"{self.path}, line {self.number}: {what}. Record again: myisam-advisor record --output FILE")


class _Unpacked(io.RawIOBase):
    """What gzip packed, as far as it goes: the end of a file that was cut off is the end."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__()
        self._file = file
        self._inflating = zlib.decompressobj(wbits=16 + zlib.MAX_WBITS)
        self._waiting = b""

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """As many bytes as there are, at most so many; 0 at the end. Raises zlib.error for what is no gzip."""
        while not self._inflating.eof:
            packed = self._waiting or self._file.read(1 << 16)
            part = self._inflating.decompress(packed, len(buffer))
            self._waiting = self._inflating.unconsumed_tail
            if part:
                buffer[: len(part)] = part
                return len(part)
            if not packed:
                break
        return 0


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAXIMUM_COUNT
