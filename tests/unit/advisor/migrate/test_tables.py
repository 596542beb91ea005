"""Which tables are found by which words, and what is said of those of which a file is gone or was not looked into; by files made up here."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.tables import Found, find_tables
from myisam_advisor.migrate.times import Machine
from myisam_exporter.files.frm_definition import ENGINE_MERGE
from myisam_exporter.files.frm_structure import ENGINE_INNODB
from myisam_exporter.files.table_file import TableFile
from myisam_exporter.outside.clock import Clock
from tests.support.myi import header
from tests.support.repository import ROOT

from .test_migrate import MARIADB

DEFINITION = ROOT / "tests" / "recorded" / "structures" / "mariadb-10.11.frm"
DATA_BYTES = 300  # what the made-up header tells


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("shop/orders", "shop/words", "other/t"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(DEFINITION, tmp_path / f"{name}.frm")
        (tmp_path / f"{name}.MYI").write_bytes(header())
        (tmp_path / f"{name}.MYD").write_bytes(bytes(DATA_BYTES))
    return tmp_path


def names(found: Found) -> list[str]:
    return [".".join(table.name) for table in found.tables]


@pytest.mark.parametrize("asked", [["shop", "shop.nosuch"], ["shop.nosuch", "shop"], ["shop.nosuch", "shop", "shop.orders"]])
def test_a_name_beside_its_database_is_not_swallowed(data: Path, asked: list[str]) -> None:
    found = find_tables(data, None, asked)
    assert names(found) == ["shop.orders", "shop.words"]
    assert [name for name, _ in found.not_found] == ["shop.nosuch"]


def test_a_view_is_told_to_who_names_it_beside_its_database(data: Path) -> None:
    (data / "shop" / "v.frm").write_bytes(b"TYPE=VIEW\nquery=x\n")
    assert find_tables(data, None, ["shop"]).left_out == []
    assert find_tables(data, None, ["shop", "shop.v"]).left_out == [("shop.v", "it is a view")]


def test_names_are_folded_where_the_server_folds_them(data: Path) -> None:
    assert names(find_tables(data, None, ["Shop.Orders", "OTHER"], folds=True)) == ["other.t", "shop.orders"]
    assert [name for name, _ in find_tables(data, None, ["Shop.Orders", "OTHER"]).not_found] == ["Shop.Orders", "OTHER"]
    kept = data / "Kept"
    shutil.move(data / "other", kept)
    assert names(find_tables(data, None, ["kept.T"], folds=True)) == ["Kept.t"]


@pytest.mark.parametrize("ending", [".MYI", ".MYD"])
def test_a_file_that_is_gone_is_no_damage(data: Path, ending: str) -> None:
    (data / "shop" / f"orders{ending}").unlink()
    (found,) = find_tables(data, None, ["shop.orders"]).tables
    assert (found.missing, found.problem, found.contents) == (ending, "", None)
    (told,) = predict([found], "InnoDB", MARIADB, None, Machine())
    assert told.errors[0].code == (1017 if ending == ".MYI" else 29)
    assert told.errors[0].mend == ("REPAIR TABLE `shop`.`orders` USE_FRM;" if ending == ".MYI" else "Restore them from a backup.")
    assert (told.bytes_after, told.lasting) == (None, None)


@pytest.mark.parametrize(("gone", "left", "named"), [
    (["p0"], ["p0"], "orders#P#p0.TMD: rename it so"),
    (["p0", "p1"], ["p0", "p1"], "orders#P#p0.TMD, orders#P#p1.TMD: rename each so"),
    (["p0"], ["p1"], ""),
    (["p0", "p1"], ["p1"], ""),
    (["p0"], ["p0", "p1"], "orders#P#p0.TMD: rename it so"),
    (["p0"], [], ""),
])  # fmt: skip
def test_rows_that_a_rebuild_left_go_to_the_partition_that_lacks_them(data: Path, gone: list[str], left: list[str], named: str) -> None:
    shop = data / "shop"
    for name in ("p0", "p1"):
        (shop / f"orders#P#{name}.MYI").write_bytes(header())
        if name not in gone:
            (shop / f"orders#P#{name}.MYD").write_bytes(bytes(DATA_BYTES))
        if name in left:
            (shop / f"orders#P#{name}.TMD").write_bytes(bytes(DATA_BYTES))
    for ending in (".MYI", ".MYD"):
        (shop / f"orders{ending}").unlink()
    (found,) = find_tables(data, None, ["shop.orders"]).tables
    assert found.missing == ".MYD"
    mend = predict([found], "InnoDB", MARIADB, None, Machine())[0].errors[0].mend
    told = f"A rebuild that ended with the server left them in {named} that it ends in .MYD, then REPAIR TABLE `shop`.`orders`;"
    assert mend == (told if named else "Restore them from a backup.")


@pytest.mark.parametrize(("written", "code"), [(b"nothing", 130), (b"", 130), (header()[:100], 126)])
def test_a_header_that_is_damaged_is(data: Path, monkeypatch: pytest.MonkeyPatch, written: bytes, code: int) -> None:
    (data / "shop" / "orders.MYI").write_bytes(written)
    later = time.time() + 60
    monkeypatch.setattr(Clock, "time", lambda _: later)
    found = find_tables(data, None, ["shop.orders"])
    error = predict(found.tables, "InnoDB", MARIADB, None, Machine())[0].errors[0]
    assert (error.code, error.mend) == (code, "REPAIR TABLE `shop`.`orders` USE_FRM;")


@pytest.mark.parametrize(("seconds_ago", "is_told"), [(60, True), (0, False), (-3600, True)], ids=["before", "now", "before the clock was set back"])
def test_rows_that_end_too_early_are_damage_but_in_the_middle_of_a_change(data: Path, seconds_ago: int, is_told: bool) -> None:
    rows = data / "shop" / "orders.MYD"
    rows.write_bytes(bytes(DATA_BYTES // 3))
    moment = time.time() - seconds_ago
    os.utime(rows, (moment, moment))
    (found,) = find_tables(data, None, ["shop.orders"]).tables
    assert found.problem.startswith("it is damaged: its rows (orders.MYD) are 100 bytes") == is_told


def test_a_header_that_is_being_written_is_no_file_that_is_gone(data: Path) -> None:
    (data / "shop" / "orders.MYI").write_bytes(b"")
    found = find_tables(data, None, ["shop.orders"])
    assert found.tables == []
    assert [why.partition(": ")[2] for _, why in found.left_out] == ["it is being written at this moment; look again"]


def test_what_was_not_looked_into_is_left_out(data: Path) -> None:
    (data / "shop" / "orders.MYI").unlink()
    (data / "shop" / "orders.MYI").mkdir()
    found = find_tables(data, None, ["shop.orders"])
    assert found.tables == []
    ((name, why),) = found.left_out
    assert name == "shop.orders"
    assert why.startswith("its index file (.MYI) was not looked into: ")


def test_what_could_not_be_read_is_left_out(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.pread

    def failing(descriptor: int, length: int, position: int) -> bytes:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == "orders.MYI":
            raise OSError(5, "Input/output error")
        return whole(descriptor, length, position)

    monkeypatch.setattr(os, "pread", failing)
    found = find_tables(data, None, ["shop"])
    assert names(found) == ["shop.words"]
    assert found.left_out == [("shop.orders", "its index file (.MYI) was not looked into: it cannot be read: Input/output error")]


def test_a_database_that_was_not_read_is_told_as_that(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The scan met an error of the disk, and the directory can be read a moment later: nobody is writing these tables."""
    whole = os.open
    failed: list[Any] = []

    def failing(path: Any, *words: Any, **named: Any) -> int:
        if str(path).endswith("/shop") and not failed:
            failed.append(path)
            raise OSError(5, "Input/output error")
        return whole(path, *words, **named)

    monkeypatch.setattr(os, "open", failing)
    found = find_tables(data, None, ["shop"])
    assert found.tables == []
    assert {why for _, why in found.left_out} == {"its index file (.MYI) was not looked into: it cannot be read: Input/output error"}


