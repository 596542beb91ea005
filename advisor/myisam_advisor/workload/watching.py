"""A recording of what a running server keeps of its statements by itself: it is asked again and again, and nothing of it is changed."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from myisam_advisor.texts.templates import duration, percent, so_many
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import Header
from myisam_advisor.workload.file_writer import WorkloadWriter, expect_place
from myisam_advisor.workload.log_settings import flavour_of, present_settings
from myisam_advisor.workload.recording import Recorded, keep, reasons_in_words
from myisam_advisor.workload.sources import live_sources
from myisam_advisor.workload.sources.base import LiveSource, Reading, Watch
from myisam_exporter.errors import UserError
from myisam_exporter.server.session import Session


def live_source_named(name: str) -> LiveSource:
    """What a server keeps, of this name. Raises KeyError where there is none."""
    return {source.name: source for source in live_sources()}[name]


def record_watched(source: LiveSource, session: Session, output: Path, seconds: float) -> Recorded:
    """Ask for so long, and write what was answered. Raises UserError for a server that does not keep it, and where nothing came."""
    expect_place(output)
    reading = Reading(resolution_microseconds=1)
    watch = source.watch(session)
    present = present_settings(session)
    header = Header(
        source.name, session.version.text, flavour_of(present), int(time.time() * 1e6), note=dict(watch.notes())
    )
    with WorkloadWriter(output, header) as writer:
        asking = _Asking(watch, reading, seconds)
        keep(writer, asking.events(), reading)
        if not writer.statements:
            raise UserError(_nothing(source, seconds, writer.left_out))
        writer.note["cost"] = asking.cost()
    return Recorded(output, header, writer.totals)


class _Asking:
    """Polls until the time is over, and measures what that took."""

    def __init__(self, watch: Watch, reading: Reading, seconds: float) -> None:
        self._watch, self._reading, self._seconds = watch, reading, seconds
        self._polls, self._asking, self._begun = 0, 0.0, 0.0

    def events(self) -> Iterator[Event]:
        """What has ended meanwhile."""
        end = time.monotonic() + self._seconds
        self._begun = time.monotonic()
        while (left := end - time.monotonic()) > 0:
            time.sleep(min(self._watch.pause_seconds, left))
            # One that goes on beyond the end is not the last either: what was lost is counted by `finish` alone.
            if time.monotonic() < end:
                yield from self._answered(self._watch.poll)
        yield from self._answered(self._watch.finish)

    def _answered(self, ask: Callable[[Reading], Iterator[Event]]) -> list[Event]:
        """The answer, held, so that writing it is not taken for the server's time: of a ring there is no more than fits into it."""
        begin = time.monotonic()
        events = list(ask(self._reading))
        self._asking += time.monotonic() - begin
        self._polls += 1
        return events

    def cost(self) -> str:
        """What it cost the server at most: one connection, that was busy for so long."""
        return f"{so_many(self._polls, 'question')} kept one connection busy for {percent(self._asking / max(time.monotonic() - self._begun, self._seconds))} of the time"


def _nothing(source: LiveSource, seconds: float, left_out: Mapping[str, int]) -> str:
    reasons = reasons_in_words(left_out)
    return (
        f"nothing was recorded in {duration(seconds)}, and no file was written: {source.title} had no statement of another connection that can be replayed"
        f"{f' (left out: {reasons})' if reasons else ''}. Record for longer (--seconds)."
    )
