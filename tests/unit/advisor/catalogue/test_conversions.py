"""What was measured on this machine becomes a rate, for tables like those that were measured."""

import time
from dataclasses import replace

import pytest

from myisam_advisor.catalogue.conversions import FAR_SPREAD, LEAST_SPREAD, NO_RATES, Conversion, Rates, day

NOW = time.time()
MB = 1e6
ONE = Conversion("MySQL", "9.7.4", "InnoDB", "dynamic", 10.0, 100 * MB, 150 * MB, 80 * MB, 20 * MB, NOW - 86_400, "a")


def seconds(rates: Rates, data: float, index: float, row_format: str = "dynamic") -> tuple[float, float] | None:
    rate = rates.rate_for("MySQL", "9.7", "InnoDB", row_format, NOW)
    return rate.seconds(data, index) if rate else None


def test_one_measurement_gives_one_rate() -> None:
    found = seconds(Rates((ONE,)), 160 * MB, 40 * MB)
    assert found == pytest.approx((20 * (1 - LEAST_SPREAD), 20 * (1 + LEAST_SPREAD)))
    rate = Rates((ONE,)).rate_for("MySQL", "9.7.0-log", "InnoDB", "fixed", NOW)
    assert rate is not None, "another row format is better than another machine"
    assert rate.bytes_per_second == pytest.approx(10 * MB)
    assert rate.measured == f"measured here on {day(ONE.taken_at)}"


def test_rows_and_indexes_are_told_apart_by_tables_of_different_shares() -> None:
    rows_only = replace(ONE, seconds=4.0, data_bytes=100 * MB, index_bytes=0, table="b")
    much_index = replace(ONE, seconds=12.0, data_bytes=50 * MB, index_bytes=50 * MB, table="c")
    found = seconds(Rates((rows_only, much_index)), 100 * MB, 100 * MB)
    assert found == pytest.approx((24 * 0.7, 24 * 1.3))
    assert seconds(Rates((rows_only, much_index)), 100 * MB, 0) == pytest.approx((4 * 0.7, 4 * 1.3))


def test_measurements_that_differ_widen_the_range() -> None:
    slow = replace(ONE, seconds=30.0, table="b")
    found = seconds(Rates((ONE, slow)), 80 * MB, 20 * MB)
    assert found is not None
    assert found[0] <= ONE.seconds < slow.seconds <= found[1]


def test_a_table_far_larger_than_all_that_were_measured_is_told_with_more_room() -> None:
    low, high = seconds(Rates((ONE,)), 80_000 * MB, 20_000 * MB) or (0.0, 0.0)
    assert high / low == pytest.approx((1 + FAR_SPREAD) / (1 - FAR_SPREAD))


@pytest.mark.parametrize(
    "other",
    [
        replace(ONE, server_product="MariaDB"), replace(ONE, server_version="8.0.36"), replace(ONE, engine="Aria"), replace(ONE, seconds=0.05),
        replace(ONE, data_bytes=1000, index_bytes=0), replace(ONE, taken_at=NOW - 400 * 86_400), replace(ONE, taken_at=NOW + 10 * 86_400),
    ],
)  # fmt: skip
def test_what_says_nothing_about_it_is_no_rate(other: Conversion) -> None:
    assert seconds(Rates((other,)), MB, MB) is None
    assert seconds(NO_RATES, MB, MB) is None


def test_tables_of_the_same_row_format_come_first() -> None:
    fixed = replace(ONE, row_format="fixed", seconds=1.0, table="b")
    assert seconds(Rates((ONE, fixed)), 80 * MB, 20 * MB, "fixed") == pytest.approx((0.7, 1.3))


def test_a_date_of_another_year_has_its_year() -> None:
    assert day(0.0).endswith(" 1970") or day(0.0).endswith(" 1969")
    assert str(time.localtime(NOW).tm_year) not in day(NOW)
