"""Which SELECTs of a workload are asked on each engine, and how answers are held against each other."""

from myisam_advisor.trial.engines.answers import MOST_LISTED, Compared, selects
from myisam_advisor.trial.engines.result import Answers
from myisam_advisor.trial.statements.schedule import LARGE_ROWS
from myisam_advisor.trial.statements.survey import Judging
from tests.support.workloads import event

COPIED = {("shop", "words")}


def test_one_select_of_each_kind_on_copied_tables_is_asked() -> None:
    first = event(1, 0, b"SELECT name FROM words WHERE id = 1", 1)
    asked = [
        first,
        event(1, 1, b"SELECT name FROM words WHERE id = 2", 1),  # the same kind
        event(1, 2, b"UPDATE words SET name = 'x' WHERE id = 2", 0),
        event(1, 3, b"SELECT * FROM words", LARGE_ROWS + 1),
        event(1, 4, b"SELECT id FROM other", 1),
        event(1, 5, b"SELECT w.id FROM words w JOIN other o USING (id)", 1),
        event(1, 6, b"SELECT 1", 1),
        event(1, 7, b"SELECT id FROM words", None),  # the recording tells no rows: it may be any number
    ]
    assert selects(asked, Judging(), COPIED) == [first]


def test_the_same_rows_in_another_order_are_told_apart_from_other_rows() -> None:
    compared = Compared()
    compared.add("equal", ("(1,)", "(2,)"), ("(1,)", "(2,)"))
    compared.add("turned", ("(1,)", "(2,)"), ("(2,)", "(1,)"))
    compared.add("fewer", ("(1,)", "(2,)"), ("(1,)",))
    compared.add("refused", ("(1,)",), ("error 1214",))
    assert compared.told() == Answers(4, 1, ("turned",), ("fewer", "refused"))


def test_no_more_are_listed_than_anybody_reads() -> None:
    compared = Compared()
    for number in range(MOST_LISTED + 5):
        compared.add(str(number), ("1",), ("2",))
    told = compared.told()
    assert (told.compared, len(told.differ)) == (MOST_LISTED + 5, MOST_LISTED)
