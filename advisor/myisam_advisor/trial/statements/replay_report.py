"""What a replay found, for a person, as JSON, and as a picture. Of statements only their kinds are shown, never a value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.proofs.proof import STYLES, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.proofs.recordings import DIFFERING_SHARE
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.lists import listed
from myisam_advisor.texts.templates import figure, percent, printable, size, so_many
from myisam_advisor.trial import chart
from myisam_advisor.trial.comparison import Comparison
from myisam_advisor.trial.report import MAXIMUM_WIDTH, PIPED_WIDTH, SHOWN_KIND_CHARACTERS, course_line
from myisam_advisor.trial.statements.replay_result import (
    Fidelity,
    KindResult,
    Latency,
    Measured,
    ReplayResult,
    VariantResult,
    Window,
)
from myisam_advisor.trial.statements.sender import BUSY_SENDER_SHARE, MAXIMUM_SPEED
from myisam_advisor.trial.statements.tally import TAKEN
from myisam_advisor.trial.statements.variants import BASELINE
from myisam_advisor.workload.document import source_title

# What is within this of the recording's length was sent at its moments.
PACE_TOLERANCE = 0.02
MOST_REASONS, MOST_ABSENT, MOST_TABLES = 8, 20, 20


def as_json(result: ReplayResult, further: Mapping[str, object]) -> str:
    """The whole result as one document, and what else there is to say."""
    return json.dumps({**heading(), **asdict(result), **further}, indent=1)


def draw(result: ReplayResult, path: Path) -> None:
    """Draw the whole, and below it each kind, into the file."""
    bars = [
        (f"all statements: {one.name}", Comparison(one.name, one.times, one.low, one.high, one.verdict))
        for one in result.variants
        if one.times is not None
    ]
    bars += [
        (f"{kind.fingerprint[:40]}: {one.name}", Comparison(one.name, one.times, one.low, one.high, one.verdict))
        for kind in result.kinds
        for one in kind.variants
    ]
    title = f"Replay of {result.workload.get('statements', '?')} statements\n{result.server} {result.version}, {result.machine}"
    chart.draw_bars(bars, BASELINE, title, path)


def as_text(result: ReplayResult, reader: TextIO | None = None) -> str:
    """The report for a person, for the stream `reader` (None: a file), with the last line break."""
    text = drawn(_parts(result), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH)
    return text if is_terminal(reader) else without_padding(text)


def _indented(line: str) -> RenderableType:
    """A line of the report; what goes on of it stands as far in as it begins."""
    words = line.lstrip()
    text = Text(printable(words))
    return Padding(text, (0, 0, 0, len(line) - len(words))) if len(words) < len(line) else text


def conclusion(result: ReplayResult) -> str:
    """What to do, in a sentence; and what makes it doubtful, in another."""
    return f"{_advice(result)}{_doubt(result.fidelity)}"


def _doubt(fidelity: Fidelity) -> str:
    if fidelity.differing_share > DIFFERING_SHARE:
        return f" But {percent(fidelity.differing_share)} was not answered as recorded: another load than yours was measured, see below."
    if not fidelity.window.proves:
        return " But statements of weight were not sent: it says nothing of the whole recording, see below."
    return ""


def _advice(result: ReplayResult) -> str:
    tried = [one for one in result.variants if one.times is not None]
    paying = [one for one in tried if one.verdict == WORTH_IT]
    worse = {one.name for kind in result.kinds for one in kind.variants if one.verdict == WORSE}
    if not tried:
        return "Nothing could be tried: see below what the server says."
    if paying:
        best = max(paying, key=lambda one: one.times or 0)
        but = " But some kinds of statements become slower by it." if best.name in worse else ""
        return f"Worth it on your own statements: {best.name}, {_times(best)}.{but}"
    hurting = [one for one in tried if one.verdict == WORSE]
    if hurting:
        return f"Nothing pays. It becomes slower by {', '.join(f'{one.name} ({_times(one)})' for one in hurting)}."
    open_ones = [one.name for one in tried if one.verdict == UNCLEAR]
    if open_ones:
        return f"It is not clear whether it pays: {', '.join(open_ones)}. Give it more time (--budget), or a quieter machine."
    return "Nothing of it makes a difference on these statements."


def _parts(result: ReplayResult) -> Iterable[RenderableType]:
    yield Text(printable(conclusion(result)), style="bold")
    yield Text(printable(f"Replay of {_workload(result)}"))
    yield Text(printable(_recorded(result.workload)))
    yield Text(
        printable(f"{result.server} {result.version}, {result.machine}; tables: {listed(result.tables, MOST_TABLES)}")
    )
    yield Text()
    yield _variants_table(result)
    if result.course:
        yield Text(printable(f"  {course_line(result.course)}"), style="dim")
    for line in _change_lines(result.variants):
        yield _indented(line)
    for one in result.variants:
        if one.problem:
            yield Text(printable(f"Not tried: {one.name}: {one.problem}"), style="yellow")
    for number, kind in enumerate(result.kinds, 1):
        yield Text()
        yield from _kind(number, kind)
    yield Text()
    for line in fidelity_lines(result.fidelity, result.speed):
        yield _indented(line)


def _workload(result: ReplayResult) -> str:
    told = result.workload
    pace = "as fast as it goes" if result.speed == MAXIMUM_SPEED else "at the recorded moments"
    statements, connections, seconds = (_figure(told, name) for name in ("statements", "connections", "seconds"))
    said = f"{statements} statements of {connections} connections in {seconds} s, {pace}"
    window = result.fidelity.window
    if not window.is_whole:
        said = f"the first {figure(window.seconds)} s ({percent(window.time_share)} of the {_unit(window)}) of {said}"
    return f"{said}; {told['truncated']}" if "truncated" in told else said


def _figure(told: Mapping[str, str], name: str) -> str:
    return figure(float(told[name])) if name in told else "?"


def _recorded(told: Mapping[str, str]) -> str:
    """Where the statements are from, and since when they are so."""
    server = told.get("server", "")
    began = told.get("began_at", "").replace("T", " ").replace("Z", " UTC")
    missed, notes = told.get("not_recorded"), told.get("notes")
    return (
        f"Recorded from {source_title(told.get('source', '')) or 'an unknown source'}{f' ({server})' if server else ''}{f', begun {began}' if began else ''}."
        + (f" Not in the recording, and nothing is said of them: {missed}." if missed else "")
        + (f" Known of it: {notes}." if notes else "")
    )


def _variants_table(result: ReplayResult) -> Table:
    is_fast = result.speed == MAXIMUM_SPEED
    table = Table(title=Text("all statements"), title_justify="left", title_style="bold", padding=(0, 1))
    table.add_column("variant", overflow="fold", ratio=1)
    for title in ("statements/s" if is_fast else "ms: half", "95 %", "99 %", "times", "interval"):
        if not is_fast or title not in ("95 %", "99 %"):
            table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)

    def figures(of: Measured | None) -> Sequence[str]:
        if of is None:
            return [""] * (1 if is_fast else 3)
        return [figure(of.statements_per_second)] if is_fast else _latency(of.latency_milliseconds)

    table.add_row(BASELINE, *figures(result.baseline), "1", "", "baseline")
    for one in result.variants:
        if one.times is not None:
            name, verdict = Text(printable(one.name)), Text(one.verdict, style=STYLES[one.verdict])
            table.add_row(name, *figures(one.measured), f"{one.times:.2f}", _interval(one.low, one.high), verdict)
    return table


def _change_lines(variants: Sequence[VariantResult]) -> Iterable[str]:
    """What each variant changes, where its name is another; what a replay does not show, and how a rule's change gets to the server itself."""
    for one in variants:
        if one.statements and one.statements != (one.name,):
            yield f"  {one.name} is: {'; '.join(one.statements)}"
    measured = [one for one in variants if one.times is not None]
    if measured:
        yield "Tried on copies in memory, with indexes loaded before each run: reads of a disk, and the time until a larger key cache is full, are not in it."
    if any(one.rules for one in measured):
        yield "The server itself is as it was. How a change is made there, and undone: myisam-advisor plan."


