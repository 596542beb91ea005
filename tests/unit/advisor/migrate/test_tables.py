"""Which tables are found by which words, and what is said of those of which a file is gone or was not looked into; by files made up here."""

import os
import shutil
import time
from pathlib import Path

import pytest

from myisam_advisor.migrate.prediction import predict
from myisam_advisor.migrate.tables import Found, find_tables
from myisam_advisor.migrate.times import Machine
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


@pytest.mark.parametrize(("written", "code"), [(b"nothing", 130), (b"", 130), (header()[:100], 126)])
def test_a_header_that_is_damaged_is(data: Path, monkeypatch: pytest.MonkeyPatch, written: bytes, code: int) -> None:
    (data / "shop" / "orders.MYI").write_bytes(written)
    later = time.time() + 60
    monkeypatch.setattr(Clock, "time", lambda _: later)
    found = find_tables(data, None, ["shop.orders"])
    error = predict(found.tables, "InnoDB", MARIADB, None, Machine())[0].errors[0]
    assert (error.code, error.mend) == (code, "REPAIR TABLE `shop`.`orders` USE_FRM;")


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
    assert found.left_out == [("shop.orders", "its index file (.MYI) was not looked into: it cannot be read (Input/output error)")]


def test_triggers_beside_a_table_are_seen(data: Path) -> None:
    (data / "shop" / "orders.TRG").write_text("TYPE=TRIGGERS\n")
    assert [table.triggers for table in find_tables(data, None, ["shop"]).tables] == [True, False]
