"""What stands in the way of InnoDB, what the table would weigh there, and the way back."""

from typing import Any

import pytest

from tests.support.planning import MARIADB, MYSQL, OLD_MYSQL, facts, planned, texts

ROW: dict[str, Any] = {"schema_name": "shop", "table_name": "orders", "data_bytes": 1_000_000, "index_bytes": 500_000, "rows": 10_000, "row_format": "fixed"}
INDEX = {"schema_name": "shop", "table_name": "orders", "index_number": 1, "algorithm": "btree", "is_unique": 1, "maximum_key_bytes": 12, "key_parts": 1}


def test_the_alter_and_its_way_back() -> None:
    plan = planned("engine_migration", ROW, facts(server=MARIADB, indexes=[INDEX]))
    assert plan.values["innodb_bytes"] == 2 << 20, "a table below 2 MB, by pages"
    assert plan.values["blockers"] == ""
    assert texts(plan.commands) == ["ALTER TABLE `shop`.`orders` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;"]
    assert texts(plan.undo_commands) == ["ALTER TABLE `shop`.`orders` ENGINE=MyISAM, ROW_FORMAT=FIXED;"]
    assert "add a PRIMARY KEY" not in str(plan.values["advice"])


def test_holes_are_not_converted() -> None:
    """The plan told 11 MiB, and 10 MiB on the line of the same ALTER: one of them without the holes."""
    holed = facts(server=MARIADB, indexes=[INDEX], tables=[ROW | {"data_bytes": 60_000_000, "free_bytes": 59_000_000}])
    plan = planned("engine_migration", ROW | {"data_bytes": 60_000_000}, holed)
    assert plan.values["innodb_bytes"] == 2 << 20, "what is filled of it"


@pytest.mark.parametrize(("server", "said"), [(MARIADB, True), (MYSQL, False)])
def test_what_no_fact_tells_of_is_asked_of_migrate(server: dict[str, Any], *, said: bool) -> None:
    advice = str(planned("engine_migration", ROW, facts(server=server, indexes=[INDEX])).values["advice"])
    assert "what this server refuses to convert" in advice
    assert ("SYSTEM VERSIONING" in advice) is said


@pytest.mark.parametrize(("server", "index", "row", "host", "blocker"), [
    (OLD_MYSQL, {"algorithm": "fulltext"}, {}, {}, "a FULLTEXT index"),
    (OLD_MYSQL, {"algorithm": "rtree"}, {}, {}, "InnoDB supports"),
    (OLD_MYSQL, {"maximum_key_bytes": 1008}, {}, {}, "an index entry of up to 1008 bytes: a column's part may have 767"),
    (MYSQL, {}, {"auto_increment_within_index": 1}, {}, "AUTO_INCREMENT counts within a group"),
    (MYSQL, {}, {}, {"data_directory_free_bytes": 1000}, "the copy needs about"),
])  # fmt: skip
def test_what_is_in_the_way_leaves_no_statement(server: dict[str, Any], index: dict[str, Any], row: dict[str, Any], host: dict[str, Any], blocker: str) -> None:
    plan = planned("engine_migration", ROW | row, facts(server=server, indexes=[INDEX | index], host=host))
    assert blocker in str(plan.values["blockers"])
    assert (plan.commands, plan.undo_commands) == ((), ())
    assert "remove the obstacles" in str(plan.values["advice"])


@pytest.mark.parametrize(("version", "free_bytes", "bulk", "is_told"), [
    (101119, 1 << 20, "ON", True), (101119, 1 << 20, "OFF", False), (101119, 1 << 30, "ON", False), (101119, None, "ON", False), (100523, 1 << 20, None, False),
])  # fmt: skip
def test_a_tmpdir_without_room_for_the_sorting_is_in_the_way(version: int, free_bytes: int | None, bulk: str | None, *, is_told: bool) -> None:
    given = facts(server=MARIADB | {"version_number": version}, indexes=[INDEX], host={"temporary_directory_free_bytes": free_bytes}, variable={"innodb_alter_copy_bulk": bulk} if bulk else {})
    plan = planned("engine_migration", ROW, given)
    assert ("SET GLOBAL innodb_alter_copy_bulk = OFF;" in str(plan.values["blockers"])) is is_told
    assert (plan.commands == ()) is is_told


def test_a_copy_that_is_not_sorted_has_the_size_of_one_made_row_by_row() -> None:
    def told(version: int, bulk: str) -> object:
        given = facts(server=MARIADB | {"version_number": version}, indexes=[INDEX], variable={"innodb_alter_copy_bulk": bulk})
        return planned("engine_migration", ROW, given).values["innodb_bytes"]

    assert told(101119, "OFF") == told(100523, "OFF") != told(101119, "ON")


