"""The whole plan as one SQL script. Fed to a client as it is, only what is online runs: the rest is in comments until a person takes them away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

from myisam_advisor.changes.formats.base import (
    former_settings,
    nothing_in_it,
    option_file_text,
    way_back_of_settings,
)
from myisam_advisor.changes.offline import Offline
from myisam_advisor.changes.plan import ChangePlan
from myisam_advisor.judging.findings import Finding
from myisam_advisor.remedies.prose import WIDTH, broken
from myisam_advisor.remedies.script import SQL_MARK, Script
from myisam_advisor.remedies.statements.base import Statement
from myisam_advisor.texts.templates import beside, count, printable

FILE_NAME = "plan.sql"
# A plan for three hundred crashed tables had eight thousand lines, nearly all of them alike: of more than these only the first is told in full.
MOST_IN_FULL = 5


def render(plan: ChangePlan) -> str:
    """The script."""
    script = Script()
    _header(script, plan)
    if plan.is_empty:
        _wrapped(script, nothing_in_it(plan))
        _advice(script, plan.without_change)
        return script.text()
    _evidence(script, plan.findings)
    for note in plan.notes:
        script.remark()
        _wrapped(script, f"Note: {note}")
    if plan.online or plan.shell:
        _heading(script, "Online: runs at once, lost at a restart")
        _online(script, plan)
    if plan.settings or plan.init_file:
        lasting = "so that it survives a restart" if plan.online else "takes effect at the next restart"
        _heading(script, f"{plan.lasting}: {lasting}")
        _lasting(script, plan)
    if plan.offline:
        _heading(script, "Offline: each locks its table. Remove the '-- ' to run it")
        _offline(script, plan)
    if plan.rollback or plan.settings:
        _heading(script, "Rollback: undoes the changes, the last first. Run it only to go back")
        _rollback(script, plan)
    _heading(script, "Verification")
    _verification(script, plan)
    _advice(script, plan.without_change)
    return script.text()


def _header(script: Script, plan: ChangePlan) -> None:
    script.remark("myisam-advisor: a plan to review before you run it")
    _wrapped(script, f"{plan.server}, {plan.made_at}")
    runs = "executes only the part Online" if plan.online else "changes nothing"
    script.remark(f"Run as it is, this script {runs}.")


def _evidence(script: Script, findings: Sequence[Finding]) -> None:
    for _, alike in groupby(findings, key=_kind):
        same = list(alike)
        told = same if len(same) <= MOST_IN_FULL else same[:1]
        for finding in told:
            _finding(script, finding)
        if len(told) < len(same):
            script.remark()
            more = f"{count(len(same) - 1)} more like it: their statements are below"
            _wrapped(script, f"{same[0].severity} {same[0].rule}: {more}")


def _kind(finding: Finding) -> tuple[object, ...]:
    """What makes findings alike. What was proved of one, or is left out of it, is its own."""
    own = finding.object if finding.proved or finding.refused or not finding.object else ""
    return finding.rule, finding.severity, finding.confidence, own


def _finding(script: Script, finding: Finding) -> None:
    about = f" {finding.object}" if finding.object else ""
    script.remark()
    _wrapped(script, f"{finding.severity} {finding.rule}{about} ({finding.confidence}): {finding.message}")
    shown = "; ".join(
        f"{fact.label or fact.fact} = {beside(fact.label, fact.value, fact.unit)}" for fact in finding.evidence
    )
    if shown:
        _wrapped(script, f"Evidence: {shown}.")
    if finding.proved:
        _wrapped(script, finding.proved)
    if finding.expect:
        _wrapped(script, f"Expect: {finding.expect}")
    if finding.measured:
        _wrapped(script, finding.measured)
    _wrapped(script, f"Cost: {finding.cost}")
    for refused in finding.refused:
        _wrapped(script, f"LEFT OUT: {refused}")


def _online(script: Script, plan: ChangePlan) -> None:
    for finding, steps in groupby(plan.online, key=lambda step: step.finding):
        _wrapped(script, _about([finding]))
        for step in steps:
            script.run(step.statements)
    if plan.shell:
        script.remark("in a shell:")
        for line in plan.shell:
            script.remark(f"  {line}")


def _lasting(script: Script, plan: ChangePlan) -> None:
    if plan.settings:
        for line in option_file_text(plan).rstrip("\n").split("\n"):
            # A remark may be broken, as each of its lines has a mark; a setting may not.
            for part in broken(line, WIDTH - len(SQL_MARK), "# ") if line.startswith("# ") else [line]:
                script.remark(part)
    if plan.init_file:
        _init_file(script, plan)


def _init_file(script: Script, plan: ChangePlan) -> None:
    present = printable(plan.init_file_present)
    _wrapped(script, f"init_file{f' (there is one already, {present}: append these lines to it)' if present else ''}:")
    for line in plan.init_file:
        script.remark(f"  {line.sql}")


def _offline(script: Script, plan: ChangePlan) -> None:
    for _, alike in groupby(plan.offline, key=lambda one: [_kind(finding) for finding in one.findings]):
        told: dict[object, str] = {}
        by_findings = [(findings, list(some)) for findings, some in groupby(alike, key=lambda one: one.findings)]
        for place, (findings, statements) in enumerate(by_findings):
            _wrapped(script, _about(findings))
            is_told = bool(place) and len(by_findings) > MOST_IN_FULL
            for one in statements:
                _offered(script, one, told if is_told else {})
                told[_work(one)] = _short(one.lasts)


def _work(one: Offline) -> tuple[object, ...]:
    """What a statement does to its table, whichever that is."""
    return tuple(type(statement) for statement in one.statements), one.lock, one.afterwards


def _short(lasts: str) -> str:
    return lasts.partition(" (")[0]


def _offered(script: Script, one: Offline, told: Mapping[object, str]) -> None:
    for command in one.before:
        if isinstance(command, Statement):
            script.offer([command])
        else:
            script.remark(f"in a shell: {command}")
    before = told.get(_work(one))
    if before is None:
        _wrapped(script, f"Lock: {one.lock}. Lasts {one.lasts}. Disk: {one.disk}.")
        if one.afterwards:
            _wrapped(script, f"Afterwards: {one.afterwards}.")
    elif before != _short(one.lasts):
        _wrapped(script, f"Lasts {one.lasts}. Disk: {one.disk}.")
    if one.fits is False:
        script.remark("NOT ENOUGH DISK: make room first.")
    script.offer(one.statements)


def _rollback(script: Script, plan: ChangePlan) -> None:
    for in_words, some in groupby(plan.rollback, key=lambda one: "" if one[1] else " ".join(one[0].undo.split())):
        ways = list(some)
        if in_words:
            findings = [finding for finding, _ in ways]
            is_many = len(findings) > MOST_IN_FULL and len({finding.rule for finding in findings}) == 1
            about = f"{findings[0].rule}, all {count(len(findings))}" if is_many else _about(findings)
            _wrapped(script, f"{about}: {in_words}")
        for finding, lines in ways if not in_words else ():
            _wrapped(script, _about([finding]))
            script.offer(lines)
    former = former_settings(plan)
    if former:
        _wrapped(script, way_back_of_settings(plan))
    for one in former:
        script.remark(f"  {one}")


def _verification(script: Script, plan: ChangePlan) -> None:
    for told, some in groupby(plan.verification, key=lambda one: f"{one[0].rule}: {one[0].verify}"):
        _wrapped(script, told)
        for _, queries in some:
            script.offer(queries)
    _wrapped(script, "With a running daemon (myisam-advisor serve), an hour after the change: myisam-advisor verify")


def _advice(script: Script, findings: Sequence[Finding]) -> None:
    """What cannot be done by a statement."""
    if findings:
        _heading(script, "Not in this plan, because no statement does it")
    for finding in findings:
        first, *steps = finding.recommendation.split("\n")
        about = f"{finding.rule} {finding.object}".strip()
        _wrapped(script, f"{about}:" if steps else f"{about}: {first}")
        for step in (first, *steps) if steps else ():
            _wrapped(script, step)


def _about(findings: Sequence[Finding]) -> str:
    return printable(", ".join(f"{finding.rule} {finding.object}".strip() for finding in findings))


def _heading(script: Script, text: str) -> None:
    script.blank()
    script.remark(f"==== {text} ".ljust(WIDTH - len(SQL_MARK), "="))


def _wrapped(script: Script, text: str) -> None:
    """A paragraph, its lines after the first indented."""
    words = " ".join(printable(text).split())
    for line in broken(words, WIDTH - len(SQL_MARK), "  "):
        script.remark(line)
