"""The history as commands read it: the last facts of a running daemon, curves, and since when findings hold. Never writes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_advisor.errors import DamagedError
from myisam_advisor.history.episodes import read_episodes, read_stretches, recalled
from myisam_advisor.history.file import GLANCE_SECONDS, open_to_read
from myisam_advisor.history.format import (
    CHANGE,
    EPISODE,
    LATEST,
    SAMPLE,
    TARGET,
    identity,
    target_id,
    unpack_facts,
    unpack_sample_of,
)
from myisam_advisor.history.memory import DEFAULT_PAUSE_SECONDS, SAME_START_SECONDS, Clocks
from myisam_advisor.history.noticed_changes import Change, read_changes
from myisam_advisor.history.records import Records
from myisam_advisor.history.remembered import with_remembered
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.past import Episode, Key, Past, Silence, dated, standing
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactSet

if TYPE_CHECKING:
    from myisam_exporter.server.session import Session

# Facts as old as this many of their intervals are no longer those of a running daemon.
FRESH_INTERVALS = 2.5
# A server whose entry is damaged.
UNNAMED = "a server whose name is damaged"


@dataclass(frozen=True, slots=True)
class Recorded:
    """An episode on record, and what became of it."""

    episode: Episode
    standing: str


@dataclass(frozen=True, slots=True)
class Curve:
    """One fact of one target over time: (moment, value); a value that was unknown is None."""

    target: str
    name: str
    points: tuple[tuple[float, float | None], ...]


@dataclass(frozen=True, slots=True)
class RecentLook:
    """Facts that a daemon recorded, and since when its findings have held, by (rule, object)."""

    facts: FactSet
    since: Mapping[Key, Episode]
    taken_at: float

    def dated(self, judgement: Judgement) -> Judgement:
        """The findings with when each was first and last seen."""
        return dated(judgement, self.since, self.taken_at)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a look found, and what its silence tells."""

    findings: Sequence[Finding]
    silence: Silence
    uptime_seconds: float | None = None


def recent_look(path: Path, session: Session) -> RecentLook | None:
    """What a running daemon recorded last of the very server behind this session; None when there is no such record."""
    hostname, port, directory = session.row("SELECT @@hostname, @@port, @@datadir", 3)
    uptime = session.status_number("Uptime")
    if uptime is None:
        return None
    now = time.time()
    with open_to_read(path, GLANCE_SECONDS) as records:
        return _recent_look(records, identity(hostname, port, directory), now - uptime, now)


def _recent_look(records: Records, server: str, started: float, now: float) -> RecentLook | None:
    """The last facts of the server of that identity that started then."""
    rows = list(records.rows(LATEST, "identity = ?", (server,)))
    if not rows:
        return None
    target, taken_at, _, started_at, packed = max(rows, key=lambda row: float(row[1]))
    if started_at is None or abs(started - started_at) > SAME_START_SECONDS:
        return None  # it restarted since
    age = now - taken_at
    try:
        facts = unpack_facts(packed, f"from the daemon's history, {max(age, 0):.0f} s ago")
    except DamagedError:
        records.damaged.add((LATEST.name, target))
        return None
    if facts is None or facts.interval_seconds is None or not 0 <= age <= FRESH_INTERVALS * facts.interval_seconds:
        return None
    # An episode that ended before is another one.
    current = read_episodes(
        records,
        {target: ""},
        "target = ? AND last_seen >= ?",
        (target, taken_at - facts.interval_seconds),
        "first_seen",
    )
    since = {one.key: one for one in current}
    return RecentLook(with_remembered(facts, records, target, started_at), since, taken_at)


def recorded_episodes(path: Path, now: float | None = None) -> list[Recorded]:
    """All findings on record, the latest first, with what became of them by now."""
    now = time.time() if now is None else now
    with open_to_read(path) as records:
        labels = _labels(records)
        numbers = {row[0] for row in records.rows(EPISODE)}
        stretches = {number: read_stretches(records, number) for number in numbers}
        found = [
            Recorded(one, standing(one, stretches[number], now))
            for number in numbers
            for one in read_episodes(records, {number: labels.get(number, UNNAMED)}, "target = ?", (number,))
        ]
    return sorted(found, key=lambda one: _latest_first(one.episode))


def _latest_first(one: Episode) -> tuple[float, float, str, str]:
    return -one.last_seen, -one.first_seen, one.rule, one.object


def unwatched(path: Path, now: float) -> list[tuple[str, list[tuple[float, float | None]]]]:
    """When each server was not looked at, the latest last; a gap without an end lasts still."""
    found = []
    with open_to_read(path) as records:
        for number, label in sorted(_labels(records).items(), key=lambda one: one[1]):
            stretches = read_stretches(records, number)
            gaps: list[tuple[float, float | None]] = list(Past(0.0, now, stretches=stretches).gaps())
            last = max((one for one in stretches if one.begin <= now), key=lambda one: one.end, default=None)
            if last is not None and now > last.is_due:
                gaps.append((last.end, None))
            if gaps:
                found.append((label, gaps))
    return found


