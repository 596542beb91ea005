"""Which procedures and functions a statement calls, as its words tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise


def plain(word: bytes) -> str:
    """A word as the name that it is."""
    text = word.decode("utf-8", "surrogateescape")
    return text[1:-1].replace("``", "`") if len(text) > 1 and text[0] == text[-1] == "`" else text


def called_in(words: Sequence[bytes], database: bytes | None) -> frozenset[tuple[str, str]]:
    """What a statement calls, as its words tell: CALL name, and each name before a parenthesis, which may be a function of the server's own."""
    default = database.decode("utf-8", "surrogateescape") if database is not None else ""
    found = set()
    for number, (word, following) in enumerate(pairwise([*words, b""])):
        is_called = following == b"(" or (number and words[number - 1].lower() == b"call" and following != b".")
        is_behind_dot = number > 1 and words[number - 1] == b"."
        if is_behind_dot and not is_called:
            is_called = number > 2 and words[number - 3].lower() == b"call"
        if is_called and (word[:1] == b"`" or word[:1].isalpha() or word[:1] == b"_"):
            schema = plain(words[number - 2]) if is_behind_dot else default
            found.add((schema, plain(word).lower()))
    return frozenset(found)
