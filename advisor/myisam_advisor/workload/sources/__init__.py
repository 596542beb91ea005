"""The logs that statements are read from, one file each: NAME.py has `SOURCE`, a `LogSource`. Nothing registers them."""

from __future__ import annotations

import importlib
from pathlib import Path

from myisam_advisor.texts.units import unit_names
from myisam_advisor.workload.sources.base import LogSource


def all_sources() -> list[LogSource]:
    """Each kind of log that can be read."""
    return [
        importlib.import_module(f"{__name__}.{name.replace('-', '_')}").SOURCE
        for name in unit_names(Path(__file__).parent)
    ]
