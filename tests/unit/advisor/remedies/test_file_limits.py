"""How many files a table cache may have open, and what limit must come before it."""

import math
from typing import Any

import pytest

from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.remedies.file_limits import (
    LARGEST_FILE_LIMIT,
    USED_SHARE,
    files_for,
    limit_before,
    no_limit_suffices,
    tables_within,
)
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.server_state import MOST_FILES_PER_TABLE, ServerState
from tests.support.planning import MARIADB, MYSQL, facts

FEW: dict[str, Any] = {"totals": {"myisam_tables": 600}, "status": {"Max_used_connections": 5}}


def state(server: dict[str, Any], instances: object = 8, limit: int = 5000, variable_more: dict[str, Any] | None = None, **tables: Any) -> ServerState:
    variable = {"max_connections": 200, "open_files_limit": limit} | (variable_more or {}) | ({} if instances is None else {"table_open_cache_instances": instances})
    return ServerState(PlanFacts(facts(server=server, variable=variable, **tables)))


@pytest.mark.parametrize(
    ("server", "instances", "known", "files"),
    [
        (MYSQL, 16, {}, 210 + 1600),  # MySQL divides one table cache
        (MARIADB, 8, {}, 210 + 8 * 1600),
        (MARIADB, 1, {}, 210 + 1600),
        (MARIADB, None, {}, 210 + 1600),
        (MARIADB, "many", {}, 210 + 1600),
        (MARIADB, 8, FEW, 210 + 600 * (1 + 5)),
        (MARIADB, 8, {**FEW, "totals": {"myisam_tables": 9}}, 210 + 1600),  # the server itself reckons with so many
        (MARIADB, 8, {**FEW, "status": {"Max_used_connections": "some"}}, 210 + 8 * 1600),
        (MARIADB, 8, {**FEW, "tables": [{"schema_name": "a", "table_name": "b", "partitions": 101}]}, 210 + 700 * (1 + 5)),
    ],
)
def test_each_table_cache_of_mariadb_counts_as_far_as_there_are_tables_to_fill_it(server: dict[str, Any], instances: object, known: dict[str, Any], files: int) -> None:
    assert files_for(800, state(server, instances, **known)) == files


@pytest.mark.parametrize(("server", "known", "tables"), [(MYSQL, {}, 2395), (MARIADB, {}, 299), (MARIADB, FEW, 2395), (MARIADB, {**FEW, "totals": {"myisam_tables": 6000}}, 299)])
def test_what_a_limit_allows_fits_into_it(server: dict[str, Any], known: dict[str, Any], tables: int) -> None:
    allowing = state(server, **known)
    assert tables_within(5000, allowing) == tables
    assert files_for(tables, allowing) <= 5000 < files_for(tables + 1, allowing)


def test_the_limit_that_comes_before_holds_all_table_caches() -> None:
    assert list(limit_before(800, (), state(MARIADB))) == ["open_files_limit = 16384"]
    assert list(limit_before(800, (), state(MARIADB, **FEW))) == []
    assert list(limit_before(800, (), state(MARIADB, limit=0))) == []  # it is not known
    assert list(limit_before(800, (option_line("open_files_limit", 9),), state(MARIADB))) == []


def test_no_limit_above_the_kernels_usual_one_is_asked_for() -> None:
    (line,) = limit_before(100_000, (), state(MARIADB))
    assert line == option_line("open_files_limit", 1 << 20)
    assert list(limit_before(100_000, (), state(MARIADB, limit=1 << 20))) == []


def seen(open_files: int, open_tables: int, **tables: Any) -> ServerState:
    """A server of which both are known."""
    status = {"Open_files": open_files, "Open_tables": open_tables}
    return state(MYSQL, variable_more={"table_open_cache": 400}, status=status, **tables)


@pytest.mark.parametrize(
    ("open_files", "open_tables", "tables", "needed"),
    [
        (4000, 400, 800, 4000 + 10 * 400),  # ten files for each table
        (600, 400, 800, 600 + 2 * 400),  # no fewer than two
        (40_000, 400, 800, 40_000 + 2 * 400),  # too many for tables: another engine's
        (4000, 0, 800, 4000),
    ],
)
def test_a_larger_table_cache_has_as_many_files_for_a_table_as_are_seen(open_files: int, open_tables: int, tables: int, needed: int) -> None:
    allowing = seen(open_files, open_tables)
    assert files_for(tables, allowing) == max(210 + 2 * tables, math.ceil(needed / USED_SHARE))


def test_many_partitions_explain_many_files_for_a_table() -> None:
    partitioned = [{"schema_name": "a", "table_name": "b", "partitions": 50}]
    assert files_for(800, seen(40_000, 400, tables=partitioned)) == math.ceil(80_000 / USED_SHARE)


def test_a_table_cache_that_is_not_larger_needs_what_the_server_reckons() -> None:
    assert files_for(400, seen(4000, 400)) == 210 + 800


def test_what_a_limit_allows_is_what_is_seen_to_fit() -> None:
    allowing = seen(4000, 400, limit=8000)
    assert tables_within(8000, allowing) == 400 + (6800 - 4000) // 10
    assert files_for(tables_within(8000, allowing), allowing) <= 8000 < files_for(tables_within(8000, allowing) + 1, allowing)
    assert tables_within(100, allowing) == 0


def test_where_no_limit_would_do_none_is_said_to() -> None:
    assert no_limit_suffices(100_000, seen(4000, 400))
    assert not no_limit_suffices(50_000, seen(4000, 400))
    assert not no_limit_suffices(400, seen(LARGEST_FILE_LIMIT, 400))  # it is no larger one
    assert not no_limit_suffices(500_000, state(MYSQL))  # what is open is not known


def test_both_see_the_same_shortage() -> None:
    rules = {rule.id: rule.values() for rule in shipped_rules()}
    assert USED_SHARE == rules["open-files-limit"]["used_share"] == rules["table-cache-too-small"]["used_share"]
    assert rules["open-files-limit"]["most_files_per_open_table"] == MOST_FILES_PER_TABLE
    assert rules["table-cache-too-small"]["most_files"] == LARGEST_FILE_LIMIT