def test_triggers_beside_a_table_are_seen(data: Path) -> None:
    (data / "shop" / "orders.TRG").write_text("TYPE=TRIGGERS\n")
    assert [table.triggers for table in find_tables(data, None, ["shop"]).tables] == [True, False]


def with_engine(number: int) -> bytes:
    """The definition of a table of another engine."""
    changed = bytearray(DEFINITION.read_bytes())
    changed[3] = number
    return bytes(changed)


def test_a_directory_is_listed_as_often_for_many_tables_as_for_few(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lists, whole = [], os.listdir

    def counted(path: str | int) -> list[str]:
        lists.append(path)
        return whole(path)

    monkeypatch.setattr(os, "listdir", counted)
    counts = []
    for number in (2, 20):
        for place in range(number):
            (data / "shop" / f"other{place}.frm").write_bytes(with_engine(ENGINE_INNODB))
            shutil.copyfile(DEFINITION, data / "shop" / f"gone{place}.frm")
        lists.clear()
        found = find_tables(data, None, ["shop"])
        assert [table.missing for table in found.tables].count(".MYI") == number
        counts.append(len(lists))
    assert counts[0] == counts[1]


def test_files_are_gone_through_once_whatever_the_number_of_databases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[TableFile] = []

    def counted(file: TableFile) -> str:
        asked.append(file)
        return file.database.schema_name

    monkeypatch.setattr(TableFile, "schema_name", property(counted))
    counts = []
    for number in (20, 40):
        for place in range(number):
            (tmp_path / f"d{place}").mkdir(exist_ok=True)
            shutil.copyfile(DEFINITION, tmp_path / f"d{place}" / "t.frm")
            (tmp_path / f"d{place}" / "t.MYI").write_bytes(header())
        asked.clear()
        assert len(find_tables(tmp_path, None, []).tables) == number
        counts.append(len(asked))
    assert counts[1] < 3 * counts[0]


def test_merge_tables_and_their_members_know_each_other(data: Path) -> None:
    for name in ("all", "some"):
        (data / "other" / f"{name}.frm").write_bytes(with_engine(ENGINE_MERGE))
        (data / "other" / f"{name}.MRG").write_text("./shop/orders\n" + "t\n" * (name == "all"))
    found = {table.name: table for table in find_tables(data, None, []).tables}
    assert found["other", "all"].union == (("shop", "orders"), ("other", "t"))
    assert found["shop", "orders"].merged_in == (("other", "all"), ("other", "some"))
    assert found["other", "t"].merged_in == (("other", "all"),)
    assert found["shop", "words"].merged_in == ()


def test_rows_that_end_too_early_are_told_of_but_not_how_long_the_file_of_another_is(data: Path, tmp_path: Path) -> None:
    rows = data / "shop" / "orders.MYD"
    rows.write_bytes(bytes(111))
    os.utime(rows, (1, 1))
    (cut,) = find_tables(data, os.geteuid(), ["shop.orders"]).tables
    assert "are 111 bytes" in cut.problem
    if os.geteuid() != 0:
        pytest.skip("needs root, to give a file away")
    rows.rename(tmp_path / "secret")
    os.chown(tmp_path / "secret", 54321, 54321)
    rows.symlink_to(tmp_path / "secret")
    (linked,) = find_tables(data, os.geteuid(), ["shop.orders"]).tables
    assert (linked.problem, linked.missing) == ("", "")


def test_a_link_that_leads_nowhere_is_a_file_that_is_gone(data: Path, tmp_path: Path) -> None:
    (data / "shop" / "orders.MYD").unlink()
    (data / "shop" / "orders.MYD").symlink_to(tmp_path / "nowhere.MYD")
    (found,) = find_tables(data, os.geteuid(), ["shop.orders"]).tables
    assert found.missing == ".MYD"


def test_an_index_and_rows_elsewhere_are_seen(data: Path, tmp_path: Path) -> None:
    index = data / "shop" / "orders.MYI"
    index.rename(tmp_path / "elsewhere.MYI")
    index.symlink_to(tmp_path / "elsewhere.MYI")
    rows = data / "shop" / "words.MYD"
    rows.rename(tmp_path / "words.MYD")
    rows.symlink_to("../words.MYD")
    found = find_tables(data, os.geteuid(), ["shop"]).tables
    assert [(one.structure.index_elsewhere, one.structure.data_directory) for one in found] == [(True, ""), (False, str(data / "shop" / ".."))]


def test_an_index_without_columns_leaves_its_table_out_alone(data: Path) -> None:
    whole = bytearray(DEFINITION.read_bytes())
    keys = int.from_bytes(whole[6:8], "little")
    whole[keys + 6 + 4] = 0  # behind the counts: flags and bytes of the first index, then its columns
    (data / "shop" / "orders.frm").write_bytes(whole)
    found = find_tables(data, None, ["shop"])
    assert names(found) == ["shop.words"]
    assert found.left_out == [("shop.orders", "its .frm file is damaged: an index would have no columns")]
