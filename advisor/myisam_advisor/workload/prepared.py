"""Statements prepared by name whose text a log does not have: they, and what is done with them, cannot be sent again.

MySQL 9.7 writes `PREPARE name FROM...` and no more into its slow log. EXECUTE and DEALLOCATE of what was prepared so, or before the
recording, would end with error 1243. Nor is prepared what would be left out if it were sent by itself, whether its text stands there or in a variable
of the connection's.
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.run_texts import strings
from myisam_advisor.workload.set_statement import assignments
from myisam_advisor.workload.statements import refused
from myisam_advisor.workload.tokens import behind_comments, tokens

TEXTLESS = "PREPARE without its text"
NOT_PREPARED = "of a PREPARE that is not recorded"
AS_WHAT_IT_RAN = "EXECUTE, kept as what it ran"
# Of all that tells statements, a probe alone has of EXECUTE no more than that.
WITHOUT_WHAT_RAN = "probe"
_MAXIMUM_NAMES = 100_000
NAME = rb"(`[^`]{1,256}`|[^\s`;]{1,256})"
_SUSPECT = re.compile(rb"\s*(?:/\*|#|--|(?:prepare|execute|deallocate|drop)\b)", re.IGNORECASE)
_IS_OF_PREPARED = re.compile(rb"\s*(?:prepare|execute|(?:deallocate|drop)\s+prepare)\b", re.IGNORECASE)
_PREPARE = re.compile(rb"\s*prepare\s+%s\s+from\s*(\.\.\.\s*(?:;\s*)?\Z)?" % NAME, re.IGNORECASE)
# MariaDB's, which has its text with it: its logs have what that ran as well, before it or behind it.
IMMEDIATE = re.compile(rb"\s*execute\s+immediate\b", re.IGNORECASE)
_USED = re.compile(rb"\s*(execute|deallocate\s+prepare|drop\s+prepare)\s+%s" % NAME, re.IGNORECASE)
_OF_VARIABLE = re.compile(rb"\s*(?:prepare\s+%s\s+from|execute\s+immediate)\s*(@[\w$.]{1,64})" % NAME, re.IGNORECASE)
_MAY_ASSIGN = re.compile(rb"\s*(?:/\*|#|--|(?:set|select)\b)", re.IGNORECASE)


def is_of_prepared(statement: bytes) -> bool:
    """Whether it is PREPARE, EXECUTE or DEALLOCATE PREPARE, also behind a comment."""
    return _SUSPECT.match(statement) is not None and _IS_OF_PREPARED.match(behind_comments(statement)) is not None


class Prepared:
    """The names that each connection has prepared with a text. `source` is the name of what tells them, as in a workload."""

    def __init__(self, source: str = "") -> None:
        self._has_what_ran = source != WITHOUT_WHAT_RAN
        self._names: set[tuple[int, bytes]] = set()
        # With more names than are kept nothing is left out that may have been prepared.
        self._knows_all = True
        # Of variables whose text is not to be run: what it is.
        self._refused_texts: dict[tuple[int, bytes], str] = {}

    def refused(self, event: Event) -> str | None:
        """What it is, where it cannot be sent again."""
        if is_of_prepared(event.statement):
            statement = behind_comments(event.statement)
            return self._refused_text(event.connection, statement) or self._refused(event, statement)
        if b"@" in event.statement and _MAY_ASSIGN.match(event.statement):
            self._assigned(event)
        return None

    def _refused(self, event: Event, statement: bytes) -> str | None:
        if (made := _PREPARE.match(statement)) is not None:
            return self._made((event.connection, plain(made[1])), made[2] is None)
        if IMMEDIATE.match(statement):
            return AS_WHAT_IT_RAN if self._has_what_ran else None
        used = _USED.match(statement)
        if used is None:
            return None
        key, word = (event.connection, plain(used[2])), used[1].split()[0].decode().upper()
        if key not in self._names and self._knows_all:
            return f"{word if word != 'DROP' else 'DEALLOCATE'} {NOT_PREPARED}"
        if word != "EXECUTE":
            self._names.discard(key)
        return None

    def _refused_text(self, connection: int, statement: bytes) -> str | None:
        """What the text is that it prepares or runs, where that is left out wherever it stands."""
        held, made = _OF_VARIABLE.match(statement), _PREPARE.match(statement)
        name = refused(statement) if held is None else self._refused_texts.get((connection, held[2].lower()))
        if name is not None and made is not None:
            # What was prepared by this name before is gone.
            self._names.discard((connection, plain(made[1])))
        return name

    def _assigned(self, event: Event) -> None:
        """Whether variables of the connection hold from now on what is not to be run."""
        words = tokens(event.statement)
        names = _assigned_variables(words)
        if not names:
            return
        texts = strings(event.statement)
        found = (refused(text) for text in (b"".join(texts), *texts))
        name = next((name for name in found if name is not None), None)
        for variable in names:
            if name is None:
                self._refused_texts.pop((event.connection, variable), None)
            elif len(self._refused_texts) < _MAXIMUM_NAMES:
                self._refused_texts[event.connection, variable] = name

    def _made(self, key: tuple[int, bytes], has_text: bool) -> str | None:
        if not has_text:
            self._names.discard(key)
            return TEXTLESS
        if len(self._names) < _MAXIMUM_NAMES:
            self._names.add(key)
        else:
            self._knows_all = False
        return None


def _assigned_variables(words: list[bytes]) -> list[bytes]:
    """The variables of the connection that SET assigns to, and SELECT behind INTO or before a sign."""
    lower = [word.lower() for word in words]
    if lower[:1] == [b"set"]:
        named = (one.name for one in assignments([word.decode("latin-1") for word in lower]))
        return [name[0].encode("latin-1") for name in named if len(name) == 1 and name[0][:1] == "@" != name[0][1:2]]
    end = lower.index(b"into") if b"into" in lower else len(lower)
    return [
        word
        for place, word in enumerate(lower)
        if word[:1] == b"@" != word[1:2] and (place > end or lower[place + 1 : place + 2] == [b":="])
    ]


def plain(name: bytes) -> bytes:
    """A name as servers compare it."""
    return name.strip(b"`").lower()
