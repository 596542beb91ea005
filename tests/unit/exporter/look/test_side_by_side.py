"""Rows put together in C are those that were put together value by value; and what nobody knows is told without looking row by row."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.facts.columns import ROWS_AT_ONCE, Block, Value
from myisam_exporter.look.fact_set import FactRows, _value_by_value, known_counts
from myisam_exporter.look.side_by_side import side_by_side

NAMES = ("schema_name", "a", "table_name", "b", "c", "d")
KEYS = st.tuples(st.sampled_from("xy"), st.sampled_from("stu"))
VALUES = st.none() | st.integers(0, 3) | st.sampled_from(["", "text"])


@st.composite
def blocks(draw: st.DrawFn) -> list[Block]:
    found = []
    for columns in draw(st.lists(st.lists(st.sampled_from("abcd"), unique=True), min_size=1, max_size=3)):
        names = tuple(draw(st.permutations(("schema_name", "table_name", *columns))))
        rows = [
            tuple(dict(zip(("schema_name", "table_name"), key, strict=True)).get(name) or draw(VALUES) for name in names)
            for key in draw(st.lists(KEYS, max_size=5))
        ]
        found.append(Block("tables", names, rows, extends=draw(st.booleans())))
    return sorted(found, key=lambda block: block.extends)


@given(blocks(), st.sampled_from([("schema_name", "table_name"), ("table_name",), ()]))
def test_both_ways_give_the_same_rows(given_blocks: list[Block], key: tuple[str, ...]) -> None:
    beside = side_by_side(NAMES, key, given_blocks)
    if beside is not None:
        assert beside == list(map(tuple, _value_by_value(NAMES, key, given_blocks)))


def test_what_one_brings_and_others_know_of_it_is_put_together_so() -> None:
    rows = Block("tables", ("table_name", "schema_name", "b"), [("t", "x", 1), ("u", "x", None)])
    more = Block("tables", ("schema_name", "table_name", "a"), [("x", "u", 7), ("x", "gone", 8)], extends=True)
    assert side_by_side(NAMES, ("schema_name", "table_name"), [rows, more]) == [("x", None, "t", 1, None, None), ("x", 7, "u", None, None, None)]
    # A column of two collectors, and a table told twice: which value holds is told value by value.
    assert side_by_side(NAMES, ("schema_name", "table_name"), [rows, Block("tables", (*more.columns, "b"), [], extends=True)]) is None
    assert side_by_side(NAMES, ("schema_name", "table_name"), [Block("tables", rows.columns, [*rows.rows, *rows.rows])]) is None


@given(st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=6), st.integers(0, 2))
def test_a_column_is_known_where_any_row_knows_it(rows: Sequence[tuple[Value, ...]], times: int) -> None:
    many = [(None, None, None)] * (ROWS_AT_ONCE * times) + list(rows)
    told = [sum(row[place] is not None for row in rows) for place in range(3)]
    assert known_counts(many, 3) == told
    facts = FactRows(("a", "b", "c"), many)
    assert [facts.has(name) for name in facts.columns] == [count > 0 for count in told]
