"""Episodes of findings, and when somebody looked, in the history's file. What was written by a version that noted neither is read as not known."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

from myisam_advisor.history.format import CHANGE, COURSE, EPISODE, SETTING, STRETCH
from myisam_advisor.history.memory import MAXIMUM_EPISODES, MAXIMUM_STRETCHES, REMEMBERED_SECONDS, Memory
from myisam_advisor.history.noticed_changes import RESTART, moment_of
from myisam_advisor.history.records import Cell, Records
from myisam_advisor.judging.past import Episode, Stretch

_Place = tuple[int, str, str, float]


def read_episodes(
    records: Records, labels: Mapping[int, str], where: str, parameters: tuple[Cell, ...], order: str = ""
) -> list[Episode]:
    """The episodes of the servers in `labels`, with how they went."""
    found = list(records.rows(EPISODE, where, parameters, order))
    courses = _courses(records, {row[0] for row in found}, min((row[3] for row in found), default=0.0))
    return [
        Episode(
            labels.get(target, ""),
            rule,
            about,
            severity,
            first,
            last,
            message,
            *courses.get((target, rule, about, first), (False, None, 0, 0.0)),
        )
        for target, rule, about, first, last, severity, message in found
    ]


def _courses(
    records: Records, targets: Iterable[int], begin: float
) -> Mapping[_Place, tuple[bool, float | None, int, float]]:
    if not records.has(COURSE):
        return {}
    return {
        (target, rule, about, first): (bool(seen), gone_at, int(pauses), away)
        for one in targets
        for target, rule, about, first, seen, gone_at, pauses, away in records.rows(
            COURSE, "target = ? AND first_seen >= ?", (one, begin)
        )
    }


def read_stretches(records: Records, target: int, since: float = 0.0) -> list[Stretch]:
    """When the server was looked at, the earliest first."""
    if not records.has(STRETCH):
        return []
    rows = records.rows(STRETCH, "target = ? AND ended_at >= ?", (target, since))
    return [Stretch(begin, end, pause) for _, begin, end, pause in sorted(rows)]


def recalled(records: Records, target: int, label: str, pause_seconds: float, now: float) -> Memory:
    """What the file remembers of a server's last day."""
    begin = now - REMEMBERED_SECONDS
    memory = Memory(label, pause_seconds)
    memory.stretches.extend(
        one for one in read_stretches(records, target, begin)[-MAXIMUM_STRETCHES:] if one.begin <= now
    )
    memory.recall(
        read_episodes(
            records,
            {target: label},
            "target = ? AND last_seen >= ? AND first_seen <= ?",
            (target, begin, now),
            f"last_seen DESC LIMIT {MAXIMUM_EPISODES}",
        ),
        now,
    )
    restarts = records.rows(
        CHANGE, "target = ? AND name = ? AND noticed_at BETWEEN ? AND ?", (target, RESTART, begin, now)
    )
    memory.restarts.extend(sorted(row[1] for row in restarts))
    for _, _, value in records.rows(SETTING, "target = ? AND name = ?", (target, RESTART)):
        memory.started_at = moment_of(value)
    return memory


def write_memory(records: Records, target: int, memory: Memory) -> None:
    """Put down what is new; the memory is told that it was written when that is in the file."""
    changed = list(memory.unwritten.values())
    turned = [one for place, one in memory.unwritten.items() if place in memory.turned]
    records.put(
        EPISODE,
        ([target, *one.key, one.first_seen, one.last_seen, one.severity, one.message] for one in changed),
    )
    records.put(
        COURSE,
        (
            [target, *one.key, one.first_seen, int(one.begin_seen), one.gone_at, one.pauses, one.away_seconds]
            for one in turned
        ),
    )
    if memory.stretches:
        last = memory.stretches[-1]
        records.put(STRETCH, [(target, last.begin, last.end, last.pause_seconds)])


def prune_episodes(database: sqlite3.Connection, oldest: float, latest: float) -> None:
    """Drop what ended before, and what a clock that was wrong, or a damaged entry, put behind what can be."""
    database.execute("DELETE FROM episode WHERE last_seen < ? OR first_seen > ?", (oldest, latest))
    database.execute(
        "DELETE FROM course WHERE first_seen > ? OR first_seen < ? AND NOT EXISTS (SELECT 1 FROM episode WHERE "
        "(episode.target, episode.rule, episode.object, episode.first_seen) = (course.target, course.rule, course.object, course.first_seen))",
        (latest, oldest),
    )
    database.execute("DELETE FROM stretch WHERE ended_at < ? OR begun_at > ?", (oldest, latest))
