"""The migration as a document for programs; its keys are those that docs/reference/migrate.schema.json declares."""

from __future__ import annotations

import json

from myisam_advisor.migrate.prediction import Migration, Prediction
from myisam_advisor.texts.json_documents import heading


def as_document(migration: Migration) -> dict[str, object]:
    """All of it; times and sizes are null where they are not known."""
    return {
        **heading(),
        "to": migration.to,
        "target": migration.target.label if migration.target else None,
        "dump_needed": migration.dump_needed or None,
        "tables": [_table(one) for one in migration.predictions],
        "order": [{"schema_name": schema, "table_name": table} for schema, table in migration.order],
        "left_out": [{"name": name, "why": why} for name, why in migration.left_out],
    }


def as_json(migration: Migration) -> str:
    """The same as text."""
    return json.dumps(as_document(migration), indent=1) + "\n"


def _table(one: Prediction) -> dict[str, object]:
    return {
        "schema_name": one.name[0],
        "table_name": one.name[1],
        "engine": one.engine,
        "to": one.to,
        "fails": one.fails,
        "errors": [{"code": error.code, "why": error.why, "mend": error.mend} for error in one.errors],
        "changes": [{"id": change.id, "what": change.what, "statement": change.statement} for change in one.changes],
        "seconds": [round(number, 3) for number in one.seconds] if one.seconds else None,
        "bytes_after": [int(number) for number in one.bytes_after] if one.bytes_after else None,
    }