def test_a_small_copy_is_sorted_in_memory_as_migrate_says() -> None:
    """Of 1 MiB and less: innodb_sort_buffer_size."""
    given = facts(server=MARIADB | {"version_number": 101119}, indexes=[INDEX], host={"temporary_directory_free_bytes": 0}, variable={"innodb_alter_copy_bulk": "ON"})
    plan = planned("engine_migration", ROW | {"rows": 100, "data_bytes": 10_000, "index_bytes": 2_048}, given)
    assert plan.values["blockers"] == ""
    assert plan.commands != ()


@pytest.mark.parametrize("index", [{"algorithm": "fulltext"}, {"maximum_key_bytes": 1008}])
def test_newer_servers_have_what_older_ones_lack(index: dict[str, Any]) -> None:
    assert planned("engine_migration", ROW, facts(server=MYSQL, indexes=[INDEX | index])).values["blockers"] == ""


@pytest.mark.parametrize(("index", "is_long"), [
    ({"maximum_key_bytes": 775}, False), ({"maximum_key_bytes": 776}, True), ({"maximum_key_bytes": 776, "key_parts": None}, True), ({"maximum_key_bytes": None}, False),
    ({"maximum_key_bytes": 915, "key_parts": 3}, False),  # of 300 letters each: MySQL 5.6 takes it
    ({"maximum_key_bytes": 1008, "algorithm": "rtree"}, False),
])  # fmt: skip
def test_only_an_index_of_which_one_column_is_too_long_is_in_the_way(index: dict[str, Any], is_long: bool) -> None:
    """Beside it there is a short one, as nearly every table has."""
    plan = planned("engine_migration", ROW, facts(server=MYSQL | {"version_number": 50651}, indexes=[INDEX, INDEX | {"index_number": 2, **index}]))
    assert ("a column's part may have 767" in str(plan.values["blockers"])) is is_long


def test_innodb_that_is_off_and_a_size_that_is_not_known() -> None:
    assert "switched off" in str(planned("engine_migration", ROW, facts(server=MARIADB, variable={"have_innodb": "NO"})).values["blockers"])
    of_others = {f"variable_{number}": 1 for number in range(200)}
    assert "switched off" in str(planned("engine_migration", ROW, facts(server=MARIADB, variable=of_others)).values["blockers"])
    assert planned("engine_migration", ROW, facts(server=MARIADB, variable={**of_others, "innodb_buffer_pool_size": 1})).values["blockers"] == ""
    unknown = planned("engine_migration", ROW | {"rows": None}, facts(server=MARIADB))
    assert unknown.values["innodb_bytes"] is None
    assert "its size in InnoDB is not known here" in str(unknown.values["price"])
    assert "PRIMARY KEY" in str(unknown.values["advice"])


OTHERS = [{"schema_name": "shop", "table_name": name} for name in ("orders", "items")]


@pytest.mark.parametrize(("variable", "tables", "said"), [
    ({"enforce_gtid_consistency": "ON"}, OTHERS, True),
    ({"enforce_gtid_consistency": "ON", "log_bin": "ON"}, OTHERS, True),
    ({"enforce_gtid_consistency": "ON", "log_bin": "OFF"}, OTHERS, False),
    ({"enforce_gtid_consistency": "WARN", "log_bin": "ON"}, OTHERS, False),
    ({"enforce_gtid_consistency": "ON"}, OTHERS[:1], False),
    ({}, OTHERS, False),
])  # fmt: skip
def test_gtid_consistency_wants_tables_converted_together(variable: dict[str, Any], tables: list[dict[str, Any]], said: bool) -> None:
    advice = str(planned("engine_migration", ROW, facts(server=MYSQL, variable=variable, tables=tables)).values["advice"])
    assert ("Convert at the same time all tables" in advice) is said
    assert ("convert one table at a time" in advice) is not said


@pytest.mark.parametrize(("variable", "said", "unsaid"), [
    ({}, ["innodb_flush_log_at_trx_commit decides", "sync_binlog does too"], "here)"),
    ({"innodb_flush_log_at_trx_commit": 2, "log_bin": "ON", "sync_binlog": 0}, ["innodb_flush_log_at_trx_commit (2 here)", "sync_binlog (0 here) does too"], "for everything"),
    ({"log_bin": "OFF", "sync_binlog": 1, "innodb_buffer_pool_size": 128 << 20}, ["the buffer pool (128 MiB for everything)"], "sync_binlog"),
])  # fmt: skip
def test_what_a_commit_costs_is_told_with_the_settings_of_this_server(variable: dict[str, Any], said: list[str], unsaid: str) -> None:
    advice = str(planned("engine_migration", ROW, facts(server=MYSQL, variable=variable, indexes=[INDEX])).values["advice"])
    assert [words for words in said if words not in advice] == []
    assert unsaid not in advice
    assert "ft_min_word_len" not in advice


def test_words_are_found_otherwise_where_there_are_words() -> None:
    plan = planned("engine_migration", ROW, facts(server=MYSQL, indexes=[INDEX, INDEX | {"index_number": 2, "algorithm": "fulltext"}]))
    assert "FULLTEXT finds words by innodb_ft_min_token_size (3) instead of ft_min_word_len (4)" in str(plan.values["advice"])
