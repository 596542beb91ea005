"""What is listed of the answers to recorded SELECTs."""

from myisam_advisor.trial.engines.recorded import MOST_LISTED, told
from myisam_advisor.trial.engines.result import Answers
from myisam_advisor.trial.statements.answers import Compared


def test_what_differs_is_listed_apart_from_what_comes_in_another_order() -> None:
    assert told(Compared(2, ["turned"], ["fewer", "refused"], {"refused": (0, 1214)})) == Answers(5, 2, ("turned",), ("fewer", "refused"))


def test_no_more_are_listed_than_anybody_reads() -> None:
    said = told(Compared(differ=[str(number) for number in range(MOST_LISTED + 5)]))
    assert (said.compared, len(said.differ)) == (MOST_LISTED + 5, MOST_LISTED)
