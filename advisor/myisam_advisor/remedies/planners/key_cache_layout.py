"""How to divide the key cache among hot tables.

MariaDB: key_cache_segments, one variable that helps a single hot table too; in my.cnf alone, as setting it online crashes servers (decision 001).
MySQL: one cache for each hot table, as far as memory goes, sized by its indexes or its share of the load, whichever asks for more.
Where the default cache has larger blocks, or is to have them, the new ones are given them: a cache that is made has blocks of 1 KiB, whatever key_cache_block_size says
(tried on MySQL 5.5, 5.6, 8.0 and 9.7, MariaDB 10.5, 10.11, 11.4 and 11.8).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count, islice

from myisam_advisor.remedies.key_caches import named_cache, recommended_segments, spared, spoken_prefix
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import NoRoom, NotWorth, Plan, PlanContext, Planned
from myisam_advisor.remedies.statements.key_caches import CacheIndex, LoadIndex
from myisam_advisor.remedies.statements.variables import set_global
from myisam_advisor.texts.templates import object_name, percent
from myisam_exporter.collectors.key_caches import DEFAULT_BLOCK_SIZE_BYTES, DEFAULT_CACHE, OVERHEAD_BYTES_PER_BLOCK
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import number_of
from myisam_exporter.server.sql import quote_table

MAXIMUM_CACHES = 16
BLOCK_SIZE = "key_cache_block_size"
# Fewer times as many segments are not worth a cold cache: twice as many gain 7 per cent (8 to 16, measured on 2 cores).
LEAST_TIMES = 4
GROWTH = 1.25  # an index that is being inserted into will not stay as large as it is
MINIMUM_CACHE_BYTES = 8 << 20
SIZE_STEP_BYTES = 1 << 20
CACHE_PREFIX = "hot_"
# What a cache is as large as.
BY_INDEXES = "the indexes that it is to hold and a quarter more"
BY_SHARE = "the share of the present cache that its load has"
BY_MINIMUM = f"{MINIMUM_CACHE_BYTES >> 20} MiB, the least that is given"
SEGMENTS_GOOD = "This helps one hot table as well as many, and needs no list of tables."
CACHES_COST = (
    "CACHE INDEX and LOAD INDEX flush the table's blocks. While they run its writers wait, and readers behind an UPDATE or DELETE that waits. "
    "The table starts cold in its new cache. The memory comes out of the page cache."
)
DANGER = (
    "Never set it online, though the manual calls it dynamic: MariaDB 10.11 and 11.8 crash while statements use MyISAM tables, their own temporary ones too "
    "(measured)."
)
INIT_FILE, INIT_FILE_ON_WINDOWS = "/etc/mysql/myisam-key-caches.sql", "C:/ProgramData/myisam-key-caches.sql"


@dataclass(frozen=True, slots=True)
class HotTable:
    """A table that takes part in the contention. `cache` is the key cache that it is known to be assigned to."""

    schema: str
    table: str
    partitioned: bool
    index_bytes: float
    activity: float
    cache: str | None

    @property
    def name(self) -> tuple[str, str]:
        """The table's name."""
        return self.schema, self.table


@dataclass(frozen=True, slots=True)
class Sizing:
    """How large caches become, in bytes; by what each need of a table was told; whether memory is short of what they need together."""

    sizes: Sequence[int]
    reasons: Sequence[str]
    is_short: bool


def plan(row: Mapping[str, Value], context: PlanContext) -> Planned:
    """Segments on MariaDB, caches on MySQL; silent where the layout is right already."""
    if context.is_mariadb:
        return _segments(row, context)
    return _caches(row, context)


