"""Candidates as findings: planned with the memory that is left, their texts filled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from myisam_advisor.catalogue.fact_labels import label_of
from myisam_advisor.catalogue.forecasts import forecast_of
from myisam_advisor.catalogue.rules import SEVERITIES, Rule
from myisam_advisor.factbase.hosting import HERE, Hosting
from myisam_advisor.judging.faults import FAULTS, KnownFaults, RuleError
from myisam_advisor.judging.findings import Finding, NotEvaluated, QuotedProof, ShownFact
from myisam_advisor.judging.resolver import CONFIRMED, Candidate, CandidateOutcome, NoGain, Worded
from myisam_advisor.proofs.proof import NO_DIFFERENCE, WORSE, WORTH_IT
from myisam_advisor.proofs.settled import Settled, figures_in_words, settled
from myisam_advisor.proofs.store import NO_PROOFS, KeptProofs
from myisam_advisor.remedies.command_templates import fill_command, fill_option_line
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.misread_members import caution_for_all, caution_for_members
from myisam_advisor.remedies.planners.base import (
    FILE_LIMIT,
    TABLE_CACHES,
    NotWorth,
    Plan,
    PlanContext,
    PlanFacts,
    Planned,
    planner_named,
)
from myisam_advisor.remedies.price import Price, price_of
from myisam_advisor.remedies.refused_conversions import NOBODY_LOOKS, RefusedConversions
from myisam_advisor.remedies.remedy import Admitted, Remedy
from myisam_advisor.remedies.statements.base import text_of
from myisam_advisor.remedies.statements.parsing import parsed_apart
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.remedies.trial_offer import trial_line
from myisam_advisor.remedies.undo_lines import one_statement_a_line
from myisam_advisor.texts.steps import in_steps
from myisam_advisor.texts.templates import TextError, all_printable, fill, printable
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.declaring.late_patterns import late_pattern
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row
from myisam_exporter.look.fact_set import FactSet

# In a rule's way back: where the lines of my.cnf stood before. Where the rule does not say it, it comes last.
LINES_BACK = "lines_back"
# Also in its texts: whether somebody may work on the server's machine as on Linux, and whether the server takes SET GLOBAL.
ON_LINUX, TAKES_SET_GLOBAL = "on_linux", "takes_set_global"
NOTHING_CHANGED = "Nothing to undo: nothing is changed."
INIT_FILE_BACK = "Take its lines out of the init_file."
PROOFS_LISTED = "myisam-advisor proofs lists what was proved here; the same trial again takes its place."
# The column that says whether a remedy is proved, for the texts and planners of rules that recommend theirs from a proof only.
PROVED = "proved"
# In the words of a finding: it has people alter or repair tables.
_ALTERS = late_pattern(r"\bALTER TABLE\b|\bmysqlcheck\b")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A candidate with its plan, the values for its texts, and what of its remedy the server allows."""

    candidate: Candidate
    plan: Plan
    values: Mapping[str, object]
    admitted: Admitted

    @property
    def texts(self) -> list[str]:
        """What would be run and set."""
        remedy = self.admitted.remedy
        return [*(str(text_of(command)) for command in remedy.commands), *map(str, remedy.my_cnf)]


