"""Errors of the system's in a trial: what is full or fails is said with what to do, and a short time without room ends no server."""

import errno
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private import full_disks
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import RoomWatch, told
from myisam_advisor.trial.trial import as_trial_errors
from tests.support.daemon import wait_for


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_named(number: int) -> None:
    assert told(OSError(number, os.strerror(number), "/x/data/t.MYD")).startswith("the disk of /x/data/t.MYD is full: the trial was given up. Make room there")
    assert told(OSError(number, os.strerror(number))).startswith("the disk of /")


def test_a_disk_that_fails_is_no_riddle() -> None:
    assert told(OSError(errno.EIO, "Input/output error")) == "Input/output error. A disk failed: the kernel's log says which (journalctl -k)."
    assert told(OSError(errno.EACCES, "Permission denied", "/x")) == "Permission denied: /x."


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Something that runs, and is ended at last."""
    running = subprocess.Popen(["sleep", "60"])
    yield running
    running.kill()
    running.wait()


@pytest.mark.parametrize(
    ("size", "free", "ends"), [(9999, [0] * 1000, True), (9999, [0, 0, 9999] * 300, False), pytest.param(0, [0] * 1000, False, id="no size is told")]
)
def test_a_server_ends_when_there_is_no_room_for_long(
    size: int, free: list[int], ends: bool, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    left = iter(free)
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_blocks=size, f_bavail=next(left), f_frsize=4096))
    monkeypatch.setattr(full_disks, "LOOK_SECONDS", 0.02)
    watch = RoomWatch(Path("/"), process, patience=0.2)
    wait_for(lambda: process.poll() is not None, 10 if ends else 1, 0.02)
    watch.end()
    assert (process.poll() is not None) is watch.is_full is ends


@pytest.mark.parametrize(("said", "ends"), [("Disk is full writing './t.MYD' (OS errno 122 - Disk quota exceeded). Waiting for someone to free space...", True), ("Disk is full writing 'aria_log.00000001' (Errcode: 122 \"Internal (unspecified) error in handler\"). Waiting", True), ("ready for connections", False), (None, False)])  # fmt: skip
def test_a_server_ends_when_its_quota_is_used_up_which_no_free_space_tells(said: str | None, ends: bool, process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    def log() -> str:
        if said is None:
            raise OSError(errno.EAGAIN, "Resource temporarily unavailable")
        return said

    monkeypatch.setattr(full_disks, "LOOK_SECONDS", 0.02)
    watch = RoomWatch(Path("/"), process, patience=0.1, log=log)
    wait_for(lambda: process.poll() is not None, 10 if ends else 1, 0.02)
    watch.end()
    assert (process.poll() is not None) is watch.is_full is ends


@pytest.mark.parametrize("said", ["[ERROR] Got error 28 \"No space left on device\"", "Disk got full writing 'a.b' (Errcode: 28)", "Errcode: 122 \"Disk quota exceeded\""])
def test_what_a_server_says_of_a_full_disk_is_told_as_that(said: str) -> None:
    with pytest.raises(TrialError, match=r"^the disk of .* is full: the trial was given up\."), as_trial_errors():
        raise driver().error(1021, said)
    with pytest.raises(TrialError, match=r"^the private server refused: No such table \(error 1146\)\.$"), as_trial_errors():
        raise driver().error(1146, "No such table")
