"""How fast `record` reads a slow log, and how much memory it takes: `script/bench record`."""

from __future__ import annotations

import resource
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path
from time import process_time

from myisam_advisor.workload.recording import record_log, source_named

LOG_BYTES = 100_000_000
PER_SECOND = 5000
BEGIN = 1_795_377_600
SELECT = (
    b"SELECT SQL_CALC_FOUND_ROWS  wp_posts.ID FROM wp_posts WHERE 1=1  AND wp_posts.post_type = 'post' "
    b"AND (wp_posts.post_status = 'publish' OR wp_posts.post_status = 'private') AND id=%d LIMIT 0, 10"
)
UPDATE = b"UPDATE wp_options SET option_value = 'a%d' WHERE option_name = 'cron'"


def mysql_entry(number: int, statement: bytes) -> bytes:
    """As MySQL 8 writes it."""
    second, part = divmod(number, PER_SECOND)
    return (
        b"# Time: 2026-11-22T20:%02d:%02d.%06dZ\n# User@Host: wp[wp] @ localhost []  Id: %5d\n"
        b"# Query_time: 0.000%03d  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 10\nSET timestamp=%d;\n%b;\n"
        % (second // 60 % 60, second % 60, part * 200, number % 50, number % 1000, BEGIN + second, statement)
    )


def mariadb_entry(number: int, statement: bytes) -> bytes:
    """As MariaDB writes it."""
    second, part = divmod(number, PER_SECOND)
    time = b"" if part else b"# Time: 261122 20:%02d:%02d\n" % (second // 60 % 60, second % 60)
    return time + (
        b"# User@Host: wp[wp] @ localhost []\n# Thread_id: %d  Schema: wp  QC_hit: No\n# Query_time: 0.000%03d  Lock_time: 0.000002  "
        b"Rows_sent: 1  Rows_examined: 10\n# Rows_affected: 0  Bytes_sent: 60\nSET timestamp=%d;\n%b;\n"
        % (number % 50, number % 1000, BEGIN + second, statement)
    )


FORMS = {"MySQL 8": mysql_entry, "MariaDB": mariadb_entry}


def measure(form: str, folder: str) -> None:
    """Write a log, read it, and print the line of the table; in a process of its own, for its memory."""
    log, output = Path(folder) / f"{form}.log", Path(folder) / f"{form}.workload"
    written = 0
    with log.open("wb") as file:
        for number in range(sys.maxsize):
            written += file.write(FORMS[form](number, (SELECT if number % 3 else UPDATE) % number))
            if written >= LOG_BYTES:
                break
    begin = process_time()
    recorded = record_log(source_named("slow_log"), log, output)
    seconds = process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(f"| {form} | {recorded.totals.statements:,} | {seconds:.1f} s | {memory} MB |", flush=True)


def main() -> None:
    """The table of docs/guide/benchmarks.md."""
    print("| log of | statements | processor | largest memory |\n|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="myisam-bench-") as folder:
        for form in FORMS:
            process = get_context("spawn").Process(target=measure, args=(form, folder))
            process.start()
            process.join()
            if process.exitcode:
                sys.exit(f"bench: reading the log of {form} failed")


if __name__ == "__main__":
    main()
