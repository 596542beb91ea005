"""Counters that were set back within the interval: there are no rates, and neither what a rule finds without them nor its silence says anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from myisam_advisor.catalogue.rules import Rule
from myisam_advisor.factbase.guarded_query import GuardedDatabase
from myisam_advisor.judging.findings import NotEvaluated
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import RESET


class SetBack:
    """Which rules read rates that were set back. In nearly every look none was, and no rule is looked at."""

    def __init__(self, facts: FactSet, database: GuardedDatabase) -> None:
        self._database = database
        self._rates = frozenset(name for name, why in facts.unknown.items() if why == RESET)

    def why_not(self, rule: Rule) -> NotEvaluated | None:
        """Why this rule cannot be judged; None where it reads no rate that was set back. Raises QueryError as a query does."""
        if not self._rates:
            return None
        lacking = tuple(sorted(self._rates.intersection(self._read_by(rule))))
        if not lacking:
            return None
        return NotEvaluated(rule.id, f"{lacking[0]} ({RESET.reason})", RESET.remedy, lacking, RESET.reason)

    def _read_by(self, rule: Rule) -> Iterator[str]:
        parameters: Mapping[str, Value] = {**rule.values(), "interval_seconds": None}
        for statement in rule.statements:
            for table, columns in self._database.columns_read(statement, parameters).items():
                yield from (f"{table}.{column}" for column in columns)
