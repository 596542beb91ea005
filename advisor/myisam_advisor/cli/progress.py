"""Waiting with something to look at: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

from myisam_exporter.look.live import observe_quietly

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
