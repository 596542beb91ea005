"""What the server's settings, its cluster, its disk and its clocks make of a migration; structures are made up."""

import json
from dataclasses import replace

import pytest

from myisam_advisor.migrate.document import as_json
from myisam_advisor.migrate.prediction import Migration, Prediction, in_order, predict
from myisam_advisor.migrate.refusals import refusals
from myisam_advisor.migrate.report import as_text
from myisam_advisor.migrate.script import ENDS_THE_SERVER, STOPS, WAITS_FOR_ROOM, as_script
from myisam_advisor.migrate.server_kind import ServerKind, by_default, of_variables, with_engines
from myisam_advisor.migrate.sizes import Contents
from myisam_advisor.migrate.tables import FoundTable
from myisam_advisor.migrate.times import Machine
from myisam_advisor.migrate.unchanged import forgets, reads_only, writes_again
from myisam_advisor.migrate.way_back import back
from myisam_exporter.files.structure import BTREE, LONG_UNIQUE, Index, Part, Structure
from tests.support.read_comments import read
from tests.unit.advisor.catalogue.test_copy_work import WORK
from tests.unit.advisor.reports.test_json_documents import assert_keeps

from .test_migrate import MARIADB, MYSQL, OLD, index, integer, table, text

DEPRECATED = {"innodb_file_format": "", "innodb_large_prefix": "", "innodb_strict_mode": "ON"}
SORTS = replace(MARIADB, sorts_copies=True)
LONG_KEY = table(text("v", 1000), indexes=(index((0, 800)),))
ONE_FILE = {"innodb_file_per_table": "OFF"}
BARRACUDA = {"innodb_file_format": "Barracuda", "innodb_strict_mode": "ON"}
STRICT = {"innodb_strict_mode": "ON"}
BIG = Contents(1_000_000_000, 7_000_000_000, 1_000_000_000, 0, "fixed", work=replace(WORK, rows=1_000_000_000, data_bytes=7_000_000_000, index_bytes=1_000_000_000))
SMALL = Contents(1, 100, 1024, 0, "fixed", work=replace(WORK, rows=1, data_bytes=100, index_bytes=1024))


def one(structure: Structure, kind: ServerKind, to: str = "InnoDB", contents: Contents | None = None, machine: Machine = Machine()) -> Prediction:  # noqa: B008
    return predict([FoundTable(("s", "t"), structure, contents)], to, kind, None, machine)[0]


def migration(found: Prediction, kind: ServerKind, machine: Machine = Machine()) -> Migration:  # noqa: B008
    return Migration(kind, None, found.to, (found,), in_order([found], {}), (), 1 << 20, 2 << 20, int(machine.disk_free_bytes) if machine.disk_free_bytes is not None else None)


def ids(found: Prediction) -> list[str]:
    return [change.id for change in found.changes]


@pytest.mark.parametrize("version", [(10, 4), (10, 5)])
def test_an_empty_file_format_is_none(version: tuple[int, int]) -> None:
    kind = of_variables("mariadb", version, DEPRECATED)
    assert (kind.barracuda, kind.large_prefix) == (True, True)
    for structure in (table(row_format="DYNAMIC"), table(KEY_BLOCK_SIZE=4), LONG_KEY):
        assert one(structure, kind).errors == ()
    assert "prefix-shortened" not in ids(one(LONG_KEY, kind))


@pytest.mark.parametrize(
    ("flavour", "version", "variables", "structure", "codes"),
    [
        ("mysql", (5, 6), {**BARRACUDA, **ONE_FILE}, table(row_format="DYNAMIC"), [1031]),
        ("mysql", (5, 6), BARRACUDA, table(row_format="DYNAMIC"), []),
        ("mysql", (5, 6), {**BARRACUDA, **ONE_FILE}, table(KEY_BLOCK_SIZE=4), [1031]),
        ("mysql", (5, 6), {**BARRACUDA, "innodb_strict_mode": "OFF", **ONE_FILE}, table(row_format="DYNAMIC"), []),
        ("mysql", (5, 5), {**BARRACUDA, **ONE_FILE}, table(row_format="DYNAMIC"), [1005]),
        ("mysql", (8, 0), ONE_FILE, table(row_format="DYNAMIC"), []),
        ("mysql", (8, 0), ONE_FILE, table(row_format="COMPRESSED"), [1031]),
        ("mysql", (8, 0), ONE_FILE, table(KEY_BLOCK_SIZE=4), [1031]),
        ("mariadb", (10, 11), ONE_FILE, table(row_format="DYNAMIC"), []),
        ("mariadb", (10, 11), ONE_FILE, table(row_format="COMPRESSED"), [1005]),
        ("mariadb", (10, 11), ONE_FILE, table(KEY_BLOCK_SIZE=4), [1005]),
    ],
)
def test_one_file_for_all_tables_has_no_compressed_pages(flavour: str, version: tuple[int, int], variables: dict[str, str], structure: Structure, codes: list[int]) -> None:
    kind = of_variables(flavour, version, variables)
    assert [error.code for error in refusals(structure, "InnoDB", kind)] == codes
    found = one(structure, kind)
    assert found.script_errors == ()
    assert ("shared-file" in ids(found)) == (not kind.file_per_table)


