"""How many files a table cache may have open, and what limit must come before it."""

from typing import Any

import pytest

from myisam_advisor.remedies.file_limits import files_for, limit_before, tables_within
from myisam_advisor.remedies.option_lines import option_line
from myisam_advisor.remedies.planners.base import PlanFacts
from myisam_advisor.remedies.server_state import ServerState
from tests.support.planning import MARIADB, MYSQL, facts

FEW: dict[str, Any] = {"totals": {"myisam_tables": 600}, "status": {"Max_used_connections": 5}}


def state(server: dict[str, Any], instances: object = 8, limit: int = 5000, **tables: Any) -> ServerState:
    variable = {"max_connections": 200, "open_files_limit": limit} | ({} if instances is None else {"table_open_cache_instances": instances})
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
