"""When the rows of the indexes are those of the scan before."""

import pytest

from myisam_exporter.files.data_directory import DataDirectoryScan
from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.indexes_of_scan import indexes_of
from myisam_exporter.files.myi_header import Header, parse_header
from myisam_exporter.files.table_file import Database, TableFile
from tests.support.myi import header

HEADER = parse_header(header(keys=((1, ((4, 0, 4),)),)))


def table(name: str = "t", partition: str | None = None, database: str = "d", told: Header | None = HEADER) -> TableFile:
    stem = name if partition is None else f"{name}#P#{partition}"
    return TableFile(Database(database, f"/{database}"), NamedFile(stem, name, partition), told, None if told else "damaged", 1.0)


def scan(*files: TableFile) -> DataDirectoryScan:
    return DataDirectoryScan(files, 0, (), 1.0)


@pytest.mark.parametrize("now", [table("u"), table(database="e"), table(partition="p0"), table(told=None)])
def test_a_table_of_another_name_or_definition_has_rows_of_its_own(now: TableFile) -> None:
    before = scan(table("a"), table())
    known = indexes_of(before)
    after = scan(table("a"), now)
    assert indexes_of(after, before) is not known
    assert list(indexes_of(after)) == list(indexes_of(scan(table("a"), now)))


def test_what_was_written_leaves_the_rows_as_they_are() -> None:
    before = scan(table("a"), table())
    known = indexes_of(before)
    assert indexes_of(scan(table("a"), table(told=HEADER._replace(rows=9, update_count=9))), before) is known
    assert indexes_of(scan(table("a"), table()), scan(table("a"), table())) is not known  # nobody asked for those of that one


def test_a_table_more_or_less_has_them_made_anew() -> None:
    before = scan(table("a"), table())
    known = indexes_of(before)
    assert {row[1] for row in indexes_of(scan(table("a")), before)} == {"a"}
    assert {row[1] for row in indexes_of(scan(table("a"), table(), table("u")), before)} == {"a", "t", "u"}
    assert {row[1] for row in known} == {"a", "t"}
