"""Every collector examined: working, degraded or off; what is missing, how to have it, and which rules would gain by it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.texts.drawing import drawn, without_padding
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.width import WIDEST
from myisam_exporter.collectors.base import Collector, Context, all_collectors
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.look.snapshot import take_snapshot
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target

WORKING, DEGRADED, OFF = "working", "degraded", "off"
# One line for each problem, whatever its length: a pipe is read by grep.
PIPED_WIDTH = 10_000
KEY_COLUMNS = frozenset({"schema_name", "table_name", "name"})
STYLES = {WORKING: "green", DEGRADED: "yellow", OFF: "red"}


@dataclass(frozen=True, slots=True)
class Examination:
    """One collector's state."""

    collector: str
    state: str
    problems: tuple[Unknown, ...]
    rules: tuple[str, ...]
    seconds: float


def examine(
    target: Target, timeout_seconds: int, key_caches: tuple[str, ...], rules: Sequence[Rule]
) -> list[Examination]:
    """Run every collector once and say how it went."""
    with Session(target, timeout_seconds) as session:
        snapshot = take_snapshot(Context(target, session, key_caches=key_caches))
    return [
        _examined(collector, snapshot.samples[collector.name], snapshot.durations[collector.name], rules)
        for collector in all_collectors()
    ]


def _examined(collector: Collector[Any], sample: Any, seconds: float, rules: Sequence[Rule]) -> Examination:
    if isinstance(sample, Unknown):
        gained = {
            f"{table}.{column.name}"
            for table, columns in collector.sections.items()
            for column in columns
            if column.name not in KEY_COLUMNS
        }
        return Examination(collector.name, OFF, (sample,), _rules_that_use(gained, rules), seconds)
    unknown = collector.unknown_columns(sample)
    problems = tuple({problem.reason: problem for problem in (*collector.notes(sample), *unknown.values())}.values())
    # What is off here and cannot be switched on is no defect.
    state = DEGRADED if any(problem.remedy or not problem.off for problem in problems) else WORKING
    return Examination(collector.name, state, problems, _rules_that_use(set(unknown), rules), seconds)


def _rules_that_use(facts: set[str], rules: Sequence[Rule]) -> tuple[str, ...]:
    """The rules that name one of these facts, or its table, among what they need or show."""
    tables = {fact.partition(".")[0] for fact in facts if "." not in fact}

    def uses(rule: Rule) -> bool:
        named = {fact for need in rule.needs for fact in ((need,) if isinstance(need, str) else need)} | {
            evidence.fact for evidence in rule.evidence
        }
        return any(name in facts or name.partition(".")[0] in tables for name in named)

    return tuple(rule.id for rule in rules if uses(rule))


def examination_as_text(examinations: Sequence[Examination], reader: TextIO | None = None) -> str:
    """A line for each collector, and below it what it lacks; for the stream `reader` (None: a file)."""
    width = max(len(examination.collector) for examination in examinations)
    lines = (line for examination in examinations for line in _lines(examination, width))
    return without_padding(drawn(lines, reader, piped_width=PIPED_WIDTH, maximum_width=WIDEST))


def _lines(examination: Examination, width: int) -> Iterable[RenderableType]:
    margin = (0, 0, 0, width + 4)
    yield Text.assemble(
        f"{examination.collector:{width}}  ",
        (f"{examination.state:8}", STYLES[examination.state]),
        (f"  {examination.seconds * 1000:6.1f} ms", "dim"),
    )
    # What one remedy mends stands above it, said once.
    for remedy, mended in groupby(examination.problems, key=lambda problem: problem.remedy):
        for problem in mended:
            yield Padding(Text(printable(problem.reason)), margin)
        if remedy:
            yield Padding(Text.assemble(("remedy: ", "dim"), (printable(remedy), "cyan")), margin)
    may_be_mended = any(problem.remedy or not problem.off for problem in examination.problems)
    if may_be_mended and examination.rules:
        yield Padding(Text(f"would help: {', '.join(examination.rules)}", style="dim"), margin)
