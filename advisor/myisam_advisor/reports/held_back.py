"""When something held the server back earlier, and does not now: one sentence for the page and for `check`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from myisam_advisor.judging.past import HOLDS, NOT_KNOWN, Episode, Past
from myisam_advisor.judging.verdict import SERIOUS
from myisam_advisor.texts.moments import is_today, span_in_words
from myisam_advisor.texts.templates import times_more
from myisam_exporter.declaring.lean_dataclasses import dataclass

NAMED_TIMES = 3
Span = tuple[float, float]


def held_back_in_words(past: Past, clean: Callable[[object], str], more_where: str) -> str:
    """What held the server back and does not now, the latest first; empty when nothing did. `more_where` says where the other times are."""
    times = sorted(_times(past), key=lambda time: time.end, reverse=True)
    if not times:
        return ""
    day = "earlier today" if all(is_today(one.begin, past.end) for one in times[:NAMED_TIMES]) else "earlier"
    named = "; ".join(
        f"{span_in_words(one.begin, one.end, past.end)}{'' if one.is_sure else ' at least'}, {clean(one.resource)}"
        for one in times[:NAMED_TIMES]
    )
    more = f"; and {times_more(len(times) - NAMED_TIMES)}, {more_where}" if len(times) > NAMED_TIMES else ""
    return f"Held back {day}: {named}{more}."


@dataclass(frozen=True, slots=True)
class _Time:
    begin: float
    end: float
    resource: str
    is_sure: bool


def _times(past: Past) -> list[_Time]:
    """When each resource was short, and is not since: findings about several tables at once are one time."""
    found: list[_Time] = []
    for one in sorted(_holding_back(past), key=lambda one: (_resource(past, one), one.first_seen)):
        resource = _resource(past, one)
        if past.standing(one) == HOLDS:
            continue
        sure = one.begin_seen and past.standing(one) != NOT_KNOWN
        last = found[-1] if found and found[-1].resource == resource else None
        if last is not None and one.first_seen <= last.end:
            found[-1] = _Time(last.begin, max(last.end, one.last_seen), resource, last.is_sure and sure)
        elif one.last_seen > past.begin:
            found.append(_Time(one.first_seen, one.last_seen, resource, sure))
    # An object that goes while others stay short of the same is no end of it.
    holding = [(one.first_seen, _resource(past, one)) for one in past.episodes if past.standing(one) == HOLDS]
    return [time for time in found if all(time.end < begin for begin, of in holding if of == time.resource)]


def _resource(past: Past, episode: Episode) -> str:
    return (past.resources or {}).get(episode.rule, "")


def _holding_back(past: Past) -> Iterable[Episode]:
    return (
        one
        for one in past.episodes
        if one.severity in SERIOUS and _resource(past, one) and one.first_seen <= one.last_seen <= past.end
    )


def spans_held_back(past: Past) -> Iterable[Span]:
    """When any of it held, from and to."""
    return ((one.first_seen, one.last_seen) for one in _holding_back(past))
