"""Whether the machine has room for InnoDB's asynchronous requests: MySQL ends at its start where it has for some of them only.

All servers of a machine share fs.aio-max-nr requests, 65,536 by default. InnoDB asks for 256 a thread: MySQL 5.5 and 5.6 take 2,661, 8.0 and 9.7
take 2,305 on two processors, and more read threads on more of them (manual, "innodb_read_io_threads"). Where not one is left, MySQL does without
by itself; where fewer are left than it wants, "Cannot initialize AIO sub-system" ends it. MariaDB always does without.

MyISAM reads and writes by pread(2) and pwrite(2), so what a trial measures of it is the same either way. InnoDB's own threads read ahead and write pages
behind the statements then.
"""

from __future__ import annotations

import os
from pathlib import Path

from myisam_exporter.outside.bounded_reading import bounded_text
from myisam_exporter.outside.numbers import LARGEST_COUNTER, whole_number

KERNEL_LIMITS = Path("/proc/sys/fs")
REQUESTS_OF_A_THREAD = 256
# Ten threads on a small machine, one more for each two processors; the rest is for servers that start at the same moment.
SPARE_THREADS = 16
WITHOUT = ("--loose-innodb-use-native-aio=0",)


def words_where_requests_are_few() -> tuple[str, ...]:
    """What a MySQL server's command line needs on this machine, now; nothing where the kernel does not say how many requests are left."""
    try:
        taken, limit = (
            whole_number(bounded_text(KERNEL_LIMITS / name).strip(), LARGEST_COUNTER)
            for name in ("aio-nr", "aio-max-nr")
        )
    except OSError:
        return ()
    if taken is None or limit is None:
        return ()
    wanted = REQUESTS_OF_A_THREAD * (SPARE_THREADS + (os.cpu_count() or 1) // 2)
    return WITHOUT if limit - taken < wanted else ()
