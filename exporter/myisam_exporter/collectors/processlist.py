"""What the connections are doing, counted by state. Query texts are never read: no column that holds one is named here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from myisam_exporter.collectors.base import Collector, Context, Pair, SampleKey
from myisam_exporter.collectors.variables import VARIABLES, Variables
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Block, RowMaker, column_names, columns, single
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.outside.numbers import whole_number
from myisam_exporter.server.granting import (
    READ_PERFORMANCE_SCHEMA,
    SEE_PROCESSES,
    global_rights,
    is_of_role,
    logged_in_anonymously,
    way_to,
)
from myisam_exporter.server.session import Session
from myisam_exporter.server.sql import Sql, plain_words, statement


def _busy(state: Sql) -> Sql:
    """Which of a replica's threads count, among the server's own: an applier that is at work or in line holds locks, and waits for them."""
    return statement(
        "(COALESCE({}, '') NOT REGEXP '(read all|to the|in) relay log|^(re)?connecting|^waiting' OR {} REGEXP ' lock$|^Waiting for table flush')",
        state,
        state,
    )


# information_schema.PROCESSLIST would make a temporary MyISAM table on MySQL 5.6 and move the counters we watch. There appliers are no
# foreground threads. Elsewhere they have command Connect; on 9.7 Query as well, and then look like clients that may be killed (tried).
# Those of a cluster sleep, as idle clients do (tried on MariaDB 10.11 with Galera).
THREADS = statement(
    "SELECT PROCESSLIST_DB, PROCESSLIST_STATE, "
    "IF(NAME LIKE 'thread/sql/slave%' OR NAME LIKE 'thread/sql/replica%', 'Connect', PROCESSLIST_COMMAND), "
    "PROCESSLIST_TIME FROM performance_schema.threads "
    "WHERE TYPE = 'FOREGROUND' AND PROCESSLIST_ID IS NOT NULL AND PROCESSLIST_ID <> CONNECTION_ID() "
    "AND NOT (NAME LIKE 'thread/sql/wsrep%' AND PROCESSLIST_COMMAND = 'Sleep' AND COALESCE(PROCESSLIST_STATE, '') NOT LIKE 'Waiting %') "
    "OR PROCESSLIST_ID IS NULL AND NAME IN ('thread/sql/slave_sql', 'thread/sql/slave_worker') AND {}",
    _busy(plain_words("PROCESSLIST_STATE")),
)
PROCESSLIST = (
    "SELECT DB, STATE, IF(USER = 'system user' AND COMMAND = 'Query', 'Connect', COMMAND), TIME "
    "FROM information_schema.PROCESSLIST WHERE ID <> CONNECTION_ID()"
)
# max_connections goes up to this.
MAXIMUM_CONNECTIONS = 100_000
SYSTEM_USERS = statement(
    " AND USER <> 'event_scheduler' "
    "AND (USER <> 'system user' OR COMMAND IN ('Connect', 'Query', 'Slave_SQL', 'Slave_worker') AND {})",
    _busy(plain_words("STATE")),
)
FEWEST_GLANCES = 5
# What an engine says of its own work ("Repair with keycache": thd_proc_info of ha_myisam.cc) is no stage of performance_schema, which has NULL
# there (tried on MySQL 5.6, 8.0 and 9.7).
RUNNING = frozenset({"Query", "Execute"})
DAEMON = "Daemon"  # a thread of the server's own: each of the two tables has others
# Before MySQL 5.7 the other table costs a temporary one: asked then only where such work has lasted, and matters.
TEMPORARY_BEFORE, LONG_SECONDS = (5, 7), 10
# Who may read performance_schema and has no PROCESS sees in the other table its own connections alone.
MOST_SHARE = 0.9
# Names are quoted: no name of a database looks like this.
# SUPER by itself does not show the connections of others (PROCESS_ACL in sql_show.cc).
SHOW_OTHERS = frozenset({"ALL PRIVILEGES", "PROCESS"})


@dataclass(frozen=True, slots=True)
class Connections:
    """Connections by (schema, state, command): how many, and how long the longest has been so, where the server says.

    `in_query_cache` is the mean of all readings of the interval; None of too few.
    """

    groups: dict[tuple[str, str, str], tuple[int, int | None]]
    in_query_cache: float | None = None


CONNECTIONS = SampleKey("processlist", Connections)


class ProcesslistCollector(Collector[Connections]):
    """The connections and their states."""

    name = CONNECTIONS.name
    source = "performance_schema.threads, information_schema.PROCESSLIST"
    after = ("variables",)
    reads = {"variables": frozenset({"performance_schema"})}
    states_only = True
    sections = {
        "processlist": columns(
            ("schema_name", "text", "Default database of the connections."),
            ("state", "text", "What they are doing, in the server's words."),
            ("command", "text", "Query, Sleep, ..."),
            ("threads", "integer", "How many there are."),
            ("longest_seconds", "integer", "How long the longest has been in this state."),
            source=source,
        ),
        "mysqld": columns(
            (
                "waiting_for_query_cache",
                "real",
                "Connections in a state that names the query cache, nearly all of them waiting: the mean of at least five readings over the interval.",
            ),
            source=source,
        ),
    }

    def collect(self, context: Context) -> Connections | Unknown:
        """One statement, two where a state is an engine's own; without PROCESS only our own connection would be visible, which is no answer."""
        variables = context.sample(VARIABLES)
        if isinstance(variables, Unknown):
            return variables
        session = context.session
        mysql_threads = has_mysql_threads(session, variables)
        missing = missing_privilege(session)
        if missing:
            if mysql_threads:
                # That table is shown from the moment of the grant, also to a connection that began before.
                session.forget_grants()
            return missing
        is_free = session.version.at_least(mysql=TEMPORARY_BEFORE)
        rows: list[tuple[str | None, ...]] | Unknown = Unknown("")
        if mysql_threads:
            rows = session.rows_or_unknown(THREADS, 4, grant=READ_PERFORMANCE_SCHEMA, maximum_rows=MAXIMUM_CONNECTIONS)
        if isinstance(rows, Unknown) or _hides_states(rows, 0 if is_free else LONG_SECONDS):
            told = session.rows_or_unknown(
                PROCESSLIST + SYSTEM_USERS, 4, grant=SEE_PROCESSES, maximum_rows=MAXIMUM_CONNECTIONS
            )
            if isinstance(rows, Unknown) or _shows_as_many(told, rows):
                rows = told
        if isinstance(rows, Unknown):
            return rows
        groups = _grouped(rows)
        return Connections(groups, _mean_of([*context.in_query_cache, _queued(groups)]))

    def facts(self, pair: Pair[Connections]) -> Iterable[Block]:
        """One row a state."""
        rows = (
            {"schema_name": schema, "state": state, "command": command, "threads": threads, "longest_seconds": longest}
            for (schema, state, command), (threads, longest) in pair.after.groups.items()
        )
        mean = pair.after.in_query_cache
        at_work = [] if mean is None else [single("mysqld", {"waiting_for_query_cache": mean})]
        return [STATE_ROWS.block("processlist", rows), *at_work]


