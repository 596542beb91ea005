"""Text for a terminal whose last words stay together: a price in brackets or a rule's name is not broken, and no word is left alone in a line."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.table import Table
from rich.text import Text

# A last line that is shorter than this looks like a mistake.
SHORT_COLUMNS = 10


class Ended:
    """A text and its end, which begins a line of its own where it would be broken."""

    def __init__(self, text: Text, end: Text | None = None) -> None:
        self.text, self.end = text, end

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterable[RenderableType]:
        """The lines for the width that there is."""
        yield from self._lines(console, options.max_width)

    def _lines(self, console: Console, width: int) -> list[Text]:
        if self.end is None:
            return _balanced(console, self.text, width)
        together = Text.assemble(self.text, " ", self.end)
        lines = _balanced(console, together, width)
        if lines[-1].plain.endswith(self.end.plain) or self.end.cell_len > width:
            return lines
        return [*_balanced(console, self.text, width), self.end]


def _balanced(console: Console, text: Text, width: int) -> list[Text]:
    """As many lines as it takes, but narrower ones where the last would be a short word's."""
    lines = _wrapped(console, text, width)
    narrower = width
    while len(lines) > 1 and lines[-1].cell_len < SHORT_COLUMNS and narrower > width // 2:
        narrower -= 1
        found = _wrapped(console, text, narrower)
        if len(found) > len(lines):
            break
        lines = found
    return lines


def _wrapped(console: Console, text: Text, width: int) -> list[Text]:
    lines = list(text.wrap(console, width, overflow="fold"))
    for line in lines:
        line.rstrip()
    return lines


def behind(start: Text, text: Ended) -> Table:
    """The text behind its start, under which none of its lines begins."""
    grid = Table.grid(padding=(0, 1, 0, 0))
    grid.add_column(no_wrap=True, width=start.cell_len)
    grid.add_column()
    grid.add_row(start, text)
    return grid
