"""As whom the service runs, and the words that make somebody it."""

import os
import subprocess
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from myisam_advisor.rights import looking
from myisam_advisor.rights.looking import Identity, daemon_words, identity_of, look_as, words_before
from myisam_advisor.rights.service import SERVICE, Service
from myisam_exporter.errors import UserError

STOPPED = Service(SERVICE, "root", "", (), ("cap_fowner",), None, None)
STATUS = """Name:\tmyisam-advisor
Uid:\t997\t998\t998\t998
Gid:\t995\t996\t996\t996
Groups:\t111 112{blank}
CapEff:\t0000000000080004
"""


def process(proc: Path, status: str = STATUS, command: bytes = b"") -> Service:
    folder = proc / "12"
    if not folder.exists():
        (folder / "ns").mkdir(parents=True)
        (folder / "ns" / "user").symlink_to("/proc/self/ns/user")
    (folder / "status").write_text(status.format(blank=" "))
    (folder / "cmdline").write_bytes(command)
    return replace(STOPPED, process=12)


def test_a_running_one_is_what_its_process_is(tmp_path: Path) -> None:
    assert identity_of(process(tmp_path), tmp_path) == Identity(998, 996, (111, 112), ("cap_2", "cap_19"), 12)


def test_a_stopped_one_is_what_its_unit_says(tmp_path: Path) -> None:
    assert identity_of(STOPPED, tmp_path) == Identity(0, 0, (), ("cap_fowner",), None)
    assert identity_of(replace(STOPPED, user="", group="0", groups=("root",)), tmp_path).groups == (0,)


@pytest.mark.parametrize("status", ["", "Uid:\t1\n", "Uid:\tx x\nGid:\t1 1\nGroups:\t\nCapEff:\tz\n"])
def test_a_process_that_has_just_ended_counts_as_stopped(tmp_path: Path, status: str) -> None:
    assert identity_of(process(tmp_path, status), tmp_path) == identity_of(STOPPED, tmp_path)
    assert identity_of(replace(STOPPED, process=99), tmp_path) == identity_of(STOPPED, tmp_path)


@pytest.mark.parametrize("user", ["no-such-user", "4000000000", "99999999999999999999", "a b"])
def test_a_user_that_there_is_not_is_named_with_the_remedy(user: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"{user}.*no such user.*systemd-sysusers"):
        identity_of(replace(STOPPED, user=user), tmp_path)


def test_a_group_that_there_is_not_too(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no-such-group"):
        identity_of(replace(STOPPED, groups=("no-such-group",)), tmp_path)


def test_the_words() -> None:
    words = words_before(Identity(998, 996, (), (), None), {})
    assert words[0] == "setpriv"
    assert {"--reuid=998", "--regid=996", "--clear-groups", "--bounding-set=-all", "--ambient-caps=-all", "--no-new-privs"} <= set(words)
    entering = words_before(Identity(998, 996, (5, 6), ("cap_2",), 77), {"mnt": 7, "net": 8})
    assert entering[:4] == ["nsenter", "--mount=/proc/self/fd/7", "--net=/proc/self/fd/8", "--"]
    assert "--inh-caps=-all,+dac_read_search" in words_before(Identity(998, 996, (), ("cap_dac_read_search",), None), {})
    assert {"--groups=5,6", "--bounding-set=-all,+cap_2", "--ambient-caps=-all,+cap_2"} <= set(entering)


def test_its_capabilities_in_words() -> None:
    told = [Identity(0, 0, (), tuple(f"cap_{bit}" for bit in bits)).told() for bits in ((), (2, 19), (40,), range(41))]
    assert told == ["none", "CAP_DAC_READ_SEARCH, CAP_SYS_PTRACE", "CAP_40", "all"]


def test_the_daemons_own_words(tmp_path: Path) -> None:
    command = b"/usr/bin/python3\0/usr/bin/myisam-advisor\0serve\0--defaults-file\0/run/credentials/x/client.cnf\0"
    assert daemon_words(process(tmp_path, command=command), tmp_path) == ("--defaults-file", "/run/credentials/x/client.cnf")
    assert daemon_words(process(tmp_path, command=b"python3\0"), tmp_path) == ()
    assert daemon_words(STOPPED, tmp_path) == ()


def test_a_server_that_cannot_be_reached_is_a_document_too(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may set capabilities")
    found = look_as(Identity(0, 0, (), (), None), [f"--socket={tmp_path}/none.sock"], None)
    assert "does not exist" in found["error"]


def test_who_cannot_run_the_program_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root may set capabilities")
    monkeypatch.setattr("sys.executable", "/nonexistent/python3")
    with pytest.raises(UserError, match=r"could not be found out: .*/nonexistent/python3.*install it where everybody may read it"):
        look_as(Identity(0, 0, (), (), None), [], None)


@pytest.fixture
def another() -> Iterator[int]:
    """A process with users and mounts of its own, where it is root and decides what a program's name leads to."""
    with subprocess.Popen(["unshare", "--map-root-user", "--mount", "sh", "-c", "echo begun; exec sleep 60"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if process.stdout.readline() != b"begun\n":
            pytest.skip("no user namespaces here")
        yield process.pid
        process.kill()


def test_what_a_process_is_among_users_of_its_own_is_not_believed(another: int) -> None:
    with pytest.raises(UserError, match="users of its own"):
        identity_of(replace(STOPPED, process=another))


def test_mounts_that_somebody_else_made_are_not_entered(another: int) -> None:
    with pytest.raises(UserError, match="somebody else made"):
        look_as(Identity(65534, 65534, (), (), another), (), None)


def test_who_keeps_the_pipe_open_keeps_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looking, "LOOK_SECONDS", 0.5)
    monkeypatch.setattr(looking, "words_before", lambda identity, namespaces: ["sh", "-c", "sleep 20 & exec sleep 20", "--"])
    started = time.monotonic()
    with pytest.raises(UserError, match="could not be found out"):
        look_as(Identity(0, 0, (), (), None), (), None)
    assert time.monotonic() - started < 10
