"""What two scans tell of the writes between them."""

from typing import Any

import pytest

from myisam_exporter.files.file_names import NamedFile
from myisam_exporter.files.myi_header import parse_header
from myisam_exporter.files.table_file import Database, TableFile
from myisam_exporter.files.writes import NOTHING_WRITTEN, Written, statements_between, statements_of, written_between
from tests.support.myi import header

DATABASE, HEADER = Database("d", "/d"), parse_header(header())
BROKEN: dict[str, Any] = {}


def table(partition: str | None = None, name: str = "t", **counts: Any) -> TableFile:
    """A file whose header says this; none at all where nothing is said."""
    stem = name if partition is None else f"{name}#P#{partition}"
    said = HEADER._replace(**counts) if counts else None
    return TableFile(DATABASE, NamedFile(stem, name, partition), said, None if counts else "damaged", 1.0)


def written(before: list[TableFile], after: list[TableFile]) -> Written | None:
    name = ("d", "t")
    return written_between({name: after}, {name: before}).get(name)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ({"update_count": 5, "rows": 3}, {"update_count": 9, "rows": 10}, Written(4, 7)),
        ({"update_count": 5, "rows": 3}, {"update_count": 9, "rows": 1}, Written(4, -2)),
        ({"update_count": 5, "rows": 3}, {"update_count": 9, "rows": 3}, Written(4, 0)),
        ({"update_count": 5, "rows": 3}, {"update_count": 5, "rows": 4}, Written(0, 1)),
        # It is a number of 32 bits.
        ({"update_count": 4294967295, "rows": 3}, {"update_count": 1, "rows": 3}, Written(2, 0)),
        ({"update_count": 0, "rows": 3}, {"update_count": 2147483648, "rows": 3}, Written(2147483648, 0)),
        # It went backwards; another handle wrote.
        ({"update_count": 0, "rows": 3}, {"update_count": 2147483649, "rows": 4}, Written(None, 1)),
        ({"update_count": 9, "rows": 3}, {"update_count": 5, "rows": 3}, Written(None, 0)),
        ({"update_count": 5, "rows": 3, "writer": 1}, {"update_count": 9, "rows": 5, "writer": 2}, Written(None, 2)),
        (BROKEN, {"update_count": 9, "rows": 5}, None),
        ({"update_count": 9, "rows": 5}, BROKEN, None),
        (BROKEN, BROKEN, None),
    ],
)  # fmt: skip
def test_statements_and_rows_of_one_file(before: dict[str, Any], after: dict[str, Any], told: Written | None) -> None:
    assert written([table(**before)], [table(**after)]) == told


@pytest.mark.parametrize("after", [{"update_count": 5}, {"update_count": 5, "open_count": 3}])
def test_a_table_to_which_nothing_was_written_shares_one_answer(after: dict[str, Any]) -> None:
    assert written([table(update_count=5)], [table(**after)]) is NOTHING_WRITTEN


def test_partitions_are_one_table() -> None:
    before = [table("a", update_count=5, rows=3), table("b", update_count=7, rows=3), table("c", update_count=1, rows=3)]
    assert written(before, [table("a", update_count=6, rows=4), table("b", update_count=9, rows=8), before[2]]) == Written(3, 6)
    hidden = [table("a", update_count=4, rows=4), table("b", update_count=9, rows=8), before[2]]
    assert written(before, hidden) == Written(None, 6)
    assert written(before, [*before, table("new", update_count=1, rows=1)]) is None


def test_a_table_that_was_not_there_or_whose_header_was_not_is_left_out() -> None:
    now = {("d", "t"): [table(update_count=5)]}
    assert written_between(now, {}) == {}
    assert written_between(now, {("d", "t"): [table()]}) == {}
    assert statements_between([table()], [table(update_count=5)]) == {}


def test_statements_are_told_of_tables_that_have_any() -> None:
    before = [table(name=name, update_count=5, rows=3) for name in ("same", "written", "rows", "hidden")]
    after = [
        before[0], table(name="written", update_count=8, rows=3), table(name="rows", update_count=5, rows=9), table(name="hidden", update_count=2, rows=3),
        table(name="new", update_count=8, rows=3),
    ]  # fmt: skip
    assert statements_between(before, after) == {("d", "written"): 3}
    assert statements_of({("d", "a"): Written(2, 0), ("d", "b"): Written(None, 5), ("d", "c"): Written(0, 5)}) == {("d", "a"): 2}
