"""What helps against a refusal of the system's: a right is given only where one is missing."""

import errno
import os

import pytest

from myisam_advisor.texts.refused_files import DISK_FAILED, remedy_of


@pytest.mark.parametrize(
    ("number", "said"),
    [(errno.ENOSPC, "Make room there."), (errno.EDQUOT, "Make room there."), (errno.EIO, DISK_FAILED), (errno.EROFS, "read-only"), (errno.EACCES, "Run as root."), (errno.EPERM, "Run as root.")],
)
def test_each_refusal_has_its_own_remedy(number: int, said: str) -> None:
    assert said in remedy_of(OSError(number, os.strerror(number)), "Run as root.")
