"""An upgrade as a task for a process of its own: what it is told, which files it is given, and what is taken for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import Place
from myisam_advisor.trial.private.binaries import ServerBinaries, ServerChoice
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.task import Handed, OpenWorkload, Reporting, choice_of, choice_told, done, received
from myisam_advisor.trial.upgrade.recorded_statements import RecordedMaterial
from myisam_advisor.trial.upgrade.upgrade_result import UpgradeResult, from_document
from myisam_advisor.trial.upgrade.upgrading import UpgradeMaterial, run_upgrade
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session


@dataclass(frozen=True, slots=True)
class RecordedTask:
    """Recorded statements for both versions: their file and what it is, where the present version's program may be, how long it may take."""

    workload: Path
    described: Mapping[str, str]
    present: ServerChoice
    variables: Mapping[str, str]
    budget_seconds: float | None
    rounds: int | None


@dataclass(frozen=True, slots=True)
class UpgradeTask:
    """One upgrade: to which program, from which server, which open tables; the rest as in UpgradeMaterial."""

    choice: ServerChoice
    data_version: tuple[str, int, int]
    sql_mode: str
    sources: Sequence[Source]
    definitions: Mapping[TableName, str]
    uncopied: Mapping[TableName, str]
    uncopied_bytes: Mapping[TableName, int]
    lock: Session | None = field(default=None, repr=False)
    recorded: RecordedTask | None = None


def run_upgrade_task(place: Place, task: UpgradeTask, listener: Listener) -> UpgradeResult:
    """Have the task done by the other process, and what it needs of us meanwhile. Raises TrialError for whatever stops it."""
    handed = Handed(_told(task), task.recorded.workload if task.recorded else None, task.sources, task.lock)
    return from_document(done(place, handed, listener))


def do_upgrade_task(channel: Channel) -> Mapping[str, Any]:
    """The other process's side: take the task, run it, and return the result as JSON can hold it."""
    given = received(channel)
    told = given.told
    flavour, major, minor = told["data_version"]
    recorded = told["recorded"]
    material = UpgradeMaterial(
        binaries=choice_of(told["choice"]).binaries(),
        data_version=(str(flavour), int(major), int(minor)),
        sql_mode=told["sql_mode"],
        sources=given.sources,
        definitions={(schema, table): text for schema, table, text in told["definitions"]},
        uncopied={(schema, table): why for schema, table, why, _ in told["uncopied"]},
        uncopied_bytes={(schema, table): held for schema, table, _, held in told["uncopied"] if held is not None},
        lock=given.lock,
        recorded=_recorded(recorded, given.workload) if recorded and given.workload else None,
        present=present_program(choice_of(recorded["present"]), told["data_version"]) if recorded else None,
        variables=recorded["variables"] if recorded else {},
    )
    return asdict(run_upgrade(material, Reporting(channel.send)))


def _told(task: UpgradeTask) -> Message:
    return {
        "choice": choice_told(task.choice),
        "data_version": list(task.data_version),
        "sql_mode": task.sql_mode,
        "definitions": [[*name, text] for name, text in task.definitions.items()],
        "uncopied": [[*name, why, task.uncopied_bytes.get(name)] for name, why in task.uncopied.items()],
        "recorded": _recorded_told(task.recorded) if task.recorded else None,
    }


def _recorded_told(task: RecordedTask) -> Message:
    return {
        "described": dict(task.described),
        "present": choice_told(task.present),
        "variables": dict(task.variables),
        "budget_seconds": task.budget_seconds,
        "rounds": task.rounds,
    }


def _recorded(told: Message, workload: OpenWorkload) -> RecordedMaterial:
    return RecordedMaterial(
        workload.events, told["described"], told["budget_seconds"], told["rounds"], workload.knows_moments
    )


def present_program(choice: ServerChoice, data_version: Sequence[object]) -> ServerBinaries:
    """The program of the present version. Raises TrialError where it is not to be found, or is of another release by now."""
    flavour, major, minor = data_version
    wanted = f"{flavour}-{major}.{minor}"
    needs = f"--workload sends the statements to the present version ({wanted}), too"
    try:
        binaries = choice.binaries()
    except TrialError as error:
        looked = ", ".join(choice.candidates[:3]) or "its process and its basedir show none to this user"
        raise TrialError(
            f"{needs}, and its program cannot be started here (looked for: {looked}): {_why(error)} Run as root on the machine where its program lies, or leave --workload out."
        ) from None
    if binaries.name != wanted:
        raise TrialError(
            f"{needs}, and {binaries.mysqld}, from which it was started, is {binaries.name} by now. "
            f"Put the program of {wanted} there again, or leave --workload out."
        )
    return binaries


def _why(error: TrialError) -> str:
    """Without a remedy that is for other trials."""
    return f"{str(error).partition('. Name it')[0].rstrip('.')}."
