"""Rules over facts: every rule ends as finding, ok, not evaluated (needs X) or not applicable (why)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from itertools import groupby

from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.judging.asking import Inquiry
from myisam_advisor.judging.blindness import FACTS_OF_TABLES, blind_spots, tables_are_seen
from myisam_advisor.judging.contradictions import set_aside_contradictions
from myisam_advisor.judging.faults import KnownFaults
from myisam_advisor.judging.findings import Dropped, Judgement, NotApplicable, NotEvaluated
from myisam_advisor.judging.prepared import PreparedFacts
from myisam_advisor.judging.resolver import Candidate, resolve
from myisam_advisor.judging.wording import Wording


def judge(
    ready: PreparedFacts,
    database: FactDatabase | None = None,
    known: KnownFaults | None = None,
    *,
    for_trial: bool = False,
) -> Judgement:
    """Run every rule of the site over the facts, once; a `database` is used again for the next facts.

    `for_trial`: what is found is to be tried, also what was proved before, and what is recommended from a proof only.
    """
    known = known or KnownFaults()
    known.begin_look()
    site = ready.site
    facts, suspicious = set_aside_contradictions(ready.judged)
    candidates: list[Candidate] = []
    asked: set[str] = set()
    not_evaluated: list[NotEvaluated] = []
    not_applicable: list[NotApplicable] = []
    contradicted: list[Dropped] = []
    undecided: list[NotEvaluated] = []
    seconds: dict[str, float] = {}
    kept = database or FactDatabase(of_many=True)
    try:
        inquiry = Inquiry(facts, kept, known)
        for rule in site.rules:
            started = time.monotonic()
            answer = known.why_not(rule) or inquiry.ask(rule)
            seconds[rule.id] = time.monotonic() - started
            if isinstance(answer, NotEvaluated):
                not_evaluated.append(answer)
            elif isinstance(answer, NotApplicable):
                not_applicable.append(answer)
            else:
                asked.add(rule.id)
                candidates += answer
        contradicted, undecided = inquiry.contradicted, inquiry.undecided
    finally:
        if database is None:
            kept.close()
    wording = Wording(facts, known, ready.proofs, site.rules, for_trial=for_trial)
    resolution = resolve(
        candidates,
        site.rules,
        wording.put_in_words,
        lambda one: site.suppression(one.rule.id, one.object),
        wording.keep,
    )
    spoken = {finding.rule for finding in resolution.kept} | {dropped.rule for dropped in resolution.dropped}
    spoken |= {suppressed.finding.rule for suppressed in resolution.suppressed}
    undecided += resolution.undecided
    not_evaluated += [*wording.faults.values()] + [one for one in undecided if one.rule not in spoken]
    silenced = {one.rule for one in not_evaluated} | spoken
    mooted = dict(resolution.mooted)
    beside_others = _beside_others(one for one in undecided if one.rule in spoken and one.rule not in mooted)
    if not tables_are_seen(facts):
        # What nobody could look at is not made pointless by what was seen elsewhere.
        for one in not_evaluated:
            if one.facts and all(fact.partition(".")[0] in FACTS_OF_TABLES for fact in one.facts):
                mooted.pop(one.rule, None)
    unjudged = [outcome for outcome in _once_a_rule(not_evaluated) if outcome.rule not in mooted]
    return Judgement(
        resolution.kept,
        sorted(asked - silenced),
        unjudged,
        not_applicable
        + [NotApplicable(one.rule, mooted[one.rule]) for one in _once_a_rule(not_evaluated) if one.rule in mooted],
        contradicted + resolution.dropped + beside_others,
        resolution.suppressed,
        suspicious,
        [*site.warnings, *ready.proofs.refused],
        wording.known.budget,
        seconds,
        blind_spots(facts, unjudged),
        [one.rule for one in _once_a_rule(not_evaluated) if one.rule in mooted],
    )


def _beside_others(undecided: Iterable[NotEvaluated]) -> list[Dropped]:
    """What a rule could not decide for some objects, while it speaks of others; for one reason together."""
    dropped: list[Dropped] = []
    for (rule, needs), group in groupby(sorted(undecided, key=_lack), key=_lack):
        objects = [one.object for one in group]
        about = "these" if len(objects) > 1 else objects[0] or "the rest"
        dropped += [Dropped(rule, name, f"not decided for {about}: that needs {needs}") for name in objects]
    return dropped


def _lack(one: NotEvaluated) -> tuple[str, str]:
    return one.rule, one.needs


def _once_a_rule(outcomes: Iterable[NotEvaluated]) -> list[NotEvaluated]:
    return list({outcome.rule: outcome for outcome in reversed(list(outcomes))}.values())[::-1]
