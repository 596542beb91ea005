"""Curves in a line of text."""

from myisam_advisor.top.sparks import spark


def test_the_last_values_are_drawn_from_nothing_up_to_the_highest() -> None:
    assert spark([99, 0, 5, 10], 3) == "▁▅█"


def test_a_little_is_more_than_nothing() -> None:
    assert spark([0, 0.001, 100], 3) == "▁▂█"


def test_what_was_not_known_is_a_gap_and_a_short_curve_stands_at_the_right() -> None:
    assert spark([1, None, 1], 6) == "   █ █"
    assert spark([], 4) == "    "
    assert spark([1], 0) == ""


def test_a_share_is_drawn_against_all() -> None:
    assert spark([0.5], 1, 1.0) == "▅"
    assert spark([7.0], 1, 1.0) == "█"
