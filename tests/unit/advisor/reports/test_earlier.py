"""What the page remembers: the sentence, the list, the marks on the curves; and the same for programs."""

import json
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from myisam_advisor.daemon.board import Board
from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.past import Episode, Past, Stretch, dated
from myisam_advisor.munin.document import document as munin_document
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.formats.json import document, past_document
from myisam_advisor.reports.page.earlier import BLANK, HELD, RESTART, SHOWN_EPISODES, EarlierView, earlier_view, marks
from myisam_advisor.reports.page.look import Look, look_at
from myisam_advisor.reports.page.render import render
from myisam_advisor.reports.page.sparkline import WIDTH, sparkline
from myisam_advisor.reports.page.view import CURVES, CurveView, _hours, view_of
from myisam_advisor.reports.wording import holds_since

pytestmark = pytest.mark.usefixtures("in_utc")
NOW = 1_763_838_000.0  # 2025-11-22 19:00 UTC
HOUR = 3600.0
TITLES = {"lock": "Tables share one lock", "disk": "The disk is waited for", "crash": "A table is crashed"}
RESOURCES = {"lock": "the lock of the key cache", "disk": "the disk", "crash": ""}


def episode(rule: str, first: float, last: float, **further: object) -> Episode:
    """Hours before now; gone a minute after."""
    begin, end = NOW - first * HOUR, NOW - last * HOUR
    made = Episode("db", rule, "", "warning", begin, end, "words", begin_seen=True, gone_at=end + 60 if last else None)
    return replace(made, **further)  # type: ignore[arg-type]


def past(*episodes: Episode, **further: object) -> Past:
    known = Past(NOW - 24 * HOUR, NOW, episodes, stretches=(Stretch(NOW - 24 * HOUR, NOW, 60.0),), titles=TITLES, resources=RESOURCES)
    return replace(known, **further)  # type: ignore[arg-type]


def view(known: Past) -> EarlierView:
    return earlier_view(known, str)


def test_it_says_what_held_the_server_back_before() -> None:
    assert view(past(episode("lock", 5, 4.5))).sentence == "Held back earlier today: 14:00 to 14:30, the lock of the key cache."
    two = past(episode("lock", 5, 4.5), episode("disk", 22, 20))
    assert view(two).sentence == "Held back earlier: 14:00 to 14:30, the lock of the key cache; yesterday 21:00 to 23:00, the disk."
    many = [episode("lock", 10 - number, 9.5 - number) for number in range(5)]
    assert view(past(*many)).sentence.endswith("; and 2 times more, see below.")
    assert view(past(*many[:4])).sentence.endswith("; and once more, see below.")


def test_what_holds_now_is_not_what_held_before() -> None:
    holding = episode("lock", 2, 0)
    assert view(past(holding)).sentence == ""
    assert view(past(holding)).lines == ()
    assert view(past(holding, episode("lock", 9, 8))).sentence == "Held back earlier today: 10:00 to 11:00, the lock of the key cache."
    one_table_gone = episode("lock", 1.5, 1, object="s.t")
    assert view(past(holding, one_table_gone)).sentence == "", "the lock is short all the time"


def test_what_is_no_shortage_is_listed_and_holds_nothing_back() -> None:
    shown = view(past(episode("crash", 5, 4, severity="critical", object="shop.orders"), episode("lock", 3, 2, severity="info")))
    assert shown.sentence == ""
    assert [(line.severity, line.title, line.object, line.when) for line in shown.lines] == [("critical", "A table is crashed", "shop.orders", "14:00 to 15:00 (60 min)")]


def test_what_is_not_known_is_not_said() -> None:
    cut = episode("lock", 5, 4, begin_seen=False, gone_at=None)
    shown = view(past(cut, stretches=(Stretch(NOW - 5 * HOUR, NOW - 4 * HOUR, 60.0), Stretch(NOW - HOUR, NOW, 60.0))))
    assert shown.sentence == "Held back earlier today: 14:00 to 15:00 at least, the lock of the key cache."
    assert shown.unseen == "Not looked at: 15:00 to 18:00. What held then is not known."
    assert shown.lines[0].when == "14:00 to 15:00, perhaps from before (60 min), not known since"


def test_a_rule_that_was_removed_is_named_by_its_id() -> None:
    assert view(past(episode("removed", 5, 4))).lines[0].title == "removed"


def test_the_list_is_bounded_and_says_so() -> None:
    shown = view(past(*[episode("crash", 5, 4, object=f"s.t{number}") for number in range(SHOWN_EPISODES + 7)], unnamed=1000))
    assert len(shown.lines) == SHOWN_EPISODES
    assert shown.more == "1,007"


def test_the_future_is_not_shown_as_past() -> None:
    """A clock that was ahead, and is right again."""
    shown = view(past(episode("lock", -5, -6, gone_at=None), stretches=(Stretch(NOW - HOUR, NOW, 60.0), Stretch(NOW + 5 * HOUR, NOW + 6 * HOUR, 60.0))))
    assert shown == EarlierView()


def test_curves_are_marked_where_it_held_and_where_nobody_looked() -> None:
    known = past(
        episode("lock", 6, 5), episode("disk", 5.5, 4), episode("lock", 1, 0), episode("crash", 24, 0),
        stretches=(Stretch(NOW - 24 * HOUR, NOW - 12 * HOUR, 60), Stretch(NOW - 10 * HOUR, NOW, 60)), restarts=(NOW - 10 * HOUR,),
    )  # fmt: skip
    found = marks(known, NOW - 24 * HOUR, NOW)
    assert [mark.kind for mark in found] == [BLANK, HELD, HELD, RESTART]
    places = [(float(mark.x), float(mark.x) + float(mark.width)) for mark in found]
    assert places[0] == pytest.approx((2 + 196 / 2, 2 + 196 * 14 / 24), abs=0.1)
    assert places[1] == pytest.approx((2 + 196 * 18 / 24, 2 + 196 * 20 / 24), abs=0.1), "two that overlap are one band"
    assert places[2][1] == pytest.approx(198, abs=0.2)


