"""Errors that are the user's to mend. Each message names the thing and the remedy, and never grows with its input."""

from __future__ import annotations

import reprlib

MAXIMUM_TEXT_CHARACTERS = 512
MAXIMUM_VALUE_CHARACTERS = 80
MAXIMUM_MESSAGE_CHARACTERS = 2000
MORE_MEMORY = (
    "raise what limits the memory of this program (ulimit -v, the control group or MemoryMax=), or end something else"
)


class _Brief(reprlib.Repr):
    """Three levels, a few elements of each, and short texts."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel = 3
        self.maxstring = self.maxother = self.maxlong = MAXIMUM_VALUE_CHARACTERS

    def repr_int(self, x: int, level: int) -> str:
        """Python refuses to write integers of more than some thousand digits in decimal."""
        if abs(x) >= 10**MAXIMUM_VALUE_CHARACTERS:
            return f"a whole number of {x.bit_length()} bits"
        return super().repr_int(x, level)


_brief = _Brief()


def brief(value: object) -> str:
    """`repr` of a value of any size, in some hundred characters."""
    return _brief.repr(value)


def shortened(text: str, maximum_characters: int = MAXIMUM_MESSAGE_CHARACTERS) -> str:
    """The text; the middle of a longer one is left out, because messages say at their end what is wrong."""
    if len(text) <= maximum_characters:
        return text
    half = (maximum_characters - 5) // 2
    return f"{text[:half]} ... {text[-half:]}"


class UserError(Exception):
    """Bad input or an unreachable server: shown as one message, exit status 2, never with a traceback.

    The message has a bounded length, whatever input it quotes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class ByHandError(UserError):
    """Its message ends with commands for the user, each on a line of its own: the only line breaks that are shown as such."""


class InterruptedWork(KeyboardInterrupt):
    """Somebody ended what had changed something: what became of that is to be said. Lines of their own are commands for the user."""


class ServerLostError(UserError):
    """The server went away, hung or restarted while it was being looked at, or sent what no server sends."""


class StatementRefusedError(UserError):
    """The server answered a statement with an error of its own; the connection goes on.

    `number` and `text` are the server's; the text is one line of at most 512 characters.
    """

    def __init__(self, number: int, text: str) -> None:
        self.number = number
        self.text = "".join(letter if letter.isprintable() else " " for letter in text[:MAXIMUM_TEXT_CHARACTERS])
        super().__init__(f"the server refused: {self.text} (error {number}).")
