"""What the kernel refuses is said with its remedy."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from myisam_advisor.workload.probing import kernel
from myisam_advisor.workload.probing.instructions import Assembler, Register
from myisam_exporter.errors import UserError

ASK = """
import os, sys
from contextlib import ExitStack
from myisam_advisor.workload.probing.kernel import made_maps
os.setgroups([]); os.setgid(65534); os.setuid(65534)
made_maps(1 << 20, ExitStack())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_who_has_no_right_is_told_which_one() -> None:
    ended = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=False)
    assert "it needs root (CAP_SYS_ADMIN)" in ended.stderr
    assert "Record with the slow log" in ended.stderr


@pytest.mark.parametrize(
    ("what", "number", "said"),
    [
        ("ring", errno.EINVAL, "the probe's ring: Linux 5.8 is needed, this is "), ("ring", errno.ENOSYS, "CONFIG_BPF_SYSCALL"),
        ("probe", errno.EACCES, "refused the probe: Permission denied; it needs root"), ("probe", errno.ESRCH, "the server has ended"),
        ("program", errno.EACCES, r"the probe's program: Permission denied\. Record"),
    ],
)  # fmt: skip
def test_each_refusal_has_its_sentence(what: str, number: int, said: str) -> None:
    with pytest.raises(UserError, match=said):
        raise kernel.refused(what, number)


def test_a_locked_kernel_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lock = tmp_path / "lockdown"
    lock.write_text("none [integrity] confidentiality\n", "ascii")
    monkeypatch.setattr(kernel, "_LOCKDOWN", lock)
    assert "locked down (integrity)" in str(kernel.refused("probe", errno.EPERM))


@pytest.mark.skipif(os.geteuid() != 0, reason="loads a program")
def test_why_a_program_was_not_taken_is_told_who_looks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    code = Assembler()
    code.load(Register.SECOND, Register.KEPT_D, 0, 8)
    code.leave()
    with pytest.raises(UserError, match="the probe's program"):
        kernel.loaded(code.assembled())
    monkeypatch.setenv("MYISAM_ADVISOR_VERIFIER_LOG", "1")
    with pytest.raises(UserError, match="R9 !read_ok"):
        kernel.loaded(code.assembled())
