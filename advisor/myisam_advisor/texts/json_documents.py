"""What every JSON document of this program begins with: its schema's version, when it was made, and by which release."""

from __future__ import annotations

import time

from myisam_exporter.version import __version__

PROGRAM = "myisam-advisor"
SCHEMA_VERSION = 1


def heading(moment: float | None = None) -> dict[str, object]:
    """The first keys; `moment` is in seconds since 1970 (None: now), and told in UTC."""
    told = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(moment))
    return {"schema": SCHEMA_VERSION, "time": told, "tool": {"name": PROGRAM, "version": __version__}}


def failure(message: str) -> dict[str, object]:
    """The document of a run that failed."""
    return {**heading(), "error": message}
