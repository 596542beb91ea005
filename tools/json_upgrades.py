"""The JSON Schema of tables, and recorded statements, under a newer version."""

from __future__ import annotations

from myisam_advisor.trial.rounds import BUDGET, CLEAR, ROUNDS
from myisam_advisor.trial.upgrade.recorded_result import DIFFERENCES, RecordedUpgrade
from myisam_advisor.trial.upgrade.upgrade_result import VERDICTS, WAYS, NotTried, Problem, UpgradedTable
from tools.json_shapes import TEXT, TEXTS, Schema, a_document, list_of, or_null, shape_of


def upgrade() -> Schema:
    """The document of `trial upgrade`."""
    table = shape_of(UpgradedTable)
    table["properties"] |= {
        "verdict": {"enum": list(VERDICTS)}, "way": {"enum": list(WAYS), "description": "How the copy became a table of the newer server."}, "steps": TEXTS,
        "problems": list_of(shape_of(Problem)) | {"description": "In the newer server's words; `code` is 0 where CHECK TABLE gives none."},
    }  # fmt: skip
    properties: dict[str, Schema] = {
        "present": TEXT, "server": TEXT, "version": TEXT, "tables": list_of(table), "not_tried": list_of(shape_of(NotTried)), "notes": TEXTS, "machine": TEXT,
        "recorded": or_null(_recorded_upgrade()) | {"description": "With --workload: its statements under both versions; else null."},
    }  # fmt: skip
    return a_document("An upgrade", "`trial upgrade --format json`.", properties)


def _recorded_upgrade() -> Schema:
    whole = shape_of(RecordedUpgrade)
    fields = whole["properties"]
    fields["others"]["items"]["properties"]["what"] = {"enum": list(DIFFERENCES)}
    fields["course"]["anyOf"][0]["properties"]["ended_by"] = {"enum": [CLEAR, ROUNDS, BUDGET]}
    for name, said in {
        "sent": "Answered by both.",
        "not_reached": "For which the budget was too short.",
        "left_out": "Statements that are not sent, by reason.",
        "refused_by_both": "With the same error.",
        "unsteady": "Answered otherwise by the present version itself, when it was asked twice.",
        "only_newer": "Kinds that the newer version refuses, and the present one takes (`other_code` 0) or ends with another error.",
        "only_present": "The other way round.",
        "others": "Kinds that both take, with other results.",
        "selects_compared": "Kinds of SELECT of which one was compared row by row.",
        "all": "All statements together, above 1 is faster; null where `speed_problem` says why.",
        "kinds": "Kinds that both answer alike, with a twentieth of the time or more.",
        "settings": "What decides the meaning of statements. The newer version has its own defaults, but for what was set on the watched server (`is_carried`).",
    }.items():
        fields[name]["description"] = said
    return whole