def _latency(of: Latency) -> list[str]:
    return [f"{value:.3f}" for value in (of.median, of.of_95_percent, of.of_99_percent)]


def _kind(number: int, kind: KindResult) -> Iterable[RenderableType]:
    shown = kind.fingerprint[:SHOWN_KIND_CHARACTERS] + ("..." if len(kind.fingerprint) > SHOWN_KIND_CHARACTERS else "")
    yield Text.assemble((f"{number}. ", "bold"), printable(shown))
    yield Text(
        f"   {percent(kind.share)} of the time: {so_many(kind.statements, 'statement')}, {kind.milliseconds:.3f} ms each",
        style="dim",
    )
    grid = Table.grid(padding=(0, 2))
    grid.add_column(overflow="fold", ratio=1)
    for _ in range(3):
        grid.add_column(no_wrap=True)
    for one in kind.variants:
        verdict = Text(one.verdict, style=STYLES[one.verdict])
        grid.add_row(Text(printable(f"   {one.name}")), f"{one.times:.2f} times", _interval(one.low, one.high), verdict)
    yield grid


def fidelity_lines(fidelity: Fidelity, speed: str) -> list[str]:
    """How much like the recording it was, in sentences."""
    lines = _window_lines(fidelity.window)
    lines.append(f"Sent: {fidelity.sent:,} of {so_many(fidelity.statements, 'statement')}{' of it' if lines else ''}.")
    for reason, count in list(fidelity.left_out.items())[:MOST_REASONS]:
        lines.append(f"  left out: {count:,} ({reason})")
    lines += _left_out_lines(fidelity.window)
    known = fidelity.rows_equal + fidelity.rows_differ
    if known:
        lines.append(
            f"Rows as recorded: {percent(fidelity.rows_equal / known)} of {so_many(known, 'statement')}"
            + (f"; of {fidelity.rows_unknown:,} the recording has no row counts." if fidelity.rows_unknown else ".")
        )
    else:
        lines.append("The recording has no row counts: whether results are the same is not known.")
    for one in fidelity.differences:
        what = f"error {one.error}" if one.error else f"{one.rows_returned} rows, not {one.rows_recorded}"
        how = "other than recorded"
        if one.error == TAKEN:
            how, what = "failed there", "not here"
        elif one.error and not fidelity.errors_recorded:
            how = "failed here; the recording does not show whether it failed there too"
        lines.append(f"  {how}: {one.statements:,} x {one.fingerprint[:SHOWN_KIND_CHARACTERS]} ({what})")
    lines += _start_lines(fidelity)
    if fidelity.unconnected:
        lines.append(
            f"{fidelity.unconnected:,} statements were not sent: the private server refused their connections."
        )
    if fidelity.lost_turns:
        lines.append(
            f"Writes that were sent before their turn, which did not come: {fidelity.lost_turns} in a run, which stood still for up to 10 s meanwhile."
        )
    if fidelity.crowded_connections:
        lines.append(
            f"{fidelity.crowded_connections:,} connections more than this machine sends from at once shared threads."
        )
    if speed != MAXIMUM_SPEED and fidelity.recorded_seconds:
        what = "The recording" if fidelity.window.is_whole else "This part of the recording"
        lines.append(
            f"{what} took {fidelity.recorded_seconds:.1f} s, the replay {fidelity.replayed_seconds:.1f} s{_pace(fidelity)}."
        )
    lines.append(_sender_line(fidelity.sender_cpu_share))
    return [*lines, *fidelity.notes]


