"""Variants in rounds: as many as it takes to be clear, and no longer than a budget allows.

In each round every variant runs once, in an order that is drawn for each round by itself, and anew in each trial: whatever the machine does meanwhile, it
does not know the order, so that a difference which is none falls on one side as often as on the other. What disturbs is measured, not assumed: rounds
before the rates have settled (warm_up.py) and rounds in which others had the processors (load.py) are run, said, and not counted; how far
two equal runs differ (each variant against itself in two rounds that follow each other) is the noise.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Generic, TypeVar

from myisam_advisor.proofs.proof import UNCLEAR
from myisam_advisor.trial.comparison import MINIMUM_ROUNDS, Comparison, compare_pairs
from myisam_advisor.trial.intervals import MANY, PRIOR_VARIANCE, PRIOR_VARIANCE_OF_MANY
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.load import LoadMeter, MachineLoad
from myisam_advisor.trial.warm_up import warm_up_rounds
from myisam_exporter.declaring.lean_dataclasses import dataclass

T = TypeVar("T")
# Fewer may all lie on one side by chance, whatever they are: six do so once in 32 times.
FEWEST_ROUNDS = 6
# A rate beyond these is none, and has no logarithm to speak of.
SMALLEST_RATE, LARGEST_RATE = 1e-12, 1e18
# A look at all rounds takes longer the more there are, and one more of hundreds changes little.
LOOKS_AT_EACH_ROUND, LOOKS_AT_SHARE = 100, 0.02
CLEAR, ROUNDS, BUDGET = "clear", "rounds", "budget"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many rounds at least before anything is said, and at most; for how long (None: as long as the rounds take); and how many before a verdict ends it."""

    minimum_rounds: int = FEWEST_ROUNDS
    maximum_rounds: int | None = None
    budget_seconds: float | None = 300.0
    early_rounds: int = 0

    def prior_variance_of(self, rounds: int) -> float:
        """What the intervals of so many rounds are made with: the same at every look. Rounds that end before the first look have a single one, and are few."""
        return PRIOR_VARIANCE_OF_MANY if rounds >= self.early_rounds >= MANY else PRIOR_VARIANCE


@dataclass(frozen=True, slots=True)
class Noise:
    """How far two equal runs differ on this machine, as shares (0.02 is 2 %): in the median, and at most; None where no two are to be had."""

    pairs: int = 0
    median: float | None = None
    worst: float | None = None


@dataclass(frozen=True, slots=True)
class Course:
    """How a workload's rounds went: how many count, how many do not and why, how noisy it was, and what ended them.

    `ended_by` is one of clear, rounds, budget. `others_cpu_share` is what other processes took of all processors, over all rounds; None is unknown.
    `is_busy`: others had the processors in so many rounds that nothing may be concluded. `prior_variance`: what its intervals are made with, whoever makes one.
    """

    rounds: int
    warm_up_rounds: int = 0
    disturbed_rounds: int = 0
    seconds: float = 0.0
    ended_by: str = ROUNDS
    noise: Noise = field(default_factory=Noise)
    others_cpu_share: float | None = None
    is_busy: bool = False
    prior_variance: float = PRIOR_VARIANCE


class Rounds(Mapping[str, "list[T]"], Generic[T]):
    """The runs that count, by variant in the order of the variants, those of a round at the same place; and how they went."""

    def __init__(self, runs: Mapping[str, list[T]], course: Course, comparisons: Sequence[Comparison]) -> None:
        self.runs, self.course, self.comparisons = runs, course, comparisons

    def __getitem__(self, variant: str) -> list[T]:
        return self.runs[variant]

    def __iter__(self) -> Iterator[str]:
        return iter(self.runs)

    def __len__(self) -> int:
        return len(self.runs)


def run_rounds(
    variants: Mapping[str, Callable[[], T]],
    rate: Callable[[T], float],
    limits: Limits,
    said: Callable[[str], None],
    *,
    ran: Callable[[], None] = lambda: None,
    clock: Callable[[], float] = time.monotonic,
    meter: LoadMeter | None = None,
    draw: random.Random | None = None,
) -> Rounds[T]:
    """Run the variants, the first of which is the baseline, until each is clear against it. `said` hears what runs, `ran` of each run's end.

    `draw` draws the orders; without one they are others each time.
    """
    meter = meter or LoadMeter()
    book = _Book[T](list(variants), rate, limits)
    began, orders = clock(), _orders(list(variants), draw or random.Random())  # noqa: S311 -- a draw, not a secret
    while True:
        meter.begin()
        for name in next(orders):
            said(f"{name} (round {len(book.loads) + 1})")
            book.runs[name].append(variants[name]())
            ran()
        book.add(meter.lap())
        spent = clock() - began
        ended_by = book.end(limits, spent)
        if ended_by:
            return book.closed(ended_by, spent)


def run_told_rounds(
    variants: Mapping[str, Callable[[], T]], rate: Callable[[T], float], limits: Limits, listener: Listener
) -> Rounds[T]:
    """As `run_rounds` does; the listener hears what runs, of each run's end, and what is left of the budget."""
    began = time.monotonic()

    def ran() -> None:
        listener.ran()
        if limits.budget_seconds is not None:
            listener.left(max(limits.budget_seconds - (time.monotonic() - began), 0.0))

    return run_rounds(variants, rate, limits, listener.doing, ran=ran)


