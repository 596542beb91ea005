"""What a workload file is: its header, its totals, the line of an event, and how much of each there may be.

The first line is the header, an object; each further line is an event, an array in the order of `Event`, with bytes as the characters
U+0000 to U+00FF; the last line is an object with the totals. Without a last line the file is cut off: what is there is used, and said.

Source: RFC 8259 (JSON).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from json.decoder import scanstring  # type: ignore[attr-defined]  # typeshed has only the slow one's name
from json.encoder import encode_basestring
from typing import Any

from myisam_advisor.workload.events import Event
from myisam_exporter.declaring.lean_dataclasses import dataclass

FORMAT, VERSION = "myisam-advisor workload", 1
# One packet of the protocol: what a client sends at once, and as much as MariaDB takes unless max_allowed_packet is set (MySQL 8: 64 MiB).
MAXIMUM_STATEMENT_BYTES = 16 << 20
MAXIMUM_NAME_BYTES = 1024
# Bytes that come by chance take 2.1 each, control characters six (\u0000).
MAXIMUM_LINE_BYTES = 40 << 20
# MySQL's first year: clocks that were never set are before it. What is beyond the last, no calendar of Python's has.
FIRST_MOMENT, LAST_MOMENT = 788_918_400_000_000, 32_503_680_000_000_000
LONGEST_MICROSECONDS = 86_400_000_000
MAXIMUM_COUNT = 10**18

TOO_LONG = f"longer than {MAXIMUM_STATEMENT_BYTES >> 20} MiB"
NO_MOMENT = "of no known time"
TOOK_TOO_LONG = "took longer than a day"

_NUMBER = r"(?:(\d{1,18})|null)"
_HEAD = re.compile(rf"\[(\d{{1,18}}),(\d{{1,18}}),{_NUMBER},", re.ASCII)
_TAIL = re.compile(rf",{_NUMBER},{_NUMBER},{_NUMBER},{_NUMBER},(true|false)\]\n", re.ASCII)
# How UTF-8 begins a character above U+00FF; how JSON does, where the backslashes before it are odd in number.
_FOREIGN = re.compile(rb"[\xc4-\xff]")
_FOREIGN_ESCAPE = re.compile(rb"(?<!\\)(\\+)u(?!00)")

NO_EVENT = "it is not an event"
_SAYS = {
    TOO_LONG: f"its statement is longer than {MAXIMUM_STATEMENT_BYTES >> 20} MiB",
    NO_MOMENT: "it began before 1995 or after 2999",
    TOOK_TOO_LONG: "it took longer than a day",
}


class LineError(ValueError):
    """A line is no event: why."""


@dataclass(frozen=True, slots=True)
class Header:
    """Where a workload is from.

    Attributes:
        source: the name of what was read: slow_log, general_log, live, performance_schema, probe.
        server_version: as the source writes it; empty where it does not.
        flavour: mysql, mariadb, percona; empty where the source does not tell.
        began_at_microseconds: when the recording, or the log, began; None where that is not known before the first event.
        resolution_microseconds: how exactly the source knows when a statement began.
        note: what else is to be known of it, by name.
    """

    source: str
    server_version: str
    flavour: str
    began_at_microseconds: int | None
    resolution_microseconds: int = 1
    note: Mapping[str, str] = field(default_factory=dict)

    @property
    def knows_moments(self) -> bool:
        """Whether it tells to the microsecond when statements began."""
        return self.resolution_microseconds == 1


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


def is_moment(microseconds: int) -> bool:
    """Whether a server may have written it: from 1995 to 2999."""
    return FIRST_MOMENT <= microseconds < LAST_MOMENT


def unfit(event: Event) -> str | None:
    """Why an event has no place in a workload file, where it has none."""
    if len(event.statement) > MAXIMUM_STATEMENT_BYTES:
        return TOO_LONG
    if not is_moment(event.start_microseconds):
        return NO_MOMENT
    return TOOK_TOO_LONG if (event.duration_microseconds or 0) > LONGEST_MICROSECONDS else None


def encoded(event: Event) -> bytes:
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


def header_document(header: Header) -> Mapping[str, Any]:
    """The first line's object."""
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


def totals_document(totals: Totals) -> Mapping[str, Any]:
    """The last line's object: of a file that is whole."""
    return {
        "statements": totals.statements,
        "ended_at_microseconds": totals.ended_at_microseconds,
        "left_out": dict(totals.left_out),
        "note": dict(totals.note),
    }


def is_foreign(line: bytes) -> bool:
    """Whether a line has characters above U+00FF, which no byte is written as: one of them, and each of the line takes four times the memory."""
    if not line.isascii() and _FOREIGN.search(line):
        return True
    if b"\\u" not in line:
        return False
    return any((found.end(1) - found.start(1)) & 1 for found in _FOREIGN_ESCAPE.finditer(line))


def decoded(line: str) -> Event:
    """The event of a line. Raises LineError for what is none."""
    head = _HEAD.match(line)
    if head is None:
        raise LineError(NO_EVENT)
    database, end = _text_or_null(line, head.end())
    if line[end : end + 2] != ',"':
        raise LineError(NO_EVENT)
    statement, end = _text(line, end + 2)
    tail = _TAIL.fullmatch(line, end)
    if tail is None:
        raise LineError(NO_EVENT)
    connection, start, duration = head.groups()
    sent, examined, affected, error, prepared = tail.groups()
    event = Event(
        int(connection),
        int(start),
        _number(duration),
        database,
        statement,
        _number(sent),
        _number(examined),
        _number(affected),
        _number(error),
        prepared == "true",
    )
    reason = unfit(event)
    if reason is not None:
        raise LineError(_SAYS[reason])
    return event


def _text_or_null(line: str, at: int) -> tuple[bytes | None, int]:
    if line.startswith('"', at):
        return _text(line, at + 1)
    if line.startswith("null", at):
        return None, at + len("null")
    raise LineError(NO_EVENT)


def _text(line: str, at: int) -> tuple[bytes, int]:
    try:
        text, end = scanstring(line, at)
        return text.encode("latin-1"), int(end)
    except ValueError:
        raise LineError(NO_EVENT) from None


def _number(digits: str | None) -> int | None:
    return None if digits is None else int(digits)
