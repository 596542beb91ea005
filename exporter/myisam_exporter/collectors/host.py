"""The machine: memory, CPU, virtual memory, pressure, and the disk that holds the data directory.

Sources: proc(5), and Documentation/accounting/psi.rst for pressure.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Mapping
from pathlib import Path

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, Value, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.machine import memory_of, processor_seconds
from myisam_exporter.kernel.residency import PAGE_BYTES
from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.server.location import ELSEWHERE

MICROSECONDS_PER_SECOND = 1_000_000
MILLISECONDS_PER_SECOND = 1_000
NO_VMSTAT = Unknown("the kernel does not show its memory counters (/proc/vmstat)", off=True)
SECTOR_BYTES = 512  # /proc/diskstats counts in these, whatever the disk's own sectors are


@dataclass(frozen=True, slots=True)
class Disk:
    """Counters of one block device: Documentation/admin-guide/iostats.rst."""

    name: str
    reads: int
    read_bytes: int
    busy_milliseconds: int
    weighted_milliseconds: int


@dataclass(frozen=True, slots=True)
class HostSample:
    """One reading of the machine."""

    cpu_count: int
    memory_bytes: int
    memory_available_bytes: int
    page_cache_bytes: int
    swap_total_bytes: int | None
    swap_used_bytes: int | None
    cpu_seconds: Mapping[str, float]
    context_switches: int | None
    processes_running: int | None
    processes_blocked: int | None
    vmstat: Mapping[str, int]
    pressure_microseconds: Mapping[str, int] | Unknown
    disk: Disk | Unknown
    kernel: str
    libc: str


HOST = SampleKey("host", HostSample)


class HostCollector(Collector[HostSample]):
    """The machine that we run on."""

    name = HOST.name
    source = "/proc/meminfo, /proc/stat, /proc/vmstat, /proc/pressure, /proc/diskstats"
    after = ("server",)
    sections = {
        "host": columns(
            ("cpu_count", "integer", "CPU cores that this machine has."),
            ("memory_bytes", "integer", "Memory."),
            ("memory_available_bytes", "integer", "Memory that programs could still get without swapping."),
            ("page_cache_bytes", "integer", "Memory that holds file contents."),
            ("swap_total_bytes", "integer", "Swap space."),
            ("swap_used_bytes", "integer", "Swap space in use."),
            ("swap_in_bytes_per_second", "real", "Read back from swap."),
            ("swap_out_bytes_per_second", "real", "Written to swap."),
            ("cpu_user_ratio", "real", "Over the interval: user time, 0 to 1 of all cores."),
            ("cpu_system_ratio", "real", "Over the interval: system time, interrupts included."),
            ("cpu_idle_ratio", "real", "Over the interval: idle time without waiting for a disk."),
            ("cpu_iowait_ratio", "real", "Over the interval: idle time while a disk was waited for."),
            (
                "cpu_steal_ratio",
                "real",
                "Over the interval: time in which a virtual machine had work and the machine below gave it no processor.",
            ),
            ("context_switches_per_second", "real", "Context switches of the whole machine."),
            ("disk_reads_per_second", "real", "Reads that reached the data directory's disk."),
            ("disk_read_bytes_per_second", "real", "Bytes read from it."),
            ("disk_busy_ratio", "real", "Over the interval: share of time in which it had work."),
            ("disk_queue_length", "real", "Over the interval: requests in it on average."),
            ("io_pressure_some_ratio", "real", "Over the interval: share of time in which a task waited for a disk."),
            (
                "io_pressure_full_ratio",
                "real",
                "Over the interval: share of time in which no task could go on for want of a disk.",
            ),
            (
                "memory_pressure_some_ratio",
                "real",
                "Over the interval: share of time in which a task waited for memory.",
            ),
            ("file_refaults_per_second", "real", "Pages read again after they had been dropped for want of memory."),
            ("major_faults_per_second", "real", "Page faults of the whole machine that needed a disk."),
            ("processes_blocked", "integer", "Tasks waiting for a disk now."),
            ("processes_running", "integer", "Tasks running or ready to run now."),
            ("kernel", "text", "Kernel release."),
            ("libc", "text", "C library and its version."),
            source=source,
        )
    }

    def collect(self, context: Context) -> HostSample | Unknown:
        """Read /proc; a remote server's machine cannot be seen."""
        if not context.target.may_be_local:
            return ELSEWHERE
        return read_host(context.proc, context.sys, location_of(context.sample(SERVER)).data_directory)

    def facts(self, pair: Pair[HostSample]) -> Iterable[Block]:
        """One row."""
        return [single("host", _gauges(pair.after) | _rates(pair))]

    def notes(self, sample: HostSample) -> Iterable[Unknown]:
        """Pressure and disk, where they cannot be had."""
        return [part for part in (sample.pressure_microseconds, sample.disk) if isinstance(part, Unknown)]

    def unknown_columns(self, sample: HostSample) -> Mapping[str, Unknown]:
        """Columns of the parts that are missing."""
        unknown: dict[str, Unknown] = {}
        if not sample.vmstat:
            names_of_vmstat = (
                "swap_in_bytes_per_second",
                "swap_out_bytes_per_second",
                "file_refaults_per_second",
                "major_faults_per_second",
            )
            unknown |= {f"host.{name}": NO_VMSTAT for name in names_of_vmstat}
        if isinstance(sample.pressure_microseconds, Unknown):
            names = ("io_pressure_some_ratio", "io_pressure_full_ratio", "memory_pressure_some_ratio")
            unknown |= {f"host.{name}": sample.pressure_microseconds for name in names}
        if isinstance(sample.disk, Unknown):
            names_of_disk = (
                "disk_reads_per_second",
                "disk_read_bytes_per_second",
                "disk_busy_ratio",
                "disk_queue_length",
            )
            unknown |= {f"host.{name}": sample.disk for name in names_of_disk}
        return unknown


