"""The report for a person at a terminal: one screen that says what is wrong and what to do, the cause first; findings in full for who asks.

Aligned, coloured where colours show, plain where they do not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from myisam_advisor.judging.chosen import why_not
from myisam_advisor.judging.findings import Judgement, Suppressed
from myisam_advisor.judging.resolver import SUSPECTED
from myisam_advisor.judging.verdict import GOOD, UNKNOWN, Verdict
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.reports.finding_in_full import STYLES, in_full, label, label_grid
from myisam_advisor.reports.formats.base import Shown, exit_status
from myisam_advisor.reports.held_back import held_back_in_words
from myisam_advisor.reports.lines_kept import Ended
from myisam_advisor.reports.told import Gap, Told, ToldDrop, ToldRule, once, told
from myisam_advisor.reports.wording import SEPARATOR, TOLD_PER_RULE, headline
from myisam_advisor.texts.drawing import TONES, drawn, is_terminal, without_padding
from myisam_advisor.texts.templates import printable, size
from myisam_advisor.texts.width import WIDEST, text_width
from myisam_exporter.errors import UserError
from myisam_exporter.look.fact_set import FactSet

__all__ = ["exit_status", "render"]

TELLS_STATEMENTS = True
# From this width on what is wrong and what to do stand side by side.
WIDE = 110
NAMED_PER_LINE = 4
NAMED_PER_GAP = 3
CAUSES_PER_GAP = 2
DROPS = 3
MORE_TIMES = "see myisam-advisor history"


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The report; `verbose` adds sources, what does not apply and why, and the account of memory.

    Raises UserError for a number that no finding has.
    """
    text = drawn(_parts(judgement, facts, shown), shown.reader, maximum_width=WIDEST)
    return text if is_terminal(shown.reader) else without_padding(text)


def _parts(judgement: Judgement, facts: FactSet, shown: Shown) -> Iterable[RenderableType]:
    known = told(judgement, facts, contradicted=shown.verbose)
    width = text_width(shown.reader)
    yield Text(_filled(headline(facts, width), width), style="bold")
    if shown.chosen:
        yield _verdict(known.verdict, "")
        yield Text()
        yield from _chosen(known, judgement, shown)
        return
    alone = len(known.rules) == 1 or shown.full or shown.verbose
    # What follows in full says the detail; what was not seen it does not say.
    yield _verdict(known.verdict, "" if alone and not known.blind else known.verdict.detail)
    if shown.past is not None and (
        earlier := held_back_in_words(shown.past, lambda text: printable(str(text)), MORE_TIMES)
    ):
        yield Text(earlier)
    yield Text()
    if len(known.rules) > 1:
        yield _overview(known.rules, width)
        yield Text()
    for rule in known.rules if alone else ():
        yield from in_full(rule, shown.verbose, numbered=len(known.rules) > 1)
    rest = label_grid()
    if len(known.rules) > 1 and not alone:
        rest.add_row(label("in full"), _in_full_hint(known.rules))
    for name, line, style in _remarks(known, judgement, shown):
        rest.add_row(label(name), line if isinstance(line, Text) else Text(printable(line), style=style))
    yield Padding(rest, (0, 0, 0, 1))
    if shown.statements is not None:
        yield Text()
        from myisam_advisor.reports.seen_statements import statements_in_words

        yield from statements_in_words(shown.statements)


def _filled(text: str, width: int) -> str:
    """The parts of the first line in as many lines as they take; none is broken that fits into one."""
    lines = [""]
    for part in printable(text).split(SEPARATOR):
        longer = f"{lines[-1]}{SEPARATOR}{part}" if lines[-1] else part
        if lines[-1] and len(longer) > width:
            lines.append(part)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _verdict(verdict: Verdict, detail: str) -> Text:
    """The first words, in the colour of the worst finding: never green over one, and never where something was not seen."""
    said = Text(printable(verdict.headline), style=TONES[verdict.tone])
    if verdict.tone == GOOD:
        return said.append(" Nothing to change.")
    if detail and verdict.kind != UNKNOWN:
        said.append(f" {printable(detail)}", style="not bold")
    return said


