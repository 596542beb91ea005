"""The one gate for what remedies do to the server: every command, line of my.cnf and way back passes it before it is a finding's.

A rule says what would help. What the server's state forbids (a read-only replica, a cluster, a full disk, an old version, an unknown
row format) is decided here, once for all rules: a command is let through, amended, or refused with the reason and what to do instead.
Unknown state forbids nothing; the cost says what to look at first. What cannot be undone (USE_FRM) wants to be known to be safe.

Sources: MySQL and MariaDB manuals, "REPAIR TABLE Statement", "OPTIMIZE TABLE Statement", "read_only", "Server Command Options";
sql/mysqld.cc of MySQL 5.1 (my_long_options); sql/mysqld.cc, adjust_open_files_limit; MySQL bug 17332; Galera, "Schema Upgrades";
MySQL manual, "Group Replication Requirements" and "Clone Plugin Limitations" (MyISAM tables are cloned empty).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from myisam_advisor.remedies import statement_texts as statements
from myisam_advisor.remedies.effects import INNODB, Effects, Logged, effects_of
from myisam_advisor.remedies.option_lines import OptionLine, option_line
from myisam_advisor.remedies.planners.base import Command, PlanFacts
from myisam_advisor.remedies.server_state import ServerState
from myisam_advisor.remedies.shell_lines import ShellLine
from myisam_advisor.texts.templates import count, object_name, printable, size
from myisam_exporter.facts.columns import Row
from myisam_exporter.server.sql import Sql, quote_value, quote_variable, statement

# Before, these are numbers in option files and in SET GLOBAL ("Unknown suffix 'O'"), and myisam_recover_options is called otherwise.
WORDS_FROM = 50503
SPELLED_AS_NUMBERS: Mapping[str, Mapping[str, int]] = {
    "query_cache_type": {"OFF": 0, "ON": 1, "DEMAND": 2},
    "concurrent_insert": {"NEVER": 0, "AUTO": 1, "ALWAYS": 2},
}
OPTION_BEFORE = {"myisam_recover_options": "myisam-recover"}
# Before, an option file's ON for a switch reads as 0. Other options of ON and OFF may be enumerations, or file names.
SWITCHES_AS_WORDS_FROM = 50510
SWITCHES = frozenset({"myisam_use_mmap"})
SPELLED_SWITCH = {"ON": 1, "OFF": 0}
# Bug 17332: resizing a key cache under load could crash 4.1 and 5.0; all of these go through resize_key_cache().
SAFE_ONLINE_RESIZE_FROM = 50100
RESIZES_KEY_CACHE = frozenset({"key_buffer_size", "key_cache_block_size"})
SLOW_LOG_SWITCH_FROM = 50112  # slow_query_log; before, log_slow_queries in my.cnf only
ROW_LIMIT_FROM = 50121  # min_examined_row_limit
THROTTLE_FROM = 50605  # log_throttle_queries_not_using_indexes, which MariaDB does not have
LOGGED_QUERIES_PER_MINUTE = 60  # one a second fills no disk, and names every frequent statement within minutes
LOGGED_QUERIES_MINIMUM_ROWS = 1000  # scans of smaller tables are the right plan
UNINDEXED_LOG, THROTTLE, ROW_LIMIT, ROW_LIMIT_OF_MARIADB = (
    "log_queries_not_using_indexes",
    "log_throttle_queries_not_using_indexes",
    "min_examined_row_limit",
    "log_slow_min_examined_row_limit",
)
TABLE_CACHES = frozenset({"table_open_cache", "table_cache"})
FILES_PER_TABLE = 2  # sql/mysqld.cc, adjust_open_files_limit: "MyISAM requires two file handles per table"
FILES_RESERVED = 10
USUAL_CONNECTIONS = 151
SMALLEST_FILE_LIMIT = 4096
# A copy is rarely smaller than it was reckoned, and a disk that is full to the last byte stops everybody else.
DISK_MARGIN = 1.1
REPAIRABLE_FROM_DEFINITION = frozenset({"fixed", "dynamic"})
IN_MY_CNF = "Set it in my.cnf and restart"
NOTHING_DONE = "No command is given here, so there is none to undo."
OPTIONS_UNDONE = "Remove the lines from my.cnf, or set what was there, and restart."
BY_A_NEW_TABLE = "CREATE TABLE new LIKE old; ALTER TABLE new ENGINE=InnoDB, ROW_FORMAT=DEFAULT while it is empty; INSERT INTO new SELECT * FROM old in batches,"
REMOVED_ROWS = "rows that it cannot read are then missing here alone"


@dataclass(frozen=True, slots=True)
class Remedy:
    """What a finding would have a person run and set."""

    commands: tuple[Command, ...] = ()
    undo_commands: tuple[Sql, ...] = ()
    my_cnf: tuple[OptionLine, ...] = ()
    init_file: tuple[Sql, ...] = ()


@dataclass(frozen=True, slots=True)
class Admitted:
    """What is left of a remedy, and what to say of it.

    `instead` says what was refused, why, and what to do instead; `cost` what else it costs here; `undo` what else to undo.
    `undo_instead` replaces the rule's own words where no statement is left.
    """

    remedy: Remedy
    instead: tuple[str, ...] = ()
    cost: tuple[str, ...] = ()
    undo: tuple[str, ...] = ()
    undo_instead: str = ""


@dataclass(slots=True)
class _Said:
    """The sentences of one finding, each once."""

    instead: dict[str, None] = field(default_factory=dict)
    cost: dict[str, None] = field(default_factory=dict)
    undo: dict[str, None] = field(default_factory=dict)
    lost_caches: set[str] = field(default_factory=set)
    lost_tables: set[tuple[str, str]] = field(default_factory=set)


class RemedyGate:
    """The gate of one server."""

    def __init__(self, known: PlanFacts) -> None:
        self._known = known
        self._state = ServerState(known)

    def admit(self, remedy: Remedy) -> Admitted:
        """What of the remedy this server allows."""
        said = _Said()
        commands: list[Command] = []
        for group in statements.grouped(remedy.commands):
            commands += self._admitted(group, said)
        my_cnf = self._options(remedy, said)
        # What was never done needs no way back.
        runs = any(map(_is_statement, commands))
        refused = any(map(_is_statement, remedy.commands)) and not runs
        return Admitted(
            Remedy(tuple(commands), tuple(self._undo(remedy.undo_commands)) if runs else (), my_cnf, remedy.init_file),
            tuple(said.instead),
            tuple(said.cost),
            tuple(said.undo),
            (OPTIONS_UNDONE if my_cnf else NOTHING_DONE) if refused else "",
        )

    def _admitted(self, group: Sequence[Command], said: _Said) -> Sequence[Command]:
        """The group as it may run; empty where one of its commands may not: they belong together."""
        spelled = [self._spelled(command) for command in group]
        effects = [effects_of(command, self._known.tables_by_name, self._known) for command in spelled]
        refusals = [self._refusal(command, does, said) for command, does in zip(spelled, effects, strict=True)]
        if any(refusals):
            said.instead.update(dict.fromkeys(filter(None, refusals)))
            return ()
        passed: list[Command] = []
        for command, does in zip(spelled, effects, strict=True):
            said.cost.update(dict.fromkeys(self._costs(command, does)))
            passed += self._amended(command, does, said)
        return passed

    def _undo(self, commands: Iterable[Sql]) -> Iterable[Sql]:
        """The way back, held to the same conditions. What would be refused there was refused on the way in."""
        said = _Said()
        for group in statements.grouped(list(commands)):
            yield from (command for command in self._admitted(group, said) if isinstance(command, Sql))

    def _refusal(self, command: Command, does: Effects, said: _Said) -> str:
        """Why the command may not run on this server, and what to do instead; empty where it may."""
        if isinstance(command, ShellLine) or statements.is_remark(command):
            return ""
        reasons = (
            self._crashes_the_server(command, said),
            self._variable_is_missing(command),
            self._beyond_file_limit(command),
            self._loses_data(command, does),
            self._on_a_cluster(command, does),
            self._in_a_group(command, does),
            self._on_a_read_only_server(command, does),
            self._disturbs_readers(command, does),
            self._columns_are_unknown(command, does),
            self._disk_is_short(command, does),
        )
        return next(filter(None, reasons), "")

    def _crashes_the_server(self, command: Sql, said: _Said) -> str:
        """Key caches are not resized, and so not made, while an old server runs; what would use them waits for the restart too."""
        if not self._state.is_before(SAFE_ONLINE_RESIZE_FROM):
            return ""
        why = f"{IN_MY_CNF}: resizing a key cache under load can crash this version."
        assigned = statements.assignment(command)
        if assigned and assigned.variable in RESIZES_KEY_CACHE:
            said.lost_caches.add(assigned.cache)
            return why
        to_cache = statements.assigned_table(command)
        if to_cache and to_cache[1] in said.lost_caches:
            said.lost_tables.add(to_cache[0])
            return why
        if statements.phase(command) == statements.LOAD and statements.table_of(command) in said.lost_tables:
            return why
        return ""

    def _variable_is_missing(self, command: Sql) -> str:
        assigned = statements.assignment(command)
        if not assigned:
            return ""
        if assigned.variable == "slow_query_log" and self._state.is_before(SLOW_LOG_SWITCH_FROM):
            return "This version has no slow_query_log: set log_slow_queries in my.cnf and restart."
        if (
            assigned.variable == UNINDEXED_LOG
            and assigned.value.upper() in ("ON", "1")
            and self._state.is_before(ROW_LIMIT_FROM)
        ):
            return (
                f"{UNINDEXED_LOG} is left off: this version has no way to leave out scans of small tables, and may log thousands of "
                "statements a second. Switch it on for a minute at a time, or read SHOW PROCESSLIST."
            )
        return ""

    def _beyond_file_limit(self, command: Sql) -> str:
        assigned = statements.assignment(command)
        if not assigned or assigned.variable not in TABLE_CACHES or not assigned.value.isdigit():
            return ""
        limit, tables = self._state.file_limit, int(assigned.value)
        if limit is None or self._files_for(tables) <= limit:
            return ""
        most = max((limit - self._files_for(0)) // FILES_PER_TABLE, 0)
        return (
            f"Raise open_files_limit first, in my.cnf with a restart (and LimitNOFILE where systemd starts the server): it is {limit:,} and allows "
            f"{count(most)} tables. The server holds the two against each other at its start only; set online, it runs into error 24 (Too many open files)."
        )

    def _loses_data(self, command: Sql, does: Effects) -> str:
        """REPAIR in the server is for formats that it can repair."""
        if does.verb != "REPAIR TABLE":
            return ""
        row = self._known.tables_by_name.get(does.table, {}) if does.table else {}
        row_format = row.get("row_format")
        if row_format == "compressed":
            return "No REPAIR TABLE: a compressed table is repaired with the server stopped, by myisamchk -r on its .MYI file."
        if not statements.repairs_from_definition(command):
            return ""
        if row.get("partitions") is not None:
            return "No REPAIR TABLE ... USE_FRM: it does not exist for partitioned tables. Restore the damaged partition's .MYI file from a backup, then REPAIR TABLE."
        if row_format not in REPAIRABLE_FROM_DEFINITION:
            return (
                "No REPAIR TABLE ... USE_FRM yet: it destroys the rows of a compressed table, and the format cannot be read from this index file. "
                "The data file tells: od -An -tx1 -N3 on the .MYD shows fe fe 08 for a compressed table (restore that one from a backup); for any other, USE_FRM makes the index "
                "file anew. It forgets the AUTO_INCREMENT value and the list of holes, and is refused for a table that an older server made."
            )
        return ""

    def _on_a_cluster(self, command: Sql, does: Effects) -> str:
        if not self._state.is_cluster_node:
            return ""
        if INNODB in command:
            name = object_name(*map(str, does.table)) if does.table else "the table"
            return (
                f"No ALTER on a cluster node: the other nodes hold an empty copy of {name}, which the ALTER makes an empty InnoDB table there, and the next write stops them. "
                f"Instead, with its writers stopped: {BY_A_NEW_TABLE} on the node that has the rows; then RENAME TABLE both at once."
            )
        if statements.phase(command) == statements.LOCKED:
            return f"{IN_MY_CNF}, one node after the other: a cluster does not support LOCK TABLES, which would have to guard the change."
        return ""

    def _in_a_group(self, command: Sql, does: Effects) -> str:
        """On a secondary the answer for read-only servers follows."""
        if not self._state.is_group_member or self._state.is_read_only or INNODB not in command:
            return ""
        name = object_name(*map(str, does.table)) if does.table else "the table"
        return (
            f"No ALTER on a member of a group: a member that was made by the clone plugin holds an empty copy of {name}, which the ALTER makes an empty InnoDB table there, "
            "and the next change to a row of it throws the member out of the group. "
            "Instead, on the primary: CREATE TABLE new LIKE old; ALTER TABLE new ENGINE=InnoDB, ROW_FORMAT=DEFAULT while it is empty, with a PRIMARY KEY; dump the rows "
            "where they are and load them into new (mysqldump --no-create-info: the group refuses INSERT ... SELECT from a MyISAM table too); then RENAME TABLE both at once."
        )

    def _on_a_read_only_server(self, command: Sql, does: Effects) -> str:
        if not self._state.is_read_only or not does.rewrites:
            return ""
        if self._state.is_group_member:
            return self._on_a_secondary(does)
        if does.verb == "REPAIR TABLE":
            return (
                "No REPAIR TABLE: the server is read-only, as replicas are. Copy the table from the server that this one replicates from; "
                f"{self._unlogged_by_administrators('REPAIR')} works here too, but {REMOVED_ROWS}."
            )
        if does.verb == "OPTIMIZE TABLE":
            return (
                "No OPTIMIZE TABLE: the server is read-only, as replicas are, and the lock would hold up replication. "
                f"With replication stopped, {self._unlogged_by_administrators('OPTIMIZE')} works here and leaves no transaction of its own."
            )
        return (
            f"No {does.verb or 'statement'} here: the server is read-only, as replicas are, and it would leave a transaction that its source does not have "
            "(with GTIDs, the next failover breaks). Run it on the server that this one replicates from."
        )

    def _unlogged_by_administrators(self, verb: str) -> str:
        """Tried: read_only refuses OPTIMIZE and REPAIR to ordinary accounts, with NO_WRITE_TO_BINLOG too, and super_read_only to all."""
        unlogged = f"{verb} NO_WRITE_TO_BINLOG TABLE"
        if self._state.is_read_only_to_all:
            return f"after SET GLOBAL super_read_only = OFF, {unlogged} by an administrator"
        return f"{unlogged} by an administrator (ordinary accounts are refused)"

    @staticmethod
    def _on_a_secondary(does: Effects) -> str:
        if does.verb in ("REPAIR TABLE", "OPTIMIZE TABLE"):
            verb = does.verb.removesuffix(" TABLE")
            means = f"; {REMOVED_ROWS}" if verb == "REPAIR" else ""
            return (
                f"No {does.verb}: the server is a read-only member of a group. After STOP GROUP_REPLICATION and SET GLOBAL super_read_only = OFF, "
                f"{verb} NO_WRITE_TO_BINLOG TABLE works here and leaves no transaction of its own{means}."
            )
        return (
            f"No {does.verb or 'statement'} here: the server is a read-only member of a group. Run it on the primary, from where it reaches every member "
            "(SELECT MEMBER_HOST, MEMBER_ROLE FROM performance_schema.replication_group_members names it); run here, it would leave a transaction "
            "that the group does not have, and the member could not join again."
        )

    def _disturbs_readers(self, command: Sql, does: Effects) -> str:
        if "DISABLE KEYS" not in command or not does.table:
            return ""
        read = self._row(does).get("rows_read_per_second")
        if not isinstance(read, int | float) or read <= 0:
            return ""
        return f"No DISABLE KEYS while the table is read ({count(read)} rows/s): each search would scan it. Load into a table of its own, or at an hour without readers."

    def _columns_are_unknown(self, command: Sql, does: Effects) -> str:
        if "ROW_FORMAT=FIXED" not in command or self._row(does).get("fixed_row_bytes") is not None:
            return ""
        if self._row(does).get("row_format") == "fixed":
            return ""  # the way back to what it is now
        return (
            "No ALTER while its columns are not known: with a TEXT or BLOB it copies the table for nothing, and wide VARCHARs make it many times as large. "
            "Run myisam-advisor beside the server, where it can read the .MYI files."
        )

    def _disk_is_short(self, command: Sql, does: Effects) -> str:
        free, needed = self._state.disk_free_bytes, does.needed_bytes
        if free is None or not needed or needed * DISK_MARGIN <= free:
            return ""
        missing = int(needed * DISK_MARGIN) - free
        elsewhere = (
            " Or repair a copy of its files on a machine that has room (myisamchk -r)."
            if does.verb == "REPAIR TABLE"
            else ""
        )
        return (
            f"No {does.verb} yet: it writes about {size(needed)} beside the table, and the disk has {size(free)} free. Make room first: "
            f"{size(missing)} ({missing} bytes) are missing.{elsewhere}"
        )

    def _costs(self, command: Command, does: Effects) -> Iterable[str]:
        """What it costs on this server beyond what the rule says."""
        if not isinstance(command, Sql) or statements.is_remark(command):
            return
        if does.verb == "REPAIR TABLE":
            yield from self._repair_costs(command)
        assigned = statements.assignment(command)
        if (
            assigned
            and assigned.variable in TABLE_CACHES
            and self._state.file_limit is None
            and assigned.value.isdigit()
        ):
            files = self._files_for(int(assigned.value))
            yield f"open_files_limit is not known here: below {files:,}, raise it first, or statements fail with error 24."
        if not does.rewrites:
            if does.logged is Logged.ALWAYS and not does.verb:
                yield "Whether it goes to the binary log is not known: the statement is of a rule of your own."
            return
        if does.logged is Logged.ALWAYS:
            yield from self._logged_costs(does.verb or "statement")
        elif does.logged is Logged.UNLESS_TOLD and self._state.logs_changes is None:
            yield f"If this server has replicas, say {does.verb.replace(' ', ' NO_WRITE_TO_BINLOG ')}, or they are locked for as long."
        yield from self._shared_costs(command, does)
        yield from self._disk_costs(does)

    def _repair_costs(self, command: Sql) -> Iterable[str]:
        if statements.repairs_from_definition(command):
            yield "USE_FRM forgets the AUTO_INCREMENT value and the list of holes, and is refused for a table that an older server made."
        if self._state.is_replica:
            yield f"This server is a replica: {REMOVED_ROWS}, and its source still has them. Where its table is whole, copy that one instead."

    def _shared_costs(self, command: Sql, does: Effects) -> Iterable[str]:
        """What it costs the other nodes of a cluster, or members of a group."""
        if self._state.is_cluster_node:
            yield "On this cluster it runs in total order isolation (TOI): all nodes stop until it is done."
        elif self._state.is_group_member and does.logged is Logged.ALWAYS:
            yield "In this group every member runs it too, one after the other with all else; the group refuses writes to MyISAM tables (error 3098) in any case."
        elif INNODB in command and None in (self._state.is_cluster_node, self._state.is_group_member):
            yield (
                "Never on a node of a Galera cluster (wsrep_on) or a member of a group (group_replication_group_name), where other nodes may hold empty copies "
                "of MyISAM tables."
            )

    def _logged_costs(self, what: str) -> Iterable[str]:
        if self._state.logs_changes:
            yield f"The binary log is on: each replica runs the {what} too, and applies nothing else meanwhile."
        elif self._state.logs_changes is None:
            yield f"If this server replicates, each replica runs the {what} too and applies nothing else meanwhile; on a replica itself, run it on its source only."
        if not self._state.is_replica or self._state.is_read_only:
            return
        if self._state.logs_changes is False:
            yield "This server is a replica itself: run here, its table is no longer defined as its source's. Run it on the source, from where it comes here."
        else:
            yield (
                "This server is a replica itself: run here, it leaves a transaction that its source does not have, and with GTIDs the next failover breaks. "
                "Run it on the source, or after SET SESSION sql_log_bin = 0 in the same session, which keeps it out of the binary log."
            )

    def _disk_costs(self, does: Effects) -> Iterable[str]:
        if does.needed_bytes is None:
            yield "How much disk it needs is not known here: a copy of the table must find room."
        elif does.needed_bytes and self._state.disk_free_bytes is None:
            yield f"How much disk is free is not known here: {size(does.needed_bytes)} must be."

    def _amended(self, command: Command, does: Effects, said: _Said) -> Iterable[Command]:
        """The command as this server should have it, with what must come before it."""
        if not isinstance(command, Sql):
            yield command
            return
        assigned = statements.assignment(command)
        if assigned and assigned.variable == UNINDEXED_LOG and assigned.value.upper() in ("ON", "1"):
            yield from self._brake(said)
        if does.logged is Logged.UNLESS_TOLD and self._keeps_out_of_the_log:
            quiet = statements.without_binary_log(command)
            if quiet is not None:
                if does.rewrites:
                    said.cost[
                        "NO_WRITE_TO_BINLOG keeps it off the replicas: run it on each of them in turn where it is wanted."
                    ] = None
                yield quiet
                return
            said.cost["The binary log is on: each replica runs it too."] = None
        yield command

    @property
    def _keeps_out_of_the_log(self) -> bool:
        """Whether what can stay out of the binary log should: there is one, or this may be a replica with one."""
        may_be_a_replica = bool(self._state.is_read_only or self._state.is_replica)
        return bool(self._state.logs_changes) or (may_be_a_replica and self._state.logs_changes is None)

    def _brake(self, said: _Said) -> Iterable[Sql]:
        """What keeps the log of statements without an index small."""
        state = self._state
        if not state.is_mariadb and state.version_number is not None and not state.is_before(THROTTLE_FROM):
            name, limit = THROTTLE, LOGGED_QUERIES_PER_MINUTE
            said.cost[f"{THROTTLE} bounds the log to {limit} such statements a minute."] = None
        else:
            name = ROW_LIMIT_OF_MARIADB if state.value(ROW_LIMIT_OF_MARIADB) is not None else ROW_LIMIT
            limit = LOGGED_QUERIES_MINIMUM_ROWS
            said.cost[
                f"{name} leaves out what reads fewer than {count(limit)} rows, slow statements too, and holds for new connections only: those that are open now log every scan."
            ] = None
        present = state.value(name)
        # A site's own brake stays as it is.
        if not (isinstance(present, int | float) and present > 0):
            said.undo[statement("SET GLOBAL {} = {};", quote_variable(name), 0)] = None
            yield statement("SET GLOBAL {} = {};", quote_variable(name), limit)

    def _spelled(self, command: Command) -> Command:
        """SET GLOBAL with the value as this version reads it."""
        assigned = statements.assignment(command) if isinstance(command, Sql) else None
        if not assigned or not self._state.is_before(WORDS_FROM):
            return command
        number = SPELLED_AS_NUMBERS.get(assigned.variable, {}).get(assigned.value.strip("'").upper())
        return command if number is None else statement("SET GLOBAL {} = {};", assigned.target, quote_value(number))

    def _options(self, remedy: Remedy, said: _Said) -> tuple[OptionLine, ...]:
        """The lines of my.cnf that this server can start with."""
        lines: list[OptionLine] = []
        for line in remedy.my_cnf:
            name, value = line.option, line.partition("=")[2].strip()
            present = self._state.value("init_file")
            if name == "init_file" and present not in (None, ""):
                path = printable(str(present))
                said.instead[
                    f"The server has an init_file already: add the lines for the init_file to the end of {path}, and leave what is in it."
                ] = None
                continue
            if name == "init_file" and present is None and not self._known.variables:
                said.cost[
                    "Where my.cnf names an init_file already, add the lines to that one: there can be one only."
                ] = None
            if name in TABLE_CACHES and value.isdigit():
                lines += self._file_limit_for(int(value), remedy)
            if name in OPTION_BEFORE and self._state.version_number is None:
                said.cost[
                    f"Before MySQL 5.5.3 the option is called {OPTION_BEFORE[name]}, and the server does not start with the other name."
                ] = None
            lines.append(self._spelled_line(line, name, value))
        return tuple(lines)

    def _file_limit_for(self, tables: int, remedy: Remedy) -> Iterable[OptionLine]:
        """The limit that must stand before a table cache, where the present one is too small."""
        limit, wanted = self._state.file_limit, SMALLEST_FILE_LIMIT
        if limit is None or self._files_for(tables) <= limit:
            return
        if any(line.option == "open_files_limit" for line in remedy.my_cnf):
            return
        while wanted < self._files_for(tables):
            wanted *= 2
        yield option_line("open_files_limit", wanted)

    def _files_for(self, tables: int) -> int:
        """What the server reckons at its start: 10 + max_connections + 2 x table_open_cache."""
        connections = self._state.value("max_connections")
        connected = int(connections) if isinstance(connections, int | float) else USUAL_CONNECTIONS
        return FILES_RESERVED + connected + FILES_PER_TABLE * tables

    def _spelled_line(self, line: OptionLine, name: str, value: str) -> OptionLine:
        number = SPELLED_AS_NUMBERS.get(name, {}).get(value.upper())
        # Every version reads the number: it stands where the version is not known too, as a wrong word keeps the server from starting.
        if number is not None and (self._state.version_number is None or self._state.is_before(WORDS_FROM)):
            return option_line(name, number)
        if name in OPTION_BEFORE and self._state.is_before(WORDS_FROM):
            return option_line(OPTION_BEFORE[name], value)
        if name in SWITCHES and value.upper() in SPELLED_SWITCH and self._state.is_before(SWITCHES_AS_WORDS_FROM):
            return option_line(name, SPELLED_SWITCH[value.upper()])
        return line

    def _row(self, does: Effects) -> Row:
        return self._known.tables_by_name.get(does.table, {}) if does.table else {}


def _is_statement(command: Command) -> bool:
    return isinstance(command, Sql) and not statements.is_remark(command)
