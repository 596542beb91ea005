"""What PREPARE and EXECUTE have as text: which statement EXECUTE runs, its own words do not tell.

Source: MySQL manual, "PREPARE Statement"; MariaDB manual, "EXECUTE IMMEDIATE".
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.prepared import IMMEDIATE, NAME, plain
from myisam_advisor.workload.run_texts import MAXIMUM_TEXT_BYTES, unescaped
from myisam_advisor.workload.tokens import behind_comments

MAXIMUM_NAMES, MAXIMUM_KEPT_BYTES = 100_000, 64 << 20
_PREPARE = re.compile(rb"\s*prepare\s+%s\s+from\b" % NAME, re.IGNORECASE)
_EXECUTE = re.compile(rb"\s*execute\s+%s" % NAME, re.IGNORECASE)
# Others may be the same name in other letters, as servers compare them: `ä` is `a`, and "a" with ANSI_QUOTES.
_PLAIN_NAME = re.compile(rb"`?[\w$]+`?")
_IS_PREPARE = re.compile(rb"\s*prepare\b", re.IGNORECASE)
_RELEASE = re.compile(rb"\s*(?:deallocate|drop)\s+prepare\s+%s" % NAME, re.IGNORECASE)
_LITERAL = re.compile(
    rb"""\s*(?:'([^'\\]*(?:(?:\\.|'')[^'\\]*)*)'|"([^"\\]*(?:(?:\\.|"")[^"\\]*)*)")\s*(?:using\b.*)?\Z""",
    re.DOTALL | re.IGNORECASE,
)
_END = b" \t\r\n;\0"


class PreparedTexts:
    """The texts that connections have prepared by name, with the database that they stood in then; a text in a variable is not known."""

    def __init__(self) -> None:
        self._texts: dict[int, dict[bytes, tuple[bytes | None, bytes | None]]] = {}
        self._kept = self._kept_bytes = 0

    def prepared(self, event: Event) -> Event | None:
        """The statement that the event prepares; None where it prepares none, or its text is not known."""
        statement = behind_comments(event.statement)
        released = _RELEASE.match(statement)
        if released is not None:
            self._release(event.connection, plain(released[1]))
        found = _PREPARE.match(statement)
        if found is None or not _PLAIN_NAME.fullmatch(found[1]):
            if _IS_PREPARE.match(statement):
                self.forget(event.connection)
            return None
        text, name = _literal(statement, found.end()), plain(found[1])
        self._release(event.connection, name)
        # Where there is no more room, those of the connection go that prepared first.
        while self._texts and (self._kept >= MAXIMUM_NAMES or self._kept_bytes >= MAXIMUM_KEPT_BYTES):
            self.forget(next(iter(self._texts)))
        self._texts.setdefault(event.connection, {})[name] = text, event.database
        self._kept += 1
        self._kept_bytes += len(text or b"")
        return None if text is None else event._replace(statement=text)

    def released(self, event: Event) -> Event | None:
        """The statement whose name the event gives up; None where it gives up none, or its text is not known."""
        found = _RELEASE.match(behind_comments(event.statement))
        text, _ = (None, None) if found is None else self._of(event.connection, found[1])
        return None if text is None else event._replace(statement=text)

    def executed(self, event: Event) -> Event | None:
        """The statement that the event executes; None where it executes none, or its text is not known."""
        statement = behind_comments(event.statement)
        immediate = IMMEDIATE.match(statement)
        if immediate is not None:
            text = _literal(statement, immediate.end())
            return None if text is None else event._replace(statement=text)
        found = _EXECUTE.match(statement)
        text, database = (None, None) if found is None else self._of(event.connection, found[1])
        return None if text is None else event._replace(statement=text, database=database)

    def forget(self, connection: int) -> None:
        """It prepares something in words that are not read here: whatever it has prepared may be another statement now."""
        for name in list(self._texts.get(connection, ())):
            self._release(connection, name)

    def _of(self, connection: int, name: bytes) -> tuple[bytes | None, bytes | None]:
        return self._texts.get(connection, {}).get(plain(name), (None, None))

    def _release(self, connection: int, name: bytes) -> None:
        texts = self._texts.get(connection, {})
        gone = texts.pop(name, None)
        if gone is not None:
            self._kept -= 1
            self._kept_bytes -= len(gone[0] or b"")
            if not texts:
                del self._texts[connection]


def _literal(statement: bytes, begin: int) -> bytes | None:
    """The text of the only string from here on; None where something else stands there, or it is too long."""
    if len(statement) > MAXIMUM_TEXT_BYTES:
        return None
    found = _LITERAL.match(statement.rstrip(_END), begin)
    return None if found is None else unescaped(found[1], found[2])
