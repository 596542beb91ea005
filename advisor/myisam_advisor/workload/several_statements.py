"""Several statements that a client sent at once (CLIENT_MULTI_STATEMENTS): MariaDB's general log and a probe have them as one, and they are replayed one by one.

They are split at each `;` outside of strings, names and comments, where it is clear whether backslashes escape. What the source tells
of all of them together, durations and rows, is told of none. Bodies of stored programs, and MariaDB's compound statements, hold such signs themselves.

Sources: MySQL manual, "Multiple Statement Execution Support"; MariaDB manual, "Using Compound Statements Outside of Stored Programs".
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.set_statement import behind_set_statement
from myisam_advisor.workload.tokens import (
    behind_comments,
    ends_within_string,
    must_escape,
    places_outside,
    plain_name,
    tokens,
)

SEVERAL = "several statements at once"
_FIRST_BYTES = 1 << 12
_MAY_USE = re.compile(rb"\s*(?:use\b|/\*|#|--)", re.IGNORECASE)
_USE = re.compile(rb"\buse\b", re.IGNORECASE)
_USE_BYTES = 256
_BLANK = re.compile(rb"\s*\Z")
_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_PROGRAMS = frozenset((b"procedure", b"function", b"trigger", b"event", b"package"))
_COMPOUND = frozenset((b"declare", b"if", b"case", b"loop", b"while", b"repeat", b"for", b"<<"))
# Behind CREATE may stand OR REPLACE, a definer, AGGREGATE; behind one of these, names that are anything.
_NO_PROGRAMS = frozenset(
    b"( table temporary view index unique fulltext spatial database schema sequence server tablespace logfile".split()
)
_WORDS_BEFORE = 16
# With more it is not looked at: no client sends so many.
_MAXIMUM_PLACES = 10_000


def apart(event: Event) -> Sequence[Event] | None:
    """The event, or one for each of several statements, all of which began when the first did; None where it cannot be told where they part."""
    statement = event.statement
    end = statement.find(b";")
    if end < 0 or event.prepared or _BLANK.match(statement, end + 1):
        return (event,)
    found = parts(statement)
    if found is None or (len(found) > 1 and event.error):
        return None
    if len(found) < 2:
        return (event,)
    database, events = event.database, []
    for part in found:
        events.append(Event(event.connection, event.start_microseconds, None, database, part))
        database = used_database(part) or database
    return events


def used_database(statement: bytes) -> bytes | None:
    """The database that USE chooses, the last one of several; None where none does."""
    begin = statement[:_USE_BYTES]
    if statement.find(b";", 0, _FIRST_BYTES) >= 0 and _USE.search(statement, 0, _FIRST_BYTES) is not None:
        found = parts(statement) or ()
        if len(found) > 1:
            return next((used for part in reversed(found) if (used := used_database(part)) is not None), None)
    if not _MAY_USE.match(begin) or _USE.search(begin) is None:
        return None
    words = tokens(statement, _FIRST_BYTES)
    if len(words) < 2 or words[0].lower() != b"use" or words[2:] not in ([], [b";"]):
        return None
    return plain_name(words[1])


def parts(statement: bytes) -> Sequence[bytes] | None:
    """The statements, in their order, without those that are nothing but comments; None where it cannot be told where they part."""
    plain = _ESCAPE.sub(b"xx", statement) if b"\\" in statement else statement
    places = places_outside(plain, b";", _MAXIMUM_PLACES)
    if not places or not statement[places[0] + 1 :].strip() or _begins_a_body(statement[: places[0]]):
        return (statement,)
    if len(places) == _MAXIMUM_PLACES:
        return None
    pieces = _pieces(statement, places)
    if len(pieces) < 2 or _begins_a_body(pieces[0]):
        return (statement,)
    is_sure = plain is statement or places_outside(statement, b";", _MAXIMUM_PLACES) == places or must_escape(statement)
    return pieces if is_sure and _is_readable(statement) and not any(map(_begins_a_body, pieces[1:])) else None


def _pieces(statement: bytes, places: Sequence[int]) -> list[bytes]:
    begins = [0, *(place + 1 for place in places)]
    pieces = [statement[begin:end].strip() for begin, end in zip(begins, [*places, None], strict=True)]
    return [piece for piece in pieces if tokens(piece, _FIRST_BYTES) or len(piece) > _FIRST_BYTES]


def _is_readable(statement: bytes) -> bool:
    """Whether nothing is left open, no comment is code, and no sign may be the second half of a character."""
    if ends_within_string(statement) or b"/*!" in statement or b"/*M!" in statement:
        return False
    try:
        statement.decode()
    except UnicodeDecodeError:
        return b"`" not in statement and b"\\" not in statement
    return True


def _begins_a_body(piece: bytes) -> bool:
    """Whether a `;` may stand in it: in what CREATE defines, and in compound statements."""
    lower = [word.lower() for word in tokens(behind_comments(piece), _FIRST_BYTES)]
    lower = lower[behind_set_statement(lower) :]
    first, second = (*lower[:2], b"", b"")[:2]
    if first in (b"create", b"alter"):
        kind = next((word for word in lower[1:_WORDS_BEFORE] if word in _PROGRAMS or word in _NO_PROGRAMS), b"")
        return kind in _PROGRAMS
    if first == b"begin":
        return second not in (b"", b"work")
    return first in _COMPOUND or second == b":"
