"""How much of a recording one run sends: as much of its beginning as lets enough rounds of all variants into the budget.

A window is the beginning of the recording, up to a statement of it: the tables are as they were then, and every write before a statement of the window is in
the window, too. Any later part would begin with tables of another time. What has a twentieth of the whole recording's time is to be in it, at the cost of
rounds, down to the fewest that say anything; where that is not enough, it is told (`absent`), and no proof is kept of such a replay. See decision 039.
A recording without times does not tell what has weight: any kind may, so each is wanted, each absent one is told, and a part proves nothing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from myisam_advisor.trial.rounds import FEWEST_ROUNDS
from myisam_advisor.trial.statements.figures import KIND_SHARE
from myisam_advisor.trial.statements.records import NANOSECONDS_PER_SECOND
from myisam_advisor.trial.statements.replay_result import KindShare, Window
from myisam_advisor.trial.statements.schedule import Schedule
from myisam_advisor.trial.statements.sender import Sent
from myisam_advisor.trial.statements.survey import KindUse, Survey
from myisam_exporter.declaring.lean_dataclasses import dataclass

# So many rounds are planned. Fewer say nothing of less than a fifth on a virtual machine (decision 036); more would send less of the recording.
PLANNED_ROUNDS = 40
# Less of a recording says nothing of it, whatever is left of the budget.
SHORTEST_RUN = 0.1
# More than any sender reaches in a second: so much of the recording is prepared to see how fast it goes here.
FASTEST_SENDER = 200_000
# A window that takes this much more or less than it may is chosen again, once.
TOO_LONG, TOO_SHORT = 1.3, 0.6
# A run sends for at least this long for each second of what is around it (putting tables back, starting the sender), as far as the fewest rounds allow.
OWN_SHARE = 1.0
# A kind whose share in the window is another by more than this factor is told.
SHIFTED = 2.0
# A kind of which less is sent is told of as left out.
SENT_SHARE = 0.5
# Further absent kinds are not named: a result is bounded, and so many say nothing to anybody.
MOST_NAMED = 5_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """Seconds that one run may take, with what is around it: for the rounds that are planned, and for the fewest that say anything."""

    planned_seconds: float
    longest_seconds: float

    @property
    def statements(self) -> int:
        """No run that is allowed sends more."""
        return max(round(self.longest_seconds * FASTEST_SENDER), 1)


def allowance(budget_seconds: float | None, maximum_rounds: int | None, ways: int) -> Allowance | None:
    """What a budget allows, of which each round runs so many ways; None where there is no budget."""
    if budget_seconds is None:
        return None
    planned = PLANNED_ROUNDS if maximum_rounds is None else min(PLANNED_ROUNDS, maximum_rounds)
    fewest = min(FEWEST_ROUNDS, planned)
    return Allowance(budget_seconds / (planned * ways), budget_seconds / (fewest * ways))


@dataclass(frozen=True, slots=True)
class Pace:
    """What a run of the recording's beginning told: how long a run of less of it would be.

    `fixed_seconds` pass around every run, `further` for each second of one; `ends` says of each statement when it and all before it
    were answered, as far as the run came.
    """

    fixed_seconds: float
    further: float
    ends: Sequence[float]

    def reach(self, seconds: float) -> int:
        """How many statements a run sends that takes so long, with what is around it."""
        run = max((seconds - self.fixed_seconds) / (1 + self.further), SHORTEST_RUN)
        return bisect_right(self.ends, run)

    @property
    def least(self) -> int:
        """With so many statements, one of them is sent."""
        return bisect_right(self.ends, 0.0) + 1

    def aim(self, allowed: Allowance) -> float:
        """How long a run is to take: as planned; but not shorter than what is around it, where fewer rounds leave it more."""
        return min(allowed.longest_seconds, max(allowed.planned_seconds, (1 + OWN_SHARE) * self.fixed_seconds))


def ends_of(schedule: Schedule, sent: Sent) -> Sequence[float]:
    """When each statement and all before it were answered, up to the first that was not sent because the run was stopped."""
    ends, reached = array("d", bytes(8 * schedule.read)), schedule.read
    for number, plan in enumerate(schedule.plans):
        for position, answer in zip(plan.positions, sent.answers(number), strict=True):
            if answer.was_sent:
                ends[position] = (answer.begun_nanoseconds + answer.duration_nanoseconds) / NANOSECONDS_PER_SECOND
            elif not answer.error:
                reached = min(reached, position)
                break
    return array("d", accumulate(ends[:reached], max))


def choose(pace: Pace, allowed: Allowance, found: Survey) -> int:
    """With how many of the recording's statements the window ends."""
    planned = min(max(pace.reach(pace.aim(allowed)), pace.least), found.statements)
    longest = max(pace.reach(allowed.longest_seconds), planned)
    needed = [found.kinds[kind].first + 1 for kind in wanted_kinds(found)]
    return max([planned, *(one for one in needed if one <= longest)])


