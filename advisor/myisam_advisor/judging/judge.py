"""Rules over facts: every rule ends as finding, ok, not evaluated (needs X) or not applicable (why)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from functools import partial
from itertools import groupby

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.hosting import HERE, Hosting
from myisam_advisor.judging.asking import Asked, Inquiry
from myisam_advisor.judging.blindness import blind_spots, lacks_tables, tables_are_seen
from myisam_advisor.judging.contradictions import set_aside_contradictions
from myisam_advisor.judging.faults import KnownFaults
from myisam_advisor.judging.findings import Dropped, Judgement, NotApplicable, NotEvaluated
from myisam_advisor.judging.one_file_limit import largest_of_several, with_file_limit
from myisam_advisor.judging.prepared import PreparedFacts
from myisam_advisor.judging.resolver import Candidate, Resolution, resolve
from myisam_advisor.judging.told import Told
from myisam_advisor.judging.wording import Wording
from myisam_advisor.remedies.refused_conversions import CONVERTING, LookForRefusals, RefusedConversions
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.look.fact_set import FactSet


def judge(
    ready: PreparedFacts,
    database: FactDatabase | None = None,
    known: KnownFaults | None = None,
    *,
    for_trial: bool = False,
    told: Told | None = None,
    refusals: LookForRefusals | None = None,
) -> Judgement:
    """Run every rule of the site over the facts, once; a `database` is used again for the next facts.

    `for_trial`: what is found is to be tried, also what was proved before, and what is recommended from a proof only.
    `told` is what was told in the last looks, of which this one has begun: what is away for a moment is told on.
    `refusals` looks at definitions of tables for what the server refuses to convert; None where nobody may look.
    """
    known = known or KnownFaults()
    known.begin_look()
    rules = ready.site.rules
    facts, suspicious = set_aside_contradictions(ready.judged)
    answers = _asked(rules, facts, database, known, told)
    conversions = RefusedConversions(refusals, _to_convert(answers.candidates))
    words_for = partial(Wording, facts, known, ready.proofs, rules, for_trial=for_trial, conversions=conversions)
    wording, resolution = _decided(answers.candidates, ready.site, words_for)
    if told is not None:
        told.end(resolution.kept)
    spoken = _spoken(resolution)
    undecided = answers.undecided + resolution.undecided
    silent = [one for one in undecided if one.rule not in spoken]
    not_evaluated = [*answers.not_evaluated, *wording.faults.values(), *silent]
    spoken_and_lacking = (one for one in undecided if one.rule in spoken and one.rule not in resolution.mooted)
    pointless = _pointless(resolution.mooted, not_evaluated, facts)
    unjudged = [one for one in _once_a_rule(not_evaluated) if one.rule not in pointless]
    mooted = [one.rule for one in _once_a_rule(not_evaluated) if one.rule in pointless]
    judgement = Judgement(
        findings=resolution.kept,
        quiet=sorted(answers.asked - {one.rule for one in not_evaluated} - spoken),
        not_evaluated=unjudged,
        not_applicable=answers.not_applicable + [NotApplicable(rule, pointless[rule]) for rule in mooted],
        dropped=answers.contradicted + resolution.dropped + _beside_others(spoken_and_lacking),
        suppressed=resolution.suppressed,
        suspicious=suspicious,
        warnings=[*ready.site.warnings, *ready.proofs.refused, *answers.cut_short],
        memory=wording.known.budget,
        seconds=answers.seconds,
        blind=blind_spots(facts, unjudged),
        mooted=mooted,
    )
    return _as_said(judgement, wording.known.hosting)


@dataclass(slots=True)
class _Answers:
    """What all rules answered. `asked` are those whose query was run; `seconds` is what each took; `cut_short` names those that found too much."""

    candidates: list[Candidate] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    not_evaluated: list[NotEvaluated] = field(default_factory=list)
    not_applicable: list[NotApplicable] = field(default_factory=list)
    contradicted: list[Dropped] = field(default_factory=list)
    undecided: list[NotEvaluated] = field(default_factory=list)
    cut_short: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def take(self, rule: Rule, answer: Asked) -> None:
        """What one rule answers."""
        if isinstance(answer, NotEvaluated):
            self.not_evaluated.append(answer)
        elif isinstance(answer, NotApplicable):
            self.not_applicable.append(answer)
        else:
            self.asked.add(rule.id)
            self.candidates += answer


def _asked(
    rules: Iterable[Rule], facts: FactSet, database: FactDatabase | None, known: KnownFaults, told: Told | None
) -> _Answers:
    """What all rules answer, held against the facts in this database, or in one for them alone."""
    kept = database or FactDatabase(of_many=True)
    try:
        inquiry = Inquiry(facts, kept, known, told)
        answers = _Answers(contradicted=inquiry.contradicted, undecided=inquiry.undecided, cut_short=inquiry.cut_short)
        for rule in rules:
            started = time.monotonic()
            answers.take(rule, known.why_not(rule) or inquiry.ask(rule))
            answers.seconds[rule.id] = time.monotonic() - started
        return answers
    finally:
        if database is None:
            kept.close()


def _decided(
    candidates: Sequence[Candidate], site: Site, words_for: Callable[..., Wording]
) -> tuple[Wording, Resolution]:
    """The findings that remain, in words; written once more where several set a limit of open files, as a server has one."""

    def suppression(one: Candidate) -> tuple[str, str] | None:
        return site.suppression(one.rule.id, one.object)

    def decided(file_limit: int | None) -> tuple[Wording, Resolution]:
        words = words_for(file_limit=file_limit)
        return words, resolve(candidates, site.rules, words.put_in_words, suppression, words.keep)

    wording, resolution = decided(None)
    file_limit = largest_of_several(resolution.kept)
    if file_limit is not None:
        wording, resolution = decided(file_limit)
        resolution.kept = with_file_limit(resolution.kept, file_limit)
    return wording, resolution


def _as_said(judgement: Judgement, hosting: Hosting) -> Judgement:
    """The same judgement in the words of the place where the server runs, without ways to a fact that nobody can go there; findings are so already."""
    if hosting == HERE:
        return judgement
    return replace(
        judgement,
        not_evaluated=[replace(one, how=hosting.way(one.how)) for one in judgement.not_evaluated],
        dropped=[replace(one, why=hosting.said(one.why)) for one in judgement.dropped],
        blind=[replace(one, remedy=hosting.way(one.remedy)) for one in judgement.blind],
    )


def _to_convert(candidates: Iterable[Candidate]) -> list[TableName]:
    """The tables for which a finding may give an ALTER to another engine, as its rule puts them in order."""
    rows = (one.row for one in candidates if one.rule.planner in CONVERTING)
    names = ((row.get("schema_name"), row.get("table_name")) for row in rows)
    return [(schema, table) for schema, table in names if isinstance(schema, str) and isinstance(table, str)]


def _spoken(resolution: Resolution) -> set[str]:
    """The rules that say something, be it dropped or suppressed."""
    told = {finding.rule for finding in resolution.kept} | {dropped.rule for dropped in resolution.dropped}
    return told | {suppressed.finding.rule for suppressed in resolution.suppressed}


def _pointless(mooted: Mapping[str, str], not_evaluated: Iterable[NotEvaluated], facts: FactSet) -> dict[str, str]:
    """The rules that a finding makes pointless, and why. What nobody could look at is not made so by what was seen elsewhere."""
    if tables_are_seen(facts):
        return dict(mooted)
    unseen = {one.rule for one in not_evaluated if lacks_tables(one)}
    return {rule: why for rule, why in mooted.items() if rule not in unseen}


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
