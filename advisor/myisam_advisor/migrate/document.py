"""The migration as a document for programs; its keys are those that docs/reference/migrate.schema.json declares."""

from __future__ import annotations

import json

from myisam_advisor.migrate.prediction import Migration, Prediction, wanted_cache_bytes
from myisam_advisor.migrate.refusal import Refusal
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
        "disk_free_bytes": migration.disk_free_bytes,
        "memory": {
            "key_buffer_bytes": migration.key_buffer_bytes,
            "cache_bytes": migration.cache_bytes,
            "cache_wanted_bytes": [int(number) for number in wanted_cache_bytes(migration.predictions)],
        },
        "foreign_keys_unknown": migration.foreign_keys_unknown or None,
        "left_out": [{"name": name, "why": why} for name, why in (*migration.killed, *migration.left_out)],
    }


def as_json(migration: Migration) -> str:
    """The same as text."""
    return json.dumps(as_document(migration), indent=1) + "\n"


def _table(one: Prediction) -> dict[str, object]:
    return {
        "schema_name": one.name[0],
        "table_name": one.name[1],
        "engine": one.structure.engine,
        "to": one.to,
        "fails": one.fails,
        "errors": list(map(_error, one.errors)),
        "target_errors": list(map(_error, one.target_errors)),
        "script_errors": list(map(_error, one.script_errors)),
        "changes": [{"id": change.id, "what": change.what, "statement": change.statement} for change in one.changes],
        "seconds": [round(number, 3) for number in one.seconds] if one.seconds else None,
        "seconds_least": round(one.lasting.least, 3) if one.lasting else None,
        "why_open": one.lasting.why if one.lasting else "",
        "bytes_now": one.contents.total_bytes if one.contents else None,
        "bytes_after": [int(number) for number in one.bytes_after] if one.bytes_after else None,
    }


def _error(error: Refusal) -> dict[str, object]:
    return {"code": error.code, "why": error.why, "mend": error.mend}
