"""JSON Schemas of the documents that the program writes, from the declarations of what is in them. They become docs/reference/*.schema.json.

A reader should pass over keys that it does not know: a later release of the same schema version may add some.
"""

from __future__ import annotations

import json

from myisam_advisor.catalogue.forecasts import Forecast
from myisam_advisor.history.noticed_changes import Change
from myisam_advisor.history.verification import MeasureOutcome, Window
from myisam_advisor.judging.findings import Blind, Dropped, Finding, NotApplicable, QuotedProof, ShownFact, Suspicion
from myisam_advisor.judging.past import Episode
from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT, Proof
from myisam_advisor.remedies.memory_budget import MemoryBudget
from myisam_advisor.rights.sights import Sight
from myisam_advisor.trial.comparison import Comparison, Run
from myisam_advisor.trial.engines.result import EngineResult
from myisam_advisor.trial.rounds import BUDGET, CLEAR, ROUNDS, Course
from myisam_advisor.trial.statements.replay_result import Difference, KindShare, Latency, Measured, TableStart
from myisam_advisor.trial.statements.replay_result import Window as ReplayWindow
from myisam_advisor.workload.summary import Kind
from myisam_exporter.facts.columns import TABLES
from myisam_exporter.facts.unknown import Unknown
from tools.json_shapes import (
    INTEGER,
    NUMBER,
    TEXT,
    TEXTS,
    VALUE,
    Schema,
    a_document,
    an_object,
    list_of,
    or_null,
    shape_of,
)
from tools.json_statements import seen_statements
from tools.json_tables import fact_table, one_table
from tools.json_upgrades import upgrade

SEVERITIES: Schema = {"enum": ["critical", "warning", "info"]}
CONFIDENCES: Schema = {"enum": ["confirmed", "likely", "suspected"]}
# What a finding has in the document in the place of its remedy.
REMEDY: dict[str, Schema] = {
    "commands": TEXTS | {"description": "What runs as it stands."},
    "offered_commands": TEXTS | {"description": "What waits until what the recommendation says first is done."},
    "undo_commands": TEXTS | {"description": "What takes `commands` back."},
    "offered_undo_commands": TEXTS | {"description": "What takes `offered_commands` back."},
    "my_cnf": TEXTS,
    "init_file": TEXTS,
}
ABOUT = {"rule": TEXT, "object": TEXT}


def schemas() -> dict[str, str]:
    """File name -> text."""
    made = {
        "check": _check(), "doctor": _doctor(), "engine": _engine(), "facts": _facts(), "migrate": _migrate(), "plan": _plan(), "proofs": _proofs(), "record": _record(),
        "replay": _replay(), "rights": _rights(), "table": one_table(_finding()), "trial": _trial(), "upgrade": upgrade(),
        "verify": _verify(), "error": _error(),
    }  # fmt: skip
    return {f"{name}.schema.json": json.dumps(schema, indent=1) + "\n" for name, schema in made.items()}


def _finding() -> Schema:
    proof = or_null(shape_of(QuotedProof)) | {
        "description": "What a trial or a replay here said of the change; else null."
    }
    evidence = list_of(shape_of(ShownFact, without=("label",)))
    forecast = or_null(shape_of(Forecast)) | {
        "description": "What the change is expected to gain: `low` to `high` times the statements; null where the rule reckons with nothing."
    }
    own = ("remedy", "evidence", "proof", "forecast")
    finding = shape_of(Finding, without=own, evidence=evidence, proof=proof, forecast=forecast, **REMEDY)
    finding["required"].append("since")
    finding["properties"] |= {
        "since": {"type": ["string", "null"], "description": "Since when it has held; null where no history tells."},
        "severity": SEVERITIES,
        "confidence": CONFIDENCES,
        "scope": {"enum": ["server", "table", "index", "key_cache"]},
    }
    return finding


def _past() -> Schema:
    told = {"title": TEXT, "resource": TEXT, "standing": TEXT, "since": TEXT, "until": TEXT}
    return an_object({
        "since": TEXT, "until": TEXT, "episodes": list_of(shape_of(Episode, without=("target",), **told)), "omitted_episodes": INTEGER,
        "gaps": list_of(an_object({"since": TEXT, "until": TEXT})), "restarts": TEXTS,
    })  # fmt: skip