def test_of_an_engine_that_is_off_show_engines_tells() -> None:
    off = with_engines(MARIADB, {"InnoDB": "NO", "Aria": "YES", "MyISAM": "DEFAULT"})
    assert off.missing_engines == ("InnoDB",)
    assert with_engines(MYSQL, {"InnoDB": "DEFAULT", "MyISAM": "YES"}).missing_engines == ("Aria",)
    assert with_engines(MARIADB, {"INNODB": "YES", "Aria": "DISABLED"}).missing_engines == ("Aria",)
    assert with_engines(MYSQL, {}) == MYSQL
    found = one(table(), off)
    assert [(error.code, error.mend) for error in found.errors] == [(1286, "Start the server with InnoDB, or choose --to aria.")]
    assert [error.mend for error in one(table(), replace(MYSQL, missing_engines=("InnoDB",))).errors] == ["Start the server with InnoDB."], "MySQL has no Aria"
    assert "\nALTER" not in as_script(migration(found, off))


def test_without_no_engine_substitution_there_is_a_warning_and_no_conversion() -> None:
    off = replace(with_engines(MARIADB, {"MyISAM": "DEFAULT"}), substitutes=True)
    found = one(table(), off)
    assert (found.fails, [error.code for error in found.errors]) == (True, [0])
    assert "the ALTER ends with a warning, and the table stays as it is" in found.errors[0].why
    script, told = as_script(migration(found, off)), as_text(migration(found, off))
    assert "\nALTER" not in script
    assert "error 0" not in script + told
    assert "a warning: MariaDB 10.11 runs without the engine InnoDB" in " ".join(told.split())


def test_a_forbidden_engine_is_passed_over_too() -> None:
    kind = of_variables("mysql", (8, 0), {"disabled_storage_engines": "InnoDB", "sql_mode": ""})
    assert [error.code for error in one(table(), kind).errors] == [0]
    assert [error.code for error in one(table(), replace(kind, substitutes=False)).errors] == [3161]


def test_an_engine_that_is_enforced_allows_no_other() -> None:
    kind = of_variables("mariadb", (10, 11), {"enforce_storage_engine": "InnoDB", "sql_mode": "NO_ENGINE_SUBSTITUTION"})
    assert [error.code for error in one(table(), kind, "Aria").errors] == [1290]
    assert [error.code for error in one(table(), replace(kind, version=(10, 5)), "Aria").errors] == [1286]
    assert one(table(), kind).errors == ()
    assert of_variables("mariadb", (10, 11), {"enforce_storage_engine": ""}).enforced_engine == ""
    (warned,) = one(table(), replace(kind, substitutes=True), "Aria").errors
    assert (warned.code, "becomes one of InnoDB" in warned.why) == (0, True)


@pytest.mark.parametrize("kind", [replace(MARIADB, galera=True), replace(MYSQL, group=True)])
def test_on_a_node_of_a_cluster_no_alter_is_run(kind: ServerKind) -> None:
    lines = as_script(migration(one(table(), kind, contents=replace(BIG, rows=1)), kind)).splitlines()
    assert not [line for line in lines if line and not line.startswith(("--", "SET "))]
    assert "-- ALTER TABLE `s`.`t` ENGINE=InnoDB, ROW_FORMAT=DEFAULT, KEY_BLOCK_SIZE=0;" in lines
    assert "-- CREATE TABLE `s`.`t_innodb` LIKE `s`.`t`;" in lines
    assert "-- RENAME TABLE `s`.`t` TO `s`.`t_myisam`, `s`.`t_innodb` TO `s`.`t`;" in lines
    assert not any("pt-online" in line or line.startswith("-- Back") for line in lines)
    to_aria = as_script(migration(one(table(), MARIADB, "Aria"), replace(MARIADB, galera=True)))
    assert "\nALTER" not in to_aria
    assert "RENAME TABLE" not in to_aria


