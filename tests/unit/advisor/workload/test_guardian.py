"""The process that gives settings back: one recording of a server at a time, and nobody waits for its output."""

import contextlib
import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from myisam_advisor.workload.guardian import Guardian
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target
from tests.support.daemon import wait_for

LEFT_BEHIND = """
import os, signal, time
from myisam_advisor.workload.guardian import Guardian
from myisam_exporter.server.target import Target
guardian = Guardian(Target("root", socket="/nonexistent"), 1)
for _ in range(100):
    if os.readlink(f"/proc/{guardian.process}/fd/1") == "/dev/null":
        break
    time.sleep(0.1)
os.kill(guardian.process, signal.SIGSTOP)
print(guardian.process, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_data_directory_that_another_recording_has_is_not_recorded(tmp_path: Path) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(directory, fcntl.LOCK_EX)
    try:
        with Guardian(Target("root", socket=tmp_path / "none"), 1) as guardian, pytest.raises(UserError, match="another recording of this server is going on"):
            guardian.hold(tmp_path, os.geteuid())
    finally:
        os.close(directory)


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    with Guardian(Target("root", socket=tmp_path / "none"), 1) as guardian, pytest.raises(UserError, match="is not ready"):
        guardian.hold(tmp_path, os.geteuid())
    # It has let go of the directory.
    directory = os.open(tmp_path, os.O_RDONLY)

    def is_free() -> bool:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        return False

    assert wait_for(is_free, 30)
    os.close(directory)


def test_whoever_reads_a_killed_recorders_output_sees_its_end_while_the_guardian_goes_on() -> None:
    done = subprocess.run([sys.executable, "-c", LEFT_BEHIND], capture_output=True, text=True, check=False, timeout=60)
    os.kill(int(done.stdout), 9)
