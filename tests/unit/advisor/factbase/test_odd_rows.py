"""Rows without names, and texts where numbers belong."""

from typing import Any

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared

FULL = {"data_bytes": 4_000_000, "max_data_bytes": 4_100_000}


def judged(**facts: Any) -> Judgement:
    return judge(prepared(facts_from_document({"schema": 1, **facts}), Site(shipped_rules())))


def test_a_table_without_a_name_is_told_and_has_no_statement() -> None:
    found = [one for one in judged(tables=[FULL, FULL | {"table_name": "t"}, FULL | {"schema_name": "s", "table_name": "t"}]).findings if one.rule == "table-near-size-limit"]
    assert [one.object for one in found] == ["`(no name 1)`.`(no name 1)`", "`(no name 2)`.t", "s.t"]
    assert [bool(one.remedy.commands) for one in found] == [False, False, True]
    assert ["The facts do not name it" in one.recommendation for one in found] == [True, True, False]


def test_names_that_are_unknown_stay_so_in_the_facts() -> None:
    facts = complete(facts_from_document({"schema": 1, "tables": [FULL]}))
    assert facts.tables["tables"].values("table_name") == [None]


def test_the_only_key_cache_is_the_default_one() -> None:
    (cache,) = prepared(facts_from_document({"schema": 1, "key_cache": [{"size_bytes": 1}]}), Site(shipped_rules())).judged.tables["key_cache"].dictionaries()
    assert cache["name"] == "default"


def test_a_text_in_the_place_of_a_number_is_unknown() -> None:
    facts = complete(facts_from_document({"schema": 1, "variable": {"read_buffer_size": "abc", "sort_buffer_size": "4096", "init_file": "abc"}, "status": {"Key_reads": "many"}}))
    assert facts.tables["variable"].by_name("value") == {"read_buffer_size": None, "sort_buffer_size": 4096, "init_file": "abc"}
    assert facts.tables["status"].by_name("value") == {"Key_reads": None}
    reasons = {one.rule: one.needs for one in judged(variable={"read_buffer_size": "abc"}).not_evaluated}
    assert reasons["read-buffer-too-large"] == "variable.read_buffer_size (what is said of it is not a number)"
