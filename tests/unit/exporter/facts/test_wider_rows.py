"""Rows with columns of which nothing is known behind them: the same rows, none of them made twice."""

from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from myisam_exporter.facts.columns import TABLES, Block, ColumnwiseRows, Value, WiderRows
from myisam_exporter.look.fact_set import merge_table


class Squares(ColumnwiseRows):
    def __len__(self) -> int:
        return 3

    def __iter__(self) -> Iterator[tuple[Value, ...]]:
        return ((number, number * number) for number in range(3))

    def column(self, place: int) -> Iterable[Value]:
        return (row[place] for row in self)

    @overload
    def __getitem__(self, place: int) -> tuple[Value, ...]: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[tuple[Value, ...]]: ...

    def __getitem__(self, place: int | slice) -> tuple[Value, ...] | Sequence[tuple[Value, ...]]:
        return list(self)[place]


def test_what_is_known_stays_and_what_is_not_is_unknown() -> None:
    rows = WiderRows(Squares(), 2, 4)
    assert list(rows) == [(0, 0, None, None), (1, 1, None, None), (2, 4, None, None)]
    assert rows[-1] == (2, 4, None, None)
    assert rows[1:] == [(1, 1, None, None), (2, 4, None, None)]
    assert [list(rows.column(place)) for place in range(4)] == [[0, 1, 2], [0, 1, 4], [None] * 3, [None] * 3]
    assert len(rows) == 3


def test_a_table_of_one_collector_stays_unmade_where_another_one_could_have_added_columns() -> None:
    table = next(table for table in TABLES if table.name == "indexes")
    merged = merge_table(table, [Block("indexes", ("schema_name", "table_name"), Squares())])
    assert isinstance(merged.rows, ColumnwiseRows)
    assert merged.values("rows_read_since_start") == [None] * 3
    assert not merged.has("rows_read_per_second")
    assert merged.has("schema_name")
