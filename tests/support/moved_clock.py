"""A clock that tests move: pauses and ages take no time."""

from myisam_exporter.outside.clock import Clock


class MovedClock(Clock):
    """The machine's clock, ahead by what the test moved it: what really takes time takes it here too."""

    def __init__(self) -> None:
        self.ahead_seconds = self.set_seconds = 0.0

    def set(self, seconds: float) -> None:
        """Somebody sets the clock on the wall, as by an NTP step: no time goes by."""
        self.set_seconds += seconds

    def move(self, seconds: float) -> None:
        self.ahead_seconds += seconds

    def time(self) -> float:
        return super().time() + self.ahead_seconds + self.set_seconds

    def monotonic(self) -> float:
        return super().monotonic() + self.ahead_seconds
