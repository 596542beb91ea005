"""A trial as a task for a process of its own: what it is told, which files it is given, and what is taken for its answer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from myisam_advisor.texts.templates import printable
from myisam_advisor.trial import results
from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import Place
from myisam_advisor.trial.private.binaries import ServerChoice, as_document, from_document
from myisam_advisor.trial.private.channel import Channel, ChannelError, Message
from myisam_advisor.trial.results import TrialResult
from myisam_advisor.trial.tables.sources import Source, SourceFile
from myisam_advisor.trial.tables.table_lock import Lock, answer_lock, remote_lock
from myisam_advisor.trial.trial import TrialMaterial, run_trial
from myisam_advisor.trial.typed_documents import number
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file import Workload
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session


@dataclass(frozen=True, slots=True)
class Task:
    """One experiment to run: on which program, with which settings, on which open tables, and by which session they may be locked."""

    experiment: str
    options: TrialOptions
    choice: ServerChoice | None
    settings: Sequence[str] = ()
    sources: Sequence[Source] = ()
    lock: Session | None = field(default=None, repr=False)


def run_task(place: Place, task: Task, listener: Listener) -> TrialResult:
    """Have the task done by the other process, and what it needs of us meanwhile. Raises TrialError for whatever stops it."""
    return results.from_document(done(place, Handed(_told(task), None, task.sources, task.lock), listener))


@dataclass(frozen=True, slots=True)
class Handed:
    """What the other process is given: a message, a workload to read with it, open tables, and the session by which these may be locked."""

    message: Message
    workload: Path | None
    sources: Sequence[Source]
    lock: Session | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class OpenWorkload:
    """A workload file that was opened by whoever may."""

    name: str
    descriptor: int

    def events(self) -> Iterator[Event]:
        """The events, from the beginning, as often as it is called."""
        yield from self._read().events()

    @property
    def knows_moments(self) -> bool:
        """Whether the recording tells to the microsecond when statements began."""
        with self._read() as workload:
            return workload.header.knows_moments

    def _read(self) -> Workload:
        file = os.fdopen(os.dup(self.descriptor), "rb")
        file.seek(0)
        return Workload(Path(self.name), file)


@dataclass(frozen=True, slots=True)
class Received:
    """What was handed over, in the other process."""

    told: Message
    workload: OpenWorkload | None
    sources: Sequence[Source]
    lock: Lock | None


def done(place: Place, handed: Handed, listener: Listener) -> Any:
    """Hand it over, answer what the other process needs of us meanwhile, and return its result. Raises TrialError for whatever stops it."""
    message = {
        **handed.message,
        "workload": str(handed.workload or ""),
        "sources": len(handed.sources),
        "may_lock": handed.lock is not None,
    }
    if handed.workload is None:
        place.send(message)
    else:
        with open(handed.workload, "rb") as workload:
            place.send(message, [workload.fileno()])
    for source in handed.sources:
        place.send(asdict(source), [file.descriptor for file in source.files])

    def answer(message: Message) -> None:
        if "doing" in message:
            listener.doing(printable(str(message["doing"])))
        elif "ran" in message:
            listener.ran()
        elif "left" in message:
            listener.left(number(message["left"]))
        elif "lock" in message and handed.lock is not None:
            answer_lock(place.channel, message, handed.sources, handed.lock)
        else:
            raise ChannelError("the trial's process asks for something that was not offered.")

    return place.result(answer)


def received(channel: Channel) -> Received:
    """The other process's side of `done`, until it returns its result."""
    told, workloads = channel.receive_files()
    sources = [_source_of(*channel.receive_files()) for _ in range(told["sources"])]
    workload = OpenWorkload(told["workload"], workloads[0]) if workloads else None
    return Received(told, workload, sources, remote_lock(channel, sources) if told["may_lock"] else None)


def do_task(channel: Channel) -> Mapping[str, Any]:
    """The other process's side: take the task, run it, and return the result as JSON can hold it."""
    given = received(channel)
    told, choice = given.told, given.told["choice"]
    binaries = choice_of(choice).binaries() if choice is not None else None
    material = TrialMaterial(binaries, told["settings"], given.sources, given.lock)
    result = run_trial(told["experiment"], material, TrialOptions(**told["options"]), Reporting(channel.send))
    return asdict(result)


class Reporting(Listener):
    """Passes on what a trial does."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send

    def doing(self, what: str) -> None:
        """What begins now."""
        self._send({"doing": what})

    def ran(self) -> None:
        """One run is done."""
        self._send({"ran": True})

    def left(self, seconds: float | None) -> None:
        """So many seconds are left at most."""
        if seconds is not None:
            self._send({"left": seconds})


def choice_told(choice: ServerChoice) -> Message:
    """A choice of a program as JSON holds it."""
    known = as_document(choice.known) if choice.known else None
    return {"chosen": choice.chosen, "candidates": list(choice.candidates), "known": known}


def _told(task: Task) -> Message:
    return {
        "experiment": task.experiment,
        "options": asdict(task.options),
        "choice": choice_told(task.choice) if task.choice is not None else None,
        "settings": list(task.settings),
    }


def choice_of(told: Message) -> ServerChoice:
    """A choice that was `choice_told`."""
    known = from_document(told["known"]) if told["known"] else None
    return ServerChoice(told["chosen"], tuple(told["candidates"]), known)


def _source_of(told: Message, descriptors: list[int]) -> Source:
    """A table that was told as a mapping, with its open files."""
    files = tuple(
        SourceFile(file["name"], descriptor, file["counted_bytes"])
        for file, descriptor in zip(told["files"], descriptors, strict=True)
    )
    return Source(**{**told, "files": files})
