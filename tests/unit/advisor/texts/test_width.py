"""How wide a text is, for a terminal, a pipe and a file."""

import io
import os
import shutil

import pytest

from myisam_advisor.texts.width import NARROWEST, PAGE_WIDTH, WIDEST, file_width, text_width


class Terminal(io.StringIO):
    """A stream that is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "width"), [(None, PAGE_WIDTH), ("80", 80), ("500", WIDEST), ("3", NARROWEST), ("0", PAGE_WIDTH), ("wide", PAGE_WIDTH), ("-80", PAGE_WIDTH), ("٨٠", PAGE_WIDTH)])
def test_a_pipe_is_as_wide_as_columns_says(monkeypatch: pytest.MonkeyPatch, columns: str | None, width: int) -> None:
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    assert file_width() == text_width(None) == text_width(io.StringIO()) == width


def test_a_terminal_has_its_own_width(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(shutil, "get_terminal_size", lambda _otherwise: os.terminal_size((72, 24)))
    assert (text_width(Terminal()), text_width(io.StringIO())) == (72, PAGE_WIDTH)
