"""The history as commands read it: the last facts of a running daemon, curves, and since when findings hold. Never writes."""

from __future__ import annotations

import json
import sqlite3
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_advisor.daemon.former_key_caches import with_former_key_caches
from myisam_advisor.daemon.history_format import FORMAT, identity, unpack_facts
from myisam_advisor.daemon.recorded_changes import Change, read_changes
from myisam_advisor.findings import Judgement
from myisam_exporter.errors import UserError
from myisam_exporter.fact_set import FactSet

if TYPE_CHECKING:
    from myisam_exporter.session import Session

# Facts as old as this many of their intervals are no longer those of a running daemon.
FRESH_INTERVALS = 2.5
SAME_START_SECONDS = 5.0
BUSY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Episode:
    """A finding and how long it held."""

    target: str
    rule: str
    object: str
    severity: str
    first_seen: float
    last_seen: float
    message: str


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
    since: Mapping[tuple[str, str], float]
    taken_at: float

    def dated(self, judgement: Judgement) -> Judgement:
        """The findings with when each was first and last seen."""
        findings = [
            replace(
                finding,
                first_seen=self.since.get((finding.rule, finding.object), self.taken_at),
                last_seen=self.taken_at,
            )
            for finding in judgement.findings
        ]
        return replace(judgement, findings=findings)


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, read-only. Raises UserError when it is no history or cannot be read."""
    if not path.is_file():
        raise UserError(
            f"there is no history in {path}: `myisam-advisor serve` keeps one; --history names another file."
        )
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=BUSY_SECONDS)) as database:
            version = database.execute("PRAGMA user_version").fetchone()[0]
            if version != FORMAT:
                raise UserError(f"{path} holds a history of format {version}, not {FORMAT}: it is of another version.")
            yield database
    except sqlite3.Error as error:
        raise UserError(f"the history in {path} cannot be read: {error}.") from None


def recent_look(path: Path, session: Session) -> RecentLook | None:
    """What a running daemon recorded last of the very server behind this session; None when there is no such record."""
    hostname, port, directory = session.row("SELECT @@hostname, @@port, @@datadir", 3)
    uptime = session.status_number("Uptime")
    if uptime is None:
        return None
    now = time.time()
    with opened(path) as database:
        row = database.execute(
            "SELECT target, taken_at, started_at, facts FROM latest WHERE identity = ? ORDER BY taken_at DESC LIMIT 1",
            (identity(hostname, port, directory),),
        ).fetchone()
        if row is None:
            return None
        target, taken_at, started_at, packed = row
        if started_at is None or abs(now - uptime - started_at) > SAME_START_SECONDS:
            return None  # it restarted since
        age = now - taken_at
        facts = unpack_facts(packed, f"from the daemon's history, {max(age, 0):.0f} s ago")
        if facts is None or facts.interval_seconds is None or not 0 <= age <= FRESH_INTERVALS * facts.interval_seconds:
            return None
        seen = database.execute(
            "SELECT rule, object, MAX(first_seen) FROM episode WHERE target = ? GROUP BY rule, object", (target,)
        )
        facts = with_former_key_caches(facts, database, target)
        return RecentLook(facts, {(rule, about): first for rule, about, first in seen}, taken_at)


def episodes(path: Path) -> list[Episode]:
    """All findings on record, the latest first."""
    with opened(path) as database:
        rows = database.execute(
            "SELECT label, rule, object, severity, first_seen, last_seen, message FROM episode JOIN target ON target.id = target "
            "ORDER BY last_seen DESC, first_seen DESC, rule, object"
        ).fetchall()
    return [Episode(*row) for row in rows]


def curves(path: Path, fact: str, since: float) -> list[Curve]:
    """The curves of a fact: itself, or one for each object (`tables.rows[db.t]`), over all targets."""
    points: dict[tuple[str, str], list[tuple[float, float | None]]] = {}
    for label, taken_at, sample in _samples(path, since):
        for name, value in sample.items():
            if name == fact or (name.startswith(fact + "[") and name.endswith("]")):
                points.setdefault((label, name), []).append((taken_at, value))
    return [Curve(label, name, tuple(of_one)) for (label, name), of_one in sorted(points.items())]


def recorded_facts(path: Path) -> list[str]:
    """The names that curves exist for, without objects."""
    with opened(path) as database:
        rows = database.execute("SELECT facts FROM sample ORDER BY taken_at DESC LIMIT 10").fetchall()
    return sorted({name.partition("[")[0] for (packed,) in rows for name in _unpacked(packed)})


def targets_of(path: Path) -> list[str]:
    """The labels of the servers on record."""
    with opened(path) as database:
        return [str(label) for (label,) in database.execute("SELECT label FROM target ORDER BY label")]


def changes_of(path: Path, label: str) -> list[Change]:
    """What the daemon noticed of a server's settings, the latest last."""
    with opened(path) as database:
        return read_changes(database, label)


def samples_of_target(
    path: Path, label: str, begin: float, end: float
) -> list[tuple[float, float | None, Mapping[str, float | None]]]:
    """Moment, length of the interval, and the facts, of one server between two moments."""
    with opened(path) as database:
        rows = database.execute(
            "SELECT taken_at, interval_seconds, facts FROM sample JOIN target ON target.id = target "
            "WHERE label = ? AND taken_at BETWEEN ? AND ? ORDER BY taken_at",
            (label, begin, end),
        )
        return [(taken_at, seconds, _unpacked(packed)) for taken_at, seconds, packed in rows]


def _samples(path: Path, since: float) -> Iterator[tuple[str, float, Mapping[str, float | None]]]:
    with opened(path) as database:
        rows = database.execute(
            "SELECT label, taken_at, facts FROM sample JOIN target ON target.id = target WHERE taken_at >= ? ORDER BY taken_at",
            (since,),
        )
        for label, taken_at, packed in rows:
            yield label, taken_at, _unpacked(packed)


def _unpacked(packed: bytes) -> Mapping[str, float | None]:
    sample: Mapping[str, float | None] = json.loads(zlib.decompress(packed))
    return sample
