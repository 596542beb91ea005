"""What holds at this site: the rules with its thresholds, what it does not want to see, and what it leaves out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from myisam_advisor.catalogue.rules import Rule
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.values import numbers_in
from myisam_exporter.look.fact_set import FactRows, FactSet

SCHEMA_TABLES = ("tables", "indexes", "processlist", "schema_disk")
SUMS = {"myisam_rows": "rows", "myisam_data_bytes": "data_bytes", "myisam_index_bytes": "index_bytes", "crashed_tables": "crashed"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Suppression:
    """Findings that the site does not want to see. `object` is a pattern; `until` the last day on which it holds."""

    rule: str
    reason: str
    object: str
    until: date | None

    def expired(self, today: date) -> bool:
        """Whether its last day is over."""
        return self.until is not None and today > self.until


@dataclass(frozen=True, slots=True)
class Site:
    """The rules in force here, and how the site wants them applied. `warnings` name what is out of date in its configuration."""

    rules: Sequence[Rule]
    suppressions: Sequence[Suppression] = ()
    ignored_schemas: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def suppression(self, rule: str, about: str) -> tuple[str, str] | None:
        """Why a finding is not to be seen, and until when; None when it is."""
        for suppression in self.suppressions:
            if suppression.rule == rule and fnmatchcase(about, suppression.object):
                return suppression.reason, suppression.until.isoformat() if suppression.until else ""
        return None

    def without_ignored_schemas(self, facts: FactSet) -> FactSet:
        """The facts as if these databases were system schemas: in no table, and in no sum."""
        if not self.ignored_schemas:
            return facts
        tables = dict(facts.tables)
        for name in SCHEMA_TABLES:
            tables[name] = tables[name].once(("kept", *self.ignored_schemas), self._kept)
        left_out = facts.tables["tables"].once(("left out", *self.ignored_schemas), self._left_out)
        totals = facts.single("totals")
        if totals and left_out:
            tables["totals"] = FactRows(
                facts.tables["totals"].columns,
                [[_less(totals[column], left_out, column) for column in facts.tables["totals"].columns]],
            )
        return replace(facts, tables=tables)

    def ignores(self, schema: Value) -> bool:
        """Whether nothing shall be said of this database."""
        return any(fnmatchcase(str(schema), pattern) for pattern in self.ignored_schemas)

    def _kept(self, rows: FactRows) -> FactRows:
        schemas = rows.values("schema_name")
        ignored = {schema for schema in set(schemas) if self.ignores(schema)}
        return FactRows(
            rows.columns, [row for row, schema in zip(rows.rows, schemas, strict=True) if schema not in ignored]
        )

    def _left_out(self, rows: FactRows) -> list[dict[str, Value]]:
        return [row for row in rows.dictionaries() if self.ignores(row["schema_name"])]


def _less(total: Value, left_out: Sequence[dict[str, Value]], column: str) -> Value:
    """A sum without these tables; unknown where one of them is."""
    if not isinstance(total, int | float):
        return total
    compressed = [row for row in left_out if row["row_format"] == "compressed"]
    if column in ("myisam_tables", "compressed_tables"):
        return total - len(compressed if column == "compressed_tables" else left_out)
    if column == "compressed_data_bytes":
        left_out, column = compressed, "myisam_data_bytes"
    if column not in SUMS:
        return total
    values = [row[SUMS[column]] for row in left_out]
    known = numbers_in(values)
    return total - sum(known) if len(known) == len(values) else None
