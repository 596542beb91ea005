"""Values of evidence beside their labels: nothing is said twice, and no unit is lost."""

import pytest

from myisam_advisor.texts.templates import beside


@pytest.mark.parametrize(
    ("label", "value", "unit", "said"),
    [
        ("MyISAM tables", 4, "tables", "4"), ("crashed tables", 1, "tables", "1"), ("rows read by each scan", 95_318, "rows a scan", "95,318"),
        ("sync_binlog", 1, "setting", "1"), ("delay_key_write", "ON", "setting", "ON"), ("size of its data", 70, "bytes", "70 B"),
        ("table_open_cache", 64, "tables", "64 tables"), ("how many wait", 2, "connections", "2 connections"), ("waits", 101.2, "per second", "101/s"),
    ],
)  # fmt: skip
def test_a_unit_that_the_label_says_is_not_said_again(label: str, value: object, unit: str, said: str) -> None:
    assert beside(label, value, unit) == said