def curves(path: Path, fact: str, since: float, until: float = math.inf) -> list[Curve]:
    """The curves of a fact between two moments: itself, or one for each object (`tables.rows[db.t]`), over all targets."""
    points: dict[tuple[str, str], list[tuple[float, float | None]]] = {}
    for label, taken_at, sample in _samples(path, since, until):
        for name, value in sample.items():
            if is_fact(name, fact):
                points.setdefault((label, name), []).append((taken_at, value))
    return [Curve(label, name, tuple(sorted(of_one, key=_moment))) for (label, name), of_one in sorted(points.items())]


def curves_of_server(
    path: Path, server: str, names: Collection[str], since: float
) -> dict[str, tuple[tuple[float, float | None], ...]]:
    """The curves of these names, of the server of that identity (format.py) alone; nothing of one that is not on record."""
    points: dict[str, list[tuple[float, float | None]]] = {name: [] for name in names}
    with open_to_read(path) as records:
        number = _number_by_identity(records, server)
        which = (
            () if number is None else records.rows(SAMPLE, "target = ? AND taken_at >= ?", (number, since), "taken_at")
        )
        for _, taken_at, _, packed in which:
            sample = unpack_sample_of(records, packed) or {}
            for name in points.keys() & sample.keys():
                points[name].append((taken_at, sample[name]))
    return {name: tuple(sorted(of_one, key=_moment)) for name, of_one in points.items() if of_one}


def past_of_server(path: Path, server: str, now: float, seen: Seen | None) -> Past | None:
    """The last day of the server of that identity, as far as it is on record; None when nothing is.

    `seen` is a look that was made now: the file does not have it, and is not told of it.
    """
    with open_to_read(path, GLANCE_SECONDS) as records:
        number = _number_by_identity(records, server)
        if number is None:
            return None
        memory = recalled(records, number, "", DEFAULT_PAUSE_SECONDS, now)
    if not memory.stretches:
        return None  # by a version that did not note when it looked
    if seen is not None:
        memory.look(seen.findings, seen.silence, Clocks(now, time.monotonic(), seen.uptime_seconds))
    return memory.past()


def is_fact(name: str, fact: str) -> bool:
    """Whether a recorded name is that fact, or that fact of an object."""
    return name == fact or (name.startswith(fact + "[") and name.endswith("]"))


def recorded_facts(path: Path) -> list[str]:
    """The names that curves exist for, without objects."""
    names: set[str] = set()
    with open_to_read(path) as records:
        for _, _, _, packed in records.rows(SAMPLE, order="taken_at DESC LIMIT 10"):
            names.update(name.partition("[")[0] for name in unpack_sample_of(records, packed) or ())
    return sorted(names)


def targets_of(path: Path) -> list[str]:
    """The labels of the servers on record."""
    with open_to_read(path) as records:
        return sorted(label for _, label in records.rows(TARGET))


def changes_of(path: Path, label: str) -> list[Change]:
    """What the daemon noticed of a server's settings, the latest last; nothing in a history from before changes were noted."""
    with open_to_read(path) as records:
        return read_changes(records, _number_of(records, label)) if records.has(CHANGE) else []


def samples_of_target(
    path: Path, label: str, begin: float, end: float, wanted: Callable[[str], bool] | None = None
) -> list[tuple[float, float | None, Mapping[str, float | None]]]:
    """Moment, length of the interval, and the facts, of one server between two moments; of the facts, those that are `wanted`."""
    samples = []
    with open_to_read(path) as records:
        which = (_number_of(records, label), begin, end)
        rows = records.rows(SAMPLE, "target = ? AND taken_at BETWEEN ? AND ?", which, "taken_at")
        for _, taken_at, seconds, packed in rows:
            sample = unpack_sample_of(records, packed)
            if sample is not None:
                kept = sample if wanted is None else {name: sample[name] for name in sample if wanted(name)}
                samples.append((taken_at, seconds, kept))
    return sorted(samples, key=lambda one: one[0])


def _samples(path: Path, since: float, until: float) -> Iterator[tuple[str, float, Mapping[str, float | None]]]:
    with open_to_read(path) as records:
        labels = _labels(records)
        for target, taken_at, _, packed in records.rows(SAMPLE, "taken_at BETWEEN ? AND ?", (since, until), "taken_at"):
            sample = unpack_sample_of(records, packed)
            if sample is not None:
                yield labels.get(target, UNNAMED), taken_at, sample


def _labels(records: Records) -> dict[int, str]:
    return dict(records.rows(TARGET))


def _number_of(records: Records, label: str) -> int:
    return next((number for number, _ in records.rows(TARGET, "label = ?", (label,))), target_id(label))


def _number_by_identity(records: Records, server: str) -> int | None:
    """The number that it was looked at under last."""
    rows = records.rows(LATEST, "identity = ?", (server,))
    return next((target for target, *_ in sorted(rows, key=lambda row: -float(row[1]))), None)


def _moment(point: tuple[float, float | None]) -> float:
    return point[0]