class Wording:
    """Puts candidates in words, and keeps the account of what the findings that stand will take.

    `faults` gathers rules whose texts or planners fail. `rules` are those in force. `for_trial`: what is found is to be tried. So what was proved before
    decides nothing, and a remedy that wants a proof is there without one. `file_limit` is the open_files_limit that all findings are to name;
    `conversions` tells which tables the server refuses to convert.
    """

    def __init__(
        self,
        facts: FactSet,
        known_faults: KnownFaults,
        proofs: KeptProofs = NO_PROOFS,
        rules: Iterable[Rule] = (),
        *,
        for_trial: bool = False,
        file_limit: int | None = None,
        conversions: RefusedConversions = NOBODY_LOOKS,
    ) -> None:
        self.known = PlanFacts(facts, proofs.rates, conversions)
        if file_limit is not None:
            self.known.planned_variables[FILE_LIMIT] = file_limit
        self.for_trial = for_trial
        self.gate = RemedyGate(self.known, rules)
        self.known_faults = known_faults
        self.proofs = proofs
        self.faults: dict[str, NotEvaluated] = {}

    def put_in_words(self, candidate: Candidate) -> CandidateOutcome:
        """The finding with what its plan takes, or why there is none. Nothing is booked."""
        rule = candidate.rule
        try:
            return self._held_against_proofs(candidate)
        except RuleError as error:
            if rule.id not in self.faults:
                self.faults[rule.id] = self.known_faults.fault(rule, str(error), error)
            return NotWorth(str(error))

    def keep(self, worded: Worded) -> None:
        """Book what a finding that stands takes: those that are planned from now on have what it leaves."""
        finding = worded.finding
        self.known.budget.grant(f"{finding.rule} {finding.object}".strip(), finding.memory_bytes)
        self.known.planned_index_bytes.update(worded.index_bytes)
        for command in finding.remedy.commands:
            if isinstance(command, SetGlobal) and not command.cache:
                number = command.number
                self.known.planned_variables[command.variable] = command.word if number is None else number
        for line in finding.my_cnf:
            # Also where the limit of open files lets nobody set it before a restart.
            value = line.partition("=")[2].strip()
            if (line.option in TABLE_CACHES and value.isdecimal()) or not self.known.hosting.takes_set_global:
                self.known.planned_variables.setdefault(line.option, int(value) if value.isdecimal() else value.upper())

    def _held_against_proofs(self, candidate: Candidate) -> CandidateOutcome:
        """The finding as what was proved here leaves it: as it is, with its trial for a remedy, as a warning against it, or not at all."""
        rule, row = candidate.rule, candidate.row
        wants_proof = rule.proof is not None and rule.proof.required
        draft = self._draft(replace(candidate, row={**row, PROVED: 1}) if wants_proof else candidate)
        if not isinstance(draft, _Draft):
            return draft
        said = self._settled(draft)
        verdict = "" if said is None or candidate.severity == SEVERITIES[0] else said.verdict
        if self.for_trial:
            # Room is booked where `check` books it: the others are to be tried as it words them.
            is_made = not wants_proof or bool(row.get(PROVED)) or verdict == WORTH_IT
            return Worded(self._finding(draft, None), draft.plan.index_bytes if is_made else {})
        if verdict == NO_DIFFERENCE and rule.is_for_speed:
            assert said is not None
            return NoGain(f"{said.sentence[:1].lower()}{said.sentence[1:].rstrip('.')}: no difference that pays")
        if wants_proof and verdict not in (WORTH_IT, WORSE) and not row.get(PROVED):
            draft = self._draft(replace(candidate, row={**row, PROVED: 0}))
            if not isinstance(draft, _Draft):
                return draft
            draft = _offering_trial(draft)
        finding = self._finding(draft, said)
        if verdict == WORSE and rule.is_for_speed:
            return Worded(_warned_against(finding))
        if said is not None and verdict == WORSE:
            finding = _priced(finding, said)
        return Worded(finding, draft.plan.index_bytes)

    def _settled(self, draft: _Draft) -> Settled | None:
        candidate = draft.candidate
        if not self.proofs.proofs:
            return None
        return settled(candidate.rule, candidate.object, candidate.row, draft.texts, self.proofs, self.known.all)

    def _draft(self, candidate: Candidate) -> _Draft | CandidateOutcome:
        """The remedy of a candidate, as this server allows it; what its planner says where it has none. Raises RuleError."""
        from jinja2 import TemplateError

        rule = candidate.rule
        plan = self._plan(rule, candidate.row)
        if not isinstance(plan, Plan):
            return plan
        values: dict[str, object] = {**rule.values(), **candidate.row, **plan.values}
        try:
            commands = [
                one
                for text in rule.commands
                if (command := fill_command(text, values))
                for one in parsed_apart(command)
            ]
            options = [fill_option_line(line, values) for line in rule.my_cnf]
            remedy = Remedy(
                commands=(*commands, *plan.commands),
                undo_commands=plan.undo_commands,
                my_cnf=tuple(filter(None, options)) + plan.my_cnf,
                init_file=plan.init_file,
            )
            return _Draft(candidate, plan, values, self.gate.admit(remedy))
        except (TemplateError, TextError, *FAULTS) as error:
            raise RuleError(f"texts that work: {error}") from error

    def _finding(self, draft: _Draft, said: Settled | None) -> Finding:
        from jinja2 import TemplateError

        candidate, values, admitted = draft.candidate, draft.values, draft.admitted
        rule = candidate.rule
        hosting = self.known.hosting
        words = {
            LINES_BACK: admitted.my_cnf_undo,
            ON_LINUX: hosting.on_linux,
            TAKES_SET_GLOBAL: hosting.takes_set_global,
        }
        shown = all_printable({**values, "object": candidate.object, **words})
        proves = said is not None and said.verdict == WORTH_IT
        decides = said is not None and said.verdict in (WORTH_IT, WORSE)
        try:
            recommendation = in_steps(fill(rule.recommendation, shown))
            finding = Finding(
                rule=rule.id,
                title=printable(rule.title),
                severity=candidate.severity,
                confidence=CONFIRMED if proves and rule.proof and rule.proof.required else candidate.confidence,
                scope=rule.scope,
                object=candidate.object,
                variable=candidate.variable,
                message=fill(rule.finding, shown).join(candidate.held),
                evidence=tuple(_shown(rule, values)),
                recommendation=in_steps(recommendation, (*admitted.instead, self._caution(draft, recommendation))),
                expect=fill(rule.expect, shown),
                cost=" ".join(filter(None, (admitted.cost_before, fill(rule.cost, shown), *admitted.cost))),
                undo=one_statement_a_line(
                    _with_lines_back(
                        admitted.undo_instead or " ".join(filter(None, (fill(rule.undo, shown), *admitted.undo))),
                        admitted,
                    )
                ),
                verify=fill(rule.verify, shown),
                sources=rule.sources,
                remedy=admitted.remedy,
                refused=admitted.instead,
                to_do=fill(rule.to_do, shown),
                price=price_of(admitted.remedy, self.known),
                memory_bytes=draft.plan.memory_bytes,
                measured="" if decides or (values.get(PROVED) and rule.proof) else self._measured(rule),
                proved="" if said is None else said.sentence,
                proof=None if said is None else _quoted(said),
                forecast=forecast_of(rule.id, values.get(rule.forecast))
                if said is None and (admitted.remedy.commands or admitted.remedy.my_cnf)
                else None,
                resource=rule.resource,
                resource_order=rule.resource_order,
                away_seconds=candidate.away_seconds,
            )
            return _as_said(finding, hosting)
        except (TemplateError, TextError, *FAULTS) as error:
            raise RuleError(f"texts that work: {error}") from error

    def _caution(self, draft: _Draft, words: str) -> str:
        """What is to be known before anything is done to the finding's tables, where no refusal of the gate's has said it.

        A finding about the whole server is about tables where its words, or what it would run, alter some or have mysqlcheck repair them.
        """
        row, said = draft.candidate.row, draft.admitted.instead
        if row.get("table_name") is not None:
            table = self.known.tables_by_name.get((row.get("schema_name"), row["table_name"]), {})
            return caution_for_members(table, said)
        if not _ALTERS.search(" ".join((words, *draft.texts))):
            return ""
        return caution_for_all(self.known.misread_tables, said)

    def _measured(self, rule: Rule) -> str:
        if rule.measured is None:
            return ""
        from myisam_advisor.catalogue.measured import quotation

        server = self.known.all.single("server")
        return quotation(rule.measured, server.get("flavour"), server.get("version_number"))

    def _plan(self, rule: Rule, row: Row) -> Planned:
        if rule.planner is None:
            return Plan()
        try:
            return planner_named(rule.planner)(row, PlanContext(self.known, rule.values()))
        except (ImportError, *FAULTS) as error:
            raise RuleError(f"a planner that works: {rule.planner} failed with {error!r}") from error


