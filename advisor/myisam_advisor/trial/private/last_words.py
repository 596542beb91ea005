"""What a server said last that tells a person something: its errors, in one line, without the backtrace that some releases write of their own end."""

from __future__ import annotations

import re

MOST_LINES = 3
MOST_CHARACTERS = 800
# Below it stand addresses, which nobody but the server's makers can read: sql/signal_handler.cc, and in MySQL from 8.0 on its own library.
_CRASH = re.compile(r"^.*\bgot (?:signal|exception) .*$", re.MULTILINE)
_ERROR = re.compile(r"\berror\b|\bwhat\(\)", re.IGNORECASE)


def last_words(said: str) -> str:
    """The last lines of a server's log that are errors, else the last of all; empty where it said nothing."""
    crash = _CRASH.search(said)
    lines = [line.strip() for line in said[: crash.start() if crash else None].splitlines() if line.strip()]
    told = ([line for line in lines if _ERROR.search(line)] or lines)[-MOST_LINES:]
    if crash:
        told.append(crash.group().strip())
    return " | ".join(told)[-MOST_CHARACTERS:]
