"""Recorded statements on each engine: speed by kind, what they waited for, and whether they are answered alike.

Writes change what comes after them, and many cannot be done twice. So the data of each server are put back before each run, and read into
memory; where nothing is written, once is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import object_name, percent
from myisam_advisor.trial.engines.result import Answers, KindSpeed, Recorded
from myisam_advisor.trial.engines.settings import MYISAM
from myisam_advisor.trial.engines.stage import NONE_YET, EngineServer, Locks, keep_data, put_back
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.report import course_line
from myisam_advisor.trial.rounds import Limits, Rounds, run_told_rounds
from myisam_advisor.trial.statements.answers import Compared, compare_answers, selects
from myisam_advisor.trial.statements.figures import answered_otherwise, compare, kinds_of
from myisam_advisor.trial.statements.parts import cpu_seconds
from myisam_advisor.trial.statements.replay_result import KindResult
from myisam_advisor.trial.statements.schedule import ONE_BY_ONE, Schedule, write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, longest_run, send
from myisam_advisor.trial.statements.stages import make_account
from myisam_advisor.trial.statements.survey import Judging, folds_names, survey
from myisam_advisor.trial.statements.tally import ReplayRun, tally
from myisam_advisor.trial.statements.variants import BASELINE, Variant
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.workload.events import Event
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

MOST_LISTED = 20
# Reads the workload from its beginning, as often as it is called.
Events = Callable[[], Iterator[Event]]


@dataclass(slots=True)
class _Way:
    """One server, its data as they were (None: nothing is written), and what its statements waited for."""

    one: EngineServer
    kept: Path | None
    locks: Locks = NONE_YET


class RecordedStatements:
    """A workload on the servers of several engines, the first of which has the tables as they are.

    `knows_moments`: it tells to the microsecond when statements began, so that writes that overlapped may do so again: InnoDB is made for them.
    `notes` is what else there is to say of it, once they were compared.
    """

    def __init__(
        self,
        servers: Sequence[EngineServer],
        tables: Sequence[Source],
        events: Events,
        folder: Path,
        listener: Listener,
        *,
        knows_moments: bool = False,
    ) -> None:
        self._servers, self._tables, self._events = servers, tables, events
        self._folder, self._listener = folder, listener
        self._knows_moments = knows_moments
        self.notes: list[str] = []

    def compare(self, limits: Limits) -> list[Recorded]:
        """All engines against MyISAM. Raises TrialError where nothing of the workload can be sent."""
        schedule, seconds, compared_answers = self._prepared()
        ways = {self._name(one): _Way(one, keep_data(one) if schedule.written else None) for one in self._servers}
        for way in ways.values():
            way.one.warm(self._tables)
        runs = self._rounds(ways, schedule, seconds, limits)
        return [self._result(way, runs, schedule, compared_answers) for name, way in ways.items() if name != BASELINE]

    def _name(self, one: EngineServer) -> str:
        return BASELINE if one.engine == MYISAM else one.engine

    def _prepared(self) -> tuple[Schedule, float, Mapping[str, Compared]]:
        """The statements as files for the sender, how long they were recorded, and what SELECTs say before anything is written."""
        self._listener.doing("reading the workload")
        names = [one.server.variables().get("lower_case_table_names") for one in self._servers[:1]]
        judging = Judging(folds=any(map(folds_names, names)))
        found = survey(self._events(), judging)
        databases = frozenset(table.schema for table in self._tables)
        copied = {(table.schema, table.table) for table in self._tables}

        def why(table: TableName) -> str:
            return "" if table in copied else f"{object_name(*table)} was not copied"

        schedule = write_schedule(
            self._events(), found, judging, self._folder / "recorded", databases, why, knows_moments=self._knows_moments
        )
        if schedule.is_one_by_one:
            self.notes.append(ONE_BY_ONE)
        if not schedule.total:
            said = "; ".join(f"{number} x {reason}" for reason, number in list(schedule.left_out.items())[:3])
            raise TrialError(
                f"no statement of the workload can be sent: {said}. Name the tables that it uses (--table)."
            )
        for one in self._servers:
            make_account(one.server, sorted(databases))
        self._listener.doing("comparing answers")
        servers = {one.engine: one.server for one in self._servers}
        return schedule, found.seconds, compare_answers(servers, selects(self._events(), judging, copied))

    def _rounds(
        self, ways: Mapping[str, _Way], schedule: Schedule, seconds: float, limits: Limits
    ) -> Rounds[ReplayRun]:
        limit_seconds = longest_run(limits.budget_seconds, seconds)
        variants = {name: partial(self._run, way, schedule, limit_seconds) for name, way in ways.items()}
        return run_told_rounds(variants, lambda run: run.rate(MAXIMUM_SPEED), limits, self._listener)

    def _run(self, way: _Way, schedule: Schedule, limit_seconds: float) -> ReplayRun:
        server = way.one.server
        if way.kept is not None:
            put_back(way.one, way.kept)
            way.one.warm(self._tables)
        waited, before = way.one.locks(), cpu_seconds(server)
        sent = send(server, schedule, MAXIMUM_SPEED, limit_seconds)
        run = tally(schedule, sent, cpu_seconds(server) - before)
        way.locks = way.locks.plus(way.one.locks().since(waited))
        return run

    def _result(
        self, way: _Way, runs: Rounds[ReplayRun], schedule: Schedule, answers: Mapping[str, Compared]
    ) -> Recorded:
        engine = way.one.engine
        whole = compare(engine, runs, lambda run: run.rate(MAXIMUM_SPEED))
        kinds = kinds_of(schedule, [(runs, [Variant(engine)])])
        said = told(answers[engine]) if engine in answers else None
        speed = KindSpeed(
            "all statements", whole.ratio, whole.low, whole.high, whole.verdict, _median(runs[BASELINE]), _median(runs[engine]),
            course_line(runs.course),
        )  # fmt: skip
        problem = answered_otherwise(schedule.kinds, runs[BASELINE], runs[engine])
        return Recorded(engine, speed, tuple(map(_kind, kinds)), way.locks.waits, way.locks.deadlocks, said, problem)


def told(compared: Compared) -> Answers:
    """The first kinds of each."""
    return Answers(
        compared.total, compared.equal, tuple(compared.other_order[:MOST_LISTED]), tuple(compared.differ[:MOST_LISTED])
    )


def _kind(kind: KindResult) -> KindSpeed:
    one = kind.variants[0]
    share = f"{percent(kind.share)} of the time: {kind.statements:,} statements"
    return KindSpeed(kind.fingerprint, one.times, one.low, one.high, one.verdict, note=share)


def _median(runs: Sequence[ReplayRun]) -> float:
    rates = sorted(run.statements_per_second for run in runs)
    return rates[len(rates) // 2]
