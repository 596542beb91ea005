"""A process that removes our probes when the recorder ends, however it ends: it waits for the end of a pipe, which is seen after SIGKILL too."""

from __future__ import annotations

import contextlib
import os
import signal

from myisam_advisor.workload.probing.definitions import Definitions

_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE)
_PATIENCE_SECONDS = 60.0


class Keeper:
    """Make it before anything is opened that keeps an event in use: the process has what is open. Use it as a context manager."""

    def __init__(self, definitions: Definitions) -> None:
        ours, self._pipe = os.pipe()
        self.process = os.fork()
        if not self.process:
            _keep(definitions, ours, self._pipe)
        os.close(ours)

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        os.close(self._pipe)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.process, 0)


def _keep(definitions: Definitions, pipe: int, others: int) -> None:
    """The life of the process: never returns."""
    try:
        os.close(others)
        os.setsid()
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)
        nothing = os.open(os.devnull, os.O_RDWR)
        for descriptor in range(3):
            os.dup2(nothing, descriptor)
        os.read(pipe, 1)
        definitions.remove(_PATIENCE_SECONDS)
    finally:
        os._exit(0)
