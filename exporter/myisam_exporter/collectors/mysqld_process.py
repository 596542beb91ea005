"""The server's process: threads, switches, faults, memory, files, and how often the page cache served it.

Context switches are kept per thread and only growth is added: psutil sees the main thread alone, and sums over threads fall when
connections end. The page-cache hit ratio counts pages, never bytes: see page_cache_hits.py. Source: proc(5).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Collector, Context, Pair
from myisam_exporter.collectors.status import Status
from myisam_exporter.facts.columns import Block, Value, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.page_cache_hits import page_cache_hits_of
from myisam_exporter.kernel.process_files import MALLOC_LIBRARIES, process_lines
from myisam_exporter.kernel.residency import storage_blind_spot
from myisam_exporter.kernel.rights import READ_PROCESS

if TYPE_CHECKING:
    from myisam_exporter.collectors.server import ServerIdentity

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
# By thread: voluntary, involuntary.
Switches = Mapping[int, tuple[int, int]]
_SWITCHES = re.compile(rb"voluntary_ctxt_switches:\s*(\d+)\nnonvoluntary_ctxt_switches:\s*(\d+)")


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


class MysqldProcessCollector(Collector[ProcessSample]):
    """The mysqld process in /proc."""

    name = "mysqld_process"
    source = "/proc/PID"
    after = ("server", "status")
    sections = {  # noqa: RUF012
        "mysqld": columns(
            ("pid", "integer", "Process id, verified as the server's."),
            ("threads", "integer", "Threads of the process."),
            (
                "threads_running",
                "real",
                "Connections at work: Threads_running without our own, the mean of readings over the interval.",
            ),
            ("resident_bytes", "integer", "Resident memory, mapped files included."),
            ("anonymous_bytes", "integer", "Memory that is no file: RssAnon."),
            ("open_files", "integer", "Open file descriptors."),
            ("open_files_limit", "integer", "Soft limit on open files."),
            ("cpu_user_ratio", "real", "Over the interval: user CPU; 1.0 is one core."),
            ("cpu_system_ratio", "real", "Over the interval: system CPU; 1.0 is one core."),
            ("voluntary_switches_per_second", "real", "Threads that waited: for a lock, the disk or the client."),
            ("involuntary_switches_per_second", "real", "Threads that were pushed off the CPU."),
            ("minor_faults_per_second", "real", "Pages given to the process without the disk."),
            ("major_faults_per_second", "real", "Pages of mapped files that had to be read from disk."),
            ("read_syscalls_per_second", "real", "Read calls of the whole process."),
            ("read_bytes_per_second", "real", "Bytes read through these calls, from the page cache or from disk."),
            ("disk_read_bytes_per_second", "real", "Bytes fetched from storage for this process."),
            (
                "page_cache_hit_ratio",
                "real",
                "Over the interval: 1 - misses/accesses in pages; unknown when it cannot be true.",
            ),
            ("page_cache_accesses_per_second", "real", "Accesses: the larger of read calls and bytes/page size."),
            ("page_cache_misses_per_second", "real", "Pages fetched from storage, InnoDB's own left out."),
            ("page_cache_method", "text", "How the ratio was found, or why there is none."),
            ("mapped_data_files", "integer", "MyISAM data files mapped into memory."),
            ("mapped_data_bytes", "integer", "Their mapped bytes."),
            ("malloc", "text", "Memory allocator: glibc, jemalloc, tcmalloc or mimalloc."),
            source=source,
        )
    }

    def collect(self, context: Context) -> ProcessSample | Unknown:
        """Read everything that this user may read of the process."""
        server: ServerIdentity | Unknown = context.sample("server")
        if isinstance(server, Unknown):
            return server
        pid, directory = server.location.pid, server.location.data_directory
        if isinstance(pid, Unknown):
            return pid
        sample = read_process(context.proc / str(pid), pid)
        if isinstance(sample, Unknown):
            return sample
        blind = (
            "the data directory is not visible here"
            if isinstance(directory, Unknown)
            else storage_blind_spot(directory)
        )
        return replace(sample, storage_blind_spot=blind)

    def facts(self, pair: Pair[ProcessSample]) -> Iterable[Block]:
        """One row."""
        return [single("mysqld", _row(pair))]

    def notes(self, sample: ProcessSample) -> Iterable[Unknown]:
        """What this user may not read of the process."""
        return list(
            {
                part.reason: part for part in (sample.io, sample.mapped, sample.open_files) if isinstance(part, Unknown)
            }.values()
        )

    def unknown_columns(self, sample: ProcessSample) -> Mapping[str, Unknown]:
        """Columns behind PTRACE_MODE_READ."""
        unknown: dict[str, Unknown] = {}
        if isinstance(sample.io, Unknown):
            names = (
                "read_syscalls_per_second",
                "read_bytes_per_second",
                "disk_read_bytes_per_second",
                "page_cache_hit_ratio",
                "page_cache_accesses_per_second",
                "page_cache_misses_per_second",
                "page_cache_method",
            )
            unknown |= {f"mysqld.{name}": sample.io for name in names}
        if isinstance(sample.mapped, Unknown):
            unknown |= {
                f"mysqld.{name}": sample.mapped for name in ("mapped_data_files", "mapped_data_bytes", "malloc")
            }
        if isinstance(sample.open_files, Unknown):
            unknown["mysqld.open_files"] = sample.open_files
        return unknown


def read_process(folder: Path, pid: int) -> ProcessSample | Unknown:
    """One reading below /proc/PID."""
    try:
        fields = (folder / "stat").read_text("ascii", "replace").rpartition(")")[2].split()
        status = (folder / "status").read_text("ascii", "replace")
        switches = dict(thread_switches(folder))
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


def thread_switches(folder: Path) -> Iterable[tuple[int, tuple[int, int]]]:
    """Voluntary and involuntary switches of each thread below /proc/PID. Raises OSError when the process is gone or hidden."""
    for thread in os.listdir(folder / "task"):
        try:
            with open(f"{folder}/task/{thread}/status", "rb") as file:
                found = _SWITCHES.search(file.read())
        except OSError:
            continue  # the thread ended since the listing
        if found:
            yield int(thread), (int(found[1]), int(found[2]))


def _kib(status: str, name: str) -> int | None:
    found = re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _open_files(folder: Path) -> int | Unknown:
    try:
        return len(os.listdir(folder / "fd"))
    except OSError as error:
        return Unknown(f"{folder}/fd cannot be read ({error.strerror})", READ_PROCESS)


def _open_files_limit(folder: Path) -> int | None:
    try:
        found = re.search(r"^Max open files\s+(\d+)", (folder / "limits").read_text("ascii", "replace"), re.MULTILINE)
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


def of_one_process(pair: Pair[ProcessSample]) -> Pair[ProcessSample]:
    """The pair, without its earlier sample where that is of another process: its counters are not this one's."""
    now, before = pair.after, pair.before
    if before is None or (before.pid, before.started_ticks) == (now.pid, now.started_ticks):
        return pair
    return Pair(now, None, None, pair.others)


