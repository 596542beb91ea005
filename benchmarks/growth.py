"""How cost grows with the number of tables, beside the peers, as a table in Markdown: `script/bench growth`.

Machines are shared: read the ratios and the shape. Nothing here is a test.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from rich.console import Console

from benchmarks.common import OPTIONS, PROGRAM, expect_startable, make_tables, median_seconds, opened_tables
from benchmarks.scrapes import Exporter, own, peer, peer_program
from benchmarks.tables import PEER_PASSWORD, mysqltuner_command, mysqltuner_environment
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import find_server, keep_place

SIZES = (1_000, 10_000, 100_000)
TABLES_IN_A_DATABASE = 200
LOOK_SECONDS = 10
LOOKS = 4
WRITTEN = (1, 100, 10_000)  # tables, between two looks
STATEMENTS_AT_ONCE = 1000
PEER_SECONDS = 600
MONTH_SECONDS = 30 * 86_400
Row = dict[str, str]


def main() -> int:
    """Measure and print."""
    console = Console(stderr=True, highlight=False)
    keep_place()
    binaries = find_server("mariadb-10.11")
    if binaries is None:
        console.print("Run script/servers mariadb-10.11 first.")
        return 2

    def work(_channel: Channel) -> list[Row]:
        expect_startable()
        return [_measured(console, binaries, size) for size in SIZES]

    try:
        with apart(work, shows=True) as place:
            rows: list[Row] = place.result()
    except TrialError as error:
        console.print(f"bench: {error}", markup=False)
        return 2
    print("| | " + " | ".join(f"{size:,}" for size in SIZES) + " |")
    print("|---" * (len(SIZES) + 1) + "|")
    for what in rows[0]:
        print(f"| {what} | " + " | ".join(row[what] for row in rows) + " |")
    return 0


def _measured(console: Console, binaries: ServerBinaries, size: int) -> Row:
    console.print(f"{size:,} tables in {size // TABLES_IN_A_DATABASE} databases ...")
    with PrivateServer(binaries, OPTIONS) as server:
        make_tables(server, size, size // TABLES_IN_A_DATABASE)
        _age(server.data_directory)
        return _ours(server, size, size // TABLES_IN_A_DATABASE) | _peers(server)


def _age(directory: Path) -> None:
    """As on a server that was idle for a month."""
    moment = time.time() - MONTH_SECONDS
    for path in (*directory.glob("many_*/*"), *directory.glob("template/*")):
        os.utime(path, (moment, moment))
    os.sync()


def _ours(server: PrivateServer, tables: int, databases: int) -> Row:
    rows: Row = {}
    access = ("--socket", str(server.socket), "--user", "root")
    check = [str(PROGRAM), "check", *access, "--interval", "0", "--fail-on", "never"]
    before = opened_tables(server)
    seconds = median_seconds(lambda: subprocess.run(check, capture_output=True, check=True), 3)
    rows["`check --interval 0`, seconds"] = f"{seconds:.2f}"
    rows["tables it opened"] = f"{opened_tables(server) - before:,}"
    munin = [str(PROGRAM), "munin", *access, "--state", str(server.directory / "munin.state")]
    seconds = median_seconds(lambda: subprocess.run(munin, capture_output=True, check=True), 3)
    rows["`munin` without a daemon, seconds"] = f"{seconds:.2f}"
    unix_socket = server.directory / "advisor.sock"
    words = ("--collect.interval", f"{LOOK_SECONDS}s", "--web.socket", unix_socket)
    with own(server, *words) as daemon:
        time.sleep(3 * LOOK_SECONDS)
        idle = _look_milliseconds(daemon, lambda: None)
        rows["daemon: CPU of a look, nothing happened, ms"] = f"{idle:.0f}"
        for written in WRITTEN:
            row = f"daemon: CPU of a look, {written:,} table{'s' if written > 1 else ''} written, ms"
            rows[row] = ""
            if written <= tables:
                taken = _look_milliseconds(daemon, partial(_write, server, written, databases))
                rows[row] = f"{taken:.0f}"
        rows["`/metrics`, ms"] = _milliseconds(daemon, "/metrics")
        rows["`/` (the page), ms"] = _milliseconds(daemon, "/")
        rows["`/munin.json`, ms"] = _milliseconds(daemon, "/munin.json")
        rows["daemon: resident memory, MB"] = f"{daemon.resident_megabytes():.0f}"
    return rows


def _write(server: PrivateServer, count: int, databases: int) -> None:
    """A row into each of so many tables, of all databases in turn."""
    for start in range(0, count, STATEMENTS_AT_ONCE):
        numbers = range(start, min(start + STATEMENTS_AT_ONCE, count))
        places = [(number % databases, number // databases) for number in numbers]
        server.execute(*(f"INSERT INTO many_{schema}.t_{table} (k, c) VALUES (1, 'a')" for schema, table in places))


def _look_milliseconds(daemon: Exporter, meanwhile: Callable[[], object]) -> float:
    before = daemon.cpu_seconds()
    for _ in range(LOOKS):
        meanwhile()
        time.sleep(LOOK_SECONDS)
    return (daemon.cpu_seconds() - before) / LOOKS * 1000


def _milliseconds(daemon: Exporter, path: str) -> str:
    return f"{median_seconds(lambda: daemon.scrape(path), 21) * 1000:.1f}"


def _peers(server: PrivateServer) -> Row:
    rows: Row = {}
    what = "mysqltuner, seconds"
    command = mysqltuner_command(server)
    if command is None:
        rows |= {what: "not fetched", "tables it opened ": ""}
    else:
        server.execute(
            f"CREATE USER peer@localhost IDENTIFIED BY '{PEER_PASSWORD}'", "GRANT ALL ON *.* TO peer@localhost"
        )
        before, started = opened_tables(server), time.monotonic()
        try:
            subprocess.run(
                command, capture_output=True, env=mysqltuner_environment(), check=False, timeout=PEER_SECONDS
            )
            rows[what] = f"{time.monotonic() - started:.1f}"
        except subprocess.TimeoutExpired:
            rows[what] = f"more than {PEER_SECONDS}"
        rows["tables it opened "] = f"{opened_tables(server) - before:,}"
    if peer_program() is None:
        rows["mysqld_exporter with facts of tables, a scrape, ms"] = "not fetched"
    else:
        with peer(server, "global_status", "global_variables", "info_schema.tables") as exporter:
            before = opened_tables(server)
            seconds = median_seconds(exporter.scrape, 3)
            rows["mysqld_exporter with facts of tables, a scrape, ms"] = f"{seconds * 1000:.0f}"
            rows["tables a scrape opened"] = f"{(opened_tables(server) - before) // 3:,}"
    return rows


if __name__ == "__main__":
    sys.exit(main())
