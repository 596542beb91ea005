"""Facts of any shape: cases thrown together, with columns missing, zero or a thousand times as large.

Whatever they are, no rule fails, no text has a hole in it, and no variable of one object is advised on twice.
"""

import copy
import random
import re
from typing import Any

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.faults import OUR_FAULT
from myisam_advisor.judging.findings import Judgement
from tests.rules.test_cases import CASES
from tests.support.judging import judged_facts

DOCUMENTS = [case["facts"] for _, case in CASES]
NAMES = {"schema_name", "table_name", "name", "index_number", "state", "command"}
# What a column that is NULL leaves in a sentence; OPTIMIZE ... and .MYI are meant.
HOLES = re.compile(r"(?<=.)\bNone\b|\bnan\b|  | \.(?![.\w])| ,")


def combined(first: dict[str, Any], second: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    both = {name: chance.choice([first.get(name, second.get(name)), second.get(name, first.get(name))]) for name in first | second}
    mappings = {name for name in first.keys() & second.keys() if isinstance(first[name], dict) and isinstance(second[name], dict)}
    return both | {name: {**first[name], **second[name]} for name in mappings}


def changed(row: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    def value(known: Any) -> Any:
        if isinstance(known, bool | str) or known is None or abs(known) >= 1 << 50 or chance.random() > 0.3:
            return known
        return type(known)(known * chance.choice([0, 0.001, 0.1, 10, 1000]))

    return {name: known if name in NAMES else value(known) for name, known in row.items() if name in NAMES or chance.random() > 0.1}


def any_facts(chance: random.Random) -> dict[str, Any]:
    document: dict[str, Any] = copy.deepcopy(chance.choice(DOCUMENTS))
    for _ in range(chance.randrange(4)):
        document = combined(document, copy.deepcopy(chance.choice(DOCUMENTS)), chance)
    kept = {name: content for name, content in document.items() if chance.random() > 0.08}
    return {
        name: changed(content, chance) if isinstance(content, dict) else [changed(row, chance) for row in content] if isinstance(content, list) else content
        for name, content in kept.items()
    }


def check(judgement: Judgement) -> None:
    assert [outcome for outcome in judgement.not_evaluated if outcome.how == OUR_FAULT or "that works" in outcome.needs] == []
    knobs = [(finding.variable, finding.object) for finding in judgement.findings if finding.variable]
    assert len(knobs) == len(set(knobs))
    for finding in judgement.findings:
        for text in (finding.message, finding.recommendation, finding.expect, finding.cost, finding.undo, finding.verify, *finding.commands, *finding.undo_commands, *finding.my_cnf):
            assert not HOLES.search(text), (finding.rule, text)
            assert text or text is finding.message
        assert all((finding.message, finding.recommendation, finding.cost, finding.undo, finding.verify))
    memory = judgement.memory
    if memory.limit_bytes is not None:
        assert memory.granted_bytes <= memory.limit_bytes


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_no_facts_make_a_rule_fail_or_a_text_break(seed: int) -> None:
    chance = random.Random(seed)
    judged = 0
    for _ in range(40):
        facts = facts_from_document({"schema": 1, **any_facts(chance)})
        check(judged_facts(facts))
        judged += 1
    assert judged == 40
