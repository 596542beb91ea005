"""Bytes of a terminal as keys: letters as themselves, others by name. What no key sends is left out.

Sources: ECMA-48 5.4 (control sequences), terminfo(5) of xterm, linux, screen and tmux (their cursor keys agree).
"""

from __future__ import annotations

import codecs
import re

ESCAPE = "\x1b"
_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[ -~])")
_BEGUN = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?")
_NAMED = {
    "A": "up", "B": "down", "C": "right", "D": "left", "H": "home", "F": "end", "M": "enter",
    "1~": "home", "7~": "home", "4~": "end", "8~": "end", "5~": "page up", "6~": "page down",
}  # fmt: skip
_CONTROLS = {
    "\r": "enter", "\n": "enter", "\x7f": "backspace", "\x08": "backspace", "\x15": "delete line", "\x0c": "redraw",
    "\x04": "q", "\x06": "page down", "\x02": "page up",
}  # fmt: skip


class Keys:
    """Keys from what is read, in whatever portions it comes."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    @property
    def is_waiting(self) -> bool:
        """Whether the last byte may be the Escape key, or the first of a sequence: what comes within a moment belongs to it."""
        return bool(self._rest)

    def read(self, portion: bytes) -> list[str]:
        """The keys that are complete."""
        text = self._rest + self._decoder.decode(portion)
        self._rest = ""
        keys: list[str] = []
        while text:
            sequence = _SEQUENCE.match(text)
            if sequence is not None:
                keys += _named(sequence[0])
                text = text[sequence.end() :]
            elif _BEGUN.fullmatch(text):
                self._rest, text = text, ""
            else:
                keys += _single(text[0])
                text = text[1:]
        return keys

    def nothing_more(self) -> list[str]:
        """The moment has passed: what seemed to begin a sequence was the Escape key."""
        begun, self._rest = self._rest, ""
        return ["escape"] if begun else []


def _named(sequence: str) -> list[str]:
    """A key with a modifier (1;5A) is the key itself."""
    body = re.sub(r"^1?;\d+|;\d+(?=~)", "", sequence[2:])
    return [_NAMED[body]] if body in _NAMED else []


def _single(letter: str) -> list[str]:
    if letter == ESCAPE:
        return ["escape"]
    return [_CONTROLS.get(letter, letter)] if letter.isprintable() or letter in _CONTROLS else []
