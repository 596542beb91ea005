"""What a command costs on this server beyond what its rule says."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from myisam_advisor.factbase.partial import NOT_IN_FILE
from myisam_advisor.remedies.effects import copies_online, needed_bytes, row_of, schema_of, unpacks
from myisam_advisor.remedies.file_limits import files_for
from myisam_advisor.remedies.planners.base import TABLE_CACHES, PlanFacts
from myisam_advisor.remedies.rebuild_files import RebuildFiles
from myisam_advisor.remedies.replication_refusals import REMOVED_ROWS
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.statements.base import Change, Logged, Statement
from myisam_advisor.remedies.statements.tables import RepairPartitions
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.texts.templates import count, size
from myisam_exporter.facts.values import number_of

REPAIR_THREADS = "myisam_repair_threads"
KEY_CACHE_SIZE = "key_buffer_size"
GROUP_LIMIT = "mysqld.cgroup_memory_limit_bytes"


class Costs:
    """What commands cost on one server."""

    def __init__(self, known: PlanFacts, state: ServerState) -> None:
        self._known = known
        self._state = state
        self._rebuild_files = RebuildFiles(known, state)

    def of(self, command: Statement) -> Iterable[str]:
        """What it costs on this server beyond what the rule says."""
        if command.verb == "REPAIR TABLE":
            yield from self._repair_costs(command)
        if command.verb in ("REPAIR TABLE", "OPTIMIZE TABLE"):
            yield from self._thread_costs()
            yield from chain.from_iterable(map(self._rebuild_files.costs, command.of_each_table()))
        if isinstance(command, SetGlobal):
            yield from self._file_costs(command)
            yield from self._memory_costs(command)
        if not command.rewrites:
            if command.logged is Logged.ALWAYS and not command.verb:
                yield "It is not known whether the binary log gets it: the statement comes from a rule of your own."
            return
        if command.logged is Logged.ALWAYS:
            yield from self._logged_costs(command.verb or "statement")
            yield from self._mixed_costs(command)
        elif (
            command.logged is Logged.UNLESS_TOLD
            and self._state.logs_changes is None
            and not self._state.is_cluster_node
        ):
            form = command.verb.replace(" ", " NO_WRITE_TO_BINLOG ")
            if isinstance(command, RepairPartitions):
                form = "REPAIR PARTITION NO_WRITE_TO_BINLOG"
            yield f"If this server has replicas, use {form}, or they are locked for as long too."
        yield from self._shared_costs(command)
        yield from self._disk_costs(command)
        if copies_online(command, self._known):
            yield (
                "This MariaDB copies online, but of a MyISAM table's writers only inserts at its end go on meanwhile: UPDATE, DELETE and INSERT into "
                "holes wait until the copy is done, and readers wait behind an UPDATE or DELETE (from 11.2 on; measured on 11.4 and 11.8)."
            )

    def _memory_costs(self, command: SetGlobal) -> Iterable[str]:
        """Where the server's process or its control group is out of sight: the machine's memory is no measure of what a container may have.

        A file of facts does not say why a limit is not in it: where it has the process, there most likely was none.
        """
        if command.variable != KEY_CACHE_SIZE:
            return
        facts = self._known.all
        why = facts.unknown.get(GROUP_LIMIT) or facts.unknown.get("mysqld")
        if why is None or why.off or self._known.budget.limit_bytes is None:
            return
        if why == NOT_IN_FILE and facts.single("mysqld").get("pid") is not None:
            return
        present = None if command.cache else number_of(self._state.value(KEY_CACHE_SIZE))
        if (command.number or 0) > (present or 0):
            yield (
                "Whether a control group, such as a container's, limits the server's memory is not known here: "
                "if one does, stay below its limit, or the kernel ends the server."
            )

    def _file_costs(self, command: SetGlobal) -> Iterable[str]:
        if command.variable not in TABLE_CACHES or command.number is None or self._state.file_limit is not None:
            return
        files = files_for(command.number, self._state)
        yield f"open_files_limit is not known here: below {count(files)}, raise it first, or statements fail with error 24."

    def _repair_costs(self, command: Statement) -> Iterable[str]:
        if command.from_definition:
            yield "USE_FRM loses the AUTO_INCREMENT value and the list of holes, and is refused for a table that an older server created."
        if self._state.is_replica:
            yield f"This server is a replica: {REMOVED_ROWS}, and its source still has them. If the source's table is intact, copy that one instead."

    def _thread_costs(self) -> Iterable[str]:
        """What rewrites a table by several threads at once; ENABLE KEYS and ALTER sort by several, but rewrite no row so (tmpdir: sort_space.py).

        Tried with 4 threads on MySQL 5.5 and 5.6 and MariaDB 10.11, tables with holes and rows in pieces: none of 105 rewrites lost or changed a row.
        """
        threads = number_of(self._state.value(REPAIR_THREADS))
        if threads is not None and threads > 1:
            yield (
                f"{REPAIR_THREADS} is {count(threads)}: run SET SESSION {REPAIR_THREADS} = 1 before it, in the same session. MySQL's manual calls repairs "
                "by several threads beta in every release that has them, and on 4.1 OPTIMIZE lost rows by them (bug 8283)."
            )

    def _shared_costs(self, command: Statement) -> Iterable[str]:
        """What it costs the other nodes of a cluster, or members of a group."""
        if self._state.is_cluster_node:
            # What can stay here does: gate.py.
            if command.logged is Logged.ALWAYS:
                yield (
                    "With wsrep_OSU_method=RSU this node alone runs it, and takes nothing from the others meanwhile: run it on each node in turn."
                    if self._state.alters_alone
                    else "On this cluster it runs in total order isolation (TOI): all nodes stop until it is done."
                )
        elif self._state.is_group_member and command.logged is Logged.ALWAYS:
            yield "In this group every member runs it too, in turn with all other changes; the group refuses writes to MyISAM tables (error 3098) in any case."
        elif Change.INTO_INNODB in command.changes and None in (
            self._state.is_cluster_node,
            self._state.is_group_member,
        ):
            yield (
                "Never on a node of a Galera cluster (wsrep_on) or a member of a group (group_replication_group_name), where other nodes may hold empty copies "
                "of MyISAM tables."
            )

    def _logged_costs(self, what: str) -> Iterable[str]:
        if self._state.logs_changes:
            yield f"The binary log is on: each replica runs the {what} too, and applies nothing else meanwhile."
        elif self._state.logs_changes is None:
            yield f"If this server replicates, each replica runs the {what} too and applies nothing else meanwhile; on a replica itself, run it on its source only."
        # One that is read-only is refused all of these: replication_refusals.py.
        if not self._state.is_replica:
            return
        if self._state.logs_changes is False:
            yield "This server is a replica itself: if you run it here, the table's definition differs from the source's. Run it on the source; replication brings it here."
        else:
            yield (
                "This server is a replica itself: if you run it here, it leaves a transaction that its source does not have, and with GTIDs the next failover breaks. "
                "Run it on the source, or after SET SESSION sql_log_bin = 0 in the same session, which keeps it out of the binary log. "
                "Where its source is a replica of this server, too (a circle), run it on one of them, once."
            )

    def _mixed_costs(self, command: Statement) -> Iterable[str]:
        """What stops a replica that was converted before its source: tried on MySQL 9.7, an UPDATE of two tables whose source had both as MyISAM."""
        into_innodb = Change.INTO_INNODB in command.changes
        if into_innodb and self._state.is_replica and self._state.refuses_mixed_engines:
            yield (
                "On this replica alone, convert it together with all tables that one statement changes with it, while the applier is stopped: under "
                "enforce_gtid_consistency a change of both engines stops replication with error 1785, while its source allows it."
            )

    def _disk_costs(self, command: Statement) -> Iterable[str]:
        if unpacks(command, row_of(command, self._known)):
            yield (
                "The table is compressed, and its copy is not: it is as large as its rows are unpacked, and can be written. "
                "To pack it again: FLUSH TABLES, then myisampack and myisamchk -rq on its .MYI file."
            )
        # One after the other is copied, and the copy takes the table's place before the next one begins.
        apart = command.of_each_table()
        needed = [needed_bytes(one, self._known) for one in apart]
        if None in needed:
            the_table = "the table" if len(apart) == 1 else "the largest of these tables"
            copied = "these partitions" if isinstance(command, RepairPartitions) else the_table
            yield f"How much disk it needs is not known here: there must be room for a copy of {copied}."
            return
        unseen = [
            needs
            for needs, one in zip(needed, apart, strict=True)
            if self._state.disk_free_bytes(schema_of(one)) is None
        ]
        if most := max(filter(None, unseen), default=0):
            each = "" if len(apart) == 1 else ", for the largest of these tables"
            yield f"How much disk is free is not known here: it needs {size(most)}{each}."
