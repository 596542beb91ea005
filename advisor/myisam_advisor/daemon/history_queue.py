"""Pages that read the history, one after another in a thread of their own: nothing else of the daemon waits behind them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import field
from typing import TypeVar

from myisam_exporter.declaring.lean_dataclasses import dataclass

# A day of samples takes up to a second to read.
WAITING_PAGES = 8
Result = TypeVar("Result")


class HistoryBusyError(Exception):
    """More pages wait for the history than are taken."""


@dataclass(slots=True)
class HistoryQueue:
    """Only for the event loop's thread."""

    _thread: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1, thread_name_prefix="history"))
    _waiting: int = 0

    async def run(self, work: Callable[[], Result]) -> Result:
        """What the work gives, when its turn has come. Raises HistoryBusyError where too much waits already."""
        if self._waiting >= WAITING_PAGES:
            raise HistoryBusyError
        done = asyncio.get_running_loop().run_in_executor(self._thread, work)
        self._waiting += 1
        done.add_done_callback(self._ended)
        # Whoever goes away does not end the work: it has its place until it is done.
        return await asyncio.shield(done)

    def _ended(self, done: asyncio.Future[Result]) -> None:
        self._waiting -= 1
