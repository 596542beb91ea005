"""What takes old formats and partitions out of the way: of each table, in an order that does not change, and not more than a person reads."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners.upgrade_blockers import MAXIMUM_TABLES
from tests.support.planning import facts, planned, texts

MYSQL_5_7: dict[str, Any] = {"flavour": "mysql", "version": "5.7.44", "version_number": 50744}
MYSQL_8_0: dict[str, Any] = {"flavour": "mysql", "version": "8.0.28", "version_number": 80028}
FINE = {"schema_name": "d", "table_name": "fine", "data_bytes": 1000, "index_bytes": 2000, "old_temporal_columns": 0, "obsolete_columns": 0}
ROW = {"blocked_tables": 1, "writes_newer_format": 1, "avoids_newer_format": 0}


def plan_of(*tables: dict[str, Any], **row: int) -> list[str]:
    return texts(planned("upgrade_blockers", ROW | row, facts(server=MYSQL_5_7, tables=[FINE | table for table in tables])).commands)


@pytest.mark.parametrize(
    ("table", "commands"),
    [
        ({"partitions": 3}, ["ALTER TABLE `d`.`t` REMOVE PARTITIONING;"]),
        ({"partitions": 3, "old_temporal_columns": 1}, ["ALTER TABLE `d`.`t` FORCE REMOVE PARTITIONING;"]),
        ({"old_temporal_columns": 1}, ["ALTER TABLE `d`.`t` FORCE;"]),
        ({"obsolete_columns": 2}, ["ALTER TABLE `d`.`t` FORCE;"]),
    ],
)
def test_each_table_gets_what_it_needs(table: dict[str, Any], commands: list[str]) -> None:
    assert plan_of({}, {"table_name": "t", **table}) == commands


def test_where_the_server_writes_the_old_format_itself_its_columns_stay() -> None:
    tables = {"table_name": "a", "old_temporal_columns": 1}, {"table_name": "b", "obsolete_columns": 1}, {"table_name": "c", "partitions": 2}
    assert plan_of(*tables, writes_newer_format=0) == ["ALTER TABLE `d`.`c` REMOVE PARTITIONING;"]


def test_a_server_that_avoids_the_newer_format_is_told_first_not_to() -> None:
    assert plan_of({"old_temporal_columns": 1}, avoids_newer_format=1)[0] == "SET GLOBAL avoid_temporal_upgrade = OFF;"


def test_hostile_names_are_quoted() -> None:
    assert plan_of({"table_name": "x`; DROP TABLE y; --", "obsolete_columns": 1}) == ["ALTER TABLE `d`.`x``; DROP TABLE y; --` FORCE;"]


def test_only_so_many_as_can_be_read_are_planned_in_the_order_of_names() -> None:
    tables = [{"table_name": f"t{number:03}", "obsolete_columns": 1} for number in reversed(range(MAXIMUM_TABLES + 9))]
    known = facts(server=MYSQL_5_7, host={"memory_available_bytes": 10**9}, tables=[FINE | table for table in tables])
    plan = planned("upgrade_blockers", ROW | {"blocked_tables": len(tables)}, known)
    assert plan.values["planned_tables"] == len(plan.commands) == MAXIMUM_TABLES
    assert texts(plan.commands)[0] == "ALTER TABLE `d`.`t000` FORCE;"
    assert "146 KiB" in str(plan.values["lasts"])


def test_without_a_table_in_the_way_there_is_nothing_to_run() -> None:
    for blocked in (0, None):
        plan = planned("upgrade_blockers", ROW | {"blocked_tables": blocked}, facts(server=MYSQL_5_7, tables=[FINE]))
        assert plan.commands == ()


def test_a_damaged_table_is_left_to_its_repair() -> None:
    """ALTER TABLE of it ends with error 145 (tried on MariaDB 10.11); the plan stopped there, and what came behind was not done."""
    tables = {"table_name": "a", "obsolete_columns": 1, "crashed": 1}, {"table_name": "b", "obsolete_columns": 1, "crashed": 0}, {"table_name": "c", "partitions": 2, "crashed": None}
    assert plan_of(*tables) == ["ALTER TABLE `d`.`b` FORCE;", "ALTER TABLE `d`.`c` REMOVE PARTITIONING;"]
    known = facts(server=MYSQL_5_7, tables=[FINE | tables[0]])
    plan = planned("upgrade_blockers", ROW | {"avoids_newer_format": 1}, known)
    assert (plan.commands, plan.values["planned_tables"], plan.values["damaged_tables"]) == ((), 0, 1)


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        ({"origin": "option_file", "option_file": "/etc/mysql/conf.d/my.cnf", "is_persisted": 0}, "{} stands in /etc/mysql/conf.d/my.cnf: change it there"),
        ({"origin": "command_line", "option_file": None, "is_persisted": 0}, "--{} stands on the server's command line: change it there"),
        ({"origin": "command_line", "option_file": None, "is_persisted": 1}, "--{0} stands on the server's command line: change it there, and run `RESET PERSIST {0}`"),
        ({"origin": "persisted", "option_file": None, "is_persisted": 1}, "SET PERSIST wrote {0}: run `RESET PERSIST {0}`"),
        ({"origin": "option_file", "option_file": "/etc/my;sql/a b.cnf", "is_persisted": 0}, ""), ({"origin": "run_time", "option_file": None, "is_persisted": 0}, ""), ({"origin": None, "option_file": None, "is_persisted": None}, ""),
    ],
)  # fmt: skip
def test_where_a_setting_stands_that_is_in_the_way_is_told_where_the_server_tells_it(origin: dict[str, Any], place: str) -> None:
    removed, disabled = "myisam_repair_threads", "disabled_storage_engines"
    known = facts(server=MYSQL_8_0, variable_origin=[{"name": name, **origin} for name in (removed, disabled)])
    values = planned("upgrade_blockers", {"repair_threads_set": 1, "disabled": 1}, known).values
    assert (values["removed_places"], values["disabled_place"]) == (place.format(removed), place.format(disabled))
    assert planned("upgrade_blockers", {"repair_threads_set": 0, "disabled": 0}, known).values["removed_places"] == ""


def test_where_nobody_tells_where_a_setting_stands_nothing_is_said_of_it() -> None:
    values = planned("upgrade_blockers", {"repair_threads_set": 1, "temporary_myisam": 1, "disabled": 1}, facts(server=MYSQL_8_0)).values
    assert (values["removed_places"], values["disabled_place"]) == ("", "")
