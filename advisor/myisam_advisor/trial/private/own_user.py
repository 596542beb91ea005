"""The user that a trial of root's runs as: a number that nobody else has, and nobody else runs under.

The program of a watched server is not trusted, and `nobody` is shared by services that know nothing of each other. So a number is drawn
from ranges that neither Debian nor systemd gives to anybody, is looked for among users, groups, subordinate ranges and running processes,
and is locked for the length of the trial. It needs no entry anywhere. When the trial ends, every process that has it is killed.

Sources: systemd's UIDS-GIDS (ranges), Debian Policy 9.2.2, subuid(5), user_namespaces(7) (uid_map), credentials(7), kill(2), prctl(2), capset(2).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import grp
import os
import pwd
import random
import resource
import signal
import socket
import struct
import time
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.outside.bounded_reading import bounded_bytes, bounded_text

# Above containers' ranges and what directory services hand out; below, for a container that maps 65,536 users, between systemd's own.
RANGES = (range(2_100_000_000, 2_100_065_536), range(60_706, 61_184))
DRAWS_IN_A_RANGE = 64
# An abstract socket (unix(7)): it leaves no file behind, and is gone with the last process that holds it.
LOCK_NAME = "\0myisam-advisor-trial-user-{number}"
END_SECONDS = 10.0
PROC, ETC = Path("/proc"), Path("/etc")
LIKELIEST = "1000"  # proc(5)
OVER = ("Z", "X")  # states of a process that runs no more: proc(5)
PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS = 1, 4, 38  # linux/prctl.h
# linux/capability.h: version 3, and two times effective, permitted, inheritable.
CAPABILITY_VERSION, CAPABILITY_SETS_BYTES = 0x20080522, 24
_LIBRARY = ctypes.CDLL(None, use_errno=True)


class PowerError(RuntimeError):
    """The process could not give up root's power; nothing may go on in it."""


@dataclass(frozen=True, slots=True)
class OwnUser:
    """A user and group of the same number, held for as long as any process has the lock."""

    number: int
    lock: socket.socket = field(repr=False, compare=False)


def choose() -> OwnUser:
    """A number that nobody has, locked. Raises TrialError where there is none."""
    forbidden = _subordinate() + _processes_numbers()
    for numbers in RANGES:
        for number in random.SystemRandom().sample(numbers, DRAWS_IN_A_RANGE):
            if _is_mapped(number) and not _is_known(number) and not any(number in taken for taken in forbidden):
                lock = _locked(number)
                if lock is not None:
                    return OwnUser(number, lock)
    raise TrialError(
        "no user number is free that nobody else has: this container maps too few users. Run the trial as an unprivileged user, or on the host."
    )


