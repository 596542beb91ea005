"""The password of `-p`, as mysql(1) has it: asked for on the terminal, and never taken from the command line, which every user can read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    import logging

PASSWORD_VARIABLE = "MYSQL_PWD"  # noqa: S105 - its name
PROMPT = "Enter password: "
REFUSED = (
    "a password on the command line can be read by every user of this machine, and stays in the shell's history: it was not used. Write -p alone, behind all other words, "
    "which asks for it, or put it into an option file that only you may read (--defaults-extra-file)."
)
HOST_WANTED = "-h is the host, as with mysql: write -h HOST; --help (or -?) is the help."
_TERMINAL = "/dev/tty"


class OwnPassword:
    """What -p and the environment say of it: asked for once, however often the server is connected to."""

    def __init__(self, *, asks: bool) -> None:
        self.asks = asks
        self.password: str | None = None
        self._environment: Mapping[str, str] | None = None
        self._has_warned = False

    def typed(self) -> str | None:
        """What was typed at the terminal, None where nobody wants to be asked. Raises UserError where there is no terminal."""
        if self.asks and self.password is None:
            self.password = _ask()
        return self.password

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment at the first look. MYSQL_PWD is taken out of ours: no program that we start inherits it."""
        if self._environment is None:
            self._environment = dict(os.environ)
            os.environ.pop(PASSWORD_VARIABLE, None)
        return self._environment

    def warn(self, origin: str) -> None:
        """Say once that the password came by the environment."""
        if origin.endswith(PASSWORD_VARIABLE) and not self._has_warned:
            self._has_warned = True
            _log().warning(
                "the password came from %s, where other programs may read it: an option file that only you may read is safer.",
                PASSWORD_VARIABLE,
            )


def _log() -> logging.Logger:
    import logging

    return logging.getLogger(__name__)


def _ask() -> str:
    from getpass import getpass

    try:
        os.close(os.open(_TERMINAL, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC))
    except OSError:
        raise UserError(
            "-p asks for the password on the terminal, and there is none: put it into an option file (--defaults-extra-file), or name a login path (--login-path)."
        ) from None
    try:
        return getpass(PROMPT)
    except EOFError:
        raise click.Abort from None


def refuse_words(command: click.Command, words: Sequence[str], context: click.Context) -> None:
    """Raise UsageError for a password among a command's words, before anything can show it, and for -h without a host.

    To click -pSECRET would be -p -S ECRET, and a word behind -p one of the command's own, which its complaints would show.
    """
    options = {name: parameter for parameter in command.params for name in parameter.opts}
    if "-p" not in options:
        return
    for word, following in _pairs(words):
        is_behind = word in ("-p", "--password") and following[:1] not in ("", "-")
        if is_behind or word.startswith("--password=") or _holds_password(word, options):
            raise click.UsageError(REFUSED, context)
        if word == "-h" and following[:1] in ("", "-"):
            raise click.UsageError(HOST_WANTED, context)


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each word up to --, with the next."""
    for word, following in zip(words, [*words[1:], ""], strict=False):
        if word == "--":
            return
        yield word, following


def _holds_password(word: str, options: Mapping[str, click.Parameter]) -> bool:
    """Whether something stands behind the p of a word of short options: -pSECRET, -vpSECRET."""
    if len(word) < 2 or word[0] != "-" or word[1] == "-":
        return False
    for position, letter in enumerate(word[1:], 1):
        option = options.get(f"-{letter}")
        if letter == "p":
            return bool(word[position + 1 :])
        if not isinstance(option, click.Option) or not option.is_flag:
            return False
    return False