def _window_lines(window: Window) -> list[str]:
    """Which part of the recording it is, and what of the recording is not in it; nothing for the whole."""
    if window.is_whole:
        return []
    lines = [
        f"Replayed is the beginning, {figure(window.seconds)} of {figure(window.recorded_seconds)} s: {window.statements:,} of "
        f"{window.recorded_statements:,} recorded statements, {percent(window.time_share)} of {'their time' if window.tells_times else 'the statements'}. "
        "More would let too few rounds into the budget (--budget)."
    ]
    recorded, its = ("recorded time", "time") if window.tells_times else ("recorded statements", "statements")
    for one in window.absent[:MOST_ABSENT]:
        lines.append(f"  not in it: {percent(one.recorded_share)} of the {recorded}: {_shown(one.fingerprint)}")
    if len(window.absent) > MOST_ABSENT:
        lines.append(f"  not in it: {len(window.absent) - MOST_ABSENT:,} more kinds (--format json names them)")
    for one in window.shifted:
        lines.append(
            f"  {percent(one.window_share)} of its {its}, {percent(one.recorded_share)} of the whole recording's: {_shown(one.fingerprint)}"
        )
    if not window.tells_times:
        lines.append("The recording has no times: how much the rest of it weighs is not known.")
    if not window.proves and not window.left_out:
        lines.append(
            "What it says holds for these statements alone, and is kept as no proof. Give it more time (--budget)."
        )
    return lines


