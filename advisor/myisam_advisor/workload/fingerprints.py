"""The kind of a statement: what is left of it without its values, comments and spacing.

Nothing of a literal is in a fingerprint. Names and keywords are in lower case, but for names between backticks that have upper-case letters
or signs in them: those keep both. What stands in IN or VALUES is `(?+)`, however many it is.

Source: percona-toolkit, QueryRewriter.pm, whose `fingerprint` is what users compare with.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from itertools import takewhile

from myisam_advisor.workload.tokens import GLUED, LITERAL, never_ends, tokens, without_values

MAXIMUM_CHARACTERS = 2000
_LIST = b"(?+)"
_ROW_WORDS = frozenset((b"values", b"value"))
_LIST_WORDS = _ROW_WORDS | {b"in"}
_PLAIN = re.compile(rb"`([a-z_$][a-z0-9_$]*)`")
_WORD = re.compile(rb"[a-z0-9_$@`\x80-\xff]")
_SPACED = frozenset(
    b"all and any as between by else end exists from having in index into is join key like limit not on or over partition "
    b"select set table then union using value values when where with".split()
)
# A sign here belongs to the number behind it.
_BEFORE_SIGN = frozenset(
    b"( , = < > <= >= <> != <=> := + - * / % and or not in between like limit offset select set return then else when by values "
    b"interval is".split()
)
# A word right behind a value is no word of the statement: 'O'Brien'.
_GLUED_VALUE = re.compile(rb"\?" + GLUED.pattern, re.IGNORECASE)
# As the slow log and the general log begin an entry.
_LOG_LINE = re.compile(
    rb"[\n\0](?:# User@Host: |# Time: |(?:\d{6} [ \d]\d:\d\d:\d\d|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}[^ \t\n]{1,6}|\t)[\t ]+\d+ [A-Z][A-Za-z_ ]*(?:\t|\r?\n|\Z))"
)
_VALUE_WORDS = frozenset((b"null", b"true", b"false", b"default"))
# A variable may be set to any other word as to a string: SET sql_mode = ANSI.
_SET_WORDS = frozenset(b"on off default true false null".split())
_BARE_WORD = re.compile(rb"[a-z0-9_$\x80-\xff]+")
_BEFORE_VALUE = frozenset(b"( , = < > <= >= <> != <=>".split())


def fingerprint(statement: bytes) -> str:
    """The kind of a statement as one line of at most 2,000 characters; empty for one that is comments and spaces alone."""
    if _is_broken(statement):
        return _made(statement, whole=False)
    key = without_values(statement)
    if key is not None and _GLUED_VALUE.search(key):
        return _made(statement, whole=False)
    return _made(statement) if key is None else _remembered.of(key, statement)


def kind_id(kind: str) -> str:
    """A short name of a fingerprint: 16 hexadecimal digits."""
    return hashlib.sha256(kind.encode("utf-8", "surrogatepass")).hexdigest()[:16]


class _Remembered:
    """Fingerprints of statements that differ in their values alone are made once."""

    def __init__(self) -> None:
        self._statement = b""
        self._of_key = lru_cache(maxsize=4096)(self._make)

    def of(self, key: bytes, statement: bytes) -> str:
        """The fingerprint of a statement that gives this key."""
        self._statement = statement
        return self._of_key(key)

    def _make(self, key: bytes) -> str:
        return _made(self._statement)


_remembered = _Remembered()


def _is_broken(statement: bytes) -> bool:
    """Whether what looks like a literal may be none: its quotes do not close, or it holds a line of a log, which others may follow."""
    return never_ends(statement) or (b"\n" in statement and _LOG_LINE.search(statement) is not None)


def _made(statement: bytes, whole: bool = True) -> str:
    """The fingerprint; of one that is not to be read whole what stands before its first literal, and one `?` for the rest."""
    words = tokens(statement)
    if not whole:
        words = [*takewhile(lambda word: word != LITERAL and b"\n" not in word, words), LITERAL]
    folded = _folded(_without_set_words([_written(token) for token in words]))
    while folded and folded[-1] == b";":
        folded.pop()
    text = _joined(folded).decode("utf-8", "replace")[:MAXIMUM_CHARACTERS]
    return text if text.isprintable() else "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _without_set_words(parts: list[bytes]) -> list[bytes]:
    """Words that variables are set to are values; calls, and names with a schema or an alias, are none."""
    if parts[:1] != [b"set"]:
        return parts
    return [
        LITERAL
        if before in (b"=", b":=")
        and part not in _SET_WORDS
        and _BARE_WORD.fullmatch(part)
        and following not in (b"(", b".")
        else part
        for before, part, following in zip([b"", *parts], parts, [*parts[1:], b""], strict=False)
    ]


def _written(token: bytes) -> bytes:
    if not token.startswith(b"`"):
        return token.lower()
    plain = _PLAIN.fullmatch(token)
    return plain[1] if plain else token


class _Group:
    """What stands between two parentheses: where its text begins, the word before it, and whether it is values alone so far."""

    __slots__ = ("begin", "of_values", "word")

    def __init__(self, begin: int, word: bytes) -> None:
        self.begin, self.word, self.of_values = begin, word, True


def _folded(parts: list[bytes]) -> list[bytes]:
    """With values for the words that are values, without signs of numbers, and each list as one; of several rows the first."""
    folded: list[bytes] = []
    groups = [_Group(0, b"")]
    at = 0
    while at < len(parts):
        token, before = parts[at], folded[-1] if folded else b"("
        at += 1
        if token in _VALUE_WORDS and before in _BEFORE_VALUE:
            token = LITERAL
        if token in (b"+", b"-") and before in _BEFORE_SIGN and parts[at : at + 1] == [LITERAL]:
            continue
        folded.append(token)
        if token == b"(":
            groups.append(_Group(len(folded) - 1, before))
        elif token == b")" and len(groups) > 1:
            at = _after_rows(parts, at) if _close(groups, folded) in _ROW_WORDS else at
        elif token not in (LITERAL, b","):
            groups[-1].of_values = False
    return folded


def _close(groups: list[_Group], folded: list[bytes]) -> bytes:
    """Write the last group as a list if it is one, and say which word it stood behind."""
    group = groups.pop()
    if not group.of_values:
        groups[-1].of_values = False
    elif group.word in _LIST_WORDS:
        folded[group.begin :] = [_LIST]
    return group.word


def _after_rows(parts: list[bytes], at: int) -> int:
    """Where the statement goes on behind further rows: , (...), (...)."""
    while parts[at : at + 2] == [b",", b"("]:
        at, depth = at + 2, 1
        while depth and at < len(parts):
            depth += (parts[at] == b"(") - (parts[at] == b")")
            at += 1
    return at


def _joined(parts: list[bytes]) -> bytes:
    """One line; spaces as they are usual, whatever was written."""
    line: list[bytes] = []
    before = b""
    for token in parts:
        if line and not _touches(before, token):
            line.append(b" ")
        line.append(token)
        before = token
    return b"".join(line)


def _touches(before: bytes, token: bytes) -> bool:
    if token in (b",", b")", b".", b";") or before in (b"(", b".", b"@"):
        return True
    return token == b"(" and before not in _SPACED and _WORD.match(before) is not None