def _check() -> Schema:
    suppressed: Schema = an_object({"finding": _finding(), "reason": TEXT, "until": TEXT})
    properties: dict[str, Schema] = {
        "server": {"type": "object", "description": "The fact table `server`, without what is unknown."},
        "interval_seconds": {"type": ["number", "null"]},
        "origin": {
            "type": ["string", "null"],
            "description": "Where the facts are from, when they were not taken now.",
        },
        "findings": list_of(_finding()),
        "not_evaluated": list_of(an_object({"rule": TEXT, "needs": TEXT, "how": TEXT})),
        "not_applicable": list_of(shape_of(NotApplicable)),
        "dropped": list_of(shape_of(Dropped)),
        "suppressed_count": {"type": "integer"},
        "suppressed": list_of(suppressed),
        "blind": list_of(shape_of(Blind)),
        "suspicious": list_of(shape_of(Suspicion)),
        "warnings": TEXTS,
        "memory": shape_of(MemoryBudget, room_bytes={"type": ["number", "null"]}),
        "quiet": TEXTS,
        "notes": list_of(an_object({"reason": TEXT, "remedy": TEXT})),
        "past": or_null(_past())
        | {"description": "What was found in the last day, where a daemon keeps a history of this server; else null."},
        "statements": or_null(seen_statements())
        | {
            "description": "With --statements: the kinds that were seen meanwhile, the one that held locks longest first; else null."
        },
        "rule_seconds": {"type": "object", "additionalProperties": NUMBER, "description": "With --verbose."},
    }
    return a_document("Findings", "`check --format json`, and /advice.json.", properties, ["rule_seconds"])


def _facts() -> Schema:
    properties: dict[str, Schema] = {"interval_seconds": {"type": "number"}}
    for table in TABLES:
        properties[table.name] = fact_table(table)
        if table.shape == "pairs":
            properties[f"{table.name}_per_second"] = {"type": "object", "additionalProperties": VALUE}
    description = "`snapshot`, `facts --format json`, and what --facts reads. What is unknown is absent; without time and tool where somebody wrote it."
    return a_document("Facts", description, properties, ["time", "tool", *properties])


def _plan() -> Schema:
    step = an_object({**ABOUT, "phase": TEXT, "statements": TEXTS})
    before = list_of(an_object({"in_shell": {"type": "boolean"}, "text": TEXT})) | {
        "description": "What is done first, in this order: of a repair, the copy of the table's files."
    }
    offline = an_object({
        "findings": list_of(an_object(ABOUT)), "before": before, "statements": TEXTS, "lock": TEXT, "lasts": TEXT, "needed_bytes": {"type": ["integer", "null"]},
        "free_bytes": {"type": ["integer", "null"]}, "fits": {"type": ["boolean", "null"]}, "afterwards": TEXT,
    })  # fmt: skip
    finding = an_object({
        **ABOUT, "severity": SEVERITIES, "confidence": CONFIDENCES, "message": TEXT, "evidence": list_of(shape_of(ShownFact, without=("label",))),
        "proved": TEXT, "expect": TEXT, "measured": TEXT, "cost": TEXT, "refused": TEXTS,
    })  # fmt: skip
    waits = {
        "type": "boolean",
        "description": "Whether it is in force from the next restart on only: no statement of the plan sets it at once.",
    }
    remarks = TEXTS | {"description": "Where the option stands now, or what wins over option files."}
    undo = TEXT | {"description": "What takes it back, in words; empty where statements do."}
    properties = {
        "server": TEXT,
        "notes": TEXTS,
        "findings": list_of(finding),
        "online": list_of(step),
        "shell": TEXTS,
        "my_cnf": list_of(an_object({"line": TEXT, "variable": TEXT, "rule": TEXT, "present": {"type": ["string", "null"]}, "waits": waits, "remarks": remarks})),
        "init_file": TEXTS,
        "init_file_present": TEXT,
        "offline": list_of(offline),
        "rollback": list_of(an_object({**ABOUT, "statements": TEXTS, "undo": undo})),
        "verification": list_of(an_object({**ABOUT, "verify": TEXT, "statements": TEXTS})),
        "without_change": list_of(an_object({**ABOUT, "recommendation": TEXT})),
        "not_seen": TEXTS | {"description": "What nobody could judge, in sentences."},
    }  # fmt: skip
    return a_document("A plan", "`plan --format json`: nothing of it was applied.", properties)


