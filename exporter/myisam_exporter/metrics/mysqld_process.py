"""The server's process: switches, faults, files, and how often the page cache served it."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.mysqld_process import PROCESS, of_one_process, page_cache_hits_of, switches_of
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.process import TICKS_PER_SECOND, ProcessSample
from myisam_exporter.metrics.base import Group, Metric, Running, Scene, Value

SINCE = "counted while this exporter runs"


class MysqldMetrics(Group[ProcessSample]):
    """/proc/PID."""

    samples = (PROCESS,)
    metrics = (
        Metric("mysqld_threads", "gauge", "Threads of the process: /proc/PID/stat."),
        Metric("mysqld_resident_bytes", "gauge", "Resident memory, mapped files included: VmRSS."),
        Metric("mysqld_anonymous_bytes", "gauge", "Memory not backed by files: RssAnon."),
        Metric("mysqld_open_files", "gauge", "Open file descriptors: /proc/PID/fd."),
        Metric("mysqld_open_files_limit", "gauge", "Soft limit on open files: /proc/PID/limits."),
        Metric("mysqld_mapped_data_files", "gauge", "MyISAM data files mapped into memory: /proc/PID/maps."),
        Metric("mysqld_mapped_data_bytes", "gauge", "Their mapped bytes: /proc/PID/maps."),
        Metric("mysqld_cpu_seconds_total", "counter", "CPU time by mode: utime and stime.", ("mode",)),
        Metric(
            "mysqld_context_switches_total",
            "counter",
            f"Context switches over all threads, voluntary (waited) or involuntary (pushed off), {SINCE}: /proc/PID/task/*/status.",
            ("kind",),
        ),
        Metric("mysqld_minor_faults_total", "counter", "Page faults that needed no disk: minflt."),
        Metric("mysqld_major_faults_total", "counter", "Page faults of mapped files that needed the disk: majflt."),
        Metric("mysqld_read_calls_total", "counter", "Read calls: syscr of /proc/PID/io."),
        Metric("mysqld_read_bytes_total", "counter", "Bytes read, from page cache or disk: rchar of /proc/PID/io."),
        Metric("mysqld_storage_read_bytes_total", "counter", "Bytes fetched from storage: read_bytes of /proc/PID/io."),
        Metric(
            "mysqld_page_cache_accesses_total",
            "counter",
            "Pages asked of the page cache, the larger of read calls and bytes by page size, where that can be told apart "
            f"from other reads, {SINCE}. Hit ratio: 1 - rate(misses) / rate(accesses).",
        ),
        Metric(
            "mysqld_page_cache_misses_total",
            "counter",
            f"Of these, pages fetched from storage, InnoDB's own left out; readahead counts as misses, {SINCE}.",
        ),
        Metric(
            "mysqld_page_cache_countable", "gauge", "1 when the last interval could be counted for the two, else 0."
        ),
    )

    def values(self, pair: Pair[ProcessSample], scene: Scene) -> Iterable[Value]:
        """What this user may read of the process."""
        pair = of_one_process(pair)
        process = pair.after
        yield Value("mysqld_threads", process.threads)
        yield Value("mysqld_resident_bytes", process.resident_bytes)
        yield Value("mysqld_anonymous_bytes", process.anonymous_bytes)
        yield Value("mysqld_open_files_limit", process.open_files_limit)
        yield Value("mysqld_cpu_seconds_total", process.user_ticks / TICKS_PER_SECOND, ("user",))
        yield Value("mysqld_cpu_seconds_total", process.system_ticks / TICKS_PER_SECOND, ("system",))
        yield Value("mysqld_minor_faults_total", process.minor_faults)
        yield Value("mysqld_major_faults_total", process.major_faults)
        if not isinstance(process.open_files, Unknown):
            yield Value("mysqld_open_files", process.open_files)
        if not isinstance(process.mapped, Unknown):
            yield Value("mysqld_mapped_data_files", process.mapped.data_files)
            yield Value("mysqld_mapped_data_bytes", process.mapped.data_bytes)
        for kind, switches in zip(("voluntary", "involuntary"), switches_of(pair), strict=True):
            yield Value("mysqld_context_switches_total", scene.running.grow(switches, "switches", kind), (kind,))
        if not isinstance(process.io, Unknown):
            yield Value("mysqld_read_calls_total", process.io.calls)
            yield Value("mysqld_read_bytes_total", process.io.bytes)
            yield Value("mysqld_storage_read_bytes_total", process.io.storage_bytes)
            yield from _page_cache(pair, scene.running)


def _page_cache(pair: Pair[ProcessSample], running: Running) -> Iterable[Value]:
    hits = page_cache_hits_of(pair)
    accesses = misses = None
    if hits and not hits.blind_spot:
        # Readahead may fetch more than was asked for: no ratio is below 0.
        accesses, misses = hits.accesses, min(hits.misses, hits.accesses)
    counted, missed = running.grow(accesses, "page cache accesses"), running.grow(misses, "page cache misses")
    if counted or accesses is not None:  # 0 would say that nothing was read where nothing could be counted
        yield Value("mysqld_page_cache_accesses_total", counted)
        yield Value("mysqld_page_cache_misses_total", missed)
    if hits:
        yield Value("mysqld_page_cache_countable", int(not hits.blind_spot))


GROUP = MysqldMetrics()
