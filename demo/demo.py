"""The demonstration: a private MariaDB with contended MyISAM tables, what the advisor says of it, and what its advice does.

Run by script/demo. Leaves nothing running and nothing on disk, also when interrupted. On 100 columns it says what it has to say in 40 lines.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType

from rich.console import Console

from demo.load import SCHEMA, InsertLoad, LoadError
from demo.showing import Round, comparison_shown, finding_shown, rounds_overlap
from myisam_advisor.catalogue.measured import evidence
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.progress import observe_with_progress
from myisam_advisor.errors import TrialError
from myisam_advisor.judging.findings import Finding, Judgement
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats import text
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.texts.width import PAGE_WIDTH
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError
from myisam_exporter.kernel.process import ProcessSample, read_process
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.target import Target
from tools.fetched_servers import find_installed_mariadb, find_server, keep_place

RULE = "key-cache-contention"
# As of the published case: several hot tables, statements of many rows. Threads enough for the lock to be felt on two busy processors, too: with
# half as many it was not, beside other work.
LOAD = InsertLoad(tables=16, threads=16)
ROUND_SECONDS = 5.0
SETTLE_SECONDS = 1.0
CHECK_SECONDS = 5.0
LOOKS = 2
# Rounds that overlap are repeated for so long.
LONGEST_SECONDS = 60.0
# How long the load may take to end when its time is over: a server whose disk is full waits for room, and it with it.
END_SECONDS = 20.0
# What a round writes on a fast machine.
ROOM_BYTES = 500 << 20
OPTIONS = ("--key-buffer-size=256M", "--performance-schema=OFF", "--userstat=ON")
INDEX_PAGES_START = 2048


def main() -> int:
    """Run the demonstration; 0 when the contention was found and its remedy measured, 2 when something is in the way."""
    signal.signal(signal.SIGTERM, _interrupt)
    console = Console(highlight=False, soft_wrap=True, width=None if sys.stdout.isatty() else PAGE_WIDTH)
    keep_place()
    binaries = find_installed_mariadb() or find_server("mariadb-10.11")
    if binaries is None:
        return _refused("there is no MariaDB server to be started: run script/bootstrap demo")
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < ROOM_BYTES:
        return _refused(
            f"{free >> 20} MiB are free in {tempfile.gettempdir()}, and {ROOM_BYTES >> 20} MiB are needed: make room, or set TMPDIR to a folder that has it"
        )

    site = read_ahead()

    def work(_channel: Channel) -> int:
        with ExitStack() as ending:
            with console.status("starting a private server ..."):
                server = ending.enter_context(PrivateServer(binaries, OPTIONS))
            return _demonstrate(console, server, site)

    try:
        with apart(work, shows=True) as place:
            return int(place.result())
    except TrialError as error:
        return _refused(str(error))
    except KeyboardInterrupt:
        print("\nInterrupted: the private server is stopped and its files are gone.", file=sys.stderr)
        return 130


def read_ahead() -> Site:
    """The rules, and whatever else the judgement reads from our own files: who judges is another user, and may not be able to."""
    evidence()
    return Site(shipped_rules())


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _refused(why: str) -> int:
    print(f"demo: {why}", file=sys.stderr)
    return 2


def _demonstrate(console: Console, server: PrivateServer, site: Site) -> int:
    console.print(
        f"[bold]A private MariaDB[/], reached by its socket only: sysbench inserts into {LOAD.tables} tables, another is crashed.\n"
        "Under that load [bold]myisam-advisor check[/] says:\n"
    )
    finding = _check_under_load(console, server, site)
    if finding is None:
        console.print(
            "The contention did not show under this load: with one processor, or beside other work, it may not. The load average is "
            f"{os.getloadavg()[0]:.1f} on {os.cpu_count()} processors."
        )
        return 1
    began = time.monotonic()
    before, after = _both_ways(console, server, finding)
    # A neighbour that comes and goes: a few rounds more may find a quiet time, where the two kinds differ at all.
    while rounds_overlap(before, after) and time.monotonic() - began < LONGEST_SECONDS:
        before, after = (
            known + more for known, more in zip((before, after), _both_ways(console, server, finding), strict=True)
        )
    console.print(
        f"[bold]{', '.join(finding.my_cnf)}[/] into my.cnf, and out again: the same load, {len(before)} times each."
    )
    print(comparison_shown(before, after, sys.stdout), end="")
    console.print("[bold]Your own server:[/] sudo .venv/bin/myisam-advisor check")
    return 0


def _both_ways(console: Console, server: PrivateServer, finding: Finding) -> tuple[list[Round], list[Round]]:
    """Two rounds as it was and two with the advice, A B B A: what drifts meanwhile meets both alike."""
    before = [_round(console, server, "as it was")]
    server.restart(_as_options(finding.my_cnf))
    after = [_round(console, server, f"with the advice ({number} of 2)") for number in (1, 2)]
    server.restart()
    return [*before, _round(console, server, "as it was, once more")], after


def _as_options(lines: Sequence[str]) -> list[str]:
    """Lines of my.cnf as words for the server's command line."""
    return [f"--{line.replace(' ', '')}" for line in lines]


