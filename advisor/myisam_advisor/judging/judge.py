"""Rules over facts: every rule ends as finding, ok, not evaluated (needs X) or not applicable (why)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_advisor.catalogue.rules import CONFIDENCES, SEVERITIES, Rule
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.guarded_query import MAXIMUM_ROWS, GuardedDatabase, QueryError, Result
from myisam_advisor.judging.blindness import FACTS_OF_TABLES, blind_spots, tables_are_seen
from myisam_advisor.judging.contradictions import set_aside_contradictions
from myisam_advisor.judging.findings import Dropped, Finding, Judgement, NotApplicable, NotEvaluated, ShownFact
from myisam_advisor.judging.objections import Objections
from myisam_advisor.judging.prepared import PreparedFacts
from myisam_advisor.judging.resolver import Candidate, Outcome, resolve
from myisam_advisor.remedies.command_templates import fill_command, fill_option_line
from myisam_advisor.remedies.gate import Remedy, RemedyGate
from myisam_advisor.remedies.planners.base import NotWorth, Plan, PlanContext, PlanFacts, Planned, planner_named
from myisam_advisor.texts.templates import TextError, fill, object_name, printable
from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet

MAXIMUM_FINDINGS_PER_RULE = 1000
# All queries of one rule together: what it finds, and each condition under which it applies.
RULE_SECONDS = 3.0
# A site's own rules that ran into a limit may take so much of one look; those that are left have their turn in the next.
STOPPED_SECONDS = 4.0
# What a template or planner can stumble over when a rule's columns are not what it expects.
FAULTS = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError)
SCOPES_OF_TABLES = frozenset({"table", "index"})
Row = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class RuleError(Exception):
    """A rule that is itself at fault: its query fails or its text names what is not there."""

    message: str


@dataclass(slots=True)
class StoppedRules:
    """The site's own rules that ran into a limit of time or memory, with why: they are asked no more, until a reload brings new ones.

    A daemon keeps one for all servers and looks: a rule that takes all of its time would take it in every look at each.
    """

    reasons: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0

    def begin_look(self) -> None:
        """The time that stopped rules took is counted for each look."""
        self.seconds = 0.0

    def why_not(self, rule: Rule) -> NotEvaluated | None:
        """Why a rule is not asked, or None."""
        if rule.is_shipped:
            return None
        if rule.id in self.reasons:
            why = f"a query that keeps within its limits: {self.reasons[rule.id]}; it is not asked any more"
            return NotEvaluated(rule.id, why, f"mend {rule.path}, then reload the daemon")
        if self.seconds > STOPPED_SECONDS:
            return NotEvaluated(rule.id, "time: rules that were stopped took it in this look", "wait for the next look")
        return None

    def stop(self, rule: Rule, why: str, seconds: float) -> None:
        """Note that a rule was stopped after so much time. Shipped rules are asked again: they are slow for a moment only."""
        if not rule.is_shipped:
            self.seconds += seconds
            self.reasons[rule.id] = why


Asked = list[Candidate] | NotEvaluated | NotApplicable


def judge(ready: PreparedFacts, database: FactDatabase | None = None, stopped: StoppedRules | None = None) -> Judgement:
    """Run every rule of the site over the facts, once; a `database` is used again for the next facts of the same server."""
    stopped = stopped or StoppedRules()
    stopped.begin_look()
    site = ready.site
    facts, suspicious = set_aside_contradictions(ready.judged)
    candidates: list[Candidate] = []
    asked: set[str] = set()
    not_evaluated: list[NotEvaluated] = []
    not_applicable: list[NotApplicable] = []
    contradicted: list[Dropped] = []
    seconds: dict[str, float] = {}
    with GuardedDatabase((database or FactDatabase()).holding(facts), keep_open=database is not None) as guarded:
        bench = _Bench(facts, guarded, database)
        for rule in site.rules:
            started = time.monotonic()
            answer = stopped.why_not(rule) or bench.ask(rule, stopped)
            seconds[rule.id] = time.monotonic() - started
            if isinstance(answer, NotEvaluated):
                not_evaluated.append(answer)
            elif isinstance(answer, NotApplicable):
                not_applicable.append(answer)
            else:
                asked.add(rule.id)
                candidates += answer
        contradicted = bench.contradicted
    wording = _Wording(facts)
    resolution = resolve(
        candidates,
        site.rules,
        wording.put_in_words,
        lambda one: site.suppression(one.rule.id, one.object),
        wording.keep,
    )
    spoken = {finding.rule for finding in resolution.kept} | {dropped.rule for dropped in resolution.dropped}
    spoken |= {suppressed.finding.rule for suppressed in resolution.suppressed}
    not_evaluated += wording.faults + [one for one in resolution.undecided if one.rule not in spoken]
    silenced = {one.rule for one in not_evaluated} | spoken
    mooted = dict(resolution.mooted)
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
        contradicted + resolution.dropped,
        resolution.suppressed,
        suspicious,
        site.warnings,
        wording.known.budget,
        seconds,
        blind_spots(facts, unjudged),
    )


def _once_a_rule(outcomes: Iterable[NotEvaluated]) -> list[NotEvaluated]:
    return list({outcome.rule: outcome for outcome in reversed(list(outcomes))}.values())[::-1]


class _Bench:
    """The facts as a database, and how a rule is held against them."""

    def __init__(self, facts: FactSet, database: GuardedDatabase, kept: FactDatabase | None) -> None:
        self.facts = facts
        self.database = database
        self.kept = kept
        self.contradicted: list[Dropped] = []
        self.pairs = {
            table: {str(row["name"]): row for row in facts.tables[table].dictionaries()}
            for table in ("variable", "status")
        }

    def ask(self, rule: Rule, stopped: StoppedRules) -> Asked:
        """What the rule's query finds, or why it cannot be asked."""
        started = time.monotonic()
        try:
            with self.database.within(RULE_SECONDS):
                why_not = self._not_applicable(rule)
                if why_not:
                    return NotApplicable(rule.id, why_not)
                return self._missing(rule) or self._apply(rule) or self._unseen(rule) or []
        except QueryError as error:
            if error.stopped:
                stopped.stop(rule, str(error), time.monotonic() - started)
            return NotEvaluated(rule.id, f"a query that works: {error}", f"mend {rule.path}")

    def _not_applicable(self, rule: Rule) -> str:
        server = self.facts.single("server")
        flavour, number = server.get("flavour"), server.get("version_number")
        if flavour is not None and flavour not in rule.flavours:
            return rule.not_in_version or f"not on {flavour}"
        wanted = rule.versions.get("mariadb" if flavour == "mariadb" else "mysql")
        if wanted and isinstance(number, int) and (flavour is not None) and not version_matches(number, wanted):
            return rule.not_in_version or f"only on versions {wanted}"
        for condition in rule.applicable:
            rows = self.database.query(condition.when, rule.values()).rows
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
                # A reason that something can be done about says more than the first one.
                reason, how = next((one for one in reasons if one[1]), reasons[0])
                return NotEvaluated(rule.id, f"{text} ({reason})", how, names)
        return None

    def _unseen(self, rule: Rule) -> NotEvaluated | None:
        """Why a rule on tables that found nothing cannot be called quiet: it had no table to look at."""
        if rule.scope not in SCOPES_OF_TABLES or self.facts.tables["tables"].rows or tables_are_seen(self.facts):
            return None
        reason = self.facts.why_unknown("tables")
        return NotEvaluated(rule.id, f"tables ({reason.reason})", reason.remedy, ("tables",))

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
            named = self.facts.unknown.get(f"{table}.*")
            return (named.reason, named.remedy) if named else ("this server does not have it", "")
        reason = self.facts.why_unknown(table, rest or None)
        return reason.reason, reason.remedy

    def _apply(self, rule: Rule) -> list[Candidate] | NotEvaluated:
        parameters: dict[str, Value] = {**rule.values(), "interval_seconds": self.facts.interval_seconds}
        result = self._query(rule.query, parameters)
        found = [_candidate(rule, row) for row in result.dictionaries() if row.get("verdict", 1) != 0]
        try:
            remaining = self._uncontradicted(rule, found, parameters)
        except (TextError, *FAULTS) as error:
            return NotEvaluated(rule.id, f"texts that work: {error}", f"mend {rule.path}")
        candidates: list[Candidate] = []
        undecided: NotEvaluated | None = None
        for candidate in remaining:
            row = candidate.row
            if row.get("verdict", 1) is None:
                undecided = NotEvaluated(
                    rule.id, str(row.get("needs") or "facts that are unknown here"), str(row.get("how") or "")
                )
            else:
                candidates.append(candidate)
        return candidates or undecided or []

    def _uncontradicted(
        self, rule: Rule, found: list[Candidate], parameters: Mapping[str, Value]
    ) -> Iterable[Candidate]:
        """Those that nothing of `not_if` speaks against; the others are noted with the reason."""
        if not found or not rule.not_if:
            return found
        objections = Objections(rule, lambda statement: self._query(statement, parameters, MAXIMUM_ROWS))
        dropped = [objections.against(candidate) for candidate in found]
        self.contradicted += [one for one in dropped if one]
        return [candidate for candidate, why in zip(found, dropped, strict=True) if why is None]

    def _query(
        self, statement: str, parameters: Mapping[str, Value], maximum_rows: int = MAXIMUM_FINDINGS_PER_RULE
    ) -> Result:
        if self.kept is None:
            return self.database.query(statement, parameters, maximum_rows=maximum_rows)
        parts, fillings = self.kept.steady_parts, self.kept.fillings
        return parts.query(self.database, fillings, statement, parameters, maximum_rows)


