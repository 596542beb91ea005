"""Tables from the files that four real servers made: what the recorder wrote into them is what is read."""

import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import COLLECTOR, HIDDEN_STATEMENTS
from myisam_exporter.collectors.status import STATUS, Status
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.files.data_directory import DataDirectoryScan, scan_data_directory
from tests.support.recorded import RecordedLook
from tools.record_machine import FOLDER

# As tools/record_machine.py makes them: rows, format, deleted rows.
TABLES = {
    ("shop", "counters"): (3, "fixed", 0),
    ("shop", "items"): (70, "dynamic", 0),
    ("shop", "posts"): (72, "dynamic", 8),
    ("archive", "broken"): (60, "fixed", 0),
    ("archive", "old_log"): (200, "compressed", 0),
    ("odd names", "a b"): (2, "fixed", 0),
    ("odd names", "100%/ünï.中"): (3, "fixed", 0),
}
# myisampack.c, MEMMAP_EXTRA_MARGIN: bytes behind a compressed table's data, which are none of it.
PACK_MARGIN_BYTES = 7
FOLDERS = {path.name: path for path in sorted((FOLDER / "tables").iterdir())} | {path.name: path / "first" / "data" for path in sorted(FOLDER.glob("m*-*"))}


def scan_of(name: str) -> DataDirectoryScan:
    folder: Path = FOLDERS[name]
    return scan_data_directory(folder, folder.stat().st_uid)


def tables_of(scan: DataDirectoryScan) -> dict[tuple[str, str], dict[str, Any]]:
    rows: list[dict[str, Any]] = [dict(zip(block.columns, row, strict=True)) for block in COLLECTOR.facts(Pair(scan)) if block.table == "tables" for row in block.rows]
    return {(str(row["schema_name"]), str(row["table_name"])): row for row in rows}


def test_the_files_are_of_four_servers() -> None:
    assert sorted(FOLDERS) == ["mariadb-10.11", "mariadb-11.8", "mysql-5.6", "mysql-9.7"]


@pytest.mark.parametrize("server", FOLDERS)
def test_each_servers_tables_are_read_as_they_were_made(server: str) -> None:
    tables = tables_of(scan_of(server))
    found = {name: (row["rows"], row["row_format"], row["deleted_rows"]) for name, row in tables.items() if name in TABLES}
    assert found == TABLES
    assert {name for name, row in tables.items() if row["crashed"]} == {("archive", "broken")}
    assert tables["shop", "posts"]["has_holes"] == 1
    assert tables["shop", "posts"]["blob_columns"] == 1
    assert tables["shop", "posts"]["fixed_row_bytes"] is None
    assert tables["shop", "orders"]["data_bytes"] == tables["shop", "orders"]["rows"] * tables["shop", "orders"]["fixed_row_bytes"]
    parted = tables.get(("archive", "parted"))
    assert (parted is None) == (server == "mysql-9.7")
    if parted is not None:
        assert (parted["partitions"], parted["rows"], parted["data_bytes"], parted["crashed_partitions"]) == (3, 7, 49, None)


@pytest.mark.parametrize("server", FOLDERS)
def test_packed_keys_are_told_by_index(server: str) -> None:
    scan = scan_of(server)
    rows = [dict(zip(block.columns, row, strict=True)) for block in COLLECTOR.facts(Pair(scan)) if block.table == "indexes" for row in block.rows]
    packed = {(row["table_name"], row["index_number"]) for row in rows if row["is_packed"]}
    assert {("items", 1), ("items", 2)} <= packed
    assert not any(table in ("orders", "counters", "broken") for table, _ in packed)
    assert [row["algorithm"] for row in rows if row["table_name"] == "posts"] == ["btree", "btree", "fulltext"]


