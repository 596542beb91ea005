"""Files that the package brings beside its modules: the rules, their schema, what was measured.

By the package's own place, not by importlib.resources: that imports a dozen modules for archives that are never one.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from myisam_exporter.errors import UserError
from myisam_exporter.outside.documents import DocumentError, parse_json, read_text

PACKAGE = "myisam_advisor.rulebook"
MAXIMUM_BYTES, MAXIMUM_MEMORY_BYTES = 1 << 20, 8 << 20


def shipped(name: str) -> Path:
    """Where the file, or the folder, of this name lies."""
    return Path(next(iter(import_module(PACKAGE).__path__)), name)


def shipped_document(name: str) -> Any:
    """What one of the JSON files holds. Raises UserError where it is missing or damaged, which is a fault of the installation."""
    path = shipped(name)
    try:
        return parse_json(read_text(path, "shipped file", MAXIMUM_BYTES), MAXIMUM_MEMORY_BYTES)
    except DocumentError as error:
        raise UserError(f"the shipped file {path} is damaged: {error}. Install myisam-advisor anew.") from None


def is_shipped(name: str) -> bool:
    """Whether the package has it: what was measured may be left out of one."""
    return shipped(name).is_file()
