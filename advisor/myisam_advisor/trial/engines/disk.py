"""What a flush to disk takes where the trial runs: it is what a durable commit waits for."""

from __future__ import annotations

import os
import statistics
import time
from pathlib import Path

FLUSHES, BYTES = 20, 4096


def flush_seconds(folder: Path) -> float | None:
    """The median of a few; None where the disk takes none."""
    path = folder / "flush"
    timings = []
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            for _ in range(FLUSHES):
                os.write(descriptor, bytes(BYTES))
                began = time.monotonic()
                os.fdatasync(descriptor)
                timings.append(time.monotonic() - began)
        finally:
            os.close(descriptor)
            path.unlink()
    except OSError:
        return None
    return statistics.median(timings)
