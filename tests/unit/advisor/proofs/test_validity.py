"""A proof holds until its day, its server's version, its load or its tables are others; what is not known speaks against nothing."""

from typing import Any

import pytest

from myisam_advisor.factbase.derived import complete
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.proofs.proof import server_key
from myisam_advisor.proofs.structures import structures_in
from myisam_advisor.proofs.validity import outlived_by, still_valid
from tests.support.proofs import NOW, proof

MIB = 1 << 20
SERVER = {"flavour": "mariadb", "version": "10.11.6-MariaDB-log"}


def why_not(facts: dict[str, Any], **said: Any) -> str:
    made = {"server_product": "MariaDB", "server_version": "10.11.11-MariaDB", **said}
    return still_valid(proof(**made), complete(facts_from_document({"schema": 1, **facts})), NOW) or ""


@pytest.mark.parametrize(("days", "why"), [(0, ""), (90, ""), (90.9, "it is 91 days old (90 at most)"), (-0.9, ""), (-2, "it is of the future")])
def test_for_ninety_days(days: float, why: str) -> None:
    assert why_not({}, days=days).startswith(why)
    assert bool(why_not({}, days=days)) is bool(why)
    assert bool(still_valid(proof(days=days), None, NOW)) is bool(why)


def test_in_one_series_of_one_product() -> None:
    assert why_not({"server": SERVER}) == ""
    assert why_not({"server": SERVER}, server_version="11.8.2-MariaDB") == "it was made on version 11.8, and this is 10.11"
    assert why_not({"server": SERVER}, server_product="MySQL") == "it was made on MySQL, and this is MariaDB"
    assert why_not({"server": SERVER}, server_product="", server_version="") == ""
    assert why_not({}, server_version="11.8") == ""


def test_percona_server_is_mysql_by_its_program() -> None:
    percona = {"server": {"flavour": "percona", "version": "8.0.36-28"}}
    assert why_not(percona, server_product="MySQL", server_version="8.0.36") == ""
    assert why_not(percona, server_product="MariaDB") == "it was made on MariaDB, and this is Percona Server"


@pytest.mark.parametrize(("then", "now", "holds"), [(500, 500, True), (500, 4900, True), (500, 5100, False), (500, 51, True), (500, 0, True), (None, 5100, True), (0.5, 9, True), (1, 11, False)])
def test_within_ten_times_the_statements(then: float | None, now: float, holds: bool) -> None:
    facts = {"interval_seconds": 10, "status_per_second": {"Questions": now}}
    said = why_not(facts, workload={"statements_per_second": then})
    assert (said == "") is holds, said
    assert why_not({"status_per_second": {"Questions": now}}, workload={"statements_per_second": then}) == ""


