"""A size for the table cache, under the name that the version has for it."""

from typing import Any

import pytest

from myisam_advisor.remedies.planners import table_cache_size
from myisam_advisor.remedies.planners.base import NoRoom, Plan, PlanContext, PlanFacts, PlanNeeds
from tests.support.planning import MARIADB, MYSQL, OLD_MYSQL, asked, facts, planned, texts
from tests.support.recorded import RecordedLook


@pytest.mark.parametrize(("present", "wanted"), [(64, 400), (400, 800), (2000, 4000)])
def test_twice_what_there_is_and_four_hundred_at_least(present: int, wanted: int) -> None:
    plan = planned("table_cache_size", {"cache_size": present}, facts(server=MYSQL))
    assert texts(plan.commands) == [f"SET GLOBAL table_open_cache = {wanted};"]
    assert texts(plan.undo_commands) == [f"SET GLOBAL table_open_cache = {present};"]
    assert texts(plan.my_cnf) == [f"table_open_cache = {wanted}"]
    assert plan.memory_bytes == plan.values["open_bytes"] == (wanted - present) * 32_768


@pytest.mark.parametrize(("available_mib", "granted_mib", "wanted"), [(4, 0, None), (12, 0, None), (40, 0, 700), (40, 28, None), (40, 90, None), (400, 0, 800), (400, 360, 700)])
def test_of_a_few_megabytes_that_are_left_a_quarter_is_taken(available_mib: int, granted_mib: int, wanted: int | None) -> None:
    """The account of memory has no room at any of these: rows keep the rest."""
    host = {"memory_bytes": 8192 << 20, "memory_available_bytes": available_mib << 20}
    known = PlanFacts(facts(server=MYSQL, host=host))
    known.budget.grant("another remedy", granted_mib << 20)
    said = table_cache_size.plan({"cache_size": 400}, PlanContext(known, {}))
    if wanted is None:
        assert said == NoRoom("memory has no room for a larger table cache")
        return
    assert isinstance(said, Plan)
    assert texts(said.commands) == [f"SET GLOBAL table_open_cache = {wanted};"]
    assert said.memory_bytes <= (available_mib - granted_mib) / 4 * (1 << 20)


@pytest.mark.parametrize(("server", "name"), [({}, "table_open_cache"), (MYSQL | {"version_number": 50103}, "table_open_cache"), (MYSQL | {"version_number": 50102}, "table_cache")])
def test_of_an_unknown_version_it_has_its_present_name(server: dict[str, Any], name: str) -> None:
    assert texts(planned("table_cache_size", {"cache_size": 64}, facts(server=server)).commands) == [f"SET GLOBAL {name} = 400;"]


@pytest.mark.parametrize("present", [-1, 2**63, 1e308, "many", None])
def test_what_no_server_can_have_is_not_reckoned_with(present: object) -> None:
    row = {"cache_size": present, "parts": 16, "misses_per_second": 1e308, "hits_per_second": 1e308}
    assert asked("table_cache_size", row, facts(server=MYSQL)) == PlanNeeds("variable.table_open_cache")


@pytest.mark.parametrize(
    ("present", "misses", "hits", "server", "wanted"),
    [
        (100, 10_000, 2000, MARIADB, 800),  # 600 tables in turn, by what was measured
        (400, 60, 3000, MARIADB, 800),  # few misses: what is used more seldom may be many
        (400, 0, 0, MARIADB, 800),
        (200, 1000, 1, MARIADB, 2200),  # hardly any hit says nothing of how many there are: 64 MiB, as the memory is not known
        (100, 1000, 0, MARIADB, 1600),  # no hit at all
        (100, 10_000, 2000, OLD_MYSQL, 800),
        (1000, 900, 100, OLD_MYSQL, 2000),  # a list of all open tables is searched there
        (1500, 900, 100, OLD_MYSQL, 2000),
        (1500, 0, 0, OLD_MYSQL, 2000),
    ],
)
def test_misses_tell_how_many_tables_are_used_in_turn(present: int, misses: int, hits: int, server: dict[str, Any], wanted: int) -> None:
    row = {"cache_size": present, "misses_per_second": misses, "hits_per_second": hits}
    (command,) = texts(planned("table_cache_size", row, facts(server=server)).commands)
    assert command.endswith(f" = {wanted};")


@pytest.mark.parametrize(("available_bytes", "wanted"), [(64 << 30, 32_000), (256 << 20, 4400)])
def test_open_tables_take_no_more_memory_than_there_is(available_bytes: int, wanted: int) -> None:
    known = facts(server=MARIADB, host={"memory_bytes": 2 * available_bytes, "memory_available_bytes": available_bytes})
    row = {"cache_size": 2000, "misses_per_second": 1000, "hits_per_second": 1}
    assert texts(planned("table_cache_size", row, known).commands) == [f"SET GLOBAL table_open_cache = {wanted};"]


