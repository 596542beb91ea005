"""The facts as a facts file holds them."""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.factbase.partial import may_be_part
from myisam_advisor.texts.json_documents import heading
from myisam_exporter.facts.columns import TABLES, Value
from myisam_exporter.look.fact_set import FactSet


def as_document(facts: FactSet, moment: float | None = None) -> dict[str, object]:
    """The facts as a facts file holds them: what is unknown is absent, and null where there is more than was seen.

    `moment` is when they were taken (seconds since 1970), None for now.
    """
    document = heading(moment)
    if facts.interval_seconds is not None:
        document["interval_seconds"] = round(facts.interval_seconds, 3)
    for table in TABLES:
        rows = [_known(row) for row in facts.tables[table.name].dictionaries()]
        if table.shape == "single":
            if rows and rows[0]:
                document[table.name] = rows[0]
        elif table.shape == "pairs":
            document |= _pair_mappings(table.name, rows)
        elif rows or table.name not in facts.unknown:
            document[table.name] = rows
    if facts.tables["tables"].rows and may_be_part(facts):
        # Whoever reads it must not add these tables up and take that for all there are.
        document["totals"] = {"myisam_tables": None, **_known(facts.single("totals"))}
    return document


def _known(row: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in row.items() if value is not None}


def _pair_mappings(table: str, rows: list[dict[str, Value]]) -> dict[str, object]:
    mappings: dict[str, object] = {}
    if rows:
        mappings[table] = {str(row["name"]): row.get("value") for row in rows}
    rates = {str(row["name"]): row["per_second"] for row in rows if "per_second" in row}
    return mappings | ({f"{table}_per_second": rates} if rates else {})
