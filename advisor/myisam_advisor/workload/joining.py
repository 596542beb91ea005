"""Entries of a log that are one statement: a string or a comment in it holds a line that looks like the beginning of an entry.

A statement whose quotes or comments do not close is written by a server as any other, with the error that it gave. What follows it is no part of it:
taken for one, the values of other statements would stand outside of strings, and those would be missing. So entries are made one only
where nothing between them could have been written by itself, and the whole reads as a statement does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TypeVar

from myisam_advisor.workload.file_format import MAXIMUM_STATEMENT_BYTES
from myisam_advisor.workload.tokens import ends_a_comment, ends_within_string, is_sane, never_ends

UNCLOSED = "quotes that do not close"
# How many lines in one string may look like the beginning of an entry.
_MAXIMUM_JOINED = 64
# A word, a comment, a parenthesis; nothing, behind a command without an argument. The rest of a string begins with its quote, as good as always.
_BEGINS = re.compile(rb"[\s(]*(?:[A-Za-z]|/\*|--|#|\Z)")

Head = TypeVar("Head", bound=re.Match[bytes])
# What stands before the statement, and the statement with all that ends it.
Entry = tuple[Head, bytes]


def joined(
    found: Iterator[Entry[Head]],
    is_proper: Callable[[Head], bool] = lambda _: True,
    is_ended: Callable[[bytes], bool] = lambda _: True,
) -> Iterator[tuple[Head, bytes, bool]]:
    """Entries with those made one that a string or a comment was cut into, and whether those of each close.

    Args:
        found: the entries.
        is_proper: whether the log itself writes such a line before a statement.
        is_ended: whether the log itself writes such an end behind a statement: where it does not, a line that follows is in a string or a comment.
    """
    held: list[Entry[Head]] = []
    is_within = False
    for head, statement in found:
        if held and not is_within and is_proper(head) and _stands_alone(statement):
            yield from _one_by_one(held)
            held = []
        if not held and not ends_within_string(statement):
            yield head, statement, True
            continue
        held.append((head, statement))
        whole = held[0][1] + b"".join(further_head[0] + further for further_head, further in held[1:])
        if len(held) > 1 and not ends_within_string(whole):
            # What closes it may be the beginning of another.
            if is_sane(whole):
                yield held[0][0], whole, True
                held = []
            else:
                may_begin = ends_within_string(statement)
                yield from _one_by_one(held[:-1] if may_begin else held)
                held = held[-1:] if may_begin else []
        elif len(held) >= _MAXIMUM_JOINED or len(whole) >= MAXIMUM_STATEMENT_BYTES:
            yield from _one_by_one(held)
            held = []
        is_within = bool(held) and ((is_within and len(held) > 1) or not is_ended(statement))
    yield from _one_by_one(held)


def _stands_alone(statement: bytes) -> bool:
    return _BEGINS.match(statement) is not None and not ends_within_string(statement) and not ends_a_comment(statement)


def _one_by_one(held: list[Entry[Head]]) -> Iterator[tuple[Head, bytes, bool]]:
    """Each by itself: its quotes may close where backslashes are letters."""
    for head, statement in held:
        yield head, statement, _BEGINS.match(statement) is not None and not never_ends(statement)
