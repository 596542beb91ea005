"""Where a user's own programs, and the daemon, keep what they keep."""

from __future__ import annotations

import os
from pathlib import Path

SYSTEM_DIRECTORY = Path("/var/lib/myisam-advisor")


def state_directory() -> Path:
    """The directory that systemd gives, root's /var/lib, or the user's own (XDG base directory specification)."""
    given = os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    if given:
        return Path(given)
    if os.geteuid() == 0:
        return SYSTEM_DIRECTORY
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if given else Path("~/.local/state").expanduser()
    return state / "myisam-advisor"
