"""Packed rows are what a list of the same rows would be, whatever is in them and whichever are others later."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from myisam_exporter.facts import packed_rows
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.packed_rows import PackedRows

VALUES: list[st.SearchStrategy[Value]] = [
    st.none(),
    st.just(0.0),
    st.integers(0, 2),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=2),
    st.sampled_from([1, 1.0, True, 0, -0.0, None, "1", False, 0.0]),
    st.one_of(st.none(), st.floats(0, 1)),
    st.one_of(st.none(), st.integers(0, 2**40)),
]
COLUMNS = st.lists(st.sampled_from(VALUES), min_size=1, max_size=4)


def exact(rows: list[tuple[Value, ...]]) -> list[tuple[str, ...]]:
    """With types and signs: 1 is not 1.0 here, nor 0.0 -0.0."""
    return [tuple(f"{type(value).__name__} {value!r}" for value in row) for row in rows]


@settings(max_examples=200)
@given(st.data())
def test_they_are_what_went_in(data: st.DataObject) -> None:
    columns = data.draw(COLUMNS)
    rows = data.draw(st.lists(st.tuples(*columns), max_size=40))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packed_rows, "SLICE_ROWS", data.draw(st.integers(1, 9)))
        patch.setattr(packed_rows, "FEWEST_BESIDE", data.draw(st.integers(0, 4)))
        patch.setattr(packed_rows, "FEW_OF_SLICE", data.draw(st.integers(1, 9)))
        patch.setattr(packed_rows, "_FEW", data.draw(st.integers(1, 9)))
        packed = PackedRows(iter(rows), len(columns))
        for _ in range(3):
            assert exact(list(packed)) == exact(rows)
            assert exact([packed[place] for place in range(len(packed))]) == exact(rows)
            assert exact(list(packed[1:5])) == exact(rows[1:5])
            for place in range(len(columns)):
                assert exact([tuple(packed.column(place))]) == exact([tuple(row[place] for row in rows)])
            known = [sum(row[place] is not None for row in rows) for place in range(len(columns))]
            assert packed.known_counts() == known
            assert [packed.knows(place) for place in range(len(columns))] == [count > 0 for count in known]
            some = data.draw(st.lists(st.integers(0, len(columns) - 1), min_size=1, max_size=5))
            assert exact(list(packed.rows_of(some))) == exact([tuple(row[place] for place in some) for row in rows])
            places = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=12)) if rows else []
            assert exact(packed.rows_at(places)) == exact([rows[place] for place in places])
            if not rows:
                break
            former, kept = packed, list(rows)
            others = data.draw(st.dictionaries(st.integers(0, len(rows) - 1), st.tuples(*columns), max_size=5))
            rows = [others.get(place, row) for place, row in enumerate(rows)]
            packed = packed.with_rows({place: list(row) for place, row in others.items()})
            assert exact(list(former)) == exact(kept)


def test_places_are_those_of_a_list() -> None:
    packed = PackedRows([(1,), (2,), (3,)], 1)
    assert (packed[-1], len(packed)) == ((3,), 3)
    with pytest.raises(IndexError):
        packed[3]
    assert packed == [[1], [2], [3]]
    assert packed != [[1], [2]]
    assert packed != 7
    assert math.isnan(float(str(PackedRows([(math.nan,)], 1)[0][0])))
