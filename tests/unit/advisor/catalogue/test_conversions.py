"""What was measured on this machine becomes a rate, for tables like those that were measured."""

import time
from dataclasses import replace

import pytest

from myisam_advisor.catalogue.conversions import FAR_SPREAD, LEAST_SPREAD, NO_RATES, Conversion, Rate, Rates, day
from myisam_advisor.catalogue.copy_work import BY_ROW, BY_ROW_OF_DICTIONARY, CopyWork, reference_seconds

from .test_copy_work import WORK

NOW = time.time()
ONE = Conversion("MySQL", "9.7.4", "InnoDB", BY_ROW_OF_DICTIONARY, 2 * reference_seconds(WORK, BY_ROW_OF_DICTIONARY), WORK, 150e6, NOW - 86_400, "a")
LARGE = replace(WORK, rows=2 * WORK.rows, data_bytes=2 * WORK.data_bytes, index_bytes=2 * WORK.index_bytes)


def rate_of(*conversions: Conversion) -> Rate | None:
    return Rates(conversions).rate_for("MySQL", "9.7", "InnoDB", NOW)


def seconds(*conversions: Conversion, work: CopyWork = LARGE) -> tuple[float, float]:
    rate = rate_of(*conversions)
    assert rate is not None
    return rate.seconds(work, BY_ROW_OF_DICTIONARY)


def test_one_measurement_tells_how_many_times_as_long_it_takes_here() -> None:
    rate = rate_of(ONE)
    assert rate is not None
    assert rate.times_reference == pytest.approx(2.0)
    middle = 2 * reference_seconds(LARGE, BY_ROW_OF_DICTIONARY)
    assert seconds(ONE) == pytest.approx((middle * (1 - LEAST_SPREAD), middle * (1 + LEAST_SPREAD)))
    assert rate.bytes_per_second == pytest.approx(100e6 / ONE.seconds)
    assert rate.seconds_by_bytes(200e6) == pytest.approx((2 * ONE.seconds / (1 + FAR_SPREAD), 2 * ONE.seconds * (1 + FAR_SPREAD)))
    assert rate.measured == f"measured here on {day(ONE.taken_at)}"


def test_of_several_the_middle_one_counts_and_one_that_is_far_away_does_not_widen_the_range() -> None:
    others = [replace(ONE, seconds=ONE.seconds * times, table=str(times)) for times in (0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 1.15, 0.85, 1.0)]
    assert seconds(ONE, *others, replace(ONE, seconds=9 * ONE.seconds, table="far")) == pytest.approx(seconds(ONE))


def test_measurements_that_differ_widen_the_range() -> None:
    slow = replace(ONE, seconds=3 * ONE.seconds, table="b")
    low, high = seconds(ONE, slow, work=WORK)
    assert low <= ONE.seconds < slow.seconds <= high * 1.01


def test_a_table_far_larger_than_all_that_were_measured_is_told_with_more_room() -> None:
    work = replace(WORK, rows=1_000 * WORK.rows, data_bytes=1_000 * WORK.data_bytes)
    low, high = seconds(ONE, work=work)
    assert high / low == pytest.approx((1 + FAR_SPREAD) ** 2)


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, server_product="MariaDB"), replace(ONE, server_version="8.0.36"), replace(ONE, engine="Aria"), replace(ONE, seconds=0.05),
        replace(ONE, work=replace(WORK, data_bytes=1000, index_bytes=0)), replace(ONE, taken_at=NOW - 400 * 86_400), replace(ONE, taken_at=NOW + 10 * 86_400),
    ],
)  # fmt: skip
def test_what_says_nothing_about_it_is_no_rate(other: Conversion) -> None:
    assert rate_of(other) is None
    assert NO_RATES.rate_for("MySQL", "9.7", "InnoDB", NOW) is None


def test_a_table_with_words_is_told_with_more_room_where_these_are_known_by_their_bytes_alone() -> None:
    low, high = seconds(ONE, work=replace(WORK, word_bytes=10_000_000))
    assert high / low == pytest.approx((1 + FAR_SPREAD) ** 2)
    by_parts = replace(WORK, word_bytes=10_000_000, part_words=800_000)
    low, high = seconds(ONE, work=by_parts)
    assert high / low == pytest.approx((1 + LEAST_SPREAD) / (1 - LEAST_SPREAD))
    rate = Rates((replace(ONE, server_version="5.6.51", way=BY_ROW),)).rate_for("MySQL", "5.6", "InnoDB", NOW)
    assert rate is not None
    low, high = rate.seconds(by_parts, BY_ROW)
    assert high / low == pytest.approx((1 + FAR_SPREAD) ** 2), "another thread writes words there"


