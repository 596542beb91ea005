"""Rules over facts: every rule ends as finding, ok, not evaluated (needs X) or not applicable (why)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from myisam_advisor.facts import complete, open_database
from myisam_advisor.findings import Dropped, Finding, Judgement, NotApplicable, NotEvaluated, ShownFact
from myisam_advisor.guard import GuardedDatabase, QueryError
from myisam_advisor.planning import NotWorth, Plan, PlanContext, PlanNeeds, planner_named
from myisam_advisor.rules import CONFIDENCES, SEVERITIES, Rule
from myisam_advisor.texts import fill, object_name, printable, template
from myisam_exporter.collector import declared_columns
from myisam_exporter.columns import Value
from myisam_exporter.fact_set import FactSet

MAXIMUM_FINDINGS_PER_RULE = 1000
# What a template or planner can stumble over when a rule's columns are not what it expects.
FAULTS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class RuleError(Exception):
    """A rule that is itself at fault: its query fails or its text names what is not there."""

    message: str


Outcome = list[Finding] | NotEvaluated | NotApplicable


def judge(facts: FactSet, rules: Sequence[Rule]) -> Judgement:
    """Run every rule over the facts, once."""
    facts = complete(facts)
    findings: list[Finding] = []
    quiet: list[str] = []
    not_evaluated: list[NotEvaluated] = []
    not_applicable: list[NotApplicable] = []
    seconds: dict[str, float] = {}
    with GuardedDatabase(open_database(facts)) as database:
        bench = _Bench(facts, database)
        for rule in rules:
            started = time.monotonic()
            outcome = bench.run(rule)
            seconds[rule.id] = time.monotonic() - started
            if isinstance(outcome, NotEvaluated):
                not_evaluated.append(outcome)
            elif isinstance(outcome, NotApplicable):
                not_applicable.append(outcome)
            elif outcome:
                findings += outcome
            else:
                quiet.append(rule.id)
    kept, dropped, mooted = _resolve(findings, {rule.id: rule for rule in rules})
    return Judgement(
        sorted(kept, key=lambda finding: finding.rank),
        quiet,
        [outcome for outcome in not_evaluated if outcome.rule not in mooted],
        not_applicable
        + [NotApplicable(outcome.rule, mooted[outcome.rule]) for outcome in not_evaluated if outcome.rule in mooted],
        dropped,
        seconds,
    )


class _Bench:
    """The facts as a database, and how a rule is held against them."""

    def __init__(self, facts: FactSet, database: GuardedDatabase) -> None:
        self.facts = facts
        self.database = database
        self.pairs = {
            table: {str(row["name"]): row for row in facts.tables[table].dictionaries()}
            for table in ("variable", "status")
        }

    def run(self, rule: Rule) -> Outcome:
        """One rule's outcome."""
        why_not = self._not_applicable(rule)
        if why_not:
            return NotApplicable(rule.id, why_not)
        missing = self._missing(rule)
        if missing:
            return missing
        try:
            return self._apply(rule)
        except QueryError as error:
            return NotEvaluated(rule.id, f"a query that works: {error}", f"mend {rule.path}")
        except RuleError as error:
            return NotEvaluated(rule.id, error.message, f"mend {rule.path}")

    def _not_applicable(self, rule: Rule) -> str:
        server = self.facts.single("server")
        flavour, number = server.get("flavour"), server.get("version_number")
        if flavour is not None and flavour not in rule.flavours:
            return rule.not_in_version or f"not on {flavour}"
        wanted = rule.versions.get("mariadb" if flavour == "mariadb" else "mysql")
        if wanted and isinstance(number, int) and (flavour is not None) and not version_matches(number, wanted):
            return rule.not_in_version or f"only on versions {wanted}"
        for condition in rule.applicable:
            try:
                rows = self.database.query(condition.when, rule.values()).rows
            except QueryError:
                continue
            if rows and rows[0][0] == 0:
                return " ".join(condition.otherwise.split())
        return ""

    def _missing(self, rule: Rule) -> NotEvaluated | None:
        for need in rule.needs:
            names = (need,) if isinstance(need, str) else need
            strange = [name for name in names if not self._exists(name)]
            if strange:
                return NotEvaluated(rule.id, f"facts that exist: there is no {strange[0]}", f"mend {rule.path}")
            if not any(self._is_known(name) for name in names):
                text = names[0] if len(names) == 1 else "one of " + ", ".join(names)
                reasons = [self._why(name) for name in names]
                how = next((remedy for _, remedy in reasons if remedy), "")
                return NotEvaluated(rule.id, f"{text} ({reasons[0][0]})", how)
        return None

    def _exists(self, name: str) -> bool:
        table, _, column = name.partition(".")
        facts = self.facts.tables.get(table)
        return facts is not None and (table in self.pairs or not column or column in facts.columns)

    def _is_known(self, name: str) -> bool:
        table, _, rest = name.partition(".")
        if table in self.pairs:
            variable, _, rate = rest.partition(".")
            row = self.pairs[table].get(variable)
            return row is not None and row["per_second" if rate else "value"] is not None
        rows = self.facts.tables[table]
        if rows.rows:
            return not rest or rows.has(rest)
        # An empty table that nobody failed to read has nothing to judge: that is an answer.
        return table not in self.facts.unknown and f"{table}.{rest}" not in self.facts.unknown

    def _why(self, name: str) -> tuple[str, str]:
        table, _, rest = name.partition(".")
        if self.pairs.get(table):
            if rest.endswith(".per_second"):
                reason = self.facts.why_unknown(table, "per_second")
                return reason.reason, reason.remedy
            return "this server does not have it", ""
        reason = self.facts.why_unknown(table, rest or None)
        return reason.reason, reason.remedy

    def _apply(self, rule: Rule) -> Outcome:
        parameters: dict[str, Value] = {**rule.values(), "interval_seconds": self.facts.interval_seconds}
        result = self.database.query(rule.query, parameters, maximum_rows=MAXIMUM_FINDINGS_PER_RULE)
        findings: list[Finding] = []
        undecided: NotEvaluated | None = None
        for row in result.dictionaries():
            verdict = row.get("verdict", 1)
            if verdict is None:
                undecided = NotEvaluated(
                    rule.id, str(row.get("needs") or "facts that are unknown here"), str(row.get("how") or "")
                )
            elif verdict:
                outcome = self._finding(rule, row)
                if isinstance(outcome, Finding):
                    findings.append(outcome)
                elif isinstance(outcome, PlanNeeds):
                    undecided = NotEvaluated(rule.id, outcome.needs, outcome.how)
        return findings or undecided or []

    def _finding(self, rule: Rule, row: Row) -> Finding | NotWorth | PlanNeeds:
        from jinja2 import TemplateError

        plan = self._plan(rule, row)
        if not isinstance(plan, Plan):
            return plan
        names = [str(row[name]) for name in ("schema_name", "table_name") if row.get(name) is not None]
        about = object_name(*names) if names else str(row.get("object") or "")
        values: dict[str, object] = {**rule.values(), **row, **plan.values}
        shown = {name: printable(value) if isinstance(value, str) else value for name, value in values.items()} | {
            "object": printable(about)
        }
        try:
            commands = [template(command).render(values).strip() for command in rule.commands]
            return Finding(
                rule=rule.id,
                title=rule.title,
                severity=_among(row.get("severity"), SEVERITIES, rule.severity),
                confidence=_among(row.get("confidence"), CONFIDENCES, rule.confidence),
                scope=rule.scope,
                object=about,
                variable=rule.variable,
                message=fill(rule.finding, shown),
                evidence=tuple(self._shown(rule, values)),
                recommendation=fill(rule.recommendation, shown),
                expect=fill(rule.expect, shown),
                cost=fill(rule.cost, shown),
                undo=fill(rule.undo, shown),
                verify=fill(rule.verify, shown),
                sources=rule.sources,
                commands=tuple(filter(None, commands)) + plan.commands,
                undo_commands=plan.undo_commands,
                my_cnf=tuple(filter(None, (template(line).render(values).strip() for line in rule.my_cnf)))
                + plan.my_cnf,
                init_file=plan.init_file,
            )
        except (TemplateError, *FAULTS) as error:
            raise RuleError(f"texts that work: {error}") from None

    def _plan(self, rule: Rule, row: Row) -> Plan | NotWorth | PlanNeeds:
        if rule.planner is None:
            return Plan()
        try:
            return planner_named(rule.planner)(row, PlanContext(self.facts, rule.values()))
        except (ImportError, *FAULTS) as error:
            raise RuleError(f"a planner that works: {rule.planner} failed with {error!r}") from None

    def _shown(self, rule: Rule, values: Mapping[str, object]) -> Iterable[ShownFact]:
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
            )


