"""Where the daemon keeps what it keeps."""

from __future__ import annotations

import os
from pathlib import Path

NAME = "history.sqlite"


def history_path() -> Path:
    """The default file: systemd's state directory, root's /var/lib, or the user's own (XDG base directory specification)."""
    given = os.environ.get("STATE_DIRECTORY", "").partition(":")[0]
    if given:
        return Path(given) / NAME
    if os.geteuid() == 0:
        return SYSTEM_PATH
    given = os.environ.get("XDG_STATE_HOME", "")
    state = Path(given) if given else Path("~/.local/state").expanduser()
    return state / "myisam-advisor" / NAME


SYSTEM_PATH = Path("/var/lib/myisam-advisor") / NAME


def readable_histories() -> list[Path]:
    """Files that a command may look for a running daemon's history in: the user's own, then the system's."""
    candidates = dict.fromkeys((history_path(), SYSTEM_PATH))
    # In this order: of a directory that may not be searched, is_file raises PermissionError.
    return [path for path in candidates if os.access(path, os.R_OK) and path.is_file()]
