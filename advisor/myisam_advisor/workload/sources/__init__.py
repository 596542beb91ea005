"""What statements are read from, one file each: NAME.py has `SOURCE`, a `LogSource` or a `LiveSource`. Nothing registers them."""

from __future__ import annotations

from pathlib import Path

from myisam_advisor.texts.units import unit_named, unit_names
from myisam_advisor.workload.sources.base import LiveSource, LogSource


def all_sources() -> list[LogSource]:
    """Each kind of log that can be read."""
    return [source for source in _sources() if isinstance(source, LogSource)]


def live_sources() -> list[LiveSource]:
    """What a running server may keep by itself."""
    return [source for source in _sources() if isinstance(source, LiveSource)]


def _sources() -> list[LogSource | LiveSource]:
    return [unit_named(__name__, name).SOURCE for name in unit_names(Path(__file__).parent)]
