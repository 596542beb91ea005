"""The facts as a database, and how a rule is held against them."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice, product

from myisam_advisor.catalogue.rules import CONFIDENCES, SEVERITIES, Decider, Rule, need_in_words
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.guarded_query import MAXIMUM_ROWS, QueryError, Result
from myisam_advisor.factbase.steady_parts import PER_TABLE
from myisam_advisor.factbase.supposed_fact import supposing
from myisam_advisor.judging.blindness import tables_are_seen
from myisam_advisor.judging.fact_names import FactNames
from myisam_advisor.judging.faults import FAULTS, KnownFaults
from myisam_advisor.judging.findings import Dropped, NotApplicable, NotEvaluated
from myisam_advisor.judging.objections import Objections
from myisam_advisor.judging.resolver import Candidate
from myisam_advisor.judging.set_back import SetBack
from myisam_advisor.judging.told import Told
from myisam_advisor.judging.undecided import what_it_lacks
from myisam_advisor.texts.templates import TextError, count, object_name
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.version_number import text_as_number

MAXIMUM_FINDINGS_PER_RULE = 1000
# All queries of one rule together: what it finds, and each condition under which it applies.
RULE_SECONDS = 3.0
ASK_AGAIN = "ask again when the machine has more time or memory to spare"
NAMED_NEEDS = 3
# Of more tables a fact is supposed of none: in each look all of them would be gone through. Where they are out of sight, that is said of them.
MOST_SUPPOSED_TABLES = 1000
MEANS_TOGETHER = 2
# From so many tables on, what a rule's query finds in them is kept within one look, where it is asked once more: to find out what can be kept takes some
# milliseconds, and to go through so many tables once more as long.
MANY_TABLES = 30_000
# Facts that have several values at which a rule speaks are few: more ways are not tried.
MOST_WAYS = 8
# What a query judges by these columns, and whom it speaks of, no detail may say.
JUDGING_COLUMNS = frozenset(
    {"severity", "confidence", "verdict", "moots", "proved", "variable", "object", "schema_name", "table_name"}
)
SCOPES_OF_TABLES = frozenset({"table", "index"})
CRITICAL = SEVERITIES[0]
Asked = list[Candidate] | NotEvaluated | NotApplicable


class Inquiry:
    """The facts as a database, and how a rule is held against them."""

    def __init__(self, facts: FactSet, kept: FactDatabase, known_faults: KnownFaults, told: Told | None = None) -> None:
        self.facts, self.server = facts, facts.single("server")
        self._names = FactNames(facts)
        self._told = told
        self._tables: frozenset[tuple[Value, Value]] | None = None  # of many tables, worked out only where it is asked
        self.database = kept.holding(facts)
        self.kept = kept
        self._keeps_parts = not kept.of_many
        self.known_faults = known_faults
        self._set_back = SetBack(facts, self.database)
        self.contradicted: list[Dropped] = []
        self.undecided: list[NotEvaluated] = []
        self.cut_short: list[str] = []

    def ask(self, rule: Rule) -> Asked:
        """What the rule's query finds, or why it cannot be asked."""
        started, worked = time.monotonic(), time.thread_time()
        try:
            with self.database.within(RULE_SECONDS):
                why_not = self._not_applicable(rule)
                if why_not:
                    return NotApplicable(rule.id, why_not)
                return self._asked(rule)
        except QueryError as error:
            if error.stopped:
                seconds = time.monotonic() - started
                is_kept_out = self.known_faults.stop(rule, str(error), seconds, time.thread_time() - worked)
                needs, serious = f"a query that works: {error}", rule.is_shipped and rule.severities != SEVERITIES[-1:]
                remedy = f"mend {rule.path}" if is_kept_out else ASK_AGAIN
                return NotEvaluated(rule.id, needs, remedy, is_stopped=serious)
            return self.known_faults.fault(rule, f"a query that works: {error}", error)

    def _asked(self, rule: Rule) -> Asked:
        self._keeps_parts = not self.kept.of_many or self._is_asked_again(rule)
        missing = self._missing(rule)
        set_back = None if missing else self._set_back.why_not(rule)
        if missing or set_back is None:
            return missing or self._with_told(rule, self._apply(rule)) or self._unseen(rule) or self._open(rule) or []
        # What is critical was seen in something else, such as a queue of connections: it does not wait for the next look.
        found = self._apply(rule) if CRITICAL in rule.severities else []
        critical = [one for one in found if one.severity == CRITICAL] if isinstance(found, list) else []
        return critical or set_back

    def _not_applicable(self, rule: Rule) -> str:
        flavour, number = self.server.get("flavour"), self.server.get("version_number")
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
        for names in rule.needs:
            strange = [name for name in names if not self._names.is_fact(name)]
            if strange:
                return self.known_faults.fault(rule, f"facts that exist: there is no {strange[0]}")
            if not any(self._names.is_known(name) for name in names):
                reasons = [self._names.why(name) for name in names]
                # A reason that something can be done about says more than the first one.
                reason, how = next((one for one in reasons if one[1]), reasons[0])
                return NotEvaluated(rule.id, f"{need_in_words(names)} ({reason})", how, names, reason)
        return None

    def _unseen(self, rule: Rule) -> NotEvaluated | None:
        """Why a rule on tables that found nothing cannot be called quiet: it had no table to look at."""
        if rule.scope not in SCOPES_OF_TABLES or self.facts.tables["tables"].rows or tables_are_seen(self.facts):
            return None
        reason = self.facts.why_unknown("tables")
        return NotEvaluated(rule.id, f"tables ({reason.reason})", reason.remedy, ("tables",), reason.reason)

    def _open(self, rule: Rule) -> NotEvaluated | None:
        """Why a rule that found nothing cannot be called quiet: it would speak, were a fact as it may be that nobody knows."""
        names = [one.fact for one in rule.not_quiet_without]
        strange = [name for name in names if not self._names.is_fact(name)]
        if strange:
            return self.known_faults.fault(rule, f"facts that exist: there is no {strange[0]}")
        lacking = self._lacking(rule)
        if not lacking:
            return None
        undecided = []
        for fact in lacking:
            reason, how = self._names.why(fact)
            undecided.append(NotEvaluated(rule.id, f"{fact} ({reason})", how, tuple(lacking), reason))
        return replace(_together(undecided), facts=tuple(lacking), is_open=True)

    def _lacking(self, rule: Rule) -> Sequence[str]:
        """The unknown facts for want of which it is silent: each that decides alone; where none does, those that do together.

        What one unreadable directory, one right or one source that is missing takes away is seldom a single fact.
        """
        unknown = [one for one in rule.not_quiet_without if self._names.may_be(one.fact)]
        alone = dict.fromkeys(one.fact for one in unknown if self._would_speak(rule, [one]))
        if alone:
            return list(alone)
        values = [[one for one in unknown if one.fact == fact] for fact in dict.fromkeys(one.fact for one in unknown)]
        ways = product(*values) if len(values) >= MEANS_TOGETHER else ()
        deciding = next((list(way) for way in islice(ways, MOST_WAYS) if self._would_speak(rule, way)), [])
        for one in tuple(deciding):
            others = [other for other in deciding if other is not one]
            if len(others) >= MEANS_TOGETHER and self._would_speak(rule, others):
                deciding = others
        return [one.fact for one in deciding]

    def _is_asked_again(self, rule: Rule) -> bool:
        """Whether its query goes through many tables more than once, each time as if another fact were known."""
        if len(self.facts.tables["tables"].rows) < MANY_TABLES:
            return False
        return any(self._names.is_fact(one.fact) and self._names.may_be(one.fact) for one in rule.not_quiet_without)

    def _would_speak(self, rule: Rule, deciders: Sequence[Decider]) -> bool:
        """Whether it would, if each of these facts had its value."""
        of_tables = any(one.fact.partition(".")[0] in PER_TABLE for one in deciders)
        if of_tables and len(self.facts.tables["tables"].rows) > MOST_SUPPOSED_TABLES:
            return False
        # What is kept of parts of a query holds whatever other facts than those of tables are.
        ask = self.database.query if of_tables else self._query
        parameters = self._parameters(rule)
        with ExitStack() as supposed:
            for one in deciders:
                if not supposed.enter_context(supposing(self.database, one.fact, one.as_if, self.kept.close)):
                    return False
            try:
                found = [row for row in ask(rule.query, parameters).dictionaries() if row.get("verdict", 1)]
                if not found or not rule.not_if:
                    return bool(found)
                objections = Objections(rule, lambda statement: ask(statement, parameters))
            except QueryError as error:
                if error.stopped:
                    return True  # nobody can say that it would be quiet
                raise
            return not all(objections.speak_against(_candidate(rule, row)) for row in found)

    def _apply(self, rule: Rule) -> list[Candidate] | NotEvaluated:
        parameters = self._parameters(rule)
        result = self._query(rule.query, parameters)
        if result.truncated:
            most = count(MAXIMUM_FINDINGS_PER_RULE)
            self.cut_short.append(f"{rule.id} found more than {most}: the others are not shown.")
        found = [_candidate(rule, row) for row in result.dictionaries() if row.get("verdict", 1) != 0]
        candidates: list[Candidate] = []
        undecided: list[NotEvaluated] = []
        try:
            for candidate in self._uncontradicted(rule, found, parameters):
                if candidate.row.get("verdict", 1) is None:
                    undecided.append(self._undecided(candidate))
                else:
                    candidates.append(candidate)
        except (TextError, *FAULTS) as error:
            return self.known_faults.fault(rule, f"texts that work: {error}", error)
        if candidates:
            self.undecided += undecided
            return self._with_details(rule, candidates, parameters)
        return _together(undecided) if undecided else []

    def _with_details(
        self, rule: Rule, found: list[Candidate], parameters: Mapping[str, Value]
    ) -> list[Candidate] | NotEvaluated:
        """Each with what is said of it beside what it was found by: where nothing is found, nobody asks for that."""
        beside: dict[str, Value] = {}
        for statement in rule.details:
            result = self._query(statement, parameters, 1)
            judging = next((name for name in result.columns if name in JUDGING_COLUMNS), None)
            if judging is not None:
                why = f"details that decide nothing: the column {judging} is the query's to give"
                return self.known_faults.fault(rule, why)
            beside |= next(iter(result.dictionaries()), dict.fromkeys(result.columns))
        return [replace(one, row={**beside, **one.row}) for one in found] if beside else found

    def _parameters(self, rule: Rule) -> dict[str, Value]:
        return {**rule.values(), "interval_seconds": self.facts.interval_seconds}

    def _with_told(self, rule: Rule, answer: list[Candidate] | NotEvaluated) -> list[Candidate] | NotEvaluated:
        """With what was told in the last looks, and is away for a moment. What a rule cannot judge now is not told on."""
        if self._told is None or isinstance(answer, NotEvaluated):
            return answer
        undecided = {one.object for one in self.undecided if one.rule == rule.id}
        candidates = self._told.with_held(
            rule, answer, lambda one: one.object not in undecided and self._is_there(one.row)
        )
        held = {one.object for one in candidates if any(one.held)}
        self.contradicted[:] = [one for one in self.contradicted if one.rule != rule.id or one.object not in held]
        return candidates

    def _is_there(self, row: Row) -> bool:
        """Whether the table that a former look found something of is there still."""
        if row.get("table_name") is None:
            return True
        if self._tables is None:
            tables = self.facts.tables["tables"]
            self._tables = frozenset(zip(tables.values("schema_name"), tables.values("table_name"), strict=True))
        return (row.get("schema_name"), row.get("table_name")) in self._tables

    def _undecided(self, candidate: Candidate) -> NotEvaluated:
        """What the rule says that it lacks. Of a fact that is known to be out of sight the reason is said, as of `needs`."""
        rule = candidate.rule.id
        needs, how = what_it_lacks(candidate)
        if not self._names.is_fact(needs) or self._names.is_known(needs):
            return NotEvaluated(rule, needs, how, object=candidate.object)
        why, remedy = self._names.why(needs)
        return NotEvaluated(rule, f"{needs} ({why})", remedy or how, why=why, object=candidate.object)

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
        if not self._keeps_parts:
            return self.database.query(statement, parameters, maximum_rows=maximum_rows)
        return self.kept.steady_parts.query(self.database, statement, parameters, maximum_rows)


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


