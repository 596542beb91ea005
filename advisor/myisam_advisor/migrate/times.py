"""How long the ALTER of a table lasts: by what `trial engine` measured on this machine, else by rates from elsewhere, which are far apart.

Both hold where the copy fits memory. A copy that inserts row by row reads and writes pages of its indexes in any order; once they are larger
than the buffer pool, each row waits for the disk, and only the least time is known. One that is sorted first does not.
"""

from __future__ import annotations

from dataclasses import dataclass

from myisam_advisor.catalogue.conversions import NO_RATES, Rates
from myisam_advisor.migrate.server_kind import INNODB, ServerKind
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.texts.templates import size
from myisam_exporter.server.version_number import PRODUCT_NAMES

Range = tuple[float, float]
# Bytes a second that an ALTER writes into the new engine, by flavour: lowest and highest of what was measured on a busy machine of two
# processors, the highest doubled for an idle one. Into Aria: as a rebuild of MyISAM (rules/evidence.json), halved and doubled.
RATES: dict[tuple[str, bool], Range] = {
    ("mariadb", True): (7e6, 40e6), ("mysql", True): (1.5e6, 15e6), ("mariadb", False): (20e6, 80e6), ("mysql", False): (20e6, 80e6),
}  # fmt: skip
SHORTEST_SECONDS = 0.01
REPORTED = "reported: 3 days for 4 GB with 2 GB of memory"


@dataclass(frozen=True, slots=True)
class Machine:
    """What of the machine decides how long a copy lasts, and whether it ends: memory that is free, the new engine's cache, what was measured here, the disk."""

    available_bytes: float | None = None
    cache_bytes: float | None = None
    rates: Rates = NO_RATES
    now: float = 0.0
    disk_free_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class Lasting:
    """The least time; the most, None where only the least is known, and then why; where and when the rate was measured, empty for elsewhere."""

    least: float
    most: float | None
    why: str = ""
    measured: str = ""

    @property
    def ends(self) -> Range | None:
        """Both ends, where there are two."""
        return None if self.most is None else (self.least, self.most)


def lasting(contents: Contents, after: Range, to: str, here: ServerKind, machine: Machine) -> Lasting:
    """How long the ALTER lasts. `after` is between which sizes the table will be."""
    product, version = PRODUCT_NAMES[here.flavour], ".".join(map(str, here.version))
    rate = machine.rates.rate_for(product, version, to, contents.row_format, machine.now)
    if rate is not None:
        least, most = rate.seconds(contents.data_bytes, contents.index_bytes)
    else:
        slow, fast = RATES["mariadb" if here.is_mariadb else "mysql", to == INNODB]
        least, most = max(after[0] / fast, SHORTEST_SECONDS), max(after[1] / slow, 20 * SHORTEST_SECONDS)
    why = _beyond_memory(contents, after, to, here, machine)
    return Lasting(least, None if why else most, why, rate.measured if rate else "")


def _beyond_memory(contents: Contents, after: Range, to: str, here: ServerKind, machine: Machine) -> str:
    """What does not fit where; empty where all does."""
    available, cache = machine.available_bytes, machine.cache_bytes
    if available is not None and after[1] > available:
        return f"{size(after[1])} do not fit into {size(available)} of available memory"
    row_by_row = to == INNODB and not here.sorts_copies
    if row_by_row and cache is not None and contents.index_bytes > cache:
        return f"{size(contents.index_bytes)} of indexes do not fit into {size(cache)} of innodb_buffer_pool_size, and rows are inserted one by one"
    return ""
