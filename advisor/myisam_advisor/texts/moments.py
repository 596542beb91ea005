"""Moments and spans of time as people say them, by the clock on the wall; a document says them in UTC.

Days are the calendar's. Where the clock is put forward or back within a span, each end names its zone: 02:30 may come twice in a night.
"""

from __future__ import annotations

from datetime import date, timedelta
from time import gmtime, localtime, strftime, struct_time


def moment_in_words(moment: float, now: float) -> str:
    """14:02 of today, yesterday 14:02, or the date with it; with the zone where the clock was changed since."""
    return _day(moment, now) + _clock(moment, zoned=_zone(moment) != _zone(now))


def span_in_words(first: float, last: float, now: float) -> str:
    """14:02 to 14:31, with the day of each where it is not that of `now`, or of the other."""
    begin, end = localtime(first), localtime(last)
    zoned = len({_zone(first), _zone(last), _zone(now)}) > 1
    if not zoned and begin[:5] == end[:5]:
        return _day(first, now) + _clock(first, zoned)
    second = "" if _date(begin) == _date(end) else _day(last, now) or "today "
    return f"{_day(first, now)}{_clock(first, zoned)} to {second}{_clock(last, zoned)}"


def iso_moment(moment: float) -> str:
    """For programs: 2026-11-22T14:02:00Z (RFC 3339)."""
    return strftime("%Y-%m-%dT%H:%M:%SZ", gmtime(moment))


def is_today(moment: float, now: float) -> bool:
    """Whether both are on one day of the calendar."""
    return _date(localtime(moment)) == _date(localtime(now))


def _clock(moment: float, zoned: bool) -> str:
    return strftime("%H:%M %Z" if zoned else "%H:%M", localtime(moment))


def _zone(moment: float) -> int:
    return localtime(moment).tm_gmtoff


def _date(moment: struct_time) -> date:
    return date(*moment[:3])


def _day(moment: float, now: float) -> str:
    day, today = _date(localtime(moment)), _date(localtime(now))
    if day == today:
        return ""
    return "yesterday " if day == today - timedelta(days=1) else f"{day.isoformat()} "
