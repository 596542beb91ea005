"""One reading of a process: threads, switches, faults, memory, files. Source: proc(5)."""

from __future__ import annotations

import os
import re
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.process_files import MALLOC_LIBRARIES, process_lines
from myisam_exporter.kernel.rights import READ_PROCESS
from myisam_exporter.kernel.thread_switches import Switches, ThreadSwitches
from myisam_exporter.outside.bounded_reading import bounded_text

PAGE_BYTES = os.sysconf("SC_PAGESIZE")
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class ProcessIo:
    """/proc/PID/io: read calls, bytes read through them, bytes fetched from storage."""

    calls: int
    bytes: int
    storage_bytes: int


@dataclass(frozen=True, slots=True)
class MappedFiles:
    """/proc/PID/maps: data files mapped, and the allocator in use."""

    data_files: int
    data_bytes: int
    malloc: str


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One reading of the process."""

    pid: int
    started_ticks: int
    threads: int
    switches: Switches
    user_ticks: int
    system_ticks: int
    minor_faults: int
    major_faults: int
    resident_bytes: int | None
    anonymous_bytes: int | None
    open_files: int | Unknown
    open_files_limit: int | None
    io: ProcessIo | Unknown
    mapped: MappedFiles | Unknown
    storage_blind_spot: str = ""
    file_size_limit_bytes: int | None = None


def read_process(folder: Path, pid: int, switches_of: ThreadSwitches | None = None) -> ProcessSample | Unknown:
    """One reading below /proc/PID; `switches_of` knows the former ones of its threads, where there are any."""
    try:
        fields = bounded_text(folder / "stat").rpartition(")")[2].split()
        status = bounded_text(folder / "status")
        switches = (switches_of or ThreadSwitches()).read(folder)
        minor_faults, major_faults, user_ticks, system_ticks = (int(fields[place]) for place in (7, 9, 11, 12))
        threads, started_ticks = int(fields[17]), int(fields[19])
    except OSError as error:
        return Unknown(
            f"process {pid} cannot be read ({error.strerror})",
            "run beside the server; /proc must not be mounted with hidepid",
        )
    except (IndexError, ValueError):
        return Unknown(f"{folder}/stat is not what the kernel writes")
    return ProcessSample(
        pid=pid,
        started_ticks=started_ticks,
        threads=threads,
        switches=switches,
        user_ticks=user_ticks,
        system_ticks=system_ticks,
        minor_faults=minor_faults,
        major_faults=major_faults,
        resident_bytes=_kib(status, "VmRSS"),
        anonymous_bytes=_anonymous_bytes(folder, status),
        open_files=_open_files(folder),
        open_files_limit=_soft_limit(folder, "Max open files"),
        io=_io(folder),
        mapped=_mapped(folder),
        file_size_limit_bytes=_soft_limit(folder, "Max file size"),
    )


def _kib(status: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _anonymous_bytes(folder: Path, status: str) -> int | None:
    """RssAnon; before Linux 4.5 what it is there too: resident pages that are of no file, by statm."""
    told = _kib(status, "RssAnon")
    if told is not None:
        return told
    try:
        resident, of_files = (int(word) for word in bounded_text(folder / "statm").split()[1:3])
    except (OSError, ValueError):
        return None
    return max(resident - of_files, 0) * PAGE_BYTES


def _open_files(folder: Path) -> int | Unknown:
    try:
        with os.scandir(folder / "fd") as entries:
            return sum(1 for _ in entries)
    except OSError as error:
        return Unknown(f"{folder}/fd cannot be read ({error.strerror})", READ_PROCESS)


def _soft_limit(folder: Path, name: str) -> int | None:
    """None where it is unlimited, or not told."""
    try:
        found = re.search(rf"^{name}\s+(\d+)", bounded_text(folder / "limits"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None


def _io(folder: Path) -> ProcessIo | Unknown:
    try:
        values = dict(line.split(": ") for line in process_lines(folder, "io"))
        return ProcessIo(int(values["syscr"]), int(values["rchar"]), int(values["read_bytes"]))
    except FileNotFoundError:
        return Unknown(f"this kernel counts no process's reads ({folder}/io is not there)", off=True)
    except OSError as error:
        return _not_read(f"{folder}/io", error)
    except (KeyError, ValueError):
        return Unknown(f"{folder}/io is not what the kernel writes")


def _mapped(folder: Path) -> MappedFiles | Unknown:
    files: dict[str, int] = {}
    malloc = "glibc"
    try:
        for line in process_lines(folder, "maps"):
            if ".MYD" in line and line.rstrip().removesuffix(" (deleted)").endswith(".MYD"):
                start, _, end = line.partition(" ")[0].partition("-")
                path = line.split(maxsplit=5)[5]
                files[path] = files.get(path, 0) + int(end, 16) - int(start, 16)
            malloc = next((library for library in MALLOC_LIBRARIES if library in line), malloc)
    except OSError as error:
        return _not_read(f"{folder}/maps", error)
    return MappedFiles(len(files), sum(files.values()), malloc)


def _not_read(file: str, error: OSError) -> Unknown:
    remedy = "look again" if isinstance(error, TimeoutError) else READ_PROCESS
    return Unknown(f"{file} cannot be read ({error.strerror})", remedy)
