"""How fast this machine copied tables into other engines: what `trial engine` measured here, in the place of rates from elsewhere.

A copy takes a time for its rows and one for its indexes. Where several tables of different shares of index were measured, the two are told
apart; of one table both have the same rate. The ends are 30 % from the middle, further where the measurements themselves lie further.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

LEAST_SPREAD = 0.30
# Measured tables are mostly smaller than the one that is asked about; so much larger, and the rate is told with twice the room.
MOST_TIMES_LARGER = 20.0
FAR_SPREAD = 0.60
# Shorter ones measure how long it takes to begin.
LEAST_SECONDS, LEAST_BYTES = 0.2, 1 << 20
MAXIMUM_AGE_SECONDS = 365 * 86_400
CLOCK_SECONDS = 86_400
SHORTEST_SECONDS = 0.01


@dataclass(frozen=True, slots=True)
class Conversion:
    """One table copied into one engine by ALTER: its rows and indexes before, both together before and after, and how long it lasted.

    `table` tells one table from another, without its name. `row_format` is that of the MyISAM table.
    """

    server_product: str
    server_version: str
    engine: str
    row_format: str
    seconds: float
    bytes_before: float
    bytes_after: float
    data_bytes: float
    index_bytes: float
    taken_at: float
    table: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is long enough to tell a rate."""
        return self.seconds >= LEAST_SECONDS and self.data_bytes + self.index_bytes >= LEAST_BYTES


@dataclass(frozen=True, slots=True)
class Rate:
    """Seconds for a byte of rows and for one of indexes, how far that may be off, and when it was last measured."""

    data_seconds: float
    index_seconds: float
    spread: float
    taken_at: float
    largest_bytes: float

    @property
    def bytes_per_second(self) -> float:
        """Of a table that is half rows, half indexes."""
        return 2 / (self.data_seconds + self.index_seconds)

    @property
    def measured(self) -> str:
        """When and where, in words."""
        return f"measured here on {day(self.taken_at)}"

    def seconds(self, data_bytes: float, index_bytes: float) -> tuple[float, float]:
        """Between which times such a table is copied."""
        middle = data_bytes * self.data_seconds + index_bytes * self.index_seconds
        is_far = data_bytes + index_bytes > MOST_TIMES_LARGER * self.largest_bytes
        spread = max(self.spread, FAR_SPREAD if is_far else 0.0)
        return max(middle * (1 - spread), SHORTEST_SECONDS), max(middle * (1 + spread), SHORTEST_SECONDS)


@dataclass(frozen=True, slots=True)
class Rates:
    """All that was measured on this machine."""

    conversions: tuple[Conversion, ...] = ()

    def rate_for(self, product: str, version: str, engine: str, row_format: str, now: float) -> Rate | None:
        """For tables of this row format into this engine, on this series of this server; of other formats where none has this one."""
        fitting = [
            one
            for one in self.conversions
            if one.counts
            and _kind(one.server_product, one.server_version) == _kind(product, version)
            and one.engine == engine
            and -CLOCK_SECONDS < now - one.taken_at < MAXIMUM_AGE_SECONDS
        ]
        alike = [one for one in fitting if one.row_format == row_format]
        return _rate(alike or fitting) if fitting else None


NO_RATES = Rates()


def day(moment: float) -> str:
    """A date for people."""
    told = time.localtime(moment)
    return f"{told.tm_mday} {time.strftime('%B', told)}{'' if told.tm_year == time.localtime().tm_year else f' {told.tm_year}'}"


def _kind(product: str, version: str) -> tuple[bool, tuple[str, ...]]:
    """Copies differ by series, and not by who packed the server: Percona's is MySQL here."""
    return product == "MariaDB", tuple(version.partition("-")[0].split(".")[:2])


def _rate(found: Sequence[Conversion]) -> Rate:
    both = _told_apart(found)
    if both is None:
        alike = median(one.seconds / (one.data_bytes + one.index_bytes) for one in found)
        both = alike, alike
    off = max(abs(one.seconds / (one.data_bytes * both[0] + one.index_bytes * both[1]) - 1) for one in found)
    latest = max(one.taken_at for one in found)
    return Rate(*both, max(LEAST_SPREAD, off), latest, max(one.data_bytes + one.index_bytes for one in found))


def _told_apart(found: Sequence[Conversion]) -> tuple[float, float] | None:
    """Least squares of the relative errors; None where the tables are too much alike for that."""
    pairs = [(one.data_bytes / one.seconds, one.index_bytes / one.seconds) for one in found]
    dd, ii, di = (sum(x * y for x, y in of) for of in (((d, d) for d, _ in pairs), ((i, i) for _, i in pairs), ((d, i) for d, i in pairs)))  # fmt: skip
    determinant = dd * ii - di * di
    if determinant < 0.01 * dd * ii or not determinant:
        return None
    d, i = sum(pair[0] for pair in pairs), sum(pair[1] for pair in pairs)
    data, index = (d * ii - i * di) / determinant, (i * dd - d * di) / determinant
    return (data, index) if data > 0 and index > 0 else None
