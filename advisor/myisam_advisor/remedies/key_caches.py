"""What remedies about key caches share: names, steps, and how many segments."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.texts.templates import object_name
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.facts.columns import Value

STEP_BYTES = 1 << 20
MINIMUM_SEGMENTS, MAXIMUM_SEGMENTS = 8, 64


def named_cache(row: Mapping[str, Value]) -> str:
    """The key cache's name; empty for the default one, whose variables have no prefix."""
    return "" if row.get("name") in (DEFAULT_CACHE, None) else str(row["name"])


def spoken_prefix(cache: str) -> str:
    """What stands before a variable of this key cache in a sentence."""
    return f"{object_name(cache)}." if cache else ""


def recommended_segments(cores: float | None) -> int:
    """Twice the cores as a power of two, from 8 to 64; measured: 8 on 2 cores."""
    wanted = MINIMUM_SEGMENTS
    while wanted < 2 * (cores or 0) and wanted < MAXIMUM_SEGMENTS:
        wanted *= 2
    return wanted
