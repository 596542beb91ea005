"""The report for a person at a terminal: worst first, aligned, coloured where colours show, plain where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.judging.findings import Blind, Finding, Judgement, NotEvaluated, ShownFact
from myisam_advisor.judging.verdict import GOOD, UNKNOWN, verdict_of
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.remedies.script import for_copying
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_advisor.reports.wording import NAMED_PER_RULE, SHOWN_PER_RULE, TOLD_PER_RULE, headline, holds_since
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.templates import printable, size, with_unit
from myisam_exporter.look.fact_set import FactSet

__all__ = ["exit_status", "render"]

PIPED_WIDTH = 110
MAXIMUM_WIDTH = 120
SHOWN_COMMANDS = 24
UNKNOWN_ONE_BY_ONE = 4
NAMED_PER_LINE = 8
STYLES = {"critical": "bold white on red", "warning": "bold black on yellow", "info": "bold black on cyan"}
TONES = {
    "critical": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "unknown": "bold yellow",
    GOOD: "bold green",
}
LABEL_WIDTH = 10


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The report; `verbose` adds sources, what does not apply and why, and the account of memory."""
    text = drawn(_parts(judgement, facts, shown), shown.reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH)
    return text if is_terminal(shown.reader) else without_padding(text)


def _parts(judgement: Judgement, facts: FactSet, shown: Shown) -> Iterable[RenderableType]:
    yield Text(printable(headline(facts)), style="bold")
    yield _verdict(judgement, facts)
    yield Text()
    for _, group in groupby(judgement.findings, key=lambda finding: (finding.severity, finding.rule)):
        yield from _rule(list(group), shown.verbose)
    yield _rest(judgement, facts, shown)


def _verdict(judgement: Judgement, facts: FactSet) -> Text:
    """The first words, in the colour of the worst finding: never green over one, and never where something was not seen."""
    verdict = verdict_of(judgement, facts.interval_seconds)
    said = Text(printable(verdict.headline), style=TONES[verdict.tone])
    if verdict.tone == GOOD:
        return Text("Nothing to change.", style=TONES[GOOD])
    if verdict.kind == UNKNOWN and verdict.detail:
        said.append(f" {printable(verdict.detail)}", style="not bold")
    return said


def _rule(findings: Sequence[Finding], verbose: bool) -> Iterable[RenderableType]:
    first = findings[0]
    title = Text.assemble(
        (f" {first.severity.upper()} ", STYLES[first.severity]), " ", (first.title, "bold"), ("  " + first.rule, "dim")
    )
    if len(findings) > 1:
        title.append(f"  ({len(findings)} {first.scope}s)", "dim")
    yield title
    body = _grid()
    in_words = findings if len(findings) <= TOLD_PER_RULE else findings[:1]
    for finding in in_words:
        label = "" if finding.confidence == "confirmed" else f"{finding.confidence.capitalize()}: "
        body.add_row("", Text(printable(label + finding.message)))
    if len(in_words) < len(findings):
        body.add_row("", Text(_likewise([finding.object for finding in findings[1:]])))
    body.add_row(
        _label("evidence"),
        _evidence(first.evidence, verbose) if len(findings) == 1 else _evidence_of_many(findings[:SHOWN_PER_RULE]),
    )
    _add_texts(body, findings, verbose)
    yield Padding(body, (0, 0, 1, 1))


def _likewise(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED_PER_RULE} more (--format json lists them)" if len(names) > NAMED_PER_RULE else ""
    return printable(f"Likewise {', '.join(names[:NAMED_PER_RULE])}{more}.")