def _overview(rules: Sequence[ToldRule], width: int) -> Table:
    """What is wrong, on what, what to do and what that asks of the server: a line for each, or two where there is no room."""
    grid = Table.grid(padding=(0, 1))
    grid.add_column(justify="right", no_wrap=True, width=len(str(len(rules))) + 1)
    grid.add_column(no_wrap=True, width=len(" CRITICAL "))
    grid.add_column(overflow="fold", ratio=1)
    if width >= WIDE:
        grid.add_column(overflow="fold", ratio=1)
    grid.expand = True
    for rule in rules:
        severity = Text(f" {rule.first.severity.upper()} ", style=STYLES[rule.first.severity])
        what = Text(printable(rule.first.title), style="bold")
        if rule.subject:
            what.append(f": {printable(rule.subject)}", style="not bold")
        if rule.first.confidence == SUSPECTED:
            what.append(f" ({SUSPECTED})", style="not bold")
        price = Text(f"({rule.price})", "dim") if rule.price else None
        to_do = Ended(Text.assemble(("-> ", "dim"), printable(rule.to_do)), price)
        number = Text(str(rule.number))
        cells = (Ended(what), to_do) if width >= WIDE else (Group(Ended(what), to_do),)
        grid.add_row(number, severity, *cells)
    return grid


def _in_full_hint(rules: Sequence[ToldRule]) -> Text:
    return Text(
        f"check {rules[0].number}, or check {rules[0].first.rule}; all of them: check --full",
        style="dim",
    )


def _chosen(known: Told, judgement: Judgement, shown: Shown) -> Iterable[RenderableType]:
    """The findings that were named, by their number or their rule; of a rule that has none, why not."""
    for name in shown.chosen:
        rules = [rule for rule in known.rules if name in (str(rule.number), rule.first.rule)]
        if not rules and name.isdecimal():
            raise UserError(
                f"there is no finding {name}: {_numbers(len(known.rules))}. Each look numbers its findings anew; a rule's name stays the same."
            )
        for rule in rules:
            yield from in_full(rule, shown.verbose)
        if not rules:
            yield Text(printable(f"{name}: {why_not(judgement, name)}."))


def _numbers(findings: int) -> str:
    if not findings:
        return "this look has none"
    return "this look has one" if findings == 1 else f"this look has 1 to {findings}"


def _remarks(known: Told, judgement: Judgement, shown: Shown) -> Iterable[tuple[str, str | Text, str]]:
    """What is said below the findings: label, line, style."""
    yield from (("warning", warning, "yellow") for warning in known.warnings)
    yield from (("suspicious", suspicion, "yellow") for suspicion in known.suspicious)
    yield from (("unknown", line, "") for line in (_unknown(known) if shown.verbose else _gaps(known.gaps)))
    yield from (("dropped", line, "dim") for line in _dropped(known.dropped, shown))
    yield from (("hidden", line, "dim") for line in _suppressed(known.suppressed, shown))
    if shown.verbose:
        yield from (("quiet", ", ".join(names), "dim") for names in [_silent(known)] if names)
        yield from (("skipped", f"{one.rule}: {one.why}", "dim") for one in judgement.not_applicable)
        yield from (
            ("note", f"{one.reason}. {f'Remedy: {one.remedy}' if one.remedy else ''}", "dim") for one in known.notes
        )
        if judgement.memory.limit_bytes is not None:
            yield "memory", _account(judgement.memory), "dim"
    elif known.quiet or judgement.not_applicable:
        yield "quiet", _quiet(_silent(known), len(known.dismissed), len(judgement.not_applicable)), "dim"


def _gaps(gaps: Sequence[Gap]) -> Iterable[Text]:
    """A line for each remedy; what nothing can be done about together."""
    hopeless = [gap for gap in gaps if not gap.remedy]
    for gap in gaps:
        if gap.remedy:
            yield _gap(gap)
    if len(hopeless) == 1:
        yield _gap(hopeless[0])
    elif hopeless:
        causes = once([cause for gap in hopeless for cause in gap.causes])
        yield _gap(Gap(causes, "", tuple(dict.fromkeys(rule for gap in hopeless for rule in gap.rules))))


