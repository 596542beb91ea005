"""What a server says becomes a number that fits where it goes on to, or unknown."""

import json
import math
import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from myisam_exporter.outside.numbers import (
    LARGEST_COUNTER,
    LARGEST_WHOLE,
    bounded_sum,
    finite_number,
    is_number,
    parse_number,
    whole_number,
)

WORDS = ["18446744073709551615", "18446744073709551616", "9223372036854775808", "-9223372036854775809", "9" * 400, "9" * 5000, "nan", "inf", "-inf", "1e400", "1e308", "\uff11\uff12", "1_0", "0x10", "", " 5", "5\n", "+", ".", "1e", "--1"]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "whole", "number"),
    [
        ("0", 0, 0), ("42", 42, 42), ("-1", None, -1), ("2.75", 2, 2.75), ("1e3", 1000, 1000.0), (str(LARGEST_WHOLE), LARGEST_WHOLE, LARGEST_WHOLE),
        (str(LARGEST_WHOLE + 1), None, LARGEST_WHOLE + 1), (str((1 << 63) - 1), None, (1 << 63) - 1), (str(1 << 63), None, float(1 << 63)),
        (str(LARGEST_COUNTER), None, float(LARGEST_COUNTER)), (None, None, None), ("ON", None, None), ("nan", None, None), ("inf", None, None), ("9" * 400, None, None), ("1e400", None, None), ("\uff11\uff12", None, None), ("1_0", None, None),
    ],
)  # fmt: skip
def test_numbers_are_read_and_everything_else_is_unknown(said: str | None, whole: int | None, number: float | None) -> None:
    assert whole_number(said) == whole
    assert finite_number(said) == number


def test_a_counter_may_be_as_large_as_a_server_counts() -> None:
    assert whole_number("18446744073709551615", LARGEST_COUNTER) == 18446744073709551615
    assert whole_number("18446744073709551616", LARGEST_COUNTER) is None
    assert finite_number("36893488147419103230") is None


def test_what_is_a_number_already_is_held_to_the_same_bounds() -> None:
    assert [finite_number(said) for said in (5, 2.5, -3, 2**63 - 1, math.nan, math.inf, -math.inf, 2**65, 10**400)] == [5, 2.5, -3, 2**63 - 1, None, None, None, None, None]
    assert isinstance(finite_number(2**63), float)
    assert [whole_number(said) for said in (7, 7.9, -1, -0.5, 2**53, math.nan)] == [7, 7, None, 0, None, None]


def test_text_that_is_no_number_stays_text() -> None:
    assert [parse_number(text) for text in ("5", "2.5", "ON", "inf", "", None)] == [5, 2.5, "ON", "inf", "", None]


def test_a_sum_is_at_most_what_sqlite_can_hold() -> None:
    assert [bounded_sum(some) for some in ([], [1, 2], [2**62, 2**62 - 2], [2**62, 2**62 - 1], [2**62, 2**62])] == [0, 3, 2**63 - 2, 2**63 - 1, 2**63 - 1]


@given(st.one_of(st.sampled_from(WORDS), st.text(max_size=40), st.integers().map(str), st.floats().map(str)))
def test_whatever_is_said_fits_into_sqlite_json_and_sums(said: str) -> None:
    with sqlite3.connect(":memory:") as database:
        database.execute("CREATE TABLE t (a)")
        whole, number, value = whole_number(said), finite_number(said), parse_number(said)
        if whole is not None:
            database.executemany("INSERT INTO t VALUES (?)", [(whole,)] * 1000)
            assert database.execute("SELECT SUM(a) FROM t").fetchone()[0] == 1000 * whole
            assert float(whole) == whole
        if number is not None:
            assert math.isfinite(number)
            assert math.isfinite(float(number) - -float(number))
        if isinstance(value, int | float):
            database.execute("INSERT INTO t VALUES (?)", (value,))
        else:
            assert value == said
        assert "NaN" not in json.dumps(number)
    database.close()


@pytest.mark.parametrize("value", [True, False, None, "1", math.inf, -math.inf, math.nan, 10**400, [1]])
def test_what_a_document_says_is_no_number(value: object) -> None:
    assert not is_number(value)


def test_a_number_of_a_document_has_an_end() -> None:
    assert [is_number(value) for value in (0, -5, 2**70, 1e308)] == [True] * 4
    assert [is_number(value, 100.0) for value in (100, -100, 100.5, 101)] == [True, True, False, False]