def test_a_long_name_beside_the_cluster_is_no_longer_than_a_name_may_be() -> None:
    kind = replace(MARIADB, galera=True)
    (found,) = predict([FoundTable(("s", "x" * 64), table(), None)], "InnoDB", kind, None, Machine())
    assert f"CREATE TABLE `s`.`{'x' * 57}_innodb` LIKE" in as_script(migration(found, kind))


def test_a_disk_that_does_not_suffice_is_said_first_and_keeps_its_table_back() -> None:
    machine = Machine(64e9, 32e9, disk_free_bytes=1e9)
    found = one(table(), MARIADB, contents=BIG, machine=machine)
    assert ids(found)[0] == "disk-full"
    made = migration(found, MARIADB, machine)
    told, script = as_text(made), as_script(made)
    assert told.splitlines()[1].startswith("s.t  The copy takes ")
    assert "\n-- Not run as it stands: The copy takes " in script
    assert "\n-- ALTER TABLE `s`.`t` ENGINE=InnoDB" in script
    assert "\nALTER" not in script
    assert "disk-full" not in ids(one(table(), MARIADB, contents=BIG, machine=Machine(64e9, 32e9)))


@pytest.mark.parametrize(
    ("kind", "to", "free_bytes", "contents", "structure", "expected"),
    [
        (SORTS, "InnoDB", 1e9, BIG, table(), True),
        (SORTS, "InnoDB", 1e12, BIG, table(), False),
        (SORTS, "InnoDB", None, BIG, table(), False),
        (SORTS, "InnoDB", 1e3, SMALL, table(), False),
        (SORTS, "InnoDB", 1e9, None, table(), False),
        (SORTS, "Aria", 1e9, BIG, table(), False),
        (MARIADB, "InnoDB", 1e9, BIG, table(), False),
        (SORTS, "InnoDB", 1e9, BIG, table(text("v", 1000), indexes=(index((0, 1000), kind=LONG_UNIQUE, unique=True),)), False),
    ],
)
def test_a_tmpdir_without_room_for_the_sorting_keeps_the_table_back(kind: ServerKind, to: str, free_bytes: float | None, contents: Contents | None, structure: Structure, expected: bool) -> None:
    machine = Machine(64e9, 32e9, temporary_free_bytes=free_bytes)
    found = one(structure, kind, to, contents, machine)
    assert ("tmpdir-full" in ids(found)) is expected
    script = " ".join(as_script(migration(found, kind, machine)).replace("\n-- ", " ").split())
    assert ("The copy is sorted in files of tmpdir, not of innodb_tmpdir" in script) is (kind is SORTS and to == "InnoDB")
    assert ("Make room there, or set that, and make this script again" in script) is expected


def test_tables_that_fit_one_by_one_and_not_together() -> None:
    contents = replace(BIG, rows=100_000_000, data_bytes=500_000_000, index_bytes=1024)
    found = predict([FoundTable(("s", name), table(), contents) for name in "abc"], "InnoDB", MYSQL, None, Machine(64e9, 32e9, disk_free_bytes=1e12))
    made = Migration(MYSQL, None, "InnoDB", tuple(found), in_order(found, {}), (), None, None, 5_000_000_000)
    assert "Each of them fits on the disk, all together do not: they take " in " ".join(as_text(made).split())
    assert "all together do not" not in as_text(replace(made, disk_free_bytes=1 << 40))


def test_the_document_tells_disk_memory_and_the_least_time() -> None:
    machine = Machine(1e9, 1e9, disk_free_bytes=1e12)
    made = migration(one(table(), MYSQL, contents=BIG, machine=machine), MYSQL, machine)
    document = assert_keeps("migrate", as_json(made))
    (told,) = document["tables"]
    assert told["seconds"] is None
    assert told["seconds_least"] > 0
    assert "do not fit into" in told["why_open"]
    assert document["disk_free_bytes"] == 10**12
    assert (document["memory"]["key_buffer_bytes"], document["memory"]["cache_bytes"]) == (1 << 20, 2 << 20)
    assert document["memory"]["cache_wanted_bytes"][1] > 1e10
    (told,) = json.loads(as_json(migration(one(table(), MYSQL), MYSQL)))["tables"]
    assert (told["seconds"], told["seconds_least"], told["why_open"]) == (None, None, "")


