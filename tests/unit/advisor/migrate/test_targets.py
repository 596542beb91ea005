"""Versions that `migrate --target` takes, and what is told of them."""

from dataclasses import replace
from typing import Any, cast

import pytest

from myisam_advisor.migrate.document import as_document
from myisam_advisor.migrate.prediction import Migration, in_order, predict
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.server_kind import by_default, expect_later, of_variables, target_kind
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.errors import UserError
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column
from tests.support.read_comments import read

from .test_migrate import MARIADB, MYSQL, ZERO, index, integer, migration, table, text


@pytest.mark.parametrize("text", ["7.5", "mysql-7.0", "mariadb-8.0", "foo", "8", "postgres-16.1", "-8.4", "8.4.1.2", "mysql-8.99999"])
def test_a_target_that_does_not_exist_is_named(text: str) -> None:
    with pytest.raises(UserError, match="--target"):
        target_kind(text, "mysql")


def test_targets() -> None:
    assert [target_kind(text, "mysql").label for text in ("8.4", "mysql-9.7", "11.8", "mariadb-10.11.6", "8.0.36", "5.5")] == [
        "MySQL 8.4", "MySQL 9.7", "MariaDB 11.8", "MariaDB 10.11", "MySQL 8.0", "MySQL 5.5",
    ]  # fmt: skip


@pytest.mark.parametrize(("here", "target"), [("mariadb-10.11", "mariadb-10.5"), ("mariadb-10.11", "mysql-5.7"), ("mysql-8.4", "mysql-8.0"), ("mysql-8.0", "mariadb-10.2")])
def test_a_target_that_is_older_is_refused(here: str, target: str) -> None:
    with pytest.raises(UserError, match=f"--target {target}: the server is .* Name a later version"):
        expect_later(target_kind(target, "mysql"), target_kind(here, "mysql"))


@pytest.mark.parametrize(("here", "target"), [("mariadb-10.11", "mariadb-10.11"), ("mariadb-10.11", "mysql-8.4"), ("mysql-5.7", "mariadb-10.11"), ("mysql-8.0", "mariadb-11.8")])
def test_one_that_is_not_is_taken(here: str, target: str) -> None:
    expect_later(target_kind(target, "mysql"), target_kind(here, "mysql"))


def test_the_other_product_is_reached_by_a_dump_and_that_is_said() -> None:
    made = migration(FoundTable(("s", "t"), table(), None))
    told = " ".join(as_text(replace(made, target=MYSQL)).split())
    assert "From MariaDB 10.11 to MySQL 8.4 it goes by dump and load" in told
    assert "syntax of definitions, views and routines is not" in told
    assert as_document(replace(made, target=MYSQL))["dump_needed"] == replace(made, target=MYSQL).dump_needed
    assert "-- From MariaDB 10.11 to MySQL 8.4 it goes by dump and load" in as_script(replace(made, target=MYSQL))
    near = replace(made, target=by_default("mariadb", (11, 8)))
    assert "dump and load" not in as_text(near) + as_script(near)
    assert as_document(near)["dump_needed"] is None


def test_what_a_target_refuses_is_told_apart_and_the_table_converts_here() -> None:
    here = of_variables("mysql", (5, 7), {"sql_mode": ""})
    (found,) = predict([FoundTable(("s", "t"), ZERO, None)], "InnoDB", here, MYSQL, Machine())
    assert (found.fails, found.errors, found.script_errors) == (False, (), ())
    assert [error.code for error in found.target_errors] == [1067]
    made = Migration(here, MYSQL, "InnoDB", (found,), in_order([found], {}), (), None, None, None)
    script, told = as_script(made), " ".join(as_text(made).split())
    assert "\nALTER TABLE `s`.`t` ENGINE=InnoDB" in script
    sentence = "An ALTER run on MySQL 8.4, as its settings are by default, would end with error 1067: the default of d is 0000-00-00, which sql_mode refuses (NO_ZERO_DATE)."
    assert sentence in read(script)
    assert f"s.t {sentence}" in told
    assert "none fails, 1 converts. MySQL 8.4 would refuse the ALTER of 1." in told
    (one,) = cast("list[dict[str, Any]]", as_document(made)["tables"])
    assert (one["fails"], one["errors"], [error["code"] for error in one["target_errors"]]) == (False, [], [1067])


def test_of_what_fails_here_the_target_s_other_refusals_are_told_too() -> None:
    both = table(integer("a"), integer("b", auto_increment=True), Column("d", types.DATE, 3, 63, False, zero_default=True), indexes=(index((0, 4), (1, 4)),))
    (found,) = predict([FoundTable(("s", "t"), both, None)], "InnoDB", MARIADB, MYSQL, Machine())
    assert [[error.code for error in errors] for errors in (found.errors, found.target_errors)] == [[1075], [1067]]
    made = Migration(MARIADB, MYSQL, "InnoDB", (found,), in_order([found], {}), (), None, None, None)
    assert "An ALTER run on MySQL 8.4, as its settings are by default, would end with error 1067" in " ".join(as_text(made).split())


@pytest.mark.parametrize("kind", [types.FLOAT, types.DOUBLE])
def test_a_counter_of_fractions_ends_before_mysql_8_4(kind: int) -> None:
    counts = table(Column("f", kind, 8, 63, False, auto_increment=True), indexes=(index((0, 8)),))
    for target, codes in (("mysql-8.0", []), ("mysql-8.4", [1063]), ("mysql-9.7", [1063]), ("mariadb-11.8", [])):
        (found,) = predict([FoundTable(("s", "t"), counts, None)], "InnoDB", by_default("mysql", (5, 6)), target_kind(target, "mysql"), Machine())
        assert ([error.code for error in found.errors], [error.code for error in found.target_errors]) == ([], codes)
        assert [error.mend for error in found.target_errors] == ["ALTER TABLE `s`.`t` MODIFY `f` BIGINT NOT NULL AUTO_INCREMENT;"] * len(codes)


def test_what_happens_here_is_told_with_a_target_too() -> None:
    here = replace(by_default("mysql", (5, 6)), read_only=True)
    structure = table(text("v", 1000), Column("d", types.DATE, 3, 63, False), indexes=(index((0, 800)),))
    (alone,) = predict([FoundTable(("s", "t"), structure, None)], "InnoDB", here, None, Machine())
    (found,) = predict([FoundTable(("s", "t"), structure, None)], "InnoDB", here, MYSQL, Machine())
    assert found.changes[: len(alone.changes)] == alone.changes
    assert {"prefix-shortened", "insert-delayed", "read-only"} <= {change.id for change in alone.changes}
    there = {one.id: one.what for one in found.changes[len(alone.changes) :]}
    assert there.keys() == {"zero-dates", "strict-rows"}
    assert there["zero-dates"].startswith("On MySQL 8.4: Error 1292: a row")
