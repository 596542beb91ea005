"""What the answers of one run come to: the rate, times by kind, and what differs from the recording."""

from __future__ import annotations

import statistics
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import repeat

from myisam_advisor.trial.statements.records import NANOSECONDS_PER_SECOND, Answer
from myisam_advisor.trial.statements.replay_result import Latency, Measured
from myisam_advisor.trial.statements.schedule import NONE_INSERTED, UNKNOWN, Schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, Sent
from myisam_advisor.workload.events import Event
from myisam_exporter.declaring.lean_dataclasses import dataclass

NANOSECONDS_PER_MILLISECOND = 1_000_000
# In the place of an error's number: the recording has one, and here there was none.
TAKEN = -1
MAXIMUM_ROWS = 1 << 62


@dataclass(slots=True)
class KindTally:
    """One kind in one run: how many were answered, and how long they took together."""

    statements: int = 0
    nanoseconds: int = 0


@dataclass(slots=True)
class ReplayRun:
    """One run of a replay: of the whole, and of each kind."""

    seconds: float
    answered: int
    latency: Latency
    mean_seconds: float
    kinds: Mapping[int, KindTally]
    lost_turns: int
    late: int
    sender_cpu_seconds: float
    server_cpu_seconds: float
    rows_equal: int = 0
    rows_differ: int = 0
    rows_unknown: int = 0
    # Statements whose connection the server refused.
    unconnected: int = 0
    # (kind, number of the error or 0) -> statements; and of one of them the rows that were recorded and returned.
    differences: Counter[tuple[int, int]] = field(default_factory=Counter)
    examples: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    # By kind: statements that return (where the recording tells no rows) or change other rows than in the baseline's first run.
    strayed: Counter[int] = field(default_factory=Counter)

    @property
    def statements_per_second(self) -> float:
        """Over the whole run."""
        return self.answered / self.seconds if self.seconds else 0.0

    def rate(self, speed: str) -> float:
        """At full speed, statements a second; at the recorded speed, the inverse of how long one took."""
        return self.statements_per_second if speed == MAXIMUM_SPEED else 1 / max(self.mean_seconds, 1e-9)

    def kind_rate(self, kind: int) -> float:
        """How many of the kind are done in a second that is spent on them; 0 where none was."""
        found = self.kinds.get(kind)
        return found.statements * NANOSECONDS_PER_SECOND / max(found.nanoseconds, 1) if found else 0.0


def tally(schedule: Schedule, sent: Sent, server_cpu_seconds: float) -> ReplayRun:
    """Go through all answers once."""
    durations, kinds = array("Q"), {number: KindTally() for number in range(len(schedule.kinds))}
    run = ReplayRun(
        sent.seconds, 0, Latency(0, 0, 0), 0, kinds, sent.lost_turns, sum(one.late for one in sent.reports),
        sent.sender_cpu_seconds, server_cpu_seconds,
    )  # fmt: skip
    for number, plan in enumerate(schedule.plans):
        usual = plan.usual or repeat(UNKNOWN, len(plan.kinds))
        changed = plan.changed or repeat(UNKNOWN, len(plan.kinds))
        answers = sent.answers(number)
        for kind, rows, error, wrote, expected, answer in zip(
            plan.kinds, plan.rows, plan.errors, changed, usual, answers, strict=True
        ):
            if answer.was_sent:
                durations.append(answer.duration_nanoseconds)
                of_kind = kinds[kind]
                of_kind.statements += 1
                of_kind.nanoseconds += answer.duration_nanoseconds
            else:
                run.unconnected += 1
            _compare(run, kind, (rows, error, wrote), expected, answer)
    run.answered = len(durations)
    run.mean_seconds = sum(durations) / max(len(durations), 1) / NANOSECONDS_PER_SECOND
    run.latency = _latency(durations)
    return run


def _compare(run: ReplayRun, kind: int, recorded: tuple[int, int, int], expected: int, answer: Answer) -> None:
    """Count whether it is answered as recorded (rows returned, error, rows changed), and as in the baseline's first run."""
    rows, error, wrote = recorded
    if answer.error:
        # Which error a recording does not tell, it did not have: statements that fail are rare. An INSERT that added no row failed, as good as always.
        if answer.error != error and wrote != NONE_INSERTED:
            run.differences[kind, answer.error] += 1
    elif error > 0 and answer.was_sent:
        run.differences[kind, TAKEN] += 1
    elif _changes_otherwise(wrote, answer):
        run.rows_differ += 1
        run.differences[kind, 0] += 1
        run.examples.setdefault((kind, 0), (wrote, answer.affected))
    elif rows == UNKNOWN:
        run.rows_unknown += 1
        run.strayed[kind] += expected not in (UNKNOWN, usual_answer(answer))
    elif rows == answer.rows:
        run.rows_equal += 1
        if not rows:
            # How many rows a write changed few recordings tell.
            run.strayed[kind] += expected not in (UNKNOWN, usual_answer(answer))
    else:
        run.rows_differ += 1
        run.differences[kind, 0] += 1
        run.examples.setdefault((kind, 0), (rows, answer.rows))


def _changes_otherwise(recorded: int, answer: Answer) -> bool:
    """Whether a write finds none where it changed rows when it was recorded, or the other way about; how many is not asked."""
    if recorded == UNKNOWN or not answer.was_sent:
        return False
    return not (answer.affected or answer.found_alike) if recorded > 0 else answer.affected > 0


def keep_usual(schedule: Schedule, sent: Sent) -> None:
    """Keep what this run, the baseline's first, returned: what others are held against where the recording has no row counts."""
    for number, plan in enumerate(schedule.plans):
        plan.usual = array("q", map(usual_answer, sent.answers(number)))


def usual_answer(answer: Answer) -> int:
    """What a statement returned or changed, as one number; UNKNOWN where it was not sent, less than that for an error."""
    if answer.error:
        return UNKNOWN - answer.error
    return min(answer.rows + answer.affected, MAXIMUM_ROWS) if answer.was_sent else UNKNOWN


def seen_answers(schedule: Schedule, answers: Sequence[Sequence[int]]) -> Sequence[int]:
    """What a run's answers are, by their places in the recording; UNKNOWN where there is none."""
    seen = array("q", [UNKNOWN]) * schedule.read
    for plan, of_thread in zip(schedule.plans, answers, strict=True):
        for place, answer in zip(plan.positions, of_thread, strict=True):
            seen[place] = answer
    return seen


def rows_answered(seen: Sequence[int], place: int, event: Event) -> int | None:
    """How many rows the statement at this place of the recording gave here; as recorded where it was not seen. None is unknown."""
    return event.rows_sent if seen[place] == UNKNOWN else max(seen[place], 0)


def _latency(durations: array[int]) -> Latency:
    ordered = sorted(durations)
    if not ordered:
        return Latency(0, 0, 0)
    at = (ordered[int(share * (len(ordered) - 1))] / NANOSECONDS_PER_MILLISECOND for share in (0.5, 0.95, 0.99))
    return Latency(*at)


def measured(runs: Sequence[ReplayRun]) -> Measured:
    """The medians over several runs."""
    return Measured(
        statistics.median(run.statements_per_second for run in runs),
        statistics.median(run.seconds for run in runs),
        Latency(
            statistics.median(run.latency.median for run in runs),
            statistics.median(run.latency.of_95_percent for run in runs),
            statistics.median(run.latency.of_99_percent for run in runs),
        ),
        len(runs),
    )
