"""What a trial takes of the machine: one at a time, politely, and only where there is room."""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import socket
import struct
from collections.abc import Iterator
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import size
from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.outside.free_space import free_bytes_at

NICENESS = 10
# An abstract socket (unix(7)): it leaves no file behind, and is gone with the process, however that ends.
LOCK_NAME = "\0myisam-advisor-trial"
SERVER_DISK_BYTES = 300 << 20
SPARE_SHARE = 0.1
PROC = Path("/proc")


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Raises TrialError while another trial runs on this machine: two would measure each other."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as lock:
        try:
            lock.bind(LOCK_NAME)
            # Nobody accepts: whoever asks stays in this queue, and learns who it is only while there is room.
            lock.listen(socket.SOMAXCONN)
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise
            raise TrialError(
                f"another trial is running on this machine ({_who()}): two would measure each other. Wait for its end."
            ) from None
        yield


def _who() -> str:
    """What is known of who has it. Any user may: each may load the machine as well, so that a lock which nobody else can hold would keep no measurement quiet."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.settimeout(1)
        other.connect(LOCK_NAME)
        pid, user, _ = struct.unpack(
            "3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
        )
        return f"process {pid} of user {user}"
    return "no trial that answers: ss -xap | grep myisam-advisor-trial names the process"


def be_polite() -> None:
    """Step back behind everybody else on this machine, for the CPU and the disk; children inherit it."""
    import psutil

    os.nice(max(NICENESS - os.nice(0), 0))
    with contextlib.suppress(psutil.Error, OSError):
        psutil.Process().ionice(psutil.IOPRIO_CLASS_IDLE)


def expect_room(folder: Path, disk_bytes: int, memory_bytes: int) -> None:
    """Raises TrialError when the disk or the memory would run short; a tenth of what is free stays free."""
    free = free_bytes_at(folder)
    wanted = disk_bytes + SERVER_DISK_BYTES
    if free is not None and wanted > free * (1 - SPARE_SHARE):
        raise TrialError(
            f"{folder} has {size(free)} free, a tenth of which stays free, and the trial needs about {size(wanted)}: "
            "make room, choose another TMPDIR, or smaller tables."
        )
    available = available_bytes()
    if available is not None and memory_bytes > available * (1 - SPARE_SHARE):
        raise TrialError(
            f"{size(available)} of memory are available, a tenth of which stays so, and the trial needs about {size(memory_bytes)}: "
            "it would push others out."
        )


def available_bytes() -> int | None:
    """MemAvailable: proc(5)."""
    with contextlib.suppress(OSError, ValueError):
        for line in bounded_text(PROC / "meminfo").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return None


def usable_cores() -> int:
    """The processors that this process may run on."""
    return len(os.sched_getaffinity(0))


def machine_name() -> str:
    """The machine in words that tell nobody where it stands: processors, memory, kernel."""
    model = next(
        (
            line.partition(":")[2].strip()
            for line in bounded_text(PROC / "cpuinfo", "utf-8").splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{usable_cores()} cores ({model}), {size(total)} of memory, Linux {platform.release().partition('-')[0]}"
