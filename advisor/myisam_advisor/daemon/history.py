"""What the daemon keeps: samples of the facts that change, the last facts whole, and when each finding was first and last seen.

Embedded SQLite in WAL mode: a `kill -9` loses the sample being written and nothing else. A full disk stops the recording and nothing
else; a file that SQLite cannot read is set aside and a new one begun.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import sqlite3
import threading
import time
import zlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from myisam_advisor.daemon import recorded_changes
from myisam_advisor.daemon.former_key_caches import with_former_key_caches
from myisam_advisor.daemon.history_format import FORMAT, SCHEMA, identity_of, pack_facts, samples_of
from myisam_advisor.daemon.recorded_changes import note_changes
from myisam_advisor.errors import HistoryError
from myisam_advisor.findings import Finding
from myisam_exporter.errors import UserError
from myisam_exporter.fact_set import FactRows, FactSet
from myisam_exporter.metric import Metric, Value
from myisam_exporter.table_choice import Choice

DEFAULT_DAYS = 7
DEFAULT_MEGABYTES = 256
PRUNE_EVERY_SAMPLES = 60
# A finding that is away for no longer is the same episode: rules near their threshold come and go.
EPISODE_GAP_SECONDS = 900.0
BUSY_SECONDS = 2.0
_SECONDS_PER_DAY = 86_400
_log = logging.getLogger(__name__)


class History:
    """The daemon's side: it writes. One thread at a time; never raises for want of disk, but says so in its metrics."""

    name = "history"
    metrics = (
        Metric("history_writable", "gauge", "1 when the last sample could be kept, else 0: the log says why."),
        Metric("history_samples", "gauge", "Samples kept, over all targets."),
        Metric("history_oldest_timestamp_seconds", "gauge", "When the oldest of them was taken."),
        Metric("history_size_bytes", "gauge", "Size of the history file."),
    )

    def __init__(self, path: Path, days: float = DEFAULT_DAYS, megabytes: int = DEFAULT_MEGABYTES) -> None:
        """Open or make the file. Raises UserError when it cannot be written; a disk that is full now may have room later."""
        self.path = path
        self._keep_seconds = days * _SECONDS_PER_DAY
        self._limit_bytes = megabytes << 20
        self._lock = threading.Lock()
        self._written = 0
        self._failure = ""
        self._database: sqlite3.Connection | None = None
        self._noted: dict[int, tuple[FactRows, FactRows]] = {}  # whose formats the file holds
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._open()
        except (OSError, sqlite3.OperationalError) as error:
            if "full" in str(error) or getattr(error, "errno", None) == errno.ENOSPC:
                self._say(str(error))
                return
            raise UserError(
                f"the history cannot be kept in {path} ({error}). Give another file (--history FILE), or --no-history."
            ) from None

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        """Keep a sample of these facts."""
        with self._lock:
            if self._attempt(lambda database: self._record(database, label, facts, choice)):
                self._recovered()
            counted = self._attempt(_counted) or (None, None, None)
        yield Value("history_writable", int(not self._failure))
        yield Value("history_samples", counted[0])
        yield Value("history_oldest_timestamp_seconds", counted[1])
        yield Value("history_size_bytes", counted[2])

    def with_former_key_caches(self, label: str, facts: FactSet) -> FactSet:
        """The facts with the key caches that a restart of the server lost; see the module of that name."""
        with self._lock:
            return (
                self._attempt(lambda database: with_former_key_caches(facts, database, _target_id(database, label)))
                or facts
            )

    def seen(self, label: str, findings: Iterable[Finding], now: float) -> Mapping[tuple[str, str], float]:
        """Note that these findings hold now; since when each has, by (rule, object)."""
        with self._lock:
            return self._attempt(lambda database: _note(database, label, list(findings), now)) or {}

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _open(self) -> None:
        try:
            self._database = _opened(self.path)
        except sqlite3.OperationalError:
            raise
        except (sqlite3.DatabaseError, HistoryError) as error:
            self._set_aside(error)
            self._database = _opened(self.path)

    def _attempt(self, action: Any) -> Any:
        """Do something with the file; None when that fails. What is broken is mended for the next time."""
        try:
            if self._database is None:
                self._open()
            assert self._database is not None
            with self._database:
                done = action(self._database)
        except sqlite3.OperationalError as error:
            self._noted.clear()  # what was being written is taken back
            self._say(f"{error}")
        except sqlite3.DatabaseError as error:
            self._noted.clear()
            self._set_aside(error)
        except OSError as error:
            self._say(f"{error.strerror}")
        else:
            return done
        return None

    def _recovered(self) -> None:
        if self._failure:
            _log.info("the history in %s is kept again", self.path)
        self._failure = ""

    def _say(self, why: str) -> None:
        if why != self._failure:
            _log.warning("the history in %s is not kept: %s", self.path, why)
        self._failure = why

    def _set_aside(self, error: Exception) -> None:
        if self._database is not None:
            with contextlib.suppress(sqlite3.Error):
                self._database.close()
            self._database = None
        moved = self.path.with_name(f"{self.path.name}.corrupt-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")
        for ending in ("", "-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                Path(f"{self.path}{ending}").replace(f"{moved}{ending}")
        _log.warning(
            "the history %s cannot be read (%s): it was set aside as %s, a new one begins", self.path, error, moved
        )

    def _record(self, database: sqlite3.Connection, label: str, facts: FactSet, choice: Choice) -> bool:
        now = time.time()
        target = _target_id(database, label)
        sample = zlib.compress(json.dumps(samples_of(facts, choice), separators=(",", ":")).encode(), 1)
        database.execute(
            "INSERT OR REPLACE INTO sample VALUES (?, ?, ?, ?)", (target, now, facts.interval_seconds, sample)
        )
        identity, started_at = identity_of(facts, now)
        tables = (facts.tables["tables"], facts.tables["indexes"])
        noted = self._noted.get(target, (None, None))
        same = noted[0] is tables[0] and noted[1] is tables[1]
        note_changes(database, target, facts, started_at, now, same_tables=same)
        self._noted[target] = tables
        whole = pack_facts(facts)
        if whole is not None and facts.interval_seconds:
            database.execute(
                "INSERT OR REPLACE INTO latest VALUES (?, ?, ?, ?, ?)", (target, now, identity, started_at, whole)
            )
        self._written += 1
        if self._written % PRUNE_EVERY_SAMPLES == 1:
            self._prune(database, now)
        return True

    def _prune(self, database: sqlite3.Connection, now: float) -> None:
        """Drop what is too old; then, oldest first, what is too much."""
        database.execute("DELETE FROM sample WHERE taken_at < ?", (now - self._keep_seconds,))
        database.execute("DELETE FROM episode WHERE last_seen < ?", (now - self._keep_seconds,))
        database.execute("DELETE FROM change WHERE noticed_at < ?", (now - self._keep_seconds,))
        page_bytes = _pragma(database, "page_size")
        used = (_pragma(database, "page_count") - _pragma(database, "freelist_count")) * page_bytes
        if used > self._limit_bytes:
            samples = int(database.execute("SELECT COUNT(*) FROM sample").fetchone()[0])
            surplus = int(samples * (1 - self._limit_bytes / used)) + samples // 20 + 1
            database.execute(
                "DELETE FROM sample WHERE rowid IN (SELECT rowid FROM sample ORDER BY taken_at LIMIT ?)", (surplus,)
            )
        database.execute("PRAGMA incremental_vacuum")


def _opened(path: Path) -> sqlite3.Connection:
    """The file with its tables. Raises HistoryError when it is of another format."""
    path.touch(mode=0o640)
    database = sqlite3.connect(path, timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        if not path.stat().st_size:
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(f"PRAGMA journal_size_limit={16 << 20}")
        version = _pragma(database, "user_version")
        if version not in (0, FORMAT):
            raise HistoryError(f"format {version}, not {FORMAT}")
        database.executescript(SCHEMA + recorded_changes.SCHEMA)
        database.execute(f"PRAGMA user_version={FORMAT}")
    except BaseException:
        database.close()
        raise
    return database


def _pragma(database: sqlite3.Connection, name: str) -> int:
    return int(database.execute(f"PRAGMA {name}").fetchone()[0])


def _target_id(database: sqlite3.Connection, label: str) -> int:
    database.execute("INSERT OR IGNORE INTO target (label) VALUES (?)", (label,))
    return int(database.execute("SELECT id FROM target WHERE label = ?", (label,)).fetchone()[0])


def _counted(database: sqlite3.Connection) -> tuple[int, float | None, int]:
    count, oldest = database.execute("SELECT COUNT(*), MIN(taken_at) FROM sample").fetchone()
    return int(count), oldest, _pragma(database, "page_count") * _pragma(database, "page_size")


def _note(
    database: sqlite3.Connection, label: str, findings: list[Finding], now: float
) -> dict[tuple[str, str], float]:
    target = _target_id(database, label)
    since = {}
    for finding in findings:
        key = (target, finding.rule, finding.object)
        found = database.execute(
            "SELECT MAX(first_seen), last_seen FROM episode WHERE target = ? AND rule = ? AND object = ?", key
        ).fetchone()
        goes_on = found[0] is not None and now - found[1] <= EPISODE_GAP_SECONDS
        first = float(found[0]) if goes_on else now
        database.execute(
            "INSERT OR REPLACE INTO episode VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*key, first, now, finding.severity, finding.message),
        )
        since[finding.rule, finding.object] = first
    return since
