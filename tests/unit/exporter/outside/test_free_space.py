"""Free space: of a file system that tells it, and of one that does not."""

import os
from pathlib import Path

import pytest

from myisam_advisor.trial.private.machine import expect_room
from myisam_advisor.workload.file_writer import expect_place
from myisam_exporter.outside.free_space import free_bytes_at, is_read_only_at
from tests.support.mounts import mounted


def test_free_is_what_an_unprivileged_program_may_write(tmp_path: Path) -> None:
    status = os.statvfs(tmp_path)
    assert free_bytes_at(tmp_path) == pytest.approx(status.f_bavail * status.f_frsize, rel=0.05)


def test_zeros_of_a_file_system_without_a_size_are_no_full_disk(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=0", "myisam-advisor-test"):
        assert free_bytes_at(tmp_path) is None
        expect_place(tmp_path / "recorded")
        expect_room(tmp_path, 1 << 40, 0)


def test_a_file_system_that_is_read_only_for_all_is_told(tmp_path: Path) -> None:
    assert not is_read_only_at(tmp_path, Path("/proc"))
    with mounted(tmp_path, "-t", "tmpfs", "-o", "ro", "myisam-advisor-test"):
        assert is_read_only_at(tmp_path, Path("/proc"))


def test_a_mount_that_is_read_only_for_us_alone_is_not(tmp_path: Path) -> None:
    """As ProtectSystem= makes it for a daemon."""
    whole, ours = tmp_path / "whole", tmp_path / "ours"
    whole.mkdir()
    ours.mkdir()
    with mounted(whole, "-t", "tmpfs", "-o", "rw", "myisam-advisor-test"), mounted(ours, "-o", "bind,ro", str(whole)):
        assert os.statvfs(ours).f_flag & os.ST_RDONLY
        assert is_read_only_at(ours, Path("/proc")) is False


@pytest.mark.parametrize(("options", "expected"), [("rw,errors=remount-ro", False), ("rw,errors=remount-ro,emergency_ro", True), ("ro,errors=remount-ro", True)])
def test_what_ext4_says_after_an_error(tmp_path: Path, options: str, expected: bool) -> None:
    device = tmp_path.stat().st_dev
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "mountinfo").write_text(f"1 0 0:99 / / rw - tmpfs none ro\n42 27 {os.major(device)}:{os.minor(device)} / /data rw,relatime - ext4 /dev/sda1 {options}\n")
    assert is_read_only_at(tmp_path, tmp_path) is expected
    assert is_read_only_at(tmp_path, tmp_path / "nothing") is None


def test_a_device_that_no_mount_is_told_with_is_found_by_the_mounts_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As subvolumes of btrfs have them."""
    with mounted(tmp_path, "-t", "tmpfs", "-o", "ro", "myisam-advisor-test"):
        monkeypatch.setattr(Path, "stat", lambda _self, **_words: os.stat_result((0, 0, os.makedev(7, 77_777), 0, 0, 0, 0, 0, 0, 0)))
        assert is_read_only_at(tmp_path, Path("/proc"))
