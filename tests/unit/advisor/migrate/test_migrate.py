"""Predictions about tables made up here; what servers really do is asked in tests/servers/test_migrate_schemas.py."""

import json
from dataclasses import replace
from typing import Any, cast

import pytest

from myisam_advisor.migrate.change import Subject
from myisam_advisor.migrate.document import as_document, as_json
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.prediction import Migration, Prediction, in_order, predict
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.row_size import counted_trees, full_row_bytes, limit_bytes
from myisam_advisor.migrate.script import BATCH_TABLES, OF_THE_SESSION, STOPS, as_script, batched
from myisam_advisor.migrate.server_kind import by_default, of_variables
from myisam_advisor.migrate.sizes import Contents, bytes_after
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine, lasting
from myisam_exporter.files import structure as types
from myisam_exporter.files.structure import Column, Index, Part, Structure
from tests.unit.advisor.catalogue.test_copy_work import WORK

MARIADB, MYSQL, OLD = by_default("mariadb", (10, 11)), by_default("mysql", (8, 4)), by_default("mysql", (5, 6))
LATIN1, UTF8MB4 = 8, 45


def integer(name: str = "id", *, auto_increment: bool = False) -> Column:
    return Column(name, types.LONG, 4, 63, False, auto_increment=auto_increment)


def text(name: str, length: int = 255, collation: int = LATIN1) -> Column:
    return Column(name, types.VARCHAR, length, collation, False)


def table(*columns: Column, indexes: tuple[Index, ...] = (), row_format: str = "", **options: int) -> Structure:
    return Structure("MyISAM", LATIN1, row_format, tuple(options.items()), False, columns or (integer(),), indexes)


def index(*parts: tuple[int, int], name: str = "k", unique: bool = False, kind: str = types.BTREE, prefix: bool = False) -> Index:
    return Index(name, unique, kind, tuple(Part(column, length, prefix) for column, length in parts))


COUNTS_WITHIN = table(integer("a"), integer("b", auto_increment=True), indexes=(index((0, 4), (1, 4)),))
PARTLY_ZERO = table(Column("d", types.DATE, 3, 63, False, partly_zero_default=True))
ZERO = table(Column("d", types.DATE, 3, 63, False, zero_default=True))


@pytest.mark.parametrize(
    ("structure", "kind", "codes"),
    [
        (table(), MARIADB, []),
        (COUNTS_WITHIN, MARIADB, [1075]),
        (replace(COUNTS_WITHIN, indexes=(*COUNTS_WITHIN.indexes, index((1, 4)))), MARIADB, []),
        (ZERO, MARIADB, []),
        (ZERO, MYSQL, [1067, 1292]),
        (table(row_format="FIXED"), MARIADB, [1005]),
        (table(row_format="FIXED"), MYSQL, [1031]),
        (table(row_format="FIXED"), OLD, []),
        (table(KEY_BLOCK_SIZE=4), MYSQL, []),
        (PARTLY_ZERO, MYSQL, [1067, 1292]),
        (PARTLY_ZERO, of_variables("mysql", (9, 7), {"sql_mode": "NO_ZERO_IN_DATE"}), []),
        (PARTLY_ZERO, of_variables("mariadb", (10, 11), {"sql_mode": "NO_ZERO_IN_DATE"}), [1067]),
        (ZERO, of_variables("mariadb", (10, 11), {"sql_mode": "NO_ZERO_DATE"}), [1067]),
        (ZERO, of_variables("mariadb", (10, 11), {"sql_mode": "STRICT_ALL_TABLES,NO_ZERO_IN_DATE"}), [1292]),
        (replace(COUNTS_WITHIN, system_versioned=True), MARIADB, [4120, 1075]),
        (replace(table(), checks=True), MARIADB, [4025]),
        (replace(table(), checks=True), MYSQL, []),
        (table(KEY_BLOCK_SIZE=3), MYSQL, [1031]),
        (table(text("v", 1000), indexes=(index((0, 800)),)), MARIADB, []),
        (table(text("v", 1000), indexes=(index((0, 800)),)), OLD, []),
        (table(text("v", 1000), indexes=(index((0, 800), unique=True),)), OLD, [1071]),
        (table(text("v", 1000), indexes=(index((0, 800)),), row_format="COMPACT"), MARIADB, [1709]),
        (table(integer("DB_ROW_ID")), MYSQL, [1166]),
        (table(indexes=(index((0, 4), name="gen_clust_index"),)), MYSQL, [1280]),
        (table(indexes=(index((0, 4), kind=types.SPATIAL),)), OLD, [1464]),
        (table(*[text(f"c{number}") for number in range(40)]), MARIADB, [1118]),
        (table(*[text(f"c{number}") for number in range(40)]), MYSQL, [1118]),
        (table(*[integer(f"c{number}") for number in range(1018)]), MYSQL, [1117]),
        (table(*[integer(f"c{number}") for number in range(1017)], indexes=(index((0, 4), unique=True, kind=types.LONG_UNIQUE),)), MARIADB, []),
        (table(*[integer(f"c{number}") for number in range(1017)], indexes=(index((0, 0), unique=True, kind=types.LONG_UNIQUE),)), MARIADB, [1005]),
        (replace(table(), partitioned=True), MYSQL, [1178]),
        (table(), replace(MYSQL, requires_primary_key=True), [3750]),
        (table(), replace(MYSQL, missing_engines=("InnoDB",)), [1286]),
        (table(), replace(MYSQL, forbidden_engines=("innodb",)), [3161]),
    ],
)  # fmt: skip
def test_errors_in_the_order_of_the_server(structure: Structure, kind: object, codes: list[int]) -> None:
    assert [one.code for one in refusals(structure, "InnoDB", kind)] == codes  # type: ignore[arg-type]


