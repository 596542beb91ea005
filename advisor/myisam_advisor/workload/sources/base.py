"""What a kind of log is, and what they share: entries found in a stream of bytes, moments, the header of a server that starts.

An entry begins where the log's own line says so and ends where the next one does. A statement may hold such lines itself (workload/joining.py).

Sources: sql/log.cc of MySQL 5.5 to 9.x and MariaDB 5.5 to 11.x; percona-toolkit, SlowLogParser.pm and its samples.
"""

from __future__ import annotations

import re
from calendar import timegm
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from time import mktime
from typing import Protocol

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import LONGEST_MICROSECONDS, MAXIMUM_COUNT, MAXIMUM_STATEMENT_BYTES, TOO_LONG
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.driver import Row

MICROSECONDS = 1_000_000
CUT_OFF = "cut off"
ADMINISTRATOR = "administrator command"
NESTED = "inner statement of a stored program"
# What stands before a statement is short.
_MAXIMUM_ENTRY_BYTES = MAXIMUM_STATEMENT_BYTES + (1 << 20)

# What marks the beginning of an entry is shorter than this, and what stands before the mark in its line.
MAXIMUM_MARK_BYTES = 1 << 12

# /usr/sbin/mysqld, Version: 8.4.2 (MySQL Community Server - GPL). started with:
_VERSION_MARK = b", Version: "
_VERSION = re.compile(rb"([^\s,]+)([^\n]*)")
_BEHIND_VERSION = re.compile(
    rb"\. started with:\r?\n(?:T[Cc][Pp] [Pp]ort: [^\n]*\n)?(?:Time[ \t]+Id[ \t]+Command[ \t]+Argument *\r?\n)?"
)
_ISO = re.compile(rb"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?(?:Z|([+-])(\d\d):(\d\d))?", re.ASCII)
_OLD = re.compile(rb"(\d\d)(\d\d)(\d\d) +(\d{1,2}):(\d\d):(\d\d)(?:\.(\d{1,6}))?", re.ASCII)


@dataclass(slots=True)
class Reading:
    """What is found out of a log while it is read.

    Attributes:
        server_version: of the server that wrote it, where it says.
        flavour: mysql, mariadb or percona, where it says.
        resolution_microseconds: how exactly its times are written.
        left_out: what is no event, by reason.
        holes: stretches of zero bytes.
        entries: how many were found, whatever became of them.
        starts: how often a server opened it.
        sampled: the server wrote one in so many of the statements, or connections, that it had; 1 is all, as far as the log tells.
        timed: events whose duration is told.
        shortest_microseconds: what the shortest of them took.
        calls: calls of stored procedures, where statements that they run may be there as well and cannot be told from others.
        is_one_life: it is known that the server was not started anew while it was written: one that opens it again flushes its logs.
        without_connection: events of which it does not say who sent them: MySQL 5.5's slow log never does. Their connection is 0.
        set_back: how often its times went back, and how far at most.
    """

    server_version: str = ""
    flavour: str = ""
    resolution_microseconds: int = MICROSECONDS
    left_out: Counter[str] = field(default_factory=Counter)
    holes: int = 0
    entries: int = 0
    starts: int = 0
    sampled: int = 1
    timed: int = 0
    shortest_microseconds: int = LONGEST_MICROSECONDS
    calls: int = 0
    is_one_life: bool = False
    without_connection: int = 0
    set_back: int = 0
    furthest_back_microseconds: int = 0

    def take_duration(self, microseconds: int) -> None:
        """How long a statement took: what is shorter than the shortest may have been left out by a threshold."""
        self.timed += 1
        if microseconds < self.shortest_microseconds:  # noqa: PLR1730  # for each statement: a call takes longer
            self.shortest_microseconds = microseconds

    def server_started(self, version: bytes, comment: bytes) -> None:
        """Take the version from the lines that a server writes when it opens its log."""
        self.starts += 1
        self.server_version = version.decode("ascii", "replace")[:80]
        lower = (version + comment).lower()
        self.flavour = next((name for name in ("mariadb", "percona") if name.encode() in lower), "mysql")


class Numbers:
    """The numbers of connections over several lives of a server, which begins each with 1: those of a later one come behind the others.

    One that the log does not tell is 0, and stays so.
    """

    def __init__(self, is_one_life: bool = False) -> None:
        self._is_one_life = is_one_life
        self._behind = self._highest = 0

    def numbered(self, connection: int) -> int:
        """Its number among all."""
        number = connection + self._behind
        if not connection or number >= MAXIMUM_COUNT:
            return connection
        if number > self._highest:  # noqa: PLR1730  # for each statement: a call takes longer
            self._highest = number
        return number

    @property
    def highest(self) -> int:
        """The highest number since the server's last start."""
        return self._highest - self._behind

    def start_again(self) -> None:
        """The server was started, as far as is known: its numbers are other connections' from here on."""
        if not self._is_one_life:
            self._behind = self._highest


