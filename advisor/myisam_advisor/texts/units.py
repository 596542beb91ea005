"""Folders whose files are the list of what there is: listing one imports none of its modules."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType


def unit_names(folder: Path) -> list[str]:
    """The names of a folder's units as people write them (`init-file` for init_file.py); `base` is what units share."""
    # Not by glob, which finds nothing in a folder that it may not read: a command would be told not to exist.
    modules = (name.removesuffix(".py") for name in os.listdir(folder) if name.endswith(".py"))
    return sorted(name.replace("_", "-") for name in modules if name not in ("__init__", "base"))


def unit_named(package: str, name: str) -> ModuleType:
    """The module of a unit, imported, by the name that people write."""
    return importlib.import_module(f"{package}.{name.replace('-', '_')}")
