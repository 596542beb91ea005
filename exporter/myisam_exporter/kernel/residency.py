"""Pages of one file in the page cache: cachestat(2) through ctypes, mincore(2) under the kernel's own permission rule.

Python has no wrapper for either. Sources: cachestat(2), mincore(2), statfs(2); mm/filemap.c and mm/mincore.c of Linux 6.12 and later.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from pathlib import Path
from typing import NamedTuple

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.rights import READ_FILES, READ_RESIDENCY
from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles

PAGE_BYTES = os.sysconf("SC_PAGESIZE")
CACHESTAT_SYSCALL_DEFAULT = 451
CACHESTAT_SYSCALLS = {"alpha": 561}  # arch/*/syscall*.tbl: 451 everywhere else
CAP_FOWNER = 3

EXT, XFS, BTRFS, F2FS = 0xEF53, 0x58465342, 0x9123683E, 0xF2F52010
TMPFS, RAMFS, OVERLAYFS = 0x01021994, 0x858458F6, 0x794C7630
ZFS, NFS, FUSE = 0x2FC12FC1, 0x6969, 0x65735546
CACHESTAT_TELLS_TRUTH = frozenset({EXT, XFS, BTRFS, F2FS, NFS})
ALWAYS_RESIDENT = frozenset({TMPFS, RAMFS})
OUTSIDE_PAGE_CACHE = {
    ZFS: "ZFS keeps its own cache (ARC), which cannot be asked per file",
    FUSE: "FUSE file systems keep pages where the kernel cannot count them",
}
CIFS, SMB2, PLAN_9, CEPH, VBOXSF = 0xFF534D42, 0xFE534D42, 0x01021997, 0x00C36400, 0x786F4256
# Reads that never reach submit_bio are in no process's read_bytes: FUSE, NFS (own accounting), ZFS (own cache); of the others a thread of the kernel's
# fetches the pages, or the host of a virtual machine.
NOT_IN_READ_BYTES = {
    ZFS: "ZFS",
    NFS: "NFS",
    FUSE: "FUSE",
    CIFS: "CIFS",
    SMB2: "CIFS",
    PLAN_9: "9p",
    CEPH: "Ceph",
    VBOXSF: "a shared folder of VirtualBox",
}
# Each page of a file there was read by submit_bio, which counts it (page_cache_traffic.py), or is not in the page cache alone.
READS_ARE_COUNTED = frozenset({EXT, XFS, BTRFS, F2FS, *ALWAYS_RESIDENT})
MINCORE_LIMIT_BYTES = 1 << 36
# Of a large file one part after another: mincore wants a byte of memory for each page of it.
MINCORE_PART_BYTES = 1 << 30
_IS_RESIDENT = bytes(value & 1 for value in range(256))  # the other bits mean nothing: mincore(2)


class FilePages(NamedTuple):
    """Pages of a file; None is unknown. mincore tells only the resident ones."""

    resident: int | None = None
    dirty: int | None = None
    writeback: int | None = None
    evicted: int | None = None
    recently_evicted: int | None = None


class _Range(ctypes.Structure):
    _fields_ = (("off", ctypes.c_uint64), ("len", ctypes.c_uint64))


# struct cachestat, in the order of FilePages.
_CACHESTAT = struct.Struct("=5Q")
_KEPT_ANSWERS = 1024
_SYSCALL_ARGUMENTS = (ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)


def cachestat_syscall_number(machine: str) -> int:
    """The system call's number on an architecture."""
    return CACHESTAT_SYSCALLS.get(machine, CACHESTAT_SYSCALL_DEFAULT)