def become(number: int) -> None:
    """Be this user for good, with no group, capability or way back. Raises PowerError when anything is left of root."""
    os.setgroups([])
    os.setresgid(number, number, number)
    os.setresuid(number, number, number)
    _drop_capabilities()
    expect_powerless(number)
    _prctl(PR_SET_NO_NEW_PRIVS, 1)
    # Other processes of this user, such as the server, may not look into this one or trace it.
    _prctl(PR_SET_DUMPABLE, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _drop_capabilities() -> None:
    """Empty every set: a change of user leaves the inheritable one, which systemd-nspawn and others fill. Ambient ones go with it: capabilities(7)."""
    header = struct.pack("=Ii", CAPABILITY_VERSION, 0)
    if _LIBRARY.capset(header, bytes(CAPABILITY_SETS_BYTES)) != 0:
        raise PowerError(f"capset failed: {os.strerror(ctypes.get_errno())}.")


def be_ended_first() -> None:
    """Where memory runs out the kernel ends the largest process, which is the watched server; now it is one of ours and of those that we start: proc(5), oom_score_adj.

    What a recorded session sets (max_heap_table_size, sort_buffer_size) may take all memory. Before a change of user, who may not write there.
    """
    with contextlib.suppress(OSError):
        (PROC / "self" / "oom_score_adj").write_text(LIKELIEST, "ascii")


def die_with(parent: int) -> None:
    """Be killed when the parent ends; at once if it did already. A change of user clears this: call it afterwards."""
    _prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def expect_powerless(number: int) -> None:
    """Raises PowerError unless this process is that user in every respect, and has no capability (securebits may keep them)."""
    is_user = os.getresuid() == (number,) * 3 and os.getresgid() == (number,) * 3 and os.getgroups() == []
    status = bounded_text(PROC / "thread-self/status").splitlines()
    capabilities = [line.split()[1] for line in status if line.startswith(("CapInh:", "CapPrm:", "CapEff:", "CapAmb:"))]
    if number == 0 or not is_user or len(capabilities) < 3 or any(int(one, 16) for one in capabilities):
        raise PowerError(f"the process did not become user {number} without any power of root's.")


def end_all(number: int) -> bool:
    """Kill every process of the user; whether none is left."""
    deadline = time.monotonic() + END_SECONDS
    while processes_of(number):
        _kill_as(number)
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def processes_of(number: int) -> list[int]:
    """The processes that run, and have the number as real, effective, saved or file system's user."""
    return [process for process, numbers in _processes() if number in numbers]


def _kill_as(number: int) -> None:
    """As the user itself: kill(2) to all then reaches its processes alone, and all at once, so that none can fork out of its way."""
    child = os.fork()
    if child == 0:
        try:
            become(number)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(child, 0)


def _prctl(option: int, value: int) -> None:
    if _LIBRARY.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        raise PowerError(f"prctl({option}) failed: {os.strerror(ctypes.get_errno())}.")


def _locked(number: int) -> socket.socket | None:
    lock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        lock.bind(LOCK_NAME.format(number=number))
    except OSError as error:
        lock.close()
        if error.errno != errno.EADDRINUSE:
            raise
        return None
    return lock


def _is_known(number: int) -> bool:
    """Whether a user or a group has the number, wherever users come from (nsswitch.conf)."""
    for lookup in (pwd.getpwuid, grp.getgrgid):
        try:
            lookup(number)
        except KeyError:
            continue
        return True
    return False


def _is_mapped(number: int) -> bool:
    """Whether the number exists in our user namespace, as user and as group."""
    for name in ("uid_map", "gid_map"):
        rows = [line.split() for line in bounded_text(PROC / "self" / name).splitlines()]
        if not any(int(row[0]) <= number < int(row[0]) + int(row[2]) for row in rows):
            return False
    return True


def _subordinate() -> list[range]:
    """Numbers that users may hand on to containers: subuid(5), subgid(5)."""
    ranges = []
    for name in ("subuid", "subgid"):
        try:
            lines = (ETC / name).read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        for line in lines:
            parts = line.split(":")
            if len(parts) == 3 and parts[1].isdecimal() and parts[2].isdecimal():
                ranges.append(range(int(parts[1]), int(parts[1]) + int(parts[2])))
    return ranges


def _processes_numbers() -> list[range]:
    return [range(number, number + 1) for _, numbers in _processes(also_ended=True) for number in numbers]


def _processes(*, also_ended: bool = False) -> Iterator[tuple[int, set[int]]]:
    """Each process with the numbers of its users and groups: proc(5)."""
    for name in os.listdir(PROC):
        if not name.isdecimal():
            continue
        try:
            lines = bounded_bytes(PROC / name / "status").splitlines()
        except OSError:
            continue  # ended meanwhile
        rows = {key: words.split() for key, _, words in (line.partition(b":") for line in lines)}
        state = (rows.get(b"State") or [b"?"])[0].decode("ascii", "replace")
        if also_ended or state not in OVER:
            yield int(name), {int(word) for word in rows.get(b"Uid", []) + rows.get(b"Gid", [])}
