"""Which index a trial drops, and which takes its place."""

import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.tables.indexes import TableIndex, chosen_index, index_in_place_of

ID, TWIN, K, K_C = (("id", ""),), (("id", ""),), (("k", ""),), (("k", ""), ("c", "10"))
INDEXES = [
    TableIndex(1, "PRIMARY", ID, is_unique=True),
    TableIndex(2, "twin", TWIN, is_unique=True, is_replaceable=True),
    TableIndex(3, "only", (("c", ""),), is_unique=True),
    TableIndex(4, "k", K, is_replaceable=True),
    TableIndex(5, "k_c", K_C),
    TableIndex(6, "a`b", (("", ""),)),
    TableIndex(7, "words", (("c", ""),), kind="FULLTEXT"),
    TableIndex(8, "4", (("d", ""),)),
    TableIndex(10, "counter", (("n", ""),), counts=True),
    TableIndex(9, "long_texts", (("t", ""),), kind="HASH", is_unique=True),  # MariaDB's, of BLOB columns
]


@pytest.mark.parametrize(
    ("wanted", "number"), [("", 2), ("k", 4), ("K_C", 5), ("5", 5), ("4", 8), ("a`b", 6), ("twin", 2)]
)  # fmt: skip
def test_the_index_is_found_by_name_and_number(wanted: str, number: int) -> None:
    assert chosen_index(INDEXES, wanted, "shop.orders").number == number


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("PRIMARY", r"index 1 PRIMARY \(id\) is the primary key: it forbids duplicates, and is not dropped"),
        ("1", "is the primary key"),
        ("only", r"index 3 only \(c\) forbids duplicates: no other index does that for these columns"),
        ("words", "index 7 words .* is a FULLTEXT index: no other one can stand for it"),
        ("long_texts", "forbids duplicates"),
        ("counter", r"index 10 counter \(n\) is what AUTO_INCREMENT counts by: no other index begins with that column"),
        ("k-c", r"has no index `k-c`\. Did you mean k_c\? Its indexes: 1 PRIMARY \(id\), 2 twin \(id\)"),
        ("0", r"has no index `?0`?\. .*5 k_c \(k, c\(10\)\), 6 `a``b` \(an expression\)"),
        ("99", r"has no index"),
        ("-1", r"has no index"),
        ("x\n`; DROP", r"has no index `x\n``; DROP`"),
    ],
)
def test_what_is_not_dropped_is_said_with_what_there_is(wanted: str, message: str) -> None:
    with pytest.raises(TrialError, match=message):
        chosen_index(INDEXES, wanted, "shop.orders")


@pytest.mark.parametrize("indexes", [[], [INDEXES[0], INDEXES[4]]])
def test_without_a_superfluous_index_one_must_be_named(indexes: list[TableIndex]) -> None:
    with pytest.raises(TrialError, match=r"shop.orders has no index that another one can replace: name the one to drop \(--index\)\. Its indexes: (none|1 PRIMARY)"):
        chosen_index(indexes, "", "shop.orders")


def test_no_more_names_are_listed_than_can_be_read() -> None:
    many = [TableIndex(number, f"i{number}", (("c", ""),)) for number in range(1, 61)]
    with pytest.raises(TrialError, match=r"40 i40 \(c\), and 20 more\."):
        chosen_index(many, "nothing", "t")


def test_the_primary_key_stays_though_a_unique_index_is_its_twin() -> None:
    with pytest.raises(TrialError, match="is the primary key"):
        chosen_index(INDEXES, "primary", "t")


@pytest.mark.parametrize(("number", "expected"), [(1, "twin"), (4, "k_c"), (5, None), (8, None), (3, None)])
def test_the_index_in_its_place_begins_with_its_columns(number: int, expected: str | None) -> None:
    found = index_in_place_of(INDEXES, INDEXES[number - 1])
    assert (found.name if found else None) == expected


def test_the_shortest_that_statements_may_use_takes_its_place() -> None:
    short, hidden, long = TableIndex(1, "a", K), TableIndex(2, "b", (*K, ("x", "")), is_visible=False), TableIndex(3, "c", K_C)
    longer = TableIndex(4, "d", (*K_C, ("x", "")))
    assert index_in_place_of([short, hidden, longer, long], short) == long
