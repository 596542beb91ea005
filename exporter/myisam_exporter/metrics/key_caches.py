"""Each key cache that the server lets us see."""

from __future__ import annotations

from collections.abc import Iterable

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.key_caches import KEY_CACHES, KeyCache
from myisam_exporter.metrics.base import Group, Metric, Scene, Value, bytes_of

COUNTERS = {
    "read_requests": "Index blocks asked for: Key_read_requests",
    "reads": "Index blocks that were not in the cache: Key_reads",
    "write_requests": "Changes of index blocks: Key_write_requests",
    "writes": "Index blocks written to a file: Key_writes",
}
LABELS = ("cache",)


class KeyCacheMetrics(Group[tuple[KeyCache, ...]]):
    """Size, use and traffic, by cache."""

    samples = (KEY_CACHES,)
    metrics = (
        Metric("key_cache_size_bytes", "gauge", "Memory of the key cache: key_buffer_size.", LABELS),
        Metric(
            "key_cache_usable_bytes",
            "gauge",
            "Index pages that fit into it: its size less 228 bytes of bookkeeping a block.",
            LABELS,
        ),
        Metric("key_cache_block_size_bytes", "gauge", "Size of a block: key_cache_block_size.", LABELS),
        Metric("key_cache_segments", "gauge", "Segments with a lock each: key_cache_segments (MariaDB).", LABELS),
        Metric(
            "key_cache_most_used_bytes",
            "gauge",
            "Most that was in use at once since the cache was made or resized: Key_blocks_used.",
            LABELS,
        ),
        Metric("key_cache_unused_bytes", "gauge", "Blocks never used or freed again: Key_blocks_unused.", LABELS),
        Metric("key_cache_dirty_bytes", "gauge", "Changed and not yet written: Key_blocks_not_flushed.", LABELS),
        *(
            Metric(f"key_cache_{name}_total", "counter", f"{text}; on MariaDB from KEY_CACHES.", LABELS)
            for name, text in COUNTERS.items()
        ),
    )

    def values(self, pair: Pair[tuple[KeyCache, ...]], scene: Scene) -> Iterable[Value]:
        """Every cache; what MySQL hides of named ones is left out."""
        for cache in pair.after:
            labels = (cache.name,)
            block = cache.block_size_bytes
            yield Value("key_cache_size_bytes", cache.size_bytes, labels)
            yield Value("key_cache_usable_bytes", cache.usable_bytes, labels)
            yield Value("key_cache_block_size_bytes", block, labels)
            yield Value("key_cache_segments", cache.segments, labels)
            yield Value("key_cache_most_used_bytes", bytes_of(cache.blocks_used, block), labels)
            yield Value("key_cache_unused_bytes", bytes_of(cache.blocks_unused, block), labels)
            yield Value("key_cache_dirty_bytes", bytes_of(cache.blocks_dirty, block), labels)
            for name in COUNTERS:
                yield Value(f"key_cache_{name}_total", getattr(cache, name), labels)


GROUP = KeyCacheMetrics()
