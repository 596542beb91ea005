"""What a server's state forbids: why a command may not run, and what to do instead.

Sources: MySQL and MariaDB manuals, "REPAIR TABLE Statement"; sql/mysqld.cc, adjust_open_files_limit; MySQL bug 17332.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from myisam_advisor.factbase.hosting import AMAZON
from myisam_advisor.remedies.disk_reserve import reserve_bytes
from myisam_advisor.remedies.effects import needed_bytes, row_of, schema_of, sum_of
from myisam_advisor.remedies.file_limits import (
    LARGEST_FILE_LIMIT,
    files_for,
    no_limit_suffices,
    tables_within,
)
from myisam_advisor.remedies.key_caches import SAFE_ONLINE_RESIZE_FROM, holds_segments
from myisam_advisor.remedies.misread_members import BY_FILES, is_copied_by_repair, is_crashed, refusal_for_members
from myisam_advisor.remedies.planners.base import TABLE_CACHES, PlanFacts
from myisam_advisor.remedies.replication_refusals import IN_MY_CNF, ReplicationRefusals
from myisam_advisor.remedies.said import RESIZES_KEY_CACHE, Said
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.slow_log import UNINDEXED_LOG
from myisam_advisor.remedies.sort_space import space_refusal
from myisam_advisor.remedies.statements.base import Change, Name, Statement
from myisam_advisor.remedies.statements.tables import RepairPartitions
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_advisor.texts.templates import count, object_name, printable, size
from myisam_exporter.collectors.key_caches import DEFAULT_CACHE
from myisam_exporter.facts.columns import Row, Value
from myisam_exporter.facts.values import number_of

SLOW_LOG_SWITCH_FROM = 50112  # slow_query_log; before, log_slow_queries in my.cnf only
ROW_LIMIT_FROM = 50121  # min_examined_row_limit
NO_NAMED_CACHES = "No key caches with names on Amazon RDS: SET GLOBAL makes them, which it refuses, and what an init_file would repeat is lost at a restart."
COMPRESSED = (
    "No REPAIR TABLE: a compressed table is repaired with the server stopped, by myisamchk -r on its .MYI file."
)
COMPRESSED_AT_AMAZON = "No REPAIR TABLE: a compressed table is repaired by myisamchk, which nobody can run on a server of Amazon's. Restore it from a snapshot."
# A copy is rarely smaller than it was reckoned, and a disk that is full to the last byte stops everybody else.
DISK_MARGIN = 1.1
# handler::check_old_types, as REPAIR TABLE asks it: YEAR(2) is an old type from 5.6 on; 8.0 opens no such table.
COPIES_OLD_COLUMNS_FROM, COPIES_NONE_FROM = 50600, 80000
REPAIRABLE_FROM_DEFINITION = frozenset({"fixed", "dynamic"})


class Refusals:
    """What one server may not run."""

    def __init__(self, known: PlanFacts, state: ServerState, disk_limits: Mapping[str, Value]) -> None:
        self._known = known
        self._state = state
        self._disk_limits = disk_limits
        self._replication = ReplicationRefusals(state)

    def refusal(self, command: Statement, said: Said) -> str:
        """Why the command may not run on this server, and what to do instead; empty where it may. Of several tables the first one that it may not touch is told."""
        apart = command.of_each_table()
        reasons = [next(filter(None, self._reasons(one, said)), "") for one in apart]
        why = next(filter(None, reasons), "")
        if not why or len(set(reasons)) == 1:
            return why
        one = apart[reasons.index(why)]
        name = object_name(*one.table) if one.table else one.table_alone
        return why if name in why else f"{printable(name)}: {why}"

    def _reasons(self, command: Statement, said: Said) -> Iterable[str]:
        yield self._crashes_the_server(command, said)
        if isinstance(command, SetGlobal):
            yield self._variable_is_missing(command)
            yield self._segments_are_freed(command)
            yield self._beyond_file_limit(command)
        yield self._loses_data(command)
        rows = self._rows_meant(command)
        yield from (refusal_for_members(command, row) for row in rows)
        yield from (self._cannot_be_copied(command, row) for row in rows)
        yield from self._replication.reasons(command)
        yield self._disturbs_readers(command)
        yield self._columns_are_unknown(command)
        taken = [row for name in command.taken_names for row in self._rows_named(name)]
        yield from (_leaves_its_merge_table(command, row, taken) for row in (*rows, *taken))
        yield self._disk_is_short(command)
        yield self._temporary_space_is_short(command)

    def _rows_meant(self, command: Statement) -> Sequence[Row]:
        """What is known of its table; where it names no schema, of each table that may be meant, in whichever letter case."""
        return self._rows_named((command.table_alone,)) if command.table_alone else [row_of(command, self._known)]

    def _rows_named(self, name: Name) -> Sequence[Row]:
        if len(name) == 2:
            return [self._known.tables_by_name.get((name[0], name[1]), {})]
        alone = name[0].casefold()
        return [row for row in self._known.tables if str(row["table_name"]).casefold() == alone]

    def _crashes_the_server(self, command: Statement, said: Said) -> str:
        """Key caches are not resized, and so not made, while an old server runs; what would use them waits for the restart too."""
        if not self._state.hosting.takes_set_global:
            return said.lose(command, NO_NAMED_CACHES)
        if not self._state.is_before(SAFE_ONLINE_RESIZE_FROM):
            return ""
        return said.lose(command, f"{IN_MY_CNF}: resizing a key cache under load can crash this version.")

    def _segments_are_freed(self, command: SetGlobal) -> str:
        """Where a cache is or becomes too small for its segments, the server makes others or fewer of them, and frees locks that threads wait for (decision 001)."""
        if command.variable not in RESIZES_KEY_CACHE or command.number is None:
            return ""
        rows = self._known.all.tables["key_cache"].dictionaries()
        row = next((row for row in rows if row["name"] == (command.cache or DEFAULT_CACHE)), {})
        # What is set; of a cache that was too small for them KEY_CACHES shows fewer.
        told = (row.get("segments"), None if command.cache else self._state.value("key_cache_segments"))
        segments = max(int(number_of(value) or 0) for value in told)
        now, block = number_of(row.get("size_bytes")), number_of(row.get("block_size_bytes"))
        if not segments or now is None or block is None:
            return ""
        sizes = {"key_buffer_size": now, "key_cache_block_size": block}
        made = (sizes, sizes | {command.variable: float(command.number)})
        if all(holds_segments(segments, one["key_buffer_size"], one["key_cache_block_size"]) for one in made):
            return ""
        return (
            f"{IN_MY_CNF}: {count(segments)} segments (key_cache_segments) of eight blocks each need more than the key cache has or would have. "
            "Set online, MariaDB 10.11 and 11.8 crash, or their statements hang for ever (measured)."
        )

    def _variable_is_missing(self, command: SetGlobal) -> str:
        if command.variable == "slow_query_log" and self._state.is_before(SLOW_LOG_SWITCH_FROM):
            return "This version has no slow_query_log: set log_slow_queries in my.cnf and restart."
        if command.variable == UNINDEXED_LOG and command.switches_on and self._state.is_before(ROW_LIMIT_FROM):
            return (
                f"{UNINDEXED_LOG} is left off: this version cannot leave out scans of small tables, and may log thousands of "
                "statements a second. Switch it on for a minute at a time, or read SHOW PROCESSLIST."
            )
        return ""

    def _beyond_file_limit(self, command: SetGlobal) -> str:
        limit, tables = self._state.file_limit, command.number
        if command.variable not in TABLE_CACHES or tables is None:
            return ""
        if limit is None or files_for(tables, self._state) <= limit:
            return ""
        most, open_files = tables_within(limit, self._state), self._state.open_files
        if no_limit_suffices(tables, self._state):
            return (
                f"No table cache of {count(tables)}: as the {count(open_files or 0)} files that are open tell, it would need a higher open_files_limit than Linux "
                f"lets a process have by default (fs.nr_open, {LARGEST_FILE_LIMIT:,}), which allows {count(tables_within(LARGEST_FILE_LIMIT, self._state))} tables."
            )
        used = f", with {count(open_files)} files open," if open_files else ""
        unit = " (and LimitNOFILE where systemd starts the server)" if self._state.hosting.on_linux else ""
        return (
            f"No SET GLOBAL yet: raise open_files_limit first, in my.cnf with a restart{unit}: it is {count(limit)} and{used} allows "
            f"{count(most)} tables. The server compares the two only when it starts; set online, statements fail with error 24 (Too many open files)."
        )

    def _loses_data(self, command: Statement) -> str:
        """REPAIR in the server is for formats that it can repair."""
        if command.verb != "REPAIR TABLE":
            return ""
        row = row_of(command, self._known)
        row_format = row.get("row_format")
        if row_format == "compressed":
            return COMPRESSED_AT_AMAZON if self._state.hosting == AMAZON else COMPRESSED
        if not command.from_definition:
            return ""
        if row.get("partitions") is not None:
            return "No REPAIR TABLE ... USE_FRM: partitioned tables do not support it. Restore the damaged partition's .MYI file from a backup, then REPAIR TABLE."
        if row_format not in REPAIRABLE_FROM_DEFINITION:
            return (
                "No REPAIR TABLE ... USE_FRM yet: it destroys the rows of a compressed table, and the format cannot be read from this index file. "
                "The data file shows it: od -An -tx1 -N3 on the .MYD shows fe fe 08 for a compressed table (restore that one from a backup); for any other, USE_FRM rebuilds the "
                "index file. It loses the AUTO_INCREMENT value and the list of holes, and is refused for a table that an older server created."
            )
        return ""

    def _cannot_be_copied(self, command: Statement, row: Row) -> str:
        """A REPAIR that copies the table cannot read one that is marked as crashed. Tried on MySQL 5.6 with YEAR(2); 5.5 and MariaDB repair it."""
        copies = COPIES_OLD_COLUMNS_FROM <= (self._state.version_number or 0) < COPIES_NONE_FROM
        if command.verb != "REPAIR TABLE" or command.from_definition or self._state.is_mariadb or not copies:
            return ""
        if not (is_crashed(row) and is_copied_by_repair(row)):
            return ""
        by_files = "Restore it from a snapshot." if self._state.hosting == AMAZON else f"Stop the server and {BY_FILES}"
        return (
            "No REPAIR TABLE: of a table with columns of before MySQL 5.0.3, or YEAR(2), this server would make a copy, and fails, as the table is marked as crashed "
            f"(error 145). {by_files} Then ALTER TABLE ... FORCE writes these columns anew; until then CHECK TABLE says that an upgrade is required."
        )

    def _disturbs_readers(self, command: Statement) -> str:
        if Change.KEYS_OFF not in command.changes or not command.table:
            return ""
        read = row_of(command, self._known).get("rows_read_per_second")
        if not isinstance(read, int | float) or read <= 0:
            return ""
        return f"No DISABLE KEYS while the table is read ({count(read)} rows/s): each search would scan it. Load into a separate table, or at an hour without readers."

    def _columns_are_unknown(self, command: Statement) -> str:
        if Change.FIXED_ROWS not in command.changes or row_of(command, self._known).get("fixed_row_bytes") is not None:
            return ""
        if row_of(command, self._known).get("row_format") == "fixed":
            return ""  # the way back to what it is now
        return (
            "No ALTER while its columns are not known: with a TEXT or BLOB column it copies the table for nothing, and wide VARCHARs make it many times as large. "
            "Run myisam-advisor beside the server, where it can read the .MYI files."
        )

    def _disk_is_short(self, command: Statement) -> str:
        free, needed = self._state.disk_free_bytes(schema_of(command)), needed_bytes(command, self._known)
        if (needed != 0 or Change.KEYS_ON in command.changes) and self._state.waits_for_space:
            return f"No {command.verb} yet: statements wait for disk space at this moment, and it would wait too, with its table locked. Free space first."
        if needed != 0 and (of_files := self._files_are_short(command)):
            return of_files
        if free is not None and needed is None:
            return self._unknown_need_is_too_much(command, free)
        if free is None or not needed:
            return ""
        is_repair = command.verb == "REPAIR TABLE"
        wanted = int(needed * DISK_MARGIN)
        # A crashed table cannot wait until the disk has room for more than its copy.
        reserve = 0 if is_repair else self._reserve_bytes(command)
        if max(wanted, needed + reserve) <= free:
            return ""
        missing = max(wanted, needed + reserve) - free
        leaves = ""
        if needed <= free and needed + reserve > free:
            leaves = f"; {size(free - needed)} would be left, and disk-nearly-full warns below {size(reserve)}"
        elsewhere = " Or repair a copy of its files on a machine with more room (myisamchk -r)." if is_repair else ""
        return (
            f"No {command.verb} yet: it writes about {size(needed)} beside the table, and the disk has {size(free)} free{leaves}. Make room first: "
            f"{size(missing)} ({missing} bytes) are missing.{elsewhere}"
        )

    def _reserve_bytes(self, command: Statement) -> int:
        """What is to be left of the disk that the command writes to."""
        return reserve_bytes(self._known.disk_of(schema_of(command)), self._disk_limits)

    def _files_are_short(self, command: Statement) -> str:
        """A rebuild makes files beside the table's. Tried on MariaDB 10.11: an OPTIMIZE that can make none leaves its table marked as crashed."""
        least = number_of(self._disk_limits["least_free_inodes"]) or 0
        left = number_of(self._known.disk_of(schema_of(command)).get("data_directory_free_inodes"))
        if left is not None and left < least:
            return (
                f"No {command.verb} yet: it makes new files, and its disk has room for {count(int(left))} more, however much space is free (df -i). "
                "One that fails for it can leave the table marked as crashed. Remove files there first."
            )
        in_tmpdir = number_of(self._known.all.single("host").get("temporary_directory_free_inodes"))
        if in_tmpdir is None or in_tmpdir >= least:
            return ""
        return (
            f"No {command.verb} yet: it may sort in files of tmpdir, where no more than {count(int(in_tmpdir))} can be made, however much space is free "
            "(df -i). Remove files there first."
        )

    def _unknown_need_is_too_much(self, command: Statement, free: int) -> str:
        """Of a table whose size is not known, or half of it: no rebuild on a disk of which disk-nearly-full says not to start one."""
        # Of partitions the table's size says nothing.
        row = {} if isinstance(command, RepairPartitions) else row_of(command, self._known)
        least = sum(sum_of(row, name) or 0 for name in ("data_bytes", "index_bytes"))
        wanted = max(least, self._reserve_bytes(command))
        if free >= wanted:
            return ""
        return (
            f"No {command.verb} yet: how much it writes beside the table is not known, and the disk has {size(free)} free. Make room first: "
            f"{size(wanted - free)} ({wanted - free} bytes) are missing at least."
        )

    def _temporary_space_is_short(self, command: Statement) -> str:
        row = row_of(command, self._known)
        if not row:
            return ""
        indexes = self._known.indexes_of(row["schema_name"], row["table_name"])
        return space_refusal(command, row, indexes, self._known.all.single("host"), self._state)


