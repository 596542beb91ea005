"""What servers say of the rows that a statement returned, as far as it can be believed.

Tried on MySQL 5.5 to 9.7 and MariaDB 10.11 and 11.8: what the query cache answers has examined no row. Of it MySQL tells 0 rows sent; MariaDB those that
FOUND_ROWS() would tell, which with LIMIT are others. Of HANDLER ... READ all tell 0, or the rows that it skipped as well.
"""

from __future__ import annotations

import re

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.tokens import behind_comments

_SELECT, _HANDLER = b"select", b"handler"
_FIRST_BYTES = 256
_BEFORE = b" \t\r\n("
_LIMIT = re.compile(rb"\blimit\b", re.IGNORECASE)
# MySQL gave the query cache up with this version, MariaDB has it to this day.
_FIRST_WITHOUT_CACHE = 8


def may_cache(flavour: str, server_version: str) -> bool:
    """Whether such a server may have a query cache, as far as is known which it is."""
    major = server_version.partition(".")[0]
    return flavour == "mariadb" or not major.isdecimal() or int(major) < _FIRST_WITHOUT_CACHE


def with_believed_rows(event: Event, cache: bool) -> Event:
    """The event without the number of its rows where that need not be it; `cache`: its server may have a query cache."""
    if event.rows_sent is None:
        return event
    is_told = not _begins(event.statement, _HANDLER)
    if is_told and cache and not event.rows_examined and _begins(behind_comments(event.statement), _SELECT):
        is_told = event.rows_sent > 0 and not _LIMIT.search(event.statement)
    return event if is_told else event._replace(rows_sent=None)


def _begins(statement: bytes, word: bytes) -> bool:
    return statement[:_FIRST_BYTES].lstrip(_BEFORE)[: len(word)].lower() == word
