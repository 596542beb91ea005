"""What a long measurement writes down as it goes: a file of JSON lines. A run that was ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def kept_lines(path: Path) -> list[dict[str, Any]]:
    """The lines of the file; none where there is no file. A line that was cut off, by a run that was killed while it wrote, is passed over."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as file:
        return [found for line in file if (found := _read(line)) is not None]


def keep_line(path: Path, told: Mapping[str, Any]) -> None:
    """Write a line at the end of the file, on a line of its own also behind one that was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_bytes() if path.exists() else b""
    cut_off = before and not before.endswith(b"\n")
    with path.open("a", encoding="utf-8") as file:
        file.write(("\n" if cut_off else "") + json.dumps(told) + "\n")


def _read(line: str) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
