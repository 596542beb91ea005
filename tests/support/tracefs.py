"""The kernel's tracepoints, where the machine that tests run on has not mounted them."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_exporter.kernel import tracepoints


@contextmanager
def tracepoints_below(folder: Path) -> Iterator[None]:
    """Mounted there for a while, and looked for there; skips a test where that is not allowed."""
    if any((root / "events").is_dir() for root in tracepoints.TRACEFS):
        yield
        return
    place = folder / "tracing"
    place.mkdir()
    done = subprocess.run(["mount", "-t", "tracefs", "none", str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"no tracefs can be mounted here: {done.stderr.strip()}")
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(tracepoints, "TRACEFS", (place,))
            yield
    finally:
        subprocess.run(["umount", str(place)], check=True)
