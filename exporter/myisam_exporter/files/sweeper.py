"""Asking the kernel about every table's files within a time, the largest thousands of tables first; look after look only as many as it takes.

The first sweep asks for all. Later ones ask for what was written meanwhile, for what moves and, in turn, for some of the others
(sweep_turns.py): the cost of a sweep does not grow with the number of tables. While nothing differs it is of the same generation: what is worked out
from it need not be worked out again. For that, differences that hardly matter are gathered, and told every ten sweeps.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Change, TableName
from myisam_exporter.facts.generation import new_generation
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.pages_by_table import PagesByTable, TablePages, resident_pages, together
from myisam_exporter.files.sweep_pace import SweepPace
from myisam_exporter.files.sweep_turns import SweepTurns
from myisam_exporter.files.table_groups import NamesAt, TableGroups, grouped
from myisam_exporter.kernel.residency import Prober
from myisam_exporter.outside.clock import CLOCK, Clock
from myisam_exporter.outside.foreign_files import ForeignFiles

if TYPE_CHECKING:
    from myisam_exporter.files.data_directory import DataDirectoryScan
    from myisam_exporter.files.pages_in_passing import PagesInPassing
    from myisam_exporter.files.table_file import TableFile

CLOCK_EVERY_FILES = 64
# Tables of one size lie in many databases: so many are asked for in the order in which they lie, so that few directories are opened.
ASKED_TOGETHER = 4096
LATE = Unknown(
    "the time for asking about the page cache was over in a later look: what is known of some tables is older than is said",
    "--page-cache-seconds allows more",
)
# Pages that differ, of all that are known, and the sweeps after which less is told too.
DIFFERENCE_THAT_MATTERS, LONGEST_SILENCE_SWEEPS = 0.01, 10


@dataclass(frozen=True, slots=True)
class PageCacheSweep:
    """Pages of data and index file by (schema, table); partitions are summed.

    `skipped_tables` were never asked for; what is known of the smaller ones is up to `sweeps_in_turn` sweeps old, 0 where all are new,
    and of the largest up to SWEEPS_OF_LARGEST.
    """

    pages: PagesByTable
    skipped_tables: int
    problems: tuple[Unknown, ...]
    seconds: float
    sweeps_in_turn: int = 0
    change: Change | None = field(default=None, repr=False, compare=False)
    generation: int = field(default_factory=new_generation, init=False, repr=False, compare=False)


class Sweeper:
    """Sweeps of one server's files. Of a hundred thousand tables it keeps places in the scan, and no names."""

    def __init__(self, prober: Prober | None = None, clock: Clock = CLOCK) -> None:
        self._clock = clock
        self._prober = prober or Prober()
        self._files_generation: int | None = None
        self._tables = grouped(())
        self._turns, self._pace = SweepTurns(), SweepPace()
        self._least_of_largest = 0
        self._pages = PagesByTable(self._tables.places, ())
        self._untold: dict[int, TablePages] = {}
        self._silent_sweeps = 0
        self._resident_pages = 0
        self._tables_differ = False
        self._last: PageCacheSweep | None = None
        # The place at which this sweep's time was over, and the one that the next one begins at, so that it is not the same tables each time.
        self._ended_at: int | None = None
        self._begins_at = 0

    def sweep(self, scan: DataDirectoryScan, budget_seconds: float, pages_moved: int | None = None) -> PageCacheSweep:
        """Residency of the tables that a scan found, for at most `budget_seconds`; of its owner's files only, where it has one.

        `pages_moved` is what the kernel counted of pages that came or went until before this sweep, on the whole machine (page_cache_traffic.py).
        """
        started = self._clock.monotonic()
        if self._prober.files.owner != scan.owner:
            self._prober.files = ForeignFiles(scan.owner)
        counted = pages_moved if self._prober.sees_counted_files_only else None
        wanted = self._wanted(scan, self._pace.of_next_sweep(counted, self._resident_pages))
        self._prober.problems.clear()
        deadline = started + budget_seconds
        self._ended_at = None
        differing = self._see(wanted, deadline)
        is_whole = len(wanted) >= len(self._turns.order)
        if not is_whole and self._ended_at is None:
            self._turns.are_restless(self._see(self._turns.after(wanted, differing), deadline))
        if self._ended_at is not None and self._last is not None:
            self._begins_at = self._ended_at
            self._turns.had_too_little_time()
            self._prober.problems["time"] = LATE
        self._silent_sweeps += 1
        tells = self._must_tell()
        change = self._tell() if tells or self._last is None else Change(self._last.generation, frozenset())
        sweep = PageCacheSweep(
            self._pages,
            len(self._turns.order) - len(self._pages),
            tuple(self._prober.problems.values()),
            self._clock.monotonic() - started,
            0 if is_whole else self._turns.sweeps_in_turn,
            change,
        )
        last = self._last
        if last is None or tells or _told(sweep) != _told(last):
            self._last = last = sweep
        return last

    def _see(self, wanted: Sequence[int], deadline: float) -> frozenset[int]:
        """Gather what is not as it was told; the tables that are not as they were seen last."""
        differing = set()
        for place, one in self._ask(wanted, deadline):
            told = self._pages.at(place)
            seen = self._untold.get(place, told)
            if seen is not None and seen != one:
                differing.add(place)
            if told != one:
                self._untold[place] = one
            else:
                self._untold.pop(place, None)  # it is again as it was told
        return frozenset(differing)

    def _tell(self) -> Change | None:
        """Take over what was gathered; how the pages differ from those that were told last, where tables are the same."""
        change, known = None, self._pages
        self._pages = known.with_pages(self._untold)
        if self._last is None or self._tables_differ:
            self._resident_pages = sum(map(resident_pages, self._pages.each()))
        else:
            differing = ((known.at(place), one) for place, one in self._untold.items())
            self._resident_pages += sum(resident_pages(one) - resident_pages(before) for before, one in differing)
            change = Change(self._last.generation, NamesAt(self._tables.places, self._untold))
        order = self._turns.order
        is_whole = len(self._pages) == len(order)
        self._turns.never_asked = () if is_whole else [place for place in order if self._pages.at(place) is None]
        self._untold, self._silent_sweeps, self._tables_differ = {}, 0, False
        return change

    def _must_tell(self) -> bool:
        """Whether a table came or went, or enough differs, or a little does for long enough; of few tables everything is told."""
        if self._tables_differ or any(self._pages.at(place) is None for place in self._untold):
            return True
        if not self._untold or self._turns.are_few:
            return bool(self._untold)
        pairs = ((self._pages.at(place), one) for place, one in self._untold.items())
        differing = sum(abs(resident_pages(before) - resident_pages(one)) for before, one in pairs)
        return (
            differing > DIFFERENCE_THAT_MATTERS * self._resident_pages or self._silent_sweeps >= LONGEST_SILENCE_SWEEPS
        )

    def _wanted(self, scan: DataDirectoryScan, pace: int) -> Sequence[int]:
        """The tables to ask for now, by their places, in the order of asking."""
        if self._files_generation is None:
            self._adopt(scan)
            return self._turns.order
        is_same = scan.files_generation == self._files_generation
        return self._turns.of_next_sweep(() if is_same else self._follow(scan), pace)

    def _follow(self, scan: DataDirectoryScan) -> Sequence[int]:
        """Take the tables of a further scan; those that are not as they were."""
        before, change, known_before = self._tables, scan.change, self._files_generation
        if change is None or change.since != known_before:
            self._adopt(scan)
            return [
                place
                for place in self._turns.order
                if before.get(self._tables.name_at(place)) != self._tables.at(place)
            ]
        if self._is_of_other_order(before, scan.groups(), change.names):
            self._adopt(scan)
        self._files_generation, self._tables = scan.files_generation, scan.groups()
        places = map(self._tables.places.__getitem__, change.names)
        return [place for place in places if _has_header(self._tables, place)]

    def _is_of_other_order(self, before: TableGroups, tables: TableGroups, names: Iterable[TableName]) -> bool:
        """Whether one of these tables lost its header or has one again, or too many became some of the largest."""
        turns = self._turns
        for name in names:
            place = tables.places[name]
            if _has_header(tables, place) != _has_header(before, before.places[name]):
                return True
            if place not in turns.largest and tables.bytes_at(place) > self._least_of_largest:
                turns.grown.add(place)
        return turns.order_is_old

    def _adopt(self, scan: DataDirectoryScan) -> None:
        """Take tables that may be others, in their order; what is known of those that stay is kept."""
        before, former = self._tables, self._turns.order
        # Whose turn has not come yet: tables that are new are asked about at once, and take nobody's turn.
        waiting = frozenset(map(before.name_at, self._turns.never_asked))
        self._files_generation, self._tables = scan.files_generation, scan.groups()
        tables = self._tables
        bytes_of = enumerate(tables.bytes_of_each())
        sizes = {place: known for place, known in bytes_of if known is not None}
        order = array("i", sorted(sizes, key=sizes.__getitem__, reverse=True))
        if self._last is not None and not self._tables_differ:
            is_same = tables.places is before.places
            now = former if is_same else (tables.places.get(before.name_at(place)) for place in former)
            self._tables_differ = len(former) != len(sizes) or not all(place in sizes for place in now)
        untold = PagesByTable(before.places, [self._untold.get(place) for place in range(len(before))])
        self._pages = self._pages.of(tables, order)
        gathered = untold.of(tables, order)
        self._untold = {place: one for place in order if (one := gathered.at(place)) is not None}
        self._turns.take(order, [place for place in order if tables.name_at(place) in waiting] if waiting else ())
        self._least_of_largest = 0 if self._turns.are_few else min(map(sizes.__getitem__, self._turns.largest))

    def _ask(self, wanted: Sequence[int], deadline: float) -> Iterator[tuple[int, TablePages]]:
        """What the kernel says of these tables, as far as the time reaches."""
        alike: dict[TablePages, TablePages] = {}  # what is said of one small table is said of many
        with _Directories(self._prober.files) as directories:
            for number, place in enumerate(_as_they_lie(wanted, self._begins_at)):
                is_time_asked = number % CLOCK_EVERY_FILES == 0 or self._prober.has_walked_pages
                if is_time_asked and self._clock.monotonic() > deadline:
                    self._ended_at = place
                    break
                found = self._ask_table(self._tables.at(place), directories)
                if found is not None:
                    yield place, alike.setdefault(found, found)

    def _ask_table(self, files: Sequence[TableFile], directories: _Directories) -> TablePages | None:
        if len(files) == 1:
            return self._ask_file(files[0], directories)
        return together([self._ask_file(file, directories) for file in files if file.has_header])

    def _ask_file(self, file: TableFile, directories: _Directories) -> TablePages | None:
        directory = directories.opened(file.directory)
        if directory is None:
            return None
        probe = self._prober.probe
        return probe(file.stem + ".MYD", directory), probe(file.stem + ".MYI", directory)


