"""Opening the history's file, for who writes it and for who reads it: its format, and what to do with a damaged one."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import stat
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from myisam_advisor.errors import HistoryError
from myisam_advisor.factbase.sqlite_limits import LENGTH, set_limit
from myisam_advisor.history.format import FORMAT, FORMATS, MAXIMUM_WHOLE_BYTES, SCHEMA, TABLES
from myisam_advisor.history.paths import SYSTEM_PATH, closed_to_us, history_path
from myisam_advisor.history.records import FILE_FAULTS, Records
from myisam_exporter.errors import UserError

WRITER_WAITS_SECONDS = 2.0
READER_WAITS_SECONDS = 1.0
# A file that another user wrote may have views that never end, or entries without end: a week's history is read in a few seconds.
READING_SECONDS = 30.0
GLANCE_SECONDS = 3.0  # of a command that has something else to say
RESCUE_SECONDS = 600.0
STEPS_BETWEEN_LOOKS_AT_THE_CLOCK = 10_000
_PART_BYTES = 1 << 20
JOURNAL = "-wal"
# Whatever SQLite opens beside a history, by itself.
BESIDE = (JOURNAL, "-shm", "-journal")
_log = logging.getLogger(__name__)
_said: set[tuple[Path, int, bool]] = set()


def make_directory(path: Path) -> None:
    """Make what the file lies in, where it is not there. SQLite goes by names: root keeps a history only where nobody else may lay a link of one of them.

    Raises UserError where others may, and OSError.
    """
    if os.geteuid() != 0:
        path.parent.mkdir(parents=True, exist_ok=True)
        return
    from myisam_advisor.texts.whole_files import OutputDirectory

    folder = path.absolute().parent
    try:
        with OutputDirectory(folder, create=True, only_ours=True):
            is_shared = bool(folder.stat().st_mode & stat.S_IWOTH)  # as /tmp
    except UserError:
        is_shared = True
    if is_shared:
        raise UserError(
            f"root keeps no history in {path}: others may write there, or on the way, and what they lay in its place would be written to. Run this as the user "
            "whose directory it is (the service: systemctl start myisam-advisor), name a file where root alone writes (--history FILE), or say --no-history."
        )


def open_to_write(path: Path) -> Records:
    """The file with its tables, made or brought to this version's format where need be.

    Raises HistoryError when a newer version wrote it, and sqlite3.Error.
    """
    path.touch(mode=0o640)
    database = sqlite3.connect(path, timeout=WRITER_WAITS_SECONDS, check_same_thread=False)
    try:
        if not path.stat().st_size:
            database.execute("PRAGMA auto_vacuum=INCREMENTAL")
        version = pragma(database, "user_version")
        if version not in (0, *FORMATS):
            raise HistoryError(
                f"it was written by a newer version (format {version}, not {FORMAT}); it is left as it is. "
                "Give another file (--history FILE), or --no-history"
            )
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("PRAGMA synchronous=NORMAL")
        database.execute(f"PRAGMA journal_size_limit={16 << 20}")
        database.executescript(SCHEMA)
        _add_checksums(database)
        database.execute(f"PRAGMA user_version={FORMAT}")
        database.commit()
    except BaseException:
        database.close()
        raise
    return Records(database)


def _add_checksums(database: sqlite3.Connection) -> None:
    """Entries from before have none, and are taken as they are."""
    for table in TABLES:
        columns = {row[1] for row in database.execute(f"PRAGMA table_info({table.name})")}
        if "checksum" not in columns:
            database.execute(f"ALTER TABLE {table.name} ADD COLUMN checksum INTEGER")


def _expect_file(path: Path) -> None:
    if closed_to_us(path):
        raise UserError(f"the history {path} is closed to this user: run it as root (sudo).")
    if path.is_file():
        _expect_content(path)
        return
    # Who named no file, and has none, may mean the service's.
    is_default = path == history_path() != SYSTEM_PATH
    other = f" The service's, {SYSTEM_PATH}, is closed to this user: sudo reads it."
    raise UserError(
        f"there is no history in {path}: `myisam-advisor serve` keeps one; --history names another file."
        + (other if is_default and closed_to_us(SYSTEM_PATH) else "")
    )


def _expect_content(path: Path) -> None:
    """What the kernel makes up has no length, and some of it (/proc/kmsg) holds whoever reads in a call that ends by no signal. Raises UserError."""
    with contextlib.suppress(FileNotFoundError):
        if not path.stat().st_size:
            raise UserError(_of_another_format(path, 0))


def _expect_files_beside(path: Path) -> None:
    """SQLite opens a rollback journal in a call that ends by no signal: a named pipe in its place would hold whoever reads for ever. Raises UserError."""
    file = path.resolve()
    for beside in (f"{file}{ending}" for ending in BESIDE):
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(os.lstat(beside).st_mode):
                raise UserError(
                    f"the history {path} is not read: {beside}, which SQLite opens with it, is not a regular file. Remove that."
                )


def _connect_to_read(path: Path) -> sqlite3.Connection:
    """Read-only. SQLite makes files of its own beside a history, even to read it; where it cannot, and nobody writes the history, none is needed."""
    file = path.resolve()
    # Who writes has a journal there; without one all is in the file. Root too may not write to a file system that is read-only.
    is_settled = not os.access(file.parent, os.W_OK) and not Path(f"{file}{JOURNAL}").is_file()
    how = "mode=ro&immutable=1" if is_settled else "mode=ro"
    return sqlite3.connect(f"{file.as_uri()}?{how}", uri=True, timeout=READER_WAITS_SECONDS)


def _what_helps(path: Path, why: str) -> str:
    """What to do where SQLite could not make its files beside the history, or where it is no database."""
    if any(word in why for word in ("not a database", "malformed")):
        return " `myisam-advisor serve` sets such a file aside and begins a new one; --history names another file."
    file = path.resolve()
    if os.access(file.parent, os.W_OK) or not any(word in why for word in ("readonly", "unable to open")):
        return ""
    return f" {file.parent} is closed to this user, or read-only: copy {file.name} and {file.name}{JOURNAL} to another folder, and name the copy (--history)."


@contextmanager
def open_to_read(path: Path, seconds: float = READING_SECONDS) -> Iterator[Records]:
    """The file, read-only; at the end it is said what was damaged.

    Raises UserError when it is no history, cannot be read, or takes longer than these seconds.
    """
    _expect_file(path)
    try:
        _expect_files_beside(path)
        with closing(_connect_to_read(path)) as database:
            deadline = time.monotonic() + seconds
            database.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_LOOKS_AT_THE_CLOCK)
            # A page says how long an entry is, and a gigabyte of it is read before anybody can look at it.
            set_limit(database, LENGTH, MAXIMUM_WHOLE_BYTES)
            version = pragma(database, "user_version")
            _refuse_what_runs(path, database)
            if version not in FORMATS:
                raise UserError(_of_another_format(path, version))
            records = Records(database, sealed=version == FORMAT)
            yield records
    except FILE_FAULTS as error:
        why = f"it took longer than {seconds:g} s" if str(error) == "interrupted" else str(error)
        raise UserError(f"the history in {path} cannot be read: {why}.{_what_helps(path, why)}") from None
    say_what_is_damaged(path, records)


def _of_another_format(path: Path, version: int) -> str:
    if version > FORMAT:
        return (
            f"a newer version of this program wrote {path} (format {version}; this one reads {FORMAT}): "
            "read it with that version, or name another file (--history FILE)."
        )
    return (
        f"{path} holds no history (format {version}): `myisam-advisor serve` keeps one; --history names another file."
    )


def _refuse_what_runs(path: Path, database: sqlite3.Connection) -> None:
    """Views, virtual tables and generated columns run what somebody else wrote, the last in calls that nothing interrupts: a history has none."""
    database.execute("PRAGMA trusted_schema=OFF")
    names = ", ".join(f"'{table.name}'" for table in TABLES)
    query = f"SELECT name FROM sqlite_master WHERE name IN ({names}) AND (type <> 'table' OR rootpage = 0) LIMIT 1"
    found = database.execute(query).fetchone()
    if found is not None:
        raise UserError(f"{path} is not a myisam-advisor history: {found[0]!r} in it is not a table.")
    for table in TABLES:
        # The last column tells how it is hidden, as generated ones are: sqlite.org/pragma.html, table_xinfo.
        if any(column[-1] for column in database.execute(f"PRAGMA table_xinfo({table.name})")):
            raise UserError(
                f"{path} is not a myisam-advisor history: {table.name!r} in it has columns that are worked out."
            )


def say_what_is_damaged(path: Path, records: Records) -> None:
    """One line in the log, or on standard error, and no second one that says the same."""
    found = (path, len(records.damaged), records.torn)
    if not (records.damaged or records.torn) or found in _said:
        return
    _said.add(found)
    entries = f"{len(records.damaged)} damaged {'entry' if len(records.damaged) == 1 else 'entries'}"
    pages = "; a part of it cannot be read at all" if records.torn else ""
    _log.warning("the history %s: %s skipped%s. What is sound is used.", path, entries, pages)


def is_at(path: Path, file: os.stat_result) -> bool:
    """Whether this file is still the one of that name; also where nobody can tell."""
    try:
        return os.path.samestat(path.stat(), file)
    except FileNotFoundError:
        return False
    except OSError:
        return True


def is_sound(path: Path) -> bool:
    """Whether a file that SQLite called damaged is whole: it says so of a read that the disk refused too (EIO), which need not last.

    Takes seconds for a large one. Raises OSError where the disk refuses now: nothing is known of the content then.
    """
    with path.open("rb", buffering=0) as file:
        place = 0
        while part := os.pread(file.fileno(), _PART_BYTES, place):
            place += len(part)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            deadline = time.monotonic() + READING_SECONDS
            database.set_progress_handler(lambda: time.monotonic() > deadline, STEPS_BETWEEN_LOOKS_AT_THE_CLOCK)
            return bool(database.execute("PRAGMA integrity_check(1)").fetchall() == [("ok",)])
    except FILE_FAULTS:
        return False


def set_aside(path: Path, error: Exception) -> Path:
    """Rename a file that SQLite cannot use any more; its new name. The log says so."""
    moved = path.with_name(f"{path.name}.corrupt-{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            Path(f"{path}{ending}").replace(f"{moved}{ending}")
    _log.warning("the history %s cannot be read (%s): it was set aside as %s, a new one begins", path, error, moved)
    return moved


def rescue(damaged: Path, records: Records) -> int:
    """Take the sound entries of a file that was set aside into a new one; how many there were."""
    kept = 0
    try:
        with open_to_read(damaged, RESCUE_SECONDS) as old, records.database:
            for table in TABLES:
                rows = list(old.rows(table)) if table.name != "sample" else old.rows(table)
                for row in rows:
                    records.put(table, [row])
                    kept += 1
    except (UserError, *FILE_FAULTS):
        return 0
    return kept


def why_of(error: Exception) -> str:
    """In the same words each time, for what is said once: those of a system call name the file besides, which is said anyway."""
    return getattr(error, "strerror", None) or str(error)


def pragma(database: sqlite3.Connection, name: str) -> int:
    """A number that SQLite tells of the file. Raises sqlite3.DatabaseError when it is none."""
    row = database.execute(f"PRAGMA {name}").fetchone()
    if row is None or not isinstance(row[0], int):
        raise sqlite3.DatabaseError(f"{name} is not a number")
    return row[0]
