"""Views of what the connections are at, and what they wait for."""

from __future__ import annotations

from myisam_advisor.factbase.view import View

CONNECTION_VIEWS = (
    View(
        "connections",
        "What the connections of `processlist` are at, by the same groups: a replica's threads by their states.",
        {
            "state": "What they are doing; empty where that is not known.",
            "command": "Query, Sleep, ...",
            "threads": "How many there are.",
            "longest_seconds": "How long the longest has been in this state.",
            "is_replicas": "1 where they may be a replica's own threads: commands Connect, Slave_SQL and Slave_worker. Events have Connect, too.",
            "is_idle": "1 where they are a replica's own and wait for the source, for work or for each other.",
            "works": "1 where they are at work: all but those that sleep, the server's own, and replicas that read its binary log.",
            "runs": "1 where they run a statement that waits for no lock, GET_LOCK()'s neither.",
            "sleeps": "1 where they are clients between two statements: a cluster's own threads have command Sleep, too.",
        },
        """
        SELECT state, command, threads, longest_seconds, is_replicas, is_idle,
               COALESCE(command, 'Query') NOT IN ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Slave_IO') AND NOT is_idle AS works,
               command NOT IN ('Sleep', 'Daemon', 'Binlog Dump', 'Binlog Dump GTID', 'Slave_IO') AND NOT is_idle AND state NOT LIKE 'Waiting %'
                 AND state NOT IN ('Locked', 'Table lock', 'Flushing tables', 'User lock', 'upgrading lock')
                 AND NOT (command = 'Connect' AND state IN ('', 'login', 'Receiving from client')) AS runs,
               command = 'Sleep' AND state NOT LIKE 'Waiting %' AND state NOT LIKE 'wsrep%' AND state NOT LIKE 'committed %' AS sleeps
          FROM (SELECT *, state LIKE '%read all relay log%'
                          OR is_replicas AND (state LIKE 'Connecting to %' OR state LIKE 'Reconnecting %'
                                              OR state LIKE '%relay log%' AND state <> 'Reading event from the relay log'
                                              OR state LIKE 'Waiting %' AND state NOT LIKE '% lock' AND state <> 'Waiting for table flush') AS is_idle
                  FROM (SELECT COALESCE(state, '') AS state, command, threads, longest_seconds,
                               COALESCE(command IN ('Connect', 'Slave_SQL', 'Slave_worker'), 0) AS is_replicas FROM processlist))
        """,
    ),
    View(
        "rebuilds",
        "One row: connections that rebuild a table or its indexes, each of whose phases ends with a damaged table where a REPAIR or OPTIMIZE is killed.",
        {
            "threads": "How many; unknown where none is seen.",
            "longest_seconds": "How long the longest has been in this phase.",
        },
        # By sorting, through the key cache, with several threads (of MySQL "Repair with 3 threads", of MariaDB "Parallel repair"), then OPTIMIZE's last two.
        """
        SELECT SUM(threads) AS threads, MAX(longest_seconds) AS longest_seconds
          FROM (SELECT lower(state) AS phase, threads, longest_seconds FROM processlist)
         WHERE phase LIKE 'repair %' OR phase IN ('copy to tmp table', 'altering table', 'parallel repair', 'enabling keys', 'optimizing table',
                                                    'sorting index', 'analyzing', 'saving state')
        """,
    ),
    View(
        "applier",
        "One row: whether a replica's applier may be what others wait for. It is not a connection: never kill it.",
        {
            "applier_seconds": "Its longest Time while it works, which may be its lag instead; unknown where none is seen at work.",
            "is_hidden": "1 where the server is a replica that applies changes, and the process list does not show what its applier does.",
        },
        """
        SELECT (SELECT MAX(longest_seconds) FROM connections WHERE is_replicas AND runs) AS applier_seconds,
               EXISTS (SELECT 1 FROM replica WHERE sql_running = 1 AND COALESCE(seconds_behind, 1) > 0)
                 AND NOT EXISTS (SELECT 1 FROM connections WHERE runs AND is_replicas OR state LIKE '%read all relay log%' OR command IN ('Slave_SQL', 'Slave_worker')
                                    OR command = 'Connect' AND state LIKE 'Waiting for % lock') AS is_hidden
        """,
    ),
    View(
        "table_lock_waits",
        "One row: how often statements wait for table locks, who waits now, and who could hold what is waited for.",
        {
            "waits_per_second": "Locks that were waited for.",
            "immediate_per_second": "Locks that were free.",
            "waits": "Locks that were waited for, since the counters began.",
            "immediate": "Locks that were free, since the counters began.",
            "wait_share": "Share of the locks that were waited for, over the interval; unknown where either is.",
            "waiting_threads": "Connections that wait for a table lock at this moment.",
            "longest_seconds": "How long the first of them has waited.",
            "statement_seconds": "How long a statement takes on average, with what it waits: connections at work by statements in a second.",
            "waiting_connections": "Connections at work beyond the processors that the server uses: those that wait, for whatever, a processor too.",
            "idle": "Share of the processors' time that is idle.",
            "working_connections": "Connections at work: all but those that sleep, the server's own, and replicas that read its binary log.",
            "running_statements": "Statements that wait for no lock, a replica's applier with them.",
            "running_seconds": "How long the longest of them has run, but for an applier; unknown where that is less than the first has waited.",
            "sleeping_seconds": "How long a connection has slept at most; unknown where that is less than the first has waited.",
            "acknowledging_threads": "Statements that hold what they wrote until a replica has acknowledged it (semi-synchronous replication); unknown where none is seen.",
            "acknowledging_seconds": "How long the first of them has waited.",
            "says_source": "1 where the server says source and replica, and not master and slave; unknown where none is seen.",
        },
        """
        SELECT s.waits_per_second, s.immediate_per_second, s.waits, s.immediate, s.waits_per_second * 1.0 / NULLIF(s.waits_per_second + s.immediate_per_second, 0) AS wait_share,
               p.waiting_threads, p.longest_seconds,
               m.threads_running * 1.0 / NULLIF(s.questions, 0) AS statement_seconds,
               m.threads_running - (m.cpu_user_ratio + m.cpu_system_ratio) AS waiting_connections, (SELECT idle FROM processors) AS idle,
               p.working_connections, p.running_statements, iif(p.running_seconds >= p.longest_seconds, p.running_seconds, NULL) AS running_seconds,
               iif(p.sleeping_seconds >= p.longest_seconds, p.sleeping_seconds, NULL) AS sleeping_seconds,
               p.acknowledging_threads, p.acknowledging_seconds, p.says_source
          FROM (SELECT MAX(per_second) FILTER (WHERE name = 'Questions') AS questions,
                       MAX(per_second) FILTER (WHERE name = 'Table_locks_waited') AS waits_per_second,
                       MAX(per_second) FILTER (WHERE name = 'Table_locks_immediate') AS immediate_per_second,
                       MAX(value) FILTER (WHERE name = 'Table_locks_waited') AS waits, MAX(value) FILTER (WHERE name = 'Table_locks_immediate') AS immediate
                  FROM status) AS s LEFT JOIN mysqld AS m,
               (SELECT SUM(threads) FILTER (WHERE waits) AS waiting_threads, MAX(longest_seconds) FILTER (WHERE waits) AS longest_seconds,
                       SUM(threads) FILTER (WHERE works) AS working_connections, SUM(threads) FILTER (WHERE runs) AS running_statements,
                       MAX(longest_seconds) FILTER (WHERE runs AND NOT is_replicas) AS running_seconds, MAX(longest_seconds) FILTER (WHERE sleeps) AS sleeping_seconds,
                       SUM(threads) FILTER (WHERE acknowledges) AS acknowledging_threads, MAX(longest_seconds) FILTER (WHERE acknowledges) AS acknowledging_seconds,
                       MAX(state LIKE '%replica') FILTER (WHERE acknowledges) AS says_source
                  FROM (SELECT *, state IN ('Locked', 'Table lock', 'Waiting for table level lock') AS waits, state LIKE 'Waiting for semi-sync ACK%' AS acknowledges
                          FROM connections)) AS p
        """,
    ),
    View(
        "lock_waits",
        "One row: seconds waited in a second for the server's own locks that cost MyISAM most; unknown where none is timed or taken.",
        {
            "key_cache_lock": "For the locks of key caches.",
            "key_root_lock": "For the locks that concurrent_insert takes.",
            "query_cache_lock": "For the lock of the query cache.",
            "other_lock": "For the worst of all but those of key caches.",
        },
        """
        SELECT MAX(wait_seconds_per_second) FILTER (WHERE name = 'key_cache_lock' AND COALESCE(count_per_second, 1) > 0) AS key_cache_lock,
               MAX(wait_seconds_per_second) FILTER (WHERE name = 'key_root_lock' AND COALESCE(count_per_second, 1) > 0) AS key_root_lock,
               MAX(wait_seconds_per_second) FILTER (WHERE name = 'query_cache_lock') AS query_cache_lock,
               MAX(wait_seconds_per_second) FILTER (WHERE name <> 'key_cache_lock') AS other_lock
          FROM mutex_wait
        """,
    ),
)