def test_marks_never_leave_the_curve_and_are_never_many() -> None:
    episodes = [episode("lock", number / 10, number / 10 - 0.02) for number in range(1, 400)]
    found = marks(past(*episodes, restarts=tuple(NOW - number * 60 for number in range(1440))), NOW - 2 * HOUR, NOW)
    assert 0 < len(found) <= WIDTH
    assert all(float(mark.x) >= 2 and float(mark.x) + float(mark.width) <= WIDTH for mark in found)
    assert marks(past(*episodes), NOW, NOW) is not None


def test_a_curve_of_a_clock_that_was_set_back_stays_within_its_frame() -> None:
    line = sparkline([(NOW + 9000, 5.0), (NOW + 9060, 6.0), (NOW - 60, 1.0), (NOW, 2.0)], NOW, 86_400.0)
    assert line is not None
    assert line.begin == NOW - 60
    assert line.hours == pytest.approx(1 / 60)
    assert all(0 <= float(number) <= WIDTH for number in line.path.replace("M", " ").replace("L", " ").split()[::2])
    board, fact = Board(), CURVES[0][0]
    for moment in (NOW + 9000, NOW - 60, NOW):
        board.put("db", replace(look(), taken_at=moment), {fact: 1.0})
    assert [moment for moment, _ in board.curves("db")[fact]] == [NOW - 60, NOW]


FACTS = facts_from_document({"schema": 1, "interval_seconds": 10, "server": {"flavour": "mariadb", "version": "10.11.6"}})


def look(known: Past | None = None, *findings: Finding) -> Look:
    return look_at(Judgement(findings, ["quiet"]), FACTS, NOW, known)


class Words(HTMLParser):
    """The elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.classes: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.classes += [str(value) for name, value in attrs if name == "class"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_it_and_names_are_harmless() -> None:
    hostile = episode("crash", 5, 4, severity="critical", object="</td><script>x</script>\x1b[2J")
    curves = {CURVES[0][0]: [(NOW - number * 600, float(number)) for number in range(140, -1, -1)]}
    body = render(view_of(look(past(hostile, episode("lock", 9, 8))), curves))
    words = Words()
    words.feed(body)
    assert "Held back earlier today: 10:00 to 11:00, the lock of the key cache." in words.text
    assert "Found earlier, but not now" in words.text
    assert '<div class="scroll wide" tabindex="0" role="region" aria-label="List of what was found earlier">' in body, "it says that it moves sideways"
    assert words.names.count("script") == 1
    assert "\x1b" not in body
    assert words.classes.count("held") == 2, "a band, and its legend"
    forgetful = render(view_of(look(), curves))
    assert "Held back earlier" not in forgetful
    assert "Found earlier" not in forgetful


def test_programs_are_told_the_same() -> None:
    told = past_document(past(episode("lock", 5, 4, object="s.t"), restarts=(NOW - HOUR,), stretches=(Stretch(NOW - 9 * HOUR, NOW - 8 * HOUR, 60), Stretch(NOW - 7 * HOUR, NOW, 60))))
    assert told is not None
    told = json.loads(json.dumps(told))
    assert (told["since"], told["until"]) == ("2025-11-21T19:00:00Z", "2025-11-22T19:00:00Z")
    assert told["gaps"] == [{"since": "2025-11-22T11:00:00Z", "until": "2025-11-22T12:00:00Z"}]
    assert told["restarts"] == ["2025-11-22T18:00:00Z"]
    (one,) = told["episodes"]
    assert {name: one[name] for name in ("rule", "object", "standing", "since", "until", "resource", "begin_seen", "pauses")} == {
        "rule": "lock", "object": "s.t", "standing": "gone", "since": "2025-11-22T14:00:00Z", "until": "2025-11-22T15:00:00Z",
        "resource": "the lock of the key cache", "begin_seen": True, "pauses": 0,
    }  # fmt: skip
    assert past_document(None) is None


def finding(rule: str) -> Finding:
    return Finding(rule, "Title", "warning", "likely", "server", "", None, "words", (), "", "", "", "", "", ())


def test_an_age_is_told_in_every_report_and_unknown_where_nothing_is_remembered() -> None:
    known = dated(Judgement([finding("lock")]), {("lock", ""): episode("lock", 3, 0, begin_seen=False)}, NOW)
    assert holds_since(known.findings) == "16:00 or before (3 h)"
    assert json.loads(json.dumps(document(known, FACTS, Shown())))["findings"][0]["since"] == "2025-11-22T16:00:00Z"
    assert munin_document([], known)["advice"]["messages"]["warning"] == ["lock: Title (since 16:00 or before)"]
    unknown = Judgement([finding("lock")])
    assert holds_since(unknown.findings) == ""
    written = json.loads(json.dumps(document(unknown, FACTS, Shown())))["findings"][0]
    assert (written["since"], written["first_seen"]) == (None, None)
    assert munin_document([], unknown)["advice"]["messages"]["warning"] == ["lock: Title"]


@pytest.mark.parametrize(("seconds", "said"), [(0, "minute"), (60, "minute"), (120, "2 minutes"), (3600, "60 minutes"), (7200, "2 hours")])
def test_the_curves_heading_is_english(seconds: float, said: str) -> None:
    line = sparkline([(NOW - seconds, 1.0), (NOW, 2.0)], NOW, 86_400.0)
    assert line is not None
    assert _hours([CurveView("a", line, "1", "1", "1", ())]) == said