def doubted(comparison: Comparison, course: Course | None) -> Comparison:
    """The comparison, without its verdict where others had the processors."""
    return replace(comparison, verdict=UNCLEAR) if course and course.is_busy else comparison


class _Book(Generic[T]):
    """All rounds so far."""

    def __init__(self, names: Sequence[str], rate: Callable[[T], float], limits: Limits) -> None:
        self.runs: dict[str, list[T]] = {name: [] for name in names}
        self.loads: list[MachineLoad | None] = []
        self._levels: list[float] = []
        self.rate, self._limits = rate, limits
        most = limits.maximum_rounds
        self.enough = max(MINIMUM_ROUNDS, limits.minimum_rounds if most is None else min(limits.minimum_rounds, most))

    def add(self, load: MachineLoad | None) -> None:
        """A round is over: its load, and the mean logarithm of its rates."""
        self.loads.append(load)
        self._levels.append(statistics.fmean(_logarithm(self.rate(of_one[-1])) for of_one in self.runs.values()))

    def end(self, limits: Limits, spent: float) -> str:
        """What ends it now; nothing while it goes on. A round that would not fit into the budget is not begun."""
        count = len(self.loads)
        if count >= limits.early_rounds and is_look(count) and self.is_clear:
            return CLEAR
        if limits.maximum_rounds is not None and count >= limits.maximum_rounds:
            return ROUNDS
        is_over = limits.budget_seconds is not None and spent + spent / count > limits.budget_seconds
        return BUDGET if is_over else ""

    def closed(self, ended_by: str, spent: float) -> Rounds[T]:
        """What counts of it."""
        undisturbed, counted = self._undisturbed, self._counted
        loads = [load for load in self.loads if load is not None]
        whole = sum(load.seconds for load in loads)
        course = Course(
            rounds=len(counted),
            warm_up_rounds=len(self.loads if self._is_busy else undisturbed) - len(counted),
            disturbed_rounds=len(self.loads) - len(undisturbed),
            seconds=spent,
            ended_by=ended_by,
            noise=self._noise(counted),
            others_cpu_share=sum(load.others * load.seconds for load in loads) / whole if whole else None,
            is_busy=self._is_busy,
            prior_variance=self.prior_variance,
        )
        runs = {name: [of_one[number] for number in counted] for name, of_one in self.runs.items()}
        return Rounds(runs, course, [doubted(one, course) for one in self._comparisons()])

    @property
    def prior_variance(self) -> float:
        """What the intervals of the rounds so far are made with."""
        return self._limits.prior_variance_of(len(self.loads))

    @property
    def is_clear(self) -> bool:
        """Whether there is a verdict on every variant; without any beside the baseline, once there are enough rounds."""
        if self._is_busy or len(self._counted) < self.enough:
            return False
        return all(one.verdict != UNCLEAR for one in self._comparisons())

    @property
    def _undisturbed(self) -> list[int]:
        return [number for number, load in enumerate(self.loads) if load is None or not load.disturbs]

    @property
    def _is_busy(self) -> bool:
        return len(self._undisturbed) < min(self.enough, len(self.loads))

    @property
    def _counted(self) -> list[int]:
        """The rounds that count. On a busy machine all do: there are no better ones, and nothing is concluded from them."""
        numbers = list(range(len(self.loads))) if self._is_busy else self._undisturbed
        return numbers[warm_up_rounds([self._levels[number] for number in numbers]) :]

    def _comparisons(self) -> list[Comparison]:
        counted = self._counted
        baseline, *others = self.runs
        rates = {name: [self.rate(of_one[number]) for number in counted] for name, of_one in self.runs.items()}
        pairs = {name: list(zip(rates[baseline], rates[name], strict=True)) for name in others}
        return [compare_pairs(name, of_one, self.prior_variance) for name, of_one in pairs.items()]

    def _noise(self, counted: Sequence[int]) -> Noise:
        """Each variant against itself in the next round, two and two."""
        known = set(counted)
        whole = [number for number in counted if number % 2 == 0 and number + 1 in known]
        differences = [
            math.exp(abs(_logarithm(self.rate(of_one[number])) - _logarithm(self.rate(of_one[number + 1])))) - 1
            for of_one in self.runs.values()
            for number in whole
        ]
        if not differences:
            return Noise()
        return Noise(len(differences), statistics.median(differences), max(differences))


def is_look(count: int) -> bool:
    """Whether after so many rounds somebody looks whether it is clear."""
    return count <= LOOKS_AT_EACH_ROUND or count % int(count * LOOKS_AT_SHARE) == 0


def _logarithm(rate: float) -> float:
    return math.log(min(max(rate, SMALLEST_RATE), LARGEST_RATE))


def _orders(names: list[str], draw: random.Random) -> Iterator[list[str]]:
    """An order for each round.

    An order and then the same backwards is no better against drift, and worse against what comes back after two rounds: that falls on the same variant in both.
    """
    while True:
        yield draw.sample(names, len(names))
