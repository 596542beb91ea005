"""Views of what is read, by whom, and where it goes."""

from __future__ import annotations

from myisam_advisor.factbase.view import View

READ_VIEWS = (
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
)
