"""The ways to record a running server: the one that is named, or (`--from auto`) one after the other, until one is possible; what each loses is said.

Only what was not begun is passed over: a recording that fails on its way ends with its own message.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions
from myisam_advisor.cli.progress import recording_progress
from myisam_advisor.cli.recording import expect_somebody_to_ask, record_live, record_probed, record_watched_source
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_advisor.workload.recording import Recorded

# What the server keeps by itself, and what the kernel sees, need no change of its settings.
SLOW_LOG, HISTORY, PROBE, AUTO = SOURCES = ("slow-log", "performance-schema", "probe", "auto")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for."""

    output: Path
    seconds: float
    maximum_rate: int
    is_sure: bool
    server: ServerOptions


@dataclass(frozen=True, slots=True)
class Way:
    """A way to record a running server.

    Attributes:
        title: as it is named in a sentence.
        loses: what a recording so does not hold.
        prepared: gets everything ready that may fail, and gives what records; raises UserError where this way is not possible.
    """

    title: str
    loses: str
    prepared: Callable[[Wanted, ExitStack], Callable[[], Recorded]]


def record_running(source: str, wanted: Wanted) -> Recorded:
    """Record the running server by this one of SOURCES. Raises UserError where that is not possible, and click's Abort."""
    from myisam_advisor.workload.file_writer import expect_place

    expect_place(wanted.output)
    if source == AUTO:
        return record_any_way(wanted)
    if source == PROBE:
        return record_probed(wanted.output, wanted.seconds, wanted.server)
    if source == HISTORY:
        return record_watched_source(source.replace("-", "_"), wanted.output, wanted.seconds, wanted.server)
    expect_somebody_to_ask(wanted.is_sure)
    return record_live(wanted.output, wanted.seconds, wanted.maximum_rate, wanted.is_sure, wanted.server)


def record_any_way(wanted: Wanted) -> Recorded:
    """Record by the first way that is possible. Raises UserError where none is, or the recording fails, and click's Abort."""
    from myisam_exporter.server.session import Session

    if os.path.lexists(wanted.output):
        raise UserError(f"{wanted.output} is there already. Give another --output, or remove it.")
    # A server that lets nobody in is no reason to try another way.
    with Session(wanted.server.target(), wanted.server.timeout_seconds):
        pass
    for way in _ways():
        with ExitStack() as opened:
            try:
                record = way.prepared(wanted, opened)
            except UserError as error:
                _say(f"Not by {way.title}, which would lose {way.loses}: {error}")
                continue
            _say(f"By {way.title}: lost are {way.loses}.")
            return record()
    raise UserError("this server cannot be recorded from here: why is said above, way by way.")


def _ways() -> Iterator[Way]:
    yield Way("a probe of the kernel's", "texts of more than 64 KiB, and numbers of rows", _probe)
    yield Way(
        "the slow log",
        "statements of connections that are there already, and 6 to 20 % of throughput meanwhile",
        _slow_log,
    )
    yield Way(
        "the general log",
        "durations, numbers of rows, and default databases of connections that are there already",
        _general_log,
    )
    yield Way("performance_schema's history", "long texts (1,024 bytes), values of prepared statements, and what is overwritten before it is read", _history)  # fmt: skip


def _probe(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.probing.capture import Probing
    from myisam_advisor.workload.probing.place import INSTEAD

    server = wanted.server
    try:
        probing = opened.enter_context(Probing(server.target(), server.timeout_seconds, wanted.seconds, wanted.output))
        prospect = probing.prospect()
    except UserError as error:
        # What else there is, is tried at once.
        raise UserError(str(error).removesuffix(INSTEAD).rstrip()) from None

    def record() -> Recorded:
        for sentence in prospect.sentences():
            _say(sentence)
        with recording_progress(wanted.seconds) as tick:
            return probing.record(prospect, lambda: _say("It has begun."), tick)

    return record


def _slow_log(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.live import LiveRecording

    expect_somebody_to_ask(wanted.is_sure)
    server = wanted.server
    recording = opened.enter_context(
        LiveRecording(server.target(), server.timeout_seconds, wanted.seconds, wanted.maximum_rate)
    )
    prospect = recording.prospect()
    for sentence in prospect.sentences():
        _say(sentence)
    if not wanted.is_sure and not click.confirm("Do it?", err=True):
        raise UserError("you said no.")

    def record() -> Recorded:
        with recording_progress(wanted.seconds) as tick:
            return recording.record(wanted.output, prospect, tick)

    return record


def _general_log(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.own_log import OwnGeneralLog

    log = opened.enter_context(OwnGeneralLog(wanted.server.target(), wanted.server.timeout_seconds))
    return lambda: log.record(wanted.output, wanted.seconds)


def _history(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.watching import live_source_named
    from myisam_exporter.server.session import Session

    name, server = "performance_schema", wanted.server
    session = opened.enter_context(Session(server.target(), server.timeout_seconds))
    # Asked twice: whether it is on, and then by the connection that records.
    live_source_named(name).watch(session)
    return lambda: record_watched_source(name, wanted.output, wanted.seconds, server)


def _say(sentence: str) -> None:
    from myisam_advisor.texts.templates import printable

    print(printable(sentence), file=sys.stderr)