@dataclass(frozen=True, slots=True)
class LogSource:
    """A kind of log.

    Attributes:
        name: as it stands in a workload, and with hyphens as an option.
        title: in sentences.
        mark: what only a log of this kind has.
        events: the events of its bytes, in their order.
    """

    name: str
    title: str
    mark: re.Pattern[bytes]
    events: Callable[[Iterator[bytes], Reading], Iterator[Event]]


class Asked(Protocol):
    """What answers statements: a Session."""

    def rows(self, statement: str, *, columns: int | None = None) -> list[Row]:
        """The rows of an answer, which have so many columns."""


class Watch(Protocol):
    """What a server keeps of its statements, while it is being asked."""

    @property
    def pause_seconds(self) -> float:
        """How long to wait before the next poll."""

    def notes(self) -> Mapping[str, str]:
        """What else is to be known, by name."""

    def poll(self, reading: Reading) -> Iterator[Event]:
        """What has ended since the poll before."""

    def finish(self, reading: Reading) -> Iterator[Event]:
        """The rest; what was lost is counted."""


@dataclass(frozen=True, slots=True)
class LiveSource:
    """What a running server keeps by itself, and is asked for: nothing of the server is changed.

    Attributes:
        name: as it stands in a workload, and with hyphens as an option.
        title: in sentences.
        watch: begins to watch; raises UserError for a server that does not keep it.
    """

    name: str
    title: str
    watch: Callable[[Asked], Watch]


def entries(blocks: Iterator[bytes], find: Callable[[bytes, int], int], reading: Reading) -> Iterator[bytes]:
    """The entries of a log, each from its first line to the next one's; what comes before the first is not told but counted.

    Args:
        blocks: the log.
        find: where the next entry begins, from there on; -1 where none does.
        reading: takes the version, what is cut off, and holes.
    """
    waiting = b""
    begun = False
    searched = 0
    for block in blocks:
        waiting += block
        at = 0
        while (following := find(waiting, max(searched, at + begun))) >= 0:
            if begun:
                yield waiting[at:following]
            elif following > at:
                _note_beginning(waiting[at:following], reading)
            begun, at, searched = True, following, following + 1
        waiting = waiting[at:]
        # The lines that mark an entry, two at most, may be cut by the end of the block.
        floor = max(len(waiting) - MAXIMUM_MARK_BYTES, 0)
        searched = max(waiting.rfind(b"\n", floor, max(waiting.rfind(b"\n", floor), floor)), floor)
        if len(waiting) > _MAXIMUM_ENTRY_BYTES:
            _note_endless(waiting, begun, reading)
            waiting, begun, searched = waiting[-MAXIMUM_MARK_BYTES:], False, 0
    if begun:
        yield waiting
    elif waiting:
        _note_beginning(waiting, reading)


def _note_beginning(text: bytes, reading: Reading) -> None:
    """What stands before the first entry: the server's header, zero bytes, or the rest of a statement."""
    rest = without_hole(text, reading).strip()
    started = next(filter(None, (_started(text, behind) for behind in _BEHIND_VERSION.finditer(text))), None)
    if started is not None:
        reading.server_started(started.version, started.comment)
        rest = (text[: started.begin] + text[started.end :]).strip(b"\0 \r\n\t")
    if rest:
        reading.left_out[CUT_OFF] += 1


def _note_endless(text: bytes, begun: bool, reading: Reading) -> None:
    if without_hole(text[-(1 << 16) :], reading) and begun:
        reading.left_out[TOO_LONG] += 1


def without_hole(text: bytes, reading: Reading) -> bytes:
    """The text without the zero bytes at its end, which are counted as a hole."""
    if not text.endswith(b"\0"):
        return text
    reading.holes += 1
    return text.rstrip(b"\0")


def without_restart(text: bytes, reading: Reading) -> bytes:
    """The text without the lines that a server writes when it opens its log, which stand behind the last entry of the one before."""
    if b"started with:" not in text:
        return text
    end = len(text)
    while (started := _last_start(text, end)) is not None:
        reading.server_started(started.version, started.comment)
        end = started.begin
    return text[:end]


@dataclass(frozen=True, slots=True)
class _Started:
    """The lines of a server that starts: its version, what stands behind that, and where they begin and end."""

    version: bytes
    comment: bytes
    begin: int
    end: int


def _started(text: bytes, behind: re.Match[bytes]) -> _Started | None:
    """Such lines by what stands in them behind the version; None where no version stands before it."""
    begin = text.rfind(b"\n", 0, behind.start()) + 1
    mark = text.rfind(_VERSION_MARK, begin, behind.start())
    version = _VERSION.match(text, mark + len(_VERSION_MARK), behind.start()) if mark >= 0 else None
    return None if version is None else _Started(version[1], version[2], begin, behind.end())


