"""Unknown is a value: it says why, and what would make it known. It is never zero, -1 or a missing key."""

from __future__ import annotations

from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """A fact that could not be had.

    `reason` says why; `remedy`, where there is one, is the command or setting that would change it; `off` tells a source that is
    switched off, or does not exist in this version, from one that failed or is forbidden.
    """

    reason: str
    remedy: str = ""
    off: bool = False
