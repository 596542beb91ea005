"""Copies of the watched server's tables, taken from their open files: consistent, or not taken at all.

Nothing is asked of the watched server for it, unless the user allows a lock. Without one, the files are copied while the server may
write: a copy counts only when neither the header nor the sizes and times of the files changed meanwhile, and the copy passes a check by
myisamchk, or by the private server's CHECK TABLE where there is no myisamchk. Only the extended check of either looks into SPATIAL indexes.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.texts.refused_files import NO_ROOM
from myisam_advisor.texts.templates import size
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.full_disks import told
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_advisor.trial.tables.copied_table import CopiedTable
from myisam_advisor.trial.tables.sources import DATA, INDEX, Source, SourceFile, over_limit
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_exporter.files.myi_header import OPEN_COUNT_BYTES, OPEN_COUNT_POSITION
from myisam_exporter.server.session import LOCK_WAIT_TIMEOUT_SECONDS
from myisam_exporter.server.sql import quote_identifier, quote_table, statement

TRIES = 5
PAUSE_SECONDS = 1.0
CHECK_SECONDS = 1800
HEADER_BYTES = 4096
AT_ONCE_BYTES = 16 << 20
COPY_MODE = 0o660
OTHER_DICTIONARY = 3612  # ER_IMP_INCOMPATIBLE_DD_VERSION
KINDS = "MySQL 8.0 and later keep definitions in .sdi files, all others in .frm files"
# What a later release described: besides, ER_IMP_INCOMPATIBLE_MYSQLD_VERSION and EE_UNKNOWN_CHARSET.
OTHER_RELEASE = frozenset((OTHER_DICTIONARY, 3611, 22))


class OtherReleaseError(TrialError):
    """The program is of another release, or product, and reads no such definitions: no copy is damaged for that.

    MySQL 8.0 and later import what their own release described (.sdi), others read .frm.
    """


def copy_tables(
    sources: Sequence[Source],
    server: PrivateServer,
    lock: Lock | None,
    listener: Listener,
) -> list[CopiedTable]:
    """Copy them into the running private server, one by one; `lock` locks each while it is copied.

    Raises TrialError when a table keeps changing, or a disk is full.
    """
    return [_copy(source, server, lock, listener) for source in sources]


def _copy(source: Source, server: PrivateServer, lock: Lock | None, listener: Listener) -> CopiedTable:
    folder = server.data_directory / source.folder
    server.execute(f"CREATE DATABASE IF NOT EXISTS {quote_identifier(source.schema)}")
    take_files(source, folder, lock, listener, lambda: _check(source, folder, server))
    return _imported(source, server)


def take_files(
    source: Source, folder: Path, lock: Lock | None, listener: Listener, check: Callable[[], str] = lambda: ""
) -> None:
    """Copy its files into the folder, as often as it takes for a copy that nobody wrote meanwhile, and of which `check` says nothing.

    Raises TrialError when a table keeps changing, or a disk is full.
    """
    problem, seen = "", set[tuple[str, object]]()
    for number in range(TRIES):
        listener.doing(f"copying {source.label} ({size(source.counted_bytes)}), try {number + 1}")
        disturbed = _try(source, folder, lock)
        problem = disturbed or check()
        if not problem:
            return
        seen.add(("" if disturbed else problem, _state(source)))
        for file in source.files:
            (folder / file.name).unlink(missing_ok=True)
        time.sleep(PAUSE_SECONDS)
    (first, _), *others = seen
    if first and not others:
        raise _damaged(source, problem)
    advice = "." if lock else ", or allow a read lock for as long as the copy takes (--allow-lock)."
    raise TrialError(f"{source.label} could not be copied in {TRIES} tries: {problem}. Try at a quieter time{advice}")


def _damaged(source: Source, problem: str) -> TrialError:
    """The same is wrong each time, and nobody wrote: it is in the files. Index pages that delay_key_write holds in memory look alike."""
    name = quote_table(source.schema, source.table)
    check = statement("CHECK TABLE {} EXTENDED;" if source.is_spatial else "CHECK TABLE {};", name)
    # Tried on MariaDB 10.5 to 11.8; MySQL 8.0 and 9.7 say OK.
    empty = (
        f" Of a sound table that holds an empty GEOMETRYCOLLECTION MariaDB says so too, behind REPAIR TABLE as well: no trial copies it. "
        f"{statement('CHECK TABLE {};', name)} takes back what the extended check marked."
        if source.is_spatial
        else ""
    )
    return TrialError(
        f"{source.label} is damaged: {problem}. Each of {TRIES} copies says so, and nobody wrote to its files meanwhile. On the server, "
        f"{check} tells, and {statement('REPAIR TABLE {};', name)} mends; where the check finds nothing, its index is in "
        f"memory alone (delay_key_write): {statement('FLUSH TABLES {};', name)} and try again.{empty}"
    )


def _try(source: Source, folder: Path, lock: Lock | None) -> str:
    """Copy once; what is wrong with the copy, or empty."""
    with contextlib.ExitStack() as stack:
        if lock is not None and not stack.enter_context(lock(source)):
            return f"it is in use for longer than {LOCK_WAIT_TIMEOUT_SECONDS} s at a time, and cannot be locked"
        if not _copy_files(source, folder):
            return "it was written to while it was copied"
    _mark_closed(folder / f"{source.stem}.MYI")
    return ""


def _mark_closed(path: Path) -> None:
    """The server that has the table open counts itself in the header; the copy is open nowhere, and would be taken for crashed."""
    with path.open("r+b") as file:
        file.seek(OPEN_COUNT_POSITION)
        file.write(bytes(OPEN_COUNT_BYTES))


def _state(source: Source) -> tuple[object, ...]:
    """What changes when anybody writes: the header with its counters, sizes and times."""
    head = os.pread(source.file(INDEX).descriptor, HEADER_BYTES, 0)
    states = [source.file(ending).state() for ending in (DATA, INDEX)]
    if not all(one.st_nlink for one in states):
        raise TrialError(f"{source.label} was dropped or made anew while it was copied: try again.")
    return (head, *((one.st_size, one.st_mtime_ns) for one in states))


def _copy_files(source: Source, folder: Path) -> bool:
    """Copy; whether nothing changed meanwhile. Raises TrialError when the files grew beyond the limit, or a disk is full."""
    try:
        before = _state(source)
        lengths = [file.state().st_size for file in source.files]
        if sum(lengths) > source.limit_bytes:
            raise over_limit([source], sum(lengths), source.limit_bytes)
        for file, length in zip(source.files, lengths, strict=True):
            _copy_file(file, folder / file.name, length)
        return _state(source) == before
    except OSError as error:
        if error.errno in NO_ROOM:
            raise TrialError(
                f"the disk of {folder} is full: the copy of {source.label} was given up. Choose another TMPDIR."
            ) from None
        raise TrialError(f"{source.label} could not be copied to {folder}: {told(error)}") from None


def _copy_file(file: SourceFile, path: Path, length: int) -> None:
    """So many bytes, or as many as there are, into a file that was not there before."""
    copy = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, COPY_MODE)
    try:
        done = 0
        while done < length:
            sent = os.sendfile(copy, file.descriptor, done, min(length - done, AT_ONCE_BYTES))
            if not sent:
                break
            done += sent
        os.fchmod(copy, COPY_MODE)
    finally:
        os.close(copy)


def _check(source: Source, folder: Path, server: PrivateServer) -> str:
    """What is wrong with the copy; empty when nothing is."""
    tool = server.binaries.tool("myisamchk")
    if tool is None:
        return _checked_by_server(source, server)
    how = "--extend-check" if source.is_spatial else "--check"
    command = [*words_before(), *tool, how, "--silent", str(folder / f"{source.stem}.MYI")]
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
        rows = server.execute(f"CHECK TABLE {name}{' EXTENDED' if source.is_spatial else ''}")
        wrong = [str(row[3]) for row in rows if row[2] in ("error", "warning")]
    except OtherReleaseError:
        raise
    except TrialError as error:
        wrong = [str(error)]
    if wrong:
        server.execute(f"DROP TABLE IF EXISTS {name}")
    return "; ".join(wrong[:2]).rstrip(".")


def _imported(source: Source, server: PrivateServer) -> CopiedTable:
    """The files as a table of the private server. MySQL 8 and later must be told (IMPORT TABLE); others look at the files."""
    name, folder = quote_table(source.schema, source.table), server.data_directory / source.folder
    descriptions = [folder / file.name for file in source.files if file.name.endswith(".sdi")]
    try:
        if descriptions and not _exists(source, server):
            server.execute(f"IMPORT TABLE FROM '{descriptions[0]}'", database=source.schema)
        rows = server.count(name)
    except driver().error as error:
        is_described_otherwise = bool(descriptions) is not server.binaries.keeps_dictionary
        is_other = error.args[0] in OTHER_RELEASE or is_described_otherwise
        refusal = OtherReleaseError if is_other else TrialError
        raise refusal(
            f"{server.binaries.name} cannot open the copy of {source.label}: {KINDS if is_described_otherwise else str(error.args[-1]).rstrip('.')}. "
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
