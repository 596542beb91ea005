"""The workload file: gzip of lines of JSON, written whole with mode 0600, read in bounded memory however hostile it is.

The first line is the header, an object; each further line is an event, an array in the order of `Event`, with bytes as the characters
U+0000 to U+00FF; the last line is an object with the totals. Without a last line the file is cut off: what is there is used, and said.

Sources: RFC 1952 (gzip), RFC 8259 (JSON).
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import re
import stat
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed has only the slow one's name
from json.encoder import encode_basestring
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from myisam_advisor.texts.whole_files import OutputDirectory
from myisam_advisor.workload.events import Event
from myisam_exporter.errors import UserError, brief
from myisam_exporter.outside.documents import DocumentError, parse_json

FORMAT, VERSION = "myisam-advisor workload", 1
# Twice what one packet of the protocol holds; the largest max_allowed_packet is 1 GB.
MAXIMUM_STATEMENT_BYTES = 32 << 20
MAXIMUM_NAME_BYTES = 1024
# The worst byte is written with six: \u0000.
_LINE_BYTES = 6 * (MAXIMUM_STATEMENT_BYTES + MAXIMUM_NAME_BYTES) + 1024
_DOCUMENT_BYTES = 1 << 16
_DOCUMENT_MEMORY_BYTES = 4 << 20
MAXIMUM_UNPACKED_BYTES = 64 << 30
_BUFFER_BYTES = 1 << 20
# The lowest level: statements repeat themselves, and higher ones cost several times as much for a tenth.
_COMPRESSION = 1

_NUMBER = r"(?:(\d{1,18})|null)"
_HEAD = re.compile(rf"\[(\d{{1,18}}),(\d{{1,18}}),{_NUMBER},", re.ASCII)
_TAIL = re.compile(rf",{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER},(true|false)\]\n", re.ASCII)
_encoded = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), check_circular=False).encode


@dataclass(frozen=True, slots=True)
class Header:
    """Where a workload is from.

    Attributes:
        source: the name of what was read: slow_log, general_log, live, performance_schema.
        server_version: as the source writes it; empty where it does not.
        flavour: mysql, mariadb, percona; empty where the source does not tell.
        began_at_microseconds: when the recording, or the log, began; None where that is not known before the first event.
        resolution_microseconds: how exactly the source knows when a statement began.
        note: what else is to be known of it, by name.
    """

    source: str
    server_version: str = ""
    flavour: str = ""
    began_at_microseconds: int | None = None
    resolution_microseconds: int = 1
    note: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Totals:
    """What a workload came to.

    Attributes:
        statements: the events in it.
        ended_at_microseconds: when the recording, or the log, ended.
        left_out: statements that are not in it, by reason.
        truncated: the file has no last line: it was cut off, and there was more.
        note: what was known at the end alone, by name.
    """

    statements: int
    ended_at_microseconds: int | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)
    truncated: bool = False
    note: Mapping[str, str] = field(default_factory=dict)


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
        self._header = header
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
            self._line(_header_document(self._header))
            self._open = opened.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._faults():
            if error is None:
                with contextlib.ExitStack() as closing:
                    closing.push(self._open)
                    self._line(self._totals())
            else:
                self._open.__exit__(kind, error, trace)

    def write(self, event: Event) -> None:
        """Add an event; one that is longer than a file may hold is left out. Raises UserError where the disk is full."""
        if len(event.statement) > MAXIMUM_STATEMENT_BYTES:
            self.leave_out(f"longer than {MAXIMUM_STATEMENT_BYTES >> 20} MiB")
            return
        self.statements += 1
        try:
            self._file.write(_written(event))
        except OSError as error:
            raise self._not_written(error) from None

    def leave_out(self, reason: str, count: int = 1) -> None:
        """Count statements that are not written."""
        self.left_out[reason] += count

    def _line(self, document: Mapping[str, Any]) -> None:
        self._file.write(_encoded(document).encode() + b"\n")

    def _totals(self) -> Mapping[str, Any]:
        return {
            "statements": self.statements,
            "ended_at_microseconds": self.ended_at_microseconds,
            "left_out": dict(self.left_out),
            "note": self.note,
        }

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise UserError(f"{self.path} is there already. Give another --output, or remove it.") from None
        except OSError as error:
            raise self._not_written(error) from None

    def _not_written(self, error: OSError) -> UserError:
        return UserError(f"cannot write {self.path}: {error.strerror or error}. Give another --output.")


def _written(event: Event) -> bytes:
    """The line of an event. JSON's own encoder for the whole takes twice as long."""
    connection, start, duration, database, statement, sent, examined, affected, error, prepared = event
    return b"[%d,%d,%b,%b,%b,%b,%b,%b,%b,%b]\n" % (
        connection,
        start,
        b"null" if duration is None else b"%d" % duration,
        b"null" if database is None else _quoted(database[:MAXIMUM_NAME_BYTES]),
        _quoted(statement),
        b"null" if sent is None else b"%d" % sent,
        b"null" if examined is None else b"%d" % examined,
        b"null" if affected is None else b"%d" % affected,
        b"null" if error is None else b"%d" % error,
        b"true" if prepared else b"false",
    )


