"""A recording of the running server as commands make it: what it does is said first, and somebody agrees."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions
from myisam_advisor.cli.progress import recording_progress
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


def expect_somebody_to_ask(is_sure: bool) -> None:
    """Raises UserError where nobody said --yes, and nobody can be asked."""
    if not is_sure and not (sys.stdin is not None and sys.stdin.isatty()):
        raise UserError(NOBODY_ASKED)


def record_watched_source(name: str, output: Path, seconds: float, server: ServerOptions) -> Recorded:
    """Record what the server keeps by itself, for so long: nothing of it is changed. Raises UserError."""
    from myisam_advisor.workload.watching import live_source_named, record_watched
    from myisam_exporter.server.session import Session

    with Session(server.target(), server.timeout_seconds) as session:
        return record_watched(live_source_named(name), session, output, seconds)


def record_probed(output: Path, seconds: float, server: ServerOptions) -> Recorded:
    """Record by a probe of the kernel's, for so long: nothing of the server is changed. Raises UserError."""
    from myisam_advisor.workload.probing.capture import Probing

    with Probing(server.target(), server.timeout_seconds, seconds, output) as probing:
        prospect = probing.prospect()
        for sentence in prospect.sentences():
            click.echo(sentence, err=True)
        with recording_progress(seconds) as tick:
            return probing.record(prospect, lambda: click.echo("It has begun.", err=True), tick)


def record_live(output: Path, seconds: float, maximum_rate: int, is_sure: bool, server: ServerOptions) -> Recorded:
    """Record for so long into this file, once it was agreed to. Raises UserError, and click's Abort."""
    from myisam_advisor.workload.live import LiveRecording

    with LiveRecording(server.target(), server.timeout_seconds, seconds, maximum_rate) as recording:
        prospect = recording.prospect()
        for sentence in prospect.sentences():
            click.echo(sentence, err=True)
        if not is_sure:
            click.confirm("Do it?", abort=True, err=True)
        with recording_progress(seconds) as tick:
            return recording.record(output, prospect, tick)
