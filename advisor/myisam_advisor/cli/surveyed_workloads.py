"""A workload file, read once before it is replayed: what it touches, and what it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.proofs.recordings import Recording
    from myisam_advisor.trial.statements.survey import Survey

MOST_REASONS = 8
# What the recording did to the server, and of which program it was: a replay is no other by it.
OF_RECORDING_ALONE = frozenset(("load", "processor", "cost", "build", "history"))


@dataclass(frozen=True, slots=True)
class SurveyedWorkload:
    """What the workload touches, what reports tell of it, and what a proof needs to know of its recording.

    `began_at_microseconds` is when the recording began: by the file's header, else by its first statement.
    """

    found: Survey
    described: Mapping[str, str]
    recording: Recording
    began_at_microseconds: int


def _mostly_left_out(statements: int, missed: Iterable[tuple[str, int]]) -> str:
    """That more was left out of a recording than is in it; empty where not. What statements ran, and what is none, is no part of it."""
    from myisam_advisor.workload.sources.base import ADMINISTRATOR, NESTED

    lost = sum(number for reason, number in missed if reason not in (ADMINISTRATOR, NESTED))
    return f"{lost:,} were left out, and {statements:,} are in it" if lost > statements else ""


def surveyed(path: Path) -> SurveyedWorkload:
    """Read it once. Raises UserError, and TrialError for one without statements."""
    from myisam_advisor.proofs.recordings import Recording
    from myisam_advisor.texts.moments import iso_moment
    from myisam_advisor.trial.statements.survey import Judging, survey
    from myisam_advisor.workload.file import read_workload
    from myisam_advisor.workload.recording import OUR_OWN, PARTS
    from myisam_exporter.server.version_number import product_and_version

    workload = read_workload(path)
    found = survey(workload.events(), Judging())
    header = workload.header
    told = header.began_at_microseconds
    began_at = found.began_microseconds if told is None else told
    described = {
        "source": header.source,
        "server": product_and_version(header.flavour, header.server_version, "").strip(),
        "began_at": iso_moment(began_at / 1e6),
        "statements": str(found.statements),
        "connections": str(len(found.connections)),
        "seconds": f"{found.seconds:.1f}",
    }
    if workload.totals.truncated:
        described["truncated"] = "the file was cut off: what is there was replayed"
    missed = [(reason, number) for reason, number in workload.totals.left_out.items() if reason != OUR_OWN]
    if missed:
        most = sorted(missed, key=lambda one: -one[1])[:MOST_REASONS]
        described["not_recorded"] = ", ".join(f"{number:,} ({reason})" for reason, number in most)
    notes = {**header.note, **workload.totals.note}
    if told_of_it := [f"{name}: {note}" for name, note in notes.items() if name not in OF_RECORDING_ALONE]:
        described["notes"] = "; ".join(told_of_it)
    # A general log tells when statements began, and not how long they took: what overlapped is not known.
    knows_moments = header.knows_moments and found.tells_times
    recording = Recording(began_at / 1e6, header.flavour, header.server_version, knows_moments)
    part = next((notes[name] for name in PARTS if name in notes), "") or _mostly_left_out(found.statements, missed)
    recording = replace(recording, sampled=part)
    return SurveyedWorkload(found, described, recording, began_at)