def _trial() -> Schema:
    course = shape_of(Course)
    course["properties"]["ended_by"] = {"enum": [CLEAR, ROUNDS, BUDGET]}
    variant = an_object({
        "operations_per_second": {"type": ["number", "null"]}, "server_cpu_seconds_per_operation": {"type": ["number", "null"]}, "runs": list_of(shape_of(Run)),
    })  # fmt: skip
    workload = an_object({
        "name": TEXT, "unit": TEXT, "note": TEXT, "baseline": TEXT, "client_cpu_share": {"type": ["number", "null"]},
        "variants": {"type": "object", "additionalProperties": variant}, "comparisons": list_of(shape_of(Comparison)),
        "course": or_null(course) | {"description": "How its rounds went: how many count, how many do not and why, the noise, and what ended them."},
    })  # fmt: skip
    texts = dict.fromkeys(
        ("experiment", "server", "version", "tables", "conclusion", "binaries", "machine", "taken_at"), TEXT
    )
    properties = {**texts, **_keeping()}
    properties |= {"settings": TEXTS, "workloads": list_of(workload), "skipped": {"type": "object", "additionalProperties": TEXT}}  # fmt: skip
    return a_document("A trial", "`trial --format json`.", properties)


def _keeping() -> dict[str, Schema]:
    """What was kept of it as a proof."""
    kept = list_of(an_object({"rule": TEXT, "id": TEXT, "path": TEXT}))
    return {"kept": kept, "not_kept": {"type": ["string", "null"]}}


def _proofs() -> Schema:
    proof = shape_of(Proof, without=("server",), id=TEXT, since=TEXT, used={"type": "boolean"}, why_not=TEXT)
    proof["properties"]["since"] = {"type": "string", "format": "date-time", "description": "When it was made."}
    properties = {"proofs": list_of(proof), "refused": TEXTS, "not_looked": {"type": ["string", "null"]}}
    return a_document("What was proved", "`proofs --format json`.", properties)


def _replay() -> Schema:
    number_or_null: Schema = {"type": ["number", "null"]}
    verdict: Schema = {"enum": [WORTH_IT, NO_DIFFERENCE, WORSE, UNCLEAR]}
    compared: dict[str, Schema] = {"low": number_or_null, "high": number_or_null}
    variant = an_object({
        "name": TEXT, "rules": TEXTS, "statements": TEXTS | {"description": "What was tried: SQL, and settings."},
        "times": number_or_null | {"description": "Above 1 is faster; null where it could not be tried."}, **compared,
        "verdict": {"enum": [*verdict["enum"], ""]}, "measured": or_null(_measured()),
        "problem": {"type": "string", "description": "Why it could not be tried, in the server's words; else empty."},
    })  # fmt: skip
    kind = an_object({
        "fingerprint": TEXT, "share": {"type": "number", "description": "Of the time of all statements, as it is now."}, "statements": INTEGER, "milliseconds": NUMBER,
        "variants": list_of(an_object({"name": TEXT, "times": NUMBER, **compared, "verdict": verdict})),
    })  # fmt: skip
    counts: Schema = {"type": "object", "additionalProperties": INTEGER}
    fidelity = an_object({
        **dict.fromkeys(("statements", "sent", "rows_equal", "rows_differ", "rows_unknown", "lost_turns", "crowded_connections", "unconnected"), INTEGER),
        **dict.fromkeys(("recorded_seconds", "replayed_seconds", "sender_cpu_share", "differing_share"), NUMBER),
        "errors_recorded": {"type": "boolean", "description": "Whether the recording tells which statements failed."},
        "left_out": counts | {"description": "Statements that were not sent, by reason."},
        "differences": list_of(shape_of(Difference)), "tables": list_of(shape_of(TableStart)), "notes": TEXTS,
        "window": shape_of(ReplayWindow, absent=list_of(shape_of(KindShare)), shifted=list_of(shape_of(KindShare))) | {"description": "Which beginning was replayed."},
    })  # fmt: skip
    course = shape_of(Course)
    course["properties"]["ended_by"] = {"enum": [CLEAR, ROUNDS, BUDGET]}
    properties: dict[str, Schema] = {
        "variants": list_of(variant), "kinds": list_of(kind) | {"description": "Those that became slower first."}, "fidelity": fidelity,
        "baseline": _measured(), "speed": {"enum": ["max", "1"]}, "server": TEXT, "version": TEXT, "tables": TEXTS, "settings": TEXTS,
        "workload": {"type": "object", "additionalProperties": TEXT}, "machine": TEXT,
        "taken_at": {"type": "number", "description": "Seconds since 1970."}, "course": or_null(course), **_keeping(),
    }  # fmt: skip
    return a_document("A replay", "`trial replay --format json`.", properties)


