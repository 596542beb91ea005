"""What a trial of engines found, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import TextIO

from rich.console import RenderableType
from rich.text import Text

from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import count, duration, object_name, printable, size
from myisam_advisor.trial.engines.result import Conversion, EngineResult, as_document
from myisam_advisor.trial.engines.settings import CACHES, MYISAM
from myisam_advisor.trial.report import MAXIMUM_WIDTH, PIPED_WIDTH

MEGABYTE = 1_000_000


def as_json(result: EngineResult) -> str:
    """The whole result as one document."""
    return json.dumps({**heading(), **as_document(result)}, indent=1)


def as_text(result: EngineResult, reader: TextIO | None = None) -> str:
    """The report for a person, for the stream `reader` (None: a file), with the last line break."""
    text = drawn(_parts(result), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH)
    return text if is_terminal(reader) else without_padding(text)


def conclusion(result: EngineResult) -> str:
    """What came of it, in a sentence for each engine."""
    return " ".join(_concluded(engine, of_engine) for engine, of_engine in _by_engine(result).items())


def _by_engine(result: EngineResult) -> dict[str, list[Conversion]]:
    found: dict[str, list[Conversion]] = {}
    for one in result.tables:
        found.setdefault(one.to, []).append(one)
    return found


def _concluded(engine: str, conversions: Sequence[Conversion]) -> str:
    failed = [one for one in conversions if one.error]
    other = [one for one in conversions if one.checksum_equal is False]
    done = len(conversions) - len(failed)
    said = f"{engine}: {done} of {len(conversions)} {'table' if len(conversions) == 1 else 'tables'} converted"
    if other:
        said += f", {len(other)} with other rows than before"
    return f"{said}."


def _parts(result: EngineResult) -> Iterable[RenderableType]:
    yield Text(printable(conclusion(result)), style="bold")
    yield Text(printable(f"Trial engine: copies of your tables converted, on {result.server} {result.version}"))
    yield Text(printable(result.machine))
    for one in result.tables:
        yield Text()
        yield from _conversion(one)
    yield Text()
    for name, why in {**result.left_out, **result.skipped}.items():
        told = why if why.startswith(name) else f"{name}: {why}"
        yield Text(printable(f"Not tried: {told.rstrip('.')}."), style="yellow")
    for line in settings_lines(result):
        yield Text(printable(line))


def _conversion(one: Conversion) -> Iterator[RenderableType]:
    yield Text(printable(f"{object_name(one.schema_name, one.table_name)} to {one.to}"), style="bold")
    yield _indented(
        f"{count(one.rows)} rows; rows {size(one.data_bytes)} ({one.row_format}), {one.indexes} indexes {size(one.index_bytes)}"
    )
    if one.error:
        number = f"error {one.error.code}: " if one.error.code else ""
        yield _indented(f"The ALTER fails: {number}{one.error.message}", "red")
        return
    yield _indented(converted_line(one))
    for warning in one.warnings:
        yield _indented(f"Warning: {warning}", "yellow")
    if one.checksum_equal is not None:
        same = "The same rows and values as before." if one.checksum_equal else "Rows or values are OTHERS than before."
        yield _indented(same, "" if one.checksum_equal else "red")


def converted_line(one: Conversion) -> str:
    """How long it took and how large it became."""
    parts = []
    if one.seconds:
        rates = " and ".join(
            f"{number / MEGABYTE / one.seconds:.1f} MB/s of {what}"
            for number, what in ((one.data_bytes, "rows"), (one.index_bytes, "indexes"))
        )
        parts.append(f"Converted in {duration(one.seconds)} ({rates})")
    if one.bytes_after is not None:
        grown = f", {one.bytes_after / one.bytes_before:.2f} times" if one.bytes_before else ""
        parts.append(f"{size(one.bytes_before)} on disk became {size(one.bytes_after)}{grown}")
    return "; ".join(parts) + "."


def settings_lines(result: EngineResult) -> list[str]:
    """What decided the speed: the memory, and what a commit is worth."""
    caches = ", ".join(
        f"{name} {_bytes_of(result.settings[name])}" for name in CACHES.values() if name in result.settings
    )
    lines = [
        f"Memory: each engine the same, {size(result.cache_bytes)} for its cache ({caches}); {MYISAM} keeps rows in the page cache besides.",
        "Durability: "
        + ", ".join(f"{name}={value}" for name, value in result.settings.items() if name not in CACHES.values())
        + ".",
    ]
    if result.watched.get("log_bin", "").upper() in ("ON", "1"):
        flushed = result.watched.get("sync_binlog", "unknown")
        lines.append(
            f"Your server writes a binary log (sync_binlog={flushed}), the private ones do not: each commit costs more there."
        )
    if result.flush_seconds is not None:
        lines.append(f"A flush to disk takes {result.flush_seconds * 1000:.2f} ms where this ran (TMPDIR).")
    return [*lines, *result.notes]


def _bytes_of(text: str) -> str:
    return size(int(text)) if text.isdecimal() else text


def _indented(text: str, style: str = "") -> Text:
    return Text(printable(f"  {text}"), style=style)
