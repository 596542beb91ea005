"""Recorded statements under the present version and under the newer one, both with the same tables: refusals, results, speed.

Three parts share the budget. Everything is sent to both, the present version twice, each time to tables as they were. Of each kind of
SELECT one is asked under both, on such tables, and the rows are compared. Then as much of the recording as lets enough rounds into what is
left is sent to both in turn, as a replay does it.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import field
from functools import partial
from pathlib import Path

from myisam_advisor.texts.templates import percent
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.rounds import FEWEST_ROUNDS, Course, Limits, Rounds, run_told_rounds
from myisam_advisor.trial.statements.answers import Compared, compare_answers, selects
from myisam_advisor.trial.statements.figures import OTHER_ANSWERS_SHARE, compare, kinds_of
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.parts import Part, Parts
from myisam_advisor.trial.statements.replay_result import KindResult, KindVariant
from myisam_advisor.trial.statements.schedule import ONE_BY_ONE, Schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, longest_run, send
from myisam_advisor.trial.statements.stages import Stage
from myisam_advisor.trial.statements.survey import Judging, Survey, options_fold_names, survey
from myisam_advisor.trial.statements.tally import ReplayRun, rows_answered, seen_answers, usual_answer
from myisam_advisor.trial.statements.variants import BASELINE, Variant
from myisam_advisor.trial.statements.window import allowance
from myisam_advisor.trial.upgrade.both_versions import BothServers
from myisam_advisor.trial.upgrade.recorded_result import (
    ROW_COUNT,
    ROW_ORDER,
    ROW_VALUES,
    OtherResult,
    RecordedUpgrade,
    RefusedKind,
)
from myisam_advisor.trial.upgrade.refusals import Refusals, Refused
from myisam_advisor.trial.upgrade.result_notes import note_on
from myisam_advisor.trial.upgrade.two_answers import Answers, Group, TwoAnswers, held_together
from myisam_advisor.workload.events import Event
from myisam_exporter.declaring.lean_dataclasses import dataclass

# Of the budget, what sending everything three times may take, and what SELECTs that are compared row by row may.
ANSWERS_SHARE, PASSES = 0.4, 3
SELECTS_SHARE = 0.2
MOST_LISTED = 100
MOST_REASONS = 20
FAILING_SHARE = 0.1
NO_TIME = "speed was not measured: the budget had ended when all was sent (--budget)"


@dataclass(frozen=True, slots=True)
class RecordedMaterial:
    """The recording: `events` reads it from its beginning, as often as it is called; `described` is what it is; `knows_moments` as in Material."""

    events: Callable[[], Iterator[Event]]
    described: Mapping[str, str]
    budget_seconds: float | None
    rounds: int | None
    knows_moments: bool = False


@dataclass(slots=True)
class Speeds:
    """How fast the newer version is."""

    all: KindVariant | None = None
    kinds: tuple[KindResult, ...] = ()
    course: Course | None = None
    problem: str = ""
    notes: list[str] = field(default_factory=list)


class RecordedOnBoth:
    """Sends the recording to both. `name` is what the newer version is called, `present_mode` the sql_mode of now, as far as it takes that."""

    def __init__(
        self, both: BothServers, material: RecordedMaterial, name: str, present_mode: str, folder: Path, listener: Listener
    ) -> None:  # fmt: skip
        self._both, self._material, self._name, self._listener = both, material, name, listener
        self._present_mode = present_mode
        self._began = time.monotonic()
        self._judging = Judging(folds=options_fold_names(both.present.options))
        self._found = Survey()
        self._folder = folder

    def result(self) -> RecordedUpgrade:
        """All of it. Raises TrialError where nothing of the recording can be sent."""
        both = self._both
        self._listener.doing("reading the workload")
        self._found = survey(self._material.events(), self._judging)
        # Both versions are to find the same rows: one write after the other, whichever is faster.
        parts = self._parts(knows_moments=False)
        whole = parts.first(self._found.statements)
        present, newer = parts.stage(both.present, whole), parts.stage(both.newer, whole)
        first, answers = self._answers(whole.schedule, present, newer)
        present.restore()
        newer.restore()
        compared = self._selects(seen_answers(whole.schedule, first))
        only_newer, only_present = self._refused(answers, compared, present, newer)
        present.restore()
        newer.restore()
        # How fast they are is also how they bear what was under way at once.
        timed = self._parts(knows_moments=self._material.knows_moments)
        speeds = self._speeds(timed, answers, self._with_other_rows(compared))
        return RecordedUpgrade(
            workload=self._material.described,
            statements=self._found.statements,
            sent=answers.sent,
            not_reached=answers.not_reached,
            left_out=dict(sorted(whole.schedule.left_out.items(), key=lambda one: -one[1])[:MOST_REASONS]),
            refused_by_both=answers.refused_by_both.total(),
            unsteady=answers.unsteady,
            only_newer=only_newer,
            only_present=only_present,
            others=self._others(answers, compared),
            selects_compared=compared.total - len(compared.failed),
            selects_equal=compared.equal,
            all=speeds.all,
            kinds=speeds.kinds,
            course=speeds.course,
            speed_problem=speeds.problem,
            settings=tuple(both.settings),
            notes=(*both.notes, *_select_notes(compared), *speeds.notes),
        )

    def _parts(self, *, knows_moments: bool) -> Parts:
        material = Material(
            self._both.present.binaries, (), self._material.events, self._both.sources, self._both.missing,
            knows_moments=knows_moments,
        )  # fmt: skip
        options = ReplayOptions(MAXIMUM_SPEED, self._material.budget_seconds, self._material.rounds)
        return Parts(material, options, self._judging, self._found, self._folder / "recorded")

    def _left(self) -> float | None:
        """Seconds of the budget that are left."""
        budget = self._material.budget_seconds
        return None if budget is None else max(budget - (time.monotonic() - self._began), 0.0)

    def _tell_left(self) -> None:
        left = self._left()
        if left is not None:
            self._listener.left(left)

    def _selects(self, seen: Sequence[int]) -> Compared:
        """One SELECT of each kind, row by row."""
        self._listener.doing("comparing the rows of SELECTs")
        both, budget = self._both, self._material.budget_seconds

        copied = {(one.schema, one.table) for one in both.sources}
        asked = selects(self._material.events(), self._judging, copied, partial(rows_answered, seen))
        seconds = None if budget is None else budget * SELECTS_SHARE
        servers = {BASELINE: both.present, self._name: both.newer}
        found = compare_answers(servers, asked, seconds)[self._name]
        self._tell_left()
        return found

    def _answers(self, schedule: Schedule, present: Stage, newer: Stage) -> tuple[Answers, TwoAnswers]:
        """Everything to both, as far as the budget goes: what the present version said first, and what both said."""
        runs = []
        for stage, said in (
            (present, "the present version"),
            (newer, self._name),
            (present, "the present version again"),
        ):
            self._listener.doing(f"sending all statements to {said}")
            runs.append(self._sent(schedule, stage))
            self._tell_left()
        first, after, again = runs
        return first, held_together(schedule, first, again, after)

    def _sent(self, schedule: Schedule, stage: Stage) -> Answers:
        budget = self._material.budget_seconds
        stop = 0.0 if budget is None else budget * ANSWERS_SHARE / PASSES
        stage.restore()
        limit_seconds = longest_run(budget, self._found.seconds)
        sent = send(stage.server, schedule, MAXIMUM_SPEED, limit_seconds, stop_seconds=stop)
        return [array("q", map(usual_answer, sent.answers(number))) for number in range(len(schedule.plans))]

    def _refused(
        self, answers: TwoAnswers, compared: Compared, present: Stage, newer: Stage
    ) -> tuple[tuple[RefusedKind, ...], tuple[RefusedKind, ...]]:
        """What one version alone refuses, with its words, which are asked for once for each kind."""
        self._listener.doing("asking for the words of refusals")
        refusals = Refusals(self._judging, self._material.events, self._both.sources)
        mode = None if self._same_mode() else self._present_mode
        by_newer = [*answers.only_newer.items(), *self._of_selects(answers, compared, newer=True)]
        by_present = [*answers.only_present.items(), *self._of_selects(answers, compared, newer=False)]
        newer.restore()
        told_newer = refusals.told(newer.server, _listed(by_newer), mode)
        present.restore()
        return told_newer, refusals.told(present.server, _listed(by_present), None)

    def _of_selects(self, answers: TwoAnswers, compared: Compared, *, newer: bool) -> Iterator[Refused]:
        """Kinds of SELECT that were refused when one of each was asked, and were not reached when all were sent."""
        reached = answers.rows.keys() | answers.otherwise | answers.refused_by_both.keys()
        for text, (on_present, on_newer) in compared.failed.items():
            kind = self._judging.kinds.get(text)
            if kind is None or kind in reached or bool(on_newer) is not newer:
                continue
            codes = (on_newer, on_present) if newer else (on_present, 0)
            yield (kind, *codes), Group(1, self._found.kinds[kind].first)

    def _same_mode(self) -> bool:
        newer = next((one.newer for one in self._both.settings if one.name == "sql_mode"), "")
        return set(filter(None, newer.split(","))) == set(filter(None, self._present_mode.split(",")))

    def _others(self, answers: TwoAnswers, compared: Compared) -> tuple[OtherResult, ...]:
        """What both take, and answer otherwise: other numbers of rows first."""
        names = {number: text for text, number in self._judging.kinds.items()}
        found = [
            OtherResult(
                names[kind],
                ROW_COUNT,
                rows.other,
                rows.compared,
                rows.present,
                rows.newer,
                note_on(names[kind], ROW_COUNT),
            )
            for kind, rows in answers.rows.items()
            if rows.is_other
        ]
        found.sort(key=lambda one: -one.statements)
        told = {one.fingerprint for one in found}
        values = [text for text in compared.differ if text not in compared.failed and text not in told]
        found += [OtherResult(text, ROW_VALUES, 1, 1, None, None, note_on(text, ROW_VALUES)) for text in values]
        found += [
            OtherResult(text, ROW_ORDER, 1, 1, None, None, note_on(text, ROW_ORDER)) for text in compared.other_order
        ]
        return tuple(found[:MOST_LISTED])

    def _with_other_rows(self, compared: Compared) -> set[int]:
        """The kinds of SELECT that both take, and answer with other rows; another order of the same rows is none."""
        texts = set(compared.differ) - compared.failed.keys()
        return {self._judging.kinds[text] for text in texts if text in self._judging.kinds}

    def _speeds(self, parts: Parts, answers: TwoAnswers, with_other_rows: set[int]) -> Speeds:
        """Both in turn, as much of the recording as the rest of the budget bears. Kinds that are not answered alike have no speed."""
        both, rounds, left = self._both, self._material.rounds, self._left()
        if left == 0:
            return Speeds(problem=NO_TIME)
        self._listener.doing("trying how much fits the budget")
        part = parts.window(both.present, allowance(left, rounds, 2))
        base, other = parts.stage(both.present, part), parts.stage(both.newer, part)
        self._listener.doing("a first run, to warm up")
        parts.first_run(part.schedule, base)
        runs = self._rounds(parts, part, base, other, rounds)
        speeds = Speeds(course=runs.course, notes=_window_notes(self._found, part))
        if part.schedule.is_one_by_one:
            speeds.notes.append(ONE_BY_ONE)
        untimed = answers.otherwise | answers.refused_by_both.keys() | with_other_rows
        kinds = kinds_of(part.schedule, [(runs, [Variant(self._name)])])
        speeds.kinds = tuple(kind for kind in kinds if self._judging.kinds[kind.fingerprint] not in untimed)
        differing = sum(self._found.kinds[kind].statements for kind in with_other_rows - answers.otherwise)
        speeds.problem = _why_no_speed(answers, differing)
        if not speeds.problem:
            compared = compare(self._name, runs, lambda run: run.rate(MAXIMUM_SPEED))
            speeds.all = KindVariant(self._name, compared.ratio, compared.low, compared.high, compared.verdict)
        return speeds

    def _rounds(self, parts: Parts, part: Part, base: Stage, other: Stage, rounds: int | None) -> Rounds[ReplayRun]:
        variants = {
            BASELINE: partial(parts.once, part.schedule, base, nullcontext),
            self._name: partial(parts.once, part.schedule, other, nullcontext),
        }
        limits = Limits(FEWEST_ROUNDS, rounds, self._left())
        return run_told_rounds(variants, lambda run: run.rate(MAXIMUM_SPEED), limits, self._listener)


def _listed(groups: Sequence[Refused]) -> list[Refused]:
    return sorted(groups, key=lambda one: -one[1].statements)[:MOST_LISTED]


def _why_no_speed(answers: TwoAnswers, with_other_rows: int) -> str:
    """Why the whole has no speed: a statement that fails, or finds nothing, is soon done. Empty where it has one.

    `with_other_rows` statements are of kinds of which one was compared row by row.
    """
    sent = max(answers.sent, 1)
    otherwise = min((answers.answered_otherwise + with_other_rows) / sent, 1.0)
    failing = answers.refused_by_both.total() / sent
    if otherwise > OTHER_ANSWERS_SHARE:
        return f"{percent(otherwise)} of the statements are answered otherwise, so that the speed of all together says nothing; kinds that are answered alike are told"
    if failing > FAILING_SHARE:
        return f"{percent(failing)} of the statements are refused by both, so that the speed of all together says nothing; kinds that are taken are told"
    return ""


def _select_notes(compared: Compared) -> list[str]:
    if not compared.not_asked:
        return []
    return [
        f"{compared.not_asked} kinds of SELECT were not compared row by row: the budget had no time for them (--budget)."
    ]


def _window_notes(whole: Survey, part: Part) -> list[str]:
    if part.found.statements == whole.statements:
        return []
    return [
        f"Speed was measured on the first {part.found.statements:,} of {whole.statements:,} statements: more would let too few rounds into the budget (--budget)."
    ]