def test_an_old_innodb_has_neither_fulltext_nor_aria() -> None:
    words = table(text("x"), indexes=(index((0, 255), kind=types.FULLTEXT),))
    assert [one.code for one in refusals(words, "InnoDB", by_default("mysql", (5, 5)))] == [1214]
    assert [one.code for one in refusals(words, "Aria", MYSQL)] == [1286]
    assert refusals(words, "Aria", MARIADB) == ()


def test_aria_has_no_index_by_a_hash_nor_over_what_is_virtual() -> None:
    virtual, words = replace(integer("b"), generated=types.VIRTUAL), Column("x", types.BLOB, 65_535, LATIN1, False)
    by_hash = table(words, text("v", 2100), indexes=(index((1, 2100), unique=True, kind=types.LONG_UNIQUE),))
    whole = replace(by_hash, indexes=(index((0, 0), unique=True, kind=types.LONG_UNIQUE),))
    over_virtual = table(integer(), virtual, indexes=(index((0, 4), (1, 4)),))
    assert [[one.code for one in refusals(made, "Aria", MARIADB)] for made in (by_hash, whole, over_virtual)] == [[], [1071], [1904]]
    assert [one.code for one in refusals(by_hash, "Aria", by_default("mariadb", (10, 5)))] == [1071]
    assert refusals(whole, "InnoDB", MARIADB) == ()
    assert refusals(replace(table(), system_versioned=True), "Aria", MARIADB) == ()


def test_what_depends_on_rows_is_no_error_but_a_change() -> None:
    wide = table(*[text(f"c{number}") for number in range(40)])
    (found,) = predict([FoundTable(("s", "t"), wide, None)], "InnoDB", MYSQL, None, Machine())
    assert not found.fails
    assert "full-row" in [change.id for change in found.changes]
    assert found.seconds is None
    assert found.bytes_after is None


def test_the_row_is_counted_as_each_server_does() -> None:
    wide = table(*[text(f"c{number}") for number in range(10)])
    assert limit_bytes(MYSQL) == 8126
    assert [next(counted_trees(wide, kind, "DYNAMIC")).counted - 24 for kind in (MYSQL, MARIADB)] == [410, 2560]
    assert full_row_bytes(wide, "DYNAMIC") == 24 + 2560


