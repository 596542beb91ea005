"""A kernel, or a filter, that makes no files in memory."""

import errno
import os
from pathlib import Path

import pytest

from myisam_advisor.workload.kinds.probed import ProbeWatch
from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target


def test_without_files_in_memory_there_is_no_probe_and_it_is_said_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_name: str) -> int:
        raise OSError(errno.ENOSYS, "Function not implemented")

    monkeypatch.setattr(os, "memfd_create", refused)
    with pytest.raises(UserError, match=r"no file can be made in memory .*Linux 5\.8"):
        ProbeWatch(Target("root", socket=Path("/nonexistent")), 1)