def _last_start(text: bytes, end: int) -> _Started | None:
    """The lines of a server that starts, where nothing else stands between them and the end."""
    at = text.rfind(b". started with:", 0, end)
    behind = _BEHIND_VERSION.match(text, at) if at >= 0 else None
    started = _started(text, behind) if behind else None
    return None if started is None or text[started.end : end].strip(b"\0\r\n ") else started


def parted(
    found: Iterator[bytes], head_of: Callable[[bytes], re.Match[bytes] | None], reading: Reading
) -> Iterator[tuple[re.Match[bytes], bytes]]:
    """Each entry as its head and what stands behind it, its statement with all that ends it; one without a head is counted as cut off."""
    for entry in found:
        head = head_of(entry)
        if head is None:
            reading.left_out[CUT_OFF] += 1
        else:
            yield head, entry[head.end() :]


# 2026-11-22T20:00:00.123456Z
_USUAL_CHARACTERS = 27


class Moments:
    """The moments that a log writes, as microseconds since 1970; those without a zone are in this machine's."""

    def __init__(self) -> None:
        self._known: dict[bytes, int] = {}

    def microseconds(self, text: bytes) -> tuple[int, bool] | None:
        """The moment, and whether it is known to the microsecond; None for what is no moment."""
        if len(text) == _USUAL_CHARACTERS and text[19:20] == b"." and text[26:] == b"Z" and text[20:26].isdigit():
            second = self._known.get(text[:19] + b"Z")
            if second is not None:
                return second * MICROSECONDS + int(text[20:26]), True
        iso = _ISO.match(text)
        if iso is not None:
            return self._with_fraction(iso, self._iso_second)
        old = _OLD.match(text)
        return None if old is None else self._with_fraction(old, self._old_second)

    def _with_fraction(
        self, match: re.Match[bytes], second_of: Callable[[re.Match[bytes]], int | None]
    ) -> tuple[int, bool] | None:
        fraction = match[7]
        key = (
            match.string[match.start() : match.start(7) - 1] + match.string[match.end(7) : match.end()]
            if fraction
            else match[0]
        )
        second = self._known.get(key)
        if second is None:
            made = second_of(match)
            if made is None:
                return None
            if len(self._known) > 1000:
                self._known.clear()
            second = self._known[key] = made
        return second * MICROSECONDS + (int(fraction.ljust(6, b"0")) if fraction else 0), fraction is not None

    @staticmethod
    def _iso_second(match: re.Match[bytes]) -> int | None:
        year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
        zoned = match[0].endswith(b"Z") or match[8] is not None
        seconds = _seconds((year, month, day, hour, minute, second), utc=zoned)
        if seconds is None or match[8] is None:
            return seconds
        offset = int(match[9]) * 3600 + int(match[10]) * 60
        return seconds - offset if match[8] == b"+" else seconds + offset

    @staticmethod
    def _old_second(match: re.Match[bytes]) -> int | None:
        year, month, day, hour, minute, second = (int(match[group]) for group in range(1, 7))
        return _seconds((2000 + year, month, day, hour, minute, second), utc=False)


def _seconds(moment: tuple[int, int, int, int, int, int], utc: bool) -> int | None:
    """Since 1970; None for what no calendar has."""
    try:
        seconds = timegm((*moment, 0, 0, 0)) if utc else int(mktime((*moment, 0, 0, -1)))
    except (ValueError, OverflowError):
        return None
    return seconds if seconds >= 0 else None


class Spread:
    """Statements of a log that writes whole seconds, each second's evenly over it, in their order: bursts at its beginning are no load.

    Connections keep their order: a statement begins when the one before it is through.
    """

    def __init__(self) -> None:
        self._second = -1
        self._held: list[Event] = []
        self._held_bytes = 0
        self._ends: dict[int, int] = {}

    def add(self, event: Event, end_second: int) -> Iterator[Event]:
        """Take an event that ended in this second, and give those that are complete."""
        if end_second != self._second or self._held_bytes > MAXIMUM_STATEMENT_BYTES:
            yield from self.rest()
            self._second = end_second
        self._held.append(event)
        self._held_bytes += len(event.statement) + 100

    def rest(self) -> Iterator[Event]:
        """What is held."""
        held, self._held, self._held_bytes = self._held, [], 0
        if len(self._ends) > 100_000:
            self._ends.clear()
        for number, event in enumerate(held):
            end = self._second * MICROSECONDS + (2 * number + 1) * MICROSECONDS // (2 * len(held))
            duration = event.duration_microseconds or 0
            before = self._ends.get(event.connection, 0)
            start = max(end - duration, before if before <= end else 0, 0)
            self._ends[event.connection] = max(end, start)
            yield Event(event[0], start, *event[2:])
