"""The whole plan as one SQL script. Fed to a client as it is, only part 1 runs: the rest is in comments until a person takes them away."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from itertools import groupby

from myisam_advisor.changes.formats.base import option_file_text
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.script import Script
from myisam_advisor.texts.templates import printable, with_unit

FILE_NAME = "plan.sql"
WIDTH = 110


def render(plan: ChangePlan) -> str:
    """The script."""
    script = Script()
    _header(script, plan)
    if plan.is_empty:
        script.remark("Nothing to change.")
        _advice(script, plan.without_change)
        return script.text()
    _evidence(script, plan.findings)
    for note in plan.notes:
        script.remark()
        _wrapped(script, f"Note: {note}")
    _heading(script, "1. Online: runs at once, lost at a restart")
    _online(script, plan)
    _heading(script, "2. my.cnf and init_file: so that it survives a restart")
    script.remark(option_file_text(plan).rstrip("\n"))
    _init_file(script, plan)
    _heading(script, "3. Offline: each locks its table. Take the '-- ' before ALTER, OPTIMIZE, ... away to run it")
    _offline(script, plan)
    _heading(script, "4. Rollback: the way back, last change first. In comments: run it only to go back")
    _rollback(script, plan)
    _heading(script, "5. Verification")
    _verification(script, plan)
    _advice(script, plan.without_change)
    return script.text()


def _header(script: Script, plan: ChangePlan) -> None:
    script.remark("myisam-advisor: a plan to review, not to run unread")
    script.remark(printable(f"{plan.server}, {plan.made_at}"))
    script.remark("Fed to a client as it is, only part 1 runs.")


def _evidence(script: Script, findings: Sequence[Finding]) -> None:
    for finding in findings:
        about = f" {finding.object}" if finding.object else ""
        script.remark()
        _wrapped(script, f"{finding.severity} {finding.rule}{about} ({finding.confidence}): {finding.message}")
        shown = "; ".join(f"{fact.fact} = {with_unit(fact.value, fact.unit)}" for fact in finding.evidence)
        if shown:
            _wrapped(script, f"Evidence: {shown}.")
        _wrapped(script, f"Expect: {finding.expect}")
        if finding.measured:
            _wrapped(script, finding.measured)
        _wrapped(script, f"Cost: {finding.cost}")
        for refused in finding.refused:
            _wrapped(script, f"LEFT OUT: {refused}")


def _online(script: Script, plan: ChangePlan) -> None:
    if not (plan.online or plan.shell):
        script.remark("nothing")
    for finding, steps in groupby(plan.online, key=lambda step: step.finding):
        script.remark(_about([finding]))
        for step in steps:
            script.run(step.statements)
    if plan.shell:
        script.remark("in a shell:")
        for line in plan.shell:
            script.remark(f"  {line}")


def _init_file(script: Script, plan: ChangePlan) -> None:
    if not plan.init_file:
        return
    present = printable(plan.init_file_present)
    script.remark(f"init_file{f' (there is one already, {present}: append these lines to it)' if present else ''}:")
    for line in plan.init_file:
        script.remark(f"  {line.sql}")


def _offline(script: Script, plan: ChangePlan) -> None:
    if not plan.offline:
        script.remark("nothing")
    for one in plan.offline:
        script.remark(_about(one.findings))
        _wrapped(script, f"Lock: {one.lock}. Lasts {one.lasts}. Disk: {one.disk}.")
        if one.afterwards:
            _wrapped(script, f"Afterwards: {one.afterwards}.")
        if one.fits is False:
            script.remark("NOT ENOUGH DISK: make room first.")
        script.offer(one.statements)


def _rollback(script: Script, plan: ChangePlan) -> None:
    for finding, lines in plan.rollback:
        script.remark(_about([finding]))
        script.offer(lines)
    settings = [setting for setting in plan.settings if setting.variable]
    if settings:
        script.remark("my.cnf: remove the lines of part 2, or set what was there:")
    for setting in settings:
        was = "unknown here" if setting.present is None else setting.present or "empty"
        script.remark(f"  {setting.variable}: was {printable(was)}")


def _verification(script: Script, plan: ChangePlan) -> None:
    for finding, queries in plan.verification:
        _wrapped(script, f"{finding.rule}: {finding.verify}")
        script.offer(queries)
    script.remark("With a running daemon (myisam-advisor serve), an hour after the change: myisam-advisor verify")


def _advice(script: Script, findings: Sequence[Finding]) -> None:
    """What cannot be done by a statement."""
    if findings:
        _heading(script, "Not in this plan, because no statement does it")
    for finding in findings:
        _wrapped(script, f"{finding.rule} {finding.object}: {finding.recommendation}".replace(" :", ":"))


def _about(findings: Sequence[Finding]) -> str:
    return printable(", ".join(f"{finding.rule} {finding.object}".strip() for finding in findings))


def _heading(script: Script, text: str) -> None:
    script.blank()
    for line in ("=" * (WIDTH - 3), text, "=" * (WIDTH - 3)):
        script.remark(line)


def _wrapped(script: Script, text: str) -> None:
    """A paragraph, its lines after the first indented."""
    words = " ".join(printable(text).split())
    for place, line in enumerate(textwrap.wrap(words, WIDTH - 3, break_long_words=False, break_on_hyphens=False)):
        script.remark(f"  {line}" if place else line)
