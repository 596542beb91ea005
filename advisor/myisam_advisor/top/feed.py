"""The thread that looks while the screen waits for keys: at its pace, and never for more than a fifth of the time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from myisam_advisor.top.moment import Failure, Moment
from myisam_exporter.errors import UserError

# What a look took, so many times over, is the least pause after it: watching many tables must not become their load.
REST_PER_LOOK = 4.0
GLANCE_SECONDS = 0.5
RETRY_SECONDS = 1.0
# A look that waited for the server cost it nothing meanwhile: after one that hung for 15 s nobody rests for a minute.
LONGEST_REST_SECONDS = 10.0


class Looks(Protocol):
    """Where moments come from: `look` raises UserError when the server does not answer."""

    def look(self) -> Moment:
        """The server now."""

    def glance(self) -> None:
        """A short reading between two looks."""

    def rest(self) -> None:
        """For a while nobody looks."""

    def give_up(self) -> None:
        """End what waits for the server."""


class Feed(threading.Thread):
    """Looks until it is told to end; `wake` is called whenever there is something new to show.

    `last` is the last look that gave something, `failure` why the one after it gave nothing, `fault` an error of ours, which ends the thread.
    """

    def __init__(self, looks: Looks, interval_seconds: float, wake: Callable[[], None]) -> None:
        super().__init__(name="look", daemon=True)
        self.interval_seconds = interval_seconds
        self.last: Moment | None = None
        self.failure: Failure | None = None
        self.fault: BaseException | None = None
        self._looks = looks
        self._wake = wake
        self._going = threading.Event()
        self._going.set()
        self._ended = threading.Event()

    def run(self) -> None:
        """Look, rest, look."""
        try:
            while not self._ended.is_set():
                self._rest(self._look())
        except BaseException as error:
            self.fault = error
            self._wake()

    def pause(self, paused: bool) -> None:
        """Look no more until this is taken back."""
        if paused:
            self._going.clear()
        else:
            self._going.set()

    def end(self) -> None:
        """Stop looking. A look that waits for the server is cut off."""
        self._ended.set()
        self._going.set()
        self._looks.give_up()

    def _look(self) -> float:
        """One look; when the next is due."""
        started = time.monotonic()
        try:
            moment = self._looks.look()
        except UserError as error:
            if self.failure is None or self.failure.why != str(error):
                self.failure = Failure(str(error), time.time() if self.failure is None else self.failure.taken_at)
            self._wake()
            return time.monotonic() + RETRY_SECONDS
        # The first look also loads what the program needs: it tells nothing of the next one's cost.
        took = time.monotonic() - started if self.last is not None else 0.0
        self.last, self.failure = moment, None
        self._wake()
        return max(started + self.interval_seconds, time.monotonic() + min(REST_PER_LOOK * took, LONGEST_REST_SECONDS))

    def _rest(self, due: float) -> None:
        while (rest := due - time.monotonic()) > 0 and not self._ended.is_set():
            self._ended.wait(min(rest, GLANCE_SECONDS))
            self._stand_still()
            if self.failure is None and not self._ended.is_set() and due - time.monotonic() > GLANCE_SECONDS / 2:
                self._looks.glance()
        self._stand_still()

    def _stand_still(self) -> None:
        """For as long as it is paused."""
        if not self._going.is_set():
            self._looks.rest()
            self._going.wait()
