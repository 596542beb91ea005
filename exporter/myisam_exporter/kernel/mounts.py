"""Which file system lies under a path, as a process sees it: in a mount namespace of its own it may be another one (systemd, a container).

Source: proc_pid_mountinfo(5), which everybody may read whom /proc shows the process.
"""

from __future__ import annotations

import re
from pathlib import Path

from myisam_exporter.outside.bounded_reading import bounded_text

# Space, tab, line feed and backslash in a name.
_ESCAPED = re.compile(r"\\([0-7]{3})")
_DEVICE, _POINT = 2, 4


def device_under(place: str, process: str, proc: Path) -> str | None:
    """The file system's number (`8:1`), the same in all namespaces; `process` is a number or `self`. None where that is not told."""
    try:
        lines = bounded_text(proc / process / "mountinfo", "utf-8").splitlines()
    except (OSError, ValueError):
        return None
    found, longest = None, 0
    for fields in map(str.split, lines):
        if len(fields) <= _POINT:
            continue
        point = _ESCAPED.sub(lambda match: chr(int(match[1], 8)), fields[_POINT]).rstrip("/") + "/"
        # Of several at one place the last one was mounted over the others.
        if len(point) >= longest and f"{place.rstrip('/')}/".startswith(point):
            found, longest = fields[_DEVICE], len(point)
    return found
