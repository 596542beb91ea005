"""A replay as a task for a process of its own: what it is told, which files it is given, and what is taken for its answer."""

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
from myisam_advisor.trial.statements.definitions import Definition
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.replay_result import ReplayResult
from myisam_advisor.trial.statements.replaying import run_replay
from myisam_advisor.trial.statements.variants import Variant, as_told, from_told
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.task import Handed, Reporting, choice_of, choice_told, done, received
from myisam_advisor.trial.typed_documents import made
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session


ANOTHER_RELEASE = "The private server is another release of the same series than the watched one: optimizer_switch and its like are at their defaults there."


@dataclass(frozen=True, slots=True)
class ReplayTask:
    """One replay: of which workload, under which variants, on which program, with which settings, on which open tables.

    `data_version` is the version of the server whose files are copied: (flavour, major, minor), `release` all three numbers of it. `meaning` are settings
    that only the very same release is sure to take.
    """

    workload: Path
    described: Mapping[str, str]
    variants: Sequence[Variant]
    options: ReplayOptions
    choice: ServerChoice
    data_version: tuple[str, int, int]
    settings: Sequence[str]
    sources: Sequence[Source]
    missing: Mapping[TableName, str]
    changed_seconds: Mapping[TableName, float]
    lock: Session | None = field(default=None, repr=False)
    definitions: Sequence[Definition] = ()
    notes: Sequence[str] = ()
    meaning: Sequence[str] = ()
    release: Sequence[int] = ()


def run_replay_task(place: Place, task: ReplayTask, listener: Listener) -> ReplayResult:
    """Have the task done by the other process, and what it needs of us meanwhile. Raises TrialError for whatever stops it."""
    handed = Handed(_told(task), task.workload, task.sources, task.lock)
    return made(ReplayResult, done(place, handed, listener))


def do_replay_task(channel: Channel) -> Mapping[str, Any]:
    """The other process's side: take the task, run it, and return the result as JSON can hold it."""
    given = received(channel)
    told, workload = given.told, given.workload
    assert workload is not None, "a replay is handed over with its workload"
    binaries = choice_of(told["choice"]).binaries()
    _expect_version(binaries, told["data_version"])
    is_same = list(binaries.release or ()) == told["release"]
    material = Material(
        binaries=binaries,
        settings=[*told["settings"], *(told["meaning"] if is_same else ())],
        events=workload.events,
        sources=given.sources,
        missing={(schema, table): why for schema, table, why in told["missing"]},
        changed_seconds={(schema, table): seconds for schema, table, seconds in told["changed"]},
        lock=given.lock,
        described=told["described"],
        definitions=[Definition(**{**one, "uses": tuple(map(tuple, one["uses"]))}) for one in told["definitions"]],
        notes=[*told["notes"], *([] if is_same else [ANOTHER_RELEASE])],
        knows_moments=workload.knows_moments,
    )
    result = run_replay(
        material,
        [from_told(one) for one in told["variants"]],
        ReplayOptions(**told["options"]),
        Reporting(channel.send),
    )
    return asdict(result)


def _told(task: ReplayTask) -> Message:
    return {
        "described": dict(task.described),
        "variants": [as_told(variant) for variant in task.variants],
        "options": asdict(task.options),
        "choice": choice_told(task.choice),
        "data_version": list(task.data_version),
        "settings": list(task.settings),
        "meaning": list(task.meaning),
        "release": list(task.release),
        "missing": [[*name, why] for name, why in task.missing.items()],
        "changed": [[*name, seconds] for name, seconds in task.changed_seconds.items()],
        "definitions": [asdict(one) for one in task.definitions],
        "notes": list(task.notes),
    }


def _expect_version(binaries: ServerBinaries, data_version: Sequence[Any]) -> None:
    """Raises TrialError where the program is of another product or release than the server whose files are copied."""
    flavour, major, minor = data_version
    wanted = f"{flavour}-{major}.{minor}"
    if binaries.name != wanted:
        raise TrialError(
            f"{binaries.mysqld} is {binaries.name}, and the tables are of {wanted}: another release may read files and answer statements "
            "otherwise. Give the program of the watched server (--server), or leave --server out."
        )