def _with_lines_back(undo: str, admitted: Admitted) -> str:
    """The way back with that of lines in files, where it does not name it: after a restart these would bring the change back."""
    said = [undo]
    if "my.cnf" not in undo and admitted.my_cnf_undo not in undo:
        said.append(admitted.my_cnf_undo)
    if admitted.remedy.init_file:
        said.append(INIT_FILE_BACK)
    return " ".join(filter(None, said))


def _as_said(finding: Finding, hosting: Hosting) -> Finding:
    """The same finding in the words of the place where its server runs."""
    if hosting == HERE:
        return finding
    return replace(
        finding,
        message=hosting.said(finding.message),
        recommendation=hosting.said(finding.recommendation),
        expect=hosting.said(finding.expect),
        cost=hosting.said(finding.cost),
        undo=hosting.said(finding.undo),
        verify=hosting.said(finding.verify),
        to_do=hosting.said(finding.to_do),
        refused=tuple(map(hosting.said, finding.refused)),
    )


def _offering_trial(draft: _Draft) -> _Draft:
    """The trial as the only command: it changes nothing, and is let through."""
    rule = draft.candidate.rule
    assert rule.proof is not None
    commands = (*draft.admitted.remedy.commands, trial_line(rule.proof.experiment, draft.candidate.row))
    return replace(draft, admitted=replace(draft.admitted, remedy=replace(draft.admitted.remedy, commands=commands)))