def corrected(statements: int, took_seconds: float, pace: Pace, allowed: Allowance, most: int) -> int:
    """The same number; or another, where a run of it took much longer or shorter than it may."""
    aimed = pace.aim(allowed)
    share = took_seconds / aimed
    is_short = share < TOO_SHORT and statements < most
    if not (share > TOO_LONG or is_short):
        return statements
    wanted = max(aimed - pace.fixed_seconds, SHORTEST_RUN)
    ratio = wanted / max(took_seconds - pace.fixed_seconds, SHORTEST_RUN)
    return min(max(round(statements * ratio), pace.least), most)


def heavy_kinds(found: Survey) -> list[int]:
    """The kinds that have a twentieth of the recording's time or more."""
    shares = found.shares
    return [kind for kind, share in shares.items() if share >= KIND_SHARE]


def wanted_kinds(found: Survey) -> list[int]:
    """The kinds that are to be in a window: without times, any may be the one that takes most of it."""
    return heavy_kinds(found) if found.tells_times else list(found.kinds)


def window_of(whole: Survey, part: Survey, schedule: Schedule) -> Window:
    """What the window is of the whole, and what of it is sent."""
    recorded, here, names = whole.shares, part.shares, schedule.kinds
    told = [KindShare(names[kind], recorded[kind], here.get(kind, 0.0)) for kind in heavy_kinds(whole)]
    absent = sorted((kind for kind in wanted_kinds(whole) if not here.get(kind)), key=lambda kind: -recorded[kind])
    return Window(
        part.statements,
        part.seconds,
        whole.statements,
        whole.seconds,
        part.weight / whole.weight if whole.weight else 1.0,
        tuple(KindShare(names[kind], recorded[kind], 0.0) for kind in absent[:MOST_NAMED]),
        tuple(one for one in told if one.window_share and _is_shifted(one)),
        whole.tells_times,
        tuple(
            KindShare(names[kind], recorded[kind], here[kind]) for kind in _left_out(whole, part, schedule)[:MOST_NAMED]
        ),
        sum(_weight(part, kind) for kind in schedule.sent.values()) / part.weight if part.weight else 1.0,
    )


def _left_out(whole: Survey, part: Survey, schedule: Schedule) -> list[int]:
    """The wanted kinds of which less than half of what the window has is sent, the heaviest first; administration that names no table is none of them."""
    sent, weights = schedule.sent, {kind: _weight(part, use) for kind, use in part.kinds.items()}
    found = [
        kind
        for kind in wanted_kinds(whole)
        if weights.get(kind)
        and kind not in schedule.nameless
        and (kind not in sent or _weight(part, sent[kind]) < SENT_SHARE * weights[kind])
    ]
    return sorted(found, key=lambda kind: -weights[kind])


def _weight(part: Survey, kind: KindUse) -> int:
    return kind.microseconds if part.tells_times else kind.statements


def _is_shifted(kind: KindShare) -> bool:
    ratio = kind.window_share / kind.recorded_share
    return not 1 / SHIFTED <= ratio <= SHIFTED
