"""A limit on the whole of something that the library limits only piece by piece: one thread for all of them, asleep unless one is under way."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count


class Deadlines:
    """Calls back when something takes longer than it may, from one thread named `deadlines`, begun with the first limit.

    The condition's lock guards what is pending; nothing is called back while it is held.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._pending: dict[int, tuple[float, Callable[[], None]]] = {}
        self._numbers = count()
        self._thread: threading.Thread | None = None
        self._wakes_at = float("inf")

    @contextmanager
    def limit(self, seconds: float, late: Callable[[], None]) -> Iterator[None]:
        """Call `late`, once and in another thread, when what is inside takes longer than `seconds`.

        Raises RuntimeError where the system gives no thread for that.
        """
        number, deadline = next(self._numbers), time.monotonic() + seconds
        with self._changed:
            if self._thread is None:
                thread = threading.Thread(target=self._watch, name="deadlines", daemon=True)
                thread.start()  # where the system gives none now, the next limit asks again: without one nothing is ever late
                self._thread = thread
            self._pending[number] = (deadline, late)
            if deadline < self._wakes_at:
                self._changed.notify()
        try:
            yield
        finally:
            with self._changed:
                self._pending.pop(number, None)

    def _watch(self) -> None:
        while True:
            for late in self._due():
                late()

    def _due(self) -> list[Callable[[], None]]:
        """What is late, once something is or may be; those are no longer pending."""
        with self._changed:
            now = time.monotonic()
            due = [number for number, (deadline, _) in self._pending.items() if deadline <= now]
            if not due:
                # A limit that was kept leaves its hour here: waking up for nothing once is cheaper than telling the thread each time.
                self._wakes_at = min((deadline for deadline, _ in self._pending.values()), default=float("inf"))
                self._changed.wait(None if self._wakes_at == float("inf") else self._wakes_at - now)
                return []
            return [self._pending.pop(number)[1] for number in due]


# One for the process and not for a target: sessions of a hundred targets, and of a command that knows no fleet, share its thread.
DEADLINES = Deadlines()
