"""An end for what may hang: a server, a statement, an adviser of somebody else."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from myisam_advisor.errors import TrialError


class _TimeOverError(BaseException):
    """No adviser's failure: whoever asks the advisers catches those."""


@contextlib.contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raises TrialError where what is inside takes longer; for the main thread. Without an end where the seconds are infinite."""
    if seconds == float("inf"):
        yield
        return

    def over(_signal: int, _frame: FrameType | None) -> None:
        raise _TimeOverError

    before = signal.signal(signal.SIGALRM, over)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))
    try:
        yield
    except _TimeOverError:
        raise TrialError(
            f"it was ended after {seconds:.0f} s, which is what it had: the next run goes on with it."
        ) from None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
