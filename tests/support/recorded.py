"""Plays a recorded machine back: tools/record_machine.py wrote it, no server is needed.

What can be read from a folder is (proc, sys, the data directory); the server's answers come from a session that knows the recorded
statements. What only system calls tell - the time, the page cache, free space, cores - cannot be had from a folder and stands in for the
kernel's answer while a machine is played.
"""

import json
import os
import platform
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.derived import complete
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats.base import Shown, report_named
from myisam_exporter.collectors import disk_space
from myisam_exporter.collectors.base import Context, Pair, all_collectors
from myisam_exporter.errors import StatementRefusedError, UserError
from myisam_exporter.files import sweeper
from myisam_exporter.kernel import residency
from myisam_exporter.kernel.residency import FilePages, Prober
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.pairs import pairs_between
from myisam_exporter.look.snapshot import Snapshot, take_snapshot
from myisam_exporter.look.table_choice import Choice, TableChooser
from myisam_exporter.metrics.base import Group, Running, Scene, Value
from myisam_exporter.server.driver import MAXIMUM_ROWS, Row
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.version_number import parse_version
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch
from tools.record_machine import FOLDER, MACHINES, PROCESS, ROOT, SECTION, SNAPSHOTS

TARGET = Target("root", socket=Path("/run/recorded/mysqld.sock"))
BOOTED = 1_000_000.0
# Where the machine lies as the program's texts shall tell it: a line breaks where its path's length lets it.
PLACE = "/srv/recorded"


class SortedEntries(list["os.DirEntry[str]"]):
    """A directory's entries by name: the order in which a file system tells them is its own."""

    def __enter__(self) -> "SortedEntries":
        return self

    def __exit__(self, *_: object) -> None:
        """The directory is closed already."""

    def close(self) -> None:
        """The same."""


def _sorted_entries(scandir: Callable[..., Any]) -> Callable[..., SortedEntries]:
    def scan(*arguments: Any) -> SortedEntries:
        with scandir(*arguments) as entries:
            return SortedEntries(sorted(entries, key=lambda entry: entry.name))

    return scan


class NotRecordedError(UserError):
    """A statement that no server was asked when the machine was recorded."""


class RecordedSession(Session):
    """A session with the machine's answers; everything that collectors use of one but the wire is Session's own."""

    def __init__(self, machine: "RecordedMachine", target: Target = TARGET) -> None:
        self.target = target
        self.timeout_seconds = 10
        self.statements = machine.moment["statements"]
        self._machine = machine
        self._grants = None
        self.version = parse_version(*self.row("SELECT @@version, @@version_comment", 2))

    def rows(self, statement: str, arguments: Sequence[str] | None = None, maximum_rows: int = MAXIMUM_ROWS, *, columns: int | None = None, names: bool = False) -> list[Row]:
        """What the server answered then. Raises NotRecordedError, and StatementRefusedError where it refused."""
        self.statements = self._machine.moment["statements"]
        answer = self._machine.answers.get(_key(statement, arguments)) or self._some_of(statement)
        if answer is None:
            raise NotRecordedError(f"not recorded, so renew the machines (tools/record_machine.py): {statement} {arguments or ''}")
        if "error" in answer:
            raise StatementRefusedError(*answer["error"])
        return [tuple(None if value is None else value.replace(ROOT, str(self._machine.root)) for value in row) for row in answer["rows"]]

    def _some_of(self, statement: str) -> dict[str, Any] | None:
        """Of all variables those that are asked by name."""
        everything, _, names = statement.partition(" WHERE Variable_name IN ")
        whole = self._machine.answers.get(_key(everything, None)) if names else None
        asked = set(re.findall(r"'(\w+)'", names))
        return whole and {"rows": [row for row in whole["rows"] if row[0] in asked]}

    def peer_process(self) -> int | None:
        """The server's process by the number that it has in the recording."""
        return PROCESS

    def close(self) -> None:
        """There is nothing to end."""

    def abort(self) -> None:
        """There is nothing to end."""


class RecordedConnection(Connection):
    """A daemon's connection with a recorded server."""

    def __init__(self, machine: "RecordedMachine") -> None:
        super().__init__(lambda: TARGET, 10)
        self._session = RecordedSession(machine)


class RecordedProber(Prober):
    """The page cache as the kernel described it; files are opened as ever."""

    machine: "RecordedMachine"

    def probe(self, file: str, directory: int | None = None) -> FilePages | None:
        """What was said of the file of this name; None where it cannot be opened."""
        try:
            os.close(self.files.open(file, directory))
        except OSError:
            return None
        folder = Path(f"/proc/self/fd/{directory}").readlink()
        pages = self.machine.moment["pages"].get(str((folder / file).relative_to(self.machine.data)))
        return None if pages is None else FilePages(*pages)


def _key(statement: str, arguments: Sequence[str] | None) -> str:
    return json.dumps([statement, list(arguments) if arguments else None])


