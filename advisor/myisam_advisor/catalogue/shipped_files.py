"""Files that the package brings beside its modules: the rules, their schema, what was measured.

By the package's own place, not by importlib.resources: that imports a dozen modules for archives that are never one.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

SHIPPED = "myisam_advisor.rulebook"


def shipped(name: str) -> Path:
    """Where the file, or the folder, of this name lies."""
    return Path(next(iter(import_module(SHIPPED).__path__)), name)
