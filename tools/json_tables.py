"""JSON Schemas of fact tables, and of the document about one table of a server."""

from __future__ import annotations

from myisam_exporter.collectors.base import declared_columns
from myisam_exporter.facts.columns import TABLES, FactTable
from tools.json_shapes import COLUMN_TYPES, NUMBER, TEXT, TEXTS, VALUE, Schema, a_document, an_object, list_of


def fact_table(table: FactTable) -> Schema:
    """A fact table, as `snapshot` writes it and --facts reads it."""
    if table.shape == "pairs":
        return {"type": "object", "description": table.description, "additionalProperties": VALUE}
    row = _row(table)
    return row if table.shape == "single" else list_of(row)


def _row(table: FactTable) -> Schema:
    """A row that need not have any of its columns."""
    columns = {
        column.name: {"type": [COLUMN_TYPES[column.type], "null"], "description": column.description}
        for column in declared_columns()[table.name]
    }
    return {**an_object(columns, list(columns)), "description": table.description}


def one_table(finding: Schema) -> Schema:
    """All that is known of one table of a server."""
    named = {table.name: table for table in TABLES}
    point = {"type": "array", "prefixItems": [NUMBER, {"type": ["number", "null"]}], "minItems": 2, "maxItems": 2}
    properties: dict[str, Schema] = {
        "table": _whole_row(named["tables"]),
        "indexes": list_of(_whole_row(named["indexes"])),
        "curves": {
            "type": "object",
            "description": "By column of `table`: moments in seconds since 1970, each with the value (null: unknown). Empty without a history of this server.",
            "additionalProperties": list_of(point),
        },
        "findings": list_of(finding) | {"description": "About this table, or with statements that would change it."},
        "findings_about_the_server": TEXTS | {"description": "The rules of the findings about the whole server."},
        "trials": list_of(an_object({"command": TEXT, "why": TEXT})),
        "not_tried_because": {"type": ["string", "null"], "description": "Why there are no trials; null where there may be."},
        "unknown": list_of(an_object({"facts": TEXTS, "why": TEXT, "how": TEXT})),
    }  # fmt: skip
    return a_document("One table", "`table --format json`.", properties)


def _whole_row(table: FactTable) -> Schema:
    """A row with all its columns, null where one is not known."""
    row = _row(table)
    return row | {"required": list(row["properties"])}
