"""How many partitions a table has, as its .par file says: MySQL before 8.0, and MariaDB.

Words of four bytes: the length in words, a checksum, the number of partitions (those that are divided, by their parts). Source:
sql/ha_partition.cc (PAR_NUM_PARTS_OFFSET, create_handler_file), tried on MySQL 5.6 and MariaDB 10.11 and 11.8.
"""

from __future__ import annotations

import os

from myisam_exporter.outside.foreign_files import ForeignFiles

ENDING = ".par"
WORD_BYTES, HEAD_BYTES = 4, 12


def listed_partitions(files: ForeignFiles, stem: str, directory: int) -> int:
    """The number of partitions of a table whose files have this name without ending; 0 where the list tells none. Raises OSError where it cannot be read."""
    descriptor = files.open(f"{stem}{ENDING}", directory)
    try:
        head = os.pread(descriptor, HEAD_BYTES, 0)
    finally:
        os.close(descriptor)
    return int.from_bytes(head[HEAD_BYTES - WORD_BYTES :], "little")
