"""Programs of a trial are run by nobody who matters: they end with us, and never run as root.

In a trial, the demonstration and the benchmarks we are no longer root by then (apart.py). Only the project's tests control private servers
as root: what they start becomes a user of its own first.
"""

from __future__ import annotations

import os
import subprocess
from functools import lru_cache

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private import own_user

PROGRAM_SECONDS = 60.0
# Set by the project's tests: root controls their private servers, because it also looks at them.
root_may_control = False


def expect_not_root() -> None:
    """Raises TrialError for root, whom the trial's own user could lead astray in directories that are its own."""
    if os.geteuid() == 0 and not root_may_control:
        raise TrialError("a private server is not controlled by root: begin this in a process of its own user (apart).")


def own_number() -> int | None:
    """The number of the user that programs become, where that is another than we are."""
    expect_not_root()
    return _tests_user().number if os.geteuid() == 0 else None


def words_before() -> list[str]:
    """Words before a command: it dies with us, and as root becomes another user (in this order: a change of user clears the death signal).

    The program of a watched server may belong to anybody: not even its --version is asked as root.
    """
    words, number = ["setpriv", "--pdeathsig", "KILL"], own_number()
    if number is not None:
        words += [f"--reuid={number}", f"--regid={number}", "--clear-groups", "--no-new-privs"]
    return [*words, "--"]


def run(*words: str) -> str:
    """Run a small program as the one whom private servers belong to; what it printed. Raises TrialError when it fails."""
    done = subprocess.run(
        [*words_before(), *words],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=PROGRAM_SECONDS,
        check=False,
    )
    if done.returncode != 0:
        raise TrialError(f"{words[0]} failed: {done.stderr.strip()[:500]}.")
    return done.stdout


@lru_cache(maxsize=1)
def _tests_user() -> own_user.OwnUser:
    return own_user.choose()