def _together(undecided: Sequence[NotEvaluated]) -> NotEvaluated:
    """What all of them need; how to have it by the first that says so, and the cause once where it is that of all."""
    causes = {one.why for one in undecided}
    why = causes.pop() if len(causes) == 1 else ""
    cause = f" ({why})" if why else ""
    needs = list(dict.fromkeys(one.needs.removesuffix(cause) for one in undecided))
    more = f"; and {len(needs) - NAMED_NEEDS} more" if len(needs) > NAMED_NEEDS else ""
    how = next((one.how for one in undecided if one.how), "")
    return NotEvaluated(undecided[0].rule, f"{'; '.join(needs[:NAMED_NEEDS])}{more}{cause}", how, why=why)


def _among(value: Value, allowed: Sequence[str], otherwise: str) -> str:
    return value if isinstance(value, str) and value in allowed else otherwise


def version_matches(number: int, wanted: str) -> bool:
    """Whether a version (as one number) fits a condition such as ">=5.5,<8.0"."""
    for part in wanted.split(","):
        condition = part.strip()
        operator = condition.rstrip("0123456789.")
        limit = text_as_number(condition[len(operator) :])
        if not {">=": number >= limit, ">": number > limit, "<": number < limit, "<=": number <= limit}[operator]:
            return False
    return True
