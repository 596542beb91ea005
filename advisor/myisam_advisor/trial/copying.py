"""Copies of the watched server's tables, taken from their files: consistent, or not taken at all.

Nothing is asked of the watched server for it, unless the user allows a lock. Without one, the files are copied while the server may
write: a copy counts only when neither the header nor the sizes and times of the files changed meanwhile, and the copy passes a check by
myisamchk, or by the private server's CHECK TABLE where there is no myisamchk.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import subprocess
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from myisam_advisor.errors import TrialError
from myisam_advisor.texts import object_name, size
from myisam_advisor.trial.experiment import Listener
from myisam_advisor.trial.private_server import PrivateServer
from myisam_advisor.trial.tables import CopiedTable
from myisam_advisor.trial.unprivileged import words_before
from myisam_exporter.data_directory import OTHER_ENGINE_ENDINGS, SYSTEM_SCHEMAS, TableFile, scan_data_directory
from myisam_exporter.file_names import decode_schema, decode_table
from myisam_exporter.myi_header import OPEN_COUNT_BYTES, OPEN_COUNT_POSITION
from myisam_exporter.session import LOCK_WAIT_TIMEOUT_SECONDS
from myisam_exporter.sql import quote_identifier, quote_table

if TYPE_CHECKING:
    from myisam_exporter.session import Session

TRIES = 5
PAUSE_SECONDS = 1.0
CHECK_SECONDS = 1800
DEFINITIONS = (".frm", ".sdi")
LOCK_WAIT_TIMEOUT = 1205


@dataclass(frozen=True, slots=True)
class Source:
    """One table on disk, as it is to be copied: the files' common path without an ending."""

    schema: str
    table: str
    folder: Path
    stem: str
    data_bytes: int
    index_bytes: int
    rows: int

    @property
    def label(self) -> str:
        """The name to print."""
        return object_name(self.schema, self.table)

    def file(self, ending: str) -> Path:
        """One of its files."""
        return self.folder / f"{self.stem}{ending}"


def find_sources(directory: Path, names: Sequence[str], limit_bytes: int) -> list[Source]:
    """The tables that were named, on disk.

    Raises TrialError for one that does not exist, is no MyISAM table, is crashed, compressed or partitioned, or exceeds the limit with
    those before it.
    """
    files: dict[tuple[str, str], list[TableFile]] = {}
    scan = scan_data_directory(directory)
    for file in scan.files:
        files.setdefault((file.schema_name, file.table_name), []).append(file)
    split = [_split(name, files) for name in names]
    for schema, table in split:
        if schema in scan.unreadable:
            raise TrialError(
                f"{object_name(schema, table)}: the files of this database cannot be read. Run as root or as the server's user."
            )
    sources = [_source(directory, name, files) for name in split]
    total = sum(source.data_bytes + source.index_bytes for source in sources)
    if total > limit_bytes:
        raise TrialError(
            f"{', '.join(source.label for source in sources)}: {size(total)} to copy, and --copy-limit is {size(limit_bytes)}. "
            "Choose smaller tables, or a higher limit."
        )
    return sources


def _split(name: str, files: dict[tuple[str, str], list[TableFile]]) -> tuple[str, str]:
    """SCHEMA.TABLE, where either may hold dots or be quoted as in SQL."""
    if name.startswith("`") and name.endswith("`") and "`.`" in name:
        schema, _, table = name[1:-1].partition("`.`")
        return schema.replace("``", "`"), table.replace("``", "`")
    splits = [(name[:place], name[place + 1 :]) for place, character in enumerate(name) if character == "."]
    if not splits:
        raise TrialError(f"{name} names no table: write --table DATABASE.TABLE.")
    return next((split for split in splits if split in files), splits[0])


def _source(directory: Path, name: tuple[str, str], files: dict[tuple[str, str], list[TableFile]]) -> Source:
    found, label = files.get(name, []), object_name(*name)
    if name[0] in SYSTEM_SCHEMAS:
        raise TrialError(f"{label} is one of the server's own tables: a trial copies only yours.")
    if not found:
        raise TrialError(f"{label}: {_why_not(directory, name)}")
    if len(found) > 1 or found[0].partition is not None:
        raise TrialError(f"{label} is partitioned: a trial copies tables without partitions.")
    header = found[0].header
    if header is None:
        raise TrialError(f"{label}: its header cannot be read ({found[0].problem}). Repair the table first.")
    if header.crashed:
        raise TrialError(f"{label} is marked crashed: repair it first (REPAIR TABLE {quote_table(*name)};).")
    if header.row_format == "compressed":
        raise TrialError(f"{label} is compressed and takes no rows: there is nothing to try on it.")
    return Source(
        *name, Path(found[0].directory), found[0].stem, header.data_bytes, header.index_bytes, header.rows
    )  # fmt: skip


