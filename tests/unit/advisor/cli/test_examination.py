"""What doctor prints: a terminal's lines end at a word, and a pipe has a line for each problem."""

import io
import re

import pytest

from myisam_advisor.cli.examination import DEGRADED, NOT_HERE, OFF, WORKING, Examination, examination_as_text
from myisam_exporter.facts.unknown import Unknown

REASON = "the data directory cannot be entered by this account, and so no header is read"
RULES = ("mmap-enable", "mmap-ineffective", "table-crashed", "table-near-size-limit")
EXAMINED = [Examination("myi", DEGRADED, (Unknown(REASON, "run as root (sudo myisam-advisor check)"),), RULES, 0.0012)]


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_whole_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    lines = re.sub("\x1b.*?m", "", examination_as_text(EXAMINED, Terminal())).splitlines()
    assert max(map(len, lines)) <= 50
    assert len(lines) > 5
    words = " ".join(lines).split()
    assert set(REASON.split()) <= set(words)
    assert all(any(word.rstrip(",") == rule for word in words) for rule in RULES)


def test_a_pipe_gets_a_line_for_each_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    lines = examination_as_text(EXAMINED, io.StringIO()).splitlines()
    assert lines[1] == "1. run as root (sudo myisam-advisor check)"
    assert [line.strip() for line in lines][2:-1] == [f"{EXAMINED[0].collector}: {REASON}", f"rules that gain: {', '.join(RULES)}"]


def test_what_no_server_tells_is_said_of_a_source_that_is_not_there_alone() -> None:
    never = Unknown("no server shows which key cache a table is assigned to", off=True)
    examined = [Examination("myi", WORKING, (never,), (), 0.001), Examination("replica", DEGRADED, (never, Unknown("hidden", "GRANT X")), (), 0.001)]
    assert never.reason not in examination_as_text(examined)
    for state in (OFF, NOT_HERE):
        assert never.reason in examination_as_text([Examination("myi", state, (never,), (), 0.001)])
