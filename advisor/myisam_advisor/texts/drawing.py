"""What rich draws, as a text: as wide and as coloured as where it will be read, and plain where that is no terminal."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import TYPE_CHECKING, TextIO

from rich.console import Console

from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.width import PAGE_WIDTH, UNFOLDED, file_width

if TYPE_CHECKING:
    from rich.console import RenderableType

# Of a verdict and of the worst that was found.
TONES = {
    "critical": "bold red",
    "warning": "bold yellow",
    "info": "bold cyan",
    "unknown": "bold yellow",
    "good": "bold green",
}


class EncodedText(StringIO):
    """A text in memory that has the encoding of the stream it is for: frames are drawn in letters that it has."""

    def __init__(self, encoding: str) -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has an attribute, StringIO a property
        """The encoding of the stream that this text is for."""
        return self._encoding


def drawn(
    parts: Iterable[RenderableType],
    reader: TextIO | None,
    *,
    piped_width: int | None = None,
    maximum_width: int | None = None,
    soft_wrap: bool = False,
) -> str:
    """The parts one below the other, each ended by a line break.

    Args:
        parts: what is drawn.
        reader: the stream that the text is for; None for a file.
        piped_width: how wide it is where the reader is no terminal and COLUMNS does not say; UNFOLDED whatever that says.
        maximum_width: how wide it is at most on a terminal.
        soft_wrap: leave it to the terminal to break long lines.
    """
    real = Console(file=StringIO() if reader is None else reader)
    elsewhere = UNFOLDED if piped_width == UNFOLDED else file_width(piped_width or PAGE_WIDTH)
    width = min(real.width, maximum_width or real.width) if real.is_terminal else elsewhere
    page = EncodedText(real.encoding)
    console = Console(
        file=page,
        force_terminal=real.is_terminal,
        width=width,
        soft_wrap=soft_wrap,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        # A line that may not be broken is longer than the page, and whole.
        console.print(part, crop=False)
    return page.getvalue()


def as_read_by(reader: TextIO | None, text: str, *, keep_newlines: bool = False) -> str:
    """Text of a form for programs: as it is, but on a terminal, which it could steer, with escapes.

    A pipe stays one where colours are asked for in the environment, which `is_terminal` takes for a terminal.
    """
    return printable(text, keep_newlines) if reader is not None and reader.isatty() else text


def is_terminal(reader: TextIO | None) -> bool:
    """Whether colours show there."""
    return Console(file=StringIO() if reader is None else reader).is_terminal


def terminal_width(reader: TextIO | None) -> int | None:
    """How many columns the terminal has; None where the reader is none."""
    console = Console(file=StringIO() if reader is None else reader)
    return console.width if console.is_terminal else None


def without_padding(text: str) -> str:
    """The text without blanks at the ends of lines: a table pads its cells, which a file or a pipe has no use for."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())
