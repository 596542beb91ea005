"""A statement that names several tables is held to what holds for each of them alone."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.price import in_words, price_of
from myisam_advisor.remedies.remedy import Remedy
from myisam_advisor.remedies.statements.base import Remark, Statement
from myisam_advisor.remedies.statements.parsing import parsed
from myisam_advisor.remedies.statements.reading import reading_of
from myisam_exporter.server.sql import statement

from .test_rebuild_files import MYSQL, WORDS, admitted_all, lying
from .test_refused_rebuilds import LITTLE, MIB, admitted, key

FINE: dict[str, Any] = {"schema_name": "x", "row_format": "fixed", "rows": 1000, "fixed_row_bytes": 9, "data_bytes": MIB, "index_bytes": MIB}
OLD = {"server": {"flavour": "mysql", "version": "5.6.24", "version_number": 50624}}
ROOM = {"data_directory_free_bytes": 1 << 40}
# What is so of the table, and of the server; the statements that are refused of it alone.
GUARDED: list[tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = [
    ({"merge_tables": "x.whole"}, {}, ("DROP TABLE {};", "DROP TABLES IF EXISTS {};")),
    ({"row_format": "compressed"}, {}, ("REPAIR TABLE {};", "repair local table {} quick")),
    ({"row_format": None}, {}, ("REPAIR TABLE {} USE_FRM;",)),
    ({"misread_columns": 2, "obsolete_columns": 1}, {}, ("REPAIR TABLE {};",)),
    ({"crashed": 1, "obsolete_columns": 1}, OLD, ("REPAIR TABLE {};",)),
    ({"data_bytes": 900 * MIB}, {"host": {"data_directory_free_bytes": 756 * MIB}}, ("OPTIMIZE TABLE {};", "OPTIMIZE NO_WRITE_TO_BINLOG TABLES {};", "REPAIR TABLE {} EXTENDED;")),
    ({"rows": 1_000_000}, {"host": {**ROOM, **LITTLE}, "indexes": key(), "variable": {"myisam_sort_buffer_size": 8 * MIB}}, ("REPAIR TABLE {};", "OPTIMIZE TABLE {};")),
]  # fmt: skip


def own(words: str) -> Statement:
    return parsed(statement(words))


@pytest.mark.parametrize(("guarded", "words"), [(one, words) for one in GUARDED for words in one[2]])
@pytest.mark.parametrize("names", ["x.a, {}", "{}, `x`.`a`", "x.a, x.b /* , */, {}"])
def test_no_table_is_touched_beside_others_that_may_not_be_alone(guarded: tuple[dict[str, Any], dict[str, Any], tuple[str, ...]], words: str, names: str) -> None:
    columns, server, _ = guarded
    fine = [{**FINE, "table_name": name} for name in "ab"]
    facts = {"host": ROOM, **server}
    (why,) = admitted(own(words.format("x.t")), tables=[{**FINE, "table_name": "t", **columns}], **facts).instead
    several = own(words.format(names.format("`x`.`t`")))
    passed = admitted(several, tables=[*fine, {**FINE, "table_name": "t", **columns}], **facts)
    assert passed.remedy.commands == ()
    assert passed.instead == (why if "x.t" in why else f"x.t: {why}",)
    without = {name: value for name, value in facts.items() if name != "indexes"}
    assert len(admitted(several, tables=[*fine, {**FINE, "table_name": "t"}], **without).remedy.commands) == 1


@pytest.mark.parametrize("words", ["OPTIMIZE TABLE x.a, x.t;", "REPAIR TABLE x.a, x.t;", "DROP TABLE x.a, x.t;", "RENAME TABLE x.a TO x.b, x.t TO x.a;"])
def test_what_holds_for_the_server_is_told_without_a_table(words: str) -> None:
    (why,) = admitted(own(words), tables=[{**FINE, "table_name": name} for name in "at"], variable={"read_only": 1}).instead
    assert why.startswith("No ")
    assert "read-only" in why


@pytest.mark.parametrize(("words", "names"), [
    ("RENAME TABLE a TO b, x.c TO a;", [("a",), ("x", "c")]), ("DROP TABLE IF EXISTS a, `x`.`b`, a;", [("a",), ("x", "b")]), ("drop temporary tables x.a, x.b cascade", [("x", "a"), ("x", "b")]),
    ("OPTIMIZE LOCAL TABLE x.a, x.b;", [("x", "a"), ("x", "b")]), ("REPAIR TABLE a, b QUICK", [("a",), ("b",)]), ("CHECK TABLE a, b FAST;", [("a",), ("b",)]), ("ANALYZE TABLE x.a, b;", [("x", "a"), ("b",)]),
    ("FLUSH TABLES x.a, x.b WITH READ LOCK;", [("x", "a"), ("x", "b")]), ("LOCK TABLES x.a READ, b AS c WRITE;", [("x", "a"), ("b",)]), ("CACHE INDEX x.a INDEX (i, j), x.b IN hot;", [("x", "a"), ("x", "b")]),
    ("LOAD INDEX INTO CACHE x.a PARTITION (p, q), x.b IGNORE LEAVES;", [("x", "a"), ("x", "b")]), ("LOAD DATA INFILE 'f' INTO TABLE x.a (i, j) SET i = 1, j = 2;", []), ("CREATE TABLE x.a (i INT, j INT);", []), ("ALTER TABLE x.a ADD i INT, RENAME TO x.b;", []),
    ("FLUSH TABLES;", []), ("OPTIMIZE TABLE x.a;", [("x", "a")]),
])  # fmt: skip
def test_the_tables_that_each_kind_of_statement_names(words: str, names: list[tuple[str, ...]]) -> None:
    assert list(reading_of(words).names) == names
    each = reading_of(words).of_each_table()
    if len(names) > 1:
        assert [one.table or (one.table_alone,) for one in each] == names
    else:
        assert each == (reading_of(words),)


def test_a_file_of_a_rebuild_beside_one_of_them_is_looked_at_first() -> None:
    tables = [{**FINE, "table_name": name} for name in "at"]
    *before, command = admitted_all((own("OPTIMIZE TABLE x.a, x.t;"),), **MYSQL, host=ROOM, tables=tables, rebuild_file=lying("t.TMD"))
    assert [one.sql for one in before if isinstance(one, Remark)] == [WORDS]
    assert isinstance(command, Statement)
    assert command.is_offered


@pytest.mark.parametrize(("assigned", "loaded"), [
    ("CACHE INDEX `x`.`t` IN hot;", "LOAD INDEX INTO CACHE `x`.`t`;"), ("CACHE INDEX x.t IN hot", "LOAD INDEX INTO CACHE x.t;"), ("CACHE INDEX t IN `hot`;", "LOAD INDEX INTO CACHE t IGNORE LEAVES;"),
    ("CACHE INDEX x.a INDEX (i, j), x.t IN hot;", "LOAD INDEX INTO CACHE x.t, x.a;"),
])  # fmt: skip
@pytest.mark.parametrize("made", ["SET GLOBAL hot.key_buffer_size = 8388608;", "SET GLOBAL `hot`.key_buffer_size=8388608", "set global hot.key_buffer_size := 8388608;", "SET @@global.hot.key_buffer_size = 8388608;", "SET GLOBAL hot.key_buffer_size = GREATEST(8388608, (SELECT 1));"])
def test_no_table_goes_into_a_key_cache_that_an_old_server_was_not_to_make(made: str, assigned: str, loaded: str) -> None:
    commands = tuple(map(own, (made, assigned, loaded)))
    tables = [{**FINE, "table_name": name} for name in "at"]
    assert not admitted_all(commands, server={"flavour": "mysql", "version": "5.0.45", "version_number": 50045}, tables=tables)
    assert len(admitted_all(commands, **OLD, tables=tables)) == 3
    assert len(admitted_all(commands[1:], server={"flavour": "mysql", "version": "5.0.45", "version_number": 50045}, tables=tables)) == 2


@pytest.mark.parametrize(("words", "host", "says"), [
    ("OPTIMIZE TABLE x.a, x.t;", {}, "How much disk is free is not known here: it needs 6 MiB, for the largest of these tables."),
    ("OPTIMIZE TABLE x.a, x.t;", ROOM, ""),
    ("REPAIR TABLE x.t, x.nowhere;", ROOM, "How much disk it needs is not known here: there must be room for a copy of the largest of these tables."),
    ("OPTIMIZE TABLE x.t;", {}, "How much disk is free is not known here: it needs 6 MiB."),
    ("CHECK TABLE x.t, x.nowhere;", {}, ""),
])  # fmt: skip
def test_what_disk_the_largest_of_them_needs_is_told(words: str, host: dict[str, Any], says: str) -> None:
    tables = [{**FINE, "table_name": "a"}, {**FINE, "table_name": "t", "data_bytes": 5 * MIB}]
    assert [one for one in admitted(own(words), tables=tables, host=host).cost if "disk" in one] == ([says] if says else [])


def test_a_file_of_a_rebuild_beside_one_of_them_is_told() -> None:
    tables = [{**FINE, "table_name": name} for name in "at"]
    cost = " ".join(admitted(own("OPTIMIZE TABLE x.a, x.t;"), **MYSQL, host=ROOM, tables=tables, rebuild_file=lying("t.TMD")).cost)
    assert "Beside the table lies t.TMD" in cost
    assert "if one is left" not in cost


def test_all_of_them_are_locked() -> None:
    facts = complete(facts_from_document({"schema": 1, **OLD, "tables": [{**FINE, "table_name": name} for name in "at"], "host": {"memory_available_bytes": 1 << 33}}))
    assert in_words(price_of(Remedy((own("OPTIMIZE TABLE x.a, x.t;"),)), PlanFacts(facts))).startswith("locks 2 tables, ")
