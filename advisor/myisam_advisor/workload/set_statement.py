"""SET as it is read wherever statements of others are: what it assigns for which scope, and MariaDB's `SET STATEMENT ... FOR statement`.

Tried on MySQL 5.6 and 9.7, MariaDB 11.8: the word GLOBAL holds for what is assigned behind it, too, until another such word (`SET GLOBAL a=1, b=2` sets both for
all connections); `@@GLOBAL.` holds for its own variable alone. `global.x` without these signs ends with an error.

Sources: MySQL manual, "SET Syntax for Variable Assignment"; MariaDB manual, "SET", "SET STATEMENT"; sql/sql_yacc.yy (the values are expressions: `for` and commas
may stand in their parentheses).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from myisam_exporter.declaring.lean_dataclasses import dataclass

GLOBAL, PERSIST, PERSIST_ONLY, SESSION = "global", "persist", "persist_only", "session"
# Those that outlive the session which sets them.
OF_ALL = frozenset((GLOBAL, PERSIST, PERSIST_ONLY))
_SCOPES = {GLOBAL: GLOBAL, PERSIST: PERSIST, PERSIST_ONLY: PERSIST_ONLY, SESSION: SESSION, "local": SESSION}
_SIGNS = ("=", ":=")


@dataclass(frozen=True, slots=True)
class Assignment:
    """One of the assignments of a SET.

    Attributes:
        scope: one of the words above; the session's where nothing says another.
        name: the words of the variable's name: of a named key cache, its name and a point before it.
        is_of_variable: a sign stands behind the name, as behind a variable's.
        begin: the place, among the words, where its value begins.
        end: the place behind its value.
    """

    scope: str
    name: tuple[str, ...]
    is_of_variable: bool
    begin: int
    end: int


def assignments(words: Sequence[str]) -> Sequence[Assignment]:
    """What a SET assigns, in its order; nothing where the words are another statement's.

    What is no variable (NAMES, PASSWORD, ROLE, TRANSACTION) is an assignment to that word.
    """
    lower = [word.lower() for word in words]
    if lower[:1] != ["set"]:
        return ()
    found: list[Assignment] = []
    scope = SESSION
    for begin, end in _between_commas(lower):
        at = begin
        if lower[at] in _SCOPES and at + 1 < end and lower[at + 1] not in (".", *_SIGNS):
            scope, at = _SCOPES[lower[at]], at + 1
        own, behind = _own_scope(lower, at)
        name_at = behind if own else at
        sign = next((place for place in range(name_at, end) if lower[place] in _SIGNS), None)
        # What has no sign (NAMES utf8, TRANSACTION READ ONLY) is its first word.
        name_end = min(name_at + 1, end) if sign is None else sign - (lower[sign - 1] == ":")
        value_at = name_end if sign is None else sign + 1
        found.append(Assignment(own or scope, tuple(words[name_at:name_end]), sign is not None, value_at, end))
    return found


def sets_for_all(words: Sequence[str]) -> str | None:
    """The first scope of a SET that outlives its session; None where it has none such."""
    return next((one.scope for one in assignments(words) if one.scope in OF_ALL), None)


def _own_scope(lower: Sequence[str], at: int) -> tuple[str, int]:
    """The scope that stands before a variable's name, as in `@@GLOBAL.`, and the place behind it; none where nothing does.

    A comment that is code parts the signs from it. Between quotes each server that was tried refuses it: nobody loses what is read as meant.
    """
    signs = 2 if lower[at : at + 2] == ["@", "@"] else 1 if lower[at] == "@@" else 0
    word = lower[at + signs] if at + signs < len(lower) else ""
    if not signs and not word.startswith("@@"):
        return "", at
    behind = at + signs + 1
    scope = _SCOPES.get(word.removeprefix("@@").strip("`"), "")
    return (scope, behind + 1) if scope and list(lower[behind : behind + 1]) == ["."] else ("", at)


def _between_commas(lower: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each assignment begins and ends: at commas outside of parentheses, and at the statement's own end."""
    begin, depth = 1, 0
    for place in range(1, len(lower) + 1):
        word = lower[place] if place < len(lower) else ";"
        depth += (word == "(") - (word == ")")
        is_end = place == len(lower) or (word == ";" and depth <= 0)
        if is_end or (word == "," and depth <= 0):
            if begin < place:
                yield begin, place
            begin = place + 1
        if is_end:
            return


def behind_set_statement(lower: Sequence[bytes]) -> int:
    """The place among a statement's words, in lower case, where the one begins that is run: 0 where nothing stands before it."""
    begin = 0
    while lower[begin : begin + 2] == [b"set", b"statement"]:
        depth = 0
        for place in range(begin + 2, len(lower)):
            word = lower[place]
            depth += (word == b"(") - (word == b")")
            if word == b"for" and not depth:
                begin = place + 1
                break
        else:
            break
    return begin