def own_of(*conversions: Conversion, key: str = "a", work: CopyWork = WORK) -> Conversion | None:
    return Rates(conversions).of_table(key, "MySQL", "9.7", "InnoDB", NOW, BY_ROW_OF_DICTIONARY, work)


def test_a_table_that_was_copied_itself_is_told_by_that_alone() -> None:
    older, other = replace(ONE, seconds=9 * ONE.seconds, taken_at=NOW - 200 * 86_400), replace(ONE, seconds=4 * ONE.seconds, table="b")
    assert own_of(older, other, ONE) == ONE
    low, high = ONE.seconds_of(WORK)
    assert (low, high) == pytest.approx((ONE.seconds * (1 - LEAST_SPREAD), ONE.seconds * (1 + LEAST_SPREAD)))
    assert ONE.measured == f"measured on a copy of the table on {day(ONE.taken_at)}"
    size = ONE.size_of(WORK)
    assert size[0] < ONE.bytes_after < size[1] < 1.1 * size[0] + 1e6


def test_a_table_that_grew_is_told_by_its_own_copy_and_by_how_much_more_there_is() -> None:
    grown = replace(WORK, rows=WORK.rows * 3 // 2, data_bytes=WORK.data_bytes * 3 // 2, index_bytes=WORK.index_bytes * 3 // 2)
    assert own_of(ONE, work=grown) == ONE
    assert sum(ONE.size_of(grown)) / 2 == pytest.approx(ONE.bytes_after * 1.5)
    assert sum(ONE.seconds_of(grown)) / 2 > 1.4 * ONE.seconds


def test_indexes_that_were_rebuilt_say_nothing_of_the_size() -> None:
    smaller = replace(WORK, index_bytes=WORK.index_bytes * 2 // 3)
    assert own_of(ONE, work=smaller) == ONE
    assert ONE.size_of(smaller) == ONE.size_of(WORK)


def test_words_of_a_table_that_was_copied_itself_are_known() -> None:
    words = replace(WORK, word_bytes=10_000_000)
    low, high = replace(ONE, work=words, seconds=5.0).seconds_of(words)
    assert (low, high) == pytest.approx((5.0 * (1 - LEAST_SPREAD), 5.0 * (1 + LEAST_SPREAD)))


@pytest.mark.parametrize(("then", "now"), [(None, 900_000), (900_000, None), (None, None), (900_000, 900_000)])
def test_words_that_were_counted_in_another_way_then_are_counted_alike(then: int | None, now: int | None) -> None:
    words = replace(WORK, word_bytes=10_000_000)
    kept = replace(ONE, work=replace(words, part_words=then), seconds=5.0)
    assert own_of(kept, work=replace(words, part_words=now)) == kept
    assert sum(kept.seconds_of(replace(words, part_words=now))) / 2 == pytest.approx(5.0)


@pytest.mark.parametrize(
    "now",
    [
        LARGE, replace(WORK, data_bytes=WORK.data_bytes // 2 + 1), replace(WORK, data_bytes=WORK.data_bytes * 4 // 3), replace(LARGE, rows=3 * WORK.rows), replace(WORK, rows=0, data_bytes=0), replace(WORK, plain_texts=WORK.plain_texts + 1),
        replace(WORK, columns=WORK.columns + 1), replace(WORK, data_bytes=WORK.data_bytes * 9),
    ],
)  # fmt: skip
def test_a_table_that_is_another_one_by_now_is_told_as_any_other(now: CopyWork) -> None:
    is_near = now is LARGE  # twice as large, and no more
    assert (own_of(ONE, work=now) is not None) == is_near


def test_without_a_key_no_table_is_known_again() -> None:
    assert own_of(replace(ONE, table=""), key="") is None
    assert own_of(ONE, key="b") is None
    assert own_of(replace(ONE, taken_at=NOW - 400 * 86_400)) is None


def test_a_date_of_another_year_has_its_year() -> None:
    assert day(0.0).endswith(" 1970") or day(0.0).endswith(" 1969")
    assert str(time.localtime(NOW).tm_year) not in day(NOW)
