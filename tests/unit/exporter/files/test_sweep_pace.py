"""How many tables a sweep asks about, by how many pages may have moved since."""

import pytest

from myisam_exporter.files.sweep_pace import PAGES_THAT_MATTER, STILL_PACE, SweepPace

KNOWN_PAGES = 10_000
ENOUGH = int(KNOWN_PAGES * PAGES_THAT_MATTER) + 1


def paces(moved: list[int | None], known_pages: int = KNOWN_PAGES) -> list[int]:
    pace = SweepPace()
    return [pace.of_next_sweep(one, known_pages) for one in moved]


def test_where_nothing_moves_fewer_are_asked_about() -> None:
    assert paces([7, 7, 7, 8, 9]) == [1, *[STILL_PACE] * 4]


def test_where_enough_moves_as_many_as_usual_are_asked_about_each_time() -> None:
    assert paces([0, ENOUGH, 2 * ENOUGH, 3 * ENOUGH]) == [1, 1, 1, 1]


def test_a_little_each_time_is_enough_in_the_end() -> None:
    part = ENOUGH // 4 + 1
    assert paces([0, part, 2 * part, 3 * part, 4 * part, 5 * part]) == [1, STILL_PACE, STILL_PACE, STILL_PACE, 1, STILL_PACE]


@pytest.mark.parametrize("moved", [[5, None, 5, 5], [5, 3, None, 3]])
def test_without_a_counter_or_with_one_that_went_back_nothing_is_known(moved: list[int | None]) -> None:
    assert paces(moved)[:3] == [1, 1, 1]


def test_of_no_known_pages_one_that_moves_is_enough() -> None:
    assert paces([0, 0, 1], known_pages=0) == [1, STILL_PACE, 1]
