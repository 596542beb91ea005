"""Where the server's process and files are on this machine: found from the server itself, then verified, never guessed.

The process: server_process.py. A data directory counts as this server's when auto.cnf in it holds the server's own UUID, or the process works in it;
where neither can be read, when the pid file seen from here names the process. Where the directory is another server's, so is a process that the pid
file alone names. A server in a container fails these tests, and is reported so.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import only_root_writes, owner_of
from myisam_exporter.kernel.rights import READ_FILES, REMEDIES, SHOW_PROCESS
from myisam_exporter.outside.foreign_files import can_be_named, read_small
from myisam_exporter.server.server_process import process_numbers, process_owner, read_pid, server_process

# The server's variables that it is found by.
DIRECTORY, PID_FILE, UUID = LOCATED_BY = ("datadir", "pid_file", "server_uuid")
ELSEWHERE = Unknown(
    "the server is on another host: its process, files and machine cannot be seen from here",
    "run myisam-advisor on that host",
)
# auto.cnf: one section, one line (MySQL manual, "Replication and Binary Logging Options and Variables", server_uuid).
_UUID_LINE = re.compile(r"^[ \t]*server[-_]uuid[ \t]*=[ \t]*([0-9A-Fa-f-]{36})[ \t]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Location:
    """The verified process id and data directory, each possibly unknown; and the user whose files in there are the server's."""

    pid: int | Unknown
    data_directory: Path | Unknown
    owner: int | None = None


def locate(
    variables: Mapping[str, str], uptime_seconds: float | None, peer_pid: int | None, may_be_local: bool, proc: Path
) -> Location:
    """Find process and files from what the server says of itself.

    Args:
        variables: of SHOW GLOBAL VARIABLES those in LOCATED_BY.
        uptime_seconds: the status variable Uptime.
        peer_pid: the process at the other end of the socket, or None.
        may_be_local: False for a target named by another host's address.
        proc: where /proc is.
    """
    if not may_be_local:
        return Location(ELSEWHERE, ELSEWHERE)
    directory, pid_file = (Path(variables.get(name, "")) for name in (DIRECTORY, PID_FILE))
    if not pid_file.is_absolute():
        pid_file = directory / pid_file
    pid = server_process(pid_file, uptime_seconds, peer_pid, proc)
    if not directory.is_absolute() or not can_be_named(directory):
        return Location(pid, Unknown("the server names no data directory that there could be"))
    found = _directory(directory, variables, pid, pid_file, proc)
    if found == _of_another(directory) and pid != peer_pid:
        pid = found
    return Location(pid, found, None if isinstance(found, Unknown) else _owner(found, pid, proc))


def _owner(directory: Path, pid: int | Unknown, proc: Path) -> int | None:
    """Whose the server's files are: those of the user it runs as; where that is not known, as the directory says."""
    owner = None if isinstance(pid, Unknown) else process_owner(pid, proc)
    try:
        # A server that says that it is root's process is believed where nobody else could have laid anything.
        if owner is not None and (owner != 0 or only_root_writes(directory)):
            return owner
        return owner_of(directory)
    except OSError:
        return None


def _directory(
    directory: Path, variables: Mapping[str, str], pid: int | Unknown, pid_file: Path, proc: Path
) -> Path | Unknown:
    try:
        os.scandir(directory).close()
    except FileNotFoundError:
        return Unknown(
            f"the data directory {directory} does not exist here: the server may run in a container",
            REMEDIES.show_directory.format(directory=directory),
        )
    except OSError as error:
        return Unknown(
            f"the data directory {directory} cannot be read ({error.strerror})",
            READ_FILES,
        )
    verdict = _same_uuid(directory, variables.get(UUID, ""))
    if verdict is None and isinstance(pid, int):
        verdict = _holds_directory(pid, directory, proc)
    if verdict is None and isinstance(pid, int):
        named = read_pid(pid_file)
        verdict = None if isinstance(named, Unknown) else named in process_numbers(pid, proc)
    if verdict:
        return directory
    if verdict is False:
        return _of_another(directory)
    # No right shows a process of another namespace.
    is_out_of_sight = isinstance(pid, Unknown) and pid.remedy == SHOW_PROCESS
    return Unknown(
        f"{directory} could not be verified as this server's",
        SHOW_PROCESS if is_out_of_sight else REMEDIES.verify_directory.format(pid_file=pid_file),
    )


def _of_another(directory: Path) -> Unknown:
    return Unknown(
        f"{directory} on this machine belongs to another server: this one's files are not visible here", SHOW_PROCESS
    )


def _same_uuid(directory: Path, uuid: str) -> bool | None:
    """Whether auto.cnf (MySQL 5.6 and later) names this server; None when it is not there or not readable."""
    try:
        text = read_small(directory / "auto.cnf").decode("ascii", "replace")
    except OSError:
        return None
    named = _UUID_LINE.search(text)
    return named[1].lower() == uuid.lower() if uuid and named else None


def _holds_directory(pid: int, directory: Path, proc: Path) -> bool | None:
    """Whether the process works in this directory, which mysqld always does; None when we may not know."""
    try:
        return (proc / str(pid) / "cwd").samefile(directory)
    except OSError:
        return None
