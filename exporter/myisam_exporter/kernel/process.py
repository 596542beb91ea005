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


def read_process(folder: Path, pid: int, switches_of: ThreadSwitches | None = None) -> ProcessSample | Unknown:
    """One reading below /proc/PID; `switches_of` knows the former ones of its threads, where there are any."""
    try:
        fields = bounded_text(folder / "stat").rpartition(")")[2].split()
        status = bounded_text(folder / "status")
        switches = (switches_of or ThreadSwitches()).read(folder)
    except OSError as error:
        return Unknown(
            f"process {pid} cannot be read ({error.strerror})",
            "run beside the server; /proc must not be mounted with hidepid",
        )
    return ProcessSample(
        pid=pid,
        started_ticks=int(fields[19]),
        threads=int(fields[17]),
        switches=switches,
        user_ticks=int(fields[11]),
        system_ticks=int(fields[12]),
        minor_faults=int(fields[7]),
        major_faults=int(fields[9]),
        resident_bytes=_kib(status, "VmRSS"),
        anonymous_bytes=_kib(status, "RssAnon"),
        open_files=_open_files(folder),
        open_files_limit=_open_files_limit(folder),
        io=_io(folder),
        mapped=_mapped(folder),
    )


def _kib(status: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _open_files(folder: Path) -> int | Unknown:
    try:
        with os.scandir(folder / "fd") as entries:
            return sum(1 for _ in entries)
    except OSError as error:
        return Unknown(f"{folder}/fd cannot be read ({error.strerror})", READ_PROCESS)


def _open_files_limit(folder: Path) -> int | None:
    try:
        found = re.search(r"^Max open files\s+(\d+)", bounded_text(folder / "limits"), re.MULTILINE)
    except OSError:
        return None
    return int(found[1]) if found else None


def _io(folder: Path) -> ProcessIo | Unknown:
    try:
        values = dict(line.split(": ") for line in process_lines(folder, "io"))
    except OSError as error:
        return Unknown(f"{folder}/io cannot be read ({error.strerror})", READ_PROCESS)
    return ProcessIo(int(values["syscr"]), int(values["rchar"]), int(values["read_bytes"]))


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
        return Unknown(f"{folder}/maps cannot be read ({error.strerror})", READ_PROCESS)
    return MappedFiles(len(files), sum(files.values()), malloc)
