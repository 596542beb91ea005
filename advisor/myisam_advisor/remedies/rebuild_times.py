"""How long a statement that goes over a whole table lasts: as measured, where everything fits memory, or no figure at all."""

from __future__ import annotations

from myisam_advisor.catalogue.measured import ALTER, RebuildRates
from myisam_advisor.catalogue.measured import INTO_INNODB as RATE_INTO_INNODB
from myisam_advisor.texts.templates import duration, size

RATE_NAMES = {
    "ALTER TABLE": ALTER,
    "OPTIMIZE TABLE": "OPTIMIZE",
    "REPAIR TABLE": "REPAIR",
    "CHECK TABLE": "CHECK",
    "ANALYZE TABLE": "CHECK",
}
SHORTEST_SECONDS = 0.1
INTO_INNODB = "a time that was not measured, and that depends on the buffer pool and the disk"


def seconds_of(
    verb: str, table_bytes: float | None, available_bytes: float | None, rates: RebuildRates
) -> float | None:
    """How long it lasts, as measured; None where that does not hold: beyond memory, or of sizes that are not known."""
    rate = _bytes_per_second(verb, rates)
    if table_bytes is None or available_bytes is None or table_bytes > available_bytes or not rate:
        return None
    return max(table_bytes / rate, SHORTEST_SECONDS)


def lasts(
    verb: str, table_bytes: float | None, available_bytes: float | None, rates: RebuildRates,
    index_bytes: float | None = None, is_unsorted: bool = False,
) -> str:  # fmt: skip
    """In words, to stand behind "it takes".

    The rates hold where data and indexes fit memory and indexes are built by sorting. Beyond, the same statement was reported to take 3 days for
    4 GB, so only the least time is told, as of one that `is_unsorted`; nothing where the memory is not known. Where `index_bytes` are known, it says
    whether these fit.
    """
    if table_bytes is None:
        return "a time that depends on its size, which is not known here"
    if available_bytes is None:
        return f"a time that was not measured: whether {size(table_bytes)} fit into memory is not known here"
    if table_bytes > available_bytes:
        return _beyond_memory(verb, table_bytes, available_bytes, index_bytes, rates)
    seconds = seconds_of(verb, table_bytes, available_bytes, rates)
    if seconds is None:
        return f"as long as it takes to read and write {size(table_bytes)}"
    if is_unsorted:
        return f"a time that was not measured: its indexes are built key by key, through the key cache, as one of them cannot be sorted; at least {duration(seconds)}"
    return _as_measured(verb, seconds, table_bytes, rates)


def _as_measured(verb: str, seconds: float, table_bytes: float, rates: RebuildRates) -> str:
    """A figure, and where it is from."""
    rate = _bytes_per_second(verb, rates)
    if RATE_NAMES[verb] in rates.own:
        own = rates.own[RATE_NAMES[verb]]
        return f"about {duration(seconds)} ({size(table_bytes)} at {size(rate)}/s, {own.measured} with everything in the page cache)"
    return (
        f"about {duration(seconds)} ({size(table_bytes)} at {size(rate)}/s, "
        f"measured on {rates.measured_on} with everything in the page cache; a slow disk takes longer)"
    )


def check_and_repair_last(
    table_bytes: float | None, available_bytes: float | None, rates: RebuildRates, index_bytes: float | None, *,
    is_unsorted: bool,
) -> str:  # fmt: skip
    """Of a CHECK and the REPAIR behind it, in words: what both figures stand on is told once."""
    repair = f"REPAIR for {lasts('REPAIR TABLE', table_bytes, available_bytes, rates, index_bytes, is_unsorted)}"
    check = seconds_of("CHECK TABLE", table_bytes, available_bytes, rates)
    return f"{repair}, CHECK for less" if check is None else f"CHECK for about {duration(check)}, {repair}"


def lasts_into_innodb(
    data_bytes: float | None, index_bytes: float | None, available_bytes: float | None, cache_bytes: float | None,
    rates: RebuildRates,
) -> str:  # fmt: skip
    """Of the ALTER that converts a table, in words: a figure only where conversions were measured on this machine."""
    rate = rates.own.get(RATE_INTO_INNODB)
    if rate is None or data_bytes is None or index_bytes is None:
        return INTO_INNODB
    low, high = rate.seconds_by_bytes(data_bytes + index_bytes)
    if available_bytes is None or data_bytes + index_bytes > available_bytes:
        return f"at least {duration(low)} ({rate.measured} in memory): that all of it fits into memory is not known, or not so"
    if cache_bytes is None or index_bytes > cache_bytes:
        return f"at least {duration(low)} ({rate.measured}): its indexes may not fit into innodb_buffer_pool_size"
    return f"{duration(low)} to {duration(high)} ({rate.measured})"


def _beyond_memory(
    verb: str, table_bytes: float, available_bytes: float, index_bytes: float | None, rates: RebuildRates
) -> str:
    """The least time, and what it is that does not fit: indexes that do not are the reported case."""
    rate = _bytes_per_second(verb, rates)
    least = f"; at least {duration(max(table_bytes / rate, SHORTEST_SECONDS))}" if rate else ""
    does_not_fit = f"{size(table_bytes)} do not fit into {size(available_bytes)} of available memory"
    if index_bytes is not None and index_bytes <= available_bytes:
        return f"a time that was not measured: {does_not_fit}, though its {size(index_bytes)} of indexes do{least}"
    return f"a time that was not measured: {does_not_fit} (reported: 3 days for 4 GB with 2 GB of RAM){least}"


def _bytes_per_second(verb: str, rates: RebuildRates) -> float:
    """0 where nothing was measured."""
    name = RATE_NAMES.get(verb, "")
    own = rates.own.get(name)
    return own.bytes_per_second if own else rates.bytes_per_second.get(name, 0.0)
