"""Which statements performance_schema watches: switches of the whole server's, and of its connections. They are read and never set.

Source: MySQL manual, "Performance Schema Setup Tables" and "Pre-Filtering by Consumer".
"""

from __future__ import annotations

from myisam_exporter.server.sql import statement

CONSUMERS = statement("SELECT NAME, ENABLED FROM performance_schema.setup_consumers")
WATCHED = statement(
    "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'statement/sql/%%' AND ENABLED = 'YES' AND TIMED = 'YES'"
)
NOT_WATCHED = statement(
    "SELECT COUNT(*) FROM performance_schema.setup_instruments WHERE NAME LIKE 'statement/sql/%%' AND (ENABLED = 'NO' OR TIMED = 'NO')"
)
THREADS_NOT_WATCHED = statement(
    "SELECT COUNT(*) FROM performance_schema.threads WHERE NAME = 'thread/sql/one_connection' AND INSTRUMENTED = 'NO'"
)
