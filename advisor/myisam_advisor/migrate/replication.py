"""What replication makes of an ALTER: replicas run it too, and on a replica it is not for its owner to begin.

Sources: MySQL and MariaDB manuals, "Replication and Binary Logging"; tried on MySQL 5.6 and 9.7 and MariaDB 10.11.
"""

from __future__ import annotations

from myisam_advisor.migrate.server_kind import MARIADB, ServerKind
from myisam_advisor.remedies.server_state import GROUP_CHANNELS
from myisam_exporter.collectors.replica import ALL_RUNNING, RECEIVERS, RUNNING, SHOW_ON_MARIADB
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.account import replication_right
from myisam_exporter.server.session import Session

LOGGED = "each replica runs every ALTER too, on rows of its own, and applies nothing else meanwhile. Nothing compares its rows with these."
ON_A_REPLICA = (
    "This server is a replica: run the script on its source, from where every ALTER comes here. Run here, it leaves transactions that the source\n"
    "does not have: with GTIDs the next failover breaks. To convert a replica first, run SET SESSION sql_log_bin = 0 before it, in the same session.\n"
    "Where its source is a replica of this server, too (a circle), both are sources: run it on one of them, once."
)
# Tried on MySQL 9.7, binlog_format=ROW: an UPDATE of two MyISAM tables of the source, of which the replica had one converted so.
TOGETHER = (
    "Then stop the applier (STOP REPLICA SQL_THREAD; before 8.0.22 STOP SLAVE SQL_THREAD) until all tables are converted which one statement changes together:\n"
    "under enforce_gtid_consistency a change of one that is converted and one that is not stops replication with error 1785, while the source allows it."
)


def of_replication(here: ServerKind, *, is_replica: bool) -> list[str]:
    """What is to be known before the script is run; on a node of a cluster all of it stands in comments (cluster.py)."""
    if here.clustered:
        return []
    told = [ON_A_REPLICA, *([TOGETHER] if here.gtid and here.logs_changes else [])] if is_replica else []
    return [*told, f"The binary log is on: {LOGGED}"] if here.logs_changes else told


def is_replica(session: Session) -> bool:
    """Whether it is known to take its changes from another server; what stands still is not seen everywhere (collectors/replica.py)."""
    version = session.version
    if version.flavour != MARIADB and version.at_least(mysql=(5, 7)):
        rows = session.rows_or_unknown(RECEIVERS, 2)
        return not isinstance(rows, Unknown) and any(row[0] not in GROUP_CHANNELS for row in rows)
    if version.flavour == MARIADB and replication_right(version) is not None:
        shown = session.records_or_unknown(SHOW_ON_MARIADB)
        if not isinstance(shown, Unknown) and shown:
            return True
    rows = session.rows_or_unknown("SHOW GLOBAL STATUS LIKE 'Slave%running'", 2)
    said = {} if isinstance(rows, Unknown) else {row[0]: row[1] or "" for row in rows}
    return said.get(RUNNING, "").upper() == "ON" or (whole_number(said.get(ALL_RUNNING)) or 0) > 0
