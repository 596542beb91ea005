"""Programs of a trial are run by nobody who matters: they end with us, and as root they become another user first."""

from __future__ import annotations

import os
import pwd

UNPRIVILEGED_USER = "nobody"


def words_before() -> list[str]:
    """Words before a command: it dies with us, and as root becomes nobody (in this order: a change of user clears the death signal).

    The program of a watched server may belong to anybody: not even its --version is asked as root.
    """
    words = ["setpriv", "--pdeathsig", "KILL"]
    if os.geteuid() == 0:
        account = pwd.getpwnam(UNPRIVILEGED_USER)
        words += [f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups"]
    return [*words, "--"]
