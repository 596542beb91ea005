"""How much like the recording a replay was."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from myisam_advisor.texts.templates import object_name
from myisam_advisor.trial.statements.effects import Effects
from myisam_advisor.trial.statements.figures import MAXIMUM_DIFFERENCES, differences_of
from myisam_advisor.trial.statements.material import Material
from myisam_advisor.trial.statements.parts import Part
from myisam_advisor.trial.statements.replay_result import Fidelity, TableStart, Window
from myisam_advisor.trial.statements.schedule import ONE_BY_ONE, Schedule
from myisam_advisor.trial.statements.survey import Survey
from myisam_advisor.trial.statements.tally import ReplayRun, measured
from myisam_advisor.trial.tables.sources import Source
from myisam_exporter.facts.columns import TableName
from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS


def fidelity_of(
    material: Material,
    whole: Survey,
    part: Part,
    window: Window,
    effects: Effects,
    first: ReplayRun,
    baseline: Sequence[ReplayRun],
) -> Fidelity:
    """Of the part that was replayed: what the first run returned, and what the others cost."""
    sender = sum(run.sender_cpu_seconds for run in baseline)
    both = sender + sum(run.server_cpu_seconds for run in baseline)
    schedule, writes = part.schedule, effects.written_by(whole.written, whole.called)
    return Fidelity(
        statements=part.found.statements,
        sent=schedule.total,
        left_out=dict(sorted(schedule.left_out.items(), key=lambda one: -one[1])[:MAXIMUM_DIFFERENCES]),
        rows_equal=first.rows_equal,
        rows_differ=first.rows_differ,
        rows_unknown=first.rows_unknown,
        differences=differences_of(schedule, first),
        tables=tuple(_start(source, material, writes) for source in material.sources),
        lost_turns=max(run.lost_turns for run in baseline),
        crowded_connections=schedule.crowded,
        recorded_seconds=part.found.seconds,
        replayed_seconds=measured(baseline).seconds,
        sender_cpu_share=sender / both if both else 0.0,
        window=window,
        unconnected=max(run.unconnected for run in (first, *baseline)),
        errors_recorded=schedule.tells_errors,
        notes=tuple(_notes(part, material)),
        differing_share=differing_share(schedule, first),
    )


def differing_share(schedule: Schedule, run: ReplayRun) -> float:
    """How much of what was sent is not answered as recorded: by the number of statements, or by their recorded time, where that is more."""
    differing: Counter[int] = Counter()
    for (kind, _), count in run.differences.items():
        # What a server tells of itself is never alike on two.
        if not any(f"{schema}." in schedule.kinds[kind] for schema in SYSTEM_SCHEMAS):
            differing[kind] += count
    sent = schedule.sent
    time = sum(use.microseconds for use in sent.values())
    of_time = sum(
        sent[kind].microseconds * count / sent[kind].statements for kind, count in differing.items() if kind in sent
    )
    return max(differing.total() / max(schedule.total, 1), of_time / time if time else 0.0)


def _start(source: Source, material: Material, writes: Mapping[TableName, int]) -> TableStart:
    name = (source.schema, source.table)
    return TableStart(object_name(*name), source.counted_bytes, writes.get(name, 0), material.changed_seconds.get(name))


def _notes(part: Part, material: Material) -> Iterator[str]:
    if part.schedule.is_one_by_one:
        yield ONE_BY_ONE
    if part.found.prepared:
        yield f"{part.found.prepared} statements were prepared ones, and are sent as text."
    made = sum(not one.problem for one in material.definitions)
    if made:
        yield f"{made} views, triggers and stored routines were taken over, as the sender's own."
    yield from material.notes
