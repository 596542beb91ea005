"""Rows are filled by column name, whatever the order; a name that is no column shows at once."""

import pytest

from myisam_exporter.collectors.base import Pair, all_collectors, declared_columns
from myisam_exporter.collectors.myi import COLLECTOR, TABLE_COLUMNS
from myisam_exporter.facts.columns import ColumnwiseRows, RowMaker, by_column, column_names
from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.index_rows import COLUMNS
from myisam_exporter.files.myi_definition import Definition, Key
from myisam_exporter.files.myi_header import Header
from myisam_exporter.files.table_file import Database, TableFile

KEY = Key(bytes([1]) + (1).to_bytes(2, "big") + (1024).to_bytes(2, "big") + (12).to_bytes(2, "big") + bytes([3, 0, 0, 0, 4]))
HEADER = Header("dynamic", 0, False, False, 100, 7, 150, True, 4096, 10_000, 50, 0, 3, 40, 1, True, True, Definition(1 << 48, 1 << 40, 60, 3, 0, True, None, 0, (), (KEY,)))


def test_values_stand_in_the_order_of_the_columns_and_what_is_not_named_is_unknown() -> None:
    maker = RowMaker(("a", "b", "c"))
    assert maker.row({"c": 3, "a": 1, "b": 2}) == (1, 2, 3)
    block = maker.block("tables", [{"c": 3, "b": 2, "a": 1}, {"b": 2}], extends=True)
    assert (block.table, block.columns, block.rows, block.extends) == ("tables", ("a", "b", "c"), [(1, 2, 3), (None, 2, None)], True)


def test_a_table_of_one_column_has_rows_of_one_value() -> None:
    assert RowMaker(("a",)).block("server", [{"a": 1}, {}]).rows == [(1,), (None,)]


def test_columns_of_one_length_make_rows_and_others_are_refused() -> None:
    block = by_column("tables", {"b": iter([1, 2]), "a": ["x", None]})
    assert (block.columns, block.rows, block.extends) == (("b", "a"), [(1, "x"), (2, None)], False)
    with pytest.raises(ValueError, match=r"shorter|longer"):
        by_column("tables", {"a": [1], "b": [1, 2]})


@pytest.mark.parametrize("values", [{"a": 1, "z": 2}, {"z": 1}, {"a": 1, "b": 2, "z": 3}])
def test_a_name_that_is_no_column_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(KeyError):
        RowMaker(("a", "b")).block("tables", [values])


def rows(table: str, *files: TableFile) -> list[dict[str, object]]:
    block = next(block for block in COLLECTOR.facts(Pair(DataDirectoryScan(files, 0, (), 60.0))) if block.table == table)
    return [dict(zip(block.columns, row, strict=True)) for row in block.rows]


def file(header: Header | None, partition: str | None = None, problem: str | None = None) -> TableFile:
    return TableFile(Database("shop", "/data/shop"), NamedFile("orders", "orders", partition), header, problem, 50.0)


def test_each_value_of_a_header_stands_under_its_name() -> None:
    (row,) = rows("tables", file(HEADER))
    known = {name: value for name, value in row.items() if value is not None}
    assert known == {
        "schema_name": "shop", "table_name": "orders", "row_format": "dynamic", "rows": 100, "deleted_rows": 7, "data_bytes": 10_000, "index_bytes": 4096,
        "free_bytes": 50, "max_data_bytes": 1 << 48, "max_index_bytes": 1 << 40, "has_holes": 1, "fragments_per_row": 1.43, "crashed": 0, "recovery_failed": 0,
        "data_modified_seconds_ago": 10.0, "fixed_row_bytes": 60, "blob_columns": 0, "auto_increment_within_index": 1,
        "delay_key_write": 1, "not_analyzed": 1, "open_count": 0,
    }  # fmt: skip


def test_a_table_without_a_header_is_crashed_and_says_why() -> None:
    (row,) = rows("tables", file(None, "p0", "cut short"), file(None, "p1", "cut short"))
    known = {name: value for name, value in row.items() if value is not None}
    assert known == {
        "schema_name": "shop", "table_name": "orders", "crashed": 1, "header_problem": "cut short", "partitions": 2, "crashed_partitions": "p0, p1",
        "data_modified_seconds_ago": 10.0,
    }  # fmt: skip


def test_the_fullest_partition_is_told_beside_the_sums() -> None:
    (row,) = rows("tables", file(HEADER, "p0"), file(HEADER._replace(data_bytes=1 << 47), "p1"))
    assert (row["partitions"], row["fullest_partition"], row["fullest_partition_used_ratio"], row["rows"]) == (2, "p1", 0.5, 200)


def test_an_index_is_described_under_the_names_that_are_declared() -> None:
    declared = column_names(declared_columns()["indexes"])
    # Others' columns stand behind: rows are made wider without being made.
    assert declared[: len(COLUMNS)] == COLUMNS
    assert declared[len(COLUMNS) :] == ("rows_read_per_second", "rows_read_since_start", "reads_counted_seconds", "reads_counted_ratio")
    (row,) = rows("indexes", file(HEADER))
    assert (row["index_number"], row["algorithm"], row["is_unique"], row["page_bytes"], row["maximum_key_bytes"], row["key_parts"], row["is_enabled"]) == (1, "btree", 1, 1024, 12, 1, 1)
    block = next(block for block in COLLECTOR.facts(Pair(DataDirectoryScan((file(HEADER),), 0, (), 60.0))) if block.table == "indexes")
    assert isinstance(block.rows, ColumnwiseRows)
    for place, name in enumerate(COLUMNS):
        assert list(block.rows.column(place)) == [row[name]]


def test_every_column_of_a_table_is_filled_from_files_but_those_that_files_cannot_tell() -> None:
    declared = {name for collector in all_collectors() if collector.name == "myi" for name in column_names(collector.sections["tables"])}
    assert declared - set(TABLE_COLUMNS) == {"pack_keys_option", "key_cache", "unpacked_keys_speed_ratio"}