def make_crashed_table(server: PrivateServer, schema: str, name: str) -> None:
    """A table whose index pages hold garbage, and that CHECK TABLE has marked crashed."""
    table = f"{schema}.{name}"
    server.execute(
        f"CREATE DATABASE IF NOT EXISTS {schema}",
        f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, note CHAR(20) NOT NULL) ENGINE=MyISAM",
        f"INSERT INTO {table} VALUES " + ", ".join(f"({number}, 'note {number}')" for number in range(2000)),
        "FLUSH TABLES",
    )
    with (server.data_directory / schema / f"{name}.MYI").open("r+b") as file:
        file.seek(INDEX_PAGES_START)
        file.write(b"\xff" * 1024)
    server.execute(f"CHECK TABLE {table}")


def _check_under_load(console: Console, server: PrivateServer, site: Site) -> Finding | None:
    make_crashed_table(server, f"{SCHEMA}_archive", "broken")
    for look in range(1, LOOKS + 1):
        LOAD.make_tables(server, pack_keys="0")
        with running_load(server, CHECK_SECONDS + 3 * SETTLE_SECONDS) as running:
            facts, judgement = _judged(server, site)
            found = next((finding for finding in judgement.findings if finding.rule == RULE), None)
            # A neighbour that takes the processors for a moment hides it.
            if found is not None or look == LOOKS:
                print(text.render(judgement, facts, Shown(reader=sys.stdout)))
                print(finding_shown(judgement, facts, RULE, sys.stdout), end="")
                return found
            with console.status("the load ends, for a second look ..."):
                _ended(running)
    return None


def _judged(server: PrivateServer, site: Site) -> tuple[FactSet, Judgement]:
    from myisam_exporter.look.live import collect_facts

    time.sleep(SETTLE_SECONDS)
    target = Target("root", socket=server.socket)
    ready = prepared(collect_facts(target, CHECK_SECONDS, 10, observe=observe_with_progress), site)
    return ready.judged, judge(ready)


@contextmanager
def running_load(server: PrivateServer, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """The load while it runs; it has ended when this has."""
    running = LOAD.start(server, seconds)
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def _round(console: Console, server: PrivateServer, label: str) -> Round:
    """One run on empty tables; the switches are counted in its middle."""
    server.execute(*(f"TRUNCATE {SCHEMA}.load_{number}" for number in range(1, LOAD.tables + 1)))
    with console.status(f"the same load, {label} ..."), running_load(server, ROUND_SECONDS) as running:
        time.sleep(SETTLE_SECONDS)
        first, started = _process(server), time.monotonic()
        time.sleep(ROUND_SECONDS - 2 * SETTLE_SECONDS)
        last, seconds = _process(server), time.monotonic() - started
        output = _ended(running)
    switches = sum(count - first.switches.get(thread, (0, 0))[0] for thread, (count, _) in last.switches.items())
    return Round(LOAD.rows_per_second(output), switches / seconds)


def _ended(running: subprocess.Popen[str]) -> str:
    """What the load says at its end. Raises LoadError when it does not come to one."""
    try:
        return running.communicate(timeout=ROUND_SECONDS + END_SECONDS)[0]
    except subprocess.TimeoutExpired:
        raise LoadError(f"the load does not end: is the disk full ({tempfile.gettempdir()})?") from None


def _process(server: PrivateServer) -> ProcessSample:
    sample = read_process(Path("/proc") / str(server.pid), server.pid)
    if not isinstance(sample, ProcessSample):
        raise PrivateServerError(f"the private server is gone: {sample.reason}")
    return sample


if __name__ == "__main__":
    sys.exit(main())
