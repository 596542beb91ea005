"""The kinds of statements that were seen, as a table for people and as values for programs. No value of a statement is in either."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.texts.templates import count, duration, percent, printable, rounded, so_many
from myisam_advisor.workload.kinds.seen import SeenKind, SeenStatements, Sums

SHOWN_KINDS = 10
# A statement that reads so many rows without an index is no small table's.
SCANNED_ROWS = 1000
UNKNOWN = "-"
HEADINGS = ("held", "waited", "per s", "rows read", "no index")
# Where nobody tells how long they waited.
TOGETHER = "held or waited"
# Of a statement with hundreds of columns the begin and the end are shown: what it reads from is behind them.
SHOWN_CHARACTERS, SHOWN_END = 240, 120
SCANS = "  scans"
LOCKS = ("lock tables ", "lock table ")
EXCLUSIVE = re.compile(r"^insert (?:high|low)_priority |\bon duplicate key update\b")
SHARES = "Shares are of the time watched, of all connections together: more than 100 % is several at once."
MISSES = "No server counts key-cache or page-cache misses by statement."


def statements_document(seen: SeenStatements) -> dict[str, object]:
    """The same for programs."""
    return {
        "source": seen.source,
        "seconds": seen.seconds,
        "kinds": [_kind_document(kind) for kind in seen.kinds],
        "others": asdict(seen.others),
        "unknown": asdict(seen.unknown),
        "tables_unknown": seen.tables_unknown or None,
        "notes": list(seen.notes),
    }


def _kind_document(kind: SeenKind) -> dict[str, object]:
    return {
        "id": kind.id,
        "fingerprint": kind.fingerprint,
        **asdict(kind.sums),
        "held_seconds": kind.held_seconds,
        "reads": list(kind.reads),
        "writes": list(kind.writes),
        "is_whole": kind.is_whole,
    }


def statements_in_words(seen: SeenStatements) -> Iterable[RenderableType]:
    """A heading, the table, what each locks, and what is not known."""
    yield Text(printable(heading(seen)), style="bold")
    if seen.kinds:
        yield Padding(kinds_table(seen), (0, 0, 0, 1))
    for sentence in remarks(seen, " (--format json lists all)"):
        yield Padding(Text(printable(sentence), style="dim"), (0, 0, 0, 1))


def heading(seen: SeenStatements) -> str:
    """How many there were, in how long, and who tells."""
    if not seen.source:
        return "Statements on MyISAM tables: not known"
    if not seen.seconds:
        return f"Statements on MyISAM tables: watched since just now, reported by {seen.source}"
    watched = f"in {duration(seen.seconds)}, reported by {seen.source}"
    if not seen.kinds:
        is_known = not seen.unknown.count and not seen.tables_unknown
        return f"Statements on MyISAM tables: {'none' if is_known else 'none known'} {watched}"
    statements = sum(kind.sums.count for kind in seen.kinds)
    return f"Statements on MyISAM tables: {count(statements)} of {so_many(len(seen.kinds), 'kind')} {watched}"


def remarks(seen: SeenStatements, more_in: str = "") -> list[str]:
    """What is not in the table, and where more of it is."""
    told = []
    shown = shown_kinds(seen)
    more = [kind for kind in seen.kinds if kind not in shown]
    if more:
        held = sum(kind.held_seconds for kind in more) / seen.seconds
        told.append(f"{so_many(len(more), 'further kind')} held locks for {percent(held)} together{more_in}.")
    if seen.tables_unknown:
        told.append(f"Not all MyISAM tables are known: {seen.tables_unknown.rstrip('.')}.")
    if seen.unknown.count or seen.unknown.seconds:
        told.append(f"{_together('Tables not known', seen.unknown, seen.seconds)}.")
    if seen.others.count or seen.others.seconds:
        told.append(f"{_together('Naming no MyISAM table', seen.others, seen.seconds)}, ours among them.")
    return [*told, *seen.notes, *([SHARES, MISSES] if seen.kinds else [])]


def _together(name: str, sums: Sums, seconds: float) -> str:
    took = f", {percent(sums.seconds / seconds)} of the time" if sums.seconds else ""
    return f"{name}: {so_many(sums.count, 'statement')}{took}"


def kinds_table(seen: SeenStatements) -> Table:
    """Those that held locks longest: share of the time, of which waited before, how often, what they read, and the kind with its tables."""
    table = Table(box=None, pad_edge=False)
    for name in headings(seen):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kind", overflow="fold", ratio=1)
    for kind in shown_kinds(seen):
        table.add_row(*cells(kind, seen.seconds), _told(kind))
    return table


def headings(seen: SeenStatements) -> tuple[str, ...]:
    """Of the numbers: the first is not called held where nobody tells how much of it was waiting."""
    tells_waits = any(kind.sums.lock_wait_seconds is not None for kind in seen.kinds)
    return HEADINGS if tells_waits or not seen.kinds else (TOGETHER, *HEADINGS[1:])


def shown_kinds(seen: SeenStatements) -> list[SeenKind]:
    """Those that held locks longest; and LOCK TABLES, whose time does not tell how long it held."""
    first = list(seen.kinds[:SHOWN_KINDS])
    return first + [kind for kind in seen.kinds[SHOWN_KINDS:] if kind.fingerprint.startswith(LOCKS)][:SHOWN_KINDS]


def shortened(fingerprint: str) -> str:
    """The begin and the end of a long one."""
    if len(fingerprint) <= SHOWN_CHARACTERS:
        return fingerprint
    return f"{fingerprint[: SHOWN_CHARACTERS - SHOWN_END]} … {fingerprint[-SHOWN_END:]}"


def cells(kind: SeenKind, seconds: float) -> tuple[str, ...]:
    """The numbers of one kind."""
    sums = kind.sums
    return (
        percent(kind.held_seconds / seconds),
        UNKNOWN if sums.lock_wait_seconds is None else percent(sums.lock_wait_seconds / seconds),
        rounded(sums.count / seconds),
        UNKNOWN if sums.rows_examined is None or not sums.count else rounded(sums.rows_examined / sums.count),
        UNKNOWN if sums.without_index is None or not sums.count else percent(sums.without_index / sums.count),
    )


def is_scan(kind: SeenKind) -> bool:
    """Whether most of its statements read many rows, and no index helps."""
    sums = kind.sums
    if not sums.count or not sums.without_index or not sums.rows_examined:
        return False
    return 2 * sums.without_index >= sums.count and sums.rows_examined / sums.count >= SCANNED_ROWS


def locks_of(kind: SeenKind) -> str:
    """What a statement of the kind does to others: manual, "Internal Locking Methods", "Concurrent Inserts" and "LOCK TABLES"."""
    if kind.fingerprint.startswith(LOCKS):
        named = ", ".join((*kind.writes, *kind.reads))
        return f"locks {named} until UNLOCK TABLES: its own time is the wait for the lock; how long it held the lock is not known"
    said = []
    if kind.writes and is_concurrent(kind):
        said.append(
            f"inserts into {', '.join(kind.writes)}: others who write wait, and who reads where the table has holes"
        )
    elif kind.writes:
        said.append(f"writes {', '.join(kind.writes)}: whoever reads or writes waits")
    if kind.reads:
        said.append(f"reads {', '.join(kind.reads)}: whoever writes waits, but for inserts at the end")
    if not kind.is_whole:
        said.append("its text was not seen whole, and may name more")
    return "; ".join(said)


def is_concurrent(kind: SeenKind) -> bool:
    """Whether it may insert at the end while others read; sql/sql_insert.cc (upgrade_lock_type) takes a plain lock for what may also change rows."""
    return kind.fingerprint.startswith("insert ") and not EXCLUSIVE.search(kind.fingerprint)


def _told(kind: SeenKind) -> Text:
    said = Text(printable(shortened(kind.fingerprint)) or "(its text is not known)")
    if is_scan(kind):
        said.append(SCANS, style="bold yellow")
    return said.append("\n").append(printable(locks_of(kind)), style="dim")
