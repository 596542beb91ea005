"""The report for Nagios and its kin: one line with performance data, details below, statuses 0 to 3.

Source: Nagios plugin API (assets.nagios.com); a pipe separates text from performance data, so names may not hold one.
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.catalogue.rules import SEVERITIES
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.verdict import SERIOUS, UNKNOWN, Verdict, verdict_of
from myisam_advisor.reports import exit_status as statuses
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.told import Gap, Told, told
from myisam_advisor.texts.templates import printable, so_many
from myisam_exporter.errors import shortened
from myisam_exporter.look.fact_set import FactSet

# Where not all was seen, none found is not none there (Nagios plugin API: "value may be a literal U").
UNDETERMINED = "U"
UNKNOWN_AS = {
    "ok": statuses.NAGIOS_OK,
    "warning": statuses.NAGIOS_WARNING,
    "unknown": statuses.NAGIOS_UNKNOWN,
}
# What is left of a message of 160 characters behind "MYISAM CRITICAL - " and a host's name.
MESSAGE_CHARACTERS = 120
WORDS = {
    statuses.NAGIOS_OK: "OK",
    statuses.NAGIOS_WARNING: "WARNING",
    statuses.NAGIOS_CRITICAL: "CRITICAL",
    statuses.NAGIOS_UNKNOWN: "UNKNOWN",
}


def exit_status(judgement: Judgement, facts: FactSet, shown: Shown) -> int:
    """1 or 2 by the worst finding that reaches `fail_on`; 0 when none does, and `unknown_as` where not all was seen, or no verdict is possible."""
    if statuses.by_severity(judgement, shown.fail_on) != statuses.OK:
        return statuses.NAGIOS_CRITICAL if judgement.worst == "critical" else statuses.NAGIOS_WARNING
    if judgement.blind or _is_unknown(verdict_of(judgement, facts.interval_seconds)):
        return UNKNOWN_AS[shown.unknown_as]
    return statuses.NAGIOS_OK


def _is_unknown(verdict: Verdict) -> bool:
    """Whether nothing can be said of the server; of one that does little there is nothing to page for."""
    return verdict.kind == UNKNOWN and not verdict.is_idle


def render(judgement: Judgement, facts: FactSet, shown: Shown) -> str:
    """The status line and a line for each finding; `verbose` adds what to do."""
    return "".join(f"{line}\n" for line in _lines(judgement, facts, shown))


def _lines(judgement: Judgement, facts: FactSet, shown: Shown) -> Iterable[str]:
    known = told(judgement, facts)
    status = WORDS[exit_status(judgement, facts, shown)]
    yield f"MYISAM {status} - {plain(_summary(judgement, known))} | {_performance_data(judgement)}"
    for spot in known.blind:
        yield plain(f"NOT SEEN {spot.sentence} {spot.why}.{f' -> {spot.remedy}' if spot.remedy else ''}")
    for gap in known.gaps if _is_unknown(known.verdict) and not known.blind else ():
        yield plain(f"NOT KNOWN {'; '.join(gap.causes)}{_concerned(gap)}.{f' -> {gap.remedy}' if gap.remedy else ''}")
    for finding in judgement.findings:
        about = f" {finding.object}" if finding.object else ""
        yield plain(f"{finding.severity.upper()} {finding.rule}{about}: {finding.message}")
        if shown.verbose:
            yield from (plain(f"  {step}") for step in finding.recommendation.split("\n"))
            if finding.proved:
                yield plain(f"  {finding.proved}")
    for suppressed in known.suppressed if shown.suppressed else ():
        yield plain(f"SUPPRESSED {suppressed.finding.rule} {suppressed.finding.object}: {suppressed.reason}")


def _concerned(gap: Gap) -> str:
    return f" ({so_many(len(gap.rules), 'rule')})" if gap.rules else ""


def _performance_data(judgement: Judgement) -> str:
    counts = {severity: judgement.count(severity) for severity in SEVERITIES}
    return (
        " ".join(f"{severity}={UNDETERMINED if count is None else count};;;0" for severity, count in counts.items())
        + f" not_evaluated={len(judgement.not_evaluated)};;;0 suppressed={len(judgement.suppressed)};;;0 blind={len(judgement.blind)};;;0"
    )


def _summary(judgement: Judgement, known: Told) -> str:
    """What fits into a message to a telephone: the worst first, on what, and how much more there is."""
    findings = judgement.findings
    if not findings and not known.quiet:
        needs = known.unknown[0].needs if known.unknown else "no rules"
        return shortened(f"nothing could be judged: {needs}", MESSAGE_CHARACTERS)
    if _is_unknown(known.verdict):
        return _with_number(known.verdict.headline, len(known.rules), "")
    if not findings:
        return f"{so_many(len(known.quiet), 'rule')} quiet"
    first = known.rules[0]
    said = known.verdict.headline if judgement.worst in SERIOUS else f"{first.first.title}."
    return _with_number(said, len(known.rules) - 1, "more ", first.subject)


def _with_number(sentence: str, others: int, more: str, subject: str = "") -> str:
    """The sentence and what it is about, cut so that the number of what else was found is still in the message."""
    number = f"{so_many(others, f'{more}finding')}." if others > 0 else ""
    ended = f"{subject}; {number}" if subject and number else f"{subject}." if subject else number
    return shortened(f"{sentence} {ended}".strip(), MESSAGE_CHARACTERS)


def plain(text: str) -> str:
    """Text for a plugin's output: printable, and without the pipe that would begin performance data."""
    return printable(text).replace("|", "/")
