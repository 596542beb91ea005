"""One account of memory for all remedies: key caches, mapped tables, buffers and the page cache for row data must fit together.

What memory can give is what is available now, less what the present key caches and InnoDB's buffer pool will still grow into, less the page cache that row data
keeps, less a tenth of the whole as headroom. Where row data are more than that, rows and key caches halve what is available and what the
key caches hold: so the account is the same before and after a key cache fills, and who makes it larger as told is not told so again and again. The
whole is the machine's memory or the limit of the server's control group, whichever is smaller. Where nobody tells what is available, it is the whole
less what key caches and InnoDB's buffer pool were promised. A server of 32 bits cannot address more than it can, however large the machine is.
"""

from __future__ import annotations

import re
from dataclasses import field

from myisam_exporter.collectors.key_caches import DEFAULT_BLOCK_SIZE_BYTES, OVERHEAD_BYTES_PER_BLOCK
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import real_of
from myisam_exporter.look.fact_set import FactSet

HEADROOM_RATIO = 0.1
# Row data lives in the page cache: where all of it would take more, it keeps half of what is available and of what key caches hold.
ROW_DATA_SHARE = 0.5
# No remedy alone takes more than this, however much is free: the next one may need it, and a machine does not serve key caches only.
LARGEST_SHARE = 0.25
# InnoDB's default; before MySQL 5.6 no other without a build of one's own.
INNODB_PAGE_BYTES = 16384
# Of 4 GiB the kernel keeps a part, and programs, libraries and holes between them take another: about 2.5 GiB are left for buffers and connections.
ADDRESSABLE_BYTES = 5 << 29
# version_compile_machine of servers of 32 bits: Linux and BSD, Windows, ARM.
_OF_32_BITS = re.compile(r"i[3-6]86|ia32|x86|arm(?!64)\w*", re.IGNORECASE)


@dataclass(slots=True)
class MemoryBudget:
    """The account. `room_bytes` is None while the machine's memory is not known; `granted` says who took what."""

    limit_bytes: float | None = None
    available_bytes: float | None = None
    unfilled_key_cache_bytes: float = 0.0
    unfilled_pool_bytes: float = 0.0
    promised_bytes: float = 0.0
    key_cache_bytes: float = 0.0
    row_data_bytes: float | None = None
    granted: dict[str, float] = field(default_factory=dict)

    @property
    def room_bytes(self) -> float | None:
        """What the next remedy may take; never below 0."""
        if self.limit_bytes is None:
            return None
        unfilled, available = self.unfilled_key_cache_bytes + self.unfilled_pool_bytes, self.available_bytes
        held_by_caches = max(self.key_cache_bytes - self.unfilled_key_cache_bytes, 0.0)
        if available is None:
            # What is not filled yet is among what was promised.
            unfilled, available = 0.0, max(self.limit_bytes - self.promised_bytes, 0.0)
            held_by_caches = self.key_cache_bytes
        kept = ROW_DATA_SHARE * (available + held_by_caches)
        if self.row_data_bytes is not None:
            kept = min(kept, self.row_data_bytes)
        free = available - kept - unfilled - HEADROOM_RATIO * self.limit_bytes
        return max(min(free - self.granted_bytes, self.limit_bytes * LARGEST_SHARE), 0.0)

    @property
    def left_bytes(self) -> float | None:
        """What is available after the remedies before, with nothing kept back; None while the machine's memory is not known."""
        if self.limit_bytes is None:
            return None
        available = self.available_bytes
        if available is None:
            available = self.limit_bytes - self.promised_bytes
        return max(available - self.granted_bytes, 0.0)

    @property
    def granted_bytes(self) -> float:
        """What the remedies before took."""
        return sum(self.granted.values())

    def grant(self, remedy: str, wanted_bytes: float) -> None:
        """Book what a remedy takes."""
        if wanted_bytes > 0:
            self.granted[remedy] = self.granted.get(remedy, 0.0) + wanted_bytes


