"""Sentences on a terminal end their lines between words: a terminal by itself breaks a line in the middle of one."""

from __future__ import annotations

import os
from typing import Any

NARROWEST = 40


def fitted(text: str, stream: Any) -> str:
    """The text as wide as the stream's terminal; as it is where nobody knows how wide that is, or it is none. What somebody copies stays whole."""
    columns = _columns(stream)
    if columns is None or columns < NARROWEST or all(len(line) <= columns for line in text.split("\n")):
        return text
    from myisam_advisor.remedies.prose import broken

    return "\n".join(part for line in text.split("\n") for part in broken(line, columns))


def _columns(stream: Any) -> int | None:
    try:
        if not stream.isatty():
            return None
        told = os.environ.get("COLUMNS", "")
        return int(told) if told.isdecimal() and told.isascii() else os.get_terminal_size(stream.fileno()).columns
    except (AttributeError, OSError, ValueError):
        return None
