"""What the daemon keeps: samples of the facts that change, the last facts whole, and when each finding was first and last seen.

Embedded SQLite in WAL mode: a `kill -9` loses the sample being written and nothing else. A full disk, a lock, or a file that a newer version
wrote stops the recording and nothing else. A damaged entry is skipped and counted; a file that SQLite cannot use any more is set aside, and
a new one begins with what was sound in it.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import math
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from myisam_advisor.errors import HistoryError
from myisam_advisor.history.episodes import prune_episodes, recalled, write_memory
from myisam_advisor.history.file import (
    is_at,
    is_sound,
    make_directory,
    open_to_write,
    pragma,
    rescue,
    say_what_is_damaged,
    set_aside,
    why_of,
)
from myisam_advisor.history.forecasts import forecasts_of
from myisam_advisor.history.format import (
    LATEST,
    SAMPLE,
    TARGET,
    identity_of,
    pack_facts,
    pack_sample,
    target_id,
)
from myisam_advisor.history.memory import DEFAULT_PAUSE_SECONDS, Clocks, Memory, Turns
from myisam_advisor.history.noticed_changes import note_changes
from myisam_advisor.history.records import FILE_FAULTS, Records, is_damage
from myisam_advisor.history.remembered import with_remembered
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import Episode, Key, Past, Silence
from myisam_advisor.texts.moments import moment_in_words
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import MORE_MEMORY, UserError, brief
from myisam_exporter.facts.values import number_of
from myisam_exporter.kernel.rights import REMEDIES
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.table_choice import Choice
from myisam_exporter.metrics.base import Metric, Value
from myisam_exporter.outside.clock import CLOCK, Clock

Result = TypeVar("Result")
DEFAULT_DAYS = 7
DEFAULT_MEGABYTES = 256
PRUNE_EVERY_SAMPLES = 60
# Servers of which nothing is kept that is of a time: that was dropped when it was too old.
SERVERS_THAT_ARE_GONE = (
    "SELECT id FROM target UNION SELECT target FROM latest UNION SELECT target FROM setting EXCEPT SELECT target FROM sample "
    "EXCEPT SELECT target FROM episode EXCEPT SELECT target FROM course EXCEPT SELECT target FROM stretch EXCEPT SELECT target FROM change"
)
# Damaged ones are passed over, to the one after.
OLDEST_TRIED = 20
# A clock by which nobody looked a day ago makes nothing too old: one that is a year ahead for an hour would take all that is on record.
CLOCK_IS_KNOWN_AFTER_SECONDS = 86_400.0
LAST_LOOK = (  # where the limit of its size leaves less than a day of samples, the stretches tell it
    "SELECT MAX(moment) FROM (SELECT MAX(taken_at) AS moment FROM sample WHERE taken_at <= :then "
    "UNION ALL SELECT MAX(MIN(ended_at, :then)) FROM stretch WHERE begun_at <= :then)"
)
ROOM_BYTES = 64 << 10  # of which the index of the journal takes a half, from the beginning on
_SECONDS_PER_DAY = 86_400
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is remembered of a server after a look: what changed, the episodes that hold, the last day. `lasts` when a file keeps it."""

    turns: Turns
    since: Mapping[Key, Episode]
    past: Past
    lasts: bool = True


