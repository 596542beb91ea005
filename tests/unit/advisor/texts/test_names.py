"""Names as people type them: which tables a name can stand for, and what is nearly written so."""

import pytest

from myisam_advisor.texts.bars import BARS, PLAIN_BARS, bars_for, sparkline
from myisam_advisor.texts.column_units import in_words, unit_of
from myisam_advisor.texts.near import did_you_mean, near_names
from myisam_advisor.texts.table_names import possible_names
from myisam_advisor.texts.templates import object_name
from myisam_exporter.server.sql import quote_table

RULES = ["key-cache-contention", "key-cache-block-size", "swap-pressure", "io-bound-data", "table_crashed"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("shop.orders", [("shop", "orders")]),
        ("a.b.c", [("a", "b.c"), ("a.b", "c")]),
        ("`a.b`.c", [("a.b", "c"), ("`a", "b`.c"), ("`a.b`", "c")]),
        ("orders", []),
        (".", []),
        ("a.", []),
        ("", []),
    ],
)
def test_a_name_stands_for_every_table_that_it_can(text: str, names: list[tuple[str, str]]) -> None:
    assert possible_names(text) == names


@pytest.mark.parametrize("name", [("a", "b"), ("a.b", "c"), ("a`b", "c``"), ("a/b", "x\ny"), ("`", "."), ("😀", "`.`")])
def test_each_name_is_read_as_it_is_written(name: tuple[str, str]) -> None:
    assert possible_names(quote_table(*name))[0] == name
    assert possible_names(object_name(*name))[0] == name


@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("keycache-contention", "key-cache-contention"), ("SWAP-PRESSURE", "swap-pressure"), ("key_cache_contention", "key-cache-contention"),
        ("table-crash", "table_crashed"), ("swap", "swap-pressure"),
    ],
)  # fmt: skip
def test_a_name_that_is_nearly_right_is_found(wrong: str, near: str) -> None:
    assert near_names(wrong, RULES)[0] == near
    assert f"Did you mean {near}" in did_you_mean(wrong, RULES)


def test_nothing_is_suggested_for_what_is_like_nothing() -> None:
    assert did_you_mean("xyzzy", RULES) == ""
    assert did_you_mean("x" * 100_000, RULES) == ""
    assert did_you_mean("key-cache", RULES) == " Did you mean key-cache-contention or key-cache-block-size?"


@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        ("data_bytes", 3 << 30, "3 GiB"), ("rows_read_per_second", 12.34, "12.3/s"), ("written_bytes_per_second", 2048.0, "2 KiB/s"),
        ("miss_ratio", 0.25, "25 %"), ("uptime_seconds", 7200, "2 h"), ("data_modified_seconds_ago", 3, "3 s"), ("per_second", 5, "5/s"),
        ("lock_wait_seconds_per_second", 0.5, "500 ms/s"), ("rows", 1234567, "1.23 million"), ("table_name", "bytes", "bytes"), ("rows", None, "unknown"),
    ],
)  # fmt: skip
def test_a_value_is_said_in_the_unit_of_its_column(column: str, value: object, words: str) -> None:
    assert in_words(column, value) == words
    assert unit_of(column)


def test_a_curve_is_a_line_of_bars() -> None:
    points = [(float(moment), None if moment == 5 else float(moment)) for moment in range(10)]
    line = sparkline(points, 0, 10)
    assert len(line) == 10
    assert (line[0], line[5], line[9]) == (BARS[0], " ", BARS[-1])
    assert sparkline([], 0, 10) == ""
    assert set(sparkline(points, 0, 10, PLAIN_BARS)) <= {*PLAIN_BARS, " "}
    assert bars_for(None) == BARS