def _add_texts(body: Table, findings: Sequence[Finding], verbose: bool) -> None:
    first = findings[0]
    since = holds_since(findings)
    if since:
        body.add_row(_label("since"), Text(since))
    body.add_row(_label("do"), Text(printable(first.recommendation)))
    commands = [command for finding in findings for command in finding.remedy.commands]
    if commands:
        body.add_row(_label("run"), _lines(for_copying(commands), "green"))
    for label, lines in (("my.cnf", first.my_cnf), ("init_file", for_copying(first.remedy.init_file))):
        if lines and (label == "my.cnf" or verbose):
            body.add_row(_label(label), _lines(lines, "cyan"))
        elif lines:
            body.add_row(
                _label(label), Text("the CACHE INDEX and LOAD INDEX lines above, so that the layout survives a restart")
            )
    body.add_row(_label("expect"), Text(printable(first.expect)))
    if first.measured:
        body.add_row(_label("measured"), Text(printable(first.measured)))
    body.add_row(_label("cost"), Text(printable(first.cost)))
    body.add_row(_label("undo"), Text(printable(first.undo)))
    body.add_row(_label("verify"), Text(printable(first.verify)))
    if verbose:
        body.add_row(_label("sources"), _lines(first.sources, "dim"))


def _grid() -> Table:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=LABEL_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def _label(text: str) -> Text:
    return Text(text, style="dim")


def _lines(lines: Iterable[str], style: str) -> Text:
    shown = [printable(line, keep_newlines=True) for line in lines]
    more = (
        [f"... and {len(shown) - SHOWN_COMMANDS} more: --format json has them all"]
        if len(shown) > SHOWN_COMMANDS
        else []
    )
    return Text("\n".join(shown[:SHOWN_COMMANDS] + more), style=style)


def _evidence(facts: Sequence[ShownFact], verbose: bool) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(justify="right")
    table.add_column(style="dim")
    if verbose:
        table.add_column(style="dim")
    for fact in facts:
        threshold = f"threshold {with_unit(fact.threshold, fact.unit)}" if fact.threshold is not None else ""
        source = [Text(printable(fact.source))] if verbose else []
        table.add_row(
            Text(printable(fact.fact)),
            Text(printable(with_unit(fact.value, fact.unit))),
            Text(printable(threshold)),
            *source,
        )
    return table


def _evidence_of_many(findings: Sequence[Finding]) -> Table:
    """One line a finding: the facts with a threshold, side by side."""
    columns = list(dict.fromkeys(fact.fact for finding in findings for fact in finding.evidence))[:5]
    table = Table.grid(padding=(0, 2))
    table.add_column()
    for _ in columns:
        table.add_column(justify="right")
    table.add_row(
        "", *(Text(printable(column.rpartition(".")[2].replace("_", " ")), style="dim") for column in columns)
    )
    for finding in findings:
        values = {fact.fact: with_unit(fact.value, fact.unit) for fact in reversed(finding.evidence)}
        table.add_row(Text(printable(finding.object)), *(Text(printable(values.get(column, ""))) for column in columns))
    return table


def _rest(judgement: Judgement, facts: FactSet, shown: Shown) -> Padding:
    rest = _grid()
    for warning in judgement.warnings:
        rest.add_row(_label("warning"), Text(printable(warning), style="yellow"))
    for suspicion in judgement.suspicious:
        about = f"{suspicion.object}: " if suspicion.object else ""
        rest.add_row(_label("suspicious"), Text(printable(f"{about}{suspicion.why}. Set aside."), style="yellow"))
    if judgement.quiet:
        rest.add_row(
            _label("quiet"), Text(_names_or_number(judgement.quiet, "looked, and found nothing", shown), style="dim")
        )
    for spot in judgement.blind:
        rest.add_row(_label("not seen"), Text(printable(_not_seen(spot)), style="yellow"))
    told = {rule for spot in judgement.blind for rule in spot.rules if not shown.verbose}
    unknown = [outcome for outcome in judgement.not_evaluated if outcome.rule not in told]
    for rules, needs in _unknown(unknown, shown):
        rest.add_row(_label("unknown"), Text.assemble((rules, "yellow"), printable(f": needs {needs}")))
    for label, line in (*_dropped(judgement, shown), *_suppressed(judgement, shown), *_skipped(judgement, shown)):
        rest.add_row(_label(label), Text(printable(line), style="dim"))
    for note in facts.notes:
        if not note.off:
            remedy = f"Remedy: {note.remedy}" if note.remedy else ""
            rest.add_row(_label("note"), Text(printable(f"{note.reason}. {remedy}"), style="dim"))
    if shown.verbose and judgement.memory.limit_bytes is not None:
        rest.add_row(_label("memory"), Text(_account(judgement.memory), style="dim"))
    return Padding(rest, (0, 0, 0, 1))


