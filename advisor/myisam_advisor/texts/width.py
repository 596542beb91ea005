"""How wide a text is: as its reader's terminal, as COLUMNS says where there is none, else as a page."""

from __future__ import annotations

import os
from typing import TextIO

PAGE_WIDTH = 100
# Narrower than this nothing is legible; longer lines of prose tire the eye.
NARROWEST, WIDEST = 20, 120
# No line of ours is so wide. A sentence is one line of what a pipe or a file is given: grep reads it.
UNFOLDED = 10_000


def text_width(reader: TextIO | None) -> int:
    """The width of prose for this reader; None is a file."""
    if reader is not None and reader.isatty():
        # With what it can pack and unpack, more than a hundredth of what `check` takes to start.
        import shutil

        return _bounded(shutil.get_terminal_size((PAGE_WIDTH, 0)).columns)
    return file_width()


def file_width(otherwise: int = PAGE_WIDTH) -> int:
    """The width for a file or a pipe; `otherwise` where COLUMNS does not say."""
    columns = os.environ.get("COLUMNS", "")
    return _bounded(int(columns)) if columns.isascii() and columns.isdigit() and int(columns) else otherwise


def _bounded(width: int) -> int:
    return max(NARROWEST, min(width, WIDEST))
