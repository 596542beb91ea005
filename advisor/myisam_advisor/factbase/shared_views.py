"""All views beside the fact tables: those of connections and of reads from modules of their own, and the others."""

from __future__ import annotations

from myisam_advisor.factbase.connection_views import CONNECTION_VIEWS
from myisam_advisor.factbase.read_views import READ_VIEWS
from myisam_advisor.factbase.view import View

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
    *CONNECTION_VIEWS,
    *READ_VIEWS,
)
