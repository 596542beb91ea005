"""What rich draws, as a text: coloured and as wide as a terminal, plain for everything else, and nothing is printed."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from myisam_advisor.texts.drawing import as_read_by, drawn, is_terminal, without_padding
from myisam_advisor.texts.width import UNFOLDED


class Stream(io.StringIO):
    """A stream that says what it is."""

    def __init__(self, terminal: bool, encoding: str = "utf-8") -> None:
        super().__init__()
        self._terminal, self._encoding = terminal, encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding

    def isatty(self) -> bool:
        return self._terminal


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")


def test_a_terminal_gets_colours_and_its_width_and_a_file_neither(capsys: pytest.CaptureFixture[str]) -> None:
    parts = [Text("word " * 12, style="bold red")]
    on_terminal, in_file = (drawn(parts, reader, piped_width=UNFOLDED) for reader in (Stream(terminal=True), None))
    assert "\x1b[1;31m" in on_terminal
    assert len(on_terminal.splitlines()) == 2
    assert in_file.splitlines() == [("word " * 12).rstrip() + " "]
    assert drawn(parts, Stream(terminal=True), piped_width=100, maximum_width=20).count("\n") == 3
    assert capsys.readouterr() == ("", "")


def test_names_are_no_markup() -> None:
    assert drawn([Text("[red]"), "[bold]x[/bold] :smile:"], None, piped_width=80) == "[red]\n[bold]x[/bold] :smile:\n"


def test_frames_are_drawn_in_letters_that_the_reader_has() -> None:
    table = Table("a")
    table.add_row("b")
    assert drawn([table], Stream(terminal=False, encoding="ascii"), piped_width=80).isascii()
    assert "┃" in drawn([table], Stream(terminal=False), piped_width=80)


def test_only_a_terminal_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [is_terminal(reader) for reader in (None, Stream(terminal=False), Stream(terminal=True))] == [False, False, True]
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert is_terminal(None)


def test_padding_ends_with_the_line() -> None:
    assert without_padding("a  \n\n b \n") == "a\n\n b\n"


def test_a_form_for_programs_is_escaped_for_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = "\x1b[31m\x9b\u202e\n"
    assert as_read_by(None, text) == as_read_by(Stream(terminal=False), text) == text
    assert as_read_by(Stream(terminal=True), text) == "\\x1b[31m\\x9b\\u202e\\n"
    assert as_read_by(Stream(terminal=True), text, keep_newlines=True) == "\\x1b[31m\\x9b\\u202e\n"


@pytest.mark.parametrize(("columns", "lines"), [("40", 2), ("", 1)])
def test_columns_decides_how_wide_a_pipe_is_whatever_it_is_otherwise(columns: str, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert len(drawn([Text("word " * 12)], Stream(terminal=False), piped_width=100).splitlines()) == lines