def _warned_against(finding: Finding) -> Finding:
    """The same finding where its remedy was proved to hurt: nothing is left that could be run."""
    named = f" ({finding.to_do})" if finding.to_do else ""
    return replace(
        finding,
        to_do=f"do not: {finding.to_do}" if finding.to_do else "do not make the change",
        recommendation=f"Do not make this change{named}: it was slower on copies of this server's own tables.",
        expect="",
        cost="None.",
        undo=NOTHING_CHANGED,
        verify=PROOFS_LISTED,
        remedy=Remedy(),
        refused=(),
        price=Price(),
        memory_bytes=0.0,
    )


def _priced(finding: Finding, said: Settled) -> Finding:
    """The same finding where its remedy was proved to be slower, and is there for something else: that is its price."""
    slower = f"Statements are slower with it, as tried on copies of this server's own tables: {figures_in_words(said.outcome)}."
    return replace(finding, cost=f"{finding.cost} {slower}".strip())


def _quoted(said: Settled) -> QuotedProof:
    proof, outcome = said.proof, said.outcome
    return QuotedProof(
        id=proof.id,
        experiment=proof.experiment,
        objects=proof.objects,
        times=outcome.times,
        low=outcome.low,
        high=outcome.high,
        verdict=outcome.verdict,
        taken_at=proof.taken_at,
        used=not said.why_not,
        why_not=said.why_not,
    )


def _shown(rule: Rule, values: Mapping[str, object]) -> Iterable[ShownFact]:
    for evidence in rule.evidence:
        value = values.get(evidence.value)
        if value is None or not isinstance(value, int | float | str):
            continue
        threshold = values.get(evidence.threshold) if evidence.threshold else None
        source = evidence.source or _source(evidence.fact)
        yield ShownFact(
            evidence.fact,
            value,
            evidence.unit,
            threshold if isinstance(threshold, int | float | str) else None,
            source,
            label_of(evidence),
        )


def _source(fact: str) -> str:
    table, _, rest = fact.partition(".")
    declared = {column.name: column.source for column in declared_columns().get(table, ())}
    return declared.get(rest) or {"status": "SHOW GLOBAL STATUS", "variable": "SHOW GLOBAL VARIABLES"}.get(table, "")