def test_variables_decide() -> None:
    kind = of_variables("mysql", (8, 4), {"sql_mode": "", "innodb_strict_mode": "OFF", "disabled_storage_engines": "Aria,InnoDB", "myisam_recover_options": "BACKUP", "wsrep_on": "ON"})
    assert (kind.strict, kind.date_modes, kind.strict_innodb, kind.forbidden_engines, kind.recovers, kind.galera) == (False, frozenset(), False, ("aria", "innodb"), True, True)
    assert of_variables("mysql", (5, 6), {"sql_mode": "TRADITIONAL"}).date_modes == {"NO_ZERO_DATE", "NO_ZERO_IN_DATE"}
    assert of_variables("mysql", (5, 6), {"sql_mode": "NO_ZERO_DATE"}).date_modes == {"NO_ZERO_DATE"}


def test_a_partitioned_table_is_mended_by_converting_it_before_the_upgrade() -> None:
    parted = FoundTable(("s", "t"), replace(table(), partitioned=True), None)
    assert predict([parted], "InnoDB", by_default("mysql", (5, 7)), MYSQL, Machine())[0].errors == ()


def test_mends_name_all_columns_and_no_taken_one() -> None:
    zeros = table(*(Column(name, types.DATE, 3, 63, False, zero_default=True) for name in "ab"))
    assert "ALTER TABLE `table` ALTER COLUMN `a` DROP DEFAULT, ALTER COLUMN `b` DROP DEFAULT;" in refusals(zeros, "InnoDB", MYSQL)[0].mend
    wants = replace(MYSQL, requires_primary_key=True)
    assert "ADD `id2` BIGINT" in refusals(table(integer("ID")), "InnoDB", wants)[0].mend
    counts = table(integer("n", auto_increment=True), indexes=(index((0, 4)),))
    assert "ADD PRIMARY KEY (`n`);" in refusals(counts, "InnoDB", wants)[0].mend


def test_an_empty_table_of_aria_has_two_pages() -> None:
    assert bytes_after(table(), Contents(0, 0, 1024, 0, "fixed"), "Aria", MARIADB) == (16_384, 16_384)


def test_a_crashed_table_and_a_merge_table_fail() -> None:
    member, merge = ("s", "t"), ("s", "m")
    crashed = FoundTable(member, table(), None, crashed=True, merged_in=(merge,))
    merged = FoundTable(merge, replace(table(), engine="MRG_MyISAM"), None, union=(member,))
    first, second = predict([crashed, merged], "InnoDB", MARIADB, None, Machine())
    assert [error.code for error in first.errors] == [1194]
    assert [error.code for error in second.errors] == [1168]
    assert "merge-members" in [change.id for change in first.changes]
    assert not predict([crashed], "InnoDB", replace(MARIADB, recovers=True), None, Machine())[0].fails


def test_aria_keeps_a_format_that_is_not_safe() -> None:
    subject = Subject(("s", "t"), table(row_format="FIXED"), "Aria", MARIADB)
    assert [change.id for change in changes(subject)][-6:-4] == ["aria-not-crash-safe", "aria-rollback"]


def test_sizes_and_times_are_ranges() -> None:
    contents = Contents(1_000_000, 100_000_000, 20_000_000, 0, "fixed", work=WORK)
    structure = table(integer(auto_increment=True), text("v", 96), indexes=(index((0, 4), name="PRIMARY", unique=True), index((1, 96))))
    low, high = bytes_after(structure, contents, "InnoDB", MYSQL)
    assert 60e6 < low < high < 400e6
    assert bytes_after(structure, Contents(0, 0, 1024, 0, "fixed"), "InnoDB", MYSQL) == (131_072, 131_072), "two indexes, a page each"
    lasts, beyond = (lasting(contents, (low, high), "InnoDB", MYSQL, Machine(memory)) for memory in (1e9, 1e6))
    assert lasts is not None
    assert lasts.ends is not None
    assert 0 < lasts.ends[0] < lasts.ends[1]
    assert beyond is not None
    assert beyond.ends is None


