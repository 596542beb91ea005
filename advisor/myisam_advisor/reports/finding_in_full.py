"""Everything that is known of a finding, for a terminal: what was seen, what to do, what to expect, and the way back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.judging.findings import Finding, ShownFact
from myisam_advisor.remedies.script import for_copying, portions
from myisam_advisor.reports.lines_kept import Ended, behind
from myisam_advisor.reports.told import ToldFact, ToldRule, told_facts
from myisam_advisor.reports.wording import SHOWN_PER_RULE
from myisam_advisor.texts.templates import count, printable

SHOWN_COMMANDS = 24
COLUMNS_OF_MANY = 5
LABEL_WIDTH = 10
LONGEST_FIGURE = 32
WIDEST_LABEL = 34  # of 80 columns: beside it a figure and its threshold have room
MARGIN = (0, 0, 0, 1)
STYLES = {"critical": "bold white on red", "warning": "bold black on yellow", "info": "bold black on cyan"}


def in_full(rule: ToldRule, verbose: bool, *, numbered: bool = False) -> Iterable[RenderableType]:
    """The findings of one rule; `verbose` adds the names of facts, and sources."""
    first, findings = rule.first, rule.findings
    start = Text.assemble(
        f"{rule.number} " if numbered else "", (f" {first.severity.upper()} ", STYLES[first.severity])
    )
    counted = f"  ({len(findings)} {first.scope}s)" if len(findings) > 1 else ""
    yield behind(start, Ended(Text(first.title, "bold"), Text(f" {first.rule}{counted}", "dim")))
    body = label_grid()
    for sentence in rule.sentences:
        body.add_row("", Text(printable(sentence)))
    if rule.likewise:
        body.add_row("", Text(printable(rule.likewise_sentence(" (--format json lists them)"))))
    if len(findings) > 1:
        body.add_row(label("evidence"), _evidence_of_many(findings[:SHOWN_PER_RULE]))
    elif first.evidence:
        body.add_row(
            label("evidence"), _evidence_with_sources(first.evidence) if verbose else _evidence(first.evidence)
        )
    if rule.since:
        body.add_row(label("since"), Text(rule.since))
    body.add_row(label("do"), Text(printable(rule.recommendation, keep_newlines=True)))
    yield Padding(body, MARGIN)
    yield from _to_copy(rule, verbose)
    yield Padding(_consequences(rule, verbose), MARGIN)
    yield Text()


def label_grid() -> Table:
    """Two columns: a label, and what belongs to it."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=LABEL_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def label(text: str) -> Text:
    """What stands in the first column."""
    return Text(text, style="dim")


def _to_copy(rule: ToldRule, verbose: bool) -> Iterable[RenderableType]:
    """Statements and lines, each in one line however long: what is copied must not have been broken."""
    if rule.commands:
        yield from _run(rule)
    for name, lines in ((rule.label, rule.my_cnf), ("init_file", for_copying(rule.init_file))):
        if lines and (name == rule.label or verbose or not rule.commands):
            yield from _lines(name, lines, "cyan")
        elif lines:
            yield from _lines(name, ["the CACHE INDEX and LOAD INDEX lines above: the layout then survives a restart"])


def _run(rule: ToldRule) -> Iterable[RenderableType]:
    """What to run, in portions that stand apart: each is to be copied by itself."""
    to_run = portions(rule.commands)
    left = SHOWN_COMMANDS
    for place, portion in enumerate(to_run):
        if left <= 0:
            break
        if place:
            yield Text()
        shown = portion.lines[:left]
        yield from _lines(portion.title(is_first=place == 0), shown, "green")
        left -= len(shown)
    unseen = sum(len(portion.lines) for portion in to_run) - SHOWN_COMMANDS
    if unseen > 0:
        yield from _lines("", [_more(unseen)], "green")


def _consequences(rule: ToldRule, verbose: bool) -> Table:
    first = rule.first
    body = label_grid()
    body.add_row(label("expect"), Text(printable(rule.expectation)))
    body.add_row(label("cost"), Text(printable(rule.cost)))
    body.add_row(label("undo"), Text(printable(rule.undo, keep_newlines=True)))
    body.add_row(label("verify"), Text(printable(rule.verify)))
    if verbose:
        body.add_row(label("sources"), Text("\n".join(map(printable, first.sources)), style="dim"))
    return body


def _lines(name: str, lines: Sequence[str], style: str = "") -> Iterable[RenderableType]:
    shown = [printable(line, keep_newlines=True) for line in lines[:SHOWN_COMMANDS]]
    if len(lines) > SHOWN_COMMANDS:
        shown.append(_more(len(lines) - SHOWN_COMMANDS))
    for place, line in enumerate("\n".join(shown).split("\n")):
        margin = f" {'' if place else name:{LABEL_WIDTH}} "
        # In a group: rich joins texts that are printed bare, and breaks them.
        yield Group(Text.assemble((margin, "dim"), (line, style), no_wrap=True, overflow="ignore"))


def _more(unseen: int) -> str:
    return f"... and {count(unseen)} more: --format json has them all"


def _evidence(facts: Sequence[ShownFact]) -> Table:
    table = _columns_of_figures()
    for fact in told_facts(facts):
        for cells in _rows(fact):
            table.add_row(*cells)
    return table


def _evidence_with_sources(facts: Sequence[ShownFact]) -> Group:
    """Below each fact its name and source, over the whole width: in a column beside the figures they would be broken within words."""
    shown = told_facts(facts)
    figures = [len(fact.value) for fact in shown if len(fact.value) <= LONGEST_FIGURE]
    widths = (max(len(fact.label) for fact in shown), max(figures, default=0))
    parts: list[RenderableType] = []
    for fact in shown:
        table = _columns_of_figures(*widths)
        for cells in _rows(fact):
            table.add_row(*cells)
        source = f" ({fact.source})" if fact.source else ""
        parts += [table, Padding(Text(printable(f"{fact.fact}{source}"), style="dim"), (0, 0, 0, 2))]
    return Group(*parts)


def _columns_of_figures(label_width: int | None = None, figure_width: int | None = None) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold", min_width=label_width and min(label_width, WIDEST_LABEL))
    table.add_column(justify="right", no_wrap=True, min_width=figure_width)
    table.add_column(style="dim", overflow="fold")
    return table


def _rows(fact: ToldFact) -> Iterable[tuple[RenderableType, ...]]:
    """A figure is not broken. What is a sentence would leave no room beside it: it goes on below its name."""
    threshold = f"threshold {fact.threshold}" if fact.threshold is not None else ""
    is_figure = len(fact.value) <= LONGEST_FIGURE
    cells = (fact.label, fact.value if is_figure else "", threshold)
    yield tuple(Text(printable(cell)) for cell in cells)
    if not is_figure:
        yield (Padding(Text(printable(fact.value)), (0, 0, 0, 2)),)


def _evidence_of_many(findings: Sequence[Finding]) -> Table:
    """One line for each finding: its facts side by side."""
    columns = list(dict.fromkeys(fact.label or fact.fact for finding in findings for fact in finding.evidence))
    columns = columns[:COLUMNS_OF_MANY]
    table = Table.grid(padding=(0, 2))
    table.add_column(overflow="fold")
    for _ in columns:
        table.add_column(justify="right", overflow="fold")
    table.add_row("", *(Text(printable(column), style="dim") for column in columns))
    for finding in findings:
        values = {fact.label: fact.value for fact in told_facts(finding.evidence)}
        table.add_row(Text(printable(finding.object)), *(Text(printable(values.get(column, ""))) for column in columns))
    return table
