"""The plan for a ticket or a change request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from myisam_advisor.changes.formats.base import (
    former_settings,
    nothing_in_it,
    option_file_text,
    way_back_of_settings,
)
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.script import for_copying
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.texts.templates import beside, printable

FILE_NAME = "plan.md"
_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def render(plan: ChangePlan) -> str:
    """The page."""
    lines = [
        f"# Change plan: {_plain(plan.server)}",
        "",
        f"Made by myisam-advisor on {plan.made_at}, to be reviewed; nothing was applied.",
        "",
    ]
    if plan.is_empty:
        lines += [_plain(nothing_in_it(plan)), ""]
    lines += _findings(plan.findings)
    lines += [f"> {_plain(note)}" for note in plan.notes] + ([""] if plan.notes else [])
    if not plan.is_empty:
        lines += _parts(plan)
    if plan.without_change:
        lines += ["## Not in this plan, because no statement does it", ""]
        lines += [line for one in plan.without_change for line in _advice(one)]
    return "\n".join(lines).rstrip() + "\n"


def _advice(finding: Finding) -> Iterable[str]:
    """What to do, in one line, or a step a line."""
    about = f"- **{finding.rule}** {_plain(finding.object)}:"
    first, *steps = map(_plain, finding.recommendation.split("\n"))
    yield from (about, *(f"  {step}" for step in (first, *steps))) if steps else (f"{about} {first}",)


def _parts(plan: ChangePlan) -> Iterable[str]:
    """Each that has something to say."""
    if plan.online or plan.shell:
        yield from ("## Online", "")
        yield from _sql(*(step.statements for step in plan.online))
        yield from _block(plan.shell, "sh")
    if plan.settings or plan.init_file:
        yield from (f"## {plan.lasting}", "")
        yield from _block(option_file_text(plan).splitlines() if plan.settings else [], "ini")
        yield from _sql(plan.init_file)
    if plan.offline:
        yield from ("## Offline", "", *_offline(plan))
    if plan.rollback or plan.settings:
        yield from ("## Rollback", "", *_rollback(plan))
    yield from ("## Verification", "", *_verification(plan))


def _findings(findings: Sequence[Finding]) -> Iterable[str]:
    for finding in findings:
        about = f" {_plain(finding.object)}" if finding.object else ""
        named = f"(`{finding.rule}`{about}, {finding.confidence})"
        yield f"- **{finding.severity}: {_plain(finding.title)}** {named}. {_plain(finding.message)}"
        shown = "; ".join(
            f"{fact.label or fact.fact} = {beside(fact.label, fact.value, fact.unit)}" for fact in finding.evidence
        )
        if shown:
            yield f"  Evidence: {_plain(shown)}."
        if finding.proved:
            yield f"  **{_plain(finding.proved)}**"
        expected = f"Expect: {_plain(finding.expect)} " if finding.expect else ""
        yield f"  {expected}Cost: {_plain(finding.cost)}"
        if finding.measured:
            yield f"  {_plain(finding.measured)}"
        for refused in finding.refused:
            yield f"  **Left out:** {_plain(refused)}"
    yield ""


def _offline(plan: ChangePlan) -> Iterable[str]:
    for one in plan.offline:
        room = " **Not enough disk: make room first.**" if one.fits is False else ""
        about = ", ".join(f"`{finding.rule}` {_plain(finding.object)}".strip() for finding in one.findings)
        yield f"{about}: {_plain(one.lock)}; lasts {_plain(one.lasts)}; {_plain(one.disk)}.{room}"
        yield ""
        for command in one.before:
            yield from _sql([command]) if isinstance(command, Statement) else _block([command], "sh")
        yield from _sql(one.statements)


def _rollback(plan: ChangePlan) -> Iterable[str]:
    yield from _sql(*(undo for _, undo in plan.rollback))
    said = [(finding, finding.undo) for finding, undo in plan.rollback if not undo]
    yield from (f"- `{finding.rule}` {_plain(finding.object)}: {_plain(undo)}" for finding, undo in said)
    former = former_settings(plan)
    if former:
        yield from (f"- {_plain(way_back_of_settings(plan))}", *(f"  - {_plain(one)}" for one in former))
    yield from [""] if said or former else []


def _verification(plan: ChangePlan) -> Iterable[str]:
    for finding, _ in plan.verification:
        yield f"- `{finding.rule}`: {_plain(finding.verify)}"
    yield from ("- An hour after the change, with a running daemon: `myisam-advisor verify`", "")
    queries = list(dict.fromkeys(query for _, of_one in plan.verification for query in of_one))
    yield from _sql(queries)


def _sql(*of_each: Sequence[Statement]) -> list[str]:
    """One block of what each finding has: a remark or a lock of one is about nothing of the next."""
    return _block([line for commands in of_each for line in for_copying(commands)], "sql")


def _block(lines: Sequence[str], language: str) -> list[str]:
    """A fenced block, with a fence longer than any run of backticks within; nothing without a line."""
    if not lines:
        return []
    text = "\n".join(lines)
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return [f"{fence}{language}", text, fence, ""]


def _plain(text: str) -> str:
    """Text that stays text: nothing in a name becomes markup."""
    return _SPECIAL.sub(r"\\\1", " ".join(printable(text).split()))