def many(count: int, size: int = 1000) -> list[Prediction]:
    found = [FoundTable(("s", f"t{number}"), table(), Contents(1, size * (number + 1), 1024, 0, "fixed"), idle_seconds=float(number)) for number in range(count)]
    return predict(found, "InnoDB", MARIADB, None, Machine(1e9))


def test_small_tables_come_first_and_batches_are_small() -> None:
    predictions = many(BATCH_TABLES + 5)
    order = in_order(predictions[::-1], {})
    assert order[0] == ("s", "t0")
    assert [len(batch) for batch in batched(predictions)] == [BATCH_TABLES, 5]


def migration(*found: FoundTable, left_out: tuple[tuple[str, str], ...] = ()) -> Migration:
    predictions = predict(found, "InnoDB", MARIADB, None, Machine(1e9))
    return Migration(MARIADB, None, "InnoDB", tuple(predictions), in_order(predictions, {}), left_out, 1 << 20, None, None)


def test_the_document_has_the_keys_of_its_schema() -> None:
    made = as_document(migration(FoundTable(("s", "t"), COUNTS_WITHIN, Contents(10, 100, 1024, 0, "fixed"))))
    (one,) = cast("list[dict[str, Any]]", made["tables"])
    assert set(one) == {"schema_name", "table_name", "engine", "to", "fails", "errors", "changes", "seconds", "bytes_after", "target_errors", "script_errors", "seconds_least", "why_open", "bytes_now"}
    assert (one["bytes_now"], one["script_errors"]) == (1124, one["errors"])
    assert one["errors"][0] | {"why": "", "mend": ""} == {"code": 1075, "why": "", "mend": ""}
    assert "`s`.`t`" in one["errors"][0]["mend"]
    assert json.loads(as_json(migration()))["tables"] == []


def test_hostile_names_stay_names() -> None:
    hostile = ("a\x1b[31m", "b`; DROP TABLE x; --\n")
    made = migration(FoundTable(hostile, table(text("c\n`;")), None), left_out=(("z\x07", "why"),))
    assert "\x1b" not in as_text(made)
    assert "\x07" not in as_text(made)
    lines = as_script(made).splitlines()
    assert lines[:3] == ["SET NAMES utf8mb4;", "SET SESSION max_statement_time = 0;", OF_THE_SESSION]
    assert not [line for line in lines[3:] if line and not line.startswith("--")]


def test_the_script_leaves_out_what_fails_and_mends_options() -> None:
    script = as_script(migration(FoundTable(("s", "bad"), COUNTS_WITHIN, None), FoundTable(("s", "fixed"), table(row_format="FIXED"), None)))
    assert "ALTER TABLE `s`.`fixed` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;" in script.splitlines()
    assert "-- Back: ALTER TABLE `s`.`fixed` ENGINE=MyISAM, ROW_FORMAT=FIXED;" in script
    assert "-- s.bad would fail, and is left out:" in script
    assert "\nALTER TABLE `s`.`bad`" not in script


def test_the_script_takes_in_what_only_the_bare_statement_is_refused_for() -> None:
    compact = table(text("v", 1000), indexes=(index((0, 800)),), row_format="COMPACT", KEY_BLOCK_SIZE=4)
    made = migration(FoundTable(("s", "t"), compact, None))
    assert [error.code for error in made.predictions[0].errors] == [1005, 1709]
    script = as_script(made)
    assert "\nALTER TABLE `s`.`t` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;" in script
    assert "-- Back: ALTER TABLE `s`.`t` ENGINE=MyISAM, ROW_FORMAT=COMPACT, KEY_BLOCK_SIZE=4;" in script
    assert "Batch 1 of 1: 1 table, " in script


