"""Whether a server's process has ended: what it was set to and asked ends with it, what was recorded of it does not."""

from __future__ import annotations

import time
from collections.abc import Callable

ENDED = "the server ended; what one that was started since is asked is not in it"
NOT_COUNTED = "how many meanwhile is not known: our connection was ended before it could ask"
# A server that is killed closes its connections before its process is gone.
_PATIENCE_SECONDS, _PAUSE_SECONDS = 1.0, 0.02


def end_of(pid: int | None) -> Callable[[], bool]:
    """Says whether this process has ended; of one that is not known, never."""
    import psutil

    try:
        process = None if pid is None else psutil.Process(pid)
    except psutil.NoSuchProcess:
        return lambda: True

    def has_ended() -> bool:
        try:
            return process is not None and (not process.is_running() or process.status() == psutil.STATUS_ZOMBIE)
        except psutil.NoSuchProcess:
            return True

    return has_ended


def ends_now(has_ended: Callable[[], bool], patience_seconds: float = _PATIENCE_SECONDS) -> bool:
    """Whether a server that ended our connection has ended itself."""
    until = time.monotonic() + patience_seconds
    while not (ended := has_ended()) and time.monotonic() < until:
        time.sleep(_PAUSE_SECONDS)
    return ended