class History:
    """The daemon's side: it writes. One thread at a time; never raises for want of disk, but says so in its metrics."""

    name = "history"
    metrics = (
        Metric("history_writable", "gauge", "1 when the last sample could be kept, else 0: the log says why."),
        Metric("history_samples", "gauge", "Samples kept, over all targets."),
        Metric("history_oldest_timestamp_seconds", "gauge", "When the oldest of them was taken."),
        Metric("history_size_bytes", "gauge", "Size of the history file."),
        Metric(
            "history_damaged_entries",
            "gauge",
            "Entries of the history that were met damaged, and skipped, since the file was opened.",
        ),
    )

    def __init__(
        self,
        path: Path,
        days: float = DEFAULT_DAYS,
        megabytes: int = DEFAULT_MEGABYTES,
        clock: Clock = CLOCK,
        pause_seconds: float = DEFAULT_PAUSE_SECONDS,
        *,
        begins_later: bool = False,
    ) -> None:
        """Begin, unless that is to be done later. Raises as `begin` does."""
        self.path = path
        self._keep_seconds = days * _SECONDS_PER_DAY
        self._limit_bytes = megabytes << 20
        self._clock = clock
        self._pause_seconds = pause_seconds
        self._memories: dict[str, Memory] = {}
        self._lock = threading.Lock()
        self._written = 0
        self._failure = ""
        self._was_spared = False  # since the last sample that was kept
        self._records: Records | None = None
        self._file: os.stat_result | None = None
        # The generations of `tables` and `indexes` whose formats the file holds, by target.
        self._noted: dict[int, tuple[int, int]] = {}
        self._forecasts: dict[str, Mapping[str, float | None]] = {}
        if not begins_later:
            self.begin()

    def begin(self) -> None:
        """Open or make the file. Raises UserError when it cannot be written; what may pass by itself is said, and tried again at each look."""
        path = self.path
        try:
            make_directory(path)
            self._open()
        except HistoryError as error:
            self._say(why_of(error))
        except (OSError, *FILE_FAULTS) as error:
            passing = ("full", "locked", "busy")
            is_full = getattr(error, "errno", None) == errno.ENOSPC or _is_full(path.parent)
            # A history that was kept there is of a disk that failed since: the daemon is wanted all the more.
            has_failed = getattr(error, "errno", None) == errno.EROFS and path.exists()
            if is_full or has_failed or any(word in str(error) for word in passing):
                self._say(why_of(error))
                return
            raise UserError(
                f"the history cannot be kept in {path} ({why_of(error)}). Give another file (--history FILE), or --no-history.{REMEDIES.keep_state}"
            ) from None

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Keep a sample of these facts."""
        with self._lock:
            if self._attempt(lambda records: self._record(records, label, facts, choice)):
                self._recovered()
            counted = self._attempt(_counted) or (None, None, None, None)
        yield Value("history_writable", int(not self._failure))
        yield Value("history_samples", counted[0])
        yield Value("history_oldest_timestamp_seconds", counted[1])
        yield Value("history_size_bytes", counted[2])
        yield Value("history_damaged_entries", counted[3])

    def with_remembered(self, label: str, facts: FactSet) -> FactSet:
        """The facts with what only the past tells; see the module of that name."""
        with self._lock:
            return self._attempt(lambda records: self._with_remembered(records, label, facts)) or facts

    def _with_remembered(self, records: Records, label: str, facts: FactSet) -> FactSet:
        _, started_at = identity_of(facts, self._clock.time(), self._clock.monotonic())
        return with_remembered(facts, records, _target(records, label), started_at)

    def remember(self, label: str, findings: Sequence[Finding], silence: Silence, clocks: Clocks) -> Remembered | None:
        """Note that these findings hold now; what is remembered of the server. None where the file cannot be read: nothing is known of before."""
        with self._lock:
            memory = self._memories.get(label) or self._attempt(lambda records: self._recalled(records, label, clocks))
            if memory is None:
                return None
            self._memories[label] = memory
            turns = memory.look(findings, silence, clocks)
            self._forecasts[label] = forecasts_of(findings)
            if self._attempt(lambda records: _write(records, memory)):
                memory.written()
            return Remembered(turns, memory.since(), memory.past())

    def _recalled(self, records: Records, label: str, clocks: Clocks) -> Memory:
        return recalled(records, _target(records, label), label, self._pause_seconds, clocks.wall)

    def forget(self, label: str) -> None:
        """Drop what is kept in memory of a server that is watched no more; the file keeps what it has."""
        with self._lock:
            self._memories.pop(label, None)
            self._forecasts.pop(label, None)
            self._noted.pop(target_id(label), None)

    def in_words(self) -> str:
        """Where it is, and how far back it reaches."""
        with self._lock:
            oldest = self._attempt(_oldest)
        if self._failure:
            return f"the history in {self.path} is not kept for now"
        now = self._clock.time()
        back = "begins now" if oldest is None else f"goes back to {moment_in_words(oldest, now)}"
        return f"the history in {self.path} {back}"

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._records is not None:
            with contextlib.suppress(sqlite3.Error):
                self._records.database.close()
        self._records = None

    def _open(self) -> Records:
        try:
            return self._opened()
        except FILE_FAULTS as error:
            if not is_damage(error):
                raise
            return self._begin_anew(error)

    def _opened(self) -> Records:
        self._records = open_to_write(self.path)
        self._file = self.path.stat()
        return self._records

    def _at_hand(self) -> Records:
        """The open file; another one where it was removed or replaced: what is written to that, nobody finds, and it takes room."""
        if self._records is not None and self._file is not None and not is_at(self.path, self._file):
            _log.warning("the history %s was removed or replaced: what is at its place now is gone on with", self.path)
            self._close()
            self._noted.clear()
        return self._records or self._open()

    def _begin_anew(self, error: Exception) -> Records:
        """Set the file aside and go on with a new one, which gets what was sound. One that is whole after all is gone on with, once.

        Raises OSError where the disk gives nothing of it: that is no damage, and it is left as it is.
        """
        self._close()
        self._noted.clear()
        if not self._was_spared and is_sound(self.path):
            self._was_spared = True
            _log.warning("the history %s could not be read (%s), but is whole: it is gone on with", self.path, error)
            return self._opened()
        moved = set_aside(self.path, error)
        records = self._opened()
        kept = rescue(moved, records)
        _log.info("the new history %s begins with %d sound entries of the old one", self.path, kept)
        return records

    def _attempt(self, action: Callable[[Records], Result]) -> Result | None:
        """Do something with the file; None when that fails. What is broken is mended for the next time.

        Nothing is raised: a look goes on without its history.
        """
        try:
            records = self._at_hand()
            with records.database:
                done = action(records)
            say_what_is_damaged(self.path, records)
        except FILE_FAULTS as error:
            self._noted.clear()  # what was being written is taken back
            if is_damage(error):
                self._mend(error)
            else:
                self._say(why_of(error))
        except (OSError, HistoryError) as error:
            self._say(why_of(error))
        except MemoryError:
            self._noted.clear()
            self._say(f"there is not enough memory: {MORE_MEMORY}")
        except Exception as error:
            self._noted.clear()
            self._say(f"internal error: {type(error).__name__}: {brief(str(error))}; please report it")
        else:
            return done
        return None

    def _mend(self, error: Exception) -> None:
        try:
            self._begin_anew(error)
        except (OSError, HistoryError, *FILE_FAULTS) as further:
            self._say(why_of(further))

    def _recovered(self) -> None:
        if self._failure:
            _log.info("the history in %s is kept again", self.path)
        self._failure, self._was_spared = "", False

    def _say(self, why: str) -> None:
        if why != self._failure:
            _log.warning("the history in %s is not kept: %s", self.path, why)
        self._failure = why

    def _record(self, records: Records, label: str, facts: FactSet, choice: Choice) -> bool:
        now = self._clock.time()
        target = _target(records, label)
        records.put(
            SAMPLE, [(target, now, facts.interval_seconds, pack_sample(facts, choice, self._forecasts.get(label, {})))]
        )
        identity, started_at = identity_of(facts, now, self._clock.monotonic())
        tables = (facts.tables["tables"].generation, facts.tables["indexes"].generation)
        note_changes(records, target, facts, started_at, now, same_tables=self._noted.get(target) == tables)
        self._noted[target] = tables
        whole = pack_facts(facts)
        if whole is not None and facts.interval_seconds:
            records.put(LATEST, [(target, now, identity, started_at, whole)])
        self._written += 1
        if self._written % PRUNE_EVERY_SAMPLES == 1:
            self._prune(records.database, now)
        return True

    def _prune(self, database: sqlite3.Connection, now: float) -> None:
        """Drop what is too old; then, oldest first, what is too much."""
        # What a damaged entry calls the far future would never grow old. A clock that is behind this program's own files was not set yet, as at the
        # start of a machine without one that goes on: all that is on record would be its future.
        latest = now + self._keep_seconds if now >= _installed_at() else math.inf
        kept = (_known_to_be(database, now, self._keep_seconds) - self._keep_seconds, latest)
        database.execute("DELETE FROM sample WHERE taken_at NOT BETWEEN ? AND ?", kept)
        prune_episodes(database, *kept)
        database.execute("DELETE FROM change WHERE noticed_at NOT BETWEEN ? AND ?", kept)
        page_bytes = pragma(database, "page_size")
        used = (pragma(database, "page_count") - pragma(database, "freelist_count")) * page_bytes
        if used > self._limit_bytes:
            samples = int(database.execute("SELECT COUNT(*) FROM sample").fetchone()[0])
            surplus = int(samples * (1 - self._limit_bytes / used)) + samples // 20 + 1
            database.execute(
                "DELETE FROM sample WHERE rowid IN (SELECT rowid FROM sample ORDER BY taken_at LIMIT ?)", (surplus,)
            )
        if _forget_servers(database):
            self._noted.clear()  # of one that comes back, everything is written anew
        # It frees a page at each step, and of what gives no rows `execute` takes one step; a script, which commits first, runs to its end.
        database.executescript("PRAGMA incremental_vacuum;")


def _known_to_be(database: sqlite3.Connection, now: float, keep_seconds: float) -> float:
    """The moment from which ages are reckoned: now, or as long after the last look that is a day old as one has to be."""
    wait = min(CLOCK_IS_KNOWN_AFTER_SECONDS, keep_seconds)
    looked = database.execute(LAST_LOOK, {"then": now - wait}).fetchone()[0]
    return -math.inf if looked is None else float(looked) + wait


def _installed_at() -> float:
    """When this program's files were made; 0 where nobody says."""
    with contextlib.suppress(OSError):
        return Path(__file__).stat().st_mtime
    return 0.0