def read_host(proc: Path, sys: Path, data_directory: Path | Unknown) -> HostSample | Unknown:
    """One reading of the machine below these roots."""
    try:
        memory, seconds = memory_of(proc), processor_seconds(proc)
        stat = _numbers(proc / "stat")
    except KeyError as error:
        return Unknown(f"{proc / 'meminfo'} is not whole ({error} is missing)")
    except (OSError, ValueError) as error:
        return Unknown(f"{proc} cannot be read ({error})", "mount /proc")
    return HostSample(
        cpu_count=os.cpu_count() or 1,
        memory_bytes=memory.total,
        memory_available_bytes=memory.available,
        page_cache_bytes=memory.cached,
        swap_total_bytes=memory.swap_total,
        swap_used_bytes=memory.swap_used,
        cpu_seconds=seconds,
        context_switches=stat.get("ctxt"),
        processes_running=stat.get("procs_running"),
        processes_blocked=stat.get("procs_blocked"),
        vmstat=_vmstat(proc),
        pressure_microseconds=_pressure(proc),
        disk=_disk(proc, sys, data_directory),
        kernel=platform.release(),
        libc=" ".join(platform.libc_ver()).strip(),
    )


def _vmstat(proc: Path) -> Mapping[str, int]:
    """The counters of virtual memory; none where /proc is one that lacks them."""
    try:
        return _numbers(proc / "vmstat")
    except OSError:
        return {}


def _numbers(path: Path) -> dict[str, int]:
    """By the first word of each line its second, where that is a number."""
    found = (line.split(maxsplit=2)[:2] for line in bounded_text(path).splitlines())
    return {words[0]: int(words[1]) for words in found if len(words) > 1 and words[1].isdecimal()}


def _pressure(proc: Path) -> Mapping[str, int] | Unknown:
    totals: dict[str, int] = {}
    try:
        for resource in ("io", "memory"):
            for line in bounded_text(proc / "pressure" / resource).splitlines():
                kind, *values = line.split()
                totals[f"{resource}_{kind}"] = int(values[-1].removeprefix("total="))
    except (OSError, ValueError):
        return Unknown("the kernel does not count pressure", "boot with psi=1 (Linux 4.20 or later)", off=True)
    return totals


def _disk(proc: Path, sys: Path, data_directory: Path | Unknown) -> Disk | Unknown:
    """The disk below the data directory; for a partition, the partition."""
    if isinstance(data_directory, Unknown):
        return Unknown(f"the server's disk is not known: {data_directory.reason}", data_directory.remedy)
    devices = sys / "dev" / "block"
    if not devices.exists():
        return Unknown("the machine's disks are not seen: /sys is not mounted", "mount /sys")
    try:
        device = data_directory.stat().st_dev
        wanted = (devices / f"{os.major(device)}:{os.minor(device)}").resolve(strict=True).name
        for line in bounded_text(proc / "diskstats").splitlines():
            fields = line.split()
            if fields[2] == wanted:
                return Disk(wanted, int(fields[3]), int(fields[5]) * SECTOR_BYTES, int(fields[12]), int(fields[13]))
    except (OSError, IndexError, ValueError):
        pass  # no block device below it: said next
    return Unknown("the data directory lies on no single block device", off=True)


