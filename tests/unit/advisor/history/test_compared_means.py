"""What is told of a measure beside its verdict: both means, and of which samples they are."""

from collections.abc import Sequence

import pytest

from myisam_advisor.catalogue.rules import Measure
from myisam_advisor.history.reader import Curve
from myisam_advisor.history.verification import Window, compare_measure

from .test_verification import compared


@pytest.mark.parametrize(("before", "after", "means"), [([1.0, 3.0], [5.0], (2, 5)), ([], [5.0], (None, 5)), ([1.0], [], (1, None)), ([1.0] * 12, [2.0] * 12, (1, 2))])
def test_both_means_are_told_where_there_are_samples(before: Sequence[float], after: Sequence[float], means: tuple[float | None, float | None]) -> None:
    found = compared(before, after)
    assert (found.before, found.after) == means


def test_of_a_share_only_the_samples_count_whose_load_is_known() -> None:
    points = tuple((float(moment), 6.0) for moment in range(4))
    found = compare_measure(Measure("x", "lower", per="y"), Curve("here", "x", points), {0.0: 2.0, 1.0: None, 2.0: 0.0, 3.0: 3.0}, Window(0, 2, 2, 4))
    assert (found.name, found.before, found.after, found.samples) == ("x / y", 3.0, 2.0, (1, 1))
