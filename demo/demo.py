"""The demonstration: a private MariaDB with contended MyISAM tables, what the advisor says of it, and what its advice does.

Run by script/demo. Leaves nothing running and nothing on disk, also when interrupted.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from rich.console import Console
from rich.table import Table

from demo.load import SCHEMA, InsertLoad, LoadError
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_advisor.cli.progress import observe_with_progress
from myisam_advisor.errors import TrialError
from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.judge import judge
from myisam_advisor.judging.prepared import prepared
from myisam_advisor.reports.formats import text
from myisam_advisor.reports.formats.base import Shown
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError
from myisam_advisor.trial.private.unprivileged import words_before
from myisam_exporter.kernel.process import ProcessSample, read_process
from myisam_exporter.server.target import Target
from tools.fetched_servers import find_installed_mariadb, find_server, keep_place

RULE = "key-cache-contention"
ROUND_SECONDS = 9.0
SETTLE_SECONDS = 1.5
CHECK_SECONDS = 5.0
ROUNDS = 2
OPTIONS = ("--key-buffer-size=256M", "--myisam-recover-options=OFF", "--performance-schema=OFF")
INDEX_PAGES_START = 2048


@dataclass(frozen=True, slots=True)
class Round:
    """What one run of the load did."""

    rows_per_second: float
    voluntary_switches_per_second: float


def main() -> int:
    """Run the demonstration; 0 when the contention was found and its remedy measured."""
    signal.signal(signal.SIGTERM, _interrupt)
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 110)
    keep_place()
    binaries = find_server("mariadb-10.11") or find_installed_mariadb()
    if binaries is None:
        console.print("No MariaDB server: run script/bootstrap and script/servers mariadb-10.11 first.")
        return 2

    site = Site(shipped_rules())

    def work(_channel: Channel) -> int:
        with PrivateServer(binaries, OPTIONS) as server:
            return _demonstrate(console, server, site)

    try:
        with apart(work, shows=True) as place:
            return int(place.result())
    except TrialError as error:
        console.print(f"demo: {error}", markup=False)
        return 2
    except KeyboardInterrupt:
        console.print("\nInterrupted: the private server is stopped and its files are gone.")
        return 130


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _demonstrate(console: Console, server: PrivateServer, site: Site) -> int:
    load = InsertLoad()
    console.print(
        f"[bold]A private {server.binaries.name} (socket only) with ten MyISAM tables:[/] eight that take inserts, one crashed, one compressed."
    )
    make_crashed_table(server, f"{SCHEMA}_archive", "broken")
    make_compressed_table(server, server.binaries, f"{SCHEMA}_archive", "old_log")
    console.print(
        f"[bold]sysbench: {load.threads} threads, {load.rows_per_insert} rows to an INSERT.[/] This is what `myisam-advisor check` says under that load:\n"
    )
    finding = _check_under_load(server, load, site)
    if finding is None:
        console.print("The contention did not show under this load: with one core, or on a loaded machine, it may not.")
        return 1
    console.print(
        f"[bold]Now the advice on the key cache goes into my.cnf and out again, {ROUNDS} times, each with the same load on empty tables:[/]"
    )
    before, after = [], []
    for number in range(ROUNDS):
        before.append(_round(console, server, load, f"as it was ({number + 1} of {ROUNDS})"))
        server.restart(_as_options(finding.my_cnf))
        after.append(_round(console, server, load, f"with the advice ({number + 1} of {ROUNDS})"))
        server.restart()
    _print_comparison(console, finding, before, after)
    return 0


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


def make_compressed_table(server: PrivateServer, binaries: ServerBinaries, schema: str, name: str) -> None:
    """A table packed by myisampack, where the server came with it; else an ordinary one."""
    table, path = f"{schema}.{name}", server.data_directory / schema / name
    server.execute(
        f"CREATE DATABASE IF NOT EXISTS {schema}",
        f"CREATE TABLE {table} (id INT NOT NULL PRIMARY KEY, line VARCHAR(200) NOT NULL) ENGINE=MyISAM",
        f"INSERT INTO {table} VALUES "
        + ", ".join(f"({number}, REPEAT('line {number % 10} ', 20))" for number in range(2000)),
        "FLUSH TABLES",
    )
    pack, check = binaries.tool("myisampack"), binaries.tool("myisamchk")
    if pack and check:
        _run_tool([*pack, "--silent", "--force", str(path)])
        _run_tool([*check, "-rq", "--silent", str(path)])
    server.execute("FLUSH TABLES")


def _run_tool(command: Sequence[str]) -> None:
    done = subprocess.run([*words_before(), *command], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise LoadError(f"{Path(command[-2]).name} failed: {done.stderr or done.stdout}")


def _check_under_load(server: PrivateServer, load: InsertLoad, site: Site) -> Finding | None:
    from myisam_exporter.look.live import collect_facts

    load.make_tables(server)
    running = load.start(server, CHECK_SECONDS + 3 * SETTLE_SECONDS)
    try:
        time.sleep(SETTLE_SECONDS)
        target = Target("root", socket=server.socket)
        ready = prepared(collect_facts(target, CHECK_SECONDS, 10, observe=observe_with_progress), site)
        judgement = judge(ready)
        for chosen in ((), (RULE,)):
            print(text.render(judgement, ready.judged, Shown(reader=sys.stdout, chosen=chosen)), end="")
        running.communicate()
    finally:
        running.kill()
    return next((finding for finding in judgement.findings if finding.rule == RULE), None)


def _round(console: Console, server: PrivateServer, load: InsertLoad, label: str) -> Round:
    """One run on empty tables; the switches are counted in its middle."""
    server.execute(*(f"TRUNCATE {SCHEMA}.load_{number}" for number in range(1, load.tables + 1)))
    with console.status(f"{label} ..."):
        running = load.start(server, ROUND_SECONDS)
        try:
            time.sleep(SETTLE_SECONDS)
            first, started = _process(server), time.monotonic()
            time.sleep(ROUND_SECONDS - 2 * SETTLE_SECONDS)
            last, seconds = _process(server), time.monotonic() - started
            output, _ = running.communicate()
        finally:
            running.kill()
    switches = sum(count - first.switches.get(thread, (0, 0))[0] for thread, (count, _) in last.switches.items())
    result = Round(load.rows_per_second(output), switches / seconds)
    console.print(
        f"  {label:26} {result.rows_per_second:>10,.0f} rows/s {result.voluntary_switches_per_second:>10,.0f} voluntary switches/s"
    )
    return result


def _process(server: PrivateServer) -> ProcessSample:
    sample = read_process(Path("/proc") / str(server.pid), server.pid)
    if not isinstance(sample, ProcessSample):
        raise PrivateServerError(f"the private server is gone: {sample.reason}")
    return sample


def _print_comparison(console: Console, finding: Finding, before: Sequence[Round], after: Sequence[Round]) -> None:
    console.print(f"\n[bold]my.cnf: {', '.join(finding.my_cnf)}[/]", soft_wrap=True)
    table = Table()
    for heading in ("", "as it was", "with the advice", "ratio"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, attribute in (
        ("rows/s", "rows_per_second"),
        ("voluntary context switches/s", "voluntary_switches_per_second"),
    ):
        old, new = (sum(getattr(one, attribute) for one in rounds) / len(rounds) for rounds in (before, after))
        table.add_row(name, f"{old:,.0f}", f"{new:,.0f}", f"{new / old:.2f}" if old else "-")
    console.print(table)
    console.print("Machines differ: read the ratio. The private server is stopped, its files are gone.")


if __name__ == "__main__":
    sys.exit(main())
