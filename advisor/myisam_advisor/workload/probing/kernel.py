"""What the kernel is asked for: maps, programs, and probes that stand in one process alone. All of it ends with our descriptors, whatever becomes of us.

A probe of perf_event_open's needs no name in tracefs and stands only in the memory of the process it is for: other servers of the same binary run on
without it.

Sources: bpf(2); perf_event_open(2); include/uapi/linux/bpf.h and perf_event.h; kernel/trace/trace_event_perf.c (perf_uprobe_init).
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import resource
import struct
from collections.abc import Callable
from pathlib import Path

from myisam_advisor.workload.probing.place import INSTEAD, Place
from myisam_advisor.workload.probing.program import COUNTER_BYTES, Maps
from myisam_exporter.errors import UserError
from myisam_exporter.outside.bounded_reading import bounded_text

# x86-64; no other processor has a layout (place.py).
_BPF, _PERF_EVENT_OPEN = 321, 298
_MAP_CREATE, _MAP_LOOKUP, _PROGRAM_LOAD = 0, 1, 5
_ARRAY, _RING, _FOR_PROBES = 2, 27, 2
# The helpers that read a process's memory are for programs under the GPL, as this one is.
_LICENSE = b"GPL\0"
_CLOSE_ON_EXEC, _SET_PROGRAM = 8, 0x40042408
_ATTRIBUTE_BYTES = 112
_PROBES = Path("/sys/bus/event_source/devices/uprobe")
_LOCKDOWN = Path("/sys/kernel/security/lockdown")
_RIGHTS = "it needs root (CAP_SYS_ADMIN), which a container has not unless it is given that"
_SPARE_BYTES = 8 << 20


def made_maps(ring_bytes: int, closing: contextlib.ExitStack) -> Maps:
    """A ring and counters. Raises UserError."""
    _allow_memory(ring_bytes)
    ring = _bpf("ring", _MAP_CREATE, struct.pack("<IIIII", _RING, 0, 0, ring_bytes, 0))
    closing.callback(os.close, ring)
    counters = _bpf("counters", _MAP_CREATE, struct.pack("<IIIII", _ARRAY, 4, COUNTER_BYTES, 1, 0))
    closing.callback(os.close, counters)
    return Maps(ring, counters)


def counted(maps: Maps) -> tuple[int, int]:
    """How many begins and ends could not be noted."""
    key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(COUNTER_BYTES)
    attribute = struct.pack("<I4xQQQ", maps.counters, ctypes.addressof(key), ctypes.addressof(value), 0)
    _bpf("counters", _MAP_LOOKUP, attribute)
    begins, ends = struct.unpack("<QQ", value.raw)
    return begins, ends


def loaded(program: bytes) -> int:
    """The descriptor of a program that the kernel has taken. Raises UserError."""
    code, license_text = ctypes.create_string_buffer(program, len(program)), ctypes.create_string_buffer(_LICENSE)
    log = ctypes.create_string_buffer(1 << 16) if os.environ.get("MYISAM_ADVISOR_VERIFIER_LOG") else None
    attribute = struct.pack(
        "<IIQQIIQII",
        _FOR_PROBES,
        len(program) // 8,
        ctypes.addressof(code),
        ctypes.addressof(license_text),
        *((1, len(log), ctypes.addressof(log)) if log is not None else (0, 0, 0)),
        0,
        0,
    )
    try:
        return _bpf("program", _PROGRAM_LOAD, attribute)
    except UserError as error:
        if log is None or not log.value:
            raise
        raise UserError(f"{error}\n{log.value.decode('utf-8', 'replace')}") from None


def attached(program: int, place: Place, pid: int, at_return: bool) -> int:
    """The descriptor of a probe that runs the program in this process, for as long as it is open. Raises UserError."""
    path = ctypes.create_string_buffer(os.fsencode(place.binary))
    attribute = ctypes.create_string_buffer(_ATTRIBUTE_BYTES)
    kind, bit = _probe_kind()
    struct.pack_into("<IIQ", attribute, 0, kind, _ATTRIBUTE_BYTES, (1 << bit) if at_return else 0)
    struct.pack_into("<QQ", attribute, 56, ctypes.addressof(path), place.offset)
    descriptor = _called("probe", _PERF_EVENT_OPEN, attribute, pid, -1, -1, _CLOSE_ON_EXEC)
    try:
        fcntl.ioctl(descriptor, _SET_PROGRAM, program)
    except OSError as error:
        os.close(descriptor)
        raise refused("probe", error.errno or 0) from None
    return descriptor


def _probe_kind() -> tuple[int, int]:
    """The number of the kernel's probes in programs, and the bit that says: at the return. Raises UserError."""
    try:
        kind = int(bounded_text(_PROBES / "type"))
        bit = re.fullmatch(r"config:(\d+)", bounded_text(_PROBES / "format" / "retprobe").strip())
    except (OSError, ValueError):
        bit = None
    if bit is None:
        raise UserError(
            f"this kernel has no probes in programs ({_PROBES}: Linux 4.17 with CONFIG_UPROBE_EVENTS). {INSTEAD}"
        )
    return kind, int(bit[1])


def _allow_memory(ring_bytes: int) -> None:
    """Before Linux 5.11 maps counted as locked memory, of which 64 KiB are the usual limit; where it may not be raised the kernel says so."""
    wanted = 2 * ring_bytes + _SPARE_BYTES
    soft, hard = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if 0 <= soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (wanted, hard if hard < 0 else max(hard, wanted)))


def _bpf(what: str, command: int, attribute: bytes) -> int:
    buffer = ctypes.create_string_buffer(attribute, len(attribute))
    return _called(what, _BPF, command, buffer, len(attribute))


def _called(what: str, number: int, *arguments: object) -> int:
    """A call of the kernel's. Raises UserError."""
    library = ctypes.CDLL(None, use_errno=True)
    call: Callable[..., int] = library.syscall
    library.syscall.restype = ctypes.c_long
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    answer = call(ctypes.c_long(number), *passed)
    if answer < 0:
        raise refused(what, ctypes.get_errno())
    return int(answer)


def refused(what: str, number: int) -> UserError:
    """Why there is no probe, and what is to be done."""
    why = os.strerror(number)
    # EACCES of a program: the kernel's checker did not understand it.
    if number == errno.EPERM or (number == errno.EACCES and what != "program"):
        why = f"{why}; {_RIGHTS}{_locked_down()}"
    elif number == errno.ENOSYS:
        why = "it has no programs of that kind (CONFIG_BPF_SYSCALL), or a sandbox forbids them"
    elif number == errno.EINVAL and what == "ring":
        why = f"Linux 5.8 is needed, this is {os.uname().release}"
    elif number == errno.ESRCH:
        why = "the server has ended"
    subject = "probe" if what == "probe" else f"probe's {what}"
    return UserError(f"the kernel refused the {subject}: {why}. {INSTEAD}")


def _locked_down() -> str:
    """Said where the kernel is locked."""
    with contextlib.suppress(OSError):
        locked = re.search(r"\[(integrity|confidentiality)\]", bounded_text(_LOCKDOWN))
        if locked:
            return f"; the kernel is locked down ({locked[1]})"
    return ""
