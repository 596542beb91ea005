"""Mounts as /proc tells them: of a process with a namespace of its own, with names that somebody chose, and of file systems that turned read only."""

import os
from pathlib import Path

import pytest

from myisam_exporter.kernel.mounts import is_read_only_at, mount_number, mount_under
from myisam_exporter.outside.foreign_files import ForeignFiles
from tests.support.mounts import mounted

ROOT = b"20 1 8:1 / / rw - ext4 /dev/sda1 rw\n"


def device_under(place: str, tmp_path: Path, *lines: bytes) -> str | None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7" / "mountinfo").write_bytes(ROOT + b"".join(line + b" rw - tmpfs none rw\n" for line in lines))
    found = mount_under(place, "7", tmp_path)
    return None if found is None else found.device


@pytest.mark.parametrize(("place", "device"), [("/tmp/a", "0:96"), ("/tmp 3/a", "0:98"), ("/tmp2", "0:99"), ("/tmp22", "8:1"), ("/", "8:1"), ("/caf\udce9", "0:95")])
def test_the_nearest_mount_counts_and_of_several_the_last(tmp_path: Path, place: str, device: str) -> None:
    lines = (b"30 20 0:97 / /tmp", b"31 20 0:96 / /tmp", b"32 20 0:99 / /tmp2", rb"33 20 0:98 / /tmp\0403", b"34 20 0:95 / /caf\xe9")
    assert device_under(place, tmp_path, *lines) == device


@pytest.mark.parametrize("character", ["\r", "\v", "\f", "\x1c", "\x85", "\xa0", "\u2028"])
def test_no_name_of_a_mount_makes_another_of_it(tmp_path: Path, character: str) -> None:
    """Whoever may mount with FUSE chooses the name; the kernel escapes none of these characters."""
    forged = f"30 20 0:66 / /home/u/x{character}40 20 0:66 / /tmp".encode()
    assert device_under("/tmp", tmp_path, forged) == "8:1"


def test_a_name_that_somebody_chose_makes_no_file_system_read_only(tmp_path: Path) -> None:
    status = tmp_path.stat()
    device = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
    (tmp_path / "self").mkdir()
    forged = "\x1f".join(["x\f1", "1", device, "/", "/", "rw", "-", "ext4", "none", "ro\f"])
    (tmp_path / "self" / "mountinfo").write_text(f"30 20 0:66 / /home/u/{forged} rw - fuse none rw\n42 27 {device} / /data rw - ext4 /dev/sda1 rw\n")
    assert is_read_only_at(tmp_path, tmp_path) is False


def test_a_process_that_tells_nothing_has_no_mounts(tmp_path: Path) -> None:
    assert mount_under("/", "7", tmp_path) is None


def test_an_open_directory_lies_in_the_mount_that_is_told_of_it(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "myisam-advisor-test"):
        told = mount_under(os.path.realpath(tmp_path), "self", Path("/proc"))
        descriptor = ForeignFiles.place(tmp_path)
        assert told is not None
        assert told.point == f"{os.path.realpath(tmp_path)}/"
        assert mount_number(descriptor) == told.number
        os.close(descriptor)


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