def _left_out_lines(window: Window) -> list[str]:
    """What of weight could not be sent; nothing where all of it was."""
    if not window.left_out:
        return []
    recorded = "recorded time" if window.tells_times else "recorded statements"
    lines = [
        f"  of weight among them: {percent(one.recorded_share)} of the {recorded}: {_shown(one.fingerprint)}"
        for one in window.left_out[:MOST_ABSENT]
    ]
    if len(window.left_out) > MOST_ABSENT:
        lines.append(
            f"  of weight among them: {len(window.left_out) - MOST_ABSENT:,} more kinds (--format json names them)"
        )
    return [*lines, "What it says holds for the statements that were sent, and is kept as no proof."]


def _unit(window: Window) -> str:
    """What shares of a recording are of."""
    return "statements' time" if window.tells_times else "statements"


def _shown(fingerprint: str) -> str:
    return fingerprint[:SHOWN_KIND_CHARACTERS]


def _sender_line(share: float) -> str:
    said = f"The sender took {percent(share)} of the CPU time that it and the server took"
    if share <= BUSY_SENDER_SHARE:
        return f"{said}: it is not the bottleneck."
    return f"{said}: it is a bottleneck, and hides a part of the differences."


def _pace(fidelity: Fidelity) -> str:
    off = abs(fidelity.replayed_seconds / fidelity.recorded_seconds - 1)
    return "" if off <= PACE_TOLERANCE else ": this machine does not keep up with the recording"


def _start_lines(fidelity: Fidelity) -> list[str]:
    changed = [one for one in fidelity.tables if one.changed_since_seconds is not None]
    copied = size(sum(one.bytes for one in fidelity.tables))
    if not changed:
        return [f"Start: as when the recording began, all tables ({copied})."]
    same = len(fidelity.tables) - len(changed)
    lines = [f"Start: as when the recording began: {same} of {len(fidelity.tables)} tables ({copied})."]
    for one in changed[:MOST_TABLES]:
        lines.append(
            f"  {one.table}: written until {one.changed_since_seconds:,.0f} s after that; the recording has {one.recorded_writes:,} of its writes."
        )
    if len(changed) > MOST_TABLES:
        lines.append(f"  {len(changed) - MOST_TABLES:,} more tables were written (--format json names them)")
    return lines


def _interval(low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{low:.2f} - {high:.2f}"


def _times(one: VariantResult) -> str:
    between = f" ({one.low:.2f} to {one.high:.2f})" if one.low is not None and one.high is not None else ""
    return f"{one.times:.2f} times as fast{between}"