def _engine() -> Schema:
    described = {
        "tables": "One entry for each table and engine; what is null was not measured.",
        "stayed": "The same tables as they are, in MyISAM.",
        "recorded": "With --workload: its statements on each engine against MyISAM.",
    }
    whole = shape_of(EngineResult)["properties"]
    conversion = whole["tables"]["items"]["properties"]
    for name, said in {
        "seconds": "How long the ALTER took; null where it failed.",
        "bytes_before": "data_bytes (.MYD) and index_bytes (.MYI) together.",
        "bytes_after": "All files of the table on the other engine.",
        "checksum_equal": "Whether the number of rows and a sum over their values are the same on both.",
        "lock_waits": "During the statements of `kinds`: InnoDB's of rows, Aria's of the table.",
    }.items():
        conversion[name]["description"] = said
    for name, said in described.items():
        whole[name]["description"] = said
    return a_document("A trial of engines", "`trial engine --format json`.", whole)


def _measured() -> Schema:
    measured = shape_of(Measured, without=("latency_milliseconds",), latency_milliseconds=shape_of(Latency))
    return measured | {"description": "Medians over the rounds."}


def _verify() -> Schema:
    outcome = shape_of(MeasureOutcome)
    properties = {
        "changed_at": {"type": "number", "description": "Seconds since 1970."},
        "window": shape_of(Window),
        "changes": list_of(shape_of(Change)),
        "measures": list_of(outcome),
        "load": or_null(outcome),
        "caution": {"type": ["string", "null"]},
        "verdict": {"enum": ["improved", "unchanged", "worse", "not enough data"]},
    }
    return a_document("A change, verified", "`verify --format json`.", properties)


def _record() -> Schema:
    kind = shape_of(Kind)
    number_or_null: Schema = {"type": ["number", "null"]}
    texts = {"source": TEXT, "server_version": TEXT, "flavour": TEXT}
    properties = {
        **texts, "began_at_seconds": number_or_null, "ended_at_seconds": number_or_null, "resolution_seconds": NUMBER, "statements": INTEGER,
        "left_out": {"type": "object", "description": "Statements that are not in it, by reason.", "additionalProperties": INTEGER},
        "truncated": {"type": "boolean"}, "note": {"type": "object", "additionalProperties": TEXT},
        "file": {"type": "string", "description": "What was written; not with --show."},
        "connections": {"type": "integer", "description": "With --show."},
        "has_more_connections": {"type": "boolean", "description": "There are more: they were not counted to the end."}, "kinds": list_of(kind),
    }  # fmt: skip
    return a_document(
        "A workload", "`record --format json`.", properties, ("file", "connections", "has_more_connections", "kinds")
    )


def _doctor() -> Schema:
    source = an_object({
        "name": TEXT, "state": {"enum": ["working", "degraded", "off", "not here"]}, "seconds": NUMBER, "problems": list_of(shape_of(Unknown)),
        "unknown": {"type": "object", "description": "The columns that are not known, and why.", "additionalProperties": shape_of(Unknown)}, "rules": TEXTS,
    })  # fmt: skip
    history = an_object(
        {"path": TEXT, "problem": {"type": "string", "description": "Why none can be kept there; empty where it can."}}
    )
    return a_document("What can be seen", "`doctor --format json`.", {"who": TEXT, "sources": list_of(source), "history": history})  # fmt: skip


