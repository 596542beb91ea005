"""Sizes and lengths of time as people write them: one grammar for options, configurations and facts files."""

import math

import pytest
from click import BadParameter

from myisam_advisor.catalogue.thresholds import threshold_value
from myisam_advisor.cli.options import Duration, Size
from myisam_exporter.outside.quantities import seconds_in, size_in

SIZES = {"0": 0, "64M": 64 << 20, "64 mb": 64 << 20, "1.5GiB": 3 << 29, "2t": 2 << 40, "16k": 16384, "10B": 10, " 7 ": 7}
TIMES = {"0": 0, "10": 10, "10s": 10, "500ms": 0.5, "5min": 300, "5m": 300, "1.5 h": 5400, "2d": 172800}
NONE = ("", "M", "-1", "1e3", "nan", "inf", "1 fortnight", "1,5", "٣", "0x10", "1MM", "1h30m", "1\n2", "1kk")


@pytest.mark.parametrize(("text", "meant"), SIZES.items())
def test_a_size_is_the_same_wherever_it_is_written(text: str, meant: float) -> None:
    assert size_in(text) == meant
    assert Size().convert(text, None, None) == meant
    assert threshold_value(text, "bytes") == meant


@pytest.mark.parametrize(("text", "meant"), TIMES.items())
def test_a_time_is_the_same_wherever_it_is_written(text: str, meant: float) -> None:
    assert seconds_in(text) == meant
    assert threshold_value(text, "seconds") == meant
    if meant <= 86_400:
        assert Duration().convert(text, None, None) == meant


@pytest.mark.parametrize("text", NONE)
def test_what_is_neither_is_refused_with_what_to_write(text: str) -> None:
    assert size_in(text) is None
    assert seconds_in(text) is None
    with pytest.raises(BadParameter, match="write 500M or 2G"):
        Size().convert(text, None, None)
    with pytest.raises(BadParameter, match="write 10s, 500ms or 5min"):
        Duration().convert(text, None, None)
    for unit in ("bytes", "seconds", "ratio", "tables"):
        with pytest.raises(ValueError, match="is no"):
            threshold_value(text, unit)


def test_a_thousand_digits_are_no_size_and_no_time() -> None:
    endless = "9" * 1000
    assert size_in(endless) == seconds_in(endless) == math.inf
    with pytest.raises(BadParameter, match="is not a size"):
        Size().convert(endless, None, None)
    with pytest.raises(BadParameter, match="is longer than a day"):
        Duration().convert(endless, None, None)
    with pytest.raises(ValueError, match="out of range"):
        threshold_value(endless, "bytes")
