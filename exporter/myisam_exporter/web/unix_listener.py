"""A UNIX socket to listen on, where the daemon before may have left one behind."""

from __future__ import annotations

import errno
import os
import socket
import stat
from pathlib import Path


def unix_listener(path: Path, group: int | None) -> socket.socket:
    """A socket bound there that its owner and group may use. One that nobody answers on any more is replaced.

    Raises OSError where that is not possible; EADDRINUSE when somebody answers there.
    """
    _remove_abandoned(path)
    listener = socket.socket(socket.AF_UNIX)
    try:
        _bind(listener, path, group)
    except BaseException:
        listener.close()
        raise
    return listener


def _remove_abandoned(path: Path) -> None:
    """Take away a socket whose daemon is gone; leave anything else alone."""
    try:
        if not stat.S_ISSOCK(path.stat().st_mode):
            raise FileExistsError(errno.EEXIST, "a file that is not a socket is in the way")
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))


def _bind(listener: socket.socket, path: Path, group: int | None) -> None:
    """Bind, such that nobody but its owner and group could connect at any moment."""
    before = os.umask(0o117 if group is None else 0o177)
    try:
        listener.bind(str(path))
    finally:
        os.umask(before)
    if group is not None:
        _give_to_group(path, group)


def _give_to_group(path: Path, group: int) -> None:
    """Let the group use the socket that was bound there. Raises OSError where something else lies there by now.

    Whoever may write to the directory can put a link in its place, to a file of root's: what is given away is what an open descriptor shows.
    """
    made = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(made)
        if not stat.S_ISSOCK(status.st_mode) or status.st_uid != os.geteuid() or status.st_nlink != 1:
            raise FileExistsError(errno.EEXIST, "somebody put something else in the socket's place")
        seen = f"/proc/self/fd/{made}"
        os.chown(seen, -1, group)
        os.chmod(seen, 0o660)  # noqa: PTH101 - a name that leads to the descriptor, not to a file
    finally:
        os.close(made)