def _why_not(directory: Path, name: tuple[str, str]) -> str:
    """Whether another engine has a table of that name, by its files."""
    endings: set[str] = set()
    for folder in directory.iterdir():
        if decode_schema(folder.name) == name[0] and folder.is_dir():
            endings |= {
                file.suffix for file in folder.iterdir() if (decode_table(file.stem) or ("", None))[0] == name[1]
            }
    if ".ibd" in endings:
        return "it is an InnoDB table: this tool tries out MyISAM tables only."
    if endings & {*OTHER_ENGINE_ENDINGS, *DEFINITIONS}:
        return "it is no MyISAM table: this tool tries out MyISAM tables only."
    return "there is no such table in the data directory. `myisam-advisor facts tables` lists them."


def copy_tables(
    sources: Sequence[Source],
    server: PrivateServer,
    lock: Session | None,
    listener: Listener,
) -> list[CopiedTable]:
    """Copy them into the running private server, one by one; `lock` is a session that may lock each while it is copied.

    Raises TrialError when a table keeps changing, or a disk is full.
    """
    return [_copy(source, server, lock, listener) for source in sources]


def _copy(source: Source, server: PrivateServer, lock: Session | None, listener: Listener) -> CopiedTable:
    folder = server.data_directory / source.folder.name
    server.execute(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(source.schema)}")
    problem = ""
    for number in range(TRIES):
        listener.doing(f"copying {source.label} ({size(source.data_bytes + source.index_bytes)}), try {number + 1}")
        problem = _try(source, folder, server, lock)
        if not problem:
            return _imported(source, server)
        for ending in (*DEFINITIONS, ".MYD", ".MYI"):
            for file in _files(folder, source.stem, ending):
                file.unlink(missing_ok=True)
        time.sleep(PAUSE_SECONDS)
    advice = "." if lock else ", or allow a read lock for as long as the copy takes (--allow-lock)."
    raise TrialError(f"{source.label} could not be copied in {TRIES} tries: {problem}. Try at a quieter time{advice}")


def _try(source: Source, folder: Path, server: PrivateServer, lock: Session | None) -> str:
    """Copy once; what is wrong with the copy, or empty."""
    with contextlib.ExitStack() as stack:
        if lock is not None and not _locked(source, lock, stack):
            return f"it is in use for longer than {LOCK_WAIT_TIMEOUT_SECONDS} s at a time, and cannot be locked"
        if not _copy_files(source, folder, server):
            return "it was written to while it was copied"
    _mark_closed(folder / f"{source.stem}.MYI")
    return _check(source, folder, server)


def _mark_closed(path: Path) -> None:
    """The server that has the table open counts itself in the header; the copy is open nowhere, and would be taken for crashed."""
    with path.open("r+b") as file:
        file.seek(OPEN_COUNT_POSITION)
        file.write(bytes(OPEN_COUNT_BYTES))


def _files(folder: Path, stem: str, ending: str) -> list[Path]:
    """A table's files of one kind: MySQL 8 and later put a number between stem and .sdi."""
    if ending != ".sdi":
        return [folder / f"{stem}{ending}"]
    return [file for file in folder.glob("*.sdi") if file.name.rpartition("_")[0] == stem]


def _state(source: Source) -> tuple[object, ...]:
    """What changes when anybody writes: the header with its counters, sizes and times."""
    with source.file(".MYI").open("rb") as file:
        head = file.read(4096)
    stats = [source.file(ending).stat() for ending in (".MYD", ".MYI")]
    return (head, *((one.st_size, one.st_mtime_ns, one.st_ino) for one in stats))


def _copy_files(source: Source, folder: Path, server: PrivateServer) -> bool:
    """Copy; whether nothing changed meanwhile."""
    try:
        before = _state(source)
        for ending in (".MYD", ".MYI", *DEFINITIONS):
            for file in _files(source.folder, source.stem, ending):
                if file.exists():
                    copied = folder / file.name
                    shutil.copyfile(file, copied)
                    server.give_away(copied)
                    copied.chmod(0o660)
        return _state(source) == before
    except FileNotFoundError:
        raise TrialError(f"{source.label} vanished while it was copied.") from None
    except PermissionError as error:
        raise TrialError(
            f"{error.filename} cannot be read ({error.strerror}): run as root or as the server's user."
        ) from None
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise TrialError(
                f"the disk of {folder} is full: the copy of {source.label} was given up. Choose another TMPDIR."
            ) from None
        raise


