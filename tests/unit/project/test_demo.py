"""What the demonstration shows, in how many lines."""

import io

import pytest

from demo.showing import Round, comparison_shown, rounds_overlap


def shown(before: float, after: float, encoding: str = "utf-8") -> list[str]:
    reader = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    return comparison_shown([Round(before, 2000), Round(before, 4000)], [Round(after, 500), Round(after, 500)], reader).splitlines()


def test_two_bars_are_as_long_as_the_rates() -> None:
    assert shown(50_000, 100_000) == [
        f" as it was        {'█' * 16:32}    50,000 rows/s",
        f" with the advice  {'█' * 32}   100,000 rows/s  2.00 times",
        " Voluntary context switches: 3,000 a second, then 500. Machines differ: read the ratio.",
    ]
    worse = shown(100_000, 25_000)
    assert [line.count("█") for line in worse] == [32, 8, 0]
    assert worse[1].endswith("0.25 times")


def test_bars_are_in_letters_that_the_reader_has() -> None:
    assert [line.count("#") for line in shown(1, 2, "ascii")] == [16, 32, 0]
    "".join(shown(1, 2, "ascii")).encode("ascii")


def test_nothing_measured_has_no_ratio() -> None:
    assert not any("times" in line for line in shown(0, 10))


def test_rounds_that_overlap_are_said_to_tell_little() -> None:
    reader = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    before, after = [Round(90, 1), Round(60, 1)], [Round(80, 1), Round(120, 1)]
    overlapping = comparison_shown(before, after, reader)
    assert overlapping.startswith(" No difference can be told: other work takes part here.\n")
    assert "The rounds overlap" in overlapping
    assert "times" not in overlapping
    assert "the ratio" not in overlapping
    # Clear either way is an answer.
    for clear, ratio in (([Round(91, 1), Round(120, 1)], "1.41 times"), ([Round(50, 1), Round(40, 1)], "0.60 times")):
        assert ratio in comparison_shown(before, clear, reader)
        assert "overlap" not in comparison_shown(before, clear, reader)


@pytest.mark.parametrize(("new", "overlap"), [((80, 120), True), ((91, 120), False), ((50, 59), False), ((90, 90), True), ((60, 60), True), ((50, 100), True)])
def test_rounds_overlap_where_one_lies_among_the_others(new: tuple[int, int], overlap: bool) -> None:
    assert rounds_overlap([Round(90, 1), Round(60, 1)], [Round(rate, 1) for rate in new]) == overlap


def test_more_rounds_outweigh_one_that_was_disturbed() -> None:
    old, new = [Round(rate, 1) for rate in (50, 51, 52, 53)], [Round(rate, 1) for rate in (52.5, 80, 81, 82)]
    assert rounds_overlap(old[2:], new[:2])
    assert not rounds_overlap(old, new)
    assert rounds_overlap(old, [Round(51.5, 1), *new[1:]])


def test_a_bar_fits_into_eighty_columns() -> None:
    assert max(len(line) for line in shown(1_000_000, 2_000_000)[:2]) < 80
