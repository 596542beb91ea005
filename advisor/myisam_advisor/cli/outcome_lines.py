"""What `verify` measured, a line for each, or two where the names leave no room: no name is cut, and a pipe gets no frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

from myisam_advisor.history.verification import MeasureOutcome, times_in_words
from myisam_advisor.texts.templates import figure, printable

HEADINGS = ("before", "after", "times", "95 % interval", "samples")
STYLES = {"improved": "bold green", "worse": "bold red", "not enough data": "dim"}
GAP = "  "


def outcome_lines(outcomes: Sequence[MeasureOutcome], load: MeasureOutcome | None, width: int) -> Iterable[Text]:
    """The lines for so many columns."""
    told = [*outcomes, *([load] if load else [])]
    names = [printable(one.name) for one in told]
    figures = [_figures(one) for one in told]
    widths = [max(map(len, column)) for column in zip(HEADINGS, *figures, strict=True)]
    verdicts = ["the load" if one is load else one.verdict for one in told]
    named = max(map(len, names))
    columns = (named, *widths, max(map(len, verdicts)))
    is_narrow = sum(columns) + len(GAP) * (len(columns) - 1) > width
    yield _line("" if is_narrow else " " * named, HEADINGS, widths, "")
    for name, cells, verdict in zip(names, figures, verdicts, strict=True):
        if is_narrow:
            yield Text(name, no_wrap=True)
        yield _line("" if is_narrow else f"{name:{named}}", cells, widths, verdict)


def _figures(one: MeasureOutcome) -> tuple[str, ...]:
    return (
        figure(one.before),
        figure(one.after),
        "-" if one.ratio is None else times_in_words(one.ratio),
        "-" if one.low is None or one.high is None else f"{times_in_words(one.low)} - {times_in_words(one.high)}",
        f"{one.samples[0]}, {one.samples[1]}",
    )


def _line(name: str, cells: Sequence[str], widths: Sequence[int], verdict: str) -> Text:
    aligned = GAP.join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
    text = Text(f"{name}{GAP}{aligned}", no_wrap=True)
    return text.append(f"{GAP}{verdict}", STYLES.get(verdict, "")) if verdict else text