def _quoted(text: bytes) -> bytes:
    return encode_basestring(text.decode("latin-1")).encode()


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


def _header_document(header: Header) -> Mapping[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "source": header.source,
        "server_version": header.server_version,
        "flavour": header.flavour,
        "began_at_microseconds": header.began_at_microseconds,
        "resolution_microseconds": header.resolution_microseconds,
        "note": dict(header.note),
    }


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
            return _decoded(line)
        except ValueError:
            raise self._lines.fault("it is no event") from None

    def _document(self, line: str) -> Mapping[str, Any]:
        try:
            document = parse_json(line, _DOCUMENT_MEMORY_BYTES) if len(line) <= _DOCUMENT_BYTES else None
        except DocumentError:
            document = None
        if not isinstance(document, dict):
            raise self._lines.fault("it is no JSON object")
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
            began_at_microseconds=self._number(document, "began_at_microseconds"),
            resolution_microseconds=self._number(document, "resolution_microseconds") or 1,
            note=self._notes(document),
        )

    def _foreign(self) -> UserError:
        return UserError(
            f"{self.path} is no workload of myisam-advisor. Make one with: myisam-advisor record --output FILE"
        )

    def _read_totals(self, line: str, statements: int) -> Totals:
        document = self._document(line)
        if document.get("statements") != statements:
            raise self._lines.fault(
                f"{brief(document.get('statements'))} statements were written, {statements} are there"
            )
        left_out = document.get("left_out", {})
        if not isinstance(left_out, dict) or not all(_is_count(count) for count in left_out.values()):
            raise self._lines.fault("left_out is no object of counts")
        ended = self._number(document, "ended_at_microseconds")
        return Totals(statements, ended, left_out, truncated=False, note=self._notes(document))

    def _text(self, document: Mapping[str, Any], name: str) -> str:
        value = document.get(name, "")
        if not isinstance(value, str):
            raise self._lines.fault(f"{name} is no text")
        return value

    def _number(self, document: Mapping[str, Any], name: str) -> int | None:
        value = document.get(name)
        if value is not None and not _is_count(value):
            raise self._lines.fault(f"{name} is no whole number")
        return value

    def _notes(self, document: Mapping[str, Any]) -> Mapping[str, str]:
        notes = document.get("note", {})
        if not isinstance(notes, dict) or not all(isinstance(note, str) for note in notes.values()):
            raise self._lines.fault("note is no object of texts")
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
                f"the workload {path} is no regular file. Make one with: myisam-advisor record --output FILE"
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
            try:
                yield line.decode()
            except UnicodeDecodeError:
                raise self.fault("it is not UTF-8") from None

    def _next_line(self) -> bytes:
        try:
            line = self._unpacked.readline(_LINE_BYTES + 1)
        except zlib.error:
            self.number += 1
            raise self.fault("it is no gzip, or damaged") from None
        except OSError as error:
            raise UserError(f"cannot read the workload {self.path}: {error.strerror or error}.") from None
        if len(line) > _LINE_BYTES:
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


def _decoded(line: str) -> Event:
    """The event of a line. Raises ValueError for what is none."""
    head = _HEAD.match(line)
    if head is None:
        raise ValueError(line[:80])
    database, end = _text_or_null(line, head.end())
    if database is None:
        end = head.end() + len("null")
    if line[end : end + 2] != ',"':
        raise ValueError(line[:80])
    statement, end = scanstring(line, end + 2)
    tail = _TAIL.fullmatch(line, end)
    if tail is None:
        raise ValueError(line[:80])
    connection, start, duration = head.groups()
    sent, examined, affected, error, prepared = tail.groups()
    return Event(
        int(connection),
        int(start),
        _number(duration),
        None if database is None else database.encode("latin-1"),
        statement.encode("latin-1"),
        _number(sent),
        _number(examined),
        _number(affected),
        _number(error),
        prepared == "true",
    )


def _text_or_null(line: str, at: int) -> tuple[str | None, int]:
    if line.startswith('"', at):
        text, end = scanstring(line, at + 1)
        return str(text), int(end)
    if line.startswith("null", at):
        return None, at
    raise ValueError(line[:80])


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