@pytest.mark.parametrize(("then", "now", "holds"), [(100 * MIB, 199 * MIB, True), (100 * MIB, 201 * MIB, False), (100 * MIB, 49 * MIB, False), (MIB, 15 * MIB, True), (MIB, 17 * MIB, False)])
def test_within_twice_the_size(then: int, now: int, holds: bool) -> None:
    tables = [{"schema_name": "log", "table_name": "hits", "data_bytes": now - MIB // 2, "index_bytes": MIB // 2}]
    said = why_not({"tables": tables}, workload={"tables": {"log.hits": then}})
    assert (said == "") is holds, said
    assert why_not({"tables": tables}, workload={"tables": {"log.other": then}}) == ""


@pytest.mark.parametrize(("now", "why"), [
    ("8388608", ""), ("8380000", ""), ("50331648", "key_buffer_size was 8388608 then, and is 50331648 now"), (str(600 * MIB), ""), (None, ""),
    ("0", "key_buffer_size was 8388608 then, and is 0 now"),
])  # fmt: skip
def test_over_the_same_value_as_before_or_at_what_was_tried(now: str | None, why: str) -> None:
    facts = {} if now is None else {"variable": {"key_buffer_size": now}}
    said = {"change": ["SET GLOBAL key_buffer_size = 536870912;"], "before": {"key_buffer_size": "8388608"}}
    assert why_not(facts, **said) == why
    assert why_not(facts, change=said["change"]) == ""


@pytest.mark.parametrize(("now", "holds"), [("760", True), ("4096", True), ("6584", True), (6584, True), ("3000", False)])
def test_a_limit_of_files_that_the_server_raises_by_itself_is_still_what_was_tried(now: object, holds: bool) -> None:
    """MariaDB made 6,584 of the 4,096 that were advised, and the proof of that very advice ended."""
    said = {"change": ["open_files_limit = 4096"], "before": {"open_files_limit": "760"}}
    assert (why_not({"variable": {"open_files_limit": now}}, **said) == "") is holds
    larger = {"change": ["max_connections = 400"], "before": {"max_connections": "151"}}
    assert why_not({"variable": {"max_connections": "4000"}}, **larger) == "max_connections was 151 then, and is 4000 now"


def test_a_later_trial_over_another_value_outlives_it() -> None:
    one, same, other = (proof(before={"key_buffer_size": value}) for value in ("8388608", "8388608", "50331648"))
    assert not outlived_by(one, same)
    assert outlived_by(one, other)
    assert not outlived_by(proof(), other)


INDEX = {"schema_name": "log", "table_name": "hits", "index_number": 1, "algorithm": "btree", "is_unique": 0, "is_packed": 0, "is_enabled": 1, "key_description": "INT NOT NULL"}
TABLE = {"schema_name": "log", "table_name": "hits", "row_format": "fixed", "fixed_row_bytes": 9, "blob_columns": 0, "index_bytes": 4096}


def structure(table: dict[str, Any], *indexes: dict[str, Any]) -> dict[str, Any]:
    return {"tables": [{**TABLE, **table}], "indexes": [{**INDEX, **one} for one in indexes]}


def structures(facts: dict[str, Any]) -> list[str]:
    found = structures_in(complete(facts_from_document({"schema": 1, **facts})), ("log.hits",))
    return [found.get("log.hits", "")]


OTHER_INDEX = {"index_number": 2, "key_description": "BIGINT NOT NULL"}


@pytest.mark.parametrize(
    ("now", "holds"),
    [
        (structure({}, {}, OTHER_INDEX), True), (structure({"rows": 5}, {**OTHER_INDEX, "index_number": 1}, {"index_number": 2}), True), (structure({}, {"is_enabled": 0}, OTHER_INDEX), True),
        (structure({"fixed_row_bytes": 9.0}, {}, OTHER_INDEX), True), (structure({"row_format": None}), True), (structure({}), True), ({}, True),
        (structure({"index_bytes": 1024}), False), (structure({}, {}), False), (structure({"row_format": "dynamic"}, {}, OTHER_INDEX), False),
        (structure({"fixed_row_bytes": 13}, {}, OTHER_INDEX), False), (structure({}, {"is_unique": 1}, OTHER_INDEX), False), (structure({"partitions": 4}, {}, OTHER_INDEX), False),
    ],
)  # fmt: skip
def test_on_tables_that_are_made_as_then(now: dict[str, Any], holds: bool) -> None:
    then = structures(structure({}, {}, OTHER_INDEX))
    assert then != [""]
    assert why_not(now, structures=then) == ("" if holds else "log.hits had other columns, indexes or another row format then")
    assert why_not(now) == why_not(now, structures=[""]) == ""
    assert outlived_by(proof(structures=then), proof(structures=["00"]))
    assert not outlived_by(proof(structures=then), proof())
    assert not outlived_by(proof(), proof(structures=then))


def test_one_server_is_told_from_another_without_its_name() -> None:
    one = server_key("db1", 3306, "/var/lib/mysql/")
    assert one == server_key("db1", "3306", "/var/lib/mysql")
    assert one != server_key("db2", 3306, "/var/lib/mysql/")
    assert "db1" not in one
    assert server_key("db1", None, "/var/lib/mysql") == ""
