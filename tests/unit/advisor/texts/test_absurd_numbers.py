"""Numbers that no server has, and a file of facts may: none is said by more digits than a person reads, nor without its unit."""

import math

import pytest

from myisam_advisor.texts.templates import (
    OWN_FILTERS,
    UNKNOWN,
    UNREADABLE,
    duration,
    figure,
    fill,
    percent,
    rate,
    size,
    with_unit,
)

NUMBERS = (UNREADABLE, 1e300, 1.7e308, -1e308, 10**30)
UNITS = ("bytes", "ratio", "seconds", "per second", "bytes per second", "seconds per second", "version", "tables", "number", "setting")
FILTERS = [say for name, say in OWN_FILTERS.items() if name not in ("identifier", "text")]


@pytest.mark.parametrize("number", NUMBERS)
def test_no_filter_writes_a_line_of_digits(number: float) -> None:
    said = [*(say(number) for say in FILTERS), *(with_unit(number, unit) for unit in UNITS), figure(number)]
    assert [text for text in said if len(text) > 20 or "inf" in text or UNKNOWN in text] == []


def test_it_keeps_its_unit() -> None:
    assert [duration(1e308), size(1e308), rate(1e300), percent(1e308)] == ["1e+308 s", "1e+308 B", "1e+300/s", "1e+308 times"]
    assert [duration(9e18), size(2**63)] == ["104166666666667 d", "8 EiB"]


@pytest.mark.parametrize(("number", "said"), [(math.inf, UNKNOWN), (1e300, "1e+300"), (12.7, "12"), ("7", "7")])
def test_a_whole_number_in_a_text_has_an_end(number: float | str, said: str) -> None:
    assert fill("{{ number | int }}", {"number": number}) == said


def test_the_whole_number_takes_what_it_takes_in_jinja() -> None:
    """A rule of a site's own may say what stands for no number, and in which base it is written."""
    assert [fill(text, {"number": "0x1f"}) for text in ("{{ number | int('none') }}", "{{ number | int(0, 16) }}")] == ["none", "31"]
