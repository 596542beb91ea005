"""Which process on this machine is the server: told by the kernel or by its pid file, and verified by when it started.

A connection by socket tells who listens at its other end (SO_PEERCRED). Where systemd listens in the server's stead (mariadb.socket) that
is systemd; then, and without a socket, @@pid_file names the process, and its start must fit the server's Uptime. Where the pid file may not
be read, it still tells who owns it: the server is the one process of that user and name that started when the server says.

The number in a pid file may be one of another container's, where the server's first process is 1: what is an init here is no server, however old.
"""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.container import in_container
from myisam_exporter.kernel.rights import SHOW_PROCESS
from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.outside.foreign_files import read_small

UPTIME_TOLERANCE_SECONDS = 5.0
# Crash recovery runs before Uptime starts to count: the process may be older than the server says.
STARTUP_TOLERANCE_SECONDS = 3600.0
# proc(5), comm: at most 15 bytes of the program's name.
LISTENERS_FOR_OTHERS = frozenset({"systemd"})
# What a container's number means on its host: a system's first process, and the kernel's own, whose parent is its second.
_INIT, _KERNEL = 1, 2
# proc(5), kernel/pid_max: at most 2^22 on 64 bits.
MAXIMUM_PID = 1 << 22
_NUMBER = re.compile(rb"\s*([0-9]{1,10})\s*")
_NUMBERS = re.compile(r"^NSpid:((?:\s+[0-9]{1,10})+)\s*$", re.MULTILINE)
SERVER_PROGRAMS = frozenset({"mysqld", "mariadbd", "mysqld-debug"})


def server_process(pid_file: Path, uptime_seconds: float | None, peer_pid: int | None, proc: Path) -> int | Unknown:
    """Its number, or why it is not known.

    Args:
        pid_file: the variable pid_file, absolute.
        uptime_seconds: the status variable Uptime.
        peer_pid: the process at the other end of the socket, or None.
        proc: where /proc is.
    """
    if peer_pid is not None and program_of(peer_pid, proc) not in LISTENERS_FOR_OTHERS:
        return peer_pid
    named = read_pid(pid_file)
    if isinstance(named, Unknown):
        found = _only_process_of_owner(pid_file, uptime_seconds, proc)
        return named if found is None else found
    started = _process_age_seconds(named, proc)
    if started is None:
        return Unknown(
            f"process {named} (from {pid_file}) is not visible here: the server may run in a container",
            SHOW_PROCESS,
        )
    program = program_of(named, proc)
    if named == os.getpid() or (program not in SERVER_PROGRAMS and (in_container() or _is_of_system(named, proc))):
        # In a container of its own the first process is ours, or its init, and may be as old as the server whose file says 1. On a host servers have
        # other names too (mysqld.bin, a loader's), but no server is the host's init, or a thread of the kernel's.
        return Unknown(
            f"process {named} (from {pid_file}) is {program or 'unknown'} here, and no server: the server may run in a container",
            SHOW_PROCESS,
        )
    if not _fits(started, uptime_seconds):
        return Unknown(
            f"process {named} (from {pid_file}) started at another time than the server: it is not the server's",
            SHOW_PROCESS,
        )
    return named


def read_pid(pid_file: Path) -> int | Unknown:
    """The number in a pid file, or why there is none."""
    try:
        text = read_small(pid_file)
    except FileNotFoundError:
        return Unknown(
            f"the pid file {pid_file} does not exist here: the server may run in a container",
            f"{SHOW_PROCESS}, or connect by socket",
        )
    except OSError as error:
        return Unknown(
            f"the pid file {pid_file} cannot be read ({error.strerror})",
            f"let this user read {pid_file}, or connect by socket",
        )
    number = _NUMBER.fullmatch(text)
    pid = int(number[1]) if number else 0
    return (
        pid if 0 < pid <= MAXIMUM_PID else Unknown(f"the pid file {pid_file} holds no process id", "connect by socket")
    )


def _only_process_of_owner(pid_file: Path, uptime_seconds: float | None, proc: Path) -> int | None:
    """The one process of the pid file's owner that is a server and started when this one did; None when there are none or more."""
    try:
        owner = pid_file.lstat().st_uid
    except (OSError, ValueError):
        return None
    candidates = [pid for pid in server_processes(uptime_seconds, proc) if process_owner(pid, proc) == owner]
    return candidates[0] if len(candidates) == 1 else None


def server_processes(uptime_seconds: float | None, proc: Path) -> list[int]:
    """The processes of this machine that run a server's program and started when this server did, whoever's they are; the nearest in age first."""
    try:
        entries = [int(name) for name in os.listdir(proc) if name.isascii() and name.isdigit()]
    except OSError:
        return []
    ages = {pid: _process_age_seconds(pid, proc) for pid in entries if program_of(pid, proc) in SERVER_PROGRAMS}
    fitting = [
        (abs(age - (uptime_seconds or 0.0)), pid)
        for pid, age in ages.items()
        if age is not None and _fits(age, uptime_seconds)
    ]
    return [pid for _, pid in sorted(fitting)]


def _fits(age_seconds: float, uptime_seconds: float | None) -> bool:
    return (
        uptime_seconds is not None
        and -UPTIME_TOLERANCE_SECONDS <= age_seconds - uptime_seconds <= STARTUP_TOLERANCE_SECONDS
    )


def program_of(pid: int, proc: Path) -> str:
    """The name of its program, as the kernel has it; empty when there is no such process."""
    try:
        return bounded_text(proc / str(pid) / "comm", "utf-8").strip()
    except OSError:
        return ""


def _is_of_system(pid: int, proc: Path) -> bool:
    """The first process of all, who listens for others, and threads of the kernel's: proc(5), field 4 of stat is the parent."""
    if pid in (_INIT, _KERNEL) or program_of(pid, proc) in LISTENERS_FOR_OTHERS:
        return True
    return _stat_field(pid, 4, proc) == _KERNEL


def process_owner(pid: int, proc: Path) -> int | None:
    """The user it runs as (proc(5): the effective one, of /proc/PID itself whatever it may dump); None when there is no such process."""
    try:
        return (proc / str(pid)).stat().st_uid
    except OSError:
        return None


def process_numbers(pid: int, proc: Path) -> frozenset[int]:
    """All its numbers: in a container a server writes that of its own into the pid file (proc(5): NSpid, since Linux 4.1)."""
    try:
        found = _NUMBERS.search(bounded_text(proc / str(pid) / "status"))
    except OSError:
        found = None
    return frozenset({pid, *map(int, found[1].split())} if found else {pid})


def _process_age_seconds(pid: int, proc: Path) -> float | None:
    """Seconds since the process started, or None when there is none: proc(5), field 22 of stat, in clock ticks since boot."""
    ticks = _stat_field(pid, 22, proc)
    return None if ticks is None else time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")


def _stat_field(pid: int, number: int, proc: Path) -> int | None:
    """A number of proc(5)'s stat; the second field is the program's name, which may hold anything."""
    try:
        return int(bounded_text(proc / str(pid) / "stat").rpartition(")")[2].split()[number - 3])
    except (OSError, ValueError, IndexError):
        return None