class Prober:
    """Asks about files; knows which call tells the truth on which file system.

    `files` opens them, and says no to those that are not the server's. `problems` gathers why files could not be asked, one reason a kind.
    """

    def __init__(self) -> None:
        self.files = ForeignFiles()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.syscall.restype = ctypes.c_long
        self._libc.syscall.argtypes = _SYSCALL_ARGUMENTS
        # The same without a look at errno, which takes as long as the call: it matters where the call fails alone.
        self._syscall = ctypes.CDLL(None).syscall
        self._syscall.restype = ctypes.c_long
        self._libc.mmap.restype = ctypes.c_void_p
        self._libc.mmap.argtypes = (
            ctypes.c_void_p,
            ctypes.c_size_t,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_int,
            ctypes.c_long,
        )
        self._libc.munmap.argtypes = (ctypes.c_void_p, ctypes.c_size_t)
        self._libc.mincore.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
        self._number = cachestat_syscall_number(platform.machine())
        self._range, self._result = _Range(0, 0), ctypes.create_string_buffer(_CACHESTAT.size)
        self._range_address, self._result_address = ctypes.addressof(self._range), ctypes.addressof(self._result)
        # What is the same in each call, made once: to have each argument converted takes two fifths of the time of a call.
        self._before = ctypes.c_long(self._number)
        self._behind = (ctypes.c_void_p(self._range_address), ctypes.c_void_p(self._result_address), ctypes.c_long(0))
        # What is said of one small file is said of many: by the kernel's answer.
        self._alike: dict[bytes, FilePages] = {}
        self._file_systems: dict[int, int] = {}
        self._asked_by_cachestat: set[int] = set()  # devices
        # mincore looks at each page: a second for a file of 64 GiB, where cachestat takes as long for any.
        self.has_walked_pages = False
        self.problems: dict[str, Unknown] = {}
        self.has_cachestat, self._why_not = self._try_cachestat()

    def _try_cachestat(self) -> tuple[bool, Unknown | None]:
        """Call it on a memfd of our own: a refusal there is the kernel's or a seccomp filter's, never the file's permissions."""
        try:
            descriptor = os.memfd_create("myisam-advisor")
        except OSError:  # before Linux 3.17, or a filter: of the null device everybody may ask
            descriptor = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            error = self._cachestat(descriptor)
        finally:
            os.close(descriptor)
        if not error:
            return True, None
        if error == errno.EPERM:
            return False, Unknown(
                "cachestat is forbidden by a seccomp filter",
                "allow the cachestat system call in the container's or unit's filter",
            )
        return False, Unknown(f"this kernel ({platform.release()}) has no cachestat", "Linux 6.5 or later")

    @property
    def sees_counted_files_only(self) -> bool:
        """Whether the kernel counts what is read of all files that were asked about, as far as any of them told."""
        return bool(self._file_systems) and READS_ARE_COUNTED.issuperset(self._file_systems.values())

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        """The file's pages; None when it cannot be known, with the reason in `problems`, or when the file is gone."""
        try:
            descriptor, status = self.files.opened(file, directory)
        except OSError as error:
            self.note_refusal(error)
            return None
        try:
            return self.pages_of(descriptor, status)
        finally:
            os.close(descriptor)

    def note_refusal(self, error: OSError) -> None:
        """Why a file could not be opened, where it is not just gone."""
        if isinstance(error, ForeignFileError):
            self._note("foreign", Unknown(f"files that are not the server's are not asked about ({error.strerror})"))
        elif not isinstance(error, FileNotFoundError):
            self._note("open", Unknown(f"files cannot be opened ({error.strerror})", READ_FILES))

    def pages_of(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        """The pages of an open file, of which fstat(2) says this; None when they cannot be known."""
        # Asked of each file of each table: no call that can be spared.
        if status.st_dev in self._asked_by_cachestat and not self._syscall(self._before, descriptor, *self._behind):
            answer = self._result.raw
            return self._alike.get(answer) or self._once(answer)
        return self._probe_open(descriptor, status)

    def _once(self, answer: bytes) -> FilePages:
        """What the kernel answered, kept for the next one of which it is said; beyond so many it begins anew."""
        if len(self._alike) >= _KEPT_ANSWERS:
            self._alike.clear()
        found = self._alike[answer] = FilePages(*_CACHESTAT.unpack(answer))
        return found

    def _probe_open(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        kind = self._file_systems.get(status.st_dev)
        if kind is None:
            kind = self._file_systems[status.st_dev] = file_system_type(self._libc, descriptor)
        if kind in ALWAYS_RESIDENT:
            # Of a sparse file what was never written is nowhere: st_blocks is in units of 512 bytes.
            return FilePages(-(-min(status.st_size, status.st_blocks * 512) // PAGE_BYTES), 0, 0, 0, 0)
        if kind in OUTSIDE_PAGE_CACHE:
            self._note(str(kind), Unknown(f"not measurable: {OUTSIDE_PAGE_CACHE[kind]}"))
            return None
        if kind != OVERLAYFS and self.has_cachestat:
            if kind not in CACHESTAT_TELLS_TRUTH:
                self._note(
                    str(kind),
                    Unknown(
                        f"not measured: whether cachestat is right on this file system (type {kind:#x}) is not known"
                    ),
                )
                return None
            self._asked_by_cachestat.add(status.st_dev)
            return self._by_cachestat(descriptor)
        return self._by_mincore(descriptor, status)

    def _by_cachestat(self, descriptor: int) -> FilePages | None:
        error = self._cachestat(descriptor)
        if not error:
            return FilePages(*_CACHESTAT.unpack(self._result))
        self._note(
            "cachestat",
            Unknown(
                f"cachestat is refused on these files ({os.strerror(error)}): the kernel asks for ownership, write permission or CAP_FOWNER",
                READ_RESIDENCY,
            ),
        )
        return None

    def _by_mincore(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        if not may_know_residency(status, descriptor):
            reason = self._why_not or Unknown("cachestat answers zero on overlayfs")
            self._note(
                "mincore",
                Unknown(
                    f"{reason.reason}, and without ownership or CAP_FOWNER mincore answers that everything is resident",
                    # With cachestat it would be the same: it asks for the same right.
                    READ_RESIDENCY,
                ),
            )
            return None
        if status.st_size == 0:
            return FilePages(0)
        if status.st_size > MINCORE_LIMIT_BYTES:
            self._note("large", Unknown("a file is too large for mincore", "Linux 6.5 or later"))
            return None
        self.has_walked_pages = True
        resident = 0
        for start in range(0, status.st_size, MINCORE_PART_BYTES):
            found = self._mincore(descriptor, start, min(MINCORE_PART_BYTES, status.st_size - start))
            if found is None:
                self._note("mincore", Unknown(f"mincore failed ({os.strerror(ctypes.get_errno())})"))
                return None
            resident += found
        return FilePages(resident)

    def _mincore(self, descriptor: int, start: int, size: int) -> int | None:
        """Resident pages of a part of the file; None where the kernel refuses, with errno."""
        address = self._libc.mmap(None, size, 0, 1, descriptor, start)  # PROT_NONE, MAP_SHARED
        if address is None or address == ctypes.c_void_p(-1).value:
            return None
        try:
            vector = ctypes.create_string_buffer(-(-size // PAGE_BYTES))
            if self._libc.mincore(address, size, vector):
                return None
            return vector.raw.translate(_IS_RESIDENT).count(1)
        finally:
            self._libc.munmap(address, size)

    def _cachestat(self, descriptor: int) -> int:
        """0, or the error number."""
        failed = self._libc.syscall(self._number, descriptor, self._range_address, self._result_address, 0)
        return ctypes.get_errno() if failed else 0

    def _note(self, kind: str, reason: Unknown) -> None:
        self.problems.setdefault(kind, reason)


def file_system_type(libc: ctypes.CDLL, descriptor: int) -> int:
    """f_type of statfs(2): the first word of the structure; Python's os.statvfs leaves it out."""
    buffer = (ctypes.c_long * 32)()
    if libc.fstatfs(descriptor, buffer):
        return 0
    return int(buffer[0]) & 0xFFFF_FFFF


def may_know_residency(status: os.stat_result, descriptor: int) -> bool:
    """The kernel's rule for mincore since 5.2 (mm/mincore.c, can_do_mincore): owner, CAP_FOWNER, or could write."""
    if status.st_uid == os.geteuid() or _has_capability(CAP_FOWNER):
        return True
    return os.access(f"/proc/self/fd/{descriptor}", os.W_OK, effective_ids=True)


def _has_capability(number: int) -> bool:
    try:
        lines = bounded_text("/proc/self/status").splitlines()
        effective = next(line for line in lines if line.startswith("CapEff:"))
    except (OSError, StopIteration):
        return False
    return bool(int(effective.split()[1], 16) >> number & 1)


def storage_blind_spot(directory: Path) -> str:
    """Why /proc/PID/io cannot tell what was fetched from the storage below a directory; "" where it can."""
    try:
        descriptor = ForeignFiles.open_known_directory(directory)
    except OSError as error:
        return f"the data directory's file system is not known ({error.strerror})"
    try:
        name = NOT_IN_READ_BYTES.get(file_system_type(ctypes.CDLL(None), descriptor))
    finally:
        os.close(descriptor)
    return f"the data lie on {name}, whose reads are not counted" if name else ""
