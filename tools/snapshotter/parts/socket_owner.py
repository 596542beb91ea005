"""Whose the socket is that the host's client is going to log in at: told before the client starts, since nobody sees its connection but itself.

Who made a socket owns its name, and in a directory where nobody else can put another in its place that is who listens: nothing has to be
asked of the server, whose Aborted_connects would count the question. Source: unix(7), "Pathname socket ownership and permissions".
"""

from __future__ import annotations

import pwd
import stat
from pathlib import Path

from myisam_exporter.errors import UserError
from myisam_exporter.server.default_sockets import is_a_servers, server_users


def refuse_foreign_socket(path: Path, *, is_found: bool) -> None:
    """Raise UserError where somebody else than a server could be listening; a socket that nobody named must be root's, mysql's or our own.

    One that was named may be another user's too (a server may run as anybody), but not where anybody can lay one. One that is not there, or
    cannot be looked at, is left for the client to tell of.
    """
    try:
        # A link is as good as who made it, and as what it leads to.
        owner = next((found for name in {path, path.resolve()} if (found := _foreign_owner(name)) is not None), None)
    except OSError:
        return
    if owner is None and is_found and not is_a_servers(path):
        owner = path.lstat().st_uid
    if owner is not None:
        raise UserError(
            f"the socket {path} belongs to {_name(owner)}, or others may put another in its place: that may be no server, and it would be handed the login. "
            "If it is your server, run this as the user it runs as, or have it listen in a directory of its own."
        )


def _foreign_owner(name: Path) -> int | None:
    """Who could have laid this name there without being asked; None where its directory is only a server's, or its owner is one."""
    owner, directory = name.lstat().st_uid, name.parent.stat()
    users = server_users()
    if directory.st_mode & stat.S_IWOTH:
        return None if directory.st_mode & stat.S_ISVTX and {owner, directory.st_uid} <= users else owner
    return None if directory.st_uid in users | {owner} else directory.st_uid


def _name(number: int) -> str:
    try:
        return f"the user {pwd.getpwuid(number).pw_name}"
    except KeyError:
        return f"the user with number {number}"
