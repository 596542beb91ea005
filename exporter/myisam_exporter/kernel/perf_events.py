"""The kernel's tracepoints of the page cache, and one opened on a processor by plain perf_event_open(2).

Sources: perf_event_open(2), and the tracepoints' own format files, from which the offsets of their fields are taken.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import platform
import re
import struct
from collections.abc import Mapping
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.outside.bounded_reading import bounded_text

TRACEFS = (Path("/sys/kernel/tracing"), Path("/sys/kernel/debug/tracing"))
SYSCALLS = {"x86_64": 298, "aarch64": 241, "ppc64le": 319, "s390x": 331, "riscv64": 241}
ATTRIBUTE_BYTES = 64  # PERF_ATTR_SIZE_VER0
TYPE_TRACEPOINT, SAMPLE_RAW, FLAG_DISABLED, FLAG_WATERMARK, OPEN_CLOEXEC = 2, 1 << 10, 1, 1 << 14, 8
RING_PAGES = 256


@dataclass(frozen=True, slots=True)
class Tracepoint:
    """One of them: its number, and where in an event its fields are, with their codes of struct."""

    identifier: int
    offsets: Mapping[str, tuple[int, str]]

    def field(self, name: str) -> struct.Struct:
        """Reads it from the beginning of an event. Raises UserError where this kernel has none of the name."""
        if name not in self.offsets:
            raise UserError(
                f"the tracepoints of this kernel ({platform.release()}) have no field {name}: precise page-cache counts need Linux 6.12 or later."
            )
        offset, code = self.offsets[name]
        return struct.Struct(f"={offset}x{code}")


def events_folder() -> Path:
    """Where tracefs tells of them. Raises UserError with the remedy."""
    for root in TRACEFS:
        try:
            is_mounted, folder = (root / "events").is_dir(), root / "events" / "filemap"
            if folder.is_dir():
                return folder
        except PermissionError:
            raise UserError(
                f"{root} may not be read: precise page-cache counts need root, or CAP_PERFMON and read access to tracefs."
            ) from None
        if is_mounted:
            raise UserError(
                "this kernel has no filemap tracepoints: precise page-cache counts need Linux 6.12 or later."
            )
    raise UserError(
        "tracefs is not mounted: precise page-cache counts need `mount -t tracefs none /sys/kernel/tracing`."
    )


def tracepoint(folder: Path) -> Tracepoint:
    """The one of a folder. Raises UserError where it is not to be had."""
    try:
        identifier = int(bounded_text(folder / "id"))
        text = bounded_text(folder / "format")
    except FileNotFoundError:
        raise UserError(
            f"this kernel ({platform.release()}) has no tracepoint filemap:{folder.name}: precise page-cache counts need Linux 6.12 or later."
        ) from None
    except OSError as error:
        raise why_not(error) from None
    offsets = {}
    for name, offset, size, signed in re.findall(
        r"field:[^;]*?(\w+);\s*offset:(\d+);\s*size:(\d+);\s*signed:(\d)", text
    ):
        code = {1: "B", 2: "H", 4: "I", 8: "Q"}.get(int(size))
        if code:
            offsets[name] = (int(offset), code.lower() if signed == "1" else code)
    return Tracepoint(identifier, offsets)


def online_cpus() -> list[int]:
    """The processors that run."""
    text = bounded_text("/sys/devices/system/cpu/online").strip()
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        cpus += range(int(first), int(last or first) + 1)
    return cpus


def open_on(identifier: int, cpu: int) -> int:
    """A descriptor of a tracepoint's events on one processor, off at first, that wakes at half of a ring. Raises OSError."""
    number = SYSCALLS.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    watermark = RING_PAGES * mmap.PAGESIZE // 2
    attribute = struct.pack(
        "=IIQQQQQIIQ",
        TYPE_TRACEPOINT,
        ATTRIBUTE_BYTES,
        identifier,
        1,
        SAMPLE_RAW,
        0,
        FLAG_DISABLED | FLAG_WATERMARK,
        watermark,
        0,
        0,
    )
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    descriptor = libc.syscall(
        ctypes.c_long(number),
        attribute,
        ctypes.c_int(-1),
        ctypes.c_int(cpu),
        ctypes.c_int(-1),
        ctypes.c_ulong(OPEN_CLOEXEC),
    )
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return int(descriptor)


def why_not(error: OSError) -> UserError:
    """What whoever wants the counts is told."""
    if error.errno in (errno.EACCES, errno.EPERM):
        return UserError("precise page-cache counts need root, or CAP_PERFMON and read access to tracefs.")
    return UserError(f"precise page-cache counts are not possible here: {error.strerror}.")
