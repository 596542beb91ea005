"""One replay from begin to end: the private servers, the copies, the window, the rounds, the result. Never as root: see replay_task.py."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import WORTH_IT
from myisam_advisor.texts.templates import duration, object_name
from myisam_advisor.trial.budget import SHORTEST_RUN, WAVE_SECONDS
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.machine import expect_room, machine_name
from myisam_advisor.trial.private.private_server import PrivateServer, expect_short
from myisam_advisor.trial.private.reaped_directory import LIKE_DRAWN, ReapedDirectory
from myisam_advisor.trial.private.unprivileged import expect_not_root
from myisam_advisor.trial.replay import sender_program
from myisam_advisor.trial.rounds import FEWEST_ROUNDS, Limits, Rounds, run_told_rounds
from myisam_advisor.trial.statements.effects import Effects
from myisam_advisor.trial.statements.fidelity import fidelity_of
from myisam_advisor.trial.statements.figures import answered_otherwise, compare, kinds_of
from myisam_advisor.trial.statements.made_definitions import make_definitions
from myisam_advisor.trial.statements.material import Material, ReplayOptions, servers_disk_bytes
from myisam_advisor.trial.statements.parts import Part, Parts, databases_of
from myisam_advisor.trial.statements.replay_result import Fidelity, KindResult, ReplayResult, VariantResult
from myisam_advisor.trial.statements.same_values import Asked, asked_twice, other_values, to_ask
from myisam_advisor.trial.statements.schedule import Schedule, schedule_bytes
from myisam_advisor.trial.statements.stages import Stage, make_account, privileges_for
from myisam_advisor.trial.statements.survey import Judging, Survey, options_fold_names, survey
from myisam_advisor.trial.statements.tally import ReplayRun, measured, rows_answered, seen_answers
from myisam_advisor.trial.statements.variants import BASELINE, Variant, together
from myisam_advisor.trial.statements.watched import other_settings
from myisam_advisor.trial.statements.ways import Ground, VariantFailedError, Ways
from myisam_advisor.trial.statements.window import allowance, window_of
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.trial import OPTIONS, ROOM_FOR_DATA, as_trial_errors
from myisam_exporter.server.sql import quote_identifier
from myisam_exporter.server.version_number import PRODUCT_NAMES

# Of the time, for changes alone where those that pay are tried together afterwards.
ALONE_SHARE = 0.7


def expect_sockets(folder: Path) -> None:
    """Raises TrialError where no server of a replay whose temporary files go into this folder could have its socket: found out before anything is recorded for it."""
    expect_short(folder / LIKE_DRAWN / _folder_name(0))


def _folder_name(number: int) -> str:
    """Of a server; a short one, because it is part of the socket's path."""
    return f"s{number}"


def run_replay(
    material: Material, variants: Sequence[Variant], options: ReplayOptions, listener: Listener
) -> ReplayResult:
    """Replay under each variant. Raises TrialError for whatever stops it, and for root; nothing is left behind."""
    expect_not_root()
    sender_program()
    with ReapedDirectory() as directory, ExitStack() as stack:
        return _Replay(material, options, listener, directory.path, stack).run(variants)


