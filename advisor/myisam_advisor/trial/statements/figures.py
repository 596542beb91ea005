"""What the runs of a replay come to: ratios by variant and by kind of statement, answers that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from myisam_advisor.texts.templates import percent
from myisam_advisor.trial.comparison import Comparison, compare_pairs
from myisam_advisor.trial.rounds import Rounds, doubted
from myisam_advisor.trial.statements.replay_result import Difference, KindResult, KindVariant
from myisam_advisor.trial.statements.schedule import Schedule
from myisam_advisor.trial.statements.tally import TAKEN, ReplayRun
from myisam_advisor.trial.statements.variants import BASELINE, Variant

KIND_SHARE = 0.05
# Beyond what the order of neighbours' writes does to rows: a replay is to return 99.9 % of the rows that were recorded.
OTHER_ANSWERS_SHARE = 0.001
# Reads beside writes return now these rows and now those. A variant's other pace may have twice as many of them do so.
STRAYING_RATIO = 2
MAXIMUM_DIFFERENCES = 20


def compare(name: str, runs: Rounds[ReplayRun], rate: Callable[[ReplayRun], float]) -> Comparison:
    """Hold a variant's rates against the baseline's, round by round."""
    pairs = [(rate(before), rate(after)) for before, after in zip(runs[BASELINE], runs[name], strict=True)]
    return doubted(compare_pairs(name, pairs, runs.course.prior_variance), runs.course)


def answered_otherwise(kinds: Sequence[str], baseline: Sequence[ReplayRun], changed: Sequence[ReplayRun]) -> str:
    """How a variant answers otherwise than the settings as they are; empty where it does not, but for what neighbours' order explains.

    A statement that fails, or finds nothing, is soon done: the speed of such a variant says nothing. What the recording tells no rows of is
    held against the baseline's first run, and how far the baseline's own runs differ from it is what neighbours' order explains. A kind that has weight by its time
    has it here, however few statements it has.
    """
    before, after = (sum((run.differences for run in runs), Counter()) for runs in (baseline, changed))
    more = after - before
    # Of one kind, what both have may be twice as often by chance.
    beyond = Counter({key: max(count - STRAYING_RATIO * before[key], 0) for key, count in after.items()})
    strayed = _strayed(baseline)
    for kind, count in _strayed(changed).items():
        further = count - STRAYING_RATIO * strayed[kind]
        if further > 0:
            more[kind, 0] += further
            beyond[kind, 0] += further
    answered, times = sum(run.answered for run in changed), _shares(baseline, len(kinds))
    of_kinds = _further_shares(beyond, changed)
    of_time = sum(times[one] * share for one, share in of_kinds.items())
    is_heavy = of_time >= KIND_SHARE or any(times[one] >= KIND_SHARE for one in of_kinds)
    if sum(more.values()) <= OTHER_ANSWERS_SHARE * answered and not is_heavy:
        return ""
    (kind, error), _ = max(more.items(), key=lambda one: (times[one[0][0]] * of_kinds.get(one[0][0], 0), one[1]))
    what = "fails no more" if error == TAKEN else f"fails with error {error}" if error else "returns other rows"
    share, of = sum(more.values()) / max(answered, 1), "the statements"
    if of_time > share:
        share, of = of_time, "the statements, by their time,"
    return f"{percent(share)} of {of} are answered otherwise under it, so that its speed says nothing: {kinds[kind]} {what}"


def _further_shares(beyond: Counter[tuple[int, int]], changed: Sequence[ReplayRun]) -> dict[int, float]:
    """The kinds of which more answers are other ones than neighbours' order explains, and how many of their answers these are.

    Of a kind with few statements one or two are chance: there is to be one in every second run.
    """
    found: Counter[int] = Counter()
    for (kind, _), count in beyond.items():
        found[kind] += count
    answers = {kind: sum(run.kinds[kind].statements for run in changed if kind in run.kinds) for kind in found}
    return {
        kind: min(count / max(answers[kind], 1), 1.0)
        for kind, count in found.items()
        if count and count > OTHER_ANSWERS_SHARE * answers[kind] and 2 * count >= len(changed)
    }


def _strayed(runs: Sequence[ReplayRun]) -> Counter[int]:
    return sum((run.strayed for run in runs), Counter())


def kinds_of(schedule: Schedule, parts: Sequence[tuple[Rounds[ReplayRun], Sequence[Variant]]]) -> Iterator[KindResult]:
    """The kinds that take a twentieth of the time or more, as it is or under any variant; those that got worse first.

    What has little of the time now, and a lot under a change, is what the change costs.
    """
    now = _shares(parts[0][0][BASELINE], len(schedule.kinds))
    changed = [
        _shares(runs[one.name], len(schedule.kinds)) for runs, variants in parts for one in variants if one.name in runs
    ]
    found = [
        _kind(schedule.kinds[kind], kind, share, parts)
        for kind, share in enumerate(now)
        if share and max(share, *(of_variant[kind] for of_variant in changed), 0.0) >= KIND_SHARE
    ]
    yield from sorted(found, key=_worst_first)


def _shares(runs: Sequence[ReplayRun], kinds: int) -> list[float]:
    """Which share of all statements' time each kind has in these runs."""
    spent = [sum(run.kinds[kind].nanoseconds for run in runs if kind in run.kinds) for kind in range(kinds)]
    total = sum(spent) or 1
    return [nanoseconds / total for nanoseconds in spent]


def _kind(
    name: str, kind: int, share: float, parts: Sequence[tuple[Rounds[ReplayRun], Sequence[Variant]]]
) -> KindResult:
    baseline = parts[0][0][BASELINE]
    nanoseconds = sum(run.kinds[kind].nanoseconds for run in baseline)
    count = sum(run.kinds[kind].statements for run in baseline)
    compared = [
        _kind_variant(kind, variant.name, runs)
        for runs, variants in parts
        for variant in variants
        if variant.name in runs
    ]
    return KindResult(name, share, count // len(baseline), nanoseconds / count / 1e6, tuple(compared))


def _worst_first(kind: KindResult) -> tuple[float, float]:
    worst = min((one.times for one in kind.variants if one.verdict == "worse"), default=1.0)
    return (worst, -kind.share)


def _kind_variant(kind: int, name: str, runs: Rounds[ReplayRun]) -> KindVariant:
    compared = compare(name, runs, lambda run: run.kind_rate(kind))
    return KindVariant(name, compared.ratio, compared.low, compared.high, compared.verdict)


def differences_of(schedule: Schedule, run: ReplayRun) -> tuple[Difference, ...]:
    """The kinds whose rows or errors are other than recorded, the most first."""
    found = []
    for (kind, error), count in run.differences.most_common(MAXIMUM_DIFFERENCES):
        recorded, returned = run.examples.get((kind, error), (None, None))
        found.append(Difference(schedule.kinds[kind], error, count, recorded, returned))
    return tuple(found)
