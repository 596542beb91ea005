"""What the page remembers: a sentence beside the verdict, a list of what was found and is not now, and marks on the curves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from myisam_advisor.judging.past import Past
from myisam_advisor.judging.verdict import SERIOUS
from myisam_advisor.reports.held_back import Span, held_back_in_words, spans_held_back
from myisam_advisor.reports.page.sparkline import MARGIN, WIDTH
from myisam_advisor.texts.moments import span_in_words
from myisam_advisor.texts.templates import count, times_more
from myisam_exporter.declaring.lean_dataclasses import dataclass

SHOWN_EPISODES = 40
NAMED_GAPS = 4
# What is narrower could not be seen, and what is nearer to its neighbour is one with it.
LEAST_WIDTH, LEAST_SPACE = 1.5, 1.0
HELD, BLANK, RESTART = "held", "blank", "restart"


@dataclass(frozen=True, slots=True)
class EarlierLine:
    """An episode that does not hold now."""

    when: str
    severity: str
    rule: str
    title: str
    object: str


@dataclass(frozen=True, slots=True)
class Mark:
    """A part of a curve's time: in which the server was held back, nobody looked, or it was started."""

    kind: str
    x: str
    width: str


@dataclass(frozen=True, slots=True)
class EarlierView:
    """`sentence` is what held the server back; `unseen` when nobody looked; `more` is the number of episodes that are not in the list."""

    sentence: str = ""
    lines: tuple[EarlierLine, ...] = ()
    more: str = ""
    unseen: str = ""
    legend: tuple[tuple[str, str], ...] = ()


def earlier_view(past: Past, clean: Callable[[object], str]) -> EarlierView:
    """What is remembered, in words."""
    former = [one for one in past.former if one.severity in SERIOUS and one.first_seen <= past.end]
    shown = former[:SHOWN_EPISODES]
    more = len(former) - len(shown) + past.unnamed
    gaps = past.gaps()
    held = any(spans_held_back(past))
    return EarlierView(
        held_back_in_words(past, clean, "see below"),
        tuple(
            EarlierLine(
                one.in_words(past.standing(one), past.end),
                one.severity,
                one.rule,
                clean((past.titles or {}).get(one.rule, one.rule)),
                clean(one.object),
            )
            for one in shown
        ),
        count(more) if more else "",
        _unseen(gaps, past.end),
        tuple(
            (kind, words)
            for kind, words, there in (
                (HELD, "held back", held),
                (BLANK, "nobody looked", gaps),
                (RESTART, "the server was started", past.restarts),
            )
            if there
        ),
    )


def _unseen(gaps: Sequence[Span], now: float) -> str:
    if not gaps:
        return ""
    named = "; ".join(span_in_words(begin, end, now) for begin, end in gaps[-NAMED_GAPS:][::-1])
    more = f"; and {times_more(len(gaps) - NAMED_GAPS)}" if len(gaps) > NAMED_GAPS else ""
    return f"Not looked at: {named}{more}. What held then is not known."


def marks(past: Past, begin: float, end: float) -> tuple[Mark, ...]:
    """The marks of a curve from `begin` to `end`: no more than fit beside each other."""
    found = [Mark(BLANK, *place) for place in _places(past.gaps(), begin, end)]
    found += [Mark(HELD, *place) for place in _places(spans_held_back(past), begin, end)]
    found += [Mark(RESTART, *place) for place in _places(((at, at) for at in past.restarts), begin, end)]
    return tuple(found)


def _places(spans: Iterable[Span], begin: float, end: float) -> Iterable[tuple[str, str]]:
    scale = (WIDTH - 2 * MARGIN) / max(end - begin, 1.0)
    merged: list[Span] = []
    for first, last in sorted(spans):
        if last < begin or first > end:
            continue
        left, right = ((min(max(moment, begin), end) - begin) * scale for moment in (first, last))
        right = max(right, left + LEAST_WIDTH)
        if merged and left - merged[-1][1] < LEAST_SPACE:
            merged[-1] = (merged[-1][0], max(merged[-1][1], right))
        else:
            merged.append((left, right))
    return ((f"{MARGIN + left:.1f}", f"{right - left:.1f}") for left, right in merged)
