"""Shares as percentages: what is left is not rounded away, and what is there is not written as a power of ten."""

import re

import pytest

from myisam_advisor.texts.templates import percent
from tests.support.repository import ROOT


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


def test_no_share_is_written_otherwise() -> None:
    """Python's own format gives 100% for 99.96 %."""
    written = [path.name for package in ("advisor", "exporter") for path in (ROOT / package).rglob("*.py") if re.search(r":\.\d%[}]", path.read_text("utf-8"))]
    assert written == []
