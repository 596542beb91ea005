"""The sockets where a server on this machine listens when nobody says otherwise: only those that a server's user made.

/tmp is anybody's: a socket that somebody else puts there while no server runs would be asked with the password.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path

from myisam_exporter.errors import UserError

DEFAULT_SOCKETS = (
    Path("/run/mysqld/mysqld.sock"),
    Path("/var/run/mysqld/mysqld.sock"),
    Path("/var/lib/mysql/mysql.sock"),
    Path("/tmp/mysql.sock"),
)
SERVER_USERS = ("root", "mysql")


def default_socket() -> Path:
    """The first that exists and is a server's; the first of all where none exists.

    Raises UserError where the only ones there are were made by somebody else.
    """
    there = [path for path in DEFAULT_SOCKETS if path.exists()]
    trusted = next((path for path in there if is_a_servers(path)), None)
    if there and trusted is None:
        raise UserError(
            f"the socket {there[0]} belongs to {_owner(there[0])}, or other users can write to its directory: it is not used automatically. "
            f"If your server listens there, name it: --socket {there[0]}, or socket={there[0]} in the option file."
        )
    return trusted or DEFAULT_SOCKETS[0]


def is_a_servers(path: Path) -> bool:
    """Whether root, mysql or we ourselves made this socket, in a directory where nobody else can put another in its place."""
    users = server_users()
    try:
        # A link counts as its maker's: /tmp/mysql.sock often is one that root made.
        real = path.resolve()
        makers = {path.lstat().st_uid, real.lstat().st_uid, real.parent.stat().st_uid}
        directories = (path.parent.stat().st_mode, real.parent.stat().st_mode)
        is_socket = stat.S_ISSOCK(real.lstat().st_mode)
    except OSError:
        return False
    guarded = all(not mode & stat.S_IWOTH or mode & stat.S_ISVTX for mode in directories)
    return is_socket and guarded and makers <= users


def server_users() -> frozenset[int]:
    """The users whose sockets are a server's: root, mysql where there is one, and ourselves."""
    users = {os.geteuid()}
    for name in SERVER_USERS:
        try:
            users.add(pwd.getpwnam(name).pw_uid)
        except KeyError:
            continue
    return frozenset(users)


def _owner(path: Path) -> str:
    try:
        number = path.lstat().st_uid
        return pwd.getpwuid(number).pw_name
    except (OSError, KeyError):
        return "another user"
