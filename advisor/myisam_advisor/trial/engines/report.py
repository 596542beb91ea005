"""What a trial of engines found, for a person and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.proofs.proof import STYLES, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.remedies.engine_change import INNODB
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import count, duration, figure, object_name, printable, size
from myisam_advisor.trial.engines.result import Conversion, Crash, EngineResult, KindSpeed, Recorded
from myisam_advisor.trial.engines.settings import CACHES, LOG_SIZES, MYISAM
from myisam_advisor.trial.report import MAXIMUM_WIDTH, PIPED_WIDTH, SHOWN_KIND_CHARACTERS, SPEEDS
from myisam_advisor.trial.upgrade.recorded_result import ROW_ORDER, ROW_VALUES
from myisam_advisor.trial.upgrade.result_notes import note_on

MEGABYTE = 1_000_000
FLUSHES = "innodb_flush_log_at_trx_commit"
NO_POWER_LOSS = "A killed process leaves the page cache whole: what a loss of power takes besides was not tried (innodb_flush_log_at_trx_commit=1 is for that)."


def as_json(result: EngineResult) -> str:
    """The whole result as one document."""
    return json.dumps({**heading(), **asdict(result)}, indent=1)


def as_text(result: EngineResult, reader: TextIO | None = None) -> str:
    """The report for a person, for the stream `reader` (None: a file), with the last line break."""
    text = drawn(_parts(result), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH)
    return text if is_terminal(reader) else without_padding(text)


def conclusion(result: EngineResult) -> str:
    """What came of it, in a sentence for each engine."""
    flushes = result.settings.get(FLUSHES, "unknown")
    return " ".join(_concluded(engine, of_engine, flushes) for engine, of_engine in _by_engine(result).items())


def _by_engine(result: EngineResult) -> dict[str, list[Conversion]]:
    found: dict[str, list[Conversion]] = {}
    for one in result.tables:
        found.setdefault(one.to, []).append(one)
    return found


def _concluded(engine: str, conversions: Sequence[Conversion], flushes: str) -> str:
    failed = [one for one in conversions if one.error]
    other = [one for one in conversions if one.checksum_equal is False]
    done = len(conversions) - len(failed)
    parts = [f"{done} of {len(conversions)} {'table' if len(conversions) == 1 else 'tables'} converted"]
    if other:
        parts.append(f"{len(other)} with other rows than before")
    for verdict in (WORTH_IT, WORSE):
        names = dict.fromkeys(kind.name for one in conversions for kind in one.kinds if kind.verdict == verdict)
        if names:
            parts.append(f"{SPEEDS[verdict]}: {', '.join(names)}")
    crashes = [one.crash for one in conversions if one.crash]
    if crashes:
        parts.append(_lost(crashes, flushes if engine == INNODB else ""))
    return f"{engine}: {'; '.join(parts)}."


def _lost(crashes: Sequence[Crash], flushes: str) -> str:
    """What the crashes took, of each table its own; one that lost nothing is no promise where commits are not flushed (`flushes`, InnoDB's)."""
    lost, acknowledged = sum(one.lost for one in crashes), sum(one.acknowledged for one in crashes)
    when = "killed under inserts" if len(crashes) == 1 else f"killed {len(crashes)} times under inserts"
    said = f"{when} it lost {f'{lost:,}' if lost else 'none'} of {acknowledged:,} acknowledged rows"
    if not flushes:
        return said
    if flushes == "1" or lost:
        return f"{said} ({FLUSHES}={flushes})"
    return f"{said} this time; with {FLUSHES}={flushes} those of the last second may be lost"


def _parts(result: EngineResult) -> Iterable[RenderableType]:
    yield Text(printable(conclusion(result)), style="bold")
    yield Text(printable(f"Trial engine: copies of your tables converted, on {result.server} {result.version}"))
    yield Text(printable(result.machine))
    for one in result.tables:
        yield Text()
        yield from _conversion(one)
    for recorded in result.recorded:
        yield Text()
        yield from _recorded(recorded)
    yield Text()
    for stayed in result.stayed:
        if stayed.crash:
            name = object_name(stayed.schema_name, stayed.table_name)
            said = f"{name} as it is, {MYISAM}, killed under inserts: {crash_line(stayed.crash)}"
            yield Text(printable(said), style="red" if stayed.crash.lost or stayed.crash.is_damaged else "")
    if any(stayed.crash for stayed in result.stayed):
        yield Text(NO_POWER_LOSS)
    for name, why in {**result.left_out, **result.skipped}.items():
        told = why if why.startswith(name) else f"{name}: {why}"
        yield Text(printable(f"Not tried: {told.rstrip('.')}."), style="yellow")
    for line in settings_lines(result):
        yield Text(printable(line))


def _conversion(one: Conversion) -> Iterator[RenderableType]:
    yield Text(printable(f"{object_name(one.schema_name, one.table_name)} to {one.to}"), style="bold")
    yield _indented(
        f"{count(one.rows)} rows; rows {size(one.data_bytes)} ({one.row_format}), {one.indexes} {'index' if one.indexes == 1 else 'indexes'} {size(one.index_bytes)}"
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
    if one.kinds:
        yield kinds_table(one.to, one.kinds)
        why = next((kind.note for kind in one.kinds if kind.verdict == UNCLEAR and kind.note), "")
        if why:
            yield _indented(f"Unclear ones, such as the first: {why}.", "dim")
    if one.lock_waits is not None or one.deadlocks is not None:
        yield _indented(locks_line(one))
    if one.crash:
        yield _indented(f"Killed under inserts: {crash_line(one.crash)}", "red" if one.crash.lost else "")


def converted_line(one: Conversion) -> str:
    """How long it took and how large it became."""
    parts = []
    if one.seconds:
        rates = " and ".join(
            f"{number / MEGABYTE / one.seconds:.1f} MB/s of {what}"
            for number, what in ((one.data_bytes, "rows"), *([(one.index_bytes, "indexes")] if one.indexes else []))
        )
        parts.append(f"Converted in {duration(one.seconds)} ({rates})")
    if one.bytes_after is not None:
        grown = f", {one.bytes_after / one.bytes_before:.2f} times" if one.bytes_before else ""
        parts.append(f"{size(one.bytes_before)} on disk became {size(one.bytes_after)}{grown}")
    return "; ".join(parts) + "."


def kinds_table(engine: str, kinds: Sequence[KindSpeed]) -> Table:
    """The same statements on both engines."""
    table = Table(padding=(0, 1))
    table.add_column("statements", overflow="fold")
    for title in (f"{MYISAM}/s", f"{engine}/s", "times", "interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for kind in kinds:
        times = "" if kind.times is None else f"{kind.times:.2f}"
        interval = "" if kind.low is None or kind.high is None else f"{kind.low:.2f} - {kind.high:.2f}"
        verdict = Text(SPEEDS.get(kind.verdict, kind.verdict), style=STYLES.get(kind.verdict, ""))
        rates = [figure(rate) if rate is not None else "" for rate in (kind.myisam_per_second, kind.engine_per_second)]
        table.add_row(Text(printable(kind.name[:SHOWN_KIND_CHARACTERS])), *rates, times, interval, verdict)
    return table


def _recorded(one: Recorded) -> Iterator[RenderableType]:
    """The recorded statements on one engine."""
    yield Text(f"Recorded statements on {one.to}", style="bold")
    if one.all is not None:
        yield kinds_table(one.to, [one.all, *one.kinds])
        yield _indented(one.all.note, "dim")
    yield _indented(locks_line(one))
    if one.problem:
        yield _indented(one.problem, "yellow")
    if one.answers is not None:
        yield _indented(f"Answers: of {one.answers.compared:,} kinds of SELECT {one.answers.equal:,} return the same rows in the same order.")  # fmt: skip
        for what, kinds in ((ROW_ORDER, one.answers.other_order), (ROW_VALUES, one.answers.differ)):
            for kind in kinds:
                yield _indented(f"  {_other_answer(kind, what)}", "yellow")


def _other_answer(kind: str, what: str) -> str:
    """A kind of SELECT that is answered otherwise, and what its words leave open: no engine is wrong then."""
    shown, note = kind[:SHOWN_KIND_CHARACTERS], note_on(kind, what)
    if what == ROW_VALUES and not note:
        return f"OTHER ROWS: {shown}"
    return f"other {'order' if what == ROW_ORDER else 'rows'}: {shown}{f' ({note})' if note else ''}"


def locks_line(one: Conversion | Recorded) -> str:
    """What the statements waited for."""
    what = "rows" if one.to == INNODB else "the table"
    waits = "unknown" if one.lock_waits is None else f"{one.lock_waits:,}"
    deadlocks = "unknown" if one.deadlocks is None else f"{one.deadlocks:,}"
    return f"Meanwhile: waits for locks of {what}: {waits}; deadlocks: {deadlocks}."


def crash_line(crash: Crash) -> str:
    """What was lost, and how long it was away."""
    lost = f"{crash.lost:,} of {crash.acknowledged:,} acknowledged rows are lost"
    if not crash.is_exact:
        lost += f" (at least: no unique key tells rows apart, and {crash.in_flight} were on their way)"
    how = "CHECK TABLE ... EXTENDED" if crash.extended_check_seconds and crash.is_damaged else "CHECK TABLE"
    parts = [lost, f"{how} says: {crash.check}", f"{duration(crash.recovery_seconds)} until it could be used"]
    if crash.repair_seconds:
        parts.append(f"{duration(crash.repair_seconds)} of it REPAIR TABLE")
    if crash.extended_check_seconds:
        parts.append(f"{duration(crash.extended_check_seconds)} more for the extended check of its SPATIAL index")
    return "; ".join(parts) + "."


def settings_lines(result: EngineResult) -> list[str]:
    """What decided the speed: the memory, and what a commit is worth."""
    caches = ", ".join(
        f"{name} {_bytes_of(result.settings[name])}" for name in CACHES.values() if name in result.settings
    )
    lines = [
        f"Memory: each engine the same, {size(result.cache_bytes)} for its cache ({caches}); {MYISAM} keeps rows in the page cache besides.",
        "Durability: "
        + ", ".join(
            f"{name}={_shown(name, value)}" for name, value in result.settings.items() if name not in CACHES.values()
        )
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


def _shown(name: str, value: str) -> str:
    return _bytes_of(value) if name in LOG_SIZES else value


def _bytes_of(text: str) -> str:
    return size(int(text)) if text.isdecimal() else text


def _indented(text: str, style: str = "") -> RenderableType:
    """Each of its lines, where it takes several."""
    return Padding(Text(printable(text), style=style), (0, 0, 0, 2), expand=False)
