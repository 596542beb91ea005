"""What a test mounts goes with it, and where its process is killed, too."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.daemon import wait_for
from tests.support.mounts import mounted


def test_it_goes_with_the_test(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "none"):
        assert tmp_path.is_mount()
    assert not tmp_path.is_mount()


def test_it_goes_with_a_process_that_is_killed(tmp_path: Path) -> None:
    child = os.fork()
    if child == 0:
        try:
            with mounted(tmp_path, "-t", "tmpfs", "none"):
                os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(0)
    _, ended = os.waitpid(child, 0)
    if not os.WIFSIGNALED(ended):
        pytest.skip("no file system can be mounted here")
    assert wait_for(lambda: not tmp_path.is_mount())
