"""Glances at the queue for the query cache: between two looks, for it comes and goes."""

from __future__ import annotations

from myisam_exporter.collectors.processlist import has_mysql_threads, missing_privilege
from myisam_exporter.collectors.variables import Variables
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, statement

# Who is in line for the query cache is there for microseconds, and the queue comes and goes: so it is asked on the way, too.
QUEUED_THREADS = statement(
    "SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_STATE LIKE '%query cache%'"
)
# This one makes a temporary table on disk, of one row (Created_tmp_disk_tables; tried on MariaDB 10.11 and 11.8).
QUEUED = statement("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE STATE LIKE '%query cache%'")
OFF = frozenset({"OFF", "0"})


class QueueGlances:
    """How many connections stand in line for the query cache, at moments of an interval. Asked where there is one."""

    def __init__(self, session: Session, variables: Variables | Unknown) -> None:
        self._statement = _queue_statement(session, variables)

    def __bool__(self) -> bool:
        """Whether there is anything to ask."""
        return self._statement is not None

    def glance(self, session: Session) -> list[int]:
        """One reading, or none where the server does not tell. Raises as Session.rows_or_unknown."""
        rows = [] if self._statement is None else session.rows_or_unknown(self._statement, 1)
        count = None if isinstance(rows, Unknown) or not rows else whole_number(rows[0][0])
        return [] if count is None else [count]


def _queue_statement(session: Session, variables: Variables | Unknown) -> Sql | None:
    if isinstance(variables, Unknown) or not variables.number("query_cache_size"):
        return None
    if variables.values.get("query_cache_type", "OFF").upper() in OFF or missing_privilege(session):
        return None
    if has_mysql_threads(session, variables):
        return QUEUED_THREADS
    return QUEUED if session.version.flavour == "mariadb" else None
