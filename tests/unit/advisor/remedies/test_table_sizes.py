"""What `check` and `plan` say of a table's size in InnoDB, held against what servers made of such tables."""

import pytest

from myisam_advisor.remedies.table_sizes import grown_bytes, grown_index_bytes, innodb_size

Row = dict[str, int | str | None]


def index(number: int, longest: int | None, *, unique: bool = False, algorithm: str = "btree") -> Row:
    return {"index_number": number, "algorithm": algorithm, "is_unique": int(unique), "maximum_key_bytes": longest}


COUNTER: Row = {"data_bytes": 11_577_328, "index_bytes": 351_232, "free_bytes": 0, "rows": 34_049, "row_format": "dynamic"}
TWO: Row = {"data_bytes": 6_891_010, "index_bytes": 17_485_824, "free_bytes": 0, "rows": 689_101, "row_format": "fixed"}


@pytest.mark.parametrize(
    ("row", "indexes", "sorts", "became"),
    [
        (COUNTER, [index(1, 12, unique=True)], True, 15_728_640), (COUNTER, [index(1, 12, unique=True)], False, 20_971_520),
        (TWO, [index(1, 16, unique=True), index(2, 12)], True, 37_748_736),
    ],
)  # fmt: skip
def test_what_is_said_is_what_became_of_it(row: Row, indexes: list[Row], sorts: bool, became: int) -> None:
    assert innodb_size(row, indexes, sorts_copies=sorts) == pytest.approx(became, rel=0.1)


def test_what_is_not_known_and_what_is_empty() -> None:
    assert innodb_size(COUNTER | {"rows": None}) is None
    assert innodb_size(COUNTER | {"rows": 0}) == 114_688


def test_holes_are_not_copied_and_every_index_counts() -> None:
    assert (innodb_size(COUNTER | {"free_bytes": 6_000_000}) or 0) < (innodb_size(COUNTER) or 0)
    one, two = (innodb_size(TWO, [index(1, 16, unique=True), index(2, 12)][:count]) or 0 for count in (1, 2))
    assert one < two


def test_an_unpacked_index_grows_to_two_thirds_of_full_pages_of_its_longest_entries() -> None:
    """MySQL manual, "Estimating Query Performance" and "MyISAM key space": rows x (key length + 4) / 0.67."""
    assert grown_bytes(1000, index(1, 63)) == pytest.approx(100_000)
    assert grown_bytes(None, index(1, 63)) is None
    assert grown_bytes(1000, index(1, None)) is None


def test_all_indexes_grow_to_their_sum_which_is_known_where_each_is() -> None:
    assert grown_index_bytes(1000, [index(1, 63), index(2, 130)]) == 300_000
    assert grown_index_bytes(1000, [index(1, 63), index(2, None)]) is None
    assert grown_index_bytes(1000, []) is None