def _not_seen(spot: Blind) -> str:
    rules = f": {', '.join(spot.rules)}" if spot.rules else ""
    return f"{spot.sentence.rstrip('.')}{rules}. {spot.why}" + (f"  ->  {spot.remedy}" if spot.remedy else "")


def _unknown(outcomes: Sequence[NotEvaluated], shown: Shown) -> Iterable[tuple[str, str]]:
    """What each rule lacks and how to have it; many that nothing can be done about, in one line."""
    hopeless = [outcome for outcome in outcomes if not outcome.how]
    together = not shown.verbose and len(hopeless) > UNKNOWN_ONE_BY_ONE
    for outcome in outcomes:
        if outcome.how or not together:
            yield outcome.rule, outcome.needs + (f"  ->  {outcome.how}" if outcome.how else "")
    if together:
        yield ", ".join(outcome.rule for outcome in hopeless), "facts that are not here (--verbose names them)"


def _dropped(judgement: Judgement, shown: Shown) -> Iterable[tuple[str, str]]:
    """What was found and is not said, and why; alike ones in one line. What a second sign contradicted is quiet unless asked for."""
    told = [one for one in judgement.dropped if shown.verbose or not one.contradicted]
    for (rule, why), group in groupby(told, key=lambda one: (one.rule, one.why)):
        objects = [one.object for one in group if one.object]
        named = f" ({', '.join(objects[:TOLD_PER_RULE])}{' ...' if len(objects) > TOLD_PER_RULE else ''})"
        yield "dropped", f"{rule}{named if objects and (shown.verbose or len(objects) > 1) else ''}: {why}"


def _suppressed(judgement: Judgement, shown: Shown) -> Iterable[tuple[str, str]]:
    if not shown.suppressed and judgement.suppressed:
        yield "hidden", f"{len(judgement.suppressed)} suppressed by the configuration: check --show-suppressed"
    for one in judgement.suppressed if shown.suppressed else ():
        until = f" (until {one.until})" if one.until else ""
        about = f" {one.finding.object}" if one.finding.object else ""
        yield (
            "hidden",
            f"{one.finding.severity} {one.finding.rule}{about}: {one.finding.message} Suppressed{until}: {one.reason}",
        )


def _skipped(judgement: Judgement, shown: Shown) -> Iterable[tuple[str, str]]:
    if shown.verbose:
        yield from (("skipped", f"{outcome.rule}: {outcome.why}") for outcome in judgement.not_applicable)
    elif judgement.not_applicable:
        rules = [outcome.rule for outcome in judgement.not_applicable]
        yield "skipped", _names_or_number(rules, "do not apply here", shown)


def _names_or_number(rules: Sequence[str], what: str, shown: Shown) -> str:
    """A few rules by name; many, which nobody reads, by their number."""
    if shown.verbose or len(rules) <= NAMED_PER_LINE:
        return ", ".join(rules)
    return f"{len(rules)} rules {what} (--verbose names them)"


def _account(memory: MemoryBudget) -> str:
    granted = "; ".join(f"{remedy} takes {size(taken)}" for remedy, taken in memory.granted.items())
    return printable(
        f"of {size(memory.limit_bytes)}, {size(memory.available_bytes)} available; row data wants {size(memory.row_data_bytes)}; "
        f"present key caches will still grow by {size(memory.unfilled_key_cache_bytes)}; room left {size(memory.room_bytes)}"
        + (f"; {granted}" if granted else "")
    )
