"""What a recording came to, and what is in a workload, as text and as JSON documents."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TextIO

from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import count, duration, percent, printable, so_many
from myisam_advisor.workload.file_format import Header, Totals
from myisam_exporter.server.version_number import product_and_version

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from myisam_advisor.workload.summary import Kind, Summary

WIDTH = 140
# Kinds with less than this of the time have one line together: nobody changes a server for them.
SHOWN_SHARE = 0.005
# What is less is not nothing.
SHORTEST_SHOWN_SECONDS = 0.0001
_SOURCES = {
    "live": "the running server",
    "slow_log": "a slow log",
    "general_log": "a general log",
    "performance_schema": "performance_schema's history",
    "probe": "the running server, by a probe of the kernel's",
}


def source_title(source: str) -> str:
    """Where a workload is from, by the name in its header."""
    return _SOURCES.get(source, source)


def about(header: Header, totals: Totals) -> Mapping[str, Any]:
    """The keys that say where a workload is from and what it came to."""
    return {
        "source": header.source,
        "server_version": header.server_version,
        "flavour": header.flavour,
        "began_at_seconds": _seconds(header.began_at_microseconds),
        "ended_at_seconds": _seconds(totals.ended_at_microseconds),
        "resolution_seconds": header.resolution_microseconds / 1e6,
        "statements": totals.statements,
        "left_out": dict(totals.left_out),
        "truncated": totals.truncated,
        "note": {**header.note, **totals.note},
    }


def as_document(summary: Summary) -> Mapping[str, Any]:
    """A summary as a JSON document."""
    kinds = [asdict(kind) for kind in summary.kinds]
    return {
        **heading(),
        **about(summary.header, summary.totals),
        "connections": summary.connections,
        "has_more_connections": summary.has_more_connections,
        "kinds": kinds,
    }


def as_text(summary: Summary, file: str, stream: TextIO | None) -> str:
    """A summary for people."""
    return without_padding(drawn(_parts(summary, file), stream, piped_width=WIDTH, maximum_width=WIDTH))


def said(header: Header, totals: Totals) -> Iterable[str]:
    """What a workload is, a sentence a line."""
    server = product_and_version(header.flavour, header.server_version, "").strip()
    yield f"{so_many(totals.statements, 'statement')}{_lasting(header, totals)}, from {source_title(header.source)}{f' ({server})' if server else ''}."
    if header.resolution_microseconds > 1:
        yield "It knows whole seconds only: the statements of each are spread evenly over it."
    for reason, number in sorted(totals.left_out.items(), key=lambda item: -item[1]):
        yield f"Left out: {count(number)} ({reason})."
    for name, note in {**header.note, **totals.note}.items():
        yield f"{name.capitalize()}: {note}."
    if totals.truncated:
        yield "The file is truncated: this covers only what it still holds."


def _lasting(header: Header, totals: Totals) -> str:
    began, ended = header.began_at_microseconds, totals.ended_at_microseconds
    if began is None or ended is None or ended <= began:
        return ""
    moment = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(began / 1e6))
    return f" in {duration((ended - began) / 1e6)} from {moment}"


def _parts(summary: Summary, file: str) -> Iterable[RenderableType]:
    from rich.text import Text

    yield Text(printable(file), style="bold")
    for sentence in said(summary.header, summary.totals):
        yield Text(printable(sentence))
    more = "more than " if summary.has_more_connections else ""
    connections, kinds = so_many(summary.connections, "connection"), so_many(len(summary.kinds), "kind")
    yield Text(f"{more}{connections}, {kinds} of statements:")
    yield Text()
    statements = max(summary.totals.statements, 1)
    # What no time is told of may be what takes longest: many of it are shown.
    shown = [kind for kind in summary.kinds if _share_or(kind, kind.count / statements) >= SHOWN_SHARE]
    yield _table(shown)
    rest = [kind for kind in summary.kinds if _share_or(kind, kind.count / statements) < SHOWN_SHARE]
    if rest:
        together = percent(sum(_share_or(kind, 0.0) for kind in rest))
        yield Text(f"and {so_many(len(rest), 'kind')} with {together} together (--format json lists all)", style="dim")
    if any(kind.timed < kind.count for kind in shown) and any(kind.timed for kind in shown):
        yield Text("Some statements have no time: they are counted, but are in no time, mean or share.", style="dim")


def _share_or(kind: Kind, otherwise: float) -> float:
    return otherwise if kind.share is None else kind.share


def _table(kinds: Iterable[Kind]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in ("share", "count", "time", "mean", "longest", "rows"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("kind", overflow="fold", ratio=1)
    for kind in kinds:
        mean = None if kind.seconds is None else kind.seconds / kind.timed
        rows = "-" if kind.rows_sent is None else count(kind.rows_sent)
        told = Text(printable(kind.fingerprint) or "(nothing but comments)")
        if kind.example is not None:
            told.append("\n" + printable(kind.example), style="dim")
        table.add_row(
            "-" if kind.share is None else percent(kind.share),
            count(kind.count),
            *map(_time, (kind.seconds, mean, kind.longest_seconds)),
            rows,
            told,
        )
    return table


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    if 0 < seconds < SHORTEST_SHOWN_SECONDS:
        return f"<{SHORTEST_SHOWN_SECONDS * 1000:.1f} ms"
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _seconds(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6
