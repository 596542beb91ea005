"""The whole plan as one SQL script. Fed to a client as it is, only part 1 runs: the rest is in comments until a person takes them away."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from itertools import groupby

from myisam_advisor.changes.formats import cnf
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.changes.statements import in_comments
from myisam_advisor.findings import Finding
from myisam_advisor.texts import printable, with_unit

FILE_NAME = "plan.sql"
WIDTH = 110


def render(plan: ChangePlan) -> str:
    """The script."""
    if plan.is_empty:
        return "\n".join([*_header(plan), "-- Nothing to change.", *_advice(plan.without_change), ""])
    parts = [
        *_header(plan), *_evidence(plan.findings), *_notes(plan),
        *_heading("1. Online: runs at once, lost at a restart"), *_online(plan),
        *_heading("2. my.cnf and init_file: so that it survives a restart"), *_remarks(cnf.render(plan).splitlines()), *_init_file(plan),
        *_heading("3. Offline: each locks its table. Take the '-- ' before ALTER, OPTIMIZE, ... away to run it"), *_offline(plan),
        *_heading("4. Rollback: the way back, last change first. In comments: run it only to go back"), *_rollback(plan),
        *_heading("5. Verification"), *_verification(plan), *_advice(plan.without_change), "",
    ]  # fmt: skip
    return "\n".join(parts)


def _header(plan: ChangePlan) -> list[str]:
    return [
        "-- myisam-advisor: a plan to review, not to run unread",
        f"-- {printable(plan.server)}, {plan.made_at}",
        "-- Fed to a client as it is, only part 1 runs.",
    ]


def _evidence(findings: Sequence[Finding]) -> Iterable[str]:
    for finding in findings:
        about = f" {finding.object}" if finding.object else ""
        yield from _wrapped(
            f"{finding.severity} {finding.rule}{about} ({finding.confidence}): {finding.message}", first="--\n-- "
        )
        shown = "; ".join(f"{fact.fact} = {with_unit(fact.value, fact.unit)}" for fact in finding.evidence)
        if shown:
            yield from _wrapped(f"Evidence: {shown}.")
        yield from _wrapped(f"Expect: {finding.expect}")
        if finding.measured:
            yield from _wrapped(finding.measured)
        yield from _wrapped(f"Cost: {finding.cost}")


def _notes(plan: ChangePlan) -> Iterable[str]:
    for note in plan.notes:
        yield from _wrapped(note, first="--\n-- Note: ")


def _online(plan: ChangePlan) -> Iterable[str]:
    if not (plan.online or plan.shell):
        yield "-- nothing"
    for finding, steps in groupby(plan.online, key=lambda step: step.finding):
        yield f"-- {_about([finding])}"
        for step in steps:
            yield from step.statements
    if plan.shell:
        yield "-- in a shell:"
        yield from (f"--   {line}" for line in plan.shell)


def _init_file(plan: ChangePlan) -> Iterable[str]:
    if not plan.init_file:
        return
    yield f"-- init_file{f' (there is one already, {printable(plan.init_file_present)}: append these lines to it)' if plan.init_file_present else ''}:"
    yield from (f"--   {line}" for line in plan.init_file)


def _offline(plan: ChangePlan) -> Iterable[str]:
    if not plan.offline:
        yield "-- nothing"
    for one in plan.offline:
        yield f"-- {_about(one.findings)}"
        yield from _wrapped(f"Lock: {one.lock}. Lasts {one.lasts}. Disk: {one.disk}.")
        if one.afterwards:
            yield from _wrapped(f"Afterwards: {one.afterwards}.")
        if one.fits is False:
            yield "-- NOT ENOUGH DISK: make room first."
        yield from map(in_comments, one.statements)


def _rollback(plan: ChangePlan) -> Iterable[str]:
    for finding, lines in plan.rollback:
        yield f"-- {_about([finding])}"
        yield from map(in_comments, lines)
    if plan.settings:
        yield "-- my.cnf: remove the lines of part 2, or set what was there:"
        for setting in plan.settings:
            was = "unknown here" if setting.present is None else setting.present or "empty"
            yield f"--   {setting.variable}: was {printable(was)}"


def _verification(plan: ChangePlan) -> Iterable[str]:
    for finding, queries in plan.verification:
        yield from _wrapped(f"{finding.rule}: {finding.verify}")
        yield from map(in_comments, queries)
    yield "-- With a running daemon (myisam-advisor serve), an hour after the change: myisam-advisor verify"


def _advice(findings: Sequence[Finding]) -> Iterable[str]:
    """What cannot be done by a statement."""
    if findings:
        yield from _heading("Not in this plan, because no statement does it")
    for finding in findings:
        yield from _wrapped(f"{finding.rule} {finding.object}: {finding.recommendation}".replace(" :", ":"))


def _about(findings: Sequence[Finding]) -> str:
    return printable(", ".join(f"{finding.rule} {finding.object}".strip() for finding in findings))


def _heading(text: str) -> list[str]:
    return ["", f"-- {'=' * (WIDTH - 3)}", f"-- {text}", f"-- {'=' * (WIDTH - 3)}"]


def _remarks(lines: Iterable[str]) -> Iterable[str]:
    return (f"-- {line}".rstrip() for line in lines)


def _wrapped(text: str, first: str = "-- ") -> list[str]:
    wrapped = textwrap.wrap(
        " ".join(printable(text).split()), WIDTH - 3, break_long_words=False, break_on_hyphens=False
    )
    return [f"{first}{wrapped[0]}", *(f"--   {line}" for line in wrapped[1:])] if wrapped else []
