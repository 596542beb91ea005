"""What is to be said first: the worst that was found, what holds the server back, and what was not seen - in one sentence."""

from __future__ import annotations

import re

from myisam_advisor.judging.findings import LOAD, Finding, Judgement
from myisam_advisor.texts.templates import so_many
from myisam_exporter.declaring.lean_dataclasses import dataclass

HELD_BACK, TO_MEND, COULD_GAIN, NOTHING, UNKNOWN = "held back", "to mend", "could gain", "nothing", "unknown"
CRITICAL, WARNING, INFO, GOOD = "critical", "warning", "info", "good"
SERIOUS = (CRITICAL, WARNING)
_SENTENCE = re.compile(r"(.+?[.!?])(?=\s+[A-Z0-9`]|\s*$)", re.DOTALL)
# Rules that say that nothing can be said.
NO_SAMPLE, NO_TABLES = "insufficient-sample", "no-myisam"


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kind` is one of the five above; `finding` is what led there.

    `tone` is what colour says: critical, warning, info, unknown, good. Only where nothing was found and all was seen it is good.
    """

    kind: str
    headline: str
    detail: str = ""
    finding: Finding | None = None
    tone: str = UNKNOWN

    @property
    def is_idle(self) -> bool:
        """Whether too little happened for a verdict: nobody can do anything about that."""
        return self.kind == UNKNOWN and self.finding is not None


def verdict_of(judgement: Judgement, interval_seconds: float | None) -> Verdict:
    """The verdict over all findings: the worst of them, and of the resources that are short the one nearest to the hardware.

    Findings of severity info never hold a server back: it could gain by them.
    """
    if judgement.worst in SERIOUS:
        return _serious(judgement)
    unknown = _unknown(judgement, interval_seconds)
    if unknown is not None:
        return unknown
    short = _short(judgement)
    if short:
        detail = f"A possible gain: {short[0].title}. {first_sentence(short[0].message)}"
        return Verdict(COULD_GAIN, "Nothing serious holds this server back.", detail, short[0], INFO)
    nobody = _found(judgement, NO_TABLES)
    if nobody is not None:
        # A server of another engine's may be on its knees: nothing was asked about that.
        used = "not" if nobody.confidence == "confirmed" else "hardly"
        return Verdict(NOTHING, f"MyISAM is {used} used here. Other engines are not judged.", "", nobody, INFO)
    tone = INFO if judgement.findings else GOOD
    return Verdict(NOTHING, "Nothing holds this server back.", _coverage(judgement), tone=tone)


def _unknown(judgement: Judgement, interval_seconds: float | None) -> Verdict | None:
    """Why nothing can be said of a server in which nothing serious was found; None where something can."""
    if not judgement.quiet and not judgement.findings:
        told = judgement.blind[0].sentence if judgement.blind else "See below for what is missing."
        return Verdict(UNKNOWN, "Nothing could be judged.", told)
    if judgement.blind:
        spot = judgement.blind[0]
        return Verdict(UNKNOWN, spot.sentence, _sentences(spot.why, spot.remedy))
    if not interval_seconds and not _has_no_tables(judgement):
        return Verdict(UNKNOWN, "Not known yet: rates need an interval.", "Only one look was taken so far.")
    if len(judgement.not_evaluated) > _judged(judgement) and _found(judgement, NO_TABLES) is None:
        # Silence of most rules is no health, whatever the others hint at: a facts file may hold next to nothing.
        nothing = "Nothing serious" if judgement.findings else "Nothing"
        return Verdict(UNKNOWN, f"{nothing} was found, but only {_coverage(judgement)}")
    sample = _found(judgement, NO_SAMPLE)
    if sample is not None:
        return Verdict(UNKNOWN, "There was too little activity for a verdict.", first_sentence(sample.message), sample)
    return None


def _found(judgement: Judgement, rule: str) -> Finding | None:
    return next((finding for finding in judgement.findings if finding.rule == rule), None)


def _has_no_tables(judgement: Judgement) -> bool:
    """Whether it is known that there are none: no interval could tell more of them."""
    found = _found(judgement, NO_TABLES)
    return found is not None and found.confidence == "confirmed"


def not_seen(judgement: Judgement, interval_seconds: float | None) -> list[str]:
    """Sentences on what was not seen, so that nothing found there means nothing; none where all was."""
    if judgement.blind:
        return [spot.sentence for spot in judgement.blind]
    unknown = _unknown(judgement, interval_seconds)
    return [] if unknown is None else [unknown.headline]


def _short(judgement: Judgement) -> list[Finding]:
    """What says that a resource is short, the one nearest to the hardware first."""
    return sorted((one for one in judgement.findings if one.resource), key=lambda finding: finding.resource_order)


def _serious(judgement: Judgement) -> Verdict:
    worst = judgement.worst or WARNING
    holding = next((finding for finding in _short(judgement) if finding.severity in SERIOUS), None)
    held = ""
    if holding is not None:
        held = f"{'Probably held' if holding.confidence == 'suspected' else 'Held'} back by {holding.resource}."
    if holding is not None and worst in {holding.severity, WARNING}:
        return Verdict(HELD_BACK, held, _also(judgement, first_sentence(holding.message)), holding, worst)
    first = next(finding for finding in judgement.findings if finding.severity == worst)
    besides = f" Besides, {held[0].lower()}{held[1:]}" if held else ""
    detail = _also(judgement, first_sentence(first.message))
    return Verdict(TO_MEND, f"{first.title}.{besides}", detail, first, worst)


def _also(judgement: Judgement, detail: str) -> str:
    """The detail, and what was not seen; that little happened contradicts no finding and is left for below."""
    return " ".join([detail, *(spot.sentence for spot in judgement.blind if spot.what != LOAD)])


def _sentences(*parts: str) -> str:
    """Phrases as sentences."""
    return " ".join(f"{part[0].upper()}{part[1:].rstrip('.')}." for part in parts if part)


def _judged(judgement: Judgement) -> int:
    return len(judgement.quiet) + len({finding.rule for finding in judgement.findings})


def _coverage(judgement: Judgement) -> str:
    judged, missing = _judged(judgement), len(judgement.not_evaluated)
    lacking = f"; {missing} lack{'s' if missing == 1 else ''} a fact, see below" if missing else ""
    return f"{so_many(judged, 'rule')} could judge{lacking}."


def first_sentence(text: str) -> str:
    """The first sentence of a paragraph, or all of it."""
    found = _SENTENCE.match(text)
    return found[1] if found else text
