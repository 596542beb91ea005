"""What of `trial upgrade` needs no server; the rest is in tests/servers/test_trial_upgrade.py."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from myisam_advisor.cli.upgrading import _passed_over, _smallest
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.upgrade.remedies import remedy_of
from myisam_advisor.trial.upgrade.upgrade_report import as_json, as_text
from myisam_advisor.trial.upgrade.upgrade_result import (
    BY_DEFINITION,
    BY_FILES,
    FINE,
    MENDED,
    REFUSED,
    NotTried,
    Problem,
    UpgradedTable,
    UpgradeResult,
    from_document,
)
from myisam_advisor.trial.upgrade.upgrading import expect_upgrade
from myisam_exporter.server.sql import quote_table

TABLE = UpgradedTable("s", "t", BY_FILES, 1 << 20, 1, FINE, ("CHECK TABLE ... FOR UPGRADE", "SELECT"), (), "")
REFUSAL = Problem("CREATE TABLE", 1178, "The storage engine for the table doesn't support native partitioning")


def program(flavour: str, number: str) -> ServerBinaries:
    return ServerBinaries(f"{flavour}-{number}", flavour, Path("/new/mysqld"), Path("/new"), Path("/new/share"))


def result(*tables: UpgradedTable) -> UpgradeResult:
    return UpgradeResult("MySQL 5.6", "MySQL", "9.7.0", tables, (NotTried("s.crashed", "it is marked crashed", None),), ("A note.",), "here", None)


@pytest.mark.parametrize(
    ("data", "new", "said"),
    [
        (("mysql", 5, 6), program("mysql", "5.5"), "later one wrote"),
        (("mariadb", 11, 8), program("mariadb", "10.11"), "later one wrote"),
        (("mariadb", 10, 5), program("mysql", "9.7"), "no definitions of MariaDB"),
        (("mysql", 8, 0), program("mariadb", "11.8"), "reads no .sdi"),
    ],
)
def test_what_is_no_upgrade_is_refused(data: tuple[str, int, int], new: ServerBinaries, said: str) -> None:
    with pytest.raises(TrialError, match=said):
        expect_upgrade(new, data)


@pytest.mark.parametrize(
    ("data", "new"),
    [
        (("mysql", 5, 6), program("mariadb", "10.11")),
        (("mysql", 5, 6), program("mysql", "5.6")),
        (("mysql", 8, 0), program("mysql", "9.7")),
        (("mariadb", 10, 11), program("mariadb", "11.8")),
    ],
)
def test_what_is_one_is_not(data: tuple[str, int, int], new: ServerBinaries) -> None:
    expect_upgrade(new, data)


def test_which_server_reads_no_frm() -> None:
    programs = program("mysql", "5.6"), program("mysql", "5.7"), program("mysql", "8.0"), program("mariadb", "11.8")
    assert [one.keeps_dictionary for one in programs] == [False, False, True, False]


def test_remedies_are_for_what_it_ended_by() -> None:
    name = quote_table("s", "t")
    check = Problem("CHECK TABLE ... FOR UPGRADE", 0, "Table rebuild required")
    assert "REMOVE PARTITIONING" in remedy_of([REFUSAL], name, BY_DEFINITION)
    assert remedy_of([check], name, BY_FILES, rebuilt=True).startswith("ALTER TABLE `s`.`t` FORCE; after the upgrade")
    assert "5.6.4" in remedy_of([check, Problem("SELECT", 1034, "Incorrect key file")], name, BY_DEFINITION)
    assert "sql_mode" in remedy_of([Problem("INSERT", 1292, "Incorrect date value")], name, BY_FILES)
    told = remedy_of([Problem("CREATE TABLE", 1063, "Incorrect column specifier for column 'f'")], name, BY_DEFINITION)
    assert "alter the table on the present server" in told
    assert "take a dump" not in told
    assert "CHECK TABLE `s`.`t`;" in remedy_of([Problem("SELECT", 1033, "Incorrect information in file")], name, BY_FILES)


@pytest.mark.parametrize("code", [4025, 3819])
def test_a_row_that_breaks_its_own_constraint_is_not_the_upgrades(code: int) -> None:
    told = remedy_of([Problem("INSERT", code, "CONSTRAINT `positive` failed for `s`.`t`")], quote_table("s", "t"), BY_FILES)
    assert "no matter of the upgrade" in told
    assert "Correct such rows" in told
    assert "dump" not in told


@pytest.mark.parametrize(
    "problem",
    [
        Problem("SELECT", 1194, "Table 't' is marked as crashed"),
        Problem("ALTER TABLE ... FORCE", 1034, "Incorrect key file"),
        Problem("CHECK TABLE", 0, "Size of datafile is: 10000 Should be: 80000"),
    ],
)
def test_a_damaged_table_is_repaired_and_not_dumped(problem: Problem) -> None:
    told = remedy_of([problem], quote_table("s", "t"), BY_FILES)
    assert "REPAIR TABLE `s`.`t`;" in told
    assert "dump" not in told
    assert "REPAIR TABLE" not in remedy_of([replace(problem, code=0, words="Table rebuild required")], quote_table("s", "t"), BY_FILES)


def test_the_worst_comes_first_and_hostile_words_stay_words() -> None:
    hostile = replace(TABLE, table_name="a\x1b[31m", verdict=REFUSED, rows=None, steps=(), problems=(REFUSAL, Problem("x", 0, "b\x07[bold]")), remedy="Do this.")
    told = as_text(result(TABLE, replace(TABLE, verdict=MENDED, table_name="m"), hostile))
    assert "MySQL 5.6 to MySQL 9.7.0: 3 tables; 1 is refused, 1 opens after a rebuild, 1 opens." in " ".join(told.split())
    assert told.index("error 1178") < told.index("s.m") < told.index("s.t")
    assert "\x1b" not in told
    assert "\x07" not in told
    assert "[bold]" in told
    assert "s.crashed: it is marked crashed." in told
    assert "CHECK TABLE ... FOR UPGRADE, SELECT; 1 row." in told


def test_what_is_not_tried_is_named_once() -> None:
    told = as_text(replace(result(TABLE), not_tried=(NotTried("s.packed", "s.packed is compressed", 1 << 20), NotTried("s.near", "is it s.nearer?", None))))
    assert "  s.packed is compressed.\n" in told
    assert "  s.near: is it s.nearer?\n" in told


def test_what_shares_a_reason_is_one_line_and_each_is_in_json() -> None:
    limit, packed = "beyond --copy-limit (2 GiB): raise the limit", "is partitioned: a trial copies tables without partitions"
    tables = [NotTried(f"shop.t{number}", limit, 1 << 20) for number in range(2000)]
    tables += [NotTried(f"shop.p{number}", f"shop.p{number} {packed}", None if number else 5 << 20) for number in range(4)]
    tables += [NotTried("shop.alone", "it is marked crashed", None)]
    upgraded = replace(result(TABLE), not_tried=tuple(tables))
    told = " ".join(as_text(upgraded).split())
    assert f"2,000 tables, 2.0 GiB: {limit}. They are shop.t0, shop.t1, shop.t2 and 1,997 more (--format json names all)." in told
    assert f"4 tables, at least 5 MiB: {packed}. They are shop.p0, shop.p1, shop.p2 and 1 more (--format json names all)." in told
    assert "shop.alone: it is marked crashed." in told
    assert "shop.t3" not in told
    assert len(json.loads(as_json(upgraded))["not_tried"]) == 2005


def test_the_limit_that_was_in_the_way_is_named() -> None:
    sizes = {("s", f"t{number:03}"): 1000 for number in range(201)} | {("s", "large"): 5000, ("s", "largest"): 900_000}
    many = _passed_over(sizes, _smallest(sizes, 500_000), 500_000)
    assert set(many) == {("s", "t200"), ("s", "large"), ("s", "largest")}
    assert "beyond the 200 smallest" in many["s", "large"]
    assert many["s", "largest"].startswith("larger than --copy-limit (488 KiB)")
    few = _passed_over(sizes, _smallest(sizes, 150_000), 150_000)
    assert "which smaller tables use up" in few["s", "t199"]
    assert len(few) == 53


def test_a_unique_index_that_is_too_long_there_is_to_be_made_shorter() -> None:
    told = remedy_of([Problem("CREATE TABLE", 1071, "Specified key was too long; max key length is 255 bytes")], quote_table("s", "t"), BY_DEFINITION)
    assert "fewer characters" in told
    assert "dump" not in told


def test_nothing_tried_is_said() -> None:
    assert "0 tables; none was tried." in as_text(result())


def test_a_result_goes_through_the_channel_whole_and_another_is_refused() -> None:
    whole = result(replace(TABLE, problems=(REFUSAL,)))
    assert from_document(json.loads(json.dumps(asdict(whole)))) == whole
    assert json.loads(as_json(whole))["tables"][0]["problems"][0]["code"] == 1178
    for broken in ({}, asdict(result(replace(TABLE, verdict="fine"))), {**asdict(whole), "tables": [3]}):
        with pytest.raises(TrialError, match="the trial's process sent"):
            from_document(broken)
