"""Free space: of a file system that tells it, and of one that does not."""

import os
from pathlib import Path

import pytest

from myisam_advisor.trial.private.machine import expect_room
from myisam_advisor.workload.file_writer import expect_place
from myisam_exporter.outside.free_space import free_bytes_at
from tests.support.mounts import mounted


def test_free_is_what_an_unprivileged_program_may_write(tmp_path: Path) -> None:
    status = os.statvfs(tmp_path)
    assert free_bytes_at(tmp_path) == pytest.approx(status.f_bavail * status.f_frsize, rel=0.05)


def test_zeros_of_a_file_system_without_a_size_are_no_full_disk(tmp_path: Path) -> None:
    with mounted(tmp_path, "-t", "tmpfs", "-o", "size=0", "myisam-advisor-test"):
        assert free_bytes_at(tmp_path) is None
        expect_place(tmp_path / "recorded")
        expect_room(tmp_path, 1 << 40, 0)
