"""What a comparison before and after a change still lacks: how many samples, and from when on there are enough."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from itertools import pairwise

from myisam_advisor.history.verification import MINIMUM_SAMPLES, MeasureOutcome, Window
from myisam_advisor.texts.moments import moment_in_words
from myisam_advisor.texts.templates import duration

MINUTE_SECONDS = 60
EVER = (-math.inf, math.inf)


def has_enough_samples(outcome: MeasureOutcome) -> bool:
    """Whether there are so many on both sides that the ratio has an interval."""
    return min(outcome.samples) >= MINIMUM_SAMPLES


def seconds_between(moments: Sequence[float]) -> float | None:
    """How far apart samples are taken, the usual way; None for fewer than two. Breaks of the daemon's do not count."""
    return statistics.median(later - former for former, later in pairwise(moments)) if len(moments) > 1 else None


def what_is_missing(
    counts: tuple[int, int], moments: Sequence[float], window: Window, now: float, bounds: tuple[float, float] = EVER
) -> str:
    """In sentences: how many samples are wanted, how many there are (`counts`), and what brings the others. Moments in seconds since 1970.

    `bounds` are other changes of the same setting, which end the time before and after.
    """
    said = [
        f"{MINIMUM_SAMPLES} samples before the change and {MINIMUM_SAMPLES} after it are needed; "
        f"there are {counts[0]} and {counts[1]}."
    ]
    period = seconds_between(moments)
    if period is None:
        return f"{said[0]} A daemon (`myisam-advisor serve`) records them."
    changed_before, changed_again = (moment if math.isfinite(moment) else None for moment in bounds)
    if changed_before is not None and counts[0] < MINIMUM_SAMPLES:
        said.append(f"Before the change no more come: the same was changed at {moment_in_words(changed_before, now)}.")
    if changed_again is not None and counts[1] < MINIMUM_SAMPLES:
        return " ".join(
            [*said, f"After it no more come: it was changed again at {moment_in_words(changed_again, now)}."]
        )
    needed_seconds = MINIMUM_SAMPLES * period
    length = window.after_end - window.after_begin
    if length < needed_seconds:
        said.append(
            f"One is recorded every {duration(period)}: --window takes in too few of them, give {_option(needed_seconds)} or more."
        )
    elif counts[0] < MINIMUM_SAMPLES and changed_before is None:
        said.append(
            "Before the change no more come: a longer --window takes in earlier ones, where the daemon ran then."
        )
    ready_at = window.after_begin + needed_seconds
    if counts[1] < MINIMUM_SAMPLES and ready_at > now:
        # The clock on the wall shows minutes: at the one that is named it shall be true.
        whole_minute = math.ceil(ready_at / MINUTE_SECONDS) * MINUTE_SECONDS
        said.append(f"Try again at {moment_in_words(whole_minute, now)}.")
    elif counts[1] < MINIMUM_SAMPLES <= counts[0] and length >= needed_seconds:
        said.append("Since the change the daemon recorded too few: does it run, and does the server answer it?")
    return " ".join(said)


def _option(seconds: float) -> str:
    """As --window takes it."""
    return f"{math.ceil(seconds / MINUTE_SECONDS)}min"
