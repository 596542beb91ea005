"""The kernel's tracepoints, where the machine that tests run on has not mounted them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_exporter.kernel import perf_events
from tests.support.mounts import mounted


@contextmanager
def tracepoints_below(folder: Path) -> Iterator[None]:
    """Mounted there for a while, and looked for there; skips a test where that is not allowed."""
    if any((root / "events").is_dir() for root in perf_events.TRACEFS):
        yield
        return
    place = folder / "tracing"
    place.mkdir()
    with mounted(place, "-t", "tracefs", "none"), pytest.MonkeyPatch.context() as patched:
        patched.setattr(perf_events, "TRACEFS", (place,))
        yield