class _Replay:
    def __init__(
        self, material: Material, options: ReplayOptions, listener: Listener, folder: Path, stack: ExitStack
    ) -> None:
        self._material, self._options, self._listener = material, options, listener
        self._folder, self._stack = folder, stack
        self._stages = 0
        self._judging = Judging(folds=options_fold_names(material.settings))
        self._run_seconds = SHORTEST_RUN
        self._values: dict[str, str] = {}
        self._notes: list[str] = []

    def run(self, variants: Sequence[Variant]) -> ReplayResult:
        material = self._material
        self._listener.doing("reading the workload")
        found = survey(material.events(), self._judging)
        self._expect_room(found, variants)
        self._listener.doing("starting a private server")
        server = self._stack.enter_context(
            PrivateServer(material.binaries, [*OPTIONS, *material.settings], self._new_folder())
        )
        with as_trial_errors(server.expect_alive):
            return self._measured(server, found, variants)

    def _expect_room(self, found: Survey, variants: Sequence[Variant]) -> None:
        copied = sum(source.counted_bytes for source in self._material.sources)
        disk = servers_disk_bytes(variants, copied) + schedule_bytes(found)
        expect_room(self._folder, disk, ROOM_FOR_DATA * copied)

    def _measured(self, server: PrivateServer, found: Survey, variants: Sequence[Variant]) -> ReplayResult:
        self._notes += other_settings(self._material.settings, server.variables())
        copy_tables(self._material.sources, server, self._material.lock, self._listener)
        effects = self._prepared(server, found)
        parts = Parts(self._material, self._options, self._judging, found, self._folder / "statements", effects)
        part = self._windowed(parts, server, 1 + len(variants))
        schedule = part.schedule
        ground = Ground(self._material.binaries, [*OPTIONS, *self._material.settings], parts.tables(part))
        base = Stage(server, ground.tables, server.directory)
        ways = Ways(ground, base, self._new_folder, self._stack, partial(parts.once, schedule))
        ways.keep_template(variants, self._folder / "template")
        base.keep()
        # Warm by it are the page cache and the server.
        self._listener.doing("a first run, to warm up")
        first = parts.first_run(schedule, base)
        self._run_seconds = max(first.seconds, SHORTEST_RUN)
        asked = self._asked(ways, part)
        results, rounds = self._compared(ways, part, asked, variants)
        window = window_of(found, part.found, schedule)
        fidelity = fidelity_of(self._material, found, part, window, effects, first, rounds[0][0][BASELINE])
        further = (*self._notes, *filter(None, self._values.values()))
        fidelity = replace(fidelity, notes=(*fidelity.notes, *further))
        return self._told(server, tuple(results), tuple(kinds_of(schedule, rounds)), fidelity, rounds[0][0])

    def _prepared(self, server: PrivateServer, found: Survey) -> Effects:
        """The account that sends, and the views, triggers and routines, which are its own."""
        databases = databases_of(self._material)
        server.execute(*(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(one)}" for one in databases))
        make_account(server, databases, privileges_for(found, self._material.definitions))
        copied = {(source.schema, source.table) for source in self._material.sources}
        return make_definitions(server, self._material.definitions, copied)

    def _windowed(self, parts: Parts, server: PrivateServer, ways: int) -> Part:
        """What of the recording the budget can bear, of which a part is kept for those that pay together."""
        self._listener.doing("trying how much fits the budget")
        budget = self._options.budget_seconds
        share = _share_of(ways - 1)
        allowed = allowance(None if budget is None else budget * share, self._options.maximum_rounds, ways)
        return parts.window(server, allowed)

    def _asked(self, ways: Ways, part: Part) -> Asked:
        """The SELECTs whose values are compared, and what the settings as they are answer."""
        self._listener.doing("asking which values SELECTs return")
        schedule, material = part.schedule, self._material
        seen = seen_answers(schedule, [plan.usual for plan in schedule.plans])
        copied = {(source.schema, source.table) for source in material.sources}
        shares, events = part.found.shares, islice(material.events(), part.found.statements)
        questions, not_asked = to_ask(events, self._judging, copied, partial(rows_answered, seen), shares)
        asked = asked_twice(ways, questions, not_asked, self._options.budget_seconds)
        self._notes += filter(None, (asked.note(shares),))
        return asked

    def _compared(
        self, ways: Ways, part: Part, asked: Asked, variants: Sequence[Variant]
    ) -> tuple[list[VariantResult], list[tuple[Rounds[ReplayRun], Sequence[Variant]]]]:
        """Each variant alone, then those together that pay: the results, and the rounds with the variants that they are of."""
        schedule = part.schedule
        runs = self._rounds(ways, variants, _share_of(len(variants)), part, asked)
        if runs is None:
            said = "; ".join(f"{name}: {problem.rstrip('.')}" for name, problem in ways.problems.items())
            raise TrialError(f"nothing can be tried, because the private server refuses it: {said}.")
        results = [self._result(variant, ways, schedule, runs) for variant in variants]
        rounds: list[tuple[Rounds[ReplayRun], Sequence[Variant]]] = [(runs, variants)]
        paying = [one for one, result in zip(variants, results, strict=True) if result.verdict == WORTH_IT]
        if len(paying) > 1:
            both = together(paying)
            again = self._rounds(ways, [both], 1 - ALONE_SHARE, part, asked)
            if again is not None:
                rounds.append((again, [both]))
            results.append(self._result(both, ways, schedule, again or runs))
        return results, [(one, [of for of in those if of.name not in ways.problems]) for one, those in rounds]

    def _made(self, ways: Ways, variants: Sequence[Variant]) -> dict[str, Callable[[], ReplayRun]]:
        """The ways of those variants that a private server takes."""
        made = {}
        for variant in variants:
            if variant.name not in ways.problems:
                self._listener.doing(f"preparing: {variant.name}")
                way = ways.of(variant)
                if way is not None:
                    made[variant.name] = way
        return made

    def _new_folder(self) -> Path:
        folder = self._folder / _folder_name(self._stages)
        self._stages += 1
        if self._stages == 1:
            folder.mkdir()
        return folder

    def _with_same_values(
        self, ways: Ways, made: Mapping[str, Callable[[], ReplayRun]], part: Part, asked: Asked
    ) -> dict[str, Callable[[], ReplayRun]]:
        """Those variants under which SELECTs return the same values, as far as they have weight."""
        names, same = part.schedule.kinds, {}
        for variant, way in made.items():
            self._listener.doing(f"comparing values: {variant}")
            try:
                other = other_values(ways, variant, asked, part.found.shares)
            except VariantFailedError as error:
                ways.problems[variant] = error.said
                continue
            if problem := other.problem(names):
                ways.problems[variant] = problem
                continue
            self._values[variant] = other.note(variant, names)
            same[variant] = way
        return same

    def _rounds(
        self, ways: Ways, variants: Sequence[Variant], share: float, part: Part, asked: Asked
    ) -> Rounds[ReplayRun] | None:
        """All variants in turn until each is clear, within this share of the budget; None where the server takes none of them.

        Under what ends it the others are not held against anything: they begin again without it, with the time that is left.
        """
        budget, began = self._options.budget_seconds, time.monotonic()
        made = self._with_same_values(ways, self._made(ways, variants), part, asked)
        while made:
            left = None if budget is None else max(budget * share - (time.monotonic() - began), 0.0)
            try:
                return self._rounds_of({BASELINE: ways.baseline, **made}, left)
            except VariantFailedError as error:
                ways.problems[error.variant] = error.said
                del made[error.variant]
        return None

    def _rounds_of(self, ways: Mapping[str, Callable[[], ReplayRun]], budget: float | None) -> Rounds[ReplayRun]:
        most = self._options.maximum_rounds
        if budget is None and most is not None:
            takes = duration(most * len(ways) * self._run_seconds)
            self._listener.doing(
                f"runs of {duration(self._run_seconds)}, {most} of each of {len(ways)} variants: about {takes} (--budget ends them earlier)"
            )
        limits = limits_of(most, budget, len(ways), self._run_seconds)
        return run_told_rounds(ways, lambda run: run.rate(self._options.speed), limits, self._listener)

    def _result(self, variant: Variant, ways: Ways, schedule: Schedule, runs: Rounds[ReplayRun]) -> VariantResult:
        otherwise = (
            answered_otherwise(schedule.kinds, runs[BASELINE], runs[variant.name]) if variant.name in runs else ""
        )
        if otherwise:
            ways.problems[variant.name] = otherwise
        if variant.name in ways.problems:
            return VariantResult(variant.name, variant.rules, variant.tried, problem=ways.problems[variant.name])
        compared = compare(variant.name, runs, lambda run: run.rate(self._options.speed))
        return VariantResult(
            variant.name, variant.rules, variant.tried, compared.ratio, compared.low, compared.high, compared.verdict,
            measured(runs[variant.name]),
        )  # fmt: skip

    def _told(
        self, server: PrivateServer, variants: tuple[VariantResult, ...], kinds: tuple[KindResult, ...], fidelity: Fidelity, runs: Rounds[ReplayRun]
    ) -> ReplayResult:  # fmt: skip
        material = self._material
        return ReplayResult(
            variants=variants,
            kinds=kinds,
            fidelity=fidelity,
            baseline=measured(runs[BASELINE]),
            speed=self._options.speed,
            server=PRODUCT_NAMES[material.binaries.flavour],
            version=str(server.execute("SELECT @@version")[0][0]),
            tables=tuple(object_name(one.schema, one.table) for one in material.sources),
            settings=tuple(material.settings),
            workload=material.described,
            machine=machine_name(),
            taken_at=time.time(),
            course=runs.course,
        )


def limits_of(maximum_rounds: int | None, budget: float | None, ways: int, run_seconds: float) -> Limits:
    """The limits of rounds of so many runs of this length: a verdict ends them only when they are longer than one wave of the machine's speed."""
    return Limits(FEWEST_ROUNDS, maximum_rounds, budget, math.ceil(WAVE_SECONDS / (ways * run_seconds)))


def _share_of(variants: int) -> float:
    """Of the budget, what changes alone have."""
    return ALONE_SHARE if variants > 1 else 1.0