def _target(records: Records, label: str) -> int:
    """The server's number; its entry is made anew where it is not there, or damaged."""
    for number, _ in records.rows(TARGET, "label = ?", (label,)):
        return int(number)
    records.put(TARGET, [(target_id(label), label)])
    return target_id(label)


def _forget_servers(database: sqlite3.Connection) -> bool:
    """Drop the last facts and the settings of servers of which nothing else is kept any more; whether there were any."""
    gone = database.execute(SERVERS_THAT_ARE_GONE).fetchall()
    database.executemany("DELETE FROM latest WHERE target = ?", gone)
    database.executemany("DELETE FROM setting WHERE target = ?", gone)
    database.executemany("DELETE FROM target WHERE id = ?", gone)
    return bool(gone)


def _oldest(records: Records) -> float | None:
    found = records.rows(SAMPLE, order=f"taken_at LIMIT {OLDEST_TRIED}")
    return next((float(moment) for _, moment, *_ in found), None)


def _counted(records: Records) -> tuple[int, float | None, int, int]:
    database = records.database
    count, oldest = database.execute("SELECT COUNT(*), MIN(taken_at) FROM sample").fetchone()
    size = pragma(database, "page_count") * pragma(database, "page_size")
    return int(count), number_of(oldest), size, len(records.damaged)


def _write(records: Records, memory: Memory) -> bool:
    write_memory(records, _target(records, memory.target), memory)
    return True


def _is_full(folder: Path) -> bool:
    """Whether there is no room for SQLite's own files: it calls that a "disk I/O error" where it cannot make them."""
    with contextlib.suppress(OSError):
        disk = os.statvfs(folder)
        # /proc and its like have no room at all, and never will.
        return disk.f_blocks > 0 and disk.f_bavail * disk.f_frsize < ROOM_BYTES
    return False
