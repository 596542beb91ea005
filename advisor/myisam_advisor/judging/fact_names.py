"""What is known of a fact, by its name as rules write it: `table`, `table.column`, `variable.NAME`, `status.NAME` or `status.NAME.per_second`."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.factbase.numeric_names import is_numeric
from myisam_exporter.facts.columns import Value
from myisam_exporter.look.fact_set import FactSet


class FactNames:
    """The facts of one look, asked by name."""

    def __init__(self, facts: FactSet) -> None:
        self._facts = facts
        variables, status = facts.tables["variable"], facts.tables["status"]
        # By the table's name, whether rates are asked for or values, and the row's name.
        self._pairs: Mapping[str, Mapping[bool, Mapping[str, Value]]] = {
            "variable": {False: variables.by_name("value"), True: {}},
            "status": {False: status.by_name("value"), True: status.by_name("per_second")},
        }

    def is_fact(self, name: str) -> bool:
        """Whether there is such a fact, known or not: any name is one of a variable or a counter."""
        table, _, column = name.partition(".")
        facts = self._facts.tables.get(table)
        return facts is not None and (table in self._pairs or not column or column in facts.columns)

    def is_known(self, name: str) -> bool:
        """Whether any row has it."""
        table, _, rest = name.partition(".")
        if table in self._pairs:
            variable, _, rate = rest.partition(".")
            return self._pairs[table][bool(rate)].get(variable) is not None
        rows = self._facts.tables[table]
        if rows.rows:
            return not rest or rows.has(rest)
        # An empty table that nobody failed to read has nothing to judge: that is an answer.
        return table not in self._facts.unknown and f"{table}.{rest}" not in self._facts.unknown

    def may_be(self, name: str) -> bool:
        """Whether it is unknown, and may be something: what a source that is off would tell, rules do without; a variable that was not named there is not."""
        table, _, rest = name.partition(".")
        if self.is_known(name):
            return False
        if table not in self._pairs:
            return not self._facts.why_unknown(table, rest).off
        named = rest.partition(".")[0]
        is_named = named in self._pairs[table][False] or named in self._pairs[table][True]
        return is_named or f"{table}.*" in self._facts.unknown or not self._pairs[table][False]

    def why(self, name: str) -> tuple[str, str]:
        """Why it is unknown, and what would make it known, empty where nothing would."""
        table, _, rest = name.partition(".")
        if table in self._pairs and self._pairs[table][False]:
            if rest.endswith(".per_second"):
                reason = self._facts.why_unknown(table, "per_second")
                return reason.reason, reason.remedy
            if rest in self._pairs[table][False] and is_numeric(table, rest):
                return "what is said of it is not a number", ""
            named = self._facts.unknown.get(f"{table}.*")
            return (named.reason, named.remedy) if named else ("this server does not have it", "")
        reason = self._facts.why_unknown(table, rest or None)
        return reason.reason, reason.remedy
