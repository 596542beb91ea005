"""The process that removes what a recorder has defined: when the recorder ends, and not before."""

import os
import signal
import time
from pathlib import Path

from myisam_advisor.workload.probing.definitions import Definitions
from myisam_advisor.workload.probing.keeper import Keeper


class Removing(Definitions):
    """Leaves a sign."""

    def __init__(self, sign: Path) -> None:
        self.sign = sign

    def remove(self, patience_seconds: float = 0.0) -> bool:
        """Leave it."""
        self.sign.touch()
        return True


def test_it_removes_at_the_end(tmp_path: Path) -> None:
    sign = tmp_path / "removed"
    with Keeper(Removing(sign)):
        time.sleep(0.05)
        assert not sign.exists()
    assert sign.exists()


def test_it_removes_after_a_kill(tmp_path: Path) -> None:
    sign = tmp_path / "removed"
    child = os.fork()
    if not child:
        with Keeper(Removing(sign)):
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    deadline = time.monotonic() + 20
    while not sign.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert sign.exists()
