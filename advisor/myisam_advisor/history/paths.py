"""Where the daemon keeps its history."""

from __future__ import annotations

import os
from pathlib import Path

from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory

NAME = "history.sqlite"
SYSTEM_PATH = SYSTEM_DIRECTORY / NAME


def history_path() -> Path:
    """The default file, in the state directory."""
    return state_directory() / NAME


def readable_histories() -> list[Path]:
    """Files that a command may look for a running daemon's history in: the user's own, then the system's."""
    candidates = dict.fromkeys((history_path(), SYSTEM_PATH))
    # In this order: of a directory that may not be searched, is_file raises PermissionError.
    return [path for path in candidates if os.access(path, os.R_OK) and path.is_file()]


def path_to_read(named: Path | None) -> Path:
    """The history that a user named, the first that there is, or where the first would be."""
    return named or next(iter(readable_histories()), history_path())


def closed_to_us(path: Path) -> bool:
    """Whether this user may not read the file, or not look whether it is there."""
    try:
        return path.is_file() and not os.access(path, os.R_OK)
    except PermissionError:
        return True
