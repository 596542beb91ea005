"""What several rules ask of the fact tables alike, as views beside them. They hold no threshold: what is much, each rule says itself.

A view that nobody asks costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class View:
    """A SELECT with a name. `columns` says of each column what it is, in the order of the SELECT."""

    name: str
    description: str
    columns: Mapping[str, str]
    select: str


VIEWS = (
    View(
        "processors",
        "One row: the processors that the server may use, all of the machine's or those that it is bound or limited to, and what keeps these busy.",
        {
            "cores": "How many; 1.5 is one and half the time of another.",
            "idle": "Share of their time that is idle.",
            "system": "Share of their time in the kernel.",
        },
        # What others do on the processors of a server that has fewer than the machine is not known: no more is idle than the machine has idle.
        """
        SELECT COALESCE(MIN(m.usable_cpu_count, h.cpu_count), h.cpu_count, m.usable_cpu_count) AS cores,
               iif(m.usable_cpu_count < h.cpu_count,
                   MAX(MIN(1 - (m.cpu_user_ratio + m.cpu_system_ratio) / m.usable_cpu_count, h.cpu_idle_ratio * h.cpu_count / m.usable_cpu_count), 0), h.cpu_idle_ratio) AS idle,
               iif(m.usable_cpu_count < h.cpu_count, m.cpu_system_ratio / m.usable_cpu_count, h.cpu_system_ratio) AS system
          FROM (SELECT 1) LEFT JOIN host AS h LEFT JOIN mysqld AS m
        """,
    ),
    View(
        "table_activity",
        "What happens to each table, for rules of your own; shipped rules ask `tables`, of which a daemon asks only what changed.",
        {
            "schema_name": "The database.",
            "table_name": "The table.",
            "index_bytes": "Size of its index file.",
            "write_statements_per_second": "Write statements; 0 where that is not known.",
            "rows_added_per_second": "Rows added; 0 where that is not known.",
            "rows_read_per_second": "Rows read; 0 where that is not known.",
            "is_known": "1 where any of the three is known.",
            "reads_known": "1 where the rows read are known.",
        },
        """
        SELECT schema_name, table_name, index_bytes,
               COALESCE(write_statements_per_second, 0) AS write_statements_per_second,
               COALESCE(rows_added_per_second, 0) AS rows_added_per_second, COALESCE(rows_read_per_second, 0) AS rows_read_per_second,
               COALESCE(write_statements_per_second, rows_added_per_second, rows_read_per_second) IS NOT NULL AS is_known,
               rows_read_per_second IS NOT NULL AS reads_known
          FROM tables
        """,
    ),
    View(
        "index_parts",
        "The columns of each index, as `indexes.key_description` has them: as the engine keeps them, so that DATE is MEDIUMINT UNSIGNED.",
        {
            "schema_name": "The database.",
            "table_name": "The table.",
            "index_number": "The index, from 1, as in `indexes`.",
            "part_number": "Its place in the index, from 1.",
            "data_type": "Its type, without length.",
            "length_bytes": "Bytes in the index, of a prefix those of the prefix; of a text at most. Unknown of NUMERIC and BIT.",
            "is_nullable": "1 where it may be NULL.",
        },
        # Few indexes differ: each description is taken apart once, however many there are of it.
        """
        WITH RECURSIVE pieces (key_description, part_number, part, rest) AS (
          SELECT DISTINCT key_description, 0, '', key_description || ', ' FROM indexes WHERE key_description <> ''
          UNION ALL
          SELECT key_description, part_number + 1, substr(rest, 1, instr(rest, ', ') - 1), substr(rest, instr(rest, ', ') + 2) FROM pieces WHERE rest <> ''
        ), parts AS (
          SELECT key_description, part_number, part NOT LIKE '% NOT NULL' AS is_nullable,
                 iif(part LIKE '% NOT NULL', substr(part, 1, length(part) - length(' NOT NULL')), part) AS declared
            FROM pieces WHERE part_number > 0
        ), types AS (
          SELECT *, iif(declared LIKE '%)', substr(declared, 1, instr(declared, '(') - 1), declared) AS data_type,
                 iif(declared LIKE '%)', CAST(substr(declared, instr(declared, '(') + 1) AS INTEGER), NULL) AS told_bytes FROM parts)
        SELECT i.schema_name, i.table_name, i.index_number, t.part_number, t.data_type,
               CASE WHEN t.told_bytes IS NOT NULL THEN t.told_bytes WHEN t.data_type = 'TINYINT' THEN 1 WHEN t.data_type LIKE 'SMALLINT%' THEN 2
                    WHEN t.data_type LIKE 'MEDIUMINT%' THEN 3 WHEN t.data_type LIKE 'INT%' OR t.data_type = 'FLOAT' THEN 4
                    WHEN t.data_type LIKE 'BIGINT%' OR t.data_type = 'DOUBLE' THEN 8 END AS length_bytes,
               t.is_nullable
          FROM indexes AS i JOIN types AS t ON t.key_description = i.key_description
        """,
    ),
    View(
        "write_statements",
        "One row: statements that change rows, of any engine; those that a replica applies are among them.",
        {
            "per_second": "How many; unknown where none of their kinds is counted.",
            "inserted_share": "Share of those that insert or load rows, without REPLACE; unknown where none is run.",
        },
        """
        SELECT SUM(per_second) AS per_second,
               SUM(per_second) FILTER (WHERE name IN ('Com_insert', 'Com_insert_select', 'Com_load')) * 1.0 / NULLIF(SUM(per_second), 0) AS inserted_share
          FROM status WHERE name IN ('Com_insert', 'Com_insert_select', 'Com_load', 'Com_replace', 'Com_replace_select',
                                     'Com_update', 'Com_update_multi', 'Com_delete', 'Com_delete_multi')
        """,
    ),
    View(
        "key_cache_requests",
        "How much is asked of each key cache, beside what is asked of all of them.",
        {
            "name": "The key cache.",
            "segments": "Its segments; 0 where it has none.",
            "size_bytes": "Its size.",
            "block_size_bytes": "The size of its blocks.",
            "requests_per_second": "Blocks read and written through it.",
            "all_requests_per_second": "The same of all key caches together.",
        },
        """
        SELECT name, COALESCE(segments, 0) AS segments, size_bytes, block_size_bytes, read_requests_per_second + COALESCE(write_requests_per_second, 0) AS requests_per_second,
               (SELECT SUM(read_requests_per_second + COALESCE(write_requests_per_second, 0)) FROM key_cache) AS all_requests_per_second
          FROM key_cache
        """,
    ),
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
    View(
        "query_cache",
        "One row: whether there is a query cache, and who waits for it.",
        {
            "type": "query_cache_type.",
            "size_bytes": "query_cache_size.",
            "is_on": "1 where it is known to be on and to have a size, else 0.",
            "waiting_threads": "Connections that do something with it at this moment: nearly all of that time is waiting.",
        },
        """
        SELECT v.*, COALESCE(v.type, 'OFF') NOT IN ('OFF', 0, '0') AND COALESCE(v.size_bytes, 0) > 0 AS is_on,
               (SELECT SUM(threads) FROM processlist WHERE lower(state) LIKE '%query cache%') AS waiting_threads
          FROM (SELECT MAX(value) FILTER (WHERE name = 'query_cache_type') AS type, MAX(value) FILTER (WHERE name = 'query_cache_size') AS size_bytes
                  FROM variable) AS v
        """,
    ),
    View(
        "server_memory",
        "One row: the memory that the server may have: the machine's, or its control group's where that leaves less.",
        {
            "memory_bytes": "All of it.",
            "available_bytes": "What is free or page cache: what caches and buffers may still take.",
            "page_cache_bytes": "What is page cache now.",
            "free_bytes": "What is neither used nor page cache.",
            "file_refaults_per_second": "Pages of files that were read again soon after they had been dropped.",
        },
        """
        SELECT memory_bytes, available_bytes, page_cache_bytes, available_bytes - page_cache_bytes AS free_bytes, file_refaults_per_second
          FROM (SELECT MIN(COALESCE(h.memory_bytes, m.limit_bytes), COALESCE(m.limit_bytes, h.memory_bytes)) AS memory_bytes,
                       iif(m.is_less, m.left_bytes, h.memory_available_bytes) AS available_bytes, iif(m.is_less, m.page_cache_bytes, h.page_cache_bytes) AS page_cache_bytes,
                       COALESCE(m.refaults, h.file_refaults_per_second) AS file_refaults_per_second
                  FROM (SELECT 1) LEFT JOIN host AS h LEFT JOIN (
                    SELECT g.*, COALESCE(g.left_bytes < COALESCE((SELECT COALESCE(memory_available_bytes, memory_bytes) FROM host), 1e18), 0) AS is_less
                      FROM (SELECT cgroup_memory_limit_bytes AS limit_bytes, cgroup_page_cache_bytes AS page_cache_bytes, cgroup_file_refaults_per_second AS refaults,
                                   MIN(COALESCE(cgroup_memory_available_bytes, 1e18), MAX(cgroup_memory_limit_bytes - COALESCE(anonymous_bytes, 0), 0)) AS left_bytes
                              FROM mysqld) AS g) AS m)
        """,
    ),
    View(
        "own_reads",
        "One row: what the server itself reads from disks; unknown on file systems that count no process's reads (NFS, FUSE, ZFS).",
        {
            "misses_per_second": "Pages of files that were not in the page cache.",
            "bytes_per_second": "Bytes read from storage.",
            "pages_per_second": "Pages read: the misses, else the bytes by pages of 4 KiB.",
        },
        """
        SELECT page_cache_misses_per_second AS misses_per_second, disk_read_bytes_per_second AS bytes_per_second,
               COALESCE(page_cache_misses_per_second, disk_read_bytes_per_second / 4096) AS pages_per_second
          FROM (SELECT 1) LEFT JOIN mysqld ON COALESCE(page_cache_method, '') NOT LIKE '%reads are not counted'
        """,
    ),
    View(
        "read_calls",
        "One row: what read calls and handlers show of the rows that are read, where nothing counts them by table.",
        {
            "is_counted": "1 where the server counts the rows of each table: performance_schema or userstat is ON.",
            "counter": "What can count them on this server: userstat or performance_schema; unknown where it is too old.",
            "rows_by_index_per_second": "Rows that an index found, each by a call of its own: read calls without those of key caches, and no more than such rows of any engine.",
            "bytes_per_call": "What a read call brings on average.",
            "changed_per_second": "Rows changed, of any engine.",
            "scanned_per_second": "Rows read by scans, of any engine, without those that an index found and a temporary table may have given back.",
            "rows_per_scan": "All of them in each scan, on average.",
            "bytes_per_scanned_row": "What all read calls bring, by these rows; unknown where a tenth of them was written to temporary tables, found by an index, or is a join's.",
        },
        """
        SELECT v.is_counted,
               CASE WHEN v.has_userstat THEN 'userstat' WHEN COALESCE((SELECT version_number >= 50600 FROM server), 1) THEN 'performance_schema' END AS counter,
               MIN(m.read_syscalls_per_second - COALESCE((SELECT SUM(reads_per_second) FROM key_cache), 0), s.ranges) AS rows_by_index_per_second,
               m.read_bytes_per_second * 1.0 / NULLIF(m.read_syscalls_per_second, 0) AS bytes_per_call, s.changed AS changed_per_second,
               MAX(s.scanned - COALESCE(MIN(COALESCE(s.temporary, s.written), s.by_key), 0), 0) AS scanned_per_second, s.scanned * 1.0 / NULLIF(s.scans, 0) AS rows_per_scan,
               iif(COALESCE(s.by_key, 0) + COALESCE(s.temporary, 0) <= s.scanned / 10.0 AND COALESCE(s.joins, 0) < 1,
                   m.read_bytes_per_second * 1.0 / NULLIF(s.scanned, 0), NULL) AS bytes_per_scanned_row
          FROM (SELECT MAX(value IN ('ON', 1, '1')) AS is_counted, MAX(name = 'userstat') AS has_userstat FROM variable WHERE name IN ('performance_schema', 'userstat')) AS v,
               (SELECT SUM(per_second) FILTER (WHERE name IN ('Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd')) AS ranges,
                       SUM(per_second) FILTER (WHERE name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd')) AS by_key,
                       SUM(per_second) FILTER (WHERE name IN ('Handler_update', 'Handler_delete', 'Handler_write')) AS changed,
                       MAX(per_second) FILTER (WHERE name = 'Handler_tmp_write') AS temporary, MAX(per_second) FILTER (WHERE name = 'Handler_write') AS written,
                       MAX(per_second) FILTER (WHERE name = 'Handler_read_rnd_next') AS scanned, MAX(per_second) FILTER (WHERE name = 'Select_scan') AS scans,
                       MAX(per_second) FILTER (WHERE name = 'Select_full_join') AS joins
                  FROM status) AS s LEFT JOIN mysqld AS m
        """,
    ),
    View(
        "row_reads",
        "One row: how statements read rows, of any engine.",
        {
            "all_scanned_per_second": "Rows read by scans, those of temporary tables among them.",
            "temporary_per_second": "Rows written to temporary tables; unknown on MySQL.",
            "by_index_per_second": "Rows read by an index, or by their place.",
            "scans_per_second": "Scans of the first table of a statement.",
            "full_joins_per_second": "Joins that read a whole table for each row of another.",
        },
        """
        SELECT MAX(per_second) FILTER (WHERE name = 'Handler_read_rnd_next') AS all_scanned_per_second,
               MAX(per_second) FILTER (WHERE name = 'Handler_tmp_write') AS temporary_per_second,
               SUM(per_second) FILTER (WHERE name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_first', 'Handler_read_last',
                                                      'Handler_read_rnd')) AS by_index_per_second,
               MAX(per_second) FILTER (WHERE name = 'Select_scan') AS scans_per_second, MAX(per_second) FILTER (WHERE name = 'Select_full_join') AS full_joins_per_second
          FROM status
        """,
    ),
    View(
        "sent_rows",
        "One row: how much of what scans read goes to clients or into another table as it is, as a dump's rows and an ALTER's do.",
        {
            "by_scans_per_second": "Rows sent beyond those that an index found: counted by MariaDB, elsewhere the bytes sent by the length of the rows that are read.",
            "share_of_scans": "These, of the rows of any engine that scans read; unknown where none are read.",
            "bytes_per_second": "Bytes sent to clients.",
            "copied_per_second": "Rows that scans read and that are written again; unknown where no statement is seen that copies rows.",
            "copied_share": "These, of the rows of any engine that scans read.",
            "copied_bytes_per_second": "These, by the length of the rows that are read.",
        },
        """
        SELECT by_scans_per_second, by_scans_per_second * 1.0 / NULLIF(scanned, 0) AS share_of_scans, bytes AS bytes_per_second,
               copied AS copied_per_second, copied * 1.0 / NULLIF(scanned, 0) AS copied_share, copied * row_bytes AS copied_bytes_per_second
          FROM (SELECT COALESCE(s.sent, s.bytes / s.row_bytes) - s.found AS by_scans_per_second, s.scanned, s.bytes, s.row_bytes,
                       CASE WHEN s.copying > 0 OR EXISTS (SELECT 1 FROM processlist WHERE lower(state) IN ('copy to tmp table', 'altering table'))
                            THEN MIN(s.written, s.scanned) END AS copied
                  FROM (SELECT MAX(per_second) FILTER (WHERE name = 'Rows_sent') AS sent, MAX(per_second) FILTER (WHERE name = 'Bytes_sent') AS bytes,
                               MAX(per_second) FILTER (WHERE name = 'Handler_read_rnd_next') AS scanned, MAX(per_second) FILTER (WHERE name = 'Handler_write') AS written,
                               SUM(per_second) FILTER (WHERE name IN ('Handler_read_key', 'Handler_read_next', 'Handler_read_prev', 'Handler_read_rnd')) AS found,
                               SUM(per_second) FILTER (WHERE name IN ('Com_alter_table', 'Com_create_index', 'Com_drop_index', 'Com_create_table',
                                                                      'Com_insert_select', 'Com_replace_select')) AS copying,
                               (SELECT COALESCE(SUM(rows_read_per_second * data_bytes / rows) / NULLIF(SUM(rows_read_per_second), 0),
                                                (SELECT myisam_data_bytes * 1.0 / NULLIF(myisam_rows, 0) FROM totals)) FROM tables WHERE rows > 0) AS row_bytes
                          FROM status) AS s)
        """,
    ),
    View(
        "server_load",
        "One row: what keeps the processors busy, by the server where it can be seen, else by the machine.",
        {
            "cores": "Processors that the server may use.",
            "iowait": "Share of their time that waits for the disk.",
            "idle": "Share of their time that is idle.",
            "system": "Share of their time in the kernel.",
            "running": "Threads that run.",
            "unqueued": "Threads that run without those in line for a table, its definition or a row: these wait for nothing else.",
            "switches": "Voluntary switches of the server's threads in a second.",
            "switches_per_core": "The same for each processor; of the whole machine where those of the server are not known.",
        },
        """
        SELECT p.cores, h.cpu_iowait_ratio AS iowait, p.idle, p.system,
               COALESCE(m.threads_running, h.processes_running) AS running,
               COALESCE(MAX(m.threads_running
                            - COALESCE((SELECT SUM(threads) FROM processlist
                                         WHERE state IN ('Locked', 'Table lock') OR state LIKE 'Waiting for % lock' OR state = 'Waiting for table flush'), 0)
                            - COALESCE((SELECT value FROM status WHERE name = 'Innodb_row_lock_current_waits'), 0), 0), h.processes_running) AS unqueued,
               m.voluntary_switches_per_second AS switches,
               COALESCE(m.voluntary_switches_per_second * 1.0 / p.cores, h.context_switches_per_second * 1.0 / h.cpu_count) AS switches_per_core
          FROM processors AS p LEFT JOIN host AS h LEFT JOIN mysqld AS m
        """,
    ),
)  # fmt: skip