def _gap(gap: Gap) -> Text:
    causes = "; ".join(gap.causes[:CAUSES_PER_GAP])
    more = len(gap.causes) - CAUSES_PER_GAP
    said = Text()
    named = len(gap.rules) <= NAMED_PER_GAP
    if gap.rules:
        said.append(", ".join(gap.rules) if named else _so_many_rules(gap), style="yellow")
        said.append(": ")
    # Where nothing is to be done about it but to give the facts, it has to be found out which.
    hint = (
        f"; and {more} more (-v)" if more > 0 else " (-v says what each lacks)" if not named and not gap.remedy else ""
    )
    said.append(printable(f"{causes}{hint}"))
    if gap.remedy:
        said.append(printable(f"  ->  {gap.remedy}"))
    return said


def _so_many_rules(gap: Gap) -> str:
    """As the verdict counted them, where it did: two numbers of the same rules would not agree."""
    more = len(gap.rules) - gap.counted
    return f"these {gap.counted} rules and {more} more" if gap.counted > 1 and more else f"{len(gap.rules)} rules"


def _unknown(known: Told) -> Iterable[Text]:
    """Each by itself: what was not seen, and what each rule lacks."""
    for spot in known.blind:
        rules = f": {', '.join(spot.rules)}" if spot.rules else ""
        remedy = f"  ->  {spot.remedy}" if spot.remedy else ""
        yield Text(printable(f"{spot.sentence.rstrip('.')}{rules}. {spot.why}{remedy}"), style="yellow")
    for outcome in known.unknown:
        how = f"  ->  {outcome.how}" if outcome.how else ""
        yield Text.assemble((outcome.rule, "yellow"), printable(f": needs {outcome.needs}{how}"))


def _dropped(dropped: Sequence[ToldDrop], shown: Shown) -> Iterable[str]:
    """What was found and is not said, and why; alike ones in one line."""
    told_of = dropped if shown.verbose else dropped[:DROPS]
    for one in told_of:
        named = f" ({', '.join(one.objects[:TOLD_PER_RULE])}{' ...' if len(one.objects) > TOLD_PER_RULE else ''})"
        yield f"{one.rule}{named if one.objects and (shown.verbose or len(one.objects) > 1) else ''}: {one.why}"
    if len(dropped) > len(told_of):
        yield f"{len(dropped) - len(told_of)} more (-v says why)"


def _suppressed(suppressed: Sequence[Suppressed], shown: Shown) -> Iterable[str]:
    if not shown.suppressed and suppressed:
        yield f"{len(suppressed)} suppressed by the configuration: check --show-suppressed"
    for one in suppressed if shown.suppressed else ():
        until = f" (until {one.until})" if one.until else ""
        about = f" {one.finding.object}" if one.finding.object else ""
        yield f"{one.finding.severity} {one.finding.rule}{about}: {one.finding.message} Suppressed{until}: {one.reason}"


def _silent(known: Told) -> list[str]:
    """The rules that found nothing at all. What others found, and another sign explains, stands among what was dropped."""
    return [rule for rule in known.quiet if rule not in known.dismissed]


def _quiet(silent: Sequence[str], dismissed: int, skipped: int) -> str:
    """A few rules by name; many, which nobody reads, by their number."""
    few = len(silent) <= NAMED_PER_LINE
    looked = ", ".join(silent) if few else f"{len(silent)} rules found nothing"
    explained = f"{dismissed} found what another sign explains" if dismissed else ""
    applies = f"{skipped} {'do' if skipped != 1 else 'does'} not apply here" if skipped else ""
    hint = "" if few and not skipped and not dismissed else f" (-v {'says why' if dismissed else 'names them'})"
    return f"{'; '.join(filter(None, (looked, explained, applies)))}{hint}"


def _account(memory: MemoryBudget) -> str:
    granted = "; ".join(f"{remedy} takes {size(taken)}" for remedy, taken in memory.granted.items())
    return printable(
        f"of {size(memory.limit_bytes)}, {size(memory.available_bytes)} available; row data wants {size(memory.row_data_bytes)}; "
        f"present key caches will still grow by {size(memory.unfilled_key_cache_bytes)}; "
        + (f"InnoDB's pool by {size(memory.unfilled_pool_bytes)}; " if memory.unfilled_pool_bytes else "")
        + f"room left {size(memory.room_bytes)}"
        + (f"; {granted}" if granted else "")
    )
