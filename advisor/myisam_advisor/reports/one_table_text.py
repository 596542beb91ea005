"""One table for a terminal, drawn as wide as that is, and as JSON: what `reports/one_table.py` tells."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable
from time import localtime, strftime
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.judging.findings import Finding
from myisam_advisor.reports.formats.json import finding_document
from myisam_advisor.reports.one_table import OneTable, TableCurve, ToldIndex
from myisam_advisor.texts.bars import bars_for, first_shown, sparkline
from myisam_advisor.texts.column_units import in_words
from myisam_advisor.texts.drawing import drawn, is_terminal, terminal_width, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.lean_dataclasses import dataclass

PIPED_WIDTH, MAXIMUM_WIDTH = 100, 120
CURVE_WIDTH = 40
LABEL_WIDTH = 28
SEVERITY_STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan"}


def one_table_as_text(told: OneTable, headline: str, begin: float, end: float, reader: TextIO | None = None) -> str:
    """All of it, for the stream `reader` (None: a file), with the last line break; `headline` is the server's, curves are over [begin, end]."""
    text = drawn(
        _parts(told, headline, (begin, end), reader), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH
    )
    return text if is_terminal(reader) else without_padding(text)


def one_table_as_json(told: OneTable) -> str:
    """The facts as they are, what is unknown as null: the table, its indexes, its curves, the findings, the trials."""
    document = {
        **heading(),
        "table": dict(told.row),
        "indexes": [dict(index) for index in told.index_rows],
        "curves": {curve.column: curve.points for curve in told.curves},
        "findings": [finding_document(finding) for finding in told.findings],
        "findings_about_the_server": [finding.rule for finding in told.elsewhere],
        "trials": [{"command": trial.command, "why": trial.why} for trial in told.trials],
        "not_tried_because": told.untried or None,
        "unknown": [{"facts": missing.labels, "why": missing.why, "how": missing.remedy} for missing in told.missing],
    }
    return json.dumps(document, indent=2) + "\n"


def _parts(told: OneTable, headline: str, span: tuple[float, float], reader: TextIO | None) -> Iterable[RenderableType]:
    label, summary = printable(told.label), printable(told.summary)
    width = terminal_width(reader)
    # Broken where it has to be, not between a number and what it counts.
    has_room = width is None or len(label) + len(summary) + 2 <= min(width, MAXIMUM_WIDTH)
    yield Text.assemble((label, "bold"), "  " if has_room else "\n", summary)
    yield Text(printable(headline), style="dim")
    for section in told.sections:
        yield _heading(section.heading)
        yield _lines((value.label, Text(printable(value.value))) for value in section.values)
    yield _heading("Indexes")
    yield from _indexes(told)
    if told.curves:
        yield _heading(_curves_heading(told.curves, span))
        yield _lines((curve.label, _curve(curve, span, reader)) for curve in told.curves)
    yield _heading("Findings")
    yield from _findings(told)
    yield _heading("To try it on a copy of this table")
    yield from _trials(told)
    if told.missing:
        yield _heading("Not known")
        for missing in told.missing:
            remedy = f"  ->  {missing.remedy}" if missing.remedy else ""
            yield _below(Text(printable(f"{', '.join(missing.labels)}: {missing.why}{remedy}"), style="dim"))


def _heading(words: str) -> Text:
    return Text(f"\n{words}", style="bold")


def _below(part: RenderableType, indent: int = 2) -> Padding:
    return Padding(part, (0, 0, 0, indent))


def _lines(lines: Iterable[tuple[str, RenderableType]]) -> Padding:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(width=LABEL_WIDTH, style="dim")
    grid.add_column(overflow="fold")
    for label, value in lines:
        grid.add_row(Text(label), value)
    return _below(grid)


def _indexes(told: OneTable) -> Iterable[RenderableType]:
    if told.indexes_unknown:
        yield _below(Text(printable(f"not known: {told.indexes_unknown}"), style="dim"))
    elif not told.indexes:
        yield _below(Text("none"))
    for index in told.indexes:
        name = f" {printable(index.name)}" if index.name else ""
        yield _below(Text(printable(f"{index.number}{name}  {index.kind}: {index.columns}")))
        yield _below(Text(printable(_of_index(index)), style="dim"), 5)
    if told.indexes and not all(index.name for index in told.indexes):
        yield _below(
            Text(
                f"Their names, their columns' names and their cardinality (this opens the table): {printable(told.show_indexes)}",
                style="dim",
            )
        )


def _of_index(index: ToldIndex) -> str:
    parts = [
        "disabled: no statement uses it" if not index.enabled else "",
        index.keys,
        f"pages searched {index.search}" if index.search else "",
        f"pages of {index.page}",
        f"longest entry {index.longest_key}",
    ]
    return ", ".join(filter(None, parts))


def _curves_heading(curves: Iterable[TableCurve], span: tuple[float, float]) -> str:
    first = min(first_shown(curve.points, span[0]) for curve in curves)
    form = "%H:%M" if span[1] - first < 86_400 else "%Y-%m-%d %H:%M"
    return f"From {strftime(form, localtime(first))} to {strftime(form, localtime(span[1]))}"


@dataclass(frozen=True, slots=True)
class _Curve:
    """A curve and what it says in figures: beside it, or below where there is no room, so that no figure is broken."""

    line: Text
    figures: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        whole = Text.assemble(self.line, "  ", self.figures)
        yield from [whole] if whole.cell_len <= options.max_width else [self.line, self.figures]


def _curve(curve: TableCurve, span: tuple[float, float], reader: TextIO | None) -> _Curve:
    known = [value for _, value in curve.points if value is not None]
    line = sparkline(curve.points, *span, bars_for(reader), CURVE_WIDTH)
    low, middle, high = (in_words(curve.column, value) for value in (min(known), statistics.median(known), max(known)))
    figures = f"{high} throughout" if low == high else f"{low} to {high}, median {middle}"
    return _Curve(Text(line), Text(figures, "dim"))


def _findings(told: OneTable) -> Iterable[RenderableType]:
    if not told.findings:
        yield _below(Text("none about this table"))
    for finding in told.findings:
        yield _below(_finding(finding))
        yield _below(Text(printable(finding.recommendation, keep_newlines=True)), 5)
    if told.findings:
        yield _below(Text("In full, with what to run: myisam-advisor check; plan RULE; explain RULE", style="dim"))
    if told.elsewhere:
        named = ", ".join(dict.fromkeys(finding.rule for finding in told.elsewhere))
        yield _below(Text(printable(f"About the whole server: {named}"), style="dim"))


def _finding(finding: Finding) -> Text:
    return Text.assemble(
        (f"{finding.severity.upper()}  ", SEVERITY_STYLES[finding.severity]),
        (f"{finding.rule}  ", "bold"),
        printable(finding.message),
    )


def _trials(told: OneTable) -> Iterable[RenderableType]:
    if told.untried:
        yield _below(Text(told.untried))
    for trial in told.trials:
        yield _below(Text(trial.command, style="cyan"))
        yield _below(Text(printable(trial.why), style="dim"), 5)
