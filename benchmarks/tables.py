"""How fast the advisor looks at many tables, beside its peer, on one server in one run. Run by script/bench.

Machines are shared: read the ratios. Nothing here is a test.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.common import (
    OPTIONS,
    PROGRAM,
    TABLES,
    Line,
    expect_startable,
    make_tables,
    median_seconds,
    opened_tables,
)
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import cache_directory, find_server, keep_place

MANY_TABLES, SCHEMAS = 100_000, 100
REPOSITORY = (
    Path(__file__).resolve().parents[1]
)  # where `-m benchmarks.tables` is found, wherever the trial's process works
PEER_PASSWORD = "a long one that no list holds"  # noqa: S105 - of a private server


def main() -> int:
    """Run the benchmarks and print them as a table."""
    from benchmarks import pages as page_benchmark
    from benchmarks import scrapes as exporter_benchmark

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 140)
    keep_place()
    binaries = find_server("mariadb-10.11")
    if binaries is None:
        console.print("Run script/servers mariadb-10.11 first.")
        return 2

    def work(_channel: Channel) -> list[dict[str, Any]]:
        expect_startable()
        lines = [
            *_ten_thousand(console, binaries),
            *_hundred_thousand(console, binaries),
            *page_benchmark.lines(console, binaries),
            *exporter_benchmark.lines(console, binaries),
        ]
        return [asdict(line) for line in lines]

    try:
        with apart(work, shows=True) as place:
            measured = [Line(**line) for line in place.result()]
    except TrialError as error:
        console.print(f"bench: {error}", markup=False)
        return 2
    lines = [_version_line(), *measured, *exporter_benchmark.tracing(console)]
    table = Table(title="myisam-advisor, MariaDB 10.11 with MyISAM tables")
    for heading in ("", "measured", "target", ""):
        table.add_column(heading)
    for line in lines:
        table.add_row(line.what, line.measured, line.target, {True: "met", False: "[red]missed[/]", None: ""}[line.met])
    console.print(table)
    return 0


def _version_line() -> Line:
    seconds = median_seconds(lambda: subprocess.run([str(PROGRAM), "--version"], capture_output=True, check=True), 11)
    return Line("myisam-advisor --version", f"{seconds * 1000:.0f} ms", "60 ms", seconds <= 0.060)


def _ten_thousand(console: Console, binaries: ServerBinaries) -> list[Line]:
    with PrivateServer(binaries, OPTIONS) as server:
        console.print(f"{TABLES:,} tables ...")
        make_tables(server, TABLES, 1)
        snapshot = _snapshot_of(server)
        snapshot()
        before = opened_tables(server)
        seconds = median_seconds(snapshot)
        opened = opened_tables(server) - before
        lines = [
            Line(f"snapshot of {TABLES:,} tables with residency", f"{seconds:.2f} s", "0.5 s", seconds <= 0.5),
            Line("tables opened by it", str(opened), "0", opened == 0),
        ]
        check = [
            str(PROGRAM),
            "check",
            "--socket",
            str(server.socket),
            "--user",
            "root",
            "--interval",
            "0",
            "--fail-on",
            "never",
        ]
        ours = median_seconds(lambda: subprocess.run(check, capture_output=True, check=True))
        return lines + _beside_the_peer(server, ours)


def _snapshot_of(server: PrivateServer) -> Callable[[], object]:
    from myisam_exporter.collectors.base import Context
    from myisam_exporter.look.snapshot import take_snapshot
    from myisam_exporter.server.session import Session
    from myisam_exporter.server.target import Target

    session = Session(Target("root", socket=server.socket))
    return lambda: take_snapshot(Context(session.target, session))


def _beside_the_peer(server: PrivateServer, ours: float) -> list[Line]:
    what = f"check --interval 0 beside mysqltuner, {TABLES:,} tables"
    command = mysqltuner_command(server)
    if command is None:
        return [Line(what, f"{ours:.2f} s; no mysqltuner", "10 times faster", None)]
    # It does not accept an account without a password.
    server.execute(f"CREATE USER peer@localhost IDENTIFIED BY '{PEER_PASSWORD}'", "GRANT ALL ON *.* TO peer@localhost")
    before = opened_tables(server)
    started = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True, env=mysqltuner_environment(), check=False)
    theirs = time.monotonic() - started
    opened = opened_tables(server) - before
    if done.returncode != 0 or "MyISAM Metrics" not in done.stdout:
        return [Line(what, f"{ours:.2f} s; mysqltuner failed: {done.stdout[-80:]!r}", "10 times faster", None)]
    return [
        Line(
            what,
            f"{ours:.2f} s, {theirs:.1f} s ({theirs / ours:.0f} times); it opened {opened:,} tables",
            "10 times faster",
            theirs >= 10 * ours,
        )
    ]


def _peer_root() -> Path:
    return cache_directory() / "mysqltuner"


def mysqltuner_environment() -> dict[str, str]:
    """Where it finds its programs and libraries."""
    root = _peer_root()
    return {
        "PATH": f"{root}/usr/bin:{os.environ['PATH']}",
        "PERL5LIB": f"{root}/usr/share/perl5",
        "HOME": "/nonexistent",
        "TERM": "dumb",
    }


def mysqltuner_command(server: PrivateServer) -> list[str] | None:
    """How Debian runs it, as the account peer; None where it was not fetched."""
    program = _peer_root() / "usr" / "bin" / "mysqltuner"
    if not program.exists() or shutil.which("perl") is None:
        return None
    # Its --socket also names a port, which MariaDB's client takes for TCP.
    option_file = server.directory / "peer.cnf"
    option_file.write_text(f"[client]\nuser=peer\npassword={PEER_PASSWORD}\nsocket={server.socket}\n")
    # As Debian installs it: with its lists of passwords and of vulnerabilities in place.
    data = _peer_root() / "usr" / "share" / "mysqltuner"
    lists = ["--passwordfile", str(data / "basic_passwords.txt"), "--cvefile", str(data / "vulnerabilities.csv")]
    return [str(program), "--defaults-file", str(option_file), "--nocolor", *lists]


def _hundred_thousand(console: Console, binaries: ServerBinaries) -> Sequence[Line]:
    with PrivateServer(binaries, OPTIONS) as server:
        console.print(f"{MANY_TABLES:,} tables ...")
        make_tables(server, MANY_TABLES, SCHEMAS)
        command = [sys.executable, "-m", "benchmarks.tables", str(server.socket)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    if done.returncode:
        raise TrialError(f"{MANY_TABLES:,} tables were not looked at: {done.stderr.strip()[-2000:]}")
    seconds, megabytes, rules, judged = (float(word) for word in done.stdout.split())
    return [
        Line(f"snapshot of {MANY_TABLES:,} tables with residency", f"{seconds:.1f} s", "5 s", seconds <= 5),
        Line("its memory, at most", f"{megabytes:.0f} MB", "400 MB", megabytes <= 400),
        Line(
            f"all rules over {MANY_TABLES:,} tables with rates",
            f"{rules:.2f} s ({judged:.1f} s with loading)",
            "1 s",
            rules <= 1,
        ),
    ]


def measure_one(socket: str) -> str:
    """In a process of its own: a snapshot's seconds and megabytes; seconds of all rules, without and with loading the facts."""
    from myisam_advisor.catalogue.rules import shipped_rules
    from myisam_advisor.catalogue.site import Site
    from myisam_advisor.judging.judge import judge
    from myisam_advisor.judging.prepared import prepared
    from myisam_exporter.collectors.base import Context
    from myisam_exporter.look.interval import Interval
    from myisam_exporter.look.snapshot import take_snapshot
    from myisam_exporter.server.session import Session
    from myisam_exporter.server.target import Target

    with Session(Target("root", socket=Path(socket))) as session:
        context = Context(session.target, session, page_cache_sweep_seconds=60)
        started = time.monotonic()
        first = take_snapshot(context)
        seconds = time.monotonic() - started
        megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        facts = Interval(take_snapshot(context), first).facts()
    started = time.monotonic()
    judgement = judge(prepared(facts, Site(shipped_rules())))
    judged = time.monotonic() - started
    return f"{seconds} {megabytes} {sum(judgement.seconds.values())} {judged}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(measure_one(sys.argv[1]))
    else:
        sys.exit(main())
