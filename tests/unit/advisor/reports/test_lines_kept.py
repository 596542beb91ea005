"""What stays together where lines are broken: a price, a rule's name, and a last word with those before it."""

import pytest
from rich.text import Text

from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.reports.lines_kept import Ended, behind
from myisam_advisor.texts.drawing import drawn, without_padding

from .test_screens import NAMES, WIDTHS, Terminal, looked_at, screen


def lines(part: Ended, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    return without_padding(drawn([part], None)).splitlines()


def test_an_end_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Ended(Text("-> shorten the statements that hold the lock"), Text("(by hand and foot)"))
    assert lines(part, 80, monkeypatch) == ["-> shorten the statements that hold the lock (by hand and foot)"]
    assert lines(part, 50, monkeypatch) == ["-> shorten the statements that hold the lock", "(by hand and foot)"]
    for width in range(20, 70):
        assert "(by hand and foot)" in "\n".join(lines(part, width, monkeypatch))


def test_no_short_word_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    part = Ended(Text("A crashed table stays crashed until somebody repairs it"))
    assert lines(part, 53, monkeypatch) == ["A crashed table stays crashed until somebody", "repairs it"]
    # What has no room in few columns is still all there.
    for width in range(20, 60):
        assert " ".join(lines(part, width, monkeypatch)) == part.text.plain


def test_what_stands_behind_a_start_begins_no_line_under_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    table = behind(Text("1  WARNING "), Ended(Text("The default key cache is too small"), Text("key-buffer-too-small")))
    found = without_padding(drawn([table], None)).splitlines()
    assert found[0].startswith("1  WARNING  The default")
    assert all(line.startswith(" " * len("1  WARNING  ")) for line in found[1:])


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", NAMES)
def test_no_rules_name_begins_a_line(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable, value in (("LINES", "40"), ("NO_COLOR", "1"), ("TERM", "dumb")):
        monkeypatch.setenv(variable, value)
    text = screen(name, monkeypatch, width, Shown(full=True, reader=Terminal()))
    rules = {finding.rule for finding in looked_at(name)[0].findings}
    assert not [line for line in text.splitlines() if line.startswith(tuple(rules))]
    assert all(rule in text for rule in rules)
