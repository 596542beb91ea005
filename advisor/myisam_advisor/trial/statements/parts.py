"""The part of a recording that a run sends: the whole, or as much of its beginning as the budget can bear (window.py)."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.effects import NO_EFFECTS, Effects
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.schedule import Schedule, write_schedule
from myisam_advisor.trial.statements.sender import Sent, longest_run, send
from myisam_advisor.trial.statements.stages import Stage, StagedTable
from myisam_advisor.trial.statements.survey import Judging, Survey, survey
from myisam_advisor.trial.statements.tally import ReplayRun, keep_usual, tally
from myisam_advisor.trial.statements.window import Allowance, Pace, choose, corrected, ends_of
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.kernel.process import TICKS_PER_SECOND, ProcessSample, read_process

# How often a window is tried, and chosen again where a run of it took too long or too short.
CORRECTIONS = 2


@dataclass(frozen=True, slots=True)
class Part:
    """The first statements of a recording: what is known of them, and their files for the sender."""

    found: Survey
    schedule: Schedule


@dataclass(frozen=True, slots=True)
class _Timed:
    """A run, and how long what was around it took: until the tables stood ready, from then until the answers were there, and counting these."""

    sent: Sent
    run: ReplayRun
    ready_seconds: float
    sending_seconds: float
    counting_seconds: float

    @property
    def whole_seconds(self) -> float:
        return self.ready_seconds + self.sending_seconds + self.counting_seconds


class Parts:
    """Makes parts of a recording, and sends them."""

    def __init__(
        self,
        material: Material,
        options: ReplayOptions,
        judging: Judging,
        whole: Survey,
        folder: Path,
        effects: Effects = NO_EFFECTS,
    ) -> None:
        self.whole = whole
        self._material, self._options, self._judging, self._folder = material, options, judging, folder
        self._effects = effects
        self._databases = frozenset(databases_of(material))
        self._copied = frozenset((source.schema, source.table) for source in material.sources)

    def first(self, statements: int) -> Part:
        """So many statements from the beginning; those that were made before are gone. Raises TrialError where none can be sent."""
        shutil.rmtree(self._folder, ignore_errors=True)
        found = self.whole
        if statements < found.statements:
            found = survey(islice(self._material.events(), statements), self._judging)
        events = islice(self._material.events(), found.statements)
        schedule = write_schedule(
            events, found, self._judging, self._folder, self._databases, self._why_missing, self._effects,
            knows_moments=self._material.knows_moments, programs=self._material.logged_programs,
        )  # fmt: skip
        if not schedule.total:
            reasons = sorted(schedule.left_out.items(), key=lambda one: -one[1])[:3]
            said = "; ".join(f"{count} x {reason}" for reason, count in reasons)
            raise TrialError(
                f"no statement of the workload can be replayed: {said}. A replay needs MyISAM tables that are still there."
            )
        return Part(found, schedule)

    def stage(self, server: PrivateServer, part: Part) -> Stage:
        """The copied tables on this server, kept as they are now."""
        stage = Stage(server, self.tables(part), server.directory)
        stage.keep()
        return stage

    def tables(self, part: Part) -> list[StagedTable]:
        """The copied tables, and which of them the part writes."""
        return [
            StagedTable(one.schema, one.table, one.folder, one.stem, (one.schema, one.table) in part.schedule.written)
            for one in self._material.sources
        ]

    def window(self, server: PrivateServer, allowed: Allowance | None) -> Part:
        """The part that the budget can bear; the tables are as they were at the beginning."""
        if allowed is None:
            return self.first(self.whole.statements)
        part = self.first(min(self.whole.statements, allowed.statements))
        stage = self.stage(server, part)
        timed = self._timed(part.schedule, stage, stop_seconds=allowed.longest_seconds)
        ends = ends_of(part.schedule, timed.sent)
        if len(ends) == self.whole.statements and timed.whole_seconds <= allowed.planned_seconds:
            stage.restore()
            return part
        pace = _pace(timed, ends)
        chosen = choose(pace, allowed, self.whole)
        stage.restore()
        for _ in range(CORRECTIONS):
            part = self.first(chosen)
            stage = self.stage(server, part)
            took = self._timed(part.schedule, stage).whole_seconds
            stage.restore()
            again = corrected(chosen, took, pace, allowed, self.whole.statements)
            if again == chosen:
                return part
            chosen = again
        return self.first(chosen)

    def first_run(self, schedule: Schedule, stage: Stage) -> ReplayRun:
        """The first run of the settings as they are, whose answers the others are held against."""
        timed = self._timed(schedule, stage)
        keep_usual(schedule, timed.sent)
        return timed.run

    def once(self, schedule: Schedule, stage: Stage, set_up: Callable[[], AbstractContextManager[None]]) -> ReplayRun:
        """Send all of it once, to tables that are as they were kept."""
        return self._timed(schedule, stage, set_up).run

    def _timed(
        self,
        schedule: Schedule,
        stage: Stage,
        set_up: Callable[[], AbstractContextManager[None]] = nullcontext,
        stop_seconds: float = 0,
    ) -> _Timed:
        server, began = stage.server, time.monotonic()
        with set_up():
            stage.restore()
            before, ready = cpu_seconds(server), time.monotonic()
            limit_seconds = longest_run(self._options.budget_seconds, self.whole.seconds)
            sent = send(server, schedule, self._options.speed, limit_seconds, stop_seconds=stop_seconds)
            answered = time.monotonic()
            stage.expect_tables()
            run = tally(schedule, sent, cpu_seconds(server) - before)
        return _Timed(sent, run, ready - began, answered - ready, time.monotonic() - answered)

    def _why_missing(self, table: TableName) -> str:
        if table in self._copied or table in self._effects.views:
            return ""
        if table in self._effects.refused:
            return self._effects.refused[table]
        return self._material.missing.get(table, f"{object_name(*table)} was not copied")


def databases_of(material: Material) -> list[str]:
    """The databases of what is copied and made."""
    return sorted({one.schema for one in material.sources} | {one.schema for one in material.definitions})


def _pace(timed: _Timed, ends: Sequence[float]) -> Pace:
    running = timed.sent.seconds
    return Pace(
        timed.ready_seconds + timed.sending_seconds - running, timed.counting_seconds / max(running, 1e-3), ends
    )


def cpu_seconds(server: PrivateServer) -> float:
    """What the server has taken of the processors. Raises TrialError where it is gone."""
    server.expect_alive()
    sample = read_process(Path("/proc") / str(server.pid), server.pid)
    if not isinstance(sample, ProcessSample):
        raise TrialError(f"the private server is gone: {sample.reason}.")
    return (sample.user_ticks + sample.system_ticks) / TICKS_PER_SECOND
