"""What rows and other tables decide, of tables made up here; what servers really do is asked in tests/servers/test_migrate_rows.py and test_migrate_foreign_keys.py."""

from dataclasses import replace

import pytest

from myisam_advisor.migrate.change import Subject
from myisam_advisor.migrate.document import as_document
from myisam_advisor.migrate.foreign_keys import BYTES, NUMBER, TEXT, ForeignKey, compared
from myisam_advisor.migrate.meaning import changes
from myisam_advisor.migrate.prediction import Prediction, predict
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.script import as_script
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files import structure as types
from myisam_exporter.files.frm_column_bytes import is_impossible, is_impossible_date
from myisam_exporter.files.structure import LARGEST_BLOB, Column, Index, Part, Structure
from tests.support.read_comments import read

from .test_migrate import LATIN1, MARIADB, MYSQL, OLD, index, integer, migration, table

UTF8MB4 = 45
KEYED = table(integer(), indexes=(index((0, 4), name="PRIMARY", unique=True),))
SIGNED = (NUMBER, 4, False)
BLOBS = table(integer(), Column("b", types.LONG_BLOB, types.LARGEST_BLOB, 63, True), Column("c", types.TINY_BLOB, 255, 63, True))
LOG = 2 * (48 << 20)
HELD = of_variables("mysql", (5, 6), {"version": "5.6.24-log", "innodb_log_file_size": str(48 << 20), "innodb_log_files_in_group": "2"})


def key(like: object = SIGNED, to: str = "id") -> ForeignKey:
    return ForeignKey("k", ("s", "child"), ("a",), (to,), (like,))  # type: ignore[arg-type]


def predicted(structure: Structure, kind: ServerKind, *keys: ForeignKey, to: str = "InnoDB", contents: Contents | None = None) -> Prediction:
    (found,) = predict([FoundTable(("s", "t"), structure, contents, referred_by=keys)], to, kind, None, Machine())
    return found


@pytest.mark.parametrize(
    ("structure", "like", "to", "codes"),
    [
        (KEYED, SIGNED, "id", (0, 0, 0)),
        (KEYED, None, "ID", (0, 0, 0)),
        (KEYED, (NUMBER, 8, False), "id", (1025, 3780, 3780)),
        (KEYED, SIGNED, "other", (1025, 3734, 3734)),
        (table(), SIGNED, "id", (1025, 1822, 6125)),
        (table(indexes=(index((0, 4)),)), SIGNED, "id", (0, 0, 6125)),
        (table(indexes=(index((0, 2), prefix=True, unique=True),)), SIGNED, "id", (1025, 1822, 6125)),
        (replace(table(), row_format="FIXED"), SIGNED, "id", (1005, 1822, 6125)),
        (replace(KEYED, columns=(integer("DB_ROW_ID"),)), SIGNED, "id", (1166, 1166, 1166)),
    ],
)  # fmt: skip
def test_each_server_refuses_a_constraint_with_its_own_error(structure: Structure, like: object, to: str, codes: tuple[int, ...]) -> None:
    kinds = (MARIADB, by_default("mysql", (8, 0)), by_default("mysql", (9, 7)))
    told = [predicted(structure, kind, key(like, to)) for kind in kinds]
    assert tuple(next((error.code for error in one.errors), 0) for one in told) == codes
    assert [("foreign-key-alive" in [change.id for change in one.changes]) for one in told] == [not any(error.code in {1025, 1822, 3734, 3780, 6125} for error in one.errors) for one in told]


@pytest.mark.parametrize(
    ("structure", "here", "there", "codes"),
    [
        (table(indexes=(index((0, 4)),)), ("mysql", (8, 0)), ("mysql", (8, 4)), [6125]),
        (table(indexes=(index((0, 4)),)), ("mysql", (8, 0)), ("mysql", (8, 3)), []),
        (table(indexes=(index((0, 4)),)), ("mysql", (5, 6)), ("mariadb", (11, 8)), []),
        (KEYED, ("mysql", (5, 6)), ("mysql", (9, 7)), []),
        (table(), ("mysql", (5, 6)), ("mysql", (8, 0)), []),
        # The order of the target: what its engine refuses comes behind the constraints.
        (replace(table(indexes=(index((0, 4)),)), row_format="FIXED"), ("mysql", (5, 6)), ("mysql", (9, 7)), [6125, 1031]),
    ],
)  # fmt: skip
def test_a_constraint_is_held_to_the_target_too(structure: Structure, here: tuple[str, tuple[int, int]], there: tuple[str, tuple[int, int]], codes: list[int]) -> None:
    found = FoundTable(("s", "t"), structure, None, referred_by=(key(),))
    (told,) = predict([found], "InnoDB", by_default(*here), by_default(*there), Machine())
    assert [error.code for error in told.target_errors] == codes
    (to_aria,) = predict([found], "Aria", by_default("mariadb", (10, 5)), by_default("mariadb", (11, 8)), Machine())
    assert to_aria.target_errors == ()


