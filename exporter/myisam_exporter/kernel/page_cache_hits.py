"""How often the page cache served the server's process, from the counters that the kernel keeps of it.

In pages, never bytes: a row of 100 bytes that is not in memory fetches a page of 4096. Source: proc(5), /proc/PID/io; measured
against kernel tracepoints.
"""

from __future__ import annotations

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.kernel.residency import PAGE_BYTES

MINIMUM_ACCESSES = 1000


@dataclass(frozen=True, slots=True)
class PageCacheHits:
    """Accesses and misses in pages; `ratio` is None where `method` says why it cannot be true."""

    accesses: float
    misses: float
    ratio: float | None
    method: str
    blind_spot: str = ""


def page_cache_hits(calls: int, read_bytes: int, storage_bytes: int, blind_spot: str) -> PageCacheHits:
    """The page-cache hit ratio of the process, in pages.

    A row read of 100 bytes that misses fetches a page of 4096: by bytes the ratio would be -3996 %. So accesses are
    max(calls, bytes / page size), a lower bound, and misses are pages fetched from storage; readahead counts as misses.
    Measured against kernel tracepoints: equal for random reads, pessimistic for scans.

    Args:
        calls: read calls in the interval (syscr).
        read_bytes: bytes they returned (rchar).
        storage_bytes: bytes fetched from storage (read_bytes), InnoDB's own already taken off.
        blind_spot: why the counters cannot be trusted for a ratio here, or "".
    """
    accesses, misses = max(calls, read_bytes / PAGE_BYTES), max(storage_bytes, 0) / PAGE_BYTES
    if blind_spot:
        return PageCacheHits(accesses, misses, None, f"no ratio: {blind_spot}", blind_spot)
    if accesses < MINIMUM_ACCESSES:
        return PageCacheHits(
            accesses, misses, None, f"no ratio: fewer than {MINIMUM_ACCESSES} accesses in the interval"
        )
    if misses > accesses:
        return PageCacheHits(accesses, misses, None, "no ratio: readahead fetched more pages than were asked for")
    return PageCacheHits(
        accesses,
        misses,
        1 - misses / accesses,
        "pages of /proc/PID/io; readahead counts as misses, mapped files are not seen, the binary log is",
    )
