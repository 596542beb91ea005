"""Disks that are full, or fail, while a trial works.

A server whose disk is full waits for room without end in the middle of a statement, and its client with it (MySQL and MariaDB,
mysys/my_write.c: MY_WAIT_IF_FULL). A private server is ended instead, so that the trial can say why.
"""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

from myisam_advisor.texts.refused_files import DISK_FAILED, FAILED, NO_ROOM
from myisam_advisor.trial.private.limits import limits_named

# Less than this is none; and so long it is waited for, as what somebody else writes there may go away again.
ROOM_BYTES = 256 << 10
PATIENCE_SECONDS = 5.0
LOOK_SECONDS = 0.5
# Of strerror(3) in the C locale, which is the private server's, and of mysys/errors.c and InnoDB. MariaDB takes 122 for an error of a handler's, and names it so.
QUOTA_WORDS = ("Disk quota exceeded", f"Errcode: {errno.EDQUOT}", f"errno {errno.EDQUOT}")
# Of ALTERs to InnoDB: MySQL 9.7 (error 3675), and MariaDB 10.11, 11.4 and 11.8 (1296), which sort in files of their tmpdir.
OF_ALTERS = ("as disk is full", "Temp file write failure")
FULL_WORDS = ("No space left on device", "out of disk space", "Disk is full", "Disk got full", *OF_ALTERS, *QUOTA_WORDS)


def full(place: str | Path) -> str:
    """What is said of a full disk."""
    return f"the disk of {place} is full: the trial was given up. Make room there, or choose another TMPDIR."


def told(error: OSError) -> str:
    """An error of the system's in a trial, and what can be done about it."""
    if error.errno in NO_ROOM:
        return full(error.filename or tempfile.gettempdir())
    text = f"{error.strerror or error}{f': {error.filename}' if error.filename else ''}."
    return f"{text} {DISK_FAILED if error.errno in FAILED else limits_named(text)}".rstrip()


def says_full(text: str) -> bool:
    """Whether a server says so, in its log or of a statement."""
    return any(words in text for words in FULL_WORDS)


class RoomWatch:
    """Ends a server once its disk has been full for some seconds; `is_full` says that it did.

    A quota (quota(5)) that is used up is not seen in the free space: of that `log`, which gives the end of the server's own, is asked.
    """

    def __init__(
        self,
        directory: Path,
        process: subprocess.Popen[bytes],
        patience: float = PATIENCE_SECONDS,
        log: Callable[[], str] = str,
    ) -> None:
        self.is_full = False
        self._log = log
        self._directory, self._process, self._patience = directory, process, patience
        self._over = threading.Event()
        threading.Thread(target=self._watch, name="room", daemon=True).start()

    def end(self) -> None:
        """Watch no more."""
        self._over.set()

    def _watch(self) -> None:
        had_room = asked = time.monotonic()
        while not self._over.wait(LOOK_SECONDS) and self._process.poll() is None:
            now = time.monotonic()
            if self._has_room():
                had_room = now
            used_up = False
            if now - asked >= self._patience:
                asked, used_up = now, self._says_quota()
            if used_up or now - had_room >= self._patience:
                self.is_full = True
                self._process.kill()

    def _says_quota(self) -> bool:
        try:
            said = self._log()
        except OSError:
            return False  # nothing is known
        return any(words in said for words in QUOTA_WORDS)

    def _has_room(self) -> bool:
        try:
            disk = os.statvfs(self._directory)
        except OSError:
            return True  # nothing is known
        # Some file systems tell no size at all.
        return disk.f_blocks == 0 or disk.f_bavail * disk.f_frsize >= ROOM_BYTES
