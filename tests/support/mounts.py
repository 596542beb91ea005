"""File systems that tests mount: they go with the test, and with its process where that is killed."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

# The pipe's other end is the test's. Lazily: what a killed test started may still use it. No command line names the place: tests of what others
# leave look for such.
UNMOUNTER = """
trap '' INT TERM HUP
read -r _
exec umount --lazy -- "$PLACE"
"""


@contextmanager
def mounted(place: Path, *words: str) -> Iterator[Path]:
    """A file system at an empty directory, by these words for mount(8): type, options, what is mounted. Skips the test where none can be."""
    # It waits before anything is mounted: a kill in between would leave that for ever.
    unmounter = subprocess.Popen(["/bin/sh", "-c", UNMOUNTER], env={**os.environ, "PLACE": str(place)}, stdin=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, text=True)
    done = subprocess.run(["mount", *words, str(place)], capture_output=True, text=True, check=False)
    if done.returncode:
        unmounter.kill()
        unmounter.communicate()
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    try:
        yield place
    finally:
        _, said = unmounter.communicate()
        assert unmounter.returncode == 0, said
