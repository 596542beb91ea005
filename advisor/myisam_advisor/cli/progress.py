"""Waiting with something to look at: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from myisam_exporter.look.live import observe_quietly

if TYPE_CHECKING:
    from myisam_advisor.trial.listener import Listener

STEP_SECONDS = 0.1


def observe_with_progress(seconds: float, readings: int, read: Callable[[], None]) -> None:
    """`observe_quietly`, with a bar on a terminal (on standard error) that shows how long it still takes."""
    if not sys.stderr.isatty():
        observe_quietly(seconds, readings, read)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("observing the server"), BarColumn(), TimeRemainingColumn(compact=True))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=seconds)
        started, done = time.monotonic(), 0
        while (passed := time.monotonic() - started) < seconds:
            if passed >= done * seconds / readings:
                read()
                done += 1
            progress.update(task, completed=passed)
            time.sleep(min(STEP_SECONDS, seconds - passed))


@contextmanager
def trial_progress(runs: int) -> Iterator[Listener]:
    """What is being done, on a terminal (on standard error); nothing elsewhere."""
    from myisam_advisor.trial.listener import Listener

    if not sys.stderr.isatty():
        yield Listener()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        BarColumn(20),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.description}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=runs)

        class Shown(Listener):
            def doing(self, what: str) -> None:
                bar.update(task, description=escape(what))

            def ran(self) -> None:
                bar.advance(task)

        yield Shown()
