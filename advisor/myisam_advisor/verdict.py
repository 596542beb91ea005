"""What holds the server back now, in one sentence."""

from __future__ import annotations

import re
from dataclasses import dataclass

from myisam_advisor.findings import Finding, Judgement

HELD_BACK, COULD_GAIN, NOTHING, UNKNOWN = "held back", "could gain", "nothing", "unknown"
_SENTENCE = re.compile(r"(.+?[.!?])(?=\s+[A-Z0-9`]|\s*$)", re.DOTALL)
# Rules that say that nothing can be said.
NO_SAMPLE = "insufficient-sample"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is one of the four above; `finding` is what led there."""

    kind: str
    headline: str
    detail: str = ""
    finding: Finding | None = None


def verdict_of(judgement: Judgement, interval_seconds: float | None) -> Verdict:
    """The verdict over all findings: of the resources that are short, the one nearest to the hardware.

    Findings of severity info never hold a server back: it could gain by them.
    """
    short = sorted((one for one in judgement.findings if one.resource), key=lambda finding: finding.resource_order)
    serious = next((finding for finding in short if finding.severity != "info"), None)
    if serious is not None:
        held = "Probably held back" if serious.confidence == "suspected" else "Held back"
        headline = f"{held} by {serious.resource}."
        return Verdict(HELD_BACK, headline, first_sentence(serious.message), serious)
    if not interval_seconds:
        return Verdict(UNKNOWN, "Not known yet: rates need an interval.", "One moment was looked at so far.")
    sample = next((finding for finding in judgement.findings if finding.rule == NO_SAMPLE), None)
    if sample is not None:
        return Verdict(UNKNOWN, "Too little happened for a verdict.", first_sentence(sample.message), sample)
    if short:
        detail = f"It could gain by this: {short[0].title}. {first_sentence(short[0].message)}"
        return Verdict(COULD_GAIN, "Nothing serious holds this server back.", detail, short[0])
    if not judgement.quiet:
        return Verdict(UNKNOWN, "Nothing could be judged.", "See below what is missing.")
    return Verdict(NOTHING, "Nothing holds this server back.", _coverage(judgement))


def _coverage(judgement: Judgement) -> str:
    judged = len(judgement.quiet) + len({finding.rule for finding in judgement.findings})
    missing = len(judgement.not_evaluated)
    lacking = f"; {missing} lack{'s' if missing == 1 else ''} a fact, see below" if missing else ""
    return f"{judged} rules could judge{lacking}."


def first_sentence(text: str) -> str:
    """The first sentence of a paragraph, or all of it."""
    found = _SENTENCE.match(text)
    return found[1] if found else text