def _as_they_lie(wanted: Sequence[int], begin: int) -> Iterator[int]:
    """The tables that are wanted, the first of them first, but some thousand at a time in the order of their places, from one on."""
    for start in range(0, len(wanted), ASKED_TOGETHER):
        places = sorted(wanted[start : start + ASKED_TOGETHER])
        first = bisect_left(places, begin)
        yield from places[first:]
        yield from places[:first]


class _Directories:
    """The directory that was opened last: tables of one size often lie together."""

    def __init__(self, files: ForeignFiles) -> None:
        self._files = files
        self._path, self._descriptor = "", -1

    def __enter__(self) -> _Directories:
        return self

    def __exit__(self, *_: object) -> None:
        self._close()

    def opened(self, path: str) -> int | None:
        """Its descriptor, or None when it cannot be opened."""
        if path != self._path:
            self._close()
            try:
                self._descriptor = self._files.open_directory(path)
            except OSError:
                return None
            self._path = path
        return self._descriptor

    def _close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._path, self._descriptor = "", -1


def _told(sweep: PageCacheSweep) -> tuple[object, ...]:
    return sweep.skipped_tables, sweep.problems, sweep.sweeps_in_turn


def _has_header(tables: TableGroups, place: int) -> bool:
    return any(file.has_header for file in tables.at(place))


def swept_in_passing(scan: DataDirectoryScan, pages: PagesInPassing) -> PageCacheSweep:
    """What was found of the scan's files while they were read."""
    tables = scan.groups()
    found = PagesByTable(tables.places, list(map(pages.of_table, tables.each())))
    return PageCacheSweep(found, tables.with_header() - len(found), pages.problems, pages.seconds)
