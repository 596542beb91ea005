"""What two versions say to the same statements, held against each other statement by statement.

The present version is asked twice. What it answers otherwise by itself (a read beside writes, RAND) says nothing of the newer one.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import field

from myisam_advisor.trial.statements.figures import OTHER_ANSWERS_SHARE, STRAYING_RATIO
from myisam_advisor.trial.statements.schedule import UNKNOWN, Schedule
from myisam_exporter.declaring.lean_dataclasses import dataclass

# One run's answers, thread by thread, as `usual_answer` has them.
Answers = Sequence["array[int]"]


@dataclass(slots=True)
class Group:
    """Statements of one kind that went alike: how many, and the place in the recording of the first."""

    statements: int = 0
    position: int = -1

    def add(self, position: int) -> None:
        """One more."""
        if not self.statements or position < self.position:
            self.position = position
        self.statements += 1


@dataclass(slots=True)
class Rows:
    """Of one kind: how many were taken by both, how many returned or changed other numbers of rows, and one of these as an example."""

    compared: int = 0
    other: int = 0
    unsteady: int = 0
    present: int = 0
    newer: int = 0

    @property
    def is_other(self) -> bool:
        """Whether it is more than what reads beside writes do to rows."""
        beyond = self.other - STRAYING_RATIO * self.unsteady
        return self.other > 0 and beyond > OTHER_ANSWERS_SHARE * self.compared


@dataclass(slots=True)
class TwoAnswers:
    """All of them. Keys of those that are refused: the kind, the number of the error, and with what the other version ends it (0: not)."""

    sent: int = 0
    not_reached: int = 0
    refused_by_both: Counter[int] = field(default_factory=Counter)
    unsteady: int = 0
    only_newer: dict[tuple[int, int, int], Group] = field(default_factory=dict)
    only_present: dict[tuple[int, int, int], Group] = field(default_factory=dict)
    rows: dict[int, Rows] = field(default_factory=dict)

    @property
    def otherwise(self) -> set[int]:
        """The kinds that the versions do not answer alike."""
        refused = {key[0] for key in (*self.only_newer, *self.only_present)}
        return refused | {kind for kind, rows in self.rows.items() if rows.is_other}

    @property
    def answered_otherwise(self) -> int:
        """How many statements."""
        groups = (*self.only_newer.values(), *self.only_present.values())
        return sum(one.statements for one in groups) + sum(one.other for one in self.rows.values() if one.is_other)


def held_together(schedule: Schedule, first: Answers, again: Answers, newer: Answers) -> TwoAnswers:
    """Go through all answers once: the present version's first and second ones, and the newer one's."""
    found = TwoAnswers()
    for kind, position, before, second, after in _all(schedule, first, again, newer):
        if UNKNOWN in (before, after):
            found.not_reached += 1
            continue
        found.sent += 1
        if UNKNOWN not in (second, before) and _error(second) != _error(before):
            found.unsteady += 1
        else:
            _compare(found, kind, position, (before, second, after))
    return found


def _all(schedule: Schedule, *runs: Answers) -> Iterator[tuple[int, int, int, int, int]]:
    for number, plan in enumerate(schedule.plans):
        yield from zip(plan.kinds, plan.positions, *(run[number] for run in runs), strict=True)


def _compare(found: TwoAnswers, kind: int, position: int, answers: tuple[int, int, int]) -> None:
    before, second, after = answers
    present, newer = _error(before), _error(after)
    if newer and newer == present:
        found.refused_by_both[kind] += 1
    elif newer:
        found.only_newer.setdefault((kind, newer, present), Group()).add(position)
    elif present:
        found.only_present.setdefault((kind, present, 0), Group()).add(position)
    else:
        rows = found.rows.setdefault(kind, Rows())
        rows.compared += 1
        if second not in (UNKNOWN, before):
            rows.unsteady += 1
            found.unsteady += 1
        elif before != after:
            if not rows.other:
                rows.present, rows.newer = before, after
            rows.other += 1


def _error(answer: int) -> int:
    """The number of the error that an answer stands for; 0 for none."""
    return UNKNOWN - answer if answer < UNKNOWN else 0