def _check(source: Source, folder: Path, server: PrivateServer) -> str:
    """What is wrong with the copy; empty when nothing is."""
    tool = server.binaries.tool("myisamchk")
    if tool is None:
        return _checked_by_server(source, server)
    command = [*words_before(), *tool, "--check", "--silent", str(folder / f"{source.stem}.MYI")]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=CHECK_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise TrialError(
            f"the check of the copy of {source.label} takes longer than {CHECK_SECONDS} s: choose a smaller table."
        ) from None
    complaints = [line for line in done.stderr.splitlines() + done.stdout.splitlines() if "error" in line.lower()]
    if any("when opening" in line for line in complaints):
        # It knows fewer collations than its server: MySQL 9.7's cannot open a table with keys in utf8mb4_0900_ai_ci (error 140).
        return _checked_by_server(source, server)
    return "; ".join(complaints[:2]) or ("" if done.returncode == 0 else f"myisamchk ended with {done.returncode}")


def _checked_by_server(source: Source, server: PrivateServer) -> str:
    """CHECK TABLE on the private server; a copy that fails it is dropped again."""
    name = quote_table(source.schema, source.table)
    try:
        _imported(source, server)
        rows = server.execute(f"CHECK TABLE {name}")
        wrong = [str(row[3]) for row in rows if row[2] in ("error", "warning")]
    except TrialError as error:
        wrong = [str(error)]
    if wrong:
        server.execute(f"DROP TABLE IF EXISTS {name}")
    return "; ".join(wrong[:2]).rstrip(".")


def _imported(source: Source, server: PrivateServer) -> CopiedTable:
    """The files as a table of the private server. MySQL 8 and later must be told (IMPORT TABLE); others look at the files."""
    import MySQLdb

    name, folder = quote_table(source.schema, source.table), server.data_directory / source.folder.name
    descriptions = _files(folder, source.stem, ".sdi")
    try:
        if descriptions and not _exists(source, server):
            server.execute(f"IMPORT TABLE FROM '{descriptions[0]}'", database=source.schema)
        rows = int(str(server.execute(f"SELECT COUNT(*) FROM {name}")[0][0]))
    except MySQLdb.Error as error:
        raise TrialError(
            f"{server.binaries.name} cannot open the copy of {source.label}: {error.args[-1]}. "
            "A copy needs a server of the same kind and version as the watched one (--server)."
        ) from None
    return CopiedTable(server, source.schema, source.table, rows, source.data_bytes)


def _exists(source: Source, server: PrivateServer) -> bool:
    return bool(
        server.execute(
            "SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = "
            f"{_text(source.schema)} AND TABLE_NAME = {_text(source.table)}"
        )
    )


def _text(value: str) -> str:
    return f"0x{value.encode().hex()}" if value else "''"


def _locked(source: Source, session: Session, stack: contextlib.ExitStack) -> bool:
    """Flush the table and lock it against writes until the stack ends; False when others hold it for too long.

    Raises TrialError when the account may not. The session is read-only, which forbids even this lock, but for its length.
    """
    import MySQLdb

    may_choose = session.version.at_least(mysql=(5, 6), mariadb=(10, 0))
    if may_choose:
        session.rows("SET SESSION TRANSACTION READ WRITE")
        stack.callback(session.rows, "SET SESSION TRANSACTION READ ONLY")
    try:
        session.rows(f"FLUSH TABLES {quote_table(source.schema, source.table)} WITH READ LOCK")
    except MySQLdb.Error as error:
        if error.args[0] == LOCK_WAIT_TIMEOUT:
            return False
        raise TrialError(
            f"{source.label} cannot be locked: {error.args[-1]}. The account needs RELOAD, LOCK TABLES, and SELECT on the table."
        ) from None
    stack.callback(session.rows, "UNLOCK TABLES")
    return True


def needed_bytes(sources: Iterable[Source]) -> int:
    """Disk space that copies and what is made from them will take: the copy, and one table a variant with files to restore it from."""
    return sum(8 * (source.data_bytes + source.index_bytes) for source in sources)
