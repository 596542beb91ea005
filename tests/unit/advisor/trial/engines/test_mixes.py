"""The built-in statements, of rows that were drawn from a table."""

from itertools import islice

from myisam_advisor.trial.bench import SCHEMA
from myisam_advisor.trial.engines.drawn_rows import DrawnRows, _changed, _unique_key
from myisam_advisor.trial.engines.mixes import Mix, mixes
from myisam_advisor.trial.engines.stage import Column
from myisam_exporter.server.sql import Sql

ROWS = DrawnRows(Sql("`d`.`t`"), ("id", "name"), 1, [(b"'%d'" % number, b"'w'") for number in range(1000)], Sql("`name` = REVERSE(`name`)"), Sql("`name`"))


def by_name(rows: DrawnRows, skipped: dict[str, str]) -> dict[str, Mix]:
    return {mix.name: mix for mix in mixes(rows, 2, skipped, "d.t")}


def test_rows_are_read_and_changed_by_their_key() -> None:
    skipped: dict[str, str] = {}
    found = by_name(ROWS, skipped)
    assert list(found) == ["reads by key", "updates by key", "one update to 4 reads", "inserts of one row", "inserts of 100 rows", "full scan", "COUNT(*) of the table"]
    assert next(iter(found["reads by key"].statements(0, 1))) == b"SELECT * FROM `d`.`t` WHERE `id` = '0'"
    assert list(found["updates by key"].statements(0, 2))[1] == b"UPDATE IGNORE `d`.`t` SET `name` = REVERSE(`name`) WHERE `id` = '1'"
    mixed = [text[:6] for text in found["one update to 4 reads"].statements(1, 6)]
    assert mixed == [b"UPDATE", b"SELECT", b"SELECT", b"SELECT", b"SELECT", b"UPDATE"]
    assert skipped == {}


def test_threads_insert_rows_of_their_own_into_an_empty_table() -> None:
    mix = by_name(ROWS, {})["inserts of 100 rows"]
    assert (mix.most, mix.ready) == (5, (f"TRUNCATE TABLE {SCHEMA}.twin",))
    first, second = (b"".join(mix.statements(thread, 5)) for thread in (0, 1))
    assert first.startswith(b"INSERT IGNORE INTO %b.twin (`id`, `name`) VALUES ('0','w'),('1','w')" % SCHEMA.encode())
    assert b"'499'" in first
    assert b"'500'" not in first
    assert b"'500'" in second


def test_what_a_table_has_not_is_said() -> None:
    skipped: dict[str, str] = {}
    few = DrawnRows(ROWS.name, ROWS.columns, 0, list(islice(ROWS.rows, 8)), None, ROWS.scanned)
    assert list(by_name(few, skipped)) == ["full scan", "COUNT(*) of the table"]
    assert set(skipped) == {"d.t: reads and updates by key", "d.t: inserts of 1", "d.t: inserts of 100"}


def index(name: str, column: str, unique: bool, prefix: object = None, null: str = "") -> tuple[object, ...]:
    return ("t", 0 if unique else 1, name, 1, column, "A", 10, prefix, None, null, "BTREE", "")


def test_a_key_finds_single_rows_by_whole_exact_values() -> None:
    columns = [Column("a", "int(11)", False, False), Column("b", "varchar(10)", False, False), Column("f", "float", False, False)]
    assert _unique_key([index("PRIMARY", "a", True), index("PRIMARY", "b", True)], columns) == ["a", "b"]
    assert _unique_key([index("u", "f", True)], columns) == []  # a written float does not equal itself
    assert _unique_key([index("u", "b", True, 5), index("n", "a", True, None, "YES"), index("k", "b", False)], columns) == []


def test_a_change_done_twice_is_none() -> None:
    assert _changed(Column("n", "int(10) unsigned", True, False)) == "`n` = `n` ^ 1"
    assert _changed(Column("n", "bigint(20)", True, False)) == "`n` = -1 - `n`"
    assert _changed(Column("`", "varchar(9)", True, False)) == "```` = REVERSE(````)"
    assert _changed(Column("e", "enum('a')", True, False)) is None