def test_totals_are_sums_over_the_tables(look: RecordedLook) -> None:
    (totals,) = look.rows("myi", "totals")
    tables = look.rows("myi", "tables")
    assert totals["myisam_tables"] == len(tables)
    assert totals["myisam_rows"] == sum(row["rows"] for row in tables)
    assert totals["myisam_data_bytes"] == sum(path.stat().st_size for path in look.machine.data.rglob("*.MYD")) - PACK_MARGIN_BYTES
    assert totals["myisam_index_bytes"] == sum(path.stat().st_size for path in look.machine.data.rglob("*.MYI"))
    assert (totals["compressed_tables"], totals["crashed_tables"]) == (1, 1)
    assert totals["other_engine_data_bytes"] == sum(look.machine.moment["other_engines"].values())


def test_writes_are_rates_and_rows_a_statement(look: RecordedLook) -> None:
    tables = {row["table_name"]: row for row in look.rows("myi", "tables")}
    begun = [look.number_told("SHOW GLOBAL STATUS", "Com_insert", part) for part in (0, 1)]
    # The files were copied a moment after the status was asked for.
    assert tables["orders"]["write_statements_per_second"] * look.seconds == pytest.approx(begun[1] - begun[0], abs=3)
    assert tables["orders"]["rows_per_write_statement"] == 2.0
    assert tables["counters"]["rows_added_per_second"] == 0.0
    assert tables["counters"]["write_statements_per_second"] > 0
    assert tables["posts"]["write_statements_per_second"] == 0.0
    assert COLLECTOR.unknown_over_interval()["tables.rows_per_write_statement"] is HIDDEN_STATEMENTS


def test_without_the_data_directory_there_is_no_scan(look: RecordedLook) -> None:
    gone = Unknown("no server")
    assert look.collected("myi", server=gone) is gone


def test_what_was_written_since_the_start_does_not_depend_on_how_long_the_look_takes(tmp_path: Path) -> None:
    """Between the server's uptime and a scan of many tables, or with performance_schema asked between the two, some seconds pass."""
    shutil.copytree(FOLDERS["mariadb-10.11"] / "shop", tmp_path / "shop")
    began = time.time()
    for name, seconds_ago in (("items", 305), ("posts", 312)):
        os.utime(tmp_path / "shop" / f"{name}.MYD", times=(began - seconds_ago,) * 2)
    scan = scan_data_directory(tmp_path, tmp_path.stat().st_uid)
    # It started 310 s ago.
    pair = Pair(scan, others={STATUS.name: Status({"Uptime": 300}, asked_at=began - 10)})
    assert (written_since_start(pair, "items"), written_since_start(pair, "posts")) == (1, 0)


def test_one_start_is_the_same_moment_in_all_looks_also_when_a_table_comes(tmp_path: Path) -> None:
    shutil.copytree(FOLDERS["mariadb-10.11"] / "shop", tmp_path / "shop")
    began = time.time() - 300
    os.utime(tmp_path / "shop" / "items.MYD", times=(began - 0.5,) * 2)
    first = scan_data_directory(tmp_path, tmp_path.stat().st_uid)
    before = Pair(first, others={STATUS.name: Status({"Uptime": 300}, asked_at=began + 300)})
    assert written_since_start(before, "items") == 1
    for file in (tmp_path / "shop").glob("posts.*"):
        shutil.copyfile(file, file.with_name(file.name.replace("posts", "further")))
    # An uptime of 310 s is told for a whole second.
    after = Pair(scan_data_directory(tmp_path, tmp_path.stat().st_uid), first, 10.0, {STATUS.name: Status({"Uptime": 310}, asked_at=began + 310.9)})
    assert (written_since_start(after, "items"), written_since_start(after, "further")) == (1, 1)
    restarted = Pair(scan_data_directory(tmp_path, tmp_path.stat().st_uid), after.after, 10.0, {STATUS.name: Status({"Uptime": 2}, asked_at=began + 320)})
    assert written_since_start(restarted, "items") == 0


def written_since_start(pair: Pair[DataDirectoryScan], table: str) -> object:
    rows = [dict(zip(block.columns, row, strict=True)) for block in COLLECTOR.facts(pair) if block.table == "tables" for row in block.rows]
    return next(row["written_since_start"] for row in rows if row["table_name"] == table)
