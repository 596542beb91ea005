"""Statements that find rows by an index: whose names are quoted, and whose rows are those that were asked for."""

from typing import cast

import pytest

from myisam_advisor.trial.bench import Bench, TrialOptions
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.indexes import TableIndex
from myisam_advisor.trial.tables.rows_by_index import Sampled, as_statements, index_of_single_rows
from tests.support.repository import ROOT

BENCH = Bench(TrialOptions(), ROOT, cast(PrivateServer, None))
ROWS = [[b"'1'", b"'a'"], [b"'2'", b"'b'"], [b"'3'", b"'c'"]]
ODD = "o`dd"


def test_an_update_takes_the_value_of_another_row() -> None:
    first, *_, last = Sampled("subject", ["id", ODD], ROWS).updates()
    assert first == b"UPDATE IGNORE subject SET `o``dd` = 'b' WHERE `id` = '1'"
    assert last == b"UPDATE IGNORE subject SET `o``dd` = 'a' WHERE `id` = '3'"


def test_a_delete_names_all_columns() -> None:
    assert Sampled("subject", ["id", ODD], ROWS).deletes()[1] == b"DELETE FROM subject WHERE `id` = '2' AND `o``dd` = 'b'"


def test_both_indexes_are_asked_for_the_same_rows() -> None:
    sampled = Sampled("subject", ["id", ODD], ROWS)
    short, long = ([*sampled.selects(BENCH, "*", TableIndex(1, name, ()), 2, " LIMIT 9")(0, 5)] for name in (ODD, "long"))
    assert short[0].startswith(b"SELECT * FROM subject FORCE INDEX (`o``dd`) WHERE (`id` = '")
    assert short[0].endswith(b") LIMIT 9")
    assert [text.replace(b"`o``dd`)", b"`long`)") for text in short] == long
    assert short[0].count(b" OR ") == 1


def test_no_more_statements_than_asked_for() -> None:
    assert list(as_statements([b"a", b"b", b"c"])(0, 2)) == [b"a", b"b"]


@pytest.mark.parametrize(
    ("index", "found"),
    [
        (TableIndex(2, "u", (("id", ""),), is_unique=True), True),
        (TableIndex(2, "k", (("id", ""),)), False),
        (TableIndex(2, "hidden", (("id", ""),), is_unique=True, is_visible=False), False),
        (TableIndex(2, "f", (("id", ""), ("price", "")), is_unique=True), False),
        (TableIndex(2, "expression", (("", ""),), is_unique=True), False),
    ],
)
def test_single_rows_are_found_by_a_unique_index_of_exact_values(index: TableIndex, found: bool) -> None:
    dropped = TableIndex(1, "twin", (("id", ""),), is_unique=True)
    assert (index_of_single_rows([dropped, index], dropped, {"id": "int", "price": "double"}) == index) == found