@pytest.mark.parametrize(
    ("tables", "misses", "hits", "server", "wanted"),
    [
        (600, 38_773, 37_545, MARIADB, 800),  # as counted on MariaDB 10.11, half of the hits are its own tables of statistics
        (600, 100, 900, MARIADB, 400),  # few uses find a table closed
        (5000, 500, 500, MARIADB, 400),  # too many to keep all of them open without more ado
        (1900, 500, 500, OLD_MYSQL, 400),  # a list of so many would be searched
        (None, 500, 500, MARIADB, 400),
    ],
)
def test_few_tables_may_all_stay_open(tables: int | None, misses: int, hits: int, server: dict[str, Any], wanted: int) -> None:
    row = {"cache_size": 100, "misses_per_second": misses, "hits_per_second": hits, "tables": tables}
    plan = planned("table_cache_size", row, facts(server=server))
    assert texts(plan.commands)[0].endswith(f" = {wanted};")
    assert ("all 600 MyISAM tables have room then" in str(plan.values["advice"])) == (wanted == 800)


def test_its_old_name() -> None:
    assert texts(planned("table_cache_size", {"cache_size": 64}, facts(server=OLD_MYSQL)).commands) == ["SET GLOBAL table_cache = 400;"]


def test_without_the_present_size_it_cannot_be_said() -> None:
    assert asked("table_cache_size", {"cache_size": None}) == PlanNeeds("variable.table_open_cache")


def test_the_recorded_mysql_is_told_so(on_mysql: RecordedLook) -> None:
    (finding,) = (finding for finding in on_mysql.judgement.findings if finding.rule == "table-cache-too-small")
    assert texts(finding.commands) == ["SET GLOBAL table_open_cache = 400;"]


@pytest.mark.parametrize(
    ("parts", "server", "cores", "undivided"),
    [(16, MYSQL, 2, True), (2, MYSQL, 7, True), (16, MYSQL, 8, False), (16, MYSQL, None, False), (1, MYSQL, 2, False), (None, MYSQL, 2, False), (8, MARIADB, 2, False)],
)
def test_few_cores_need_no_parts(parts: int | None, server: dict[str, Any], cores: int | None, undivided: bool) -> None:
    plan = planned("table_cache_size", {"cache_size": 400, "parts": parts, "tables": 600}, facts(server=server, host={"cpu_count": cores}))
    assert texts(plan.my_cnf) == ["table_open_cache = 800", *(["table_open_cache_instances = 1"] if undivided else [])]
    assert ("set table_open_cache_instances = 1 too" in str(plan.values["advice"])) == undivided
    assert plan.values["needless_parts"] == (parts if undivided else 0)


@pytest.mark.parametrize(
    ("row", "undivided"),
    [
        ({"tables": 51}, True),
        ({"tables": 50}, False),  # the larger cache's parts hold them all
        ({}, False),
        ({"tables": 100_000, "misses_per_second": 90, "hits_per_second": 10}, True),  # a part of 25 misses nine of ten
        ({"tables": 100_000, "misses_per_second": 1, "hits_per_second": 99}, False),
    ],
)
def test_parts_that_hold_what_a_connection_uses_are_left_alone(row: dict[str, Any], undivided: bool) -> None:
    plan = planned("table_cache_size", {"cache_size": 400, "parts": 16, **row}, facts(server=MYSQL, host={"cpu_count": 2}))
    assert ("table_open_cache_instances = 1" in texts(plan.my_cnf)) == undivided


def test_where_open_tables_are_searched_in_a_list_no_more_than_it_takes_are_advised() -> None:
    """table-cache-too-large would have it made smaller again."""
    assert isinstance(asked("table_cache_size", {"cache_size": 3000}, facts(server=OLD_MYSQL)), NoRoom)


def test_where_memory_has_no_room_no_larger_cache_is_advised() -> None:
    known = facts(server=MARIADB, host={"memory_bytes": 1 << 30, "memory_available_bytes": 1 << 20})
    assert isinstance(asked("table_cache_size", {"cache_size": 3000}, known), NoRoom)


def test_a_quarter_is_taken_too_where_the_limit_alone_is_known() -> None:
    """A modest 64 MiB were more than such a machine has."""
    small = facts(server=MYSQL, host={"memory_bytes": 16 << 20})
    assert planned("table_cache_size", {"cache_size": 400}, small).memory_bytes <= 4 << 20
    promised = facts(server=MYSQL, host={"memory_bytes": 16 << 20}, variable={"innodb_buffer_pool_size": 15 << 20})
    assert isinstance(asked("table_cache_size", {"cache_size": 400}, promised), NoRoom)


@pytest.mark.parametrize(("present", "wanted"), [(300_000, 524_288), (524_287, 524_288), (524_288, None)])
def test_no_more_is_advised_than_a_server_takes(present: int, wanted: int | None) -> None:
    known = facts(server=MYSQL, host={"memory_bytes": 1 << 40, "memory_available_bytes": 1 << 39})
    if wanted is None:
        assert asked("table_cache_size", {"cache_size": present}, known) == NoRoom("it is as large as the server allows")
    else:
        assert texts(planned("table_cache_size", {"cache_size": present}, known).commands) == [f"SET GLOBAL table_open_cache = {wanted};"]