def _segments(row: Mapping[str, Value], context: PlanContext) -> Plan | NotWorth:
    present = int(number_of(row.get("segments")) or 0)
    wanted = recommended_segments(
        context.cores, number_of(row.get("size_bytes")), number_of(row.get("block_size_bytes"))
    )
    if wanted < LEAST_TIMES * max(present, 1):
        has = (
            f"the key cache has {present} segments already"
            if present > 1
            else "the key cache is too small to be divided"
        )
        return NotWorth(has)
    cache = named_cache(row)
    return Plan(
        values={
            "advice": f"Divide the key cache into {wanted} segments, each with a lock of its own. {SEGMENTS_GOOD} Set it in my.cnf and restart. {DANGER}",
            "price": "A restart, after which the key cache is cold for a while.",
            "way_back": "",
            "former": f"{spoken_prefix(cache)}key_cache_segments = {present}",
        },
        my_cnf=(option_line("key_cache_segments", wanted, cache),),
    )


def hot_tables(context: PlanContext) -> list[HotTable]:
    """The tables that the rule counts as hot, the busiest first."""
    minimum_statements, minimum_rows, reads_as_one = (
        context.parameter("hot_write_statements_per_second"),
        context.parameter("hot_rows_per_second"),
        context.parameter("reads_as_hot_as_a_row_added"),
    )
    found = []
    for table in context.known.tables:
        statements, added, read = (
            number_of(table[name]) or 0.0
            for name in ("write_statements_per_second", "rows_added_per_second", "rows_read_per_second")
        )
        if statements >= minimum_statements or added >= minimum_rows or read >= reads_as_one * minimum_rows:
            partitioned = table["partitions"] is not None
            found.append(
                HotTable(
                    str(table["schema_name"]),
                    str(table["table_name"]),
                    partitioned,
                    # Indexes that are to be unpacked are given room as they will be.
                    context.known.planned_index_bytes.get(
                        (table["schema_name"], table["table_name"]), number_of(table["index_bytes"]) or 0.0
                    ),
                    max(added, read / reads_as_one, statements),
                    str(table["key_cache"]) if table["key_cache"] else None,
                )
            )
    return sorted(found, key=lambda hot: (-hot.activity, quote_table(*hot.name)))


def _caches(row: Mapping[str, Value], context: PlanContext) -> Planned:
    seen, contended = hot_tables(context), str(row.get("name") or DEFAULT_CACHE)
    hot = [table for table in seen if table.cache in (None, contended)]
    if not context.known.hosting.takes_set_global:
        return _no_named_caches()
    if len(hot) < context.parameter("minimum_hot_tables"):
        return (
            NotWorth("the other hot tables have key caches of their own") if len(hot) < len(seen) else _which_tables()
        )
    planned = context.known.planned_variables.get(BLOCK_SIZE)
    block_size = number_of(planned or context.variable(BLOCK_SIZE)) or DEFAULT_BLOCK_SIZE_BYTES
    present = number_of(row.get("size_bytes")) or 0.0
    # Unknown memory allows what the cache has now.
    budget = max(present, 2.0 * MINIMUM_CACHE_BYTES) if context.room_bytes is None else context.room_bytes
    if budget < 2 * MINIMUM_CACHE_BYTES:
        return NoRoom("memory has no room for further key caches")
    return _layout(hot, cache_sizes(hot, block_size, budget, present), block_size, context)


