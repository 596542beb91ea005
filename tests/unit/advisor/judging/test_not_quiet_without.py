"""A rule that found nothing, and would speak were a fact as it may be that nobody knows: it says what it needs."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import Decider, Rule, shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.factbase.database import FactDatabase, open_database
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.factbase.filling import Filling
from myisam_advisor.factbase.supposed_fact import supposing
from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.past import silence_of
from myisam_advisor.judging.prepared import prepared
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown

SHIPPED = next(rule for rule in shipped_rules() if rule.id == "recovery-disabled")
TEXTS = ("finding", "recommendation", "to_do", "expect", "cost", "undo", "verify")
FULL = "SELECT 1 AS verdict FROM host WHERE data_directory_free_bytes < 1000 AND cpu_count = 4"
TABLE = [{"schema_name": "a", "table_name": "b", "rows": 7}]


def own_rule(query: str, *deciders: tuple[str, Value], **fields: Any) -> Rule:
    texts: dict[str, Any] = dict.fromkeys(TEXTS, "Words.")
    return replace(
        SHIPPED, query=query, evidence=(), parameters={}, needs=(), applicable=(), not_if=(), planner=None, versions={}, variable=None, commands=(), my_cnf=(),
        flavours=("mysql", "percona", "mariadb"), not_quiet_without=tuple(Decider(*one) for one in deciders), **{**texts, **fields},
    )  # fmt: skip


def judged(rule: Rule, unknown: dict[str, Unknown] | None = None, **document: Any) -> Judgement:
    facts = facts_from_document({"schema": 1, **document})
    return judge(prepared(replace(facts, unknown={**facts.unknown, **(unknown or {})}), Site((rule,))))


def test_a_fact_that_would_have_it_speak_is_needed() -> None:
    judgement = judged(own_rule(FULL, ("host.data_directory_free_bytes", 0)), host={"cpu_count": 4})
    assert [(one.needs, one.facts) for one in judgement.not_evaluated] == [("host.data_directory_free_bytes (not in the facts file)", ("host.data_directory_free_bytes",))]
    assert not judgement.quiet


SPACE, CORES, SWAP = ("host.data_directory_free_bytes", 0), ("host.cpu_count", 4), ("host.swap_total_bytes", 7)


@pytest.mark.parametrize("deciders", [(SPACE, CORES), (SPACE, SWAP, CORES), (SPACE, ("host.cpu_count", 2), CORES)])
def test_facts_that_would_have_it_speak_together_are_needed_and_no_others(deciders: tuple[tuple[str, int], ...]) -> None:
    (needing,) = judged(own_rule(FULL, *deciders), host={"memory_bytes": 1}).not_evaluated
    assert needing.facts == ("host.data_directory_free_bytes", "host.cpu_count")
    assert needing.needs == "host.data_directory_free_bytes; host.cpu_count (not in the facts file)"
    assert needing.why == "not in the facts file", "as where one fact is needed: the report tells such rules together"


def test_facts_that_are_not_known_for_different_causes_keep_each_its_own() -> None:
    (needing,) = judged(own_rule(FULL, SPACE, CORES), {"host.cpu_count": Unknown("no rights", "run as root")}, host={"memory_bytes": 1}).not_evaluated
    assert needing.needs == "host.data_directory_free_bytes (not in the facts file); host.cpu_count (no rights)"
    assert (needing.why, needing.how) == ("", "run as root")


def test_what_is_known_excludes_what_several_would_say_together() -> None:
    rule = own_rule(f"{FULL} AND memory_bytes > 5", SPACE, CORES)
    assert list(judged(rule, host={"memory_bytes": 1}).quiet) == [SHIPPED.id]


def test_where_no_index_is_known_each_table_may_have_one() -> None:
    rule = own_rule("SELECT 1 AS verdict FROM indexes WHERE is_packed = 1 AND maximum_key_bytes > 90 AND table_name = 'b'", ("indexes.is_packed", 1), ("indexes.maximum_key_bytes", 100))
    (needing,) = judged(rule, tables=TABLE).not_evaluated
    assert needing.facts == ("indexes.is_packed", "indexes.maximum_key_bytes")
    with open_database(facts_from_document({"schema": 1, "tables": TABLE})) as database:
        with supposing(database, "indexes.is_packed", 1, database.close) as can_be:
            assert can_be
            assert database.query("SELECT schema_name, table_name, is_packed FROM indexes").rows == [("a", "b", 1)]
        assert database.query("SELECT COUNT(*) FROM _named").rows == database.query("SELECT COUNT(*) FROM _endings").rows == [(0,)]


def test_a_fact_that_there_is_not_is_the_rules_fault() -> None:
    judgement = judged(own_rule(FULL, ("host.free", 0)), host={"cpu_count": 4})
    assert [one.needs for one in judgement.not_evaluated] == ["facts that exist: there is no host.free"]


@pytest.mark.parametrize("host", [{"cpu_count": 2}, {"cpu_count": 4, "data_directory_free_bytes": 2000}])
def test_what_is_known_excludes_it(host: dict[str, int]) -> None:
    judgement = judged(own_rule(FULL, ("host.data_directory_free_bytes", 0)), host=host)
    assert (list(judgement.quiet), list(judgement.not_evaluated)) == ([SHIPPED.id], [])


def test_what_its_source_has_switched_off_is_not_needed() -> None:
    off = Unknown("that file system does not tell it", off=True)
    judgement = judged(own_rule(FULL, ("host.data_directory_free_bytes", 0)), {"host.data_directory_free_bytes": off}, host={"cpu_count": 4})
    assert list(judgement.quiet) == [SHIPPED.id]


def test_what_the_server_does_not_have_is_not_needed() -> None:
    facts = facts_from_document({"schema": 1, "variable": {"port": 3306}})
    known = {name: why for name, why in facts.unknown.items() if name != "variable.*"}
    rule = own_rule("SELECT 1 AS verdict FROM variable WHERE name = 'flush_time' AND value > 0", ("variable.flush_time", 60))
    assert list(judge(prepared(facts, Site((rule,)))).not_evaluated) != []
    assert list(judge(prepared(replace(facts, unknown=known), Site((rule,)))).quiet) == [SHIPPED.id]


def test_a_second_sign_speaks_against_it_then_too() -> None:
    rule = own_rule(FULL, ("host.data_directory_free_bytes", 0))
    objected = replace(rule, not_if=next(one.not_if for one in shipped_rules() if one.not_if)[:1])
    objected = replace(objected, not_if=(replace(objected.not_if[0], when="SELECT 1 AS one FROM host WHERE swap_total_bytes = 0", because="There is no swap."),))
    assert list(judged(objected, host={"cpu_count": 4, "swap_total_bytes": 0}).quiet) == [SHIPPED.id]
    assert list(judged(objected, host={"cpu_count": 4}).quiet) == []


@pytest.mark.parametrize(
    ("fact", "value", "query"),
    [
        ("host.cpu_count", 4, "SELECT cpu_count FROM host"),
        ("mysqld.threads", 4, "SELECT threads FROM mysqld"),
        ("variable.flush_time", 60, "SELECT value FROM variable WHERE name = 'flush_time'"),
        ("status.Questions", 60, "SELECT value FROM status WHERE name = 'Questions'"),
        ("status.Questions.per_second", 60, "SELECT per_second FROM status WHERE name = 'Questions'"),
        ("status.Uptime.per_second", 1, "SELECT per_second FROM status WHERE name = 'Uptime'"),
        ("tables.data_bytes", 9, "SELECT data_bytes FROM tables"),
        ("indexes.page_bytes", 1024, "SELECT page_bytes FROM indexes"),
    ],
)
def test_a_fact_has_a_value_for_a_question_and_none_afterwards(fact: str, value: int, query: str) -> None:
    document = {"host": {"memory_bytes": 1}, "status": {"Uptime": 5}, "tables": TABLE, "indexes": [{"schema_name": "a", "table_name": "b", "index_number": 1}]}
    tables = ("host", "mysqld", "variable", "status", "tables", "indexes")
    with open_database(facts_from_document({"schema": 1, **document})) as database:
        before = [database.query(f"SELECT * FROM {table}").rows for table in tables]
        with supposing(database, fact, value, database.close) as can_be:
            assert can_be
            assert database.query(query).rows == [(value,)]
        assert [database.query(f"SELECT * FROM {table}").rows for table in tables] == before


def test_a_table_of_many_rows_that_has_none_has_no_place_for_a_fact() -> None:
    with FactDatabase().holding(facts_from_document({"schema": 1})) as database:
        for fact in ("tables.rows", "indexes.page_bytes", "processlist.threads"):
            with supposing(database, fact, 1, database.close) as can_be:
                assert not can_be
        assert database.query("SELECT COUNT(*) FROM _endings").rows == [(0,)], "nothing stays that no table has"


def test_where_it_cannot_be_taken_out_again_nobody_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = FactDatabase()
    database = kept.holding(facts_from_document({"schema": 1, "tables": TABLE}))
    execute = Filling.execute

    def without_memory(filling: Filling, statement: str, parameters: Sequence[Value] = ()) -> sqlite3.Cursor:
        if "= NULL" in statement:
            raise MemoryError
        return execute(filling, statement, parameters)

    monkeypatch.setattr(Filling, "execute", without_memory)
    with pytest.raises(MemoryError), supposing(database, "tables.fragments_per_row", 100, kept.close):
        pass
    assert kept.holding(facts_from_document({"schema": 1, "tables": TABLE})).query("SELECT fragments_per_row FROM tables").rows == [(None,)]


def test_what_speaks_against_it_is_not_put_in_words_then() -> None:
    rule = own_rule(FULL, ("host.data_directory_free_bytes", 0))
    wordless = replace(next(one.not_if for one in shipped_rules() if one.not_if)[0], when="SELECT 1 AS one FROM host WHERE swap_total_bytes = 0", because="{{ no.such.word }}")
    assert list(judged(replace(rule, not_if=(wordless,)), host={"cpu_count": 4, "swap_total_bytes": 0}).quiet) == [SHIPPED.id]


def test_what_it_had_found_has_gone_when_it_is_asked_and_finds_nothing() -> None:
    judgement = judged(own_rule(FULL, ("host.data_directory_free_bytes", 0)), host={"cpu_count": 4})
    assert SHIPPED.id in silence_of(judgement, 60).judged
    needing = judged(replace(own_rule(FULL), needs=(("host.data_directory_free_bytes",),)), host={"cpu_count": 4})
    assert SHIPPED.id not in silence_of(needing, 60).judged
