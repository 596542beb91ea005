"""Moments of a log whose clock was set back meanwhile, or that was put together from logs in another order: what comes behind goes on where that was.

Entries follow each other by their ends (slow logs) or by their beginnings (general logs). An entry of which both lie before those of the entry before it
comes from a clock that went back. Left so, the order of statements over connections would be lost, and the length of the recording with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.file_format import is_moment
from myisam_advisor.workload.sources.base import MICROSECONDS, Reading

# Threads that end at once write in any order, and clocks are moved a little all the time.
TOLERANCE_MICROSECONDS = 2 * MICROSECONDS


def steady(events: Iterable[Event], reading: Reading) -> Iterator[Event]:
    """The events with times that do not go back; how often they did, and how far, is counted."""
    begun = ended = shift = 0
    for event in events:
        if not is_moment(event.start_microseconds):
            yield event
            continue
        begin = event.start_microseconds + shift
        end = begin + (event.duration_microseconds or 0)
        back = min(begun - begin, ended - end)
        if back > TOLERANCE_MICROSECONDS:
            shift, begin, end = shift + back, begin + back, end + back
            reading.set_back += 1
            reading.furthest_back_microseconds = max(reading.furthest_back_microseconds, back)
        begun, ended = begin, end
        yield event._replace(start_microseconds=begin) if shift else event
