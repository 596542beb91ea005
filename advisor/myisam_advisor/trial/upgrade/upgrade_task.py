"""An upgrade as a task for a process of its own: what it is told, which files it is given, and what is taken for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import Place
from myisam_advisor.trial.private.binaries import ServerChoice
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.tables.table_lock import remote_lock
from myisam_advisor.trial.task import Handed, Reporting, choice_of, choice_told, done, source_of
from myisam_advisor.trial.upgrade import upgrade_result
from myisam_advisor.trial.upgrade.upgrade_result import UpgradeResult
from myisam_advisor.trial.upgrade.upgrading import TableName, UpgradeMaterial, run_upgrade

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session


@dataclass(frozen=True, slots=True)
class UpgradeTask:
    """One upgrade: to which program, from which server, which open tables; the rest as in UpgradeMaterial."""

    choice: ServerChoice
    data_version: tuple[str, int, int]
    sql_mode: str
    sources: Sequence[Source]
    definitions: Mapping[TableName, str]
    uncopied: Mapping[TableName, str]
    lock: Session | None = field(default=None, repr=False)


def run_upgrade_task(place: Place, task: UpgradeTask, listener: Listener) -> UpgradeResult:
    """Have the task done by the other process, and what it needs of us meanwhile. Raises TrialError for whatever stops it."""
    return upgrade_result.from_document(done(place, Handed(_told(task), (), task.sources, task.lock), listener))


def do_upgrade_task(channel: Channel) -> Mapping[str, Any]:
    """The other process's side: take the task, run it, and return the result as JSON can hold it."""
    told, _ = channel.receive_files()
    sources = [source_of(*channel.receive_files()) for _ in range(told["sources"])]
    flavour, major, minor = told["data_version"]
    material = UpgradeMaterial(
        choice_of(told["choice"]).binaries(),
        (str(flavour), int(major), int(minor)),
        told["sql_mode"],
        sources,
        {(schema, table): text for schema, table, text in told["definitions"]},
        {(schema, table): why for schema, table, why in told["uncopied"]},
        remote_lock(channel, sources) if told["may_lock"] else None,
    )
    return upgrade_result.as_document(run_upgrade(material, Reporting(channel.send)))


def _told(task: UpgradeTask) -> Message:
    return {
        "choice": choice_told(task.choice),
        "data_version": list(task.data_version),
        "sql_mode": task.sql_mode,
        "sources": len(task.sources),
        "definitions": [[*name, text] for name, text in task.definitions.items()],
        "uncopied": [[*name, why] for name, why in task.uncopied.items()],
        "may_lock": task.lock is not None,
    }
