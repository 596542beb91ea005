"""Shares as percentages: what is left is not rounded away, and what is there is not written as a power of ten."""

import pytest

from myisam_advisor.texts.templates import percent


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0, "0 %"),
        (6.2e-7, "less than 0.01 %"),
        (0.0001, "0.01 %"),
        (0.0314, "3.1 %"),
        (0.1, "10 %"),
        (0.994, "99 %"),
        # 2,140,000,000 of 2,147,483,647 numbers: seven millions are left.
        (2140000000 / 2147483647, "99.6 %"),
        (0.99999, "99.9 %"),
        (1, "100 %"),
        (1.2, "120 %"),
    ],
)
def test_a_share_is_said_as_what_it_is(share: float, words: str) -> None:
    assert percent(share) == words
