"""What to do where the operating system does not let us look: the right that is missing, and what gives it.

On a host that is a user, a capability, or the drop-in that gives it to the service; in a container a mount or a flag of its start.
"""

from __future__ import annotations

from typing import NamedTuple

from myisam_exporter.kernel.container import in_container

FILES_DROP_IN = "/usr/share/myisam-advisor/systemd/files.conf"
COMMAND = "sudo myisam-advisor rights"
SERVICE = f"the systemd service: {COMMAND}, or {FILES_DROP_IN}"
_READ_PROCESS = f"run as root, or with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH ({SERVICE})"
_SHARED_NUMBERS = "--pid=container:NAME beside the server's container, --pid=host for a server on the host; Kubernetes: shareProcessNamespace: true"
_SERVERS_USER = "start the container as the user whose files they are, --user NUMBER:GROUP as `stat --format %u:%g` prints it (Kubernetes: runAsUser)"


class Remedies(NamedTuple):
    """What makes each of these visible; {directory} and {pid_file} stand for names."""

    read_files: str
    read_process: str
    read_residency: str
    show_directory: str
    verify_directory: str
    show_process: str
    show_control_group: str
    reach_socket: str
    enter_socket: str
    make_account: str
    keep_state: str


ON_HOST = Remedies(
    read_files=(
        "run as root (sudo myisam-advisor check) or as a member of the server's group where it may enter its directories; "
        f"a service: with CAP_DAC_READ_SEARCH ({SERVICE})"
    ),
    read_process=_READ_PROCESS,
    read_residency=(
        "run as a member of the server's group where that may write its files (MariaDB), or with CAP_FOWNER "
        f"({SERVICE}, for MySQL 8.0 and later residency.conf beside it)"
    ),
    show_directory=(
        f"run myisam-advisor beside the server; where that is on this machine, show the directory to the systemd service: `{COMMAND}` does, "
        "beside /var/lib/mysql which files.conf shows (BindReadOnlyPaths=)"
    ),
    verify_directory=f"{_READ_PROCESS}; or let this user read {{pid_file}} and connect by socket",
    show_process="run myisam-advisor beside the server",
    show_control_group="run myisam-advisor where /sys/fs/cgroup shows the groups of the whole machine",
    reach_socket="Start the server, or name its socket (--socket) or its host (--host).",
    enter_socket="The socket, or a directory on the way to it, is closed to this user: run it as root (sudo), or as a user who may go there.",
    make_account=(
        f"If there is no such account: `{COMMAND}` for the systemd service; anybody else runs it as root (sudo), or makes the account that "
        "`myisam-advisor grants` prints. "
    ),
    keep_state="",
)
IN_CONTAINER = Remedies(
    read_files=_SERVERS_USER,
    read_process=f"share the server's process numbers ({_SHARED_NUMBERS}), and {_SERVERS_USER}",
    read_residency=_SERVERS_USER,
    show_directory="mount the server's data directory, where it has it itself: -v {directory}:{directory}:ro (Kubernetes: its volume, readOnly)",
    verify_directory=f"share the server's process numbers ({_SHARED_NUMBERS}), and {_SERVERS_USER}",
    show_process=f"share the server's process numbers: {_SHARED_NUMBERS}",
    show_control_group="start the container with --cgroupns=host, which shows the groups of the whole machine",
    reach_socket=(
        "Mount the directory of the server's socket (-v /run/mysqld:/run/mysqld; compose, Kubernetes: a volume that both mount), "
        "name it (--socket), or name the server's host (--host)."
    ),
    enter_socket="The socket, or a directory on the way to it, is closed to this user: start the container as one who may go there (--user NUMBER:GROUP).",
    make_account="If there is no such account: `myisam-advisor grants` prints what makes it. ",
    keep_state=" In a container: mount a volume there that its user may write (-v NAME:/var/lib/myisam-advisor), or say --no-history.",
)
REMEDIES = IN_CONTAINER if in_container() else ON_HOST
READ_FILES, READ_PROCESS, READ_RESIDENCY = REMEDIES.read_files, REMEDIES.read_process, REMEDIES.read_residency
SHOW_PROCESS = REMEDIES.show_process
