"""Rounds before the rates have settled are found, and none where there are none."""

import random

from myisam_advisor.trial.warm_up import warm_up_rounds


def test_rounds_that_are_slower_at_first_are_left_out() -> None:
    settled = [0.0, 0.01, -0.01, 0.005, 0.0, -0.005, 0.01, 0.0]
    assert warm_up_rounds([-0.5, *settled]) == 1
    assert warm_up_rounds([-0.5, -0.2, *settled]) == 2
    assert warm_up_rounds([0.4, *settled]) == 1  # a cache that fills up slows inserts down


def test_neither_a_bad_round_later_nor_a_slow_drift_is_a_warm_up() -> None:
    assert warm_up_rounds([0.0, -0.5, 0.01, -0.01, 0.0, 0.01, -0.01]) == 0
    assert warm_up_rounds([0.01 * number for number in range(12)]) == 0


def test_what_differs_by_next_to_nothing_is_no_warm_up_however_alike_the_later_rounds_are() -> None:
    assert warm_up_rounds([-0.02, *[0.0] * 8]) == 0
    assert warm_up_rounds([-0.04, *[0.0] * 8]) == 1


def test_a_third_at_most_and_none_of_a_few() -> None:
    assert warm_up_rounds([-1.0, -1.0, -1.0, -1.0, 0.0, 0.0, 0.0, 0.0, 0.0]) <= 3
    assert warm_up_rounds([-1.0, 0.0, 0.0, 0.0, 0.0]) == 0


def test_settled_rounds_seldom_lose_any() -> None:
    generator = random.Random(7)
    lost = sum(warm_up_rounds([generator.gauss(0, 0.02) for _ in range(9)]) for _ in range(300))
    assert lost < 30