def test_the_script_compares_values_and_not_the_checksum_of_one_engine() -> None:
    columns = (integer(), replace(text("v"), nullable=True), replace(integer("sum"), generated=types.STORED), Column("b", types.BIT, 1, 63, False))
    script = as_script(migration(FoundTable(("s", "t"), table(*columns), None))).splitlines()
    total = "SUM(CRC32(CONCAT_WS(',', CRC32(`id`), COALESCE(CRC32(`v`), 'NULL'), CRC32(HEX(`b`)))))"
    assert f"SELECT COUNT(*), {total} INTO @rows_before, @values_before FROM `s`.`t`;" in script
    assert f"SELECT COUNT(*), {total} INTO @rows_after, @values_after FROM `s`.`t`;" in script
    assert STOPS in script
    assert not any("CHECKSUM" in line for line in script)


def test_a_column_that_a_client_could_misread_puts_its_table_in_comments() -> None:
    script = as_script(migration(FoundTable(("s", "t"), table(integer("a;b")), None)))
    assert "-- ALTER TABLE `s`.`t`" in script
    assert "\nALTER TABLE" not in script


def test_many_merge_tables_over_one_member_are_one_sentence_and_each_by_itself_in_json() -> None:
    found = migration(FoundTable(("s", "t"), table(), None, merged_in=tuple(("s", f"m{number}") for number in range(20))), FoundTable(("s", "u"), table(), None, merged_in=(("s", "m0"),)))
    text, script = " ".join(as_text(found).split()), as_script(found)
    assert "merge-members s.t: The MERGE tables s.m0, s.m1, s.m2, s.m3, s.m4, s.m5, s.m6, s.m7, s.m8, s.m9 and 10 more lose this member" in text
    assert "merge-members s.u: The MERGE table s.m0 loses this member" in text
    assert (text.count("1168"), script.count("error 1168 from then on")) == (2, 2)
    first = cast(Any, as_document(found))["tables"][0]
    assert [one["what"].split()[3] for one in first["changes"] if one["id"] == "merge-members"] == [f"s.m{number}" for number in range(20)]


def test_a_member_of_a_merge_table_is_not_converted_by_the_script() -> None:
    script = as_script(migration(FoundTable(("s", "t"), table(), None, merged_in=(("s", "m"),)), FoundTable(("s", "u"), table(), None)))
    assert "\n-- Not run as it stands: The MERGE table s.m loses this member" in script
    assert "\n-- ALTER TABLE `s`.`t` " in script
    assert "\nALTER TABLE `s`.`u` " in script
    assert [line for line in script.splitlines() if "`t`" in line and not line.startswith("-- ")] == []


def test_that_is_said_once_of_each_member() -> None:
    member, merge = FoundTable(("s", "a"), table(), None, merged_in=(("s", "m"),)), FoundTable(("s", "m"), replace(table(), engine="MRG_MyISAM"), None, union=(("s", "a"),))
    for found in ((member, merge), (merge, member)):
        assert as_script(migration(*found)).count("Not run as it stands") == 1


def test_words_that_end_in_a_question_get_no_full_stop() -> None:
    told = as_text(migration(left_out=(("x", "there is none. Did you mean y?"), ("z", "it is a view."))))
    assert "Did you mean y?\n" in told
    assert "it is a view.\n" in told


def test_what_rows_may_stop_stands_before_its_table() -> None:
    dates = table(Column("d", types.DATE, 3, 63, False))
    wide = table(*[text(f"c{number}") for number in range(40)])
    script = as_script(scripted(FoundTable(("s", "dates"), dates, None), FoundTable(("s", "wide"), wide, None)))
    assert script.index("-- Error 1292: ") < script.index("ALTER TABLE `s`.`dates`")
    assert script.index("-- Error 1118: ") < script.index("ALTER TABLE `s`.`wide`")


