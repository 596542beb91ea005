"""How long the ALTER of a table lasts: what there is to do, by how long that took on this machine, else on another, with ends far apart.

Both hold where the copy fits memory. A copy that inserts row by row reads and writes pages of its indexes in any order; once they are larger
than the buffer pool, each row waits for the disk, and only the least time is known. One that is sorted first does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from myisam_advisor.catalogue.conversions import NO_RATES, SHORTEST_SECONDS, Conversion, Rates
from myisam_advisor.catalogue.copy_work import NUMBERS, TEXTS, reference_seconds, way_of
from myisam_advisor.migrate.change import TableName
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.sizes import Contents, Range
from myisam_advisor.proofs.rate_store import table_key
from myisam_advisor.texts.templates import size
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.server.version_number import PRODUCT_NAMES

# How many times as long as on the machine that the pieces of work were measured on: half of it on one with faster processors, four times on a
# busy one with a slow disk, whose copies flush pages.
ELSEWHERE: Range = (0.5, 4.0)
REPORTED = "reported: 3 days for 4 GB with 2 GB of memory"


@dataclass(frozen=True, slots=True)
class Machine:
    """What of the machine decides how long a copy lasts, and whether it ends: memory that is free, the new engine's cache, what was measured here, the disk.

    `own_disks` is what those databases have free whose directory is another file system than the data directory's, `temporary_free_bytes` what tmpdir has.
    `server` tells one server from another (proof.server_key); empty, no table is known again.
    """

    available_bytes: float | None = None
    cache_bytes: float | None = None
    rates: Rates = NO_RATES
    now: float = 0.0
    disk_free_bytes: float | None = None
    server: str = ""
    own_disks: Mapping[str, int | None] = field(default_factory=dict)
    temporary_free_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Lasting:
    """The least time; the most, None where only the least is known, and then why; where and when the rate was measured, empty for elsewhere.

    `passed_over` says why what was measured here is not it.
    """

    least: float
    most: float | None
    why: str = ""
    measured: str = ""
    passed_over: str = ""

    @property
    def ends(self) -> Range | None:
        """Both ends, where there are two."""
        return None if self.most is None else (self.least, self.most)


def own_copy(name: TableName, contents: Contents, to: str, here: ServerKind, machine: Machine) -> Conversion | None:
    """What became of this very table when it was copied here (`trial engine`); None where it never was, or is another one by now."""
    if contents.work is None or not machine.server:
        return None
    product, version, way = _kind(here, to)
    key = table_key(machine.server, *name)
    return machine.rates.of_table(key, product, version, to, machine.now, way, contents.work)


def lasting(
    contents: Contents, after: Range, to: str, here: ServerKind, machine: Machine, own: Conversion | None = None
) -> Lasting | None:
    """How long the ALTER lasts; None where headers do not tell what there is to do. `after` is between which sizes the table will be; `own` its copy's."""
    if contents.work is None:
        return None
    product, version, way = _kind(here, to)
    rate = machine.rates.rate_for(product, version, to, machine.now, way)
    if own is not None:
        (least, most), measured = own.seconds_of(contents.work), own.measured
    elif rate is not None:
        (least, most), measured = rate.seconds(contents.work, way), rate.measured
    else:
        seconds = reference_seconds(contents.work, way)
        least, most = (max(seconds * times, SHORTEST_SECONDS) for times in ELSEWHERE)
        measured = ""
    why = _beyond_memory(contents, after, to, here, machine)
    passed_over = "" if measured else machine.rates.passed_over(product, version, to, machine.now)
    return Lasting(least, None if why else most, why, measured, passed_over)


def _kind(here: ServerKind, to: str) -> tuple[str, str, str]:
    """Product, version, and in which way it copies."""
    product, version = PRODUCT_NAMES[here.flavour], ".".join(map(str, here.version))
    return product, version, way_of(product, version, to, sorts=here.sorts_copies)


def _beyond_memory(contents: Contents, after: Range, to: str, here: ServerKind, machine: Machine) -> str:
    """What does not fit where; empty where all does."""
    available, cache = machine.available_bytes, machine.cache_bytes
    if available is not None and after[1] > available:
        return f"{size(after[1])} do not fit into {size(available)} of available memory"
    row_by_row = to == INNODB and not here.sorts_copies
    if row_by_row and cache is not None and contents.index_bytes > cache:
        return f"{size(contents.index_bytes)} of indexes do not fit into {size(cache)} of innodb_buffer_pool_size, and rows are inserted one by one"
    # Measured: 1 GB of rows by a text took five times as long with 512 MB of buffer pool on MySQL 9.7 as rows by a counter did.
    by_key = contents.work is not None and contents.work.clustered in (NUMBERS, TEXTS)
    if row_by_row and by_key and cache is not None and after[1] > cache:
        return f"{size(after[1])} do not fit into {size(cache)} of innodb_buffer_pool_size, and each row is put where its key belongs"
    return ""
