"""One limit of open files for all findings, in what they say as in the lines that they set."""

from dataclasses import replace

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared

NEAR = {
    "schema": 1,
    "server": {"flavour": "mysql", "version": "8.0.33"},
    "variable": {"table_open_cache": 400, "open_files_limit": 1024, "max_connections": 151},
    "status": {"Open_tables": 300},
    "mysqld": {"open_files": 1000, "open_files_limit": 1024},
}
LOWERED = {
    "schema": 1,
    "server": {"flavour": "mysql", "version": "8.0.33"},
    "variable": {"table_open_cache": 431, "open_files_limit": 1024, "max_connections": 151},
}


@pytest.mark.parametrize(("facts", "rule"), [(NEAR, "open-files-limit"), (LOWERED, "limits-lowered-at-start")])
def test_words_and_line_have_the_limit_of_a_sites_own_rule_where_that_is_larger(facts: dict[str, object], rule: str) -> None:
    shipped = {one.id: one for one in shipped_rules()}
    word = "As the site has it."
    own = replace(shipped["recovery-disabled"], id="own", query="SELECT 1 AS one", needs=(), applicable=(), not_if=(), evidence=(), variable=None)
    own = replace(own, finding=word, to_do=word, recommendation=word, expect=word, cost=word, undo=word, verify=word)
    own = replace(own, planner=None, commands=(), my_cnf=("open_files_limit = 262144",))
    site = Site((*shipped_rules(), own))
    found = {one.rule: one for one in judge(prepared(facts_from_document(facts), site)).findings}
    limited = found[rule]
    assert [str(line) for line in (*found["own"].my_cnf, *limited.my_cnf)] == ["open_files_limit = 262144"] * 2
    assert "262144" in limited.to_do
    assert "262144" in limited.recommendation
    assert "LimitNOFILE" in limited.recommendation
    assert not {"4096", "32768"} & set(limited.recommendation.replace("=", " ").replace(",", " ").split())
