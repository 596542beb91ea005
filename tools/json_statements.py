"""The JSON Schema of the kinds of statements that `--statements` saw."""

from __future__ import annotations

from myisam_advisor.workload.kinds.seen import Sums
from tools.json_shapes import NUMBER, TEXT, TEXTS, Schema, an_object, list_of, shape_of


def seen_statements() -> Schema:
    """A part of the findings' document."""
    sums = shape_of(Sums)["properties"]
    whole: Schema = {
        "type": "boolean",
        "description": "Its text was seen to its end, and understood: it names no further table.",
    }
    kind = an_object(
        {
            "id": TEXT,
            "fingerprint": TEXT,
            **sums,
            "held_seconds": NUMBER,
            "reads": TEXTS,
            "writes": TEXTS,
            "is_whole": whole,
        }
    )
    return an_object(
        {
            "source": TEXT | {"description": "Empty where nothing could be told: the notes say why."},
            "seconds": NUMBER,
            "kinds": list_of(kind),
            "others": an_object(sums) | {"description": "Of statements that name no MyISAM table."},
            "unknown": an_object(sums)
            | {"description": "Of statements of which it is not known which tables they use."},
            "tables_unknown": {
                "type": ["string", "null"],
                "description": "Why it is not known of all tables whether they are MyISAM tables.",
            },
            "notes": TEXTS,
        }
    )