def kernel_files(machine: str, snapshot: str) -> dict[str, str]:
    """The excerpts of /proc, by path."""
    sections = (FOLDER / machine / snapshot / "kernel.txt").read_text("utf-8").split(f"\n{SECTION}")
    named = (section.removeprefix(SECTION).partition("\n") for section in sections)
    return {name: content + ("" if content.endswith("\n") or not content else "\n") for name, _, content in named}


@dataclass(eq=False)
class RecordedMachine:
    """One machine, unpacked below `root`: at its first snapshot, then at its second."""

    name: str
    root: Path
    moment: dict[str, Any] = field(default_factory=dict)
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.root / "data"

    @property
    def proc(self) -> Path:
        """What stands for /proc."""
        return self.root / "proc"

    @property
    def sys(self) -> Path:
        """What stands for /sys."""
        return self.root / "sys"

    def turn_to(self, snapshot: str) -> None:
        """Make files, answers and the kernel's words those of a snapshot; the second lies over the first."""
        folder = FOLDER / self.name / snapshot
        self.moment = json.loads((folder / "moment.json").read_text("utf-8"))
        self.answers |= {_key(one["statement"], one.get("arguments")): one for one in json.loads((folder / "answers.json").read_text("utf-8"))}
        self.root.chmod(0o755)
        shutil.copytree(folder / "data", self.data, dirs_exist_ok=True, copy_function=shutil.copyfile)
        for name, size in self.moment["other_engines"].items():
            (self.data / name).touch()
            os.truncate(self.data / name, size)
        # A checkout may have given them to a group; then nobody could say whose tables they are.
        for path in (self.data, *self.data.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        for name, moment in self.moment["modified"].items():
            os.utime(self.data / name, (moment, moment))
        self._unpack_kernel(kernel_files(self.name, snapshot))

    def _unpack_kernel(self, files: Mapping[str, str]) -> None:
        shutil.rmtree(self.proc, ignore_errors=True)
        for name, content in files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
        process = self.proc / str(PROCESS)
        process.chmod(0o755)
        (process / "fd").mkdir()
        for number in range(self.moment["open_files"]):
            (process / "fd" / str(number)).touch()
        (process / "cwd").symlink_to(self.data)
        (self.root / "pid").write_text(f"{PROCESS}\n")
        # The machine's disk, below whatever device these files lie on.
        disk = self.sys / "devices" / self.moment["disk"]
        disk.mkdir(parents=True, exist_ok=True)
        device = self.data.stat().st_dev
        link = self.sys / "dev" / "block" / f"{os.major(device)}:{os.minor(device)}"
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(disk)

    @contextmanager
    def playing(self) -> Iterator[None]:
        """The kernel says what it said then: the time stands still, at the snapshot's."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(time, "time", lambda: self.moment["taken_at"])
            patch.setattr(time, "monotonic", lambda: BOOTED + self.moment["monotonic_seconds"])
            patch.setattr(os, "scandir", _sorted_entries(os.scandir))
            listdir = os.listdir
            patch.setattr(os, "listdir", lambda *arguments: sorted(listdir(*arguments)))
            patch.setattr(os, "cpu_count", lambda: self.moment["cpu_count"])
            patch.setattr(platform, "release", lambda: self.moment["kernel"])
            patch.setattr(platform, "libc_ver", lambda: tuple(self.moment["libc"]))
            patch.setattr(disk_space, "space_of", lambda path: disk_space.Space(**self.moment["space"]))
            patch.setattr(disk_space, "is_read_only_at", lambda path, proc: False)
            patch.setattr(residency, "file_system_type", lambda libc, descriptor: residency.EXT)
            patch.setattr(sweeper, "Prober", RecordedProber)
            patch.setattr(RecordedProber, "machine", self, raising=False)
            patch.setenv("TZ", "UTC")
            time.tzset()
            yield
        time.tzset()

    def context(self, target: Target = TARGET) -> Context:
        """What collectors may use, at the present snapshot."""
        return Context(target, RecordedSession(self, target), self.proc, self.sys)


@dataclass(eq=False)
class RecordedLook:
    """What the whole program makes of a recorded machine, each part worked out once."""

    machine: RecordedMachine
    first: Snapshot
    second: Snapshot
    answers: tuple[dict[str, dict[str, Any]], ...]

    def told(self, statement: str, snapshot: int = 1) -> list[list[str | None]]:
        """What the server answered to a statement: in the first snapshot (0) or the second (1)."""
        rows: list[list[str | None]] = self.answers[snapshot][_key(statement, None)]["rows"]
        return rows

    def number_told(self, statement: str, name: str, snapshot: int = 1) -> float:
        """A number in an answer of names and values."""
        return float(next(value for key, value in self.told(statement, snapshot) if key == name and value is not None))

    def kernel(self, path: str, snapshot: int = 1) -> str:
        """A file of /proc as it was recorded."""
        return kernel_files(self.machine.name, SNAPSHOTS[snapshot])[path]

    @property
    def seconds(self) -> float:
        """The length of the interval."""
        moments = [json.loads((FOLDER / self.machine.name / part / "moment.json").read_text("utf-8"))["monotonic_seconds"] for part in SNAPSHOTS]
        return float(moments[1] - moments[0])

    @cached_property
    def interval(self) -> Interval:
        """Both snapshots."""
        return Interval(self.second, self.first)

    @cached_property
    def facts(self) -> FactSet:
        """The facts of the interval, with those that follow from others."""
        with self.machine.playing():
            facts = self.interval.facts()
            tables = dict(facts.tables) | {name: self._placed(facts.tables[name]) for name in ("server", "variable")}
            return complete(replace(facts, tables=tables))

    def _placed(self, rows: FactRows) -> FactRows:
        """As if the machine lay in PLACE."""
        here = str(self.machine.root)
        return FactRows(rows.columns, [[value.replace(here, PLACE) if isinstance(value, str) else value for value in row] for row in rows.rows])

    @cached_property
    def judgement(self) -> Judgement:
        """What the shipped rules say."""
        with self.machine.playing():
            return judge(prepared(self.facts, Site(shipped_rules())))

    def pair(self, collector: str) -> Pair[Any]:
        """A collector's samples at both ends of the interval."""
        return pairs_between(self.first, self.second)[collector]

    def sample(self, collector: str) -> Any:
        """A collector's sample in the second snapshot."""
        return self.second.samples[collector]

    def rows(self, collector: str, table: str) -> list[dict[str, Any]]:
        """What one collector alone says of a fact table over the interval."""
        unit = next(one for one in all_collectors() if one.name == collector)
        return [dict(zip(block.columns, row, strict=True)) for block in unit.facts(self.pair(collector)) if block.table == table for row in block.rows]

    def collected(self, collector: str, target: Target = TARGET, **samples: Any) -> Any:
        """The collector run anew on the machine, with some of the samples that it builds on exchanged."""
        unit = next(one for one in all_collectors() if one.name == collector)
        with self.machine.playing():
            context = self.machine.context(target)
            context.samples = {**self.second.samples, **samples}
            return unit.collect(context)

    @cached_property
    def choice(self) -> Choice:
        """The tables that have series of their own: the busiest and the largest four."""
        return TableChooser(4).choose(self.facts.tables["tables"])

    def values(self, group: Group[Any], running: Running | None = None) -> dict[tuple[str, ...], float]:
        """What a group of metrics gives, by name and labels; only what is known."""
        scene = Scene({name: self.pair(name) for name in self.second.samples}, running or Running(), self.facts, self.choice)
        collector = next(name for name in group.collectors if type(self.sample(name)).__name__ != "Unknown")
        found: list[Value] = list(group.values(self.pair(collector), scene))
        declared = {metric.name: metric for metric in group.metrics}
        assert all(len(declared[value.name].labels) == len(value.labels) for value in found)
        known = {(value.name, *value.labels): value.number for value in found if value.number is not None}
        assert len(known) == sum(value.number is not None for value in found)
        return known


def report_of(name: str, judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """What `check --format NAME` writes into a file."""
    return report_named(name).render(judgement, facts, shown)


def look_at(name: str, folder: Path) -> RecordedLook:
    """Both snapshots of a machine, unpacked into a folder of its own; it stays at the second."""
    machine = RecordedMachine(name, folder)
    snapshots, answers = [], []
    for part in SNAPSHOTS:
        machine.turn_to(part)
        answers.append(dict(machine.answers))
        with machine.playing():
            snapshots.append(take_snapshot(machine.context()))
    return RecordedLook(machine, snapshots[0], snapshots[1], tuple(answers))


@contextmanager
def watched(machine: RecordedMachine) -> Iterator[tuple[Fleet, Board, Watch]]:
    """A daemon's watch of the machine that has looked at both snapshots, while it is played."""
    board = Board()
    with ThreadPoolExecutor(1) as executor:
        machine.turn_to(SNAPSHOTS[0])
        with machine.playing():
            options = WatchOptions(proc=machine.proc, sys=machine.sys)
            advice = Advice(lambda: Site(shipped_rules()), None, board)
            fleet = Fleet(options, executor, TableChooser, (advice,))
            with patch("myisam_exporter.watching.watch.Connection", lambda *_: RecordedConnection(machine)):
                watch = fleet.own = Watch("recorded", lambda: TARGET, executor, options, TableChooser(), (advice,))
            for number, part in enumerate(SNAPSHOTS):
                if number:
                    machine.turn_to(part)
                assert not watch.look().failure
                watch.glance()
                assert not watch.scrape(watch.names()).result().failure
            yield fleet, board, watch


__all__ = ["MACHINES", "PLACE", "NotRecordedError", "RecordedLook", "RecordedMachine", "RecordedSession", "look_at", "report_of", "watched"]
