"""The server's process: threads, switches, faults, memory, files, and how often the page cache served it.

Context switches are kept per thread and only growth is added: psutil sees the main thread alone, and sums over threads fall when
connections end. The page-cache hit ratio counts pages, never bytes: see page_cache_hits.py. Source: proc(5).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.facts.columns import Block, Value, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.page_cache_hits import PageCacheHits, page_cache_hits
from myisam_exporter.kernel.process import TICKS_PER_SECOND, ProcessIo, ProcessSample, read_process
from myisam_exporter.kernel.residency import storage_blind_spot
from myisam_exporter.kernel.thread_switches import switches_between

INNODB_READ = "Innodb_data_read"
TLS_ACCEPTS = ("Ssl_accepts", "Ssl_finished_accepts")
# Above this share of the bytes read, what InnoDB reads hides what MyISAM does.
MAXIMUM_OTHER_SHARE = 0.2


PROCESS = SampleKey("mysqld_process", ProcessSample)


class MysqldProcessCollector(Collector[ProcessSample]):
    """The mysqld process in /proc."""

    name = PROCESS.name
    source = "/proc/PID"
    after = ("server", "status")
    reads = {"status": frozenset({*TLS_ACCEPTS, INNODB_READ})}
    sections = {
        "mysqld": columns(
            ("pid", "integer", "Process id, verified as the server's."),
            ("threads", "integer", "Threads of the process."),
            ("resident_bytes", "integer", "Resident memory, mapped files included."),
            ("anonymous_bytes", "integer", "Memory not backed by files: RssAnon; before Linux 4.5 by statm."),
            ("open_files", "integer", "Open file descriptors."),
            ("open_files_limit", "integer", "Soft limit on open files."),
            (
                "file_size_limit_bytes",
                "integer",
                "Soft limit on the size of a file that it writes; unknown where there is none.",
            ),
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
        location = location_of(context.sample(SERVER))
        pid, directory = location.pid, location.data_directory
        if isinstance(pid, Unknown):
            return pid
        sample = read_process(context.proc / str(pid), pid, context.switches)
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

    voluntary, involuntary = switches_of(pair)
    mapped = None if isinstance(now.mapped, Unknown) else now.mapped
    row: dict[str, Value] = {
        "pid": now.pid,
        "threads": now.threads,
        "resident_bytes": now.resident_bytes,
        "anonymous_bytes": now.anonymous_bytes,
        "open_files": None if isinstance(now.open_files, Unknown) else now.open_files,
        "open_files_limit": now.open_files_limit,
        "file_size_limit_bytes": now.file_size_limit_bytes,
        "cpu_user_ratio": rate("user_ticks", TICKS_PER_SECOND),
        "cpu_system_ratio": rate("system_ticks", TICKS_PER_SECOND),
        "voluntary_switches_per_second": pair.per_second(voluntary),
        "involuntary_switches_per_second": pair.per_second(involuntary),
        "minor_faults_per_second": rate("minor_faults"),
        "major_faults_per_second": rate("major_faults"),
        "mapped_data_files": mapped.data_files if mapped else None,
        "mapped_data_bytes": mapped.data_bytes if mapped else None,
        "malloc": mapped.malloc if mapped else None,
    }
    return row | _io_rates(pair) | _page_cache_columns(pair)


def switches_of(pair: Pair[ProcessSample]) -> tuple[int | None, int | None]:
    """Voluntary and involuntary switches of the threads that live now; those of threads that came and went in between are lost.

    A process has a thread at least: where none tells its switches they are not 0 but unknown.
    """
    if pair.before is None or not pair.seconds or not pair.before.switches or not pair.after.switches:
        return None, None
    return switches_between(pair.before.switches, pair.after.switches)


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
    return {
        "page_cache_accesses_per_second": pair.per_second(hits.accesses),
        "page_cache_misses_per_second": pair.per_second(hits.misses),
        "page_cache_hit_ratio": hits.ratio,
        "page_cache_method": hits.method,
    }


def page_cache_hits_of(pair: Pair[ProcessSample]) -> PageCacheHits | None:
    """How often the page cache served the process over the interval; None without an interval or without the right to know."""
    now, before = pair.after, pair.before
    if before is None or not pair.seconds or isinstance(now.io, Unknown) or isinstance(before.io, Unknown):
        return None
    innodb_bytes = _grown(pair, INNODB_READ)
    read_bytes = now.io.bytes - before.io.bytes
    return page_cache_hits(
        now.io.calls - before.io.calls,
        read_bytes,
        int(now.io.storage_bytes - before.io.storage_bytes - innodb_bytes),
        _blind_spot(pair, innodb_bytes, read_bytes),
    )


def _grown(pair: Pair[ProcessSample], name: str) -> float:
    after, before = pair.other(STATUS), pair.other_before(STATUS)
    if isinstance(after, Unknown) or isinstance(before, Unknown):
        return 0.0
    return max((after.number(name) or 0) - (before.number(name) or 0), 0)


def _blind_spot(pair: Pair[ProcessSample], innodb_bytes: float, read_bytes: int) -> str:
    """What in this interval the counters of the process cannot tell from reads of MyISAM files."""
    now, before = pair.after, pair.before
    if now.storage_blind_spot:
        return now.storage_blind_spot
    if isinstance(pair.other(STATUS), Unknown) or isinstance(pair.other_before(STATUS), Unknown):
        return "what InnoDB and TLS read is not known"
    if (
        before
        and not isinstance(now.mapped, Unknown)
        and now.mapped.data_files
        and now.major_faults > before.major_faults
    ):
        return "data files are mapped, and their page faults are not read calls"
    if innodb_bytes > MAXIMUM_OTHER_SHARE * max(read_bytes, 1):
        return "InnoDB read a large share of the bytes"
    if any(_grown(pair, name) for name in TLS_ACCEPTS):
        return "TLS clients connected, and their network reads look like file reads"
    return ""


COLLECTOR = MysqldProcessCollector()