def test_the_way_back_gives_an_index_its_prefixes_again() -> None:
    structure = table(text("v", 1000), integer("b"), indexes=(Index("k", False, BTREE, (Part(0, 800, True), Part(1, 4, False))), index((1, 4), name="other")))
    found = one(structure, OLD)
    assert " ".join(back(found)) == "ALTER TABLE `s`.`t` ENGINE=MyISAM, ROW_FORMAT=DEFAULT, DROP INDEX `k`, ADD INDEX `k` (`v`(800), `b`), DROP INDEX `other`, ADD INDEX `other` (`b`);"
    assert " ".join(back(one(structure, MYSQL))) == "ALTER TABLE `s`.`t` ENGINE=MyISAM, ROW_FORMAT=DEFAULT;"
    assert "\n-- SHOW INDEX FROM `s`.`t`;" in as_script(migration(found, OLD))


def test_a_prefix_counts_characters() -> None:
    structure = table(text("v", 1200, 45), indexes=(Index("k", False, BTREE, (Part(0, 800, True),)),))
    assert back(one(structure, OLD))[0].endswith("ADD INDEX `k` (`v`(200));")


def test_a_check_that_refuses_a_row_is_looked_for_before() -> None:
    script = as_script(migration(one(replace(table(), checks=True), MARIADB), MARIADB))
    assert script.index("-- Error 4025: ") < script.index("\nALTER TABLE")


def test_the_way_back_from_aria_leaves_no_word_that_mysql_does_not_read() -> None:
    assert back(one(table(), MARIADB, "Aria")) == ("ALTER TABLE `s`.`t` ENGINE=MyISAM, ROW_FORMAT=DEFAULT;", "ALTER TABLE `s`.`t` PAGE_CHECKSUM=DEFAULT;")


def test_a_script_stops_where_rows_differ_and_is_made_again_to_go_on() -> None:
    script = as_script(migration(one(table(), MYSQL), MYSQL))
    lines = script.splitlines()
    place = lines.index(STOPS)
    assert lines[place - 2].startswith("ALTER TABLE")
    assert lines[place - 1].endswith("INTO @rows_after, @values_after FROM `s`.`t`;")
    assert "make the script again, and keep this one: the new one holds only what is still MyISAM" in read(script)
    # A number of the table before is none of this one.
    assert lines[lines.index("CHECK TABLE `s`.`t`;") - 1] == forgets(MYSQL)


def test_what_waits_on_a_full_disk_is_ended_by_nothing_where_that_ends_the_server() -> None:
    mysql, mariadb = (as_script(migration(one(table(), kind), kind)) for kind in (of_variables("mysql", (8, 0), {}), MARIADB))
    assert WAITS_FOR_ROOM in mysql
    assert WAITS_FOR_ROOM in mariadb
    assert ENDS_THE_SERVER in read(mysql)
    assert ENDS_THE_SERVER not in mariadb


@pytest.mark.parametrize(
    ("level", "log_format", "log", "refused"),
    [("READ-COMMITTED", "STATEMENT", "ON", True), ("REPEATABLE-READ", "STATEMENT", "ON", False), ("READ-COMMITTED", "MIXED", "ON", False), ("READ-COMMITTED", "STATEMENT", "OFF", False)],
)  # fmt: skip
def test_writes_that_cannot_be_logged_are_told(level: str, log_format: str, log: str, refused: bool) -> None:
    for name in ("tx_isolation", "transaction_isolation"):
        kind = of_variables("mysql", (5, 6), {name: level, "binlog_format": log_format, "log_bin": log})
        assert ("statement-log" in ids(one(table(), kind))) == refused
        assert "statement-log" not in ids(one(table(), kind, "Aria"))


def test_the_time_for_a_statement_is_taken_away_and_told() -> None:
    kind = of_variables("mariadb", (10, 11), {"max_statement_time": "60.000000"})
    slow, quick = one(table(), kind, contents=BIG, machine=Machine(64e9, 32e9)), one(table(), kind, contents=SMALL)
    assert "statement-time" in ids(slow)
    assert "statement-time" not in ids(quick) + ids(one(table(), MARIADB))
    assert as_script(migration(slow, kind)).splitlines()[1] == "SET SESSION max_statement_time = 0;"
    assert "SET SESSION max_statement_time" in as_script(migration(one(table(), MARIADB), MARIADB))
    for without in (by_default("mariadb", (10, 0)), MYSQL):
        assert "SET SESSION max_" not in as_script(migration(one(table(), without), without))
    selects = of_variables("mysql", (8, 0), {"max_execution_time": "5000"})
    assert selects.statement_seconds == 5
    assert "SET SESSION max_execution_time = 0;" in as_script(migration(one(table(), selects), selects))


