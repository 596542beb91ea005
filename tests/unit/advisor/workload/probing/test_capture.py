"""What a recording by a probe would do, as it is said before."""

import pytest

from myisam_advisor.workload.probing.capture import LARGEST_TEXT_BYTES, Prospect, pieces_of, text_bytes_for


@pytest.mark.parametrize(("rate", "expected"), [(0, 65_536), (100, 65_536), (1000, 8192), (20_000, 512), (200_000, 512)])
def test_how_long_texts_may_be_follows_from_the_rate(rate: float, expected: int) -> None:
    assert text_bytes_for(rate) == expected


def test_a_length_that_is_asked_for_is_whole_pieces() -> None:
    assert [pieces_of(number) for number in (None, 1, 512, 513, 65_536)] == [None, 512, 512, 1024, LARGEST_TEXT_BYTES]


def test_cost_and_room_are_said_before() -> None:
    first, second = Prospect(20_000, 512, 60).sentences()
    assert "For 60 s the kernel notes every statement" in first
    assert "20,000 statements a second: at some 33 µs each that takes 66 % of one processor, and up to 929 MiB" in second
