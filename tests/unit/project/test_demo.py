"""What the demonstration shows, in how many lines."""

import io

from demo.showing import Round, comparison_shown


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
    assert [line.count("█") for line in worse] == [32, 8, 0, 0]
    assert worse[1].endswith("0.25 times")


def test_bars_are_in_letters_that_the_reader_has() -> None:
    assert [line.count("#") for line in shown(1, 2, "ascii")] == [16, 32, 0]
    "".join(shown(1, 2, "ascii")).encode("ascii")


def test_nothing_measured_has_no_ratio() -> None:
    assert not any("times" in line for line in shown(0, 10))


def test_rounds_that_overlap_are_said_to_tell_little() -> None:
    reader = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    before, after = [Round(90, 1), Round(60, 1)], [Round(80, 1), Round(120, 1)]
    assert "The rounds overlap" in comparison_shown(before, after, reader)
    assert "The rounds overlap" not in comparison_shown(before, [Round(91, 1), Round(120, 1)], reader)


def test_a_bar_fits_into_eighty_columns() -> None:
    assert max(len(line) for line in shown(1_000_000, 2_000_000)[:2]) < 80
