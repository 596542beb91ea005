"""So many a second, and so many at once."""

from __future__ import annotations

import time


class TokenBucket:
    """Tokens that come back with time; not thread-safe."""

    def __init__(self, per_second: float, burst: int) -> None:
        self._per_second, self._burst = per_second, burst
        self._tokens, self._refilled = float(burst), time.monotonic()

    def take(self) -> bool:
        """Take a token; False when there is none."""
        now = time.monotonic()
        self._tokens = min(self._burst, self._tokens + (now - self._refilled) * self._per_second)
        self._refilled = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    @property
    def seconds_until_next(self) -> float:
        """How long it takes until there is one."""
        return max(0.0, (1 - self._tokens) / self._per_second - (time.monotonic() - self._refilled))
