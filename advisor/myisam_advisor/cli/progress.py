"""Waiting with something to look at: a bar on a terminal; elsewhere nothing of what takes seconds, and plain lines of what takes minutes."""

from __future__ import annotations

import contextlib
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from myisam_exporter.look.live import observe_quietly

if TYPE_CHECKING:
    from myisam_advisor.trial.listener import Listener

STEP_SECONDS = 0.1
# Steps of a trial may follow each other many times a second; whoever reads a log wants to know that it goes on.
SECONDS_BETWEEN_LINES = 2.0
MAXIMUM_LINES = 200


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
def trial_progress(budget_seconds: float | None, runs: int = 0) -> Iterator[Listener]:
    """What is being done, and how long it still takes at most, on standard error: a bar on a terminal, plain lines elsewhere.

    The bar is that of the budget, of which copying and making tables is no part; without one (None), of so many runs.
    """
    from myisam_advisor.trial.listener import Listener

    if not sys.stderr.isatty():
        yield _in_lines()
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
    from rich.table import Column

    columns = (
        BarColumn(20),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", table_column=Column(no_wrap=True, min_width=len(time_left(0.0)))),
        TextColumn("{task.description}", table_column=Column(no_wrap=True, ratio=1, overflow="ellipsis")),
    )
    # As wide as the terminal: else a long description took the room of the bar and of the time.
    with Progress(*columns, console=Console(stderr=True), transient=True, expand=True) as bar:
        task = bar.add_task("", total=budget_seconds or max(runs, 1), left="")

        class Shown(Listener):
            """Time left is counted down between two words of the trial's process: by each run that ends."""

            ends_at: float | None = None

            def doing(self, what: str) -> None:
                self._count_down()
                bar.update(task, description=escape(what))

            def ran(self) -> None:
                if budget_seconds is None:
                    bar.advance(task)
                self._count_down()

            def left(self, seconds: float | None) -> None:
                self.ends_at = None if seconds is None else time.monotonic() + seconds
                self._count_down()

            def _count_down(self) -> None:
                if self.ends_at is not None and budget_seconds is not None:
                    left = max(self.ends_at - time.monotonic(), 0.0)
                    bar.update(task, completed=budget_seconds - left, left=time_left(left))

        yield Shown()


def _in_lines() -> Listener:
    """Who writes what begins, a line each: not every one of many short steps, and a bounded number of lines."""
    from myisam_advisor.trial.listener import Listener

    class Written(Listener):
        lines, step = 0, ""
        written_at = -math.inf
        ends_at: float | None = None

        def doing(self, what: str) -> None:
            now, step = time.monotonic(), _step(what)
            # The first of another step at once: it may be the one that takes long, and what is over is not what goes on.
            is_soon = step == self.step and now - self.written_at < SECONDS_BETWEEN_LINES
            if self.lines >= MAXIMUM_LINES or is_soon:
                return
            self.lines, self.written_at, self.step = self.lines + 1, now, step
            left = "" if self.ends_at is None else f", {time_left(max(self.ends_at - now, 0.0))}"
            last = " (further steps are not shown)" if self.lines == MAXIMUM_LINES else ""
            # Whoever does not read this does not stop a trial.
            with contextlib.suppress(OSError):
                click.echo(f"trial: {what}{left}{last}", err=True)

        def left(self, seconds: float | None) -> None:
            self.ends_at = None if seconds is None else time.monotonic() + seconds

    return Written()


def _step(what: str) -> str:
    """Which step of a trial it is, of which there may be many: a round, a table to copy."""
    return "round" if "(round " in what else what.partition(" ")[0]


@contextmanager
def recording_progress(seconds: float) -> Iterator[Callable[[float], None]]:
    """What is told the seconds that are left of a recording: from the first time on a bar on a terminal (on standard error); nothing elsewhere."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    # Drawn when it is told, not by a thread: a recording forks.
    columns = (TextColumn("recording"), BarColumn(), TextColumn("{task.fields[left]}"))
    bar = Progress(*columns, console=Console(stderr=True), transient=True, auto_refresh=False)
    task = bar.add_task("", total=seconds, left="")

    def tell(left: float) -> None:
        bar.start()
        bar.update(task, completed=seconds - left, left=time_left(left), refresh=True)

    try:
        yield tell
    finally:
        if bar.live.is_started:
            bar.stop()


def time_left(seconds: float) -> str:
    """An upper limit in words: `at most 3:07 left`."""
    minutes, rest = divmod(round(seconds), 60)
    return f"at most {minutes}:{rest:02} left"