def test_what_shows_a_change_acts_on_a_copy_of_the_base_columns() -> None:
    columns = (integer(), replace(integer("sum"), generated=types.STORED))
    structure = table(*columns, indexes=(index((0, 4), name="PRIMARY", unique=True),))
    given = {one.id: one.statement for one in changes(Subject(("s", "t"), structure, "InnoDB", MARIADB))}
    for shown in given.values():
        for part in shown.split("; "):
            assert part.startswith(("SELECT", "SHOW", "EXPLAIN", "START", "ROLLBACK", "COMMIT", "UNLOCK", "DO SLEEP", "CREATE TEMPORARY TABLE `s`.`shown` LIKE")) or "`s`.`shown`" in part or not part
    assert "INSERT INTO `s`.`shown` (`id`) SELECT `id` FROM `s`.`t`" in given["rollback"]
    assert given["key-cache"] == given["insert-delayed"] == ""
    parts = changes(Subject(("s", "t"), replace(structure, partitioned=True), "InnoDB", MARIADB))
    assert not any("TEMPORARY" in one.statement for one in parts)


def test_zeros_are_looked_for_in_each_date() -> None:
    dates = table(Column("d", types.DATE, 3, 63, False), Column("e", types.DATETIME2, 5, 63, False))
    shown = next(one.statement for one in changes(Subject(("s", "t"), dates, "InnoDB", MYSQL)) if one.id == "zero-dates")
    assert "WHERE 1 IN (YEAR(`d`) + MONTH(`d`) + DAYOFMONTH(`d`) = 0, YEAR(`e`) + MONTH(`e`) + DAYOFMONTH(`e`) = 0, " in shown
    assert "0 NOT IN (MONTH(`e`), DAYOFMONTH(`e`)) AND DAYOFMONTH(`e`) <> DAYOFMONTH(FROM_DAYS(TO_DAYS(`e`)))" in shown


def test_each_sentence_is_told_with_its_tables() -> None:
    first, second = (Column(name, types.DATE, 3, 63, False) for name in ("born", "died"))
    told = " ".join(as_text(scripted(*(FoundTable(("s", name), table(column), None) for name, column in (("a", first), ("b", second), ("c", second))))).split())
    assert "zero-dates s.a: Error 1292: a row with 0000-00-00 or 2010-00-00 or 2010-02-30 in born" in told
    assert "zero-dates s.b, s.c: Error 1292: a row with 0000-00-00 or 2010-00-00 or 2010-02-30 in died" in told


def scripted(*found: FoundTable) -> Migration:
    made = predict(found, "InnoDB", MYSQL, None, Machine(1e9))
    return Migration(MYSQL, None, "InnoDB", tuple(made), in_order(made, {}), (), None, None, None)


def test_a_large_table_has_a_line_for_copying_beside_writers() -> None:
    keyed = table(indexes=(index((0, 4), name="PRIMARY", unique=True),))
    script = as_script(migration(FoundTable(("s", "big"), keyed, Contents(10, 2 << 30, 1024, 0, "fixed"))))
    assert "-- pt-online-schema-change --alter 'ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0' D=s,t=big --execute" in script
    assert "gh-ost does not fit" in script
    odd = as_script(migration(FoundTable(("s", "b g"), keyed, Contents(10, 2 << 30, 1024, 0, "fixed"))))
    assert "pt-online-schema-change" not in odd


def test_nothing_to_convert_is_said() -> None:
    told = as_text(migration(left_out=(("x", "it is a view"),)))
    assert "There is no MyISAM table to convert." in told
    assert "x: it is a view." in told


@pytest.mark.parametrize(("number", "rows", "between"), [(60, 60, ""), (61, 40, "... 21 more between these: --format json has all"), (1500, 40, "... 1,460 more between these: --format json has all")])
def test_of_very_many_tables_both_ends_are_shown(number: int, rows: int, between: str) -> None:
    predictions = many(number)
    told = as_text(Migration(MARIADB, None, "InnoDB", tuple(predictions), in_order(predictions, {}), (), None, None, None)).splitlines()
    assert told[0] == f"{number:,} tables to InnoDB on MariaDB 10.11: none fails, {number:,} convert."
    listed = [line.split()[0] for line in told if line.startswith("s.t")]
    assert len(listed) == rows
    assert (listed[0], listed[-1]) == ("s.t0", f"s.t{number - 1}"), "the largest is shown"
    assert [line.strip() for line in told if line.startswith("...")] == ([between] if between else [])
