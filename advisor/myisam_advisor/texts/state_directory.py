"""Where a user's own programs, and the daemon, keep what they keep."""

from __future__ import annotations

import os
from pathlib import Path

SYSTEM_DIRECTORY = Path("/var/lib/myisam-advisor")


def state_directory() -> Path:
    """The directory that systemd gives, root's /var/lib, or the user's own (XDG base directory specification: a path that is not absolute is passed over).

    A user without a home, as a container gives who runs under a number alone, has the system's.
    """
    given = os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    if given:
        return Path(given)
    if os.geteuid() == 0:
        return SYSTEM_DIRECTORY
    # Path's own expanduser raises where there is no home.
    own = os.environ.get("XDG_STATE_HOME", ""), os.path.expanduser("~/.local/state")  # noqa: PTH111
    absolute = (Path(path) / "myisam-advisor" for path in own if path.startswith("/"))
    return next(absolute, SYSTEM_DIRECTORY)
