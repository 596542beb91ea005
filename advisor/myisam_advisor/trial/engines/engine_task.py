"""A trial of engines as a task for a process of its own: what it is told, which files it is given, and what is taken for its answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.engines.engine_trial import EngineMaterial, run_engine_trial
from myisam_advisor.trial.engines.result import EngineResult
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import Place
from myisam_advisor.trial.private.binaries import ServerChoice
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.task import Handed, Reporting, choice_of, choice_told, done, received
from myisam_advisor.trial.typed_documents import made
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session

# Of the watched server's variables the other process hears these alone.
CACHE_VARIABLES = ("key_buffer_size", "innodb_buffer_pool_size", "aria_pagecache_buffer_size")


@dataclass(frozen=True, slots=True)
class EngineTask:
    """One trial of engines: which, on which program, with which settings, on which open tables; `left_out` says why others are not among them."""

    engines: Sequence[str]
    options: TrialOptions
    choice: ServerChoice
    settings: Sequence[str]
    variables: Mapping[str, str]
    watched: Mapping[str, str]
    sources: Sequence[Source]
    left_out: Mapping[str, str]
    lock: Session | None = field(default=None, repr=False)
    workload: Path | None = None
    described: Mapping[str, str] = field(default_factory=dict)


def run_engine_task(place: Place, task: EngineTask, listener: Listener) -> EngineResult:
    """Have the task done by the other process, and what it needs of us meanwhile. Raises TrialError for whatever stops it."""
    handed = Handed(_told(task), task.workload, task.sources, task.lock)
    return made(EngineResult, done(place, handed, listener))


def do_engine_task(channel: Channel) -> Mapping[str, Any]:
    """The other process's side: take the task, run it, and return the result as JSON can hold it."""
    given = received(channel)
    told, workload = given.told, given.workload
    material = EngineMaterial(
        binaries=choice_of(told["choice"]).binaries(),
        engines=told["engines"],
        settings=told["settings"],
        variables=told["variables"],
        watched=told["watched"],
        sources=given.sources,
        left_out=told["left_out"],
        lock=given.lock,
        events=workload.events if workload else None,
        described=told["described"],
        knows_moments=workload.knows_moments if workload else False,
    )
    found = run_engine_trial(material, TrialOptions(**told["options"]), Reporting(channel.send))
    return asdict(found)


def _told(task: EngineTask) -> Message:
    return {
        "engines": list(task.engines),
        "options": asdict(task.options),
        "choice": choice_told(task.choice),
        "settings": list(task.settings),
        "variables": {name: task.variables[name] for name in CACHE_VARIABLES if name in task.variables},
        "watched": dict(task.watched),
        "left_out": dict(task.left_out),
        "described": dict(task.described),
    }
