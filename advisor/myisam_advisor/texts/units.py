"""Folders whose files are the list of what there is: listing one imports none of its modules."""

from __future__ import annotations

from pathlib import Path


def unit_names(folder: Path) -> list[str]:
    """The names of a folder's units as people write them (`init-file` for init_file.py); `base` is what units share."""
    return sorted(path.stem.replace("_", "-") for path in folder.glob("*.py") if path.stem not in ("__init__", "base"))
