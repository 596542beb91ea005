"""The work of a rule grows as the tables do that it speaks of, not as their square: of three thousand tables with holes nobody was told, as the query was stopped."""

import shlex
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.asking import MAXIMUM_FINDINGS_PER_RULE
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from tests.rules.test_cases import CASES

OF_TABLES = ("tables", "indexes")
FEW, MANY = 50, 200
STEPS = 100
# Where each step is of a few tables, what is done once counts too.
ONCE = 20
MOST_TIMES = 1.1 * MANY / FEW
RULES = {rule.id: rule for rule in shipped_rules()}
WITH_TABLES = sorted({name for name, case in CASES if name in RULES and case["facts"].get("tables")})


def many(document: dict[str, Any], times: int) -> dict[str, Any]:
    """The same tables so many times over, under other names."""
    rows = {key: [{**row, "table_name": f"{row['table_name']}_{copy}"} for copy in range(times) for row in document[key]] for key in OF_TABLES if key in document}
    return {**document, **rows}


def steps(name: str, document: dict[str, Any], times: int) -> list[int]:
    """What SQLite does for the rule's query, and for all that may speak against it, in hundreds of steps."""
    facts = facts_from_document({"schema": 1, **many(document, times)})
    rule, kept, counted = RULES[name], FactDatabase(), [0]
    database = kept.holding(facts)._database

    def count() -> int:
        counted[0] += 1
        return 0

    taken = []
    database.set_progress_handler(count, STEPS)
    for statement in rule.statements:
        database.execute(statement, {**rule.values(), "interval_seconds": facts.interval_seconds}).fetchall()
        taken.append(counted[0] + ONCE)
        counted[0] = 0
    kept.close()
    return taken


@pytest.mark.parametrize("name", WITH_TABLES)
def test_four_times_as_many_tables_take_four_times_as_long(name: str) -> None:
    cases = [case for stem, case in CASES if stem == name and case["facts"].get("tables")]
    for case in cases:
        few, more = steps(name, case["facts"], FEW), steps(name, case["facts"], MANY)
        assert all(after <= MOST_TIMES * before for before, after in zip(few, more, strict=True)), (case["name"], few, more)


def test_one_line_shows_what_the_rebuild_of_all_made() -> None:
    case = next(case for stem, case in CASES if stem == "fragmented-table" and "fragmented-table" in case["expect"].get("fires", ()) and case["facts"].get("tables"))
    facts = facts_from_document({"schema": 1, **many(case["facts"], 3)})
    found = judge(prepared(facts, Site((RULES["fragmented-table"],)))).findings
    (verify,) = {finding.verify for finding in found}
    program, command, asked = shlex.split(verify)[:3]
    assert (program, command) == ("myisam-advisor", "query")
    named = {row[:2] for row in FactDatabase().holding(facts).query(asked).rows}
    assert len(found) == len({finding.object for finding in found}) > 1
    assert {finding.object for finding in found} <= {f"{schema}.{table}" for schema, table in named}


def test_of_more_findings_than_are_told_it_is_said() -> None:
    case = next(case for name, case in CASES if name == "table-crashed" and case["facts"].get("tables") and "fires" in case["expect"])
    document = {"schema": 1, **many(case["facts"], MAXIMUM_FINDINGS_PER_RULE + 1)}
    judgement = judge(prepared(facts_from_document(document), Site((RULES["table-crashed"],))))
    assert "table-crashed found more than 1,000: the others are not shown." in judgement.warnings
