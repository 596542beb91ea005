"""How many pages of files may have come into the page cache, left it or been written back, as the kernel counts for the whole machine.

What was not counted did not change, with one exception: pages that a program gives up itself (posix_fadvise with POSIX_FADV_DONTNEED) are counted nowhere.
Sources: mm/vmstat.c, block/blk-core.c (pgpgin: all reads from block devices, in units of 1024 bytes), mm/vmscan.c (pgsteal_file, since Linux 5.9: of control
groups, too), mm/page-writeback.c (nr_written), fs/drop_caches.c (drop_pagecache).
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_exporter.kernel.residency import PAGE_BYTES

PGPGIN_BYTES = 1024
# One write into /proc/sys/vm/drop_caches may drop all there is: more than fits into any memory.
PAGES_OF_A_DROP = 1 << 40


def pages_moved(vmstat: Mapping[str, int]) -> int | None:
    """Pages since the machine started; None where this kernel does not count one of these. Other programs' pages and reads around the cache are among them."""
    try:
        fetched = vmstat["pgpgin"] * PGPGIN_BYTES // PAGE_BYTES
        return fetched + vmstat["pgsteal_file"] + vmstat["nr_written"] + vmstat["drop_pagecache"] * PAGES_OF_A_DROP
    except KeyError:
        return None
