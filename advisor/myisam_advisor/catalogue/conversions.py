"""How fast this machine copied tables into other engines: what `trial engine` measured here, in the place of rates from elsewhere.

What a copy has to do is counted (copy_work.py), and what that took on another machine is known: how many times as long it takes here is the
median of what was measured. The ends are 30 % from the middle, further where the measurements themselves lie further. A table that was itself
copied here is told by that alone.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from myisam_advisor.catalogue.copy_work import BY_ROW, CopyWork, reference_seconds
from myisam_exporter.declaring.lean_dataclasses import dataclass

LEAST_SPREAD = 0.30
# One measurement in ten may lie further: a neighbour on the machine, a disk that was busy.
SHARE_WITHIN = 0.9
# Measured tables are mostly smaller than the one that is asked about; so much larger, and the rate is told with twice the room.
MOST_TIMES_LARGER = 20.0
FAR_SPREAD = 0.60
# Shorter ones measure how long it takes to begin.
LEAST_SECONDS, LEAST_BYTES = 0.2, 1 << 20
MAXIMUM_AGE_SECONDS = 365 * 86_400
CLOCK_SECONDS = 86_400
SHORTEST_SECONDS = 0.01
# A table that has grown, or shrunk, further than this since it was copied is told as any other: pages may be filled otherwise by now.
MOST_TIMES_CHANGED = 2.0
# Rows that take so many times as much, or as little, are others: in another format, or packed.
MOST_TIMES_ROW = 1.25
# The same table, copied again, has the same size but for the order in which pages were taken.
OWN_SIZE_SPREAD = 0.05


@dataclass(frozen=True, slots=True)
class Conversion:
    """One table copied into one engine by ALTER: what there was to do, in which way (copy_work.way_of), how long it lasted, how large it became.

    `table` tells one table from another, without its name.
    """

    server_product: str
    server_version: str
    engine: str
    way: str
    seconds: float
    work: CopyWork
    bytes_after: float
    taken_at: float
    table: str = ""

    @property
    def counts(self) -> bool:
        """Whether it is long enough to tell a rate."""
        return self.seconds >= LEAST_SECONDS and self.work.total_bytes >= LEAST_BYTES

    @property
    def times_reference(self) -> float:
        """How many times as long it lasted as on the machine that the pieces were measured on."""
        return self.seconds / reference_seconds(self.work, self.way)

    @property
    def measured(self) -> str:
        """When and where, in words."""
        return f"measured on a copy of the table on {day(self.taken_at)}"

    def is_like(self, work: CopyWork) -> bool:
        """Whether a table with so much to do may be the one that was copied, with rows that came or went since."""
        now_filled = replace(
            self.work,
            rows=work.rows,
            data_bytes=work.data_bytes,
            index_bytes=work.index_bytes,
            word_bytes=work.word_bytes,
            part_words=work.part_words,
        )
        return (
            now_filled == work
            and min(self.work.rows, work.rows, self.work.data_bytes, work.data_bytes) > 0
            and _is_within(work.rows / self.work.rows, MOST_TIMES_CHANGED)
            and _is_within(work.total_bytes / self.work.total_bytes, MOST_TIMES_CHANGED)
            and _is_within(self._data_times(work) * self.work.rows / work.rows, MOST_TIMES_ROW)
        )

    def size_of(self, work: CopyWork) -> tuple[float, float]:
        """Between which sizes the same table will be, by what became of it: by its rows' bytes, as MyISAM's indexes are rebuilt and say less."""
        times = self._data_times(work)
        spread = OWN_SIZE_SPREAD * (1 + 2 * abs(times - 1))
        return self.bytes_after * times * (1 - spread), self.bytes_after * times * (1 + spread)

    def seconds_of(self, work: CopyWork) -> tuple[float, float]:
        """Between which times the same table is copied now. Words are counted in the same way then and now, by bytes unless both know better."""
        then = self
        if None in (self.work.part_words, work.part_words):
            then, work = replace(self, work=_by_bytes(self.work)), _by_bytes(work)
        return _rate([then]).seconds(work, self.way, is_own=True)

    def _data_times(self, work: CopyWork) -> float:
        return work.data_bytes / self.work.data_bytes


@dataclass(frozen=True, slots=True)
class Rate:
    """How many times as long as elsewhere copies last here, how far that may be off, and when it was last measured.

    `bytes_per_second` and `bytes_spread` are of the same measurements, for those who know a table's bytes alone.
    """

    times_reference: float
    spread: float
    bytes_per_second: float
    bytes_spread: float
    taken_at: float
    largest_bytes: float

    @property
    def measured(self) -> str:
        """When and where, in words."""
        return f"measured here on {day(self.taken_at)}"

    def seconds(self, work: CopyWork, way: str, *, is_own: bool = False) -> tuple[float, float]:
        """Between which times such a table is copied; `is_own`: it is the one that was measured."""
        middle = self.times_reference * reference_seconds(work, way)
        # By their bytes alone, what words take is known far worse than the rest: half of such tables were within 30 %, and on MySQL 5.6, which
        # writes words in another thread, two thirds by parts. Its own are known.
        is_far = bool(work.word_bytes) and (work.part_words is None or way == BY_ROW) and not is_own
        return self._ends(middle, max(self.spread, FAR_SPREAD if is_far else 0.0), work.total_bytes)

    def seconds_by_bytes(self, table_bytes: float) -> tuple[float, float]:
        """Between which times a table of so many bytes, rows and indexes, is copied."""
        return self._ends(table_bytes / self.bytes_per_second, self.bytes_spread, table_bytes)

    def _ends(self, middle: float, spread: float, table_bytes: float) -> tuple[float, float]:
        is_far = table_bytes > MOST_TIMES_LARGER * self.largest_bytes
        most = max(spread, FAR_SPREAD if is_far else 0.0)
        least = min(1 - LEAST_SPREAD, 1 / (1 + most))
        return max(middle * least, SHORTEST_SECONDS), max(middle * (1 + most), SHORTEST_SECONDS)


@dataclass(frozen=True, slots=True)
class Rates:
    """All that was measured on this machine."""

    conversions: tuple[Conversion, ...] = ()

    def rate_for(self, product: str, version: str, engine: str, now: float, way: str | None = None) -> Rate | None:
        """Of copies into this engine, on this series of this server, and in this way where it is told."""
        fitting = self._fitting(product, version, engine, now, way)
        return _rate(fitting) if fitting else None

    def passed_over(self, product: str, version: str, engine: str, now: float) -> str:
        """Which of what was measured here says nothing of this server, and why, of the newest; empty where there is none, or one that does."""
        newest = max(
            (one for one in self.conversions if one.counts and one.engine == engine),
            key=lambda one: one.taken_at,
            default=None,
        )
        if newest is None or self.rate_for(product, version, engine, now) is not None:
            return ""
        then, here = _series(newest.server_product, newest.server_version), _series(product, version)
        if _kind(newest.server_product, newest.server_version) != _kind(product, version):
            return f"what was measured here on {day(newest.taken_at)} was on {then}, and says nothing about {here}"
        if newest.taken_at > now:
            return "what was measured here is of the future, by a clock that was wrong"
        return f"what was measured here on {day(newest.taken_at)} is more than a year old"

    def of_table(
        self, key: str, product: str, version: str, engine: str, now: float, way: str, work: CopyWork
    ) -> Conversion | None:
        """What this very table's copy took, where it still is nearly that table: of the same indexes, and of a like size.

        `key` is rate_store.table_key's; nothing is found by an empty one.
        """
        of = [
            one for one in self._fitting(product, version, engine, now, way) if one.table == key and one.is_like(work)
        ]
        return max(of, key=lambda one: one.taken_at) if key and of else None

    def _fitting(self, product: str, version: str, engine: str, now: float, way: str | None) -> list[Conversion]:
        return [
            one
            for one in self.conversions
            if one.counts
            and _kind(one.server_product, one.server_version) == _kind(product, version)
            and one.engine == engine
            and way in (None, one.way)
            and -CLOCK_SECONDS < now - one.taken_at < MAXIMUM_AGE_SECONDS
        ]


NO_RATES = Rates()


def _by_bytes(work: CopyWork) -> CopyWork:
    return replace(work, part_words=None)


def _is_within(times: float, most: float) -> bool:
    return 1 / most <= times <= most


def day(moment: float) -> str:
    """A date for people."""
    told = time.localtime(moment)
    return f"{told.tm_mday} {time.strftime('%B', told)}{'' if told.tm_year == time.localtime().tm_year else f' {told.tm_year}'}"


def _kind(product: str, version: str) -> tuple[bool, tuple[str, ...]]:
    """Copies differ by series, and not by who packed the server: Percona's is MySQL here."""
    return product == "MariaDB", tuple(version.partition("-")[0].split(".")[:2])


def _series(product: str, version: str) -> str:
    return f"{product} {'.'.join(_kind(product, version)[1])}"


def _rate(found: Sequence[Conversion]) -> Rate:
    from statistics import median

    times = [one.times_reference for one in found]
    speeds = [one.work.total_bytes / one.seconds for one in found]
    of_times, of_speeds = median(times), median(speeds)
    return Rate(
        of_times,
        max(LEAST_SPREAD, _spread(times, of_times)),
        of_speeds,
        max(FAR_SPREAD, _spread(speeds, of_speeds)),
        max(one.taken_at for one in found),
        max(one.work.total_bytes for one in found),
    )


def _spread(values: Sequence[float], middle: float) -> float:
    """How far most of them lie from their median, by times."""
    off = sorted(max(one / middle, middle / one) - 1 for one in values)
    return off[ceil(SHARE_WITHIN * len(off)) - 1]