def _row(pair: Pair[ProcessSample]) -> dict[str, Value]:
    pair = of_one_process(pair)
    now, before = pair.after, pair.before

    def rate(name: str, scale: float = 1.0) -> float | None:
        value = pair.rate(getattr(before, name, None), getattr(now, name))
        return None if value is None else value / scale

    voluntary, involuntary = switch_rates(pair)
    mapped = None if isinstance(now.mapped, Unknown) else now.mapped
    row: dict[str, Value] = {
        "pid": now.pid,
        "threads": now.threads,
        "threads_running": _threads_running(pair),
        "resident_bytes": now.resident_bytes,
        "anonymous_bytes": now.anonymous_bytes,
        "open_files": None if isinstance(now.open_files, Unknown) else now.open_files,
        "open_files_limit": now.open_files_limit,
        "cpu_user_ratio": rate("user_ticks", TICKS_PER_SECOND),
        "cpu_system_ratio": rate("system_ticks", TICKS_PER_SECOND),
        "voluntary_switches_per_second": voluntary,
        "involuntary_switches_per_second": involuntary,
        "minor_faults_per_second": rate("minor_faults"),
        "major_faults_per_second": rate("major_faults"),
        "mapped_data_files": mapped.data_files if mapped else None,
        "mapped_data_bytes": mapped.data_bytes if mapped else None,
        "malloc": mapped.malloc if mapped else None,
    }
    return row | _io_rates(pair) | _page_cache_columns(pair)


def _threads_running(pair: Pair[ProcessSample]) -> float | None:
    status = pair.others.get("status")
    return (
        max(status.threads_running, 0.0) if isinstance(status, Status) and status.threads_running is not None else None
    )


def switch_rates(pair: Pair[ProcessSample]) -> tuple[float | None, float | None]:
    """Switches of the threads that live now; those of threads that came and went in between are lost."""
    if pair.before is None or not pair.seconds:
        return None, None
    voluntary, involuntary = switches_between(pair.before.switches, pair.after.switches)
    return voluntary / pair.seconds, involuntary / pair.seconds


def switches_between(before: Switches, now: Switches) -> tuple[int, int]:
    """Voluntary and involuntary switches between two readings, over the threads that live at the second."""
    voluntary = involuntary = 0
    for thread, (now_voluntary, now_involuntary) in now.items():
        old_voluntary, old_involuntary = before.get(thread, (0, 0))
        if now_voluntary >= old_voluntary and now_involuntary >= old_involuntary:
            voluntary += now_voluntary - old_voluntary
            involuntary += now_involuntary - old_involuntary
    return voluntary, involuntary


def _io_rates(pair: Pair[ProcessSample]) -> dict[str, Value]:
    now, before = pair.after.io, pair.before.io if pair.before else None
    if isinstance(now, Unknown) or not isinstance(before, ProcessIo):
        return dict.fromkeys(("read_syscalls_per_second", "read_bytes_per_second", "disk_read_bytes_per_second"))
    return {
        "read_syscalls_per_second": pair.rate(before.calls, now.calls),
        "read_bytes_per_second": pair.rate(before.bytes, now.bytes),
        "disk_read_bytes_per_second": pair.rate(before.storage_bytes, now.storage_bytes),
    }


def _page_cache_columns(pair: Pair[ProcessSample]) -> dict[str, Value]:
    names = (
        "page_cache_accesses_per_second",
        "page_cache_misses_per_second",
        "page_cache_hit_ratio",
        "page_cache_method",
    )
    hits = page_cache_hits_of(pair)
    if hits is None:
        return dict.fromkeys(names)
    return dict(zip(names, (hits.accesses_per_second, hits.misses_per_second, hits.ratio, hits.method), strict=True))


COLLECTOR = MysqldProcessCollector()