def _leaves_its_merge_table(command: Statement, row: Row, taken: Sequence[Row]) -> str:
    """A MERGE table can be opened only while all of its members are there, as MyISAM tables made like it, and searched only by indexes that are on in all."""
    merged, disables = row.get("merge_tables"), Change.KEYS_OFF in command.changes
    if (
        merged is None
        or not (command.redefines or disables or row in taken)
        or _drops_all_of(str(merged), command, row)
    ):
        return ""
    name = object_name(str(row["schema_name"]), str(row["table_name"]))
    belongs = f"{name} belongs to a MERGE table ({printable(str(merged))}), and"
    is_alone = command.table_alone or any(len(name) == 1 for name in command.taken_names)
    unless = f" If another table than {name} is meant, write its database before it." if is_alone else ""
    if row in taken:
        return (
            f"No table is renamed or dropped that a MERGE table needs: {belongs} every statement on that one fails with error 1168 once no table has this name. "
            f"First give the MERGE table a list without it (ALTER TABLE ... UNION=(...)).{unless}"
        )
    if disables and not command.redefines:
        return (
            f"No DISABLE KEYS: {belongs} statements that search that one by these indexes fail meanwhile (error 1030, Got error 124). "
            f"Load into a table of its own, or first give the MERGE table a list without it (ALTER TABLE ... UNION=(...)).{unless}"
        )
    what = command.verb or "CREATE OR REPLACE TABLE"
    if Change.INTO_INNODB in command.changes:
        return (
            f"No {what}: {belongs} every statement on that one fails with error 1168 once a member has another engine. "
            f"First replace the MERGE table, by a view with UNION ALL or by one table with all rows.{unless}"
        )
    return (
        f"No {what}: {belongs} statements on that one fail with error 1168 while a member is made in another way. "
        f"Change the MERGE table and all of its members together, while nobody uses them.{unless}"
    )


def _drops_all_of(merged: str, command: Statement, row: Row) -> bool:
    """Whether the MERGE tables go with their member: where both are named without a database, both are in the same one."""
    same = (str(row["schema_name"]),) if command.table_alone else ()
    dropped = {".".join(name if len(name) == 2 else (*same, *name)) for name in command.dropped_names}
    return dropped.issuperset(merged.split(", "))
