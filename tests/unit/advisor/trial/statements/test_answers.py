"""Which SELECTs of a workload are asked on several servers, and how answers are held against each other."""

from myisam_advisor.trial.statements.answers import Compared, selects
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
        event(1, 7, b"SELECT id FROM words", None),  # the recording has no row counts: it may be any number
    ]
    assert selects(asked, Judging(), COPIED) == [first]


def test_the_same_rows_in_another_order_are_told_apart_from_other_rows() -> None:
    compared = Compared()
    compared.add("equal", ("(1,)", "(2,)"), ("(1,)", "(2,)"))
    compared.add("turned", ("(1,)", "(2,)"), ("(2,)", "(1,)"))
    compared.add("fewer", ("(1,)", "(2,)"), ("(1,)",))
    compared.add("as many of others", ("(1,)", "(1,)", "(2,)"), ("(1,)", "(2,)", "(2,)"))
    compared.add("refused", ("(1,)",), 1214)
    compared.add("taken", 1064, ("(1,)",))
    compared.add("refused by both", 1064, 1064)
    assert (compared.total, compared.equal, compared.other_order) == (7, 2, ["turned"])
    assert compared.differ == ["fewer", "as many of others", "refused", "taken"]
    assert compared.failed == {"refused": (0, 1214), "taken": (1064, 0)}
