"""How long a statement that goes over a whole table lasts: as measured, where everything fits memory, or no figure at all."""

from __future__ import annotations

from myisam_advisor.catalogue.measured import RebuildRates
from myisam_advisor.texts.templates import duration, size

RATE_NAMES = {
    "ALTER TABLE": "ALTER",
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
    rate = rates.bytes_per_second.get(RATE_NAMES.get(verb, ""))
    if table_bytes is None or available_bytes is None or table_bytes > available_bytes or not rate:
        return None
    return max(table_bytes / rate, SHORTEST_SECONDS)


def lasts(verb: str, table_bytes: float | None, available_bytes: float | None, rates: RebuildRates) -> str:
    """In words, to stand behind "it takes".

    The rates hold where data and indexes fit memory. Beyond, the same statement was reported to take 3 days for 4 GB, so no figure is given;
    nor where the memory is not known.
    """
    if table_bytes is None:
        return "a time that depends on its size, which is not known here"
    if available_bytes is None:
        return f"a time that was not measured: whether {size(table_bytes)} fit into memory is not known here"
    if table_bytes > available_bytes:
        return (
            f"a time that was not measured: {size(table_bytes)} do not fit into {size(available_bytes)} of available memory "
            "(reported: 3 days for 4 GB with 2 GB of RAM)"
        )
    seconds = seconds_of(verb, table_bytes, available_bytes, rates)
    if seconds is None:
        return f"as long as it takes to read and write {size(table_bytes)}"
    rate = rates.bytes_per_second[RATE_NAMES[verb]]
    return (
        f"about {duration(seconds)} ({size(table_bytes)} at {size(rate)}/s, "
        f"measured on {rates.measured_on} with everything in the page cache; a slow disk takes longer)"
    )