def test_a_constraint_that_is_refused_here_for_the_same_reason_is_told_once() -> None:
    (told,) = predict([FoundTable(("s", "t"), KEYED, None, referred_by=(key((NUMBER, 8, False)),))], "InnoDB", OLD, by_default("mysql", (9, 7)), Machine())
    assert ([error.code for error in told.errors], told.target_errors) == ([1025], ())


def test_without_foreign_key_checks_and_to_aria_nothing_is_held_to_them() -> None:
    unchecked = replace(MARIADB, foreign_checks=False)
    for kind, to in ((unchecked, "InnoDB"), (MARIADB, "Aria")):
        found = predicted(table(), kind, key(), to=to)
        assert (found.errors, [one.id for one in found.changes if one.id == "foreign-key-alive"]) == ((), [])
    text = table(Column("id", types.VARCHAR, 10, LATIN1, False), indexes=(index((0, 10), unique=True),))
    assert [[error.code for error in predicted(text, kind, key((TEXT, 33))).errors] for kind in (OLD, replace(OLD, foreign_checks=False))] == [[1025], []]


def test_what_innodb_compares() -> None:
    kinds = {types.ENUM: (NUMBER, 1, True), types.DATE: (NUMBER, 3, False), types.STRING: (TEXT, LATIN1), types.NEWDECIMAL: BYTES, types.DOUBLE: (types.DOUBLE,), types.DATETIME: None}
    sizes = {types.ENUM: 1, types.DATE: 3}
    for kind, like in kinds.items():
        assert compared(Column("c", kind, sizes.get(kind, 8), LATIN1, False, unsigned=kind == types.DATE)) == like
    assert compared(Column("c", types.STRING, 8, 63, False)) == BYTES


def test_that_nobody_knows_of_constraints_is_said_once() -> None:
    made = replace(migration(FoundTable(("s", "t"), KEYED, None)), foreign_keys_unknown="no privilege")
    assert as_text(made).count("is not known: no privilege.") == read(as_script(made)).count("is not known: no privilege.") == 1
    assert [as_document(one)["foreign_keys_unknown"] for one in (made, replace(made, foreign_keys_unknown=""))] == ["no privilege", None]