def _migrate() -> Schema:
    ends: Schema = {"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2}
    name = {"schema_name": TEXT, "table_name": TEXT}
    error = an_object({
        "code": {
            "type": "integer",
            "description": "The server's number of the error; the first one hides those behind it. 0 is a warning, and the table is not of the engine that was asked for.",
        },
        "why": TEXT, "mend": TEXT,
    })  # fmt: skip
    change = an_object({
        "id": TEXT, "what": TEXT, "statement": {"type": "string", "description": "Shows the change; empty where no single one does."},
    })  # fmt: skip
    table = an_object({
        **name, "engine": TEXT, "to": TEXT, "fails": {"type": "boolean", "description": "Whether ALTER TABLE ... ENGINE=... is refused on this server, whatever rows there are."},
        "errors": list_of(error),
        "target_errors": list_of(error) | {"description": "What an ALTER run on the target, with its settings by default, would end with besides."},
        "script_errors": list_of(error) | {"description": "What the script's ALTER, without options of MyISAM's, would end with; of a table without such, it runs."},
        "changes": list_of(change),
        "seconds": or_null(ends) | {"description": "How long the ALTER lasts, between two ends; null where both are not known."},
        "seconds_least": {"type": ["number", "null"], "description": "The least time, also where the most is not known; null where nothing is."},
        "why_open": {"type": "string", "description": "Why only the least time is known; empty where both are, or none is."},
        "bytes_now": {"type": ["integer", "null"], "description": "How large its files are; null where its header could not be read."},
        "bytes_after": or_null(ends) | {"description": "How large the table becomes, between two ends; null where its size is not known."},
    })  # fmt: skip
    properties: dict[str, Schema] = {
        "to": {"enum": ["InnoDB", "Aria"]},
        "target": {"type": ["string", "null"]},
        "dump_needed": {
            "type": ["string", "null"],
            "description": "Why the target is reached by dump and load alone, where it is of the other product; null where it opens the tables as they are.",
        },
        "foreign_keys_unknown": {
            "type": ["string", "null"],
            "description": "Why nobody knows which InnoDB tables refer to these; null where that is known, or the tables go to Aria.",
        },
        "tables": list_of(table),
        "order": list_of(an_object(dict(name))) | {"description": "In which order to convert them."},
        "disk_free_bytes": {"type": ["number", "null"], "description": "Where the data directory lies."},
        "memory": an_object(
            {
                "key_buffer_bytes": {"type": ["number", "null"]},
                "cache_bytes": {
                    "type": ["number", "null"],
                    "description": "innodb_buffer_pool_size, or aria_pagecache_buffer_size.",
                },
                "cache_wanted_bytes": ends
                | {"description": "What that cache would take to hold all tables of which the size is known."},
            }
        ),
        "left_out": list_of(an_object({"name": TEXT, "why": TEXT}))
        | {"description": "What was asked for, or lies there, and nothing is said of."},
    }
    return a_document("Migration", "`migrate --format json`.", properties)


def _rights() -> Schema:
    text_or_null: Schema = {"type": ["string", "null"]}
    sight = shape_of(Sight)
    sight["properties"]["state"] = {"enum": ["seen", "not seen", "off", "not here", "not known"]}
    recipe = an_object({
        "drop_in": an_object({"path": TEXT, "text": TEXT, "present": {"enum": ["absent", "ours", "foreign"]}}), "account": TEXTS, "account_problem": TEXT, "restart": TEXTS,
    })  # fmt: skip
    properties: dict[str, Schema] = {
        "who": TEXT,
        "service": text_or_null,
        "user": text_or_null,
        "all_seen": {"type": "boolean"},
        "sights": list_of(sight),
        "recipe": or_null(recipe)
        | {"description": "What would show the rest, its parts empty where they are not needed; null where no service was looked at."},
        "done": TEXTS,
        "drop_account": {"type": "string", "description": "With --undo: what removes the account."},
    }  # fmt: skip
    by_what_was_asked = ["who", "user", "all_seen", "sights", "recipe", "drop_account"]
    return a_document("Rights of the service", "`rights --format json`; with --undo only `service`, `done` and `drop_account`.", properties, by_what_was_asked)  # fmt: skip


def _error() -> Schema:
    properties = {"error": {"type": "string", "description": "What went wrong, and what to do."}}
    return a_document("A run that failed", "What stands in the place of any document asked for by --format json.", properties)  # fmt: skip