def _layout(hot: Sequence[HotTable], sizing: Sizing, block_size: float, context: PlanContext) -> Plan:
    """Caches of these sizes, the tables in turn to each, and the way back."""
    sizes = sizing.sizes
    names = _free_names(len(sizes), context)
    settings = [
        *(("key_buffer_size", size, name) for name, size in zip(names, sizes, strict=True)),
        *((BLOCK_SIZE, int(block_size), name) for name in names if block_size != DEFAULT_BLOCK_SIZE_BYTES),
    ]
    creation = tuple(set_global(*setting) for setting in settings)
    assignment = tuple(
        CacheIndex(table.name, names[place % len(names)], table.partitioned) for place, table in enumerate(hot)
    )
    loading = tuple(LoadIndex(table.name, table.partitioned) for table in _fitting(hot, sizes, block_size))
    back = (
        *(CacheIndex(table.name, table.cache or DEFAULT_CACHE, table.partitioned) for table in hot),
        *(set_global("key_buffer_size", 0, name) for name in names),
    )
    deprecated = (
        " MySQL 8.0 and later warn (1287) that named key caches are deprecated; they still work in 9.7."
        if (context.version_number or 0) >= 80000
        else ""
    )
    return Plan(
        values={
            "advice": f"{_division(len(hot), len(sizes))}: {sum(sizes) >> 20} MiB in all, {_sized(sizing, context)}. The other tables stay where they are. "
            f"{_dominated(hot, context)}A restart loses the assignment, so the init_file repeats it.{deprecated}",
            "price": CACHES_COST + _look_first(names, context),
            "way_back": " ".join(command.sql for command in back)
            if len(back) <= 4
            else f"For each table CACHE INDEX ... IN {_former_cache(hot)}; then SET GLOBAL {CACHE_PREFIX}N.key_buffer_size = 0; for each of {names[0]} to {names[-1]}.",
        },
        commands=(*creation, *assignment, *loading),
        undo_commands=back,
        my_cnf=(
            *(option_line(*setting) for setting in settings),
            option_line("init_file", INIT_FILE if context.known.hosting.on_linux else INIT_FILE_ON_WINDOWS),
        ),
        init_file=(*assignment, *loading),
        memory_bytes=sum(sizes),
        index_bytes={(table.schema, table.table): 0.0 for table in hot},
    )


def _fitting(hot: Sequence[HotTable], sizes: Sequence[int], block_size: float) -> list[HotTable]:
    """The tables of the caches that hold all blocks of their indexes: those alone are worth loading beforehand."""
    return [
        table
        for group, size in zip(_groups(hot, len(sizes)), sizes, strict=True)
        if _index_bytes(group) <= size / (1 + OVERHEAD_BYTES_PER_BLOCK / block_size)
        for table in group
    ]


def _groups(hot: Sequence[HotTable], count: int) -> list[Sequence[HotTable]]:
    """The tables of each cache: the busiest have one each, and further ones join them in turn, so that every lock has its share."""
    return [hot[place::count] for place in range(count)]


def _former_cache(hot: Sequence[HotTable]) -> str:
    """The key cache that the tables leave, in words."""
    caches = {table.cache or DEFAULT_CACHE for table in hot}
    return object_name(*caches) if len(caches) == 1 else "the key cache that it had"


def _index_bytes(tables: Iterable[HotTable]) -> float:
    return sum(table.index_bytes for table in tables)


def _known_caches(context: PlanContext) -> Mapping[str, Value]:
    """The named key caches that are known, with their sizes: 0 for one that something plans."""
    sizes = context.facts.tables["key_cache"].by_name("size_bytes")
    return {name: size for name, size in sizes.items() if name != DEFAULT_CACHE}


def _assigned_caches(context: PlanContext) -> Collection[str]:
    """The key caches that tables are known to be assigned to."""
    return {str(cache) for cache in context.facts.tables["tables"].values("key_cache") if cache} - {DEFAULT_CACHE}


def _free_names(wanted: int, context: PlanContext) -> list[str]:
    """So many names that no key cache has which is known."""
    taken = {*_known_caches(context), *_assigned_caches(context)}
    numbered = (f"{CACHE_PREFIX}{number}" for number in count(1))
    return list(islice((name for name in numbered if name not in taken), wanted))


def _look_first(names: Sequence[str], context: PlanContext) -> str:
    """What to look at where the server may have key caches or assignments that cannot be seen: MySQL lists neither."""
    present = sorted(name for name, size in _known_caches(context).items() if size)
    counted = context.number("server", "initialised_key_caches")
    said = ""
    if present and not _assigned_caches(context):
        said += (
            f" The server has named key caches already ({', '.join(map(object_name, present))}), and does not say which tables are assigned to them: leave out what the "
            "init_file or a script assigns, as the way back puts each table into the default cache."
        )
    if counted is None or counted > 1 + len(present):
        said += (
            f" The new key caches are named {names[0]} to {names[-1]}: where the server has one of that name already, it is resized, and the way back removes it. "
            f"Look first: SELECT @@GLOBAL.{names[0]}.key_buffer_size; says 0 for a name that is free."
        )
    return said


