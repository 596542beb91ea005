"""What a remedy asks of the server, in a few words: a restart, tables that are locked and for how long, a cache that starts cold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from myisam_advisor.catalogue.measured import rebuild_rates_for
from myisam_advisor.remedies.effects import row_of, sum_of
from myisam_advisor.remedies.planners.base import PlanFacts, is_felt_unsorted
from myisam_advisor.remedies.rebuild_times import seconds_of
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import Change, Remark, Statement
from myisam_advisor.remedies.statements.closing import FlushTables, LockTables
from myisam_advisor.remedies.statements.key_caches import CacheIndex
from myisam_advisor.remedies.statements.tables import CheckPartitions, RepairPartitions
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.texts.templates import count, duration
from myisam_exporter.declaring.lean_dataclasses import dataclass

# Changing one of these flushes and empties the key cache.
OF_KEY_CACHES = ("key_buffer_size", "key_cache_")


@dataclass(frozen=True, slots=True)
class Price:
    """What it takes to carry a remedy out. `is_done_by_hand` when there is nothing to run or to set.

    `locked_seconds` is the time in which tables are locked, None where that is not known; `locked_tables` is 0 where none is.
    """

    is_done_by_hand: bool = True
    needs_restart: bool = False
    locked_tables: int = 0
    locked_seconds: float | None = 0.0
    locks_all: bool = False
    closes_tables: bool = False
    empties_key_cache: bool = False


def price_of(remedy: Remedy, known: PlanFacts) -> Price:
    """The price on the server of these facts."""
    commands = [one for one in remedy.commands if isinstance(one, Statement) and not isinstance(one, Remark)]
    set_now = {*remedy.at_once, *(command.variable for command in commands if isinstance(command, SetGlobal))}
    options = [line.option.rpartition(".")[2] for line in remedy.my_cnf if line.option]
    over_tables = [one for command in commands for one in command.of_each_table() if one.verb]
    return Price(
        is_done_by_hand=not (commands or options),
        needs_restart=any(option not in set_now for option in options),
        locked_tables=len({command.table for command in over_tables}),
        locked_seconds=_seconds(over_tables, known),
        locks_all=any(isinstance(command, LockTables) for command in commands),
        closes_tables=any(isinstance(command, FlushTables) for command in commands) and not over_tables,
        empties_key_cache=any(map(_empties_key_cache, commands))
        or any(name.startswith(OF_KEY_CACHES) for name in remedy.at_once),
    )


def _empties_key_cache(command: Statement) -> bool:
    return isinstance(command, CacheIndex) or (
        isinstance(command, SetGlobal) and command.variable.startswith(OF_KEY_CACHES)
    )


def _seconds(commands: Sequence[Statement], known: PlanFacts) -> float | None:
    """How long all of them last together."""
    if not commands:
        return 0.0
    rates = rebuild_rates_for(known.all, known.rates)
    memory = known.all.single("host").get("memory_available_bytes")
    available = memory if isinstance(memory, int | float) else None
    total = 0.0
    for command in commands:
        if command.is_done_at_once:
            continue
        row = row_of(command, known)
        seconds = seconds_of(command.verb, sum_of(row, "data_bytes", "index_bytes"), available, rates)
        of_a_part = isinstance(command, CheckPartitions | RepairPartitions)
        is_unsorted = command.rewrites and is_felt_unsorted(row, known)
        if seconds is None or of_a_part or is_unsorted or Change.INTO_INNODB in command.changes:
            return None
        total += seconds
    return total


def together(prices: Sequence[Price]) -> Price:
    """The price of several remedies that are carried out one after the other."""
    seconds = [price.locked_seconds for price in prices]
    known = [one for one in seconds if one is not None]
    return Price(
        is_done_by_hand=all(price.is_done_by_hand for price in prices),
        needs_restart=any(price.needs_restart for price in prices),
        locked_tables=sum(price.locked_tables for price in prices),
        locked_seconds=sum(known) if len(known) == len(seconds) else None,
        locks_all=any(price.locks_all for price in prices),
        closes_tables=any(price.closes_tables for price in prices),
        empties_key_cache=any(price.empties_key_cache for price in prices),
    )


def in_words(price: Price) -> str:
    """The price as a phrase, the gravest first."""
    return ", ".join(_words(price))


def _words(price: Price) -> Iterable[str]:
    if price.is_done_by_hand:
        yield "by hand"
        return
    if price.needs_restart:
        yield "restart"
    if price.locks_all:
        yield "locks all tables for a moment"
    if price.locked_tables:
        yield _lock(price.locked_tables, price.locked_seconds)
    if price.closes_tables:
        yield "closes tables once"
    if price.empties_key_cache:
        yield "key cache cold at first"
    if price == Price(is_done_by_hand=False):
        yield "online"


def _lock(tables: int, seconds: float | None) -> str:
    """Without the time where that was not measured."""
    what = "locks the table" if tables == 1 else f"locks {count(tables)} tables"
    if seconds is None:
        return what
    if not seconds:
        return f"{what} for a moment"
    return f"{what} {duration(seconds)}" if tables == 1 else f"{what}, {duration(seconds)} in all"
