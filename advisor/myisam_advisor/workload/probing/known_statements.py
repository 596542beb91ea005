"""What was prepared before a recording: asked of performance_schema, where that is on; the text is whole there where it is short.

Sources: MySQL manual, "The prepared_statements_instances Table"; storage/perfschema/pfs_prepared_stmt.h (a text of COL_INFO_SIZE bytes).
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.workload.sources.base import Asked
from myisam_exporter.errors import StatementRefusedError
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.sql import statement

_TEXT_BYTES = 1024
# Not with a condition on STATEMENT_NAME: MySQL 9.7 finds none by its index where it is NULL.
_QUESTION = statement(
    "SELECT t.PROCESSLIST_ID, p.STATEMENT_ID, p.STATEMENT_NAME, p.SQL_TEXT FROM performance_schema.prepared_statements_instances p "
    "JOIN performance_schema.threads t ON t.THREAD_ID = p.OWNER_THREAD_ID WHERE LENGTH(p.SQL_TEXT) < {} LIMIT 5000",
    _TEXT_BYTES,
)


def known_statements(asked: Asked) -> Mapping[tuple[int, int], bytes]:
    """By connection and number, those of the binary protocol; none where the server does not tell. Raises ServerLostError."""
    try:
        rows = asked.rows(_QUESTION, columns=4)
    except StatementRefusedError:
        # No such table before MySQL 5.7 and MariaDB 10.5, or no right to it.
        return {}
    known = {}
    for connection, number, name, text in rows:
        key = whole_number(connection), whole_number(number)
        # What is no ASCII may have been converted from another character set.
        if key[0] is not None and key[1] is not None and name is None and text and text.isascii():
            known[key[0], key[1]] = text.encode()
    return known
