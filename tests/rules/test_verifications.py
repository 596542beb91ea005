"""A verification that asks the facts tells success from failure: before anything is done it names what was found, and once that is mended it does not."""

import re
import shlex
from typing import Any

import pytest

from myisam_advisor.factbase.database import FactDatabase
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document

from .test_cases import CASES, judged

ASKED = re.compile(r"myisam-advisor query (?:\"[^\"]*\"|'[^']*')")
# What a table has once the remedy of any of these rules was carried out.
MENDED: dict[str, Any] = {
    "crashed": 0, "recovery_failed": 0, "fragments_per_row": 1.0, "free_bytes": 0, "max_data_bytes": 1 << 48, "max_index_bytes": 1 << 40,
    "fullest_partition_used_ratio": None, "auto_increment_maximum": (1 << 63) - 1,
}  # fmt: skip


def answer(facts: dict[str, Any], verify: str) -> set[tuple[Any, ...]]:
    (found,) = ASKED.findall(verify)
    return {tuple(row[:2]) for row in FactDatabase().holding(complete(facts_from_document({"schema": 1, **facts}))).query(shlex.split(found)[2]).rows}


@pytest.mark.parametrize("rule", ["auto-increment-nearly-full", "fragmented-table", "table-crashed", "table-near-size-limit"])
def test_what_was_found_is_named_until_it_is_mended(rule: str) -> None:
    named = 0
    for case in (case for stem, case in CASES if stem == rule):
        tables = {f"{one['schema_name']}.{one['table_name']}": (one["schema_name"], one["table_name"]) for one in case["facts"].get("tables", ())}
        for finding in (one for one in judged(case).findings if one.rule == rule and one.object in tables):
            if rule == "fragmented-table" and not any("free_bytes" in one.fact or "fragments" in one.fact for one in finding.evidence):
                continue
            named += 1
            assert tables[finding.object] in answer(case["facts"], finding.verify), case["name"]
            mended = {**case["facts"], "tables": [{**one, **MENDED} for one in case["facts"]["tables"]]}
            assert answer(mended, finding.verify) == set(), case["name"]
    assert named > 1


def test_a_file_system_is_asked_itself() -> None:
    case = next(case for stem, case in CASES if stem == "data-directory-read-only" and "fires" in case["expect"])
    (finding,) = (one for one in judged(case).findings if one.rule == "data-directory-read-only")
    host = case["facts"]["host"]
    assert [answer({**case["facts"], "host": {**host, "data_directory_read_only": value}}, finding.verify) for value in (1, 0)] == [{(1,)}, {(0,)}]
