"""What each key does."""

from dataclasses import replace

import pytest

from myisam_advisor.top.columns import SORTS
from myisam_advisor.top.view import FINDINGS, HELP, LIST, LONGEST_FILTER, TABLE, WHY, Shown, View, place_of, pressed

SHOWN = Shown(["a", "b", "c", "d", "e"], 3, 0)


def after(*keys: str, view: View | None = None, shown: Shown = SHOWN) -> View:
    view = view or View()
    for key in keys:
        view = pressed(view, key, shown)
    return view


@pytest.mark.parametrize(("key", "page"), [("?", HELP), ("h", HELP), ("f", FINDINGS), ("w", WHY), ("enter", TABLE)])
def test_a_page_opens_and_closes(key: str, page: str) -> None:
    assert after(key).page == page
    assert after(key, "escape").page == LIST
    assert after(key, key).page == LIST


def test_the_selection_moves_and_stays_within_the_list() -> None:
    assert after("down", "j").selected == "c"
    assert after("up").selected == "a"
    assert after("G").selected == "e"
    assert after("G", "down").selected == "e"
    assert after("page down").selected == "c"
    assert after("end", "home").selected == "a"


def test_the_selection_goes_with_its_table_and_stays_in_place_when_that_is_gone() -> None:
    chosen = after("down")
    assert place_of(chosen, ["x", "y", "b"]) == 2
    assert place_of(chosen, ["x", "y"]) == 1
    assert place_of(chosen, []) == 0


def test_enter_opens_the_table_that_is_highlighted() -> None:
    assert after("enter").selected == "a"
    assert after("down", "enter").selected == "b"
    assert after("enter", shown=Shown([], 3, 0)).page == LIST


def test_sorting_goes_through_all_columns_and_comes_round() -> None:
    seen = [after(*"s" * number).sort for number in range(len(SORTS) + 1)]
    assert seen == [*SORTS, SORTS[0]]
    assert after("<").sort == SORTS[-1]
    assert after("r").backwards
    assert not after("r", "r").backwards


def test_a_filter_is_typed_and_taken_back() -> None:
    assert after("/", "o", "q", "enter").filtered == "oq"
    assert after("/", "o", "x", "backspace", "enter").filtered == "o"
    assert after("/", "o", "escape").filtered == ""
    assert after("/", "o", "enter", "escape").filtered == ""
    assert after("/", "o", "delete line", "up", "enter").filtered == ""
    assert after("/", *"x" * 500, "enter").filtered == "x" * LONGEST_FILTER


def test_while_a_filter_is_typed_letters_are_letters() -> None:
    typing = after("/", "q", "p", "?")
    assert (typing.typing, typing.ended, typing.paused, typing.page) == ("qp?", False, False, LIST)


def test_pace_and_pause() -> None:
    assert after("+").interval_seconds == 5
    assert after("-").interval_seconds == 1
    assert after(*"-" * 9).interval_seconds == 1
    assert after(*"+" * 9).interval_seconds == 60
    assert after("+", view=View(interval_seconds=3600)).interval_seconds == 3600
    assert after("-", view=View(interval_seconds=0.5)).interval_seconds == 0.5
    assert after("p").paused
    assert not after("p", " ").paused


def test_a_text_scrolls_to_its_end_and_no_further() -> None:
    shown = Shown((), 10, 25)
    view = View(page=HELP)
    assert after("end", view=view, shown=shown).scrolled == 15
    assert after("down", "down", "up", view=view, shown=shown).scrolled == 1
    assert after("down", view=view, shown=Shown((), 10, 5)).scrolled == 0


def test_q_ends_everywhere_and_an_unknown_key_changes_nothing() -> None:
    for page in (LIST, TABLE, FINDINGS, WHY, HELP):
        assert after("q", view=View(page=page)).ended
        assert after("ü", view=View(page=page)) == replace(View(), page=page)
