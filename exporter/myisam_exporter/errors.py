"""Errors that are the user's to mend. Each message names the thing and the remedy."""

from __future__ import annotations

from myisam_exporter.brief import shortened

MAXIMUM_TEXT_CHARACTERS = 512


class UserError(Exception):
    """Bad input or an unreachable server: shown as one message, exit status 2, never with a traceback.

    The message has a bounded length, whatever input it quotes.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


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
