"""The report for a person at a terminal: worst first, aligned, coloured where colours show, plain where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.judging.findings import Blind, Finding, Judgement, ShownFact, Suppressed
from myisam_advisor.judging.verdict import GOOD, UNKNOWN, Verdict
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.remedies.script import for_copying
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_advisor.reports.told import Told, ToldDrop, ToldRule, told, told_facts
from myisam_advisor.reports.wording import SHOWN_PER_RULE, TOLD_PER_RULE, headline
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.templates import printable, size
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
    known = told(judgement, facts, contradicted=shown.verbose)
    yield Text(printable(headline(facts)), style="bold")
    yield _verdict(known.verdict)
    yield Text()
    for rule in known.rules:
        yield from _rule(rule, shown.verbose)
    yield _rest(known, judgement, shown)


def _verdict(verdict: Verdict) -> Text:
    """The first words, in the colour of the worst finding: never green over one, and never where something was not seen."""
    said = Text(printable(verdict.headline), style=TONES[verdict.tone])
    if verdict.tone == GOOD:
        return Text("Nothing to change.", style=TONES[GOOD])
    if verdict.kind == UNKNOWN and verdict.detail:
        said.append(f" {printable(verdict.detail)}", style="not bold")
    return said


def _rule(rule: ToldRule, verbose: bool) -> Iterable[RenderableType]:
    first, findings = rule.first, rule.findings
    title = Text.assemble(
        (f" {first.severity.upper()} ", STYLES[first.severity]), " ", (first.title, "bold"), ("  " + first.rule, "dim")
    )
    if len(findings) > 1:
        title.append(f"  ({len(findings)} {first.scope}s)", "dim")
    yield title
    body = _grid()
    for sentence in rule.sentences:
        body.add_row("", Text(printable(sentence)))
    if rule.likewise:
        body.add_row("", Text(printable(rule.likewise_sentence(" (--format json lists them)"))))
    body.add_row(
        _label("evidence"),
        _evidence(first.evidence, verbose) if len(findings) == 1 else _evidence_of_many(findings[:SHOWN_PER_RULE]),
    )
    _add_texts(body, rule, verbose)
    yield Padding(body, (0, 0, 1, 1))


def _add_texts(body: Table, rule: ToldRule, verbose: bool) -> None:
    first = rule.first
    if rule.since:
        body.add_row(_label("since"), Text(rule.since))
    body.add_row(_label("do"), Text(printable(first.recommendation)))
    if rule.commands:
        body.add_row(_label("run"), _lines(for_copying(rule.commands), "green"))
    for label, lines in (("my.cnf", first.my_cnf), ("init_file", for_copying(first.remedy.init_file))):
        if lines and (label == "my.cnf" or verbose or not rule.commands):
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
    for fact in told_facts(facts):
        threshold = f"threshold {fact.threshold}" if fact.threshold is not None else ""
        cells = (fact.fact, fact.value, threshold, *([fact.source] if verbose else []))
        table.add_row(*(Text(printable(cell)) for cell in cells))
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
        values = {fact.fact: fact.value for fact in reversed(told_facts(finding.evidence))}
        table.add_row(Text(printable(finding.object)), *(Text(printable(values.get(column, ""))) for column in columns))
    return table


def _rest(known: Told, judgement: Judgement, shown: Shown) -> Padding:
    rest = _grid()
    for label, line, style in _remarks(known, judgement, shown):
        rest.add_row(_label(label), line if isinstance(line, Text) else Text(printable(line), style=style))
    return Padding(rest, (0, 0, 0, 1))


def _remarks(known: Told, judgement: Judgement, shown: Shown) -> Iterable[tuple[str, str | Text, str]]:
    """What is said below the findings: label, line, style."""
    yield from (("warning", warning, "yellow") for warning in known.warnings)
    yield from (("suspicious", suspicion, "yellow") for suspicion in known.suspicious)
    if known.quiet:
        yield "quiet", _names_or_number(known.quiet, "looked, and found nothing", shown), "dim"
    yield from (("not seen", _not_seen(spot), "yellow") for spot in known.blind)
    for rules, needs in _unknown(known, shown):
        yield "unknown", Text.assemble((rules, "yellow"), printable(f": needs {needs}")), ""
    yield from (("dropped", _dropped(one, shown), "dim") for one in known.dropped)
    yield from (("hidden", line, "dim") for line in _suppressed(known.suppressed, shown))
    yield from (("skipped", line, "dim") for line in _skipped(judgement, shown))
    for note in known.notes:
        yield "note", f"{note.reason}. {f'Remedy: {note.remedy}' if note.remedy else ''}", "dim"
    if shown.verbose and judgement.memory.limit_bytes is not None:
        yield "memory", _account(judgement.memory), "dim"


def _not_seen(spot: Blind) -> str:
    rules = f": {', '.join(spot.rules)}" if spot.rules else ""
    return f"{spot.sentence.rstrip('.')}{rules}. {spot.why}" + (f"  ->  {spot.remedy}" if spot.remedy else "")


def _unknown(known: Told, shown: Shown) -> Iterable[tuple[str, str]]:
    """What each rule lacks and how to have it, unless that was said before; many that nothing can be done about, in one line."""
    said = {rule for spot in known.blind for rule in spot.rules if not shown.verbose}
    outcomes = [outcome for outcome in known.unknown if outcome.rule not in said]
    hopeless = [outcome for outcome in outcomes if not outcome.how]
    together = not shown.verbose and len(hopeless) > UNKNOWN_ONE_BY_ONE
    for outcome in outcomes:
        if outcome.how or not together:
            yield outcome.rule, outcome.needs + (f"  ->  {outcome.how}" if outcome.how else "")
    if together:
        yield ", ".join(outcome.rule for outcome in hopeless), "facts that are not here (--verbose names them)"


def _dropped(one: ToldDrop, shown: Shown) -> str:
    """What was found and is not said, and why; alike ones in one line."""
    named = f" ({', '.join(one.objects[:TOLD_PER_RULE])}{' ...' if len(one.objects) > TOLD_PER_RULE else ''})"
    return f"{one.rule}{named if one.objects and (shown.verbose or len(one.objects) > 1) else ''}: {one.why}"


def _suppressed(suppressed: Sequence[Suppressed], shown: Shown) -> Iterable[str]:
    if not shown.suppressed and suppressed:
        yield f"{len(suppressed)} suppressed by the configuration: check --show-suppressed"
    for one in suppressed if shown.suppressed else ():
        until = f" (until {one.until})" if one.until else ""
        about = f" {one.finding.object}" if one.finding.object else ""
        yield f"{one.finding.severity} {one.finding.rule}{about}: {one.finding.message} Suppressed{until}: {one.reason}"


def _skipped(judgement: Judgement, shown: Shown) -> Iterable[str]:
    if shown.verbose:
        yield from (f"{outcome.rule}: {outcome.why}" for outcome in judgement.not_applicable)
    elif judgement.not_applicable:
        yield _names_or_number([outcome.rule for outcome in judgement.not_applicable], "do not apply here", shown)


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
