"""What a server's place among others forbids: a node of a cluster, a member of a group, a read-only server, as replicas are.

Sources: MySQL and MariaDB manuals, "read_only"; Galera, "Schema Upgrades"; MySQL manual, "Group Replication Requirements" and "Clone
Plugin Limitations" (MyISAM tables are cloned empty).
"""

from __future__ import annotations

from collections.abc import Iterable

from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Change, Logged, Phase, Statement
from myisam_advisor.texts.templates import object_name

IN_MY_CNF = "Set it in my.cnf and restart"
BY_A_NEW_TABLE = "CREATE TABLE new LIKE old; ALTER TABLE new ENGINE=InnoDB, ROW_FORMAT=DEFAULT while it is empty; INSERT INTO new SELECT * FROM old in batches,"
REMOVED_ROWS = "rows that it cannot read are then missing only here"


class ReplicationRefusals:
    """What one server may not run for the sake of the others."""

    def __init__(self, state: ServerState) -> None:
        self._state = state

    def reasons(self, command: Statement) -> Iterable[str]:
        """Why it may not run, and what to do instead; the first one counts, and an empty one does not."""
        yield self._on_a_cluster(command)
        yield self._in_a_group(command)
        yield self._on_a_read_only_server(command)

    def _on_a_cluster(self, command: Statement) -> str:
        if not self._state.is_cluster_node:
            return ""
        if Change.INTO_INNODB in command.changes:
            name = object_name(*map(str, command.table)) if command.table else "the table"
            if self._state.sends_myisam:
                return (
                    "No ALTER on a cluster node before all are compared: REPLICATE_MYISAM sends statements, not rows, and each node would run it on its own. "
                    f"While nobody writes {name}, run CHECKSUM TABLE on each node: where all numbers are the same, `myisam-advisor migrate` has the ALTER to run on one "
                    f"of them. Where they differ, on the node that has the rows: {BY_A_NEW_TABLE} then RENAME TABLE both at once."
                )
            return (
                f"No ALTER on a cluster node: the other nodes have an empty copy of {name}. The ALTER makes an empty InnoDB table of it there, and the next write stops them. "
                f"Instead, with its writers stopped: {BY_A_NEW_TABLE} on the node that has the rows; then RENAME TABLE both at once."
            )
        if command.phase is Phase.LOCKED:
            return f"{IN_MY_CNF}, one node after the other: a cluster does not support LOCK TABLES, which the change would need."
        return ""

    def _in_a_group(self, command: Statement) -> str:
        """On a secondary the answer for read-only servers follows, but for the engine: the primary must not run that ALTER either.

        Tried on a group of three, MySQL 9.7: the ALTER on the primary, whose rows the others did not have, then an UPDATE of one of them: both others
        stood in ERROR.
        """
        if not self._state.is_group_member:
            return ""
        if Change.INTO_INNODB not in command.changes:
            return self._out_of_the_group(command)
        name = object_name(*map(str, command.table)) if command.table else "the table"
        return (
            f"No ALTER on a member of a group: a member made by the clone plugin has an empty copy of {name}. The ALTER makes an empty InnoDB table of it there, "
            "and the next change to one of its rows expels the member from the group. "
            "Instead, on the primary: CREATE TABLE new LIKE old; ALTER TABLE new ENGINE=InnoDB, ROW_FORMAT=DEFAULT while it is empty, with a PRIMARY KEY; dump the rows "
            "where they are and load them into new (mysqldump --no-create-info: the group refuses INSERT ... SELECT from a MyISAM table too); then RENAME TABLE both at once."
        )

    def _out_of_the_group(self, command: Statement) -> str:
        """What is read-only is refused as on a secondary; without that nothing but the next START GROUP_REPLICATION would tell."""
        logged = command.rewrites and command.logged is Logged.ALWAYS
        if not logged or not self._state.is_out_of_its_group or self._state.is_read_only:
            return ""
        return (
            f"No {command.verb or 'statement'} here: the server is set up as a member of a group and is not in it now. It would leave a transaction that the group "
            "does not have, and the server could not join again. Run it on the primary, from where it reaches every member. If there is no such group any more, "
            "take group_replication_group_name out of my.cnf."
        )

    def _on_a_read_only_server(self, command: Statement) -> str:
        if not self._state.is_read_only or not command.rewrites:
            return ""
        if self._state.is_group_member:
            return self._on_a_secondary(command)
        if command.verb == "REPAIR TABLE":
            return (
                "No REPAIR TABLE: the server is read-only, as replicas are. Copy the table from the replication source; "
                f"{self._unlogged_by_administrators('REPAIR')} works here too, but {REMOVED_ROWS}."
            )
        if command.verb == "OPTIMIZE TABLE":
            return (
                "No OPTIMIZE TABLE: the server is read-only, as replicas are, and the lock would block replication. "
                f"With replication stopped, {self._unlogged_by_administrators('OPTIMIZE')} works here and leaves no extra transaction."
            )
        return (
            f"No {command.verb or 'statement'} here: the server is read-only, as replicas are, and it would leave a transaction that its source does not have "
            "(with GTIDs, the next failover breaks). Run it on the replication source."
        )

    def _unlogged_by_administrators(self, verb: str) -> str:
        """Tried: read_only refuses OPTIMIZE and REPAIR to ordinary accounts, with NO_WRITE_TO_BINLOG too, and super_read_only to all."""
        unlogged = f"{verb} NO_WRITE_TO_BINLOG TABLE"
        if self._state.is_read_only_to_all:
            return f"after SET GLOBAL super_read_only = OFF, {unlogged} by an administrator"
        return f"{unlogged} by an administrator (ordinary accounts are refused)"

    @staticmethod
    def _on_a_secondary(command: Statement) -> str:
        if command.verb in ("REPAIR TABLE", "OPTIMIZE TABLE"):
            verb = command.verb.removesuffix(" TABLE")
            means = f"; {REMOVED_ROWS}" if verb == "REPAIR" else ""
            return (
                f"No {command.verb}: the server is a read-only member of a group. After STOP GROUP_REPLICATION and SET GLOBAL super_read_only = OFF, "
                f"{verb} NO_WRITE_TO_BINLOG TABLE works here and leaves no extra transaction{means}."
            )
        return (
            f"No {command.verb or 'statement'} here: the server is a read-only member of a group. Run it on the primary, from where it reaches every member "
            "(SELECT MEMBER_HOST, MEMBER_ROLE FROM performance_schema.replication_group_members names it); run here, it would leave a transaction "
            "that the group does not have, and the member could not join again."
        )
