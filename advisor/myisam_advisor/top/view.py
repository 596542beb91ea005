"""What the person chose to see, and what each key does to that. Nothing here draws, and nothing looks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from myisam_advisor.top.columns import BY_ACTIVITY, SORTS
from myisam_exporter.declaring.lean_dataclasses import dataclass

LIST, TABLE, FINDINGS, STATEMENTS, WHY, HELP = "list", "table", "findings", "statements", "why", "help"
INTERVALS = (1.0, 2.0, 5.0, 10.0, 30.0, 60.0)
LONGEST_FILTER = 128


@dataclass(frozen=True, slots=True)
class View:
    """The state of the screen. `typing` is the filter while it is being typed; `selected` the table chosen, None until one is.

    `place` is where the selection is in the list, for when its table goes; `scrolled` how far a page of text is.
    """

    page: str = LIST
    sort: str = BY_ACTIVITY
    backwards: bool = False
    filtered: str = ""
    typing: str | None = None
    paused: bool = False
    selected: str | None = None
    place: int = 0
    scrolled: int = 0
    interval_seconds: float = 2.0
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Shown:
    """What keys move in: the names of the tables in the list's order, and how many lines a page of it or of a text has.

    `lines` is how long the text is.
    """

    names: Sequence[str]
    rows: int
    lines: int


def pressed(view: View, key: str, shown: Shown) -> View:
    """The view after a key. One that means nothing here changes nothing."""
    if view.typing is not None:
        return _typed(view, view.typing, key)
    action = _EVERYWHERE.get(key)
    if action is not None:
        return action(view)
    return _in_list(view, key, shown) if view.page == LIST else _in_text(view, key, shown)


def place_of(view: View, names: Sequence[str]) -> int:
    """Where the selection is now: with its table, and where that was when it has gone."""
    if view.selected is not None and view.selected in names:
        return names.index(view.selected)
    return max(min(view.place, len(names) - 1), 0)


def _typed(view: View, text: str, key: str) -> View:
    if key == "escape":
        return replace(view, typing=None)
    if key == "enter":
        return replace(view, typing=None, filtered=text, place=0, selected=None)
    if key == "backspace":
        return replace(view, typing=text[:-1])
    if key == "delete line":
        return replace(view, typing="")
    if len(key) == 1 and key.isprintable() and len(text) < LONGEST_FILTER:
        return replace(view, typing=text + key)
    return view


def _page(name: str) -> Callable[[View], View]:
    """Shows this page; the list again where it is shown already."""
    return lambda view: replace(view, page=LIST if view.page == name else name, scrolled=0)


def _slower(view: View) -> View:
    return replace(
        view, interval_seconds=next((one for one in INTERVALS if one > view.interval_seconds), view.interval_seconds)
    )


def _faster(view: View) -> View:
    return replace(
        view,
        interval_seconds=next(
            (one for one in reversed(INTERVALS) if one < view.interval_seconds), view.interval_seconds
        ),
    )


def _paused(view: View) -> View:
    return replace(view, paused=not view.paused)


_EVERYWHERE: dict[str, Callable[[View], View]] = {
    "q": lambda view: replace(view, ended=True),
    "?": _page(HELP),
    "h": _page(HELP),
    "f": _page(FINDINGS),
    "t": _page(STATEMENTS),
    "w": _page(WHY),
    "p": _paused,
    " ": _paused,
    "+": _slower,
    "-": _faster,
}


def _sorted(step: int) -> Callable[[View], View]:
    """By the column so many further on."""
    return lambda view: replace(view, sort=SORTS[(SORTS.index(view.sort) + step) % len(SORTS)], place=0, selected=None)


_OF_LIST: dict[str, Callable[[View], View]] = {
    "s": _sorted(1),
    ">": _sorted(1),
    "S": _sorted(-1),
    "<": _sorted(-1),
    "r": lambda view: replace(view, backwards=not view.backwards, place=0, selected=None),
    "/": lambda view: replace(view, typing=view.filtered),
    "escape": lambda view: replace(view, filtered="", place=0, selected=None),
}
_STEPS: dict[str, Callable[[int], int]] = {
    "down": lambda rows: 1,
    "j": lambda rows: 1,
    "up": lambda rows: -1,
    "k": lambda rows: -1,
    "page down": lambda rows: max(rows - 1, 1),
    "page up": lambda rows: -max(rows - 1, 1),
    "home": lambda rows: -(1 << 40),
    "g": lambda rows: -(1 << 40),
    "end": lambda rows: 1 << 40,
    "G": lambda rows: 1 << 40,
}


def _in_list(view: View, key: str, shown: Shown) -> View:
    if key in _STEPS:
        return _moved(view, _STEPS[key](shown.rows), shown.names)
    if key in ("enter", "right") and shown.names:
        place = place_of(view, shown.names)
        return replace(view, page=TABLE, selected=shown.names[place], place=place, scrolled=0)
    action = _OF_LIST.get(key)
    return view if action is None else action(view)


def _moved(view: View, step: int, names: Sequence[str]) -> View:
    if not names:
        return view
    place = max(0, min(place_of(view, names) + step, len(names) - 1))
    return replace(view, place=place, selected=names[place])


def _in_text(view: View, key: str, shown: Shown) -> View:
    if key in _STEPS:
        furthest = max(shown.lines - shown.rows, 0)
        return replace(view, scrolled=max(0, min(view.scrolled + _STEPS[key](shown.rows), furthest)))
    if key in ("escape", "left", "backspace", "enter"):
        return replace(view, page=LIST, scrolled=0)
    return view
