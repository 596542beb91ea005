"""Moments in words: days of the calendar, and nights in which the clock is put forward or back."""

import time
from collections.abc import Iterator
from datetime import datetime

import pytest

from myisam_advisor.texts.moments import is_today, iso_moment, moment_in_words, span_in_words


@pytest.fixture(autouse=True)
def _in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def test_days_are_those_of_the_calendar() -> None:
    now = at("2026-11-22T15:00:00+01:00")
    assert moment_in_words(at("2026-11-22T00:01:00+01:00"), now) == "00:01"
    assert moment_in_words(at("2026-11-21T23:59:00+01:00"), now) == "yesterday 23:59"
    assert moment_in_words(at("2026-11-20T12:00:00+01:00"), now) == "2026-11-20 12:00"
    assert is_today(at("2026-11-22T00:00:00+01:00"), now)
    assert not is_today(at("2026-11-21T23:59:59+01:00"), now)
    assert iso_moment(now) == "2026-11-22T14:00:00Z"


@pytest.mark.parametrize(
    ("first", "last", "words"),
    [
        ("2026-11-22T14:02:00+01:00", "2026-11-22T14:31:00+01:00", "14:02 to 14:31"),
        ("2026-11-22T14:02:10+01:00", "2026-11-22T14:02:50+01:00", "14:02"),
        ("2026-11-21T23:50:00+01:00", "2026-11-22T00:20:00+01:00", "yesterday 23:50 to today 00:20"),
        ("2026-11-21T10:00:00+01:00", "2026-11-21T11:00:00+01:00", "yesterday 10:00 to 11:00"),
        ("2026-11-19T10:00:00+01:00", "2026-11-20T11:00:00+01:00", "2026-11-19 10:00 to 2026-11-20 11:00"),
    ],
)
def test_a_span_names_a_day_where_it_is_not_plain(first: str, last: str, words: str) -> None:
    assert span_in_words(at(first), at(last), at("2026-11-22T15:00:00+01:00")) == words


def test_the_hour_that_comes_twice_has_its_zone() -> None:
    """On 2026-10-25 at 03:00 it was 02:00 again: half an hour later the clock shows less."""
    first, last = at("2026-10-25T00:45:00+00:00"), at("2026-10-25T01:15:00+00:00")
    now = at("2026-10-25T06:00:00+00:00")
    assert span_in_words(first, last, now) == "02:45 CEST to 02:15 CET"
    assert moment_in_words(first, now) == "02:45 CEST"
    assert moment_in_words(last, now) == "02:15"


def test_a_day_of_23_hours_is_a_day() -> None:
    """On 2026-03-29 there was no 02:30; yesterday is still yesterday 23 hours before."""
    now = at("2026-03-29T23:30:00+02:00")
    assert moment_in_words(at("2026-03-28T23:40:00+01:00"), now) == "yesterday 23:40 CET"
    assert span_in_words(at("2026-03-29T01:50:00+01:00"), at("2026-03-29T03:10:00+02:00"), now) == "01:50 CET to 03:10 CEST"
