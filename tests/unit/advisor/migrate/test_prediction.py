"""MERGE tables, packed ones, indexes that lie elsewhere and the order of tables, as they are predicted."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.prediction import in_order, left_alone, predict
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.server_kind import by_default
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column

from .test_migrate import LATIN1, MARIADB, MYSQL, integer, migration, table, text
from .test_sizes import SORTING, key

MERGE = replace(table(), engine="MRG_MyISAM")
MEMBERS = (("s", "a"), ("s", "b"))
ALONE = FoundTable(("s", "logs_all"), MERGE, None, union=MEMBERS)


def test_a_merge_table_is_not_converted_while_its_members_stay() -> None:
    assert predict([ALONE], "InnoDB", MARIADB, None, Machine()) == []
    ((name, why),) = left_alone([ALONE])
    assert name == "s.logs_all"
    assert "it is a MERGE table and holds no rows" in why
    assert "becomes a copy of its members" in why
    assert why.endswith("DROP TABLE `s`.`logs_all`; CREATE VIEW `s`.`logs_all` AS SELECT * FROM `s`.`a` UNION ALL SELECT * FROM `s`.`b`")
    many = replace(ALONE, union=tuple(("s", f"m{number}") for number in range(300)))
    assert left_alone([many])[0][1].endswith("and CREATE VIEW with UNION ALL over its 300 members.")
    assert left_alone([replace(ALONE, union=())])[0][1].endswith("over its 0 members.")


def test_one_whose_member_is_converted_fails_and_no_statement_of_it_writes() -> None:
    found = [ALONE, FoundTable(MEMBERS[0], table(), None)]
    assert left_alone(found) == []
    merge, _ = predict(found, "InnoDB", MARIADB, None, Machine())
    assert [error.code for error in merge.errors] == [1168]
    assert not [change for change in merge.changes if "TEMPORARY" in change.statement or "INSERT" in change.statement]
    assert "\nALTER TABLE `s`.`logs_all`" not in as_script(migration(*found))


def test_what_is_left_out_is_told_in_the_script_too() -> None:
    script = as_script(migration(left_out=(("s.logs_all", "it is a MERGE table"),)))
    assert "-- Nothing is done to s.logs_all: it is a MERGE table." in script


PACKED = Contents(1_000_000, 70_000_000, 10_000_000, 0, "compressed")
TEXTS = table(integer(auto_increment=True), text("v", 500), indexes=(key((0, 4)),))


@pytest.mark.parametrize("to", ["InnoDB", "Aria"])
def test_packed_rows_have_wide_ends_and_a_change(to: str) -> None:
    (told,) = predict([FoundTable(("s", "t"), TEXTS, PACKED)], to, SORTING, None, Machine())
    assert told.bytes_after is not None
    low, high = told.bytes_after
    assert low < 362_000_000, "its rows cannot be shorter than they are packed, and may be no longer"
    assert high > 384_000_000, "nor longer than every column is: 320 MB were packed to 70"
    assert "unpacked" in [change.id for change in told.changes]


def test_of_packed_blobs_no_size_is_told() -> None:
    blobs = table(integer(), Column("x", types.BLOB, 65_535, LATIN1, False))
    (told,) = predict([FoundTable(("s", "t"), blobs, PACKED)], "InnoDB", MYSQL, None, Machine())
    assert (told.bytes_after, told.lasting) == (None, None)


def test_the_way_back_of_a_packed_table_is_to_pack_it_again() -> None:
    found = FoundTable(("s", "t"), TEXTS, PACKED)
    assert "myisampack" in as_script(migration(found))
    assert "s.t: myisampack has packed it, and it is read-only" in as_text(migration(found))
    assert "myisampack" not in as_script(migration(replace(found, contents=replace(PACKED, row_format="dynamic"))))


def test_of_tables_of_like_size_the_long_unwritten_come_first() -> None:
    sizes = {"small": 1_000, "busy": 40_000_000, "idle": 60_000_000, "large": 900_000_000}
    found = [FoundTable(("s", name), table(), Contents(1, size, 1024, 0, "fixed")) for name, size in sizes.items()]
    idle = {("s", "busy"): 1.0, ("s", "idle"): 86_400.0, ("s", "small"): 0.0, ("s", "large"): 1e6}
    order = in_order(predict(found, "InnoDB", MARIADB, None, Machine(1e9)), idle)
    assert [name for _, name in order] == ["small", "idle", "busy", "large"]
    assert "first tables that are small and have not been written for long" in as_text(migration(*found))


def test_an_index_directory_is_refused_where_innodb_is_strict() -> None:
    found = FoundTable(("s", "t"), replace(table(), index_elsewhere=True), None)
    kinds = (MARIADB, replace(MARIADB, strict_innodb=False), by_default("mariadb", (11, 8)), MYSQL, replace(MYSQL, strict_innodb=False))
    assert [[error.code for error in predict([found], "InnoDB", kind, None, Machine())[0].errors] for kind in kinds] == [[1005], [], [], [1031], []]
    assert predict([found], "Aria", MARIADB, None, Machine())[0].errors == ()
    assert "s.t would fail, and is left out:" in as_script(migration(found))