def test_the_script_speaks_of_what_its_own_alter_would_meet_on_the_target() -> None:
    (found,) = predict([FoundTable(("s", "t"), table(row_format="FIXED"), None)], "InnoDB", OLD, MYSQL, Machine())
    assert [error.code for error in found.target_errors] == [1031]
    made = Migration(OLD, MYSQL, "InnoDB", (found,), in_order([found], {}), (), None, None, None)
    assert "error 1031" not in as_script(made)


def test_what_keeps_a_session_from_writing_is_there_on_the_older_source_of_a_replica_too() -> None:
    kinds = [by_default(*one) for one in (("mysql", (5, 5)), ("mysql", (5, 6)), ("mysql", (8, 4)), ("mariadb", (10, 5)), ("mariadb", (11, 8)))]
    assert [str(reads_only(kind)) for kind in kinds] == ["sql_mode", "tx_read_only", "transaction_read_only", "tx_read_only", "tx_read_only"]
    assert [writes_again(kind) is None for kind in kinds] == [True, False, False, False, False]
    assert "SET SESSION sql_mode = OFF" not in as_script(migration(one(table(), kinds[0]), kinds[0]))


def test_on_a_read_only_server_the_script_does_not_ask_whether_it_became_so() -> None:
    read_only = replace(MYSQL, read_only=True)
    assert "@@GLOBAL.read_only" not in as_script(migration(one(table(), read_only), read_only))
    assert "@@GLOBAL.read_only" in as_script(migration(one(table(), MYSQL), MYSQL))


@pytest.mark.parametrize(
    ("flavour", "version", "variables", "codes", "of_a_name"),
    [
        ("mariadb", (10, 11), {"innodb_read_only": "ON"}, [1005], 1005),
        ("mariadb", (10, 11), {"innodb_force_recovery": "4"}, [], 1166),
        ("mariadb", (10, 11), {"innodb_force_recovery": "5"}, [1005], 1005),
        ("mysql", (5, 5), {"innodb_force_recovery": "1"}, [1030], 1166),
        ("mysql", (5, 6), {"innodb_force_recovery": "1"}, [1881], 1166),
        ("mysql", (5, 6), {"innodb_force_recovery": "4"}, [1874], 1874),
        ("mysql", (9, 7), {"innodb_read_only": "ON"}, [1874], 1166),
        ("mysql", (9, 7), {"innodb_force_recovery": "0", "innodb_read_only": "OFF"}, [], 1166),
    ],
)
def test_an_innodb_that_writes_nothing_takes_no_table(flavour: str, version: tuple[int, int], variables: dict[str, str], codes: list[int], of_a_name: int) -> None:
    kind = of_variables(flavour, version, variables)
    found = one(table(integer()), kind)
    assert [error.code for error in found.errors] == [error.code for error in found.script_errors] == codes
    assert one(table(integer("DB_ROW_ID")), kind).errors[0].code == of_a_name
    assert one(table(integer()), kind, to="Aria").errors == () or flavour == "mysql"


@pytest.mark.parametrize(("version", "asked", "refused"), [((10, 11), "INPLACE", True), ((10, 11), "NOCOPY", False), ((11, 4), "INSTANT", True), ((11, 4), "COPY", False), ((11, 8), "DEFAULT", False)])
def test_an_algorithm_that_copies_nothing_is_told_of_and_reset_by_the_script(version: tuple[int, int], asked: str, *, refused: bool) -> None:
    kind = of_variables("mariadb", version, {"alter_algorithm": asked})
    for to in ("InnoDB", "Aria"):
        found = one(table(integer()), kind, to=to)
        assert [error.code for error in found.errors] == [1845] * refused
        assert found.script_errors == ()
        assert ("SET SESSION alter_algorithm = COPY;" in as_script(migration(found, kind))) is refused


def test_compressed_pages_that_nobody_may_write_are_told_of() -> None:
    kind = of_variables("mariadb", (10, 11), {"innodb_read_only_compressed": "ON", "innodb_strict_mode": "ON"})
    for structure in (table(row_format="COMPRESSED"), table(KEY_BLOCK_SIZE=4), table(row_format="DYNAMIC", KEY_BLOCK_SIZE=3)):
        found = one(structure, kind)
        assert ([error.code for error in found.errors], found.script_errors) == ([4047], ())
    assert one(table(row_format="DYNAMIC"), kind).errors == ()
