"""What watches a server's statements: it begins when it is made, and tells at each `take` what was seen since the one before."""

from __future__ import annotations

from typing import Protocol

from myisam_advisor.workload.kinds.seen import MyisamTables, SeenStatements


class StatementWatch(Protocol):
    """One server, watched."""

    def take(self, tables: MyisamTables) -> SeenStatements:
        """What was seen since the last time, held against the MyISAM tables that are there. Raises UserError where the server does not answer."""

    def close(self) -> None:
        """Watch no longer: nothing is left behind."""
