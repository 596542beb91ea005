"""What came between two readings of performance_schema's digests."""

from myisam_advisor.workload.kinds.digests import _difference, _numbers

BEFORE = (10, 5_000_000_000_000, 1_000_000_000_000, 100, 1000, 2)


def test_what_came_in_between_is_the_difference_in_seconds() -> None:
    sums = _difference((13, 8_000_000_000_000, 1_500_000_000_000, 110, 1500, 5), BEFORE)
    assert (sums.count, sums.seconds, sums.lock_wait_seconds) == (3, 3.0, 0.5)
    assert (sums.rows_sent, sums.rows_examined, sums.without_index) == (10, 500, 3)


def test_a_new_digest_and_one_that_was_emptied_count_from_zero() -> None:
    now = (2, 10**12, 0, 1, 1, 0)
    assert _difference(now, None) == _difference(now, BEFORE)
    assert _difference(now, BEFORE).count == 2


def test_a_server_that_lies_tells_no_numbers() -> None:
    assert _numbers(["-1", "x", None, "9" * 30, "nan", "7"]) == (0, 0, 0, 0, 0, 7)
