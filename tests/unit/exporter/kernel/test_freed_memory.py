"""Memory that was given up goes back to the system."""

import subprocess
import sys
from types import SimpleNamespace

import pytest

from myisam_exporter.kernel import freed_memory

# Blocks below malloc's limit for mmap, of which every hundredth stays: there is nothing at the top that free(3) itself would cut off.
PROGRAM = """
from myisam_exporter.kernel.freed_memory import give_back
import resource
def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
blocks = [bytes(20_000) for _ in range(5000)]
blocks = blocks[::100]
before = resident_bytes()
print(give_back(), before - resident_bytes())
"""


def test_what_lies_between_blocks_that_stay_is_given_back() -> None:
    if freed_memory._malloc_trim() is None:
        pytest.skip("this C library has no malloc_trim")
    done = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True, timeout=60)
    told, given_bytes = done.stdout.split()
    assert told == "True"
    assert int(given_bytes) > 50_000_000, "of the 99 MB"


def test_where_the_library_cannot_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ctypes.CDLL", lambda _: SimpleNamespace())
    freed_memory._malloc_trim.cache_clear()
    try:
        assert not freed_memory.give_back()
    finally:
        freed_memory._malloc_trim.cache_clear()
