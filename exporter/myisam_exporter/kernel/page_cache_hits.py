"""How often the page cache served the server's process, from the counters that the kernel keeps of it.

In pages, never bytes: a row of 100 bytes that is not in memory fetches a page of 4096. Source: proc(5), /proc/PID/io; measured
against kernel tracepoints.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.status import Status
from myisam_exporter.facts.unknown import Unknown

if TYPE_CHECKING:
    from myisam_exporter.collectors.mysqld_process import ProcessSample

PAGE_BYTES = os.sysconf("SC_PAGESIZE")
MINIMUM_ACCESSES = 1000
MAXIMUM_OTHER_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class PageCacheHits:
    """Accesses and misses in pages per second; `ratio` is None where `method` says why it cannot be true."""

    accesses_per_second: float | None
    misses_per_second: float | None
    ratio: float | None
    method: str
    blind_spot: str = ""


def page_cache_hits(
    calls: int, read_bytes: int, storage_bytes: int, seconds: float, blind_spot: str = ""
) -> PageCacheHits:
    """The page-cache hit ratio of the process, in pages.

    A row read of 100 bytes that misses fetches a page of 4096: by bytes the ratio would be -3996 %. So accesses are
    max(calls, bytes / page size), a lower bound, and misses are pages fetched from storage; readahead counts as misses.
    Measured against kernel tracepoints: equal for random reads, pessimistic for scans.

    Args:
        calls: read calls in the interval (syscr).
        read_bytes: bytes they returned (rchar).
        storage_bytes: bytes fetched from storage (read_bytes), InnoDB's own already taken off.
        seconds: length of the interval.
        blind_spot: why the counters cannot be trusted for a ratio here, or "".
    """
    accesses, misses = max(calls, read_bytes / PAGE_BYTES), max(storage_bytes, 0) / PAGE_BYTES
    rates = accesses / seconds, misses / seconds
    if blind_spot:
        return PageCacheHits(*rates, None, f"no ratio: {blind_spot}", blind_spot)
    if accesses < MINIMUM_ACCESSES:
        return PageCacheHits(*rates, None, f"no ratio: fewer than {MINIMUM_ACCESSES} accesses in the interval")
    if misses > accesses:
        return PageCacheHits(*rates, None, "no ratio: readahead fetched more pages than were asked for")
    return PageCacheHits(
        *rates,
        1 - misses / accesses,
        "pages of /proc/PID/io; readahead counts as misses, mapped files are not seen, the binary log is",
    )


def page_cache_hits_of(pair: Pair[ProcessSample]) -> PageCacheHits | None:
    """How often the page cache served the process over the interval; None without an interval or without the right to know."""
    now, before = pair.after, pair.before
    if before is None or not pair.seconds or isinstance(now.io, Unknown) or isinstance(before.io, Unknown):
        return None
    innodb_bytes = _growth(pair, "Innodb_data_read")
    read_bytes = now.io.bytes - before.io.bytes
    return page_cache_hits(
        now.io.calls - before.io.calls,
        read_bytes,
        int(now.io.storage_bytes - before.io.storage_bytes - innodb_bytes),
        pair.seconds,
        _blind_spot(pair, innodb_bytes, read_bytes),
    )


def _growth(pair: Pair[ProcessSample], name: str) -> float:
    after, before = pair.others.get("status"), pair.others_before.get("status")
    if not isinstance(after, Status) or not isinstance(before, Status):
        return 0.0
    return max((after.number(name) or 0) - (before.number(name) or 0), 0)


def _blind_spot(pair: Pair[ProcessSample], innodb_bytes: float, read_bytes: int) -> str:
    """What in this interval the counters of the process cannot tell from reads of MyISAM files."""
    now, before = pair.after, pair.before
    if now.storage_blind_spot:
        return now.storage_blind_spot
    if not all(isinstance(others.get("status"), Status) for others in (pair.others, pair.others_before)):
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
    if _growth(pair, "Ssl_accepts") or _growth(pair, "Ssl_finished_accepts"):
        return "TLS clients connected, and their network reads look like file reads"
    return ""
