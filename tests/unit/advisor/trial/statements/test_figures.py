"""Which kinds of statements are told: those with weight, now or under a change."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from myisam_advisor.proofs.proof import NO_DIFFERENCE, WORSE
from myisam_advisor.trial.intervals import MANY
from myisam_advisor.trial.private.load import LoadMeter
from myisam_advisor.trial.rounds import CLEAR, Course, Limits, Noise, Rounds, run_rounds
from myisam_advisor.trial.statements.figures import compare, kinds_of
from myisam_advisor.trial.statements.replay_result import KindResult, Latency
from myisam_advisor.trial.statements.schedule import Schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED
from myisam_advisor.trial.statements.tally import KindTally, ReplayRun
from myisam_advisor.trial.statements.variants import BASELINE, Variant

KINDS = ("select", "update", "insert", "delete")
STATEMENTS, ROUNDS = 1000, 12


def run(milliseconds: Sequence[int]) -> ReplayRun:
    kinds = {number: KindTally(STATEMENTS, taken * 1_000_000) for number, taken in enumerate(milliseconds)}
    return ReplayRun(1.0, 4 * STATEMENTS, Latency(1, 1, 1), 0.001, kinds, 0, 0, 0.1, 0.5)


def told(**variants: Sequence[int]) -> list[KindResult]:
    """The kinds of a replay whose runs took so many milliseconds by kind; the first are of the baseline."""
    of_baseline, *others = variants.values()
    names = list(variants)[1:]
    runs = {BASELINE: [run(of_baseline)] * ROUNDS, **{name: [run(taken)] * ROUNDS for name, taken in zip(names, others, strict=True)}}
    rounds = Rounds(runs, Course(ROUNDS, 0, 0, 1.0, CLEAR, Noise(ROUNDS, 0.001, 0.001)), [])
    return list(kinds_of(Schedule(Path(), KINDS, [], [], 1, 0, {}, frozenset()), [(rounds, [Variant(name) for name in names])]))


def test_kinds_with_a_twentieth_of_the_time_are_told() -> None:
    assert [one.fingerprint for one in told(now=(900, 60, 40, 0), changed=(890, 60, 40, 0))] == ["select", "update"]


def test_a_kind_that_grows_by_a_change_is_told_and_stands_first() -> None:
    """Of 4 % of the time now, and three times as slow: a change may not hide what it costs."""
    found = told(now=(900, 60, 40, 0), quick=(400, 60, 40, 0), slow=(800, 60, 120, 0))
    assert [one.fingerprint for one in found] == ["insert", "select", "update"]
    assert [(one.name, one.verdict) for one in found[0].variants][1] == ("slow", WORSE)
    assert round(found[0].share, 3) == 0.04  # as it is now


def test_what_the_baseline_never_sent_is_held_against_nothing() -> None:
    assert "delete" not in [one.fingerprint for one in told(now=(900, 60, 40, 0), changed=(100, 60, 40, 900))]


def test_what_ends_the_rounds_is_what_a_replay_tells(tmp_path: Path) -> None:
    generator = random.Random(1)

    def once() -> ReplayRun:
        return replace(run((900, 60, 40, 0)), seconds=generator.lognormvariate(0, 0.15))

    def rate(one: ReplayRun) -> float:
        return one.rate(MAXIMUM_SPEED)

    limits = Limits(early_rounds=MANY, budget_seconds=None)
    found = run_rounds({BASELINE: once, "B": once}, rate, limits, lambda _: None, meter=LoadMeter(tmp_path), draw=random.Random(1))
    assert (found.course.ended_by, found.comparisons[0].verdict) == (CLEAR, NO_DIFFERENCE)
    assert [compare("B", found, rate)] == found.comparisons
