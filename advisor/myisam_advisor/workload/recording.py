"""A workload made of a log: its statements, what was left out by name, and what else is to be known of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from itertools import chain
from pathlib import Path

from myisam_advisor.texts.templates import count, duration, so_many
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import LAST_MOMENT, Header, Totals, is_moment
from myisam_advisor.workload.file_writer import WorkloadWriter
from myisam_advisor.workload.log_clock import steady
from myisam_advisor.workload.log_file import LogFile
from myisam_advisor.workload.prepared import Prepared
from myisam_advisor.workload.several_statements import SEVERAL, apart
from myisam_advisor.workload.sources import all_sources
from myisam_advisor.workload.sources.base import LogSource, Reading
from myisam_advisor.workload.statements import refused
from myisam_advisor.workload.told_rows import may_cache, with_believed_rows
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

_SAMPLE_BYTES = 1 << 16
# Of so many statements one is shorter, where none is left out.
_ENOUGH_TIMED, _LONG_MICROSECONDS = 1000, 1000


@dataclass(frozen=True, slots=True)
class Recorded:
    """What a recording came to."""

    path: Path
    header: Header
    totals: Totals


@dataclass(frozen=True, slots=True)
class Told:
    """What the log itself does not tell, of a recording of our own.

    Attributes:
        source: as it stands in the workload; empty for the kind of the log.
        server_version: of the server; empty for what the log says.
        flavour: likewise.
        note: what else is to be known, in the header.
        later: what else is to be known, in the totals.
        ignored_connections: of those of our own.
        counted: how many statements the server counted meanwhile; None where that is not known.
    """

    source: str = ""
    server_version: str = ""
    flavour: str = ""
    note: Mapping[str, str] = field(default_factory=dict)
    later: Mapping[str, str] = field(default_factory=dict)
    ignored_connections: frozenset[int] = frozenset()
    counted: int | None = None


class NothingRecordedError(UserError):
    """A log holds no statement that can be recorded; `left_out` is what it holds instead, by reason."""

    def __init__(self, message: str, left_out: Mapping[str, int]) -> None:
        super().__init__(message)
        self.left_out = left_out


NOTHING_TOLD = Told()
OUR_OWN = "our own"
# The notes of a recording that has a part of the statements: its replay shows what these cost, and not what all do. One in so many, slow ones
# alone, or those of some connections.
SAMPLED, SLOW_ALONE, PARTLY = PARTS = ("sampled", "threshold", "partly")
# Where less of what the server counted is in it, it says nothing of the whole server.
FEWEST_SEEN_SHARE = 0.5


def source_named(name: str) -> LogSource:
    """The kind of log of this name. Raises KeyError where there is none."""
    return {source.name: source for source in all_sources()}[name]


def record_log(
    source: LogSource, log: Path, output: Path, told: Told = NOTHING_TOLD, descriptor: int | None = None
) -> Recorded:
    """Write the statements of a log, open already or not, into a workload file. Raises UserError for a log that holds none, and as LogFile and WorkloadWriter do."""
    # One that is open already is of a server that ran while it was written.
    reading = Reading(is_one_life=descriptor is not None)
    with LogFile(log, source.title, descriptor) as file:
        sample = _Sample(file.blocks())
        events = steady(source.events(iter(sample), reading), reading)
        first = next((event for event in events if event.connection not in told.ignored_connections), None)
        if first is None:
            raise _holds_nothing(source, log, reading, sample.begin, reading.left_out)
        header = Header(
            told.source or source.name,
            told.server_version or reading.server_version,
            told.flavour or reading.flavour,
            first.start_microseconds if is_moment(first.start_microseconds) else None,
            reading.resolution_microseconds,
            told.note,
        )
        with WorkloadWriter(output, header) as writer:
            keep(writer, chain((first,), events), reading, told)
            if not writer.statements:
                raise _holds_nothing(source, log, reading, sample.begin, writer.left_out)
            writer.note.update({**told.later, **_partly(writer, told.counted)})
            writer.note.update(_oddities(reading, file, header.flavour))
    return Recorded(output, header, writer.totals)


def keep(writer: WorkloadWriter, events: Iterator[Event], reading: Reading, told: Told = NOTHING_TOLD) -> None:
    """Write what may be replayed, and leave out the rest by name, with what was left out while it was read."""
    end = writer.ended_at_microseconds or 0
    prepared, cache = Prepared(writer.header.source), may_cache(writer.header.flavour, writer.header.server_version)
    for event in events:
        if event.connection in told.ignored_connections:
            writer.leave_out(OUR_OWN)
            continue
        each = (event,) if b";" not in event.statement else apart(event)
        if each is None:
            writer.leave_out(SEVERAL)
            continue
        for one in each:
            # What is left out of what connections prepare, and hold in variables, is to be known whatever the reason is.
            unprepared = prepared.refused(one)
            reason = refused(one.statement) or unprepared
            if reason is not None:
                writer.leave_out(reason)
            elif writer.write(with_believed_rows(one, cache)):
                end = max(end, event.start_microseconds + (event.duration_microseconds or 0))
    writer.ended_at_microseconds = min(end, LAST_MOMENT - 1) or None
    writer.left_out.update(reading.left_out)


def reasons_in_words(left_out: Mapping[str, int]) -> str:
    """What was left out, by reason."""
    return ", ".join(f"{count(number)} ({reason})" for reason, number in left_out.items())


def _partly(writer: WorkloadWriter, counted: int | None) -> Mapping[str, str]:
    """That it has less than half of what the server counted; nothing where it has more, or that is not known."""
    seen = writer.statements + sum(writer.left_out.values())
    if counted is None or seen >= FEWEST_SEEN_SHARE * counted:
        return {}
    return {
        PARTLY: f"{count(seen)} of {so_many(counted, 'statement')} that the server counted: what connections sent that were there before is not in it"
    }


def _oddities(reading: Reading, file: LogFile, flavour: str) -> Mapping[str, str]:
    odd = {}
    if reading.sampled > 1:
        odd[SAMPLED] = f"one in {reading.sampled} (log_slow_rate_limit): the others are not in the log"
    # While we record, the server is told to leave out none.
    if (
        not reading.is_one_life
        and reading.timed >= _ENOUGH_TIMED
        and reading.shortest_microseconds > _LONG_MICROSECONDS
    ):
        odd[SLOW_ALONE] = (
            f"the shortest of {reading.timed} statements took {reading.shortest_microseconds / 1000:.1f} ms: long_query_time was probably not 0 "
            "while the log was written, and what took less is not in it"
        )
    # MySQL writes the CALL alone; so does MariaDB, unless log_disabled_statements is without sp.
    if reading.calls and flavour in ("", "mariadb"):
        odd["calls"] = (
            f"{reading.calls} calls of procedures: where log_disabled_statements was without sp, what they run is in the log too, and would be replayed twice"
        )
    if reading.without_connection:
        odd["senders"] = (
            f"of {reading.without_connection} statements the log does not show which connection sent them: they count as one (number 0)"
        )
    if reading.set_back:
        odd["clock"] = (
            f"the log's times went back {so_many(reading.set_back, 'time')}, by up to {duration(reading.furthest_back_microseconds / 1e6)} "
            "(a clock that was set back, or logs in another order than they were written): what comes behind is taken to have followed at once"
        )
    if reading.holes:
        odd["holes"] = f"{reading.holes} stretches of zero bytes in the log: what was written there is lost"
    if file.shrank:
        odd["shrank"] = "the log became shorter while it was read: what was cut off is lost"
    if file.was_moved:
        odd["moved"] = (
            "somebody renamed the log while it was written (as logrotate does): what the server wrote into a new one is not in the recording, and the renamed file is still there"
        )
    if reading.starts > 1:
        why = "its logs were flushed" if reading.is_one_life else "the server was restarted, or its logs were flushed"
        odd["starts"] = f"the log was opened {reading.starts} times: {why}"
    return odd


def _holds_nothing(
    source: LogSource, log: Path, reading: Reading, begin: bytes, left_out: Mapping[str, int]
) -> UserError:
    """Why there is nothing to record in it."""
    if not begin.strip(b"\0"):
        return NothingRecordedError(
            f"the {source.title} {log} holds zero bytes alone: nothing was logged. Give another.", {}
        )
    other = next((other for other in all_sources() if other is not source and other.mark.search(begin)), None)
    if not reading.entries and other is not None:
        option = other.name.replace("_", "-")
        return UserError(f"{log} is not a {source.title}: it looks like a {other.title}. Give it as --{option}.")
    if not reading.entries:
        return NothingRecordedError(
            f"{log} is not a {source.title} of MySQL or MariaDB: it has no entry of such a log. "
            "Give the file that SHOW VARIABLES LIKE '%log_file' names.",
            {},
        )
    reasons = reasons_in_words(left_out) or "all our own"
    return NothingRecordedError(
        f"the {source.title} {log} holds no statement: of its {reading.entries} entries were left out: {reasons}.",
        left_out,
    )


class _Sample:
    """The parts of a log, whose first one is kept."""

    def __init__(self, blocks: Iterator[bytes]) -> None:
        self._blocks = blocks
        self.begin = b""

    def __iter__(self) -> Iterator[bytes]:
        for block in self._blocks:
            if not self.begin.strip(b"\0"):
                self.begin = block[:_SAMPLE_BYTES]
            yield block