@pytest.mark.parametrize(("rows", "data_bytes", "refused", "told"), [(10, LOG, True, False), (11, LOG, False, True), (10_000, LOG, False, True), (10, LOG // 11, False, False), (0, 0, False, False)])
def test_rows_are_held_to_a_tenth_of_the_log(rows: int, data_bytes: int, *, refused: bool, told: bool) -> None:
    contents = Contents(rows, data_bytes + data_bytes // 50, 1024, 0, "dynamic")
    found = predicted(BLOBS, HELD, contents=contents)
    assert [error.code for error in found.errors] == ([1118] if refused else [])
    assert ("row-beyond-log" in [change.id for change in found.changes]) == told
    assert "row-beyond-log" not in [change.id for change in predicted(BLOBS, HELD, to="Aria", contents=contents).changes]
    for other in (MARIADB, MYSQL, OLD, of_variables("mysql", (5, 6), {"version": "5.6.19", "innodb_log_file_size": "1", "innodb_log_files_in_group": "2"})):
        assert other.redo_bytes == 0
    # A log that holds more than the longest value can be holds all.
    assert "row-beyond-log" not in [change.id for change in predicted(table(integer(), BLOBS.columns[2]), HELD, contents=contents).changes]


@pytest.mark.parametrize(("day", "impossible"), [((2010, 2, 30), True), ((2010, 4, 31), True), ((2012, 2, 29), False), ((1900, 2, 29), True), ((0, 2, 29), True), ((2010, 0, 31), False), ((0, 1, 1), False), ((9999, 12, 31), False)])
def test_days_that_months_do_not_have(day: tuple[int, int, int], *, impossible: bool) -> None:
    year, month, number = day
    assert is_impossible(*day) is impossible
    assert is_impossible_date(types.DATE, (year << 9 | month << 5 | number).to_bytes(3, "little")) is impossible
    assert is_impossible_date(types.DATETIME, (((year * 100 + month) * 100 + number) * 10**6).to_bytes(8, "little")) is impossible
    packed = 1 << 22 | (year * 13 + month) << 5 | number
    assert is_impossible_date(types.DATETIME2, (packed << 17).to_bytes(5, "big")) is impossible
    assert is_impossible_date(types.TIMESTAMP2, b"\0" * 4) is False


def test_a_default_that_no_calendar_has_is_refused_wherever_it_is_not_allowed() -> None:
    odd = table(Column("d", types.DATE, 3, 63, False, impossible_default=True), Column("e", types.DATE, 3, 63, False, zero_default=True))
    for flavour, version in (("mysql", (5, 5)), ("mysql", (9, 7)), ("mariadb", (10, 11))):
        codes = {mode: [one.code for one in refusals(odd, "InnoDB", of_variables(flavour, version, {"sql_mode": mode})) if not one.may] for mode in ("", "ALLOW_INVALID_DATES")}
        assert codes == {"": [1067], "ALLOW_INVALID_DATES": []}
    first, second = (one for one in refusals(odd, "InnoDB", MYSQL) if not one.may)
    assert first.mend.startswith("ALTER TABLE `table` ALTER COLUMN `e` DROP DEFAULT, ALTER COLUMN `d` DROP DEFAULT; Or: ")
    assert "it lacks ALLOW_INVALID_DATES" in second.why


@pytest.mark.parametrize(
    ("mode", "old", "new", "mariadb"),
    [("", "2010-02-30", "2010-02-30", ""), ("NO_ZERO_DATE", "2010-02-30", "2010-02-30", "2010-02-30"), ("NO_ZERO_IN_DATE,ALLOW_INVALID_DATES", "2010-00-00", "2010-00-00", "2010-00-00"), ("ALLOW_INVALID_DATES", "", "", ""), ("STRICT_ALL_TABLES", "", "", "")],
)  # fmt: skip
def test_dates_that_are_lost_are_told_in_one_sentence_for_all_tables(mode: str, old: str, new: str, mariadb: str) -> None:
    dated = table(Column("d", types.DATE, 3, 63, True))
    for (flavour, version), lost in zip((("mysql", (5, 6)), ("mysql", (9, 7)), ("mariadb", (10, 11))), (old, new, mariadb), strict=True):
        told = [one for one in changes(Subject(("s", "t"), dated, "InnoDB", of_variables(flavour, version, {"sql_mode": mode}))) if one.id == "dates-lost"]
        assert [f"A date such as {lost} becomes" in one.what for one in told] == ([True] if lost else [])


def test_an_index_of_documents_goes_upwards_and_a_virtual_number_is_none() -> None:
    number = Column("FTS_DOC_ID", types.LONGLONG, 8, 63, False)
    words = index((1, 100), kind=types.FULLTEXT, name="w")
    documents = index((0, 8), unique=True, name="FTS_DOC_ID_INDEX")
    downwards = replace(documents, parts=(replace(documents.parts[0], descending=True),))
    text = Column("x", types.BLOB, 65_535, LATIN1, True)
    told = [[one.code for one in refusals(table(number, text, indexes=(one, words)), "InnoDB", MARIADB)] for one in (documents, downwards)]
    assert told == [[], [1798]]
    virtual = table(replace(number, generated=types.VIRTUAL, nullable=True), text, indexes=(words,))
    assert [[one.code for one in refusals(virtual, "InnoDB", kind)] for kind in (MARIADB, MYSQL)] == [[], [1797]]
    assert refusals(replace(virtual, indexes=()), "InnoDB", MYSQL) == ()


def test_generated_columns_have_their_note_and_others_have_none() -> None:
    computed = replace(KEYED, columns=(*KEYED.columns, replace(integer("b"), generated=types.VIRTUAL)))
    told = {one.id: one for one in changes(Subject(("s", "t"), computed, "Aria", MARIADB))}
    assert told["generated-refused"].statement == "DROP TEMPORARY TABLE IF EXISTS `s`.`shown`; CREATE TEMPORARY TABLE `s`.`shown` LIKE `s`.`t`; INSERT INTO `s`.`shown` (`id`) SELECT `id` FROM `s`.`t` AS one; ALTER TABLE `s`.`shown` FORCE;"
    for structure, kind in ((KEYED, MARIADB), (computed, replace(MARIADB, strict=False))):
        assert "generated-refused" not in [one.id for one in changes(Subject(("s", "t"), structure, "InnoDB", kind))]


def test_a_computed_shape_is_told_of_on_mariadb_under_each_sql_mode() -> None:
    shape = Column("g", types.GEOMETRY, 4, 63, True, generated=types.VIRTUAL)
    for column, kind, expected in ((shape, MARIADB, True), (replace(shape, generated=types.STORED), MARIADB, False), (shape, MYSQL, False)):
        structure = replace(KEYED, columns=(*KEYED.columns, column))
        found = [one for one in changes(Subject(("s", "t"), structure, "InnoDB", replace(kind, strict=False))) if one.id == "generated-refused"]
        assert ["1416" in one.what for one in found] == [True] * expected


def test_a_float_at_its_limit_is_told_of_where_mariadb_is_strict() -> None:
    floats = table(integer(), *(Column(name, types.FLOAT, 4, 63, True, float_limit=limit, generated=generated) for name, limit, generated in [("f", 99_999_999.99, ""), ("g", 0.0, ""), ("h", 1e20, ""), ("i", 999_999.99, "stored")]))
    for to in ("InnoDB", "Aria"):
        (one,) = (change for change in predicted(floats, MARIADB, to=to).changes if change.id == "float-limit")
        assert one.statement == "SELECT COUNT(*) FROM `s`.`t` WHERE 1 IN (COALESCE(ABS(`f`) > 99999999.99, 0), COALESCE(ABS(`h`) > 100000000000000000000, 0));"
        assert "Error 1264: a row with the largest value of f, h" in one.what
    for kind in (MYSQL, OLD, of_variables("mariadb", (10, 11), {"sql_mode": ""})):
        assert "float-limit" not in [change.id for change in predicted(floats, kind).changes]


@pytest.mark.parametrize(
    ("parts", "to", "shown"),
    [
        ([(1, 40, True)], "InnoDB", "SELECT LEFT(`w`, 10), COUNT(*) FROM `s`.`t` WHERE `w` IS NOT NULL GROUP BY LEFT(`w`, 10) HAVING COUNT(*) > 1 LIMIT 10;"),
        ([(0, 4, False), (2, 8, True)], "Aria", "SELECT `id`, HEX(LEFT(`g`, 8)), COUNT(*) FROM `s`.`t` WHERE `id` IS NOT NULL AND `g` IS NOT NULL GROUP BY `id`, HEX(LEFT(`g`, 8)) HAVING COUNT(*) > 1 LIMIT 10;"),
        ([(2, 25, True)], "InnoDB", None), ([(3, 10, True)], "InnoDB", None), ([(1, 0, False)], "InnoDB", None), ([(1, 3600, True)], "InnoDB", None),
    ],
)  # fmt: skip
def test_rows_that_a_hash_of_a_part_lets_in_are_shown(parts: list[tuple[int, int, bool]], to: str, shown: str | None) -> None:
    columns = (integer(), Column("w", types.BLOB, 65_535, UTF8MB4, True), Column("g", types.GEOMETRY, LARGEST_BLOB, 63, True), Column("b", types.BLOB, 65_535, 63, True))
    hashed = Index("u", True, types.LONG_UNIQUE, tuple(Part(*part) for part in parts), algorithm="HASH")
    told = [one.statement for one in changes(Subject(("s", "t"), table(*columns, indexes=(hashed,)), to, MARIADB)) if one.id == "hash-prefix"]
    assert told == ([] if shown is None else [shown])


@pytest.mark.parametrize(
    ("kind", "codes"),
    [(OLD, []), (of_variables("mysql", (5, 6), {"sql_mode": "TRADITIONAL"}), [1264]), (MYSQL, [1067]), (of_variables("mysql", (8, 0), {"sql_mode": ""}), []), (of_variables("mysql", (5, 5), {"sql_mode": "TRADITIONAL"}), []), (MARIADB, [])],
)
def test_a_default_at_the_limit_of_a_float_is_refused_by_mysql_alone(kind: ServerKind, codes: list[int]) -> None:
    floats = table(integer(), Column("f", types.FLOAT, 4, 63, True, float_limit=99_999_999.99, limit_default=True))
    found = predicted(floats, kind).errors
    assert [one.code for one in found] == codes
    assert [one.mend.partition(";")[0] for one in found] == ["ALTER TABLE `s`.`t` ALTER COLUMN `f` DROP DEFAULT"] * len(codes)
