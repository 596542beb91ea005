"""The key caches.

MariaDB shows each of them in information_schema.KEY_CACHES; the rows without a segment number are the totals. MySQL shows the
default cache in SHOW STATUS and a named one's parameters to whoever knows its name; a named cache's counters are nowhere. Names are
known from the configuration and from the CACHE INDEX statements of the server's init_file; a planned cache that is not there has size 0.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.server import SERVER, location_of
from myisam_exporter.collectors.status import STATUS
from myisam_exporter.collectors.variables import VARIABLES
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, RowMaker, column_names, columns
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.foreign_files import read_small
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.sql import quote_variable, statement

# Bookkeeping per cache block on 64 bits: 134217728 bytes give 107182 blocks of 1024 (mysys/mf_keycache.c, init_key_cache).
OVERHEAD_BYTES_PER_BLOCK = 228
DEFAULT_CACHE = "default"
DEFAULT_BLOCK_SIZE_BYTES = 1024
# Sizes come in whole steps of so much (sql/sys_vars.cc: IO_SIZE), and less is 0.
SIZE_STEP_BYTES = 4096
# A cache with room for fewer is off: each page is read and written by a call of its own (init_key_cache).
LEAST_BLOCKS = 8
NO_BLOCKS = {"Key_blocks_used": 0, "Key_blocks_unused": 0, "Key_blocks_not_flushed": 0}
MARIADB_QUERY = (
    "SELECT KEY_CACHE_NAME, SEGMENTS, FULL_SIZE, BLOCK_SIZE, USED_BLOCKS, UNUSED_BLOCKS, DIRTY_BLOCKS, READ_REQUESTS, `READS`, WRITE_REQUESTS, `WRITES` "
    "FROM information_schema.KEY_CACHES WHERE SEGMENT_NUMBER IS NULL"
)
# Servers have a handful. Each has eleven series of its own, and is asked for by a statement of its own on MySQL: ten thousand that a server made up, or
# an init_file named, took eight seconds a scrape from all targets.
MAXIMUM_CACHES = 100
TOO_MANY = Unknown(
    f"the server, or its init_file, names more than {MAXIMUM_CACHES} key caches",
    "take away those that nothing is assigned to: SET GLOBAL NAME.key_buffer_size=0",
)
NO_SIZE = Unknown("the server says no size of its key caches that can be")
STATES = (
    "name", "size_bytes", "usable_bytes", "block_size_bytes", "segments", "blocks_used", "blocks_unused", "blocks_dirty",
)  # fmt: skip
COUNTERS = ("read_requests", "reads", "write_requests", "writes")
# Within one line: a search for what goes on over blank lines would begin anew at each of them.
_COMMENT = re.compile(rb"^[^\S\n]*(?:--|#)[^\n]*", re.MULTILINE)
_STATEMENT = re.compile(rb"(?:`[^`]*`|[^;`]+)+")
_CACHE_INDEX = re.compile(rb"\s*CACHE\s+INDEX\b.*\bIN\s+`?([0-9A-Za-z_$]{1,64})`?\s*", re.IGNORECASE | re.DOTALL)
MAXIMUM_INIT_FILE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class KeyCache:
    """One key cache; what this server does not tell is None."""

    name: str
    size_bytes: int
    block_size_bytes: int
    segments: int | None = None
    blocks_used: int | None = None
    blocks_unused: int | None = None
    blocks_dirty: int | None = None
    read_requests: int | None = None
    reads: int | None = None
    write_requests: int | None = None
    writes: int | None = None

    @property
    def usable_bytes(self) -> int:
        """Bytes of index pages it can hold: the bookkeeping takes 228 bytes a block."""
        return usable_bytes(self.size_bytes, self.block_size_bytes)


def usable_bytes(size_bytes: int, block_size_bytes: int) -> int:
    """What a key cache of this size can hold: nothing where it is too small to be one."""
    blocks = size_bytes // (block_size_bytes + OVERHEAD_BYTES_PER_BLOCK)
    return blocks * block_size_bytes if blocks >= LEAST_BLOCKS else 0


def default_cache(
    variables: Mapping[str, str | int | float | None], status: Mapping[str, str | int | float | None]
) -> KeyCache | None:
    """The default cache from SHOW VARIABLES and SHOW STATUS; None without a size that can be."""

    def number(values: Mapping[str, str | int | float | None], name: str) -> int | None:
        return whole_number(values.get(name))

    size = number(variables, "key_buffer_size")
    block_size = number(variables, "key_cache_block_size")
    if size is None or (block_size is None and "key_cache_block_size" in variables):
        return None
    return KeyCache(
        DEFAULT_CACHE,
        size,
        block_size or DEFAULT_BLOCK_SIZE_BYTES,
        segments=number(variables, "key_cache_segments"),
        blocks_used=number(status, "Key_blocks_used"),
        blocks_unused=number(status, "Key_blocks_unused"),
        blocks_dirty=number(status, "Key_blocks_not_flushed"),
        read_requests=number(status, "Key_read_requests"),
        reads=number(status, "Key_reads"),
        write_requests=number(status, "Key_write_requests"),
        writes=number(status, "Key_writes"),
    )


def began_anew(before: Iterable[KeyCache], after: Iterable[KeyCache]) -> bool:
    """Whether one of these caches was made anew in between, as another size, block size or number of segments does; or counts anew, as after FLUSH STATUS."""
    earlier = {cache.name: cache for cache in before}
    both = ((earlier[cache.name], cache) for cache in after if cache.name in earlier)
    return any(_made_of(old) != _made_of(new) or _counts_anew(old, new) for old, new in both)


def _made_of(cache: KeyCache) -> tuple[int | None, ...]:
    return cache.size_bytes, cache.block_size_bytes, cache.segments


def _counts_anew(before: KeyCache, after: KeyCache) -> bool:
    pairs = ((getattr(before, name), getattr(after, name)) for name in COUNTERS)
    return any(old is not None and new is not None and new < old for old, new in pairs)


KEY_CACHES: SampleKey[tuple[KeyCache, ...]] = SampleKey("key_caches", tuple)


class KeyCachesCollector(Collector[tuple[KeyCache, ...]]):
    """All key caches that this server lets us see."""

    name = KEY_CACHES.name
    source = "information_schema.KEY_CACHES (MariaDB); SHOW STATUS and @@GLOBAL.name.key_buffer_size (MySQL)"
    after = ("variables", "status", "server")
    reads = {
        "variables": frozenset({"key_buffer_size", "key_cache_block_size", "key_cache_segments", "init_file"}),
        "status": frozenset(
            {
                "Key_blocks_used",
                "Key_blocks_unused",
                "Key_blocks_not_flushed",
                "Key_read_requests",
                "Key_reads",
                "Key_write_requests",
                "Key_writes",
            }
        ),
    }
    sections = {
        "key_cache": columns(
            ("name", "text", "The cache's name; the one every table starts in is called default."),
            ("size_bytes", "integer", "key_buffer_size; 0 for a planned cache that is not there."),
            ("usable_bytes", "integer", "Index bytes it can hold, without its bookkeeping."),
            ("block_size_bytes", "integer", "key_cache_block_size."),
            ("segments", "integer", "key_cache_segments (MariaDB); 0 is one lock for the whole cache."),
            (
                "blocks_used",
                "integer",
                "The most blocks in use at once since the cache was made or resized: a high-water mark.",
            ),
            ("blocks_unused", "integer", "Blocks never used or freed again."),
            ("blocks_dirty", "integer", "Changed blocks not yet written."),
            (
                "read_requests",
                "integer",
                "Index block reads asked of the cache since it was made or resized, or since FLUSH STATUS.",
            ),
            ("reads", "integer", "Those that were read from the file."),
            ("write_requests", "integer", "Index block writes asked of the cache since then."),
            ("writes", "integer", "Those that were written to the file."),
            ("read_requests_per_second", "real", "Rate of read_requests."),
            ("reads_per_second", "real", "Rate of reads: misses per second."),
            ("write_requests_per_second", "real", "Rate of write_requests."),
            ("writes_per_second", "real", "Rate of writes."),
            (
                "miss_ratio",
                "real",
                "Over the interval: reads by read_requests; above 1 where blocks are larger than pages. Printed because people look for it; no rule decides by it.",
            ),
            source=source,
        )
    }

    def collect(self, context: Context) -> tuple[KeyCache, ...] | Unknown:
        """All caches on MariaDB; on MySQL the default one and those named in the configuration."""
        planned = dict.fromkeys((*context.key_caches, *_in_init_file(context)))
        planned.pop(DEFAULT_CACHE, None)
        if len(planned) >= MAXIMUM_CACHES:
            return TOO_MANY
        if context.session.version.flavour == "mariadb":
            return _all_of_mariadb(context, planned)
        variables = context.sample(VARIABLES)
        status = context.sample(STATUS)
        if isinstance(variables, Unknown):
            return variables
        default = default_cache(variables.values, {} if isinstance(status, Unknown) else status.values)
        if default is None:
            return NO_SIZE
        named = [_named(context, name) for name in planned]
        return tuple(cache for cache in (default, *named) if cache)

    def counted_by(self, context: Context) -> str:
        """MySQL counts in its status, and for the default cache alone."""
        return self.name if context.session.version.flavour == "mariadb" else STATUS.name

    def facts(self, pair: Pair[tuple[KeyCache, ...]]) -> Iterable[Block]:
        """One row a cache."""
        before = {cache.name: cache for cache in pair.before or ()}
        return [key_cache_block((cache, before.get(cache.name), pair) for cache in pair.after)]

    def notes(self, sample: tuple[KeyCache, ...]) -> Iterable[Unknown]:
        """MySQL hides the counters of named caches, MariaDB counts nothing where a cache is off."""
        hidden = [cache for cache in sample if cache.read_requests is None]
        if any(cache.blocks_used == 0 for cache in hidden):
            yield Unknown("MariaDB counts no reads and writes of a key cache that is off")
        elif hidden:
            yield Unknown("MySQL has no counters for named key caches", off=True)


def key_cache_block(caches: Iterable[tuple[KeyCache, KeyCache | None, Pair[tuple[KeyCache, ...]]]]) -> Block:
    """Fact rows for caches, each with itself at the start of the interval."""
    rows = []
    for cache, earlier, pair in caches:
        rates = {name: pair.rate(getattr(earlier, name, None), getattr(cache, name)) for name in COUNTERS}
        requests, misses = rates["read_requests"], rates["reads"]
        rows.append(
            {
                **{name: getattr(cache, name) for name in (*STATES, *COUNTERS)},
                **{f"{name}_per_second": rate for name, rate in rates.items()},
                "miss_ratio": misses / requests if requests and misses is not None else None,
            }
        )
    return CACHE_ROWS.block("key_cache", rows)


def _all_of_mariadb(context: Context, planned: Collection[str]) -> tuple[KeyCache, ...] | Unknown:
    """Those that are there, then those that are planned and are not."""
    rows = context.session.rows_or_unknown(MARIADB_QUERY, 11)
    if isinstance(rows, Unknown):
        return rows
    if len(rows) > MAXIMUM_CACHES:
        return TOO_MANY
    found: dict[str, KeyCache] = {}
    for row in rows:
        cache = _from_mariadb(row)
        if cache is None:
            return NO_SIZE
        found[cache.name] = cache
    if DEFAULT_CACHE not in found:
        variables = context.sample(VARIABLES)
        # One without memory has no row.
        default = None if isinstance(variables, Unknown) else default_cache(variables.values, NO_BLOCKS)
        if default:
            found[DEFAULT_CACHE] = default
    absent = sorted(set(planned) - found.keys())
    return (*found.values(), *(KeyCache(name, 0, DEFAULT_BLOCK_SIZE_BYTES) for name in absent))


def _from_mariadb(row: tuple[str | None, ...]) -> KeyCache | None:
    """A cache; None without a size that can be."""
    name, segments, size, block_size, *counters = row
    size_bytes, block_size_bytes = whole_number(size), whole_number(block_size)
    if size_bytes is None or block_size_bytes is None:
        return None
    used, unused, dirty, requests, reads, write_requests, writes = map(whole_number, counters)
    if used == unused == 0:
        # It is off, and MariaDB goes past it without counting (key_cache_read: can_be_used).
        requests = reads = write_requests = writes = None
    return KeyCache(
        name or "",
        # As it was set: KEY_CACHES has what its segments share, less than a byte each below that.
        -(-size_bytes // SIZE_STEP_BYTES) * SIZE_STEP_BYTES,
        block_size_bytes,
        whole_number(segments or "0"),
        used,
        unused,
        dirty,
        requests,
        reads,
        write_requests,
        writes,
    )


def _in_init_file(context: Context) -> list[str]:
    """The caches that the server's init_file assigns tables to; none where that file cannot be seen."""
    directory, variables = location_of(context.sample(SERVER)).data_directory, context.sample(VARIABLES)
    if isinstance(directory, Unknown) or isinstance(variables, Unknown):
        return []
    path = variables.values.get("init_file", "")
    if not path:
        return []
    try:
        text = read_small(directory / path, MAXIMUM_INIT_FILE_BYTES)
    except OSError:
        return []
    return cache_names(text)


def cache_names(sql: bytes) -> list[str]:
    """The caches that the CACHE INDEX statements of a script assign tables to; the time it takes grows with its length only."""
    assignments = map(_CACHE_INDEX.fullmatch, _STATEMENT.findall(_COMMENT.sub(b"", sql)))
    return [found[1].decode("ascii") for found in assignments if found]


def _named(context: Context, name: str) -> KeyCache | None:
    """A named cache's parameters; one that does not exist answers 0."""
    variables = (quote_variable(variable, name) for variable in ("key_buffer_size", "key_cache_block_size"))
    rows = context.session.rows_or_unknown(statement("SELECT @@GLOBAL.{}, @@GLOBAL.{}", *variables), 2)
    if isinstance(rows, Unknown) or not rows:
        return None
    size, block_size = map(whole_number, rows[0])
    return None if size is None or block_size is None else KeyCache(name, size, block_size or DEFAULT_BLOCK_SIZE_BYTES)


CACHE_ROWS = RowMaker(column_names(KeyCachesCollector.sections["key_cache"]))
COLLECTOR = KeyCachesCollector()