def _gauges(sample: HostSample) -> dict[str, Value]:
    names = (
        "cpu_count",
        "memory_bytes",
        "memory_available_bytes",
        "page_cache_bytes",
        "swap_total_bytes",
        "swap_used_bytes",
        "processes_running",
        "processes_blocked",
        "kernel",
        "libc",
    )
    return {name: getattr(sample, name) for name in names}


def _rates(pair: Pair[HostSample]) -> dict[str, Value]:
    now, before = pair.after, pair.before

    def vmstat(*names: str) -> float | None:
        """The first of these counters that this kernel has: names changed in 5.9."""
        name = next((name for name in names if name in now.vmstat), "")
        return pair.rate(before.vmstat.get(name) if before else None, now.vmstat.get(name))

    def scaled(value: float | None, scale: float) -> float | None:
        return None if value is None else value * scale

    return {
        "context_switches_per_second": pair.rate(before.context_switches if before else None, now.context_switches),
        "swap_in_bytes_per_second": scaled(vmstat("pswpin"), PAGE_BYTES),
        "swap_out_bytes_per_second": scaled(vmstat("pswpout"), PAGE_BYTES),
        "file_refaults_per_second": vmstat("workingset_refault_file", "workingset_refault"),
        "major_faults_per_second": vmstat("pgmajfault"),
        **_cpu_ratios(pair),
        **_disk_rates(pair),
        **_pressure_ratios(pair),
    }


def _cpu_ratios(pair: Pair[HostSample]) -> dict[str, Value]:
    if pair.before is None:
        return {}
    grown = {
        name: pair.after.cpu_seconds[name] - pair.before.cpu_seconds.get(name, 0.0) for name in pair.after.cpu_seconds
    }
    # guest time is part of user time already: proc(5)
    total = sum(value for name, value in grown.items() if name not in ("guest", "guest_nice"))
    if total <= 0:
        return {}
    system = grown.get("system", 0) + grown.get("irq", 0) + grown.get("softirq", 0)
    return {
        "cpu_user_ratio": (grown.get("user", 0) + grown.get("nice", 0)) / total,
        "cpu_system_ratio": system / total,
        "cpu_idle_ratio": grown.get("idle", 0) / total,
        "cpu_iowait_ratio": max(grown.get("iowait", 0), 0) / total,
        "cpu_steal_ratio": max(grown["steal"], 0) / total if "steal" in grown else None,
    }


def _disk_rates(pair: Pair[HostSample]) -> dict[str, Value]:
    now, before = pair.after.disk, pair.before.disk if pair.before else None
    if isinstance(now, Unknown) or not isinstance(before, Disk) or before.name != now.name:
        return {}
    busy, weighted = (
        pair.rate(before.busy_milliseconds, now.busy_milliseconds),
        pair.rate(before.weighted_milliseconds, now.weighted_milliseconds),
    )
    return {
        "disk_reads_per_second": pair.rate(before.reads, now.reads),
        "disk_read_bytes_per_second": pair.rate(before.read_bytes, now.read_bytes),
        "disk_busy_ratio": None if busy is None else min(busy / MILLISECONDS_PER_SECOND, 1.0),
        "disk_queue_length": None if weighted is None else weighted / MILLISECONDS_PER_SECOND,
    }


def _pressure_ratios(pair: Pair[HostSample]) -> dict[str, Value]:
    now, before = pair.after.pressure_microseconds, pair.before.pressure_microseconds if pair.before else None
    if isinstance(now, Unknown) or before is None or isinstance(before, Unknown):
        return {}
    ratios: dict[str, Value] = {}
    for column, key in (
        ("io_pressure_some_ratio", "io_some"),
        ("io_pressure_full_ratio", "io_full"),
        ("memory_pressure_some_ratio", "memory_some"),
    ):
        rate = pair.rate(before.get(key), now.get(key))
        ratios[column] = None if rate is None else min(rate / MICROSECONDS_PER_SECOND, 1.0)
    return ratios


COLLECTOR = HostCollector()