def budget_of(facts: FactSet) -> MemoryBudget:
    """The account as these facts open it."""
    host, mysqld, totals = (facts.single(table) for table in ("host", "mysqld", "totals"))
    memory, group = real_of(host.get("memory_bytes")), real_of(mysqld.get("cgroup_memory_limit_bytes"))
    limits = [limit for limit in (memory, group) if limit]
    if not limits:
        return MemoryBudget()
    available = real_of(host.get("memory_available_bytes"))
    anonymous = real_of(mysqld.get("anonymous_bytes"))
    addressable = addressable_bytes(facts)
    caches = sum(_unfilled(cache) for cache in facts.tables["key_cache"].dictionaries())
    if addressable is not None:
        limits.append(ADDRESSABLE_BYTES)
    promised = max(_promised(facts), anonymous or 0.0)
    # What a process held before it came into a group stays charged elsewhere: the group leaves no more than the limit less what the server holds.
    told = real_of(mysqld.get("cgroup_memory_available_bytes"))
    held = anonymous if anonymous is not None else 0.0 if told is not None else promised
    left = [available, told if group else None, max(group - held, 0.0) if group else None, addressable]
    known = [part for part in left if part is not None]
    return MemoryBudget(
        limit_bytes=min(limits),
        available_bytes=min(known) if known else None,
        unfilled_key_cache_bytes=caches,
        unfilled_pool_bytes=_unfilled_pool(facts, anonymous, caches),
        promised_bytes=promised,
        # What 32 bits can address has no room for the page cache in it, which lies outside.
        key_cache_bytes=_key_caches(facts) if addressable is None else 0.0,
        row_data_bytes=real_of(totals.get("myisam_data_bytes")),
    )


def addressable_bytes(facts: FactSet) -> float | None:
    """What a server of 32 bits can still address beside what it was promised and what it holds; None for one of 64 bits."""
    machine = facts.tables["variable"].by_name("value").get("version_compile_machine")
    if not isinstance(machine, str) or not _OF_32_BITS.fullmatch(machine):
        return None
    held = real_of(facts.single("mysqld").get("anonymous_bytes")) or 0.0
    return max(ADDRESSABLE_BYTES - max(_promised(facts), held), 0.0)


def _promised(facts: FactSet) -> float:
    """What key caches and InnoDB's buffer pool may take, whatever they have taken so far."""
    return _key_caches(facts) + (
        real_of(facts.tables["variable"].by_name("value").get("innodb_buffer_pool_size")) or 0.0
    )


def _key_caches(facts: FactSet) -> float:
    """What key caches may take, and after a while have taken."""
    return sum(real_of(cache.get("size_bytes")) or 0.0 for cache in facts.tables["key_cache"].dictionaries())


def _unfilled_pool(facts: FactSet, anonymous: float | None, unfilled_caches: float) -> float:
    """Memory that InnoDB's buffer pool was promised and has not touched yet; 0 where its free pages are not counted.

    Pages that became free again hold their memory: where the server's own memory is known, no more is untouched than it was promised beyond that.
    """
    variables, counted = (facts.tables[table].by_name("value") for table in ("variable", "status"))
    free_pages = real_of(counted.get("Innodb_buffer_pool_pages_free"))
    pool = real_of(variables.get("innodb_buffer_pool_size"))
    if free_pages is None or pool is None:
        return 0.0
    free = min(free_pages * (real_of(variables.get("innodb_page_size")) or INNODB_PAGE_BYTES), pool)
    if anonymous is None:
        return free
    return min(free, max(_promised(facts) - unfilled_caches - anonymous, 0.0))


def _unfilled(cache: Row) -> float:
    """Memory that a key cache was promised and has not touched yet: blocks are only written when an index block comes in."""
    size, used = real_of(cache.get("size_bytes")), real_of(cache.get("blocks_used"))
    if size is None or used is None:
        return 0.0
    block = real_of(cache.get("block_size_bytes")) or DEFAULT_BLOCK_SIZE_BYTES
    return max(size - used * (block + OVERHEAD_BYTES_PER_BLOCK), 0.0)
