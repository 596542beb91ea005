"""The cases of all rules on servers that Amazon runs, and under Windows: nothing is said that nobody can do there."""

import json
import re
from collections.abc import Iterator

import pytest

from myisam_advisor.judging.findings import Judgement
from tests.rules.test_cases import CASES, judged

AMAZON = {"datadir": "/rdsdbdata/db/", "basedir": "/rdsdbbin/mysql/"}
WINDOWS = {"datadir": "C:\\ProgramData\\MySQL\\Data\\", "version_compile_os": "Win64"}
ON_LINUX = r"systemd|systemctl|LimitNOFILE|my\.cnf|/etc/|sudo|own host|beside the server|\bas root\b|sysctl|prlimit|numactl|\bcp -p|\bdf -"
ON_A_MACHINE = rf"{ON_LINUX}|init_file|SET GLOBAL \S+ =|SET PERSIST|myisamchk"
# A layout of key caches needs names and an init_file, and so is never lost at Amazon's; whose files these cases name, that one would not tell.
NOT_THERE = {"key-cache-layout-lost"}
# Why, and not what to do.
REASONS = re.compile(r"No key caches with names on Amazon RDS: .*?restart\.|is repaired by myisamchk, which nobody can run|\(of what SET PERSIST wrote it only warns\)")


def said(judgement: Judgement) -> Iterator[tuple[str, str]]:
    for one in judgement.findings:
        remedy = (*one.commands, *one.undo_commands, *one.my_cnf, *one.init_file)
        yield from ((one.rule, str(text)) for text in (one.message, one.recommendation, one.to_do, one.expect, one.cost, one.undo, one.verify, *one.refused, *remedy))
    yield from ((one.rule, one.how) for one in judgement.not_evaluated)
    yield from ((one.rule, one.why) for one in judgement.dropped)
    yield from (("blind", one.remedy) for one in judgement.blind)


@pytest.mark.parametrize(("variables", "foreign"), [(AMAZON, ON_A_MACHINE), (WINDOWS, ON_LINUX)], ids=["amazon", "windows"])
def test_nothing_is_said_that_nobody_can_do_there(variables: dict[str, str], foreign: str) -> None:
    wrong = set()
    for name, case in CASES:
        changed = json.loads(json.dumps(case, default=str))
        facts = changed["facts"]
        # Nobody sees that machine, nor a file of it; where the server's variables stand, it says itself.
        facts["server"] = {column: value for column, value in facts.get("server", {}).items() if column != "data_directory"} | {"local": 0}
        own = {name: value for name, value in facts.get("variable", {}).items() if name != "init_file"}
        facts |= {"variable": own | variables, "host": {}, "mysqld": {}, "variable_origin": []}
        wrong |= {(name, case["name"], rule, text) for rule, text in said(judged(changed)) if rule not in NOT_THERE and re.search(foreign, REASONS.sub("", text))}
    assert not wrong
