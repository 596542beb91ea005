"""A test that hangs ends, by the limits in setup.cfg, and is named: also one whose `finally` waits for what never comes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.repository import ROOT

HANGS = """
import threading, time
def test_before(): pass
def test_that_hangs():
    thread = threading.Thread(target=time.sleep, args=(600,), daemon=True)
    thread.start()
    try:
        time.sleep(600)
    finally:
        thread.join()
"""


@pytest.mark.slow
def test_a_worker_that_hangs_behind_a_failure_is_ended_and_its_test_is_named(tmp_path: Path) -> None:
    test = tmp_path / "test_hanging.py"
    test.write_text(HANGS)
    limits = ("-o", "timeout=1", "-o", "faulthandler_timeout=3")
    words = [sys.executable, "-m", "pytest", "-c", str(ROOT / "setup.cfg"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "-n", "1", *limits, str(test)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False)
    assert "crashed while running 'test_hanging.py::test_that_hangs'" in done.stdout, done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
