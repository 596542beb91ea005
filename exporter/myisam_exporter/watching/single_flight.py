"""One job for all who ask meanwhile, by a lease that expires: whoever asks after that starts anew, so a hung job blocks nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Hashable
from concurrent.futures import Executor, Future
from dataclasses import field
from typing import Generic, TypeVar

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.clock import CLOCK, Clock

Result = TypeVar("Result")


@dataclass(slots=True)
class SingleFlight(Generic[Result]):
    """Jobs under way, by key. `lease_seconds` is how long one may be joined; no lock is held while it runs."""

    executor: Executor
    lease_seconds: float
    clock: Clock = CLOCK
    _flights: dict[Hashable, tuple[float, Future[Result]]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def join(self, key: Hashable, job: Callable[[], Result]) -> Future[Result]:
        """The running job of that key, or a new one."""
        with self._lock:
            self._forget_ended()
            if key not in self._flights:
                expires = self.clock.monotonic() + self.lease_seconds
                self._flights[key] = (expires, self.executor.submit(job))
            return self._flights[key][1]

    def under_way(self) -> Collection[Hashable]:
        """The keys of the jobs that can be joined now."""
        with self._lock:
            self._forget_ended()
            return set(self._flights)

    def _forget_ended(self) -> None:
        now = self.clock.monotonic()
        self._flights = {
            key: (expires, flight)
            for key, (expires, flight) in self._flights.items()
            if now < expires and not flight.done()
        }
