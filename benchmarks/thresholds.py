"""Where remedies begin to pay, by loads other than those that the rules were written with: `script/bench thresholds`.

Each experiment provokes a fault at several strengths, measures what its rule reads and what its remedy gives, and prints a table in
Markdown. sysbench's own scripts make the loads, on MyISAM. Old and new alternate; the figure is the median of the rounds.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from benchmarks.common import in_background
from benchmarks.slow_storage import groups, hold_back, reads
from benchmarks.threshold_loads import churn, late, look_ups, make_keys, slow_statements
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import find_server, keep_place

ROUNDS, SECONDS, LONG_SECONDS = 3, 3, 10
ROWS = 200_000
SAMPLE_SECONDS = 0.02
Row = Mapping[str, str]


def sysbench(server: PrivateServer, script: str, *words: str, threads: int = 4, seconds: int = SECONDS) -> str:
    """What sysbench prints of a run. Raises TrialError where it fails."""
    command = [
        "sysbench", script, "--db-driver=mysql", f"--mysql-socket={server.socket}", "--mysql-user=root", "--mysql-db=sbtest", "--mysql-ignore-errors=1062",
        f"--table-size={ROWS}", f"--threads={threads}", f"--time={seconds}", "--events=0", *words,
    ]  # fmt: skip
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise TrialError(f"sysbench {script} failed: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def statements_per_second(printed: str) -> float:
    """Queries of all kinds."""
    found = re.search(r"queries:\s+\d+\s+\(([\d.]+) per sec", printed)
    if found is None:
        raise TrialError("sysbench printed no queries")
    return float(found[1])


def status(server: PrivateServer, name: str) -> float:
    """A counter of the server."""
    return float(str(server.execute(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1]))


@contextmanager
def prepared(binaries: ServerBinaries, *options: str) -> Iterator[PrivateServer]:
    """A server with sysbench's table."""
    with PrivateServer(binaries, ["--max-connections=400", *options]) as server:
        server.execute("CREATE DATABASE sbtest")
        sysbench(server, "oltp_read_write", "--mysql_storage_engine=myisam", "prepare")
        yield server


@contextmanager
def seen(server: PrivateServer, state: str) -> Iterator[list[int]]:
    """How many connections are in this state, glance by glance."""
    counts: list[int] = []

    def watch(over: threading.Event) -> None:
        while not over.wait(SAMPLE_SECONDS):
            counts.append(
                int(
                    str(
                        server.execute(f"SELECT COUNT(*) FROM information_schema.processlist WHERE state = '{state}'")[
                            0
                        ][0]
                    )
                )
            )

    with in_background(watch):
        yield counts


def alternating(*variants: Callable[[], float]) -> list[float]:
    """The median of each, run in turn."""
    rounds = [[variant() for variant in variants] for _ in range(ROUNDS)]
    return [statistics.median(column) for column in zip(*rounds, strict=True)]


def query_cache(binaries: ServerBinaries) -> list[Row]:
    """Off against on, for loads that read, and that read and write."""
    rows: list[Row] = []
    with prepared(binaries, "--query-cache-type=1", "--query-cache-size=64M") as server:
        for script in ("oltp_point_select", "oltp_read_write", "oltp_update_non_index"):
            for threads in (1, 8):
                waiting: list[int] = []

                def on(script: str = script, threads: int = threads, waiting: list[int] = waiting) -> float:
                    server.execute("SET GLOBAL query_cache_size = 67108864")
                    with seen(server, "Waiting for query cache lock") as counts:
                        done = statements_per_second(sysbench(server, script, "run", threads=threads))
                    waiting += counts
                    return done

                def off(script: str = script, threads: int = threads) -> float:
                    server.execute("SET GLOBAL query_cache_size = 0")
                    return statements_per_second(sysbench(server, script, "run", threads=threads))

                with_cache, without = alternating(on, off)
                rows.append({
                    "load": script, "threads": str(threads), "connections that wait for its lock, mean": f"{statistics.mean(waiting):.2f}",
                    "statements/s with it": f"{with_cache:,.0f}", "off, times": f"{without / with_cache:.2f}",
                })  # fmt: skip
    return rows


