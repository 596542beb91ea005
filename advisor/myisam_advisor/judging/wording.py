"""Candidates as findings: planned with the memory that is left, their texts filled."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from myisam_advisor.catalogue.fact_labels import label_of
from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.judging.faults import FAULTS, KnownFaults, RuleError
from myisam_advisor.judging.findings import Finding, NotEvaluated, ShownFact
from myisam_advisor.judging.resolver import Candidate, Outcome, Worded
from myisam_advisor.remedies.command_templates import fill_command, fill_option_line
from myisam_advisor.remedies.gate import RemedyGate
from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, PlanFacts, Planned, planner_named
from myisam_advisor.remedies.price import price_of
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.texts.templates import TextError, fill, printable
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Row
from myisam_exporter.look.fact_set import FactSet


class Wording:
    """Puts candidates in words, and keeps the account of what the findings that stand will take.

    `faults` gathers rules whose texts or planners fail.
    """

    def __init__(self, facts: FactSet, known_faults: KnownFaults) -> None:
        self.known = PlanFacts(facts)
        self.gate = RemedyGate(self.known)
        self.known_faults = known_faults
        self.faults: dict[str, NotEvaluated] = {}

    def put_in_words(self, candidate: Candidate) -> Outcome:
        """The finding with what its plan takes, or why there is none. Nothing is booked."""
        rule = candidate.rule
        try:
            plan = self._plan(rule, candidate.row)
            if not isinstance(plan, Plan):
                return plan
            return Worded(self._finding(candidate, plan), plan.index_bytes)
        except RuleError as error:
            if rule.id not in self.faults:
                self.faults[rule.id] = self.known_faults.fault(rule, str(error), error)
            return NotWorth(str(error))

    def keep(self, worded: Worded) -> None:
        """Book what a finding that stands takes: those that are planned from now on have what it leaves."""
        finding = worded.finding
        self.known.budget.grant(f"{finding.rule} {finding.object}".strip(), finding.memory_bytes)
        self.known.planned_index_bytes.update(worded.index_bytes)

    def _finding(self, candidate: Candidate, plan: Plan) -> Finding:
        from jinja2 import TemplateError

        rule, row = candidate.rule, candidate.row
        values: dict[str, object] = {**rule.values(), **row, **plan.values}
        shown = {name: printable(value) if isinstance(value, str) else value for name, value in values.items()} | {
            "object": printable(candidate.object)
        }
        try:
            commands = [parsed(command) for text in rule.commands if (command := fill_command(text, values))]
            options = [fill_option_line(line, values) for line in rule.my_cnf]
            admitted = self.gate.admit(
                Remedy(
                    commands=(*commands, *plan.commands),
                    undo_commands=plan.undo_commands,
                    my_cnf=tuple(filter(None, options)) + plan.my_cnf,
                    init_file=plan.init_file,
                )
            )
            return Finding(
                rule=rule.id,
                title=rule.title,
                severity=candidate.severity,
                confidence=candidate.confidence,
                scope=rule.scope,
                object=candidate.object,
                variable=candidate.variable,
                message=fill(rule.finding, shown),
                evidence=tuple(_shown(rule, values)),
                recommendation=" ".join(filter(None, (fill(rule.recommendation, shown), *admitted.instead))),
                expect=fill(rule.expect, shown),
                cost=" ".join(filter(None, (fill(rule.cost, shown), *admitted.cost))),
                undo=admitted.undo_instead or " ".join(filter(None, (fill(rule.undo, shown), *admitted.undo))),
                verify=fill(rule.verify, shown),
                sources=rule.sources,
                remedy=admitted.remedy,
                refused=admitted.instead,
                to_do=fill(rule.to_do, shown),
                price=price_of(admitted.remedy, self.known),
                memory_bytes=plan.memory_bytes,
                measured="" if values.get("proved") else self._measured(rule),
                resource=rule.resource,
                resource_order=rule.resource_order,
            )
        except (TemplateError, TextError, *FAULTS) as error:
            raise RuleError(f"texts that work: {error}") from error

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
