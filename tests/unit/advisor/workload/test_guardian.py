"""The process that gives settings back, as the recorder sees it where it is slow to go, or to come."""

import os
import select
import time
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.workload import guardian
from myisam_advisor.workload.guardian import Guardian, GuardianGoneError
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target

TARGET = Target(user="root", socket=Path("/nowhere"))


def test_a_guardian_whose_pipe_is_closed_a_moment_before_it_is_gone_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel closes the files of a process that is killed first: on a slow machine it was said to try still, and nobody gave the settings back."""

    def be_killed(target: Target, timeout_seconds: int, own: tuple[int, int], others: tuple[int, int]) -> None:
        for descriptor in (*own, *others):
            os.close(descriptor)
        time.sleep(0.2)
        os._exit(1)

    monkeypatch.setattr(guardian, "_live", be_killed)
    with pytest.raises(GuardianGoneError):
        Guardian(TARGET, 1).finish()


@pytest.mark.parametrize(("lives", "why"), [(True, "it did not say so within 0 s"), (False, "it ended")])
def test_one_that_is_late_is_not_said_to_have_ended(monkeypatch: pytest.MonkeyPatch, lives: bool, why: str) -> None:
    def wait(target: Target, timeout_seconds: int, own: tuple[int, int], others: tuple[int, int]) -> Any:
        for descriptor in others:
            os.close(descriptor)
        end = time.monotonic() + (2.0 if lives else 0.0)
        while select.select([own[0]], [], [], max(0.0, end - time.monotonic()))[0] and os.read(own[0], 1000):
            pass  # until the recorder's end of the pipe is closed
        os._exit(0)

    monkeypatch.setattr(guardian, "_live", wait)
    monkeypatch.setattr(guardian, "PATIENCE_SECONDS", 0.05 if lives else 5.0)
    watched = Guardian(TARGET, 1)
    with pytest.raises(UserError) as said:
        watched.hold(Path("/nowhere"), 0)
    assert f"is not ready ({why})" in str(said.value)
    monkeypatch.setattr(guardian, "PATIENCE_SECONDS", 5.0)
    with pytest.raises(GuardianGoneError):
        watched.finish()