def _queued(groups: Mapping[tuple[str, str, str], tuple[int, int | None]]) -> int:
    return sum(threads for (_, state, _), (threads, _) in groups.items() if "query cache" in state.lower())


def _mean_of(readings: Sequence[int]) -> float | None:
    return sum(readings) / len(readings) if len(readings) >= FEWEST_GLANCES else None


def has_mysql_threads(session: Session, variables: Variables) -> bool:
    """Whether performance_schema tells of all connections, without a temporary table."""
    version = session.version
    return version.flavour != "mariadb" and version.at_least(mysql=(5, 6)) and variables.is_on("performance_schema")


def _shows_as_many(told: Sequence[tuple[str | None, ...]] | Unknown, rows: Sequence[tuple[str | None, ...]]) -> bool:
    """Whether nearly all connections are in this answer, too; some come and go in between. The server's own threads differ."""
    return not isinstance(told, Unknown) and _clients(told) >= MOST_SHARE * _clients(rows)


def _clients(rows: Iterable[tuple[str | None, ...]]) -> int:
    return sum(command != DAEMON for _, _, command, _ in rows)


def _hides_states(rows: Iterable[tuple[str | None, ...]], least_seconds: int) -> bool:
    """Whether a connection that runs a statement, for so long at least, has no state here."""
    return any(
        state is None and command in RUNNING and (whole_number(seconds) or 0) >= least_seconds
        for _, state, command, seconds in rows
    )


def missing_privilege(session: Session) -> Unknown | None:
    """Why the connections of others are hidden here, and what would show them; None where they are not."""
    grants = session.grants()
    if isinstance(grants, Unknown):
        return None  # roles and proxies can hide them; the rows themselves will tell
    told = [grant or "" for (grant,) in grants]
    if any(global_rights(grant) & SHOW_OTHERS or is_of_role(grant) for grant in told):
        return None
    account = session.account()
    return Unknown(
        f"no PROCESS privilege: other users' connections are hidden{logged_in_anonymously(account)}",
        way_to(SEE_PROCESSES, account),
    )


def _grouped(rows: Iterable[tuple[str | None, ...]]) -> dict[tuple[str, str, str], tuple[int, int | None]]:
    counts: Counter[tuple[str, str, str]] = Counter()
    longest: dict[tuple[str, str, str], int | None] = {}
    for schema, state, command, seconds in rows:
        group = (schema or "", state or "", command or "")
        counts[group] += 1
        known = [number for number in (longest.get(group), whole_number(seconds)) if number is not None]
        longest[group] = max(known, default=None)
    return {group: (count, longest[group]) for group, count in counts.items()}


STATE_ROWS = RowMaker(column_names(ProcesslistCollector.sections["processlist"]))
COLLECTOR = ProcesslistCollector()
