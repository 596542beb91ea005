"""Where a user's own programs, and the daemon, keep what they keep."""

from __future__ import annotations

import os
from pathlib import Path

SYSTEM_DIRECTORY = Path("/var/lib/myisam-advisor")


def state_directory() -> Path:
    """The directory that systemd gives, root's /var/lib, or the user's own (XDG base directory specification).

    A user without a home, as a container gives who runs under a number alone, has the system's.
    """
    given = os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    if given:
        return Path(given)
    if os.geteuid() == 0:
        return SYSTEM_DIRECTORY
    state = os.environ.get("XDG_STATE_HOME", "") or os.path.expanduser("~/.local/state")  # noqa: PTH111 -- Path's raises without a home
    return SYSTEM_DIRECTORY if state.startswith("~") else Path(state) / "myisam-advisor"