def _dominated(hot: Sequence[HotTable], context: PlanContext) -> str:
    """That caches gain little where nearly all of the activity is one table's, whose threads go on meeting in one cache."""
    whole = sum(table.activity for table in hot)
    share = hot[0].activity / whole if whole else 0.0
    if share < context.parameter("dominant_share"):
        return ""
    name = object_name(hot[0].schema, hot[0].table)
    return f"{name} has {percent(share)} of the activity: its threads still share one cache, so expect little. "


def _which_tables() -> Plan:
    """The contention shows, but not whose it is: the advice is how to find out."""
    return Plan(
        values={
            "advice": "Give the busiest tables key caches of their own (SET GLOBAL name.key_buffer_size, CACHE INDEX t IN name). It is not known here which tables these are: "
            "run myisam-advisor check beside the server, where it can read the .MYI files.",
            "price": "A table starts cold in its new cache.",
            "way_back": "Send each table back to its former key cache (CACHE INDEX ... IN default).",
        }
    )


def _no_named_caches() -> Plan:
    """What would help is not to be had on Amazon's servers."""
    return Plan(
        values={
            "advice": "Key caches of their own for the busiest tables would divide the load. Amazon RDS has none: SET GLOBAL makes them, which it refuses. What is left is to move "
            "the busiest tables to another engine, which does not use the key cache.",
            "price": "An ALTER copies the whole table.",
            "way_back": "Move the tables back: ALTER TABLE ... ENGINE=MyISAM.",
        }
    )


def _division(tables: int, caches: int) -> str:
    if tables <= caches:
        return f"Give each of the {tables} busiest tables a key cache of its own"
    return f"Divide the {tables} busiest tables among {caches} key caches of their own"


def _sized(sizing: Sizing, context: PlanContext) -> str:
    """What decided how large the caches are."""
    if not sizing.is_short:
        return f"each as large as {', or as '.join(dict.fromkeys(sizing.reasons))}"
    if context.room_bytes is None:
        return "kept small because it is not known how much memory this machine has"
    return "which is what memory has room for, and less than they ask for"


def cache_sizes(hot: list[HotTable], block_size: float, budget: float, shared_bytes: float) -> Sizing:
    """A cache for each table: as large as its indexes with bookkeeping and growth, and no less than its share of the cache it leaves.

    Where the budget is short they are scaled by need and activity. Fewer caches than tables come back where there are more tables than
    caches may be, or when the budget does not even hold the smallest cache for each; then tables share them (see `_groups`).
    """
    count = max(min(len(hot), MAXIMUM_CACHES, int(budget // MINIMUM_CACHE_BYTES)), 1)
    loads = [sum(max(table.activity, 1.0) for table in group) for group in _groups(hot, count)]
    shares = [shared_bytes * load / sum(loads) for load in loads]
    indexes = [
        _index_bytes(group) * (1 + OVERHEAD_BYTES_PER_BLOCK / block_size) * GROWTH for group in _groups(hot, count)
    ]
    asked = [
        max((index, BY_INDEXES), (min(share, budget / count), BY_SHARE), (float(MINIMUM_CACHE_BYTES), BY_MINIMUM))
        for index, share in zip(indexes, shares, strict=True)
    ]
    needs, reasons = [need for need, _ in asked], [why for _, why in asked]
    if sum(needs) <= budget:
        is_cut = any(why == BY_SHARE and need < share for (need, why), share in zip(asked, shares, strict=True))
        return Sizing([_round_up(need) for need in needs], reasons, is_cut)
    spare = max(budget - MINIMUM_CACHE_BYTES * count, 0.0)
    weights = [need * load for need, load in zip(needs, loads, strict=True)]
    scaled = [
        min(need, MINIMUM_CACHE_BYTES + spare * weight / sum(weights))
        for need, weight in zip(needs, weights, strict=True)
    ]
    rounded = [max(spared(size), SIZE_STEP_BYTES) for size in scaled]
    return Sizing(rounded, reasons, is_short=True)


def _round_up(size: float) -> int:
    return -(-int(size) // SIZE_STEP_BYTES) * SIZE_STEP_BYTES
