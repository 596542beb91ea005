"""What remedies about key caches share: names, steps, and how many segments."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.texts.templates import object_name
from myisam_exporter.collectors.key_caches import (
    DEFAULT_BLOCK_SIZE_BYTES,
    DEFAULT_CACHE,
    LEAST_BLOCKS,
    OVERHEAD_BYTES_PER_BLOCK,
)
from myisam_exporter.facts.columns import Value

STEP_BYTES = 1 << 20
# What memory can spare is another number at each look: of 16 steps from a size to its double, most looks meet the same one.
STEPS_OF_DOUBLING = 16
# Bug 17332: resizing a key cache under load could crash 4.1 and 5.0.
SAFE_ONLINE_RESIZE_FROM = 50100
# Measured on 2 cores, of what 32 segments reach: 8 reach 0.88, 16 reach 0.95 of it with eight connections that join small tables (MariaDB
# 10.11); with eight that insert there is no difference between 8, 16 and 32.
MINIMUM_SEGMENTS, MAXIMUM_SEGMENTS = 16, 64
# A segment keeps its own blocks: with less than some dozens, what is hot no longer lies evenly.
MINIMUM_SEGMENT_BYTES = 64 << 10


def named_cache(row: Mapping[str, Value]) -> str:
    """The key cache's name; empty for the default one, whose variables have no prefix."""
    return "" if row.get("name") in (DEFAULT_CACHE, None) else str(row["name"])


def spared(size_bytes: float) -> int:
    """A size that memory has room for now, in steps that it still has room for at the next look: of a sixteenth to a thirty-second."""
    step = max(STEP_BYTES, (1 << max(int(size_bytes), 1).bit_length() - 1) // STEPS_OF_DOUBLING)
    return int(size_bytes) // step * step


def spoken_prefix(cache: str) -> str:
    """What stands before a variable of this key cache in a sentence."""
    return f"{object_name(cache)}." if cache else ""


def recommended_segments(
    cores: float | None, size_bytes: float | None = None, block_size_bytes: float | None = None
) -> int:
    """Twice the cores as a power of two, from 16 to 64; of a small key cache fewer, 1 at least."""
    wanted = MINIMUM_SEGMENTS
    while wanted < 2 * (cores or 0) and wanted < MAXIMUM_SEGMENTS:
        wanted *= 2
    while (
        size_bytes is not None
        and wanted > 1
        and not (
            size_bytes >= wanted * MINIMUM_SEGMENT_BYTES
            and holds_segments(wanted, size_bytes, block_size_bytes or DEFAULT_BLOCK_SIZE_BYTES)
        )
    ):
        wanted //= 2
    return wanted


def holds_segments(segments: int, size_bytes: float, block_size_bytes: float) -> bool:
    """Whether each segment of such a key cache has the eight blocks that it needs: the server makes fewer segments else (init_partitioned_key_cache)."""
    return size_bytes >= segments * LEAST_BLOCKS * (block_size_bytes + OVERHEAD_BYTES_PER_BLOCK)