def _candidate(rule: Rule, row: Row) -> Candidate:
    names = [str(row[name]) for name in ("schema_name", "table_name") if row.get(name) is not None]
    variable = row.get("variable", rule.variable)
    return Candidate(
        rule,
        row,
        _among(row.get("severity"), SEVERITIES, rule.severity),
        object_name(*names) if names else str(row.get("object") or ""),
        str(variable) if variable else None,
        _among(row.get("confidence"), CONFIDENCES, rule.confidence),
    )


class _Wording:
    """Candidates as findings. `faults` gathers rules whose texts or planners fail."""

    def __init__(self, facts: FactSet) -> None:
        self.known = PlanFacts(facts)
        self.gate = RemedyGate(self.known)
        self.faults: list[NotEvaluated] = []
        self._planned = Plan()

    def put_in_words(self, candidate: Candidate) -> Outcome:
        """The finding, or why there is none."""
        try:
            plan = self._plan(candidate.rule, candidate.row)
            if not isinstance(plan, Plan):
                return plan
            self._planned = plan
            return self._finding(candidate, plan)
        except RuleError as error:
            if candidate.rule.id not in {fault.rule for fault in self.faults}:
                self.faults.append(NotEvaluated(candidate.rule.id, error.message, f"mend {candidate.rule.path}"))
            return NotWorth(error.message)

    def keep(self, finding: Finding) -> None:
        """Book what the finding that was just put in words takes, before the next one is planned."""
        self.known.budget.grant(f"{finding.rule} {finding.object}".strip(), finding.memory_bytes)
        self.known.planned_index_bytes.update(self._planned.index_bytes)

    def _finding(self, candidate: Candidate, plan: Plan) -> Finding:
        from jinja2 import TemplateError

        rule, row = candidate.rule, candidate.row
        values: dict[str, object] = {**rule.values(), **row, **plan.values}
        shown = {name: printable(value) if isinstance(value, str) else value for name, value in values.items()} | {
            "object": printable(candidate.object)
        }
        try:
            commands = [fill_command(command, values) for command in rule.commands]
            options = [fill_option_line(line, values) for line in rule.my_cnf]
            admitted = self.gate.admit(
                Remedy(
                    commands=tuple(filter(None, commands)) + plan.commands,
                    undo_commands=plan.undo_commands,
                    my_cnf=tuple(filter(None, options)) + plan.my_cnf,
                    init_file=plan.init_file,
                )
            )
            remedy = admitted.remedy
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
                commands=remedy.commands,
                undo_commands=remedy.undo_commands,
                my_cnf=remedy.my_cnf,
                init_file=remedy.init_file,
                refused=admitted.instead,
                memory_bytes=plan.memory_bytes,
                measured=self._measured(rule),
                resource=rule.resource,
                resource_order=rule.resource_order,
            )
        except (TemplateError, TextError, *FAULTS) as error:
            raise RuleError(f"texts that work: {error}") from None

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
            raise RuleError(f"a planner that works: {rule.planner} failed with {error!r}") from None


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