def bulk_load(binaries: ServerBinaries) -> list[Row]:
    """A load into a table whose index exceeds the key cache: with its keys kept, and disabled and made anew after it."""
    rows: list[Row] = []
    with PrivateServer(binaries, ["--key-buffer-size=1M", "--myisam-sort-buffer-size=64M"]) as server:
        server.execute("CREATE DATABASE sbtest")
        server.execute(
            "CREATE TABLE sbtest.base (a INT NOT NULL, b INT NOT NULL, c CHAR(20) NOT NULL, KEY (a), KEY (b), KEY (c)) ENGINE=MyISAM",
            "INSERT INTO sbtest.base VALUES (1, 1, 'x')",
            *[
                "INSERT INTO sbtest.base SELECT FLOOR(RAND() * 1e9), FLOOR(RAND() * 1e9), LEFT(MD5(RAND()), 20) FROM sbtest.base"
            ]
            * 19,
        )
        have = 1 << 19
        for share in (0.03, 0.1, 0.3, 1.0):
            added = int(have * share)
            load = f"INSERT INTO sbtest.t SELECT FLOOR(RAND() * 1e9), FLOOR(RAND() * 1e9), LEFT(MD5(RAND()), 20) FROM sbtest.base LIMIT {added}"

            def timed(*statements: str) -> float:
                server.execute(
                    "DROP TABLE IF EXISTS sbtest.t",
                    "CREATE TABLE sbtest.t LIKE sbtest.base",
                    "ALTER TABLE sbtest.t DISABLE KEYS",
                    "INSERT INTO sbtest.t SELECT * FROM sbtest.base",
                    "ALTER TABLE sbtest.t ENABLE KEYS",
                    "FLUSH TABLES",
                )
                started = time.perf_counter()
                server.execute(*statements)
                return time.perf_counter() - started

            without_keys = ("ALTER TABLE sbtest.t DISABLE KEYS", load, "ALTER TABLE sbtest.t ENABLE KEYS")
            kept, disabled = alternating(partial(timed, load), partial(timed, *without_keys))
            rows.append({
                "rows added, share of those there": f"{share:.0%}", "rows/s with keys": f"{added / kept:,.0f}",
                "seconds with keys": f"{kept:.2f}", "keys disabled, times as fast": f"{kept / disabled:.2f}",
            })  # fmt: skip
    return rows


def open_files(binaries: ServerBinaries) -> list[Row]:
    """How many files one statement takes at once: what must be free below the limit."""
    rows: list[Row] = []
    with PrivateServer(
        binaries, ["--open-files-limit=1024", "--table-open-cache=300", "--max-connections=50"]
    ) as server:
        server.execute("CREATE DATABASE sbtest")
        for partitions in (10, 50, 100, 200, 400):
            name = f"sbtest.p{partitions}"
            server.execute(
                f"CREATE TABLE {name} (id INT NOT NULL) ENGINE=MyISAM PARTITION BY HASH (id) PARTITIONS {partitions}",
                "FLUSH TABLES",
            )
            folder = Path("/proc") / str(server.pid) / "fd"
            limit = int(str(server.execute("SELECT @@open_files_limit")[0][0]))
            before = len(os.listdir(folder))
            try:
                server.execute(f"SELECT COUNT(*) FROM {name}")
                said = "runs"
            except Exception as error:
                said = str(error)[:60]
            rows.append(
                {
                    "partitions": str(partitions),
                    "limit": str(limit),
                    "files before": str(before),
                    "after": str(len(os.listdir(folder))),
                    "the statement": said,
                }
            )
            with contextlib.suppress(Exception):
                server.execute("FLUSH TABLES")
    return rows


def temporary_tables(binaries: ServerBinaries) -> list[Row]:
    """A GROUP BY whose table goes to disk for its size, and one that stays in memory."""
    rows: list[Row] = []
    with prepared(binaries) as server:
        for groups in (100, 1_000, 10_000, 50_000):
            asked = f"SELECT COUNT(*) FROM (SELECT k % {groups} AS g, MAX(c) AS c, COUNT(*) AS n FROM sbtest.sbtest1 GROUP BY g ORDER BY n) AS t"
            rates: list[float] = []

            def run(size: int, asked: str = asked, rates: list[float] = rates) -> float:
                server.execute(
                    f"SET GLOBAL tmp_table_size = {size}", f"SET GLOBAL max_heap_table_size = {max(size, 16384)}"
                )
                started, done = time.perf_counter(), 0
                before = status(server, "Created_tmp_disk_tables")
                while time.perf_counter() - started < SECONDS / 2:
                    server.execute(asked)
                    done += 1
                seconds = time.perf_counter() - started
                if size < 1 << 20:
                    rates.append((status(server, "Created_tmp_disk_tables") - before) / seconds)
                return seconds / done

            on_disk, in_memory = alternating(lambda: run(1024), lambda: run(256 << 20))
            rows.append({
                "groups": f"{groups:,}", "tables on disk/s": f"{statistics.median(rates):.1f}", "ms on disk": f"{1000 * on_disk:.1f}",
                "in memory, times as fast": f"{on_disk / in_memory:.2f}", "saved by each, ms": f"{1000 * (on_disk - in_memory):.1f}",
            })  # fmt: skip
    return rows