def _source(fact: str) -> str:
    table, _, rest = fact.partition(".")
    declared = {column.name: column.source for column in declared_columns().get(table, ())}
    return declared.get(rest) or {"status": "SHOW GLOBAL STATUS", "variable": "SHOW GLOBAL VARIABLES"}.get(table, "")


def _among(value: Value, allowed: Sequence[str], otherwise: str) -> str:
    return value if isinstance(value, str) and value in allowed else otherwise


def version_matches(number: int, wanted: str) -> bool:
    """Whether a version (as one number) fits a condition such as ">=5.5,<8.0"."""
    for part in wanted.split(","):
        condition = part.strip()
        operator = condition.rstrip("0123456789.")
        major, minor, patch = ([int(piece) for piece in condition[len(operator) :].split(".")] + [0, 0])[:3]
        limit = major * 10000 + minor * 100 + patch
        if not {">=": number >= limit, ">": number > limit, "<": number < limit, "<=": number <= limit}[operator]:
            return False
    return True


def _resolve(
    findings: Sequence[Finding], rules: Mapping[str, Rule]
) -> tuple[list[Finding], list[Dropped], dict[str, str]]:
    """One voice: drop what another finding makes pointless, and all but the worst finding for one variable of one object."""
    dropped: list[Dropped] = []
    mooted: dict[str, str] = {}
    for finding in findings:
        for target in rules[finding.rule].moots:
            names = [name for name in rules if name != finding.rule] if target == "*" else [target]
            mooted |= dict.fromkeys(names, f"pointless while {finding.rule} holds: {finding.title}")
    kept: list[Finding] = []
    taken: dict[tuple[str, str], str] = {}
    for finding in sorted(findings, key=lambda one: one.rank):
        if finding.rule in mooted:
            dropped.append(Dropped(finding.rule, finding.object, mooted[finding.rule]))
            continue
        knob = (finding.variable or "", finding.object)
        if finding.variable and taken.get(knob, finding.rule) != finding.rule:
            dropped.append(
                Dropped(finding.rule, finding.object, f"{finding.variable} is already advised on by {taken[knob]}")
            )
            continue
        taken[knob] = finding.rule
        kept.append(finding)
    return kept, dropped, mooted
