"""The ways to record a running server: the one that is named, or (`--from auto`) one after the other, until one is possible; what each loses is said.

What a way does is said first, and somebody agrees where it changes settings. Only what was not begun is passed over: a recording that
fails on its way ends with its own message.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions
from myisam_advisor.cli.progress import recording_progress
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_advisor.workload.recording import Recorded

MAXIMUM_SECONDS = 3600.0
# Statements a second above which nobody records without having said so.
MAXIMUM_RATE = 10_000
NOBODY_ASKED = (
    "recording changes settings of the server, those of its slow log, and gives them back at the end; there is no terminal to ask on: "
    "add --yes, or --from probe, which changes none (root)."
)
# What the server keeps by itself, and what the kernel sees, need no change of its settings.
SLOW_LOG, HISTORY, PROBE, AUTO = SOURCES = ("slow-log", "performance-schema", "probe", "auto")
GENERAL_LOG = "general-log"  # of --from auto alone


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


class NotAgreedError(UserError):
    """Somebody was asked, and said no."""


def expect_somebody_to_ask(is_sure: bool) -> None:
    """Raises UserError where nobody said --yes, and nobody can be asked."""
    if not is_sure and not (sys.stdin is not None and sys.stdin.isatty()):
        raise UserError(NOBODY_ASKED)


def record_running(source: str, wanted: Wanted) -> Recorded:
    """Record the running server by this one of SOURCES. Raises UserError where that is not possible, and click's Abort."""
    from myisam_advisor.workload.file_writer import expect_place

    expect_place(wanted.output)
    if source == AUTO:
        return _record_any_way(wanted)
    with ExitStack() as opened:
        try:
            record = WAYS[source].prepared(wanted, opened)
        except NotAgreedError:
            raise click.Abort from None
        return record()


def _record_any_way(wanted: Wanted) -> Recorded:
    """Record by the first way that is possible. Raises UserError where none is, or the recording fails."""
    from myisam_advisor.workload.probing.place import INSTEAD
    from myisam_exporter.server.session import Session

    # A server that lets nobody in is no reason to try another way.
    with Session(wanted.server.target(), wanted.server.timeout_seconds):
        pass
    for way in WAYS.values():
        with ExitStack() as opened:
            try:
                record = way.prepared(wanted, opened)
            except UserError as error:
                # What else there is, is tried at once.
                say(f"Not by {way.title}, which would lose {way.loses}: {str(error).removesuffix(INSTEAD).rstrip()}")
                continue
            say(f"By {way.title}: lost are {way.loses}.")
            return record()
    raise UserError("this server cannot be recorded from here: why is said above, way by way.")


def _probe(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.probing.capture import Probing

    server = wanted.server
    probing = opened.enter_context(Probing(server.target(), server.timeout_seconds, wanted.seconds, wanted.output))
    prospect = probing.prospect()

    def record() -> Recorded:
        for sentence in prospect.sentences():
            say(sentence)
        with recording_progress(wanted.seconds) as tick:
            return probing.record(prospect, lambda: say("It has begun."), tick)

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
        say(sentence)
    if not wanted.is_sure and not click.confirm("Do it?", err=True):
        raise NotAgreedError("you said no.")

    def record() -> Recorded:
        with recording_progress(wanted.seconds) as tick:
            return recording.record(wanted.output, prospect, tick)

    return record


def _general_log(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.own_log import OwnGeneralLog

    log = opened.enter_context(OwnGeneralLog(wanted.server.target(), wanted.server.timeout_seconds))
    return lambda: log.record(wanted.output, wanted.seconds)


def _history(wanted: Wanted, opened: ExitStack) -> Callable[[], Recorded]:
    from myisam_advisor.workload.watching import live_source_named, record_watched
    from myisam_exporter.server.session import Session

    source, server = live_source_named("performance_schema"), wanted.server
    session = opened.enter_context(Session(server.target(), server.timeout_seconds))
    source.watch(session)  # whether it is on
    return lambda: record_watched(source, session, wanted.output, wanted.seconds)


# In the order in which they are tried.
WAYS = {
    PROBE: Way("a probe of the kernel's", "texts of more than 64 KiB, and numbers of rows", _probe),
    SLOW_LOG: Way(
        "the slow log", "statements of connections that are there already, and 6 to 20 % of throughput meanwhile", _slow_log
    ),
    GENERAL_LOG: Way(
        "the general log", "durations, numbers of rows, and default databases of connections that are there already", _general_log
    ),
    HISTORY: Way(
        "performance_schema's history",
        "long texts (1,024 bytes), values of prepared statements, and what is overwritten before it is read",
        _history,
    ),
}  # fmt: skip


def say(sentence: str) -> None:
    """Tell whoever waits, on standard error. Whoever does not read it stops no recording."""
    from myisam_advisor.cli.terminal_lines import fitted
    from myisam_advisor.texts.templates import printable

    with contextlib.suppress(OSError):
        click.echo(fitted(printable(sentence), sys.stderr), err=True)
