"""One file a form of the plan, found by its name."""

from __future__ import annotations

import importlib
from types import ModuleType


def format_named(name: str) -> ModuleType:
    """The module with `render(plan)` and `FILE_NAME`."""
    return importlib.import_module(f"myisam_advisor.changes.formats.{name.replace('-', '_')}")
