"""Asking about the pages of files that a scan opens anyway: who looks once goes through the data directory once.

A file is asked about before its header is read, so that what is read here does not count as resident. A daemon asks by sweeps of their own
(sweeper.py), as it seldom reads a header.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.pages_by_table import TablePages, together
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.kernel.residency import FilePages, Prober
from myisam_exporter.outside.clock import CLOCK, Clock

# Of small files every so-manieth question is timed, as to time each would take a tenth of the pass; not an even number, as data and index
# files alternate. What a question takes beyond the usual counts once: the process may have waited for its turn.
TIMED_EVERY, USUAL_SECONDS = 17, 0.001
LARGE_BYTES = 1 << 20  # of these each question is timed: mincore(2) takes the longer the larger a file is


class PagesInPassing:
    """What the kernel says of the files of one scan, for at most so many seconds of asking; `seconds` are about those that it took."""

    def __init__(self, budget_seconds: float, clock: Clock = CLOCK, prober: Prober | None = None) -> None:
        self._prober = prober or Prober()
        self._budget_seconds, self._clock = budget_seconds, clock
        self.seconds = 0.0
        # Whether any is left; of no seconds at all there never is.
        self.has_time = budget_seconds > 0
        self._asked = 0
        # By the file's id; the file is kept with it, so that no other one can get the same.
        self._pages: dict[int, tuple[TableFile, TablePages]] = {}
        self._alike: dict[TablePages, TablePages] = {}  # what is said of one small table is said of many

    def of(self, descriptor: int, status: os.stat_result) -> FilePages | None:
        """The pages of an open file; None where they cannot be known."""
        self._asked += 1
        is_large = status.st_size >= LARGE_BYTES
        if self._asked % TIMED_EVERY and not is_large:
            return self._prober.pages_of(descriptor, status)
        began = self._clock.monotonic()
        found = self._prober.pages_of(descriptor, status)
        taken = self._clock.monotonic() - began
        self.seconds += taken if is_large else taken + min(taken, USUAL_SECONDS) * (TIMED_EVERY - 1)
        self.has_time = self.seconds < self._budget_seconds
        return found

    def refused(self, error: OSError) -> None:
        """A file that could not be opened for it."""
        self._prober.note_refusal(error)

    def keep(self, file: TableFile, data: FilePages | None, index: FilePages | None) -> None:
        """What was found of a table's two files, or of one partition's."""
        both = data, index
        self._pages[id(file)] = file, self._alike.setdefault(both, both)

    def of_table(self, files: Sequence[TableFile]) -> TablePages | None:
        """What was found of a table; None of one that was not asked about, or of which a partition was not: a part is not the whole."""
        if len(files) == 1:
            return self._of_file(files[0])
        found = [self._of_file(file) for file in files if file.has_header]
        return None if None in found else together(found)

    def _of_file(self, file: TableFile) -> TablePages | None:
        kept = self._pages.get(id(file))
        return None if kept is None else kept[1]

    @property
    def problems(self) -> tuple[Unknown, ...]:
        """Why files could not be asked about, one reason a kind."""
        return tuple(self._prober.problems.values())
