"""Numbers in three digits; what is not known is a dash."""

import math

import pytest

from myisam_advisor.top.figures import UNKNOWN, each_second, figure, octets, octets_per_second, share


@pytest.mark.parametrize(
    ("value", "said"),
    [(0, "0"), (0.004, "0"), (0.25, "0.25"), (7, "7"), (9.5, "9.50"), (12.34, "12.3"), (999.4, "999"), (999.7, "1.00k"), (1710618, "1.71M"), (2e12, "2T"), (1e30, "1000000000000E")],
)
def test_a_number_has_three_digits_and_a_unit(value: float, said: str) -> None:
    assert figure(value) == said


@pytest.mark.parametrize("said", [figure, share, octets, each_second, octets_per_second])
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_what_is_not_known_is_a_dash_and_never_a_number(said: object, value: float | None) -> None:
    assert callable(said)
    assert said(value) == UNKNOWN


@pytest.mark.parametrize(("value", "said"), [(0, "0 %"), (1, "100 %"), (0.9999, "99.9 %"), (0.033, "3.3 %"), (0.5, "50 %"), (2.4, "240 %")])
def test_a_share_is_all_only_where_nothing_is_missing(value: float, said: str) -> None:
    assert share(value) == said


@pytest.mark.parametrize(("value", "said"), [(0, "0 B"), (640, "640 B"), (1000, "0.98 KiB"), (1 << 20, "1 MiB"), (1_500_000_000, "1.40 GiB")])
def test_bytes_fit_into_eight_letters(value: float, said: str) -> None:
    assert octets(value) == said
    assert len(said) <= 8


def test_rates_say_that_they_are_rates() -> None:
    assert (each_second(1200), octets_per_second(2048)) == ("1.20k/s", "2 KiB/s")