def connections(binaries: ServerBinaries) -> list[Row]:
    """Connections that run a few statements and end, against connections that stay."""
    rows: list[Row] = []
    with prepared(binaries, "--thread-cache-size=100") as server:
        for statements in (1, 2, 5, 10, 50):
            rounds = [(churn(server, statements, SECONDS), churn(server, 0, SECONDS)) for _ in range(ROUNDS)]
            come, stay = (
                sorted((one[place] for one in rounds), key=lambda found: found.statements_per_second)[ROUNDS // 2]
                for place in (0, 1)
            )
            rows.append({
                "statements a connection": str(statements), "connections/s": f"{come.connections_per_second:,.0f}",
                "statements/s": f"{come.statements_per_second:,.0f}", "server's CPU a statement, ms": f"{come.server_milliseconds:.3f}",
                "kept open, times as fast": f"{stay.statements_per_second / come.statements_per_second:.2f}",
                "its CPU, share": f"{stay.server_milliseconds / come.server_milliseconds:.0%}",
            })  # fmt: skip
    return rows


def slow_reads(binaries: ServerBinaries) -> list[Row]:
    """Updates of a table beside reads that hold its lock for long."""
    rows: list[Row] = []
    with prepared(binaries) as server:
        for per_second, seconds in ((0.1, 0.1), (0.1, 1.0), (0.2, 1.0), (0.5, 1.0), (1.0, 0.1), (1.0, 0.5)):

            def update(per_second: float = per_second, seconds: float = seconds, beside: bool = True) -> float:
                reading = slow_statements(server, per_second, seconds) if beside else contextlib.nullcontext()
                with reading:
                    return statements_per_second(sysbench(server, "oltp_update_non_index", "run", seconds=LONG_SECONDS))

            beside, alone = alternating(update, partial(update, beside=False))
            rows.append({
                "slow reads/s": f"{per_second:g}", "seconds each": f"{seconds:g}", "updates/s beside them": f"{beside:,.0f}",
                "without, times": f"{alone / beside:.2f}",
            })  # fmt: skip
    return rows


def misses(binaries: ServerBinaries) -> list[Row]:
    """Look-ups whose blocks miss the key cache, on storage that does 100 reads a second, and with a key cache that holds them."""
    rows: list[Row] = []
    for size, rates in (("16M", (10, 25, 40, 50, 60, 75, 100)), ("256M", (100,))):
        with PrivateServer(binaries, [f"--key-buffer-size={size}", "--myisam-sort-buffer-size=256M"]) as server:
            server.execute("CREATE DATABASE sbtest")
            make_keys(server)
            server.execute("LOAD INDEX INTO CACHE sbtest.wide")
            hold_back(server.pid, (server.data_directory / "sbtest").glob("wide.MY?"))
            for rate in rates:
                look_ups(server, rate, SECONDS)
                missed, read, started = status(server, "Key_reads"), reads(), time.monotonic()
                times = look_ups(server, rate, LONG_SECONDS)
                seconds = time.monotonic() - started
                rows.append({
                    "key cache": size, "look-ups/s wanted": str(rate), "misses/s": f"{(status(server, 'Key_reads') - missed) / seconds:.0f}",
                    "reads of the storage/s": f"{(reads() - read) / seconds:.0f}", "ms, mean": f"{statistics.mean(times):.1f}",
                    "ms, 95 of 100": f"{late(times):.1f}",
                })  # fmt: skip
    return rows


EXPERIMENTS: Mapping[str, Callable[[ServerBinaries], list[Row]]] = {
    "query-cache": query_cache, "bulk-load": bulk_load,
    "open-files": open_files, "temporary-tables": temporary_tables, "connections": connections, "slow-reads": slow_reads, "misses": misses,
}  # fmt: skip
# On storage that is held back.
HELD_BACK = frozenset({"misses"})


def table_of(rows: Sequence[Row]) -> str:
    """In Markdown."""
    heads = list(rows[0])
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(row[head] for head in heads) + " |" for row in rows)])


def main() -> int:
    """Measure those named, or all."""
    keep_place()
    server, *names = sys.argv[1:] or ["mariadb-10.11"]
    binaries = find_server(server)
    unknown = set(names) - EXPERIMENTS.keys()
    if binaries is None or unknown:
        print(
            f"bench: {', '.join(sorted(unknown)) or server} is not there; experiments: {', '.join(EXPERIMENTS)}",
            file=sys.stderr,
        )
        return 2
    for name in names or EXPERIMENTS:

        def work(_channel: Channel, name: str = name) -> list[Row]:
            return EXPERIMENTS[name](binaries)

        try:
            held = groups(Path(tempfile.gettempdir())) if name in HELD_BACK else contextlib.nullcontext()
            with held, apart(work, shows=True) as place:
                rows: list[Row] = place.result()
        except TrialError as error:
            print(f"bench: {name}: {error}", file=sys.stderr)
            continue
        print(f"### {name} ({server})\n\n{table_of(rows)}\n", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
