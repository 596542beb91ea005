"""How the demonstration shows what it found: one finding, and two bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from myisam_advisor.judging.findings import Finding, Judgement, ShownFact
from myisam_advisor.reports.finding_in_full import MARGIN, in_full, label, label_grid
from myisam_advisor.reports.told import ToldRule, told
from myisam_advisor.texts.bars import BARS, bars_for
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.width import WIDEST
from myisam_exporter.look.fact_set import FactSet

BAR_COLUMNS = 32  # a line fits into 80 columns
FACTS = 5
CONTRARY_SHARE = 0.1
LABEL_COLUMNS = len("with the advice")


@dataclass(frozen=True, slots=True)
class Round:
    """What one run of the load did."""

    rows_per_second: float
    voluntary_switches_per_second: float


def finding_shown(judgement: Judgement, facts: FactSet, rule: str, reader: TextIO) -> str:
    """The finding of a rule in full, but for what to expect, which is measured here, and for facts that were held against no threshold."""
    parts: list[RenderableType] = []
    for one in told(judgement, facts).rules:
        if one.first.rule == rule:
            *head, _consequences, blank = in_full(_shorter(one), verbose=False, numbered=True)
            price = label_grid()
            price.add_row(label("cost"), Text(printable(one.first.cost)))
            price.add_row(label("undo"), Text(printable(one.first.undo)))
            parts += [*head, Padding(price, MARGIN), blank]
    return _page(parts, reader)


def _shorter(rule: ToldRule) -> ToldRule:
    findings = tuple(replace(finding, evidence=_weighed(finding)) for finding in rule.findings)
    return replace(rule, first=findings[0], findings=findings)


def _weighed(finding: Finding) -> tuple[ShownFact, ...]:
    return tuple(fact for fact in finding.evidence if fact.threshold is not None)[:FACTS]


def rounds_overlap(before: Sequence[Round], after: Sequence[Round]) -> bool:
    """Whether rounds of the one kind lie among those of the other: what differs may then be other work's doing.

    Of all pairs a tenth may be the other way round, as where one round was disturbed: without a difference eight rounds are as
    clear in 6 of 100 cases (the exact distribution of Mann and Whitney's U).
    """
    pairs = [(old.rows_per_second, new.rows_per_second) for old in before for new in after]
    most = CONTRARY_SHARE * len(pairs)
    return sum(new <= old for old, new in pairs) > most and sum(new >= old for old, new in pairs) > most


def comparison_shown(before: Sequence[Round], after: Sequence[Round], reader: TextIO) -> str:
    """Rows as two bars and their ratio, which rounds that overlap do not have; context switches in words."""
    overlap = rounds_overlap(before, after)
    old, new = (fmean(one.rows_per_second for one in rounds) for rounds in (before, after))
    full = "#" if bars_for(reader) != BARS else BARS[-1]
    most = max(old, new, 1.0)
    lines = [
        Text.assemble(
            (f" {label:{LABEL_COLUMNS}}  ", ""),
            (f"{full * max(round(BAR_COLUMNS * rate / most), 1):{BAR_COLUMNS}}", style),
            f" {rate:>9,.0f} rows/s",
            (ratio, "bold"),
        )
        for label, rate, style, ratio in (
            ("as it was", old, "red", ""),
            ("with the advice", new, "green", f"  {new / old:.2f} times" if old and not overlap else ""),
        )
    ]
    switches = (fmean(one.voluntary_switches_per_second for one in rounds) for rounds in (before, after))
    had, has = (f"{number:,.0f}" for number in switches)
    hint = "" if overlap else " Machines differ: read the ratio."
    lines.append(Text(f" Voluntary context switches: {had} a second, then {has}.{hint}"))
    if overlap:
        # First: nobody shall read two bars as an answer that they are not.
        lines.insert(0, Text(" No difference can be told: other work takes part here.", "bold"))
        lines.append(Text(" The rounds overlap. Run it again when the machine is idle."))
    return _page(lines, reader)


def _page(parts: Sequence[RenderableType], reader: TextIO) -> str:
    text = drawn(parts, reader, maximum_width=WIDEST)
    return text if is_terminal(reader) else without_padding(text)
