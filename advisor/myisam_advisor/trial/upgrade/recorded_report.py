"""What the recorded statements came to under both versions, for a person. Of statements only their kinds are shown, never a value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.proofs.proof import STYLES
from myisam_advisor.texts.templates import percent, printable, sentence, so_many
from myisam_advisor.trial.report import SHOWN_KIND_CHARACTERS, SPEEDS, course_line
from myisam_advisor.trial.statements.replay_result import KindVariant
from myisam_advisor.trial.upgrade.recorded_result import ROW_COUNT, ROW_ORDER, OtherResult, RecordedUpgrade, RefusedKind

MOST_REASONS = 8
MODE = "sql_mode"


def headline(found: RecordedUpgrade, newer: str) -> str:
    """What came of it, in a sentence."""
    parts = []
    if found.only_newer:
        otherwise = " or refuses otherwise" if any(one.other_code for one in found.only_newer) else ""
        parts.append(f"{newer} refuses {_distinct(found.only_newer)} that the present version takes{otherwise}")
    if found.only_present:
        parts.append(f"it takes {_distinct(found.only_present)} that the present version refuses")
    if found.others:
        parts.append(f"{_kinds(len(found.others))} {'has' if len(found.others) == 1 else 'have'} other results")
    said = "; ".join(parts) or f"{newer} takes them as the present version does, with the same results"
    return f"Recorded statements: {said}."


def recorded_parts(found: RecordedUpgrade, present: str, newer: str) -> Iterator[RenderableType]:
    """All of it, what is refused first."""
    yield _title("Recorded statements")
    yield _line(_sent(found))
    for reason, number in list(found.left_out.items())[:MOST_REASONS]:
        yield _line(f"  left out: {number:,} ({reason})", "dim")
    yield from _differences(found, present, newer)
    yield _line(f"Rows of {_kinds(found.selects_compared)} of SELECT were compared, one of each: {found.selects_equal:,} are the same, in the same order.")  # fmt: skip
    yield from _speeds(found, newer)
    yield from _settings(found, newer)
    for note in found.notes:
        yield _line(note)


def _differences(found: RecordedUpgrade, present: str, newer: str) -> Iterator[RenderableType]:
    if found.only_newer:
        yield _title(f"Refused by {newer}, and not so by {present}:")
        for refused in found.only_newer:
            yield from _refused(refused, found, present)
    if found.only_present:
        yield _title(f"Refused by {present} alone:")
        for refused in found.only_present:
            yield from _refused(refused, found, newer)
    if found.others:
        yield _title("Taken by both, with other results:")
        for other in found.others:
            yield from _other(other)


def _settings(found: RecordedUpgrade, newer: str) -> Iterator[RenderableType]:
    for setting in found.settings:
        if setting.present != setting.newer:
            why = "set on your server, as far as the newer version takes it" if setting.is_carried else "its default"
            yield _line(
                f"{setting.name}: {setting.present or '(empty)'}; under {newer} {setting.newer or '(empty)'}, {why}."
            )


def _distinct(refused: Sequence[RefusedKind]) -> str:
    return _kinds(len({one.fingerprint for one in refused}))


def _kinds(number: int) -> str:
    return so_many(number, "kind")


def _sent(found: RecordedUpgrade) -> str:
    parts = [f"{found.sent:,} of {found.statements:,} statements were answered by both"]
    if found.refused_by_both:
        parts.append(
            f"{found.refused_by_both:,} refused by both with the same error, such as an INSERT of a row that is there already"
        )
    if found.unsteady:
        parts.append(
            f"{found.unsteady:,} left aside, as the present version answers them otherwise from one time to the next"
        )
    if found.not_reached:
        parts.append(f"{found.not_reached:,} not reached (--budget)")
    return f"{'; '.join(parts)}."


def _refused(one: RefusedKind, found: RecordedUpgrade, other: str) -> Iterator[RenderableType]:
    yield _line(f"  {one.statements:,} x {_shown(one.fingerprint)}", "red")
    words = f": {one.words}" if one.words else ""
    yield _line(f"    error {one.code}{words}")
    if one.other_code:
        yield _line(f"    {other} ends it with error {one.other_code}.", "dim")
    if one.taken_under_present_mode:
        mode = next((setting.present for setting in found.settings if setting.name == MODE), "")
        yield _line(f"    Under the {MODE} of now it is taken ({MODE}={mode}).", "cyan")


def _other(one: OtherResult) -> Iterator[RenderableType]:
    what = f"another {one.what}" if one.what == ROW_ORDER else f"other {one.what}"
    if one.what == ROW_COUNT:
        what = f"{one.statements:,} of {one.compared:,} with another {one.what}, such as {one.newer_rows} and not {one.present_rows}"
    note = f" ({one.note})" if one.note else ""
    yield _line(f"  {_shown(one.fingerprint)}", "yellow")
    yield _line(f"    {what}{note}.")


def _speeds(found: RecordedUpgrade, newer: str) -> Iterator[RenderableType]:
    timed: list[tuple[str, KindVariant]] = [("all statements", found.all)] if found.all else []
    timed += [(f"{percent(kind.share)}: {kind.fingerprint}", one) for kind in found.kinds for one in kind.variants]
    if timed:
        yield _title(f"{newer} against the present version, above 1 is faster:")
        yield _table(timed)
    if found.speed_problem:
        yield _line(sentence(found.speed_problem), "yellow")
    if found.course and timed:
        yield _line(f"  {course_line(found.course)}", "dim")


def _table(timed: Sequence[tuple[str, KindVariant]]) -> Table:
    table = Table(padding=(0, 1))
    table.add_column("statements", overflow="fold")
    for title in ("times", "interval"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    for name, one in timed:
        interval = "" if one.low is None or one.high is None else f"{one.low:.2f} - {one.high:.2f}"
        verdict = Text(SPEEDS.get(one.verdict, one.verdict), style=STYLES.get(one.verdict, ""))
        table.add_row(Text(printable(_shown(name))), f"{one.times:.2f}", interval, verdict)
    return table


def _shown(kind: str) -> str:
    return kind[:SHOWN_KIND_CHARACTERS] + ("..." if len(kind) > SHOWN_KIND_CHARACTERS else "")


def _title(text: str) -> RenderableType:
    return Text(printable(text), style="bold")


def _line(text: str, style: str = "") -> RenderableType:
    """Its own indentation holds for each of its lines."""
    bare = text.lstrip(" ")
    return Padding(Text(printable(bare), style=style), (0, 0, 0, len(text) - len(bare)), expand=False)
