"""How much a scrape costs, beside the distribution's mysqld_exporter and its newest release, on one server in one run. Run by script/bench.

Machines are shared: read the ratios. Nothing here is a test.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from benchmarks.common import OPTIONS, PROGRAM, Line, make_tables, median_seconds, opened_tables
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import UserError
from myisam_exporter.kernel.tracepoints import PageCacheTracer
from tools.fetched_servers import cache_directory

SCRAPES = 200
TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
START_SECONDS = 30.0
SERVES = re.compile(rb"^mysql_up 1$", re.MULTILINE)
STEADY_SECONDS = 60.0
TARGETS, TARGET_SECONDS = 500, 45.0
SCRAPE_INTERVAL_SECONDS = 15.0
PEER_PORT, OWN_PORT = 29104, 29942
# mysqld_exporter as script/servers fetches it: the distribution's, and its newest release. Of the newest one's costs ours are to be no more than this.
NEWEST = "mysqld_exporter's newest"
PEERS = {"mysqld_exporter": "prometheus", NEWEST: "mysqld-exporter-newest"}
NEWEST_TARGET = 0.8
# What a server on which it fails does not have.
PEER_WITHOUT = (
    "slave_status",
    "info_schema.innodb_cmp",
    "info_schema.innodb_cmpmem",
    "info_schema.query_response_time",
)


@dataclass(frozen=True, slots=True)
class Exporter:
    """A running exporter."""

    pid: int
    address: str

    def scrape(self, path: str = "/metrics") -> bytes:
        """One page, as Prometheus asks for it."""
        request = urllib.request.Request(f"{self.address}{path}", headers={"Accept-Encoding": "gzip"})  # noqa: S310 - http, ours
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - http, ours
            return bytes(answer.read())

    def scrape_plain(self, path: str = "/metrics") -> bytes:
        """One page, not compressed."""
        with urllib.request.urlopen(f"{self.address}{path}", timeout=60) as answer:  # noqa: S310 - http, ours
            return bytes(answer.read())

    def cpu_seconds(self) -> float:
        """CPU time used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text("ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND

    def resident_megabytes(self) -> float:
        """Resident memory now."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text("ascii").split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / 1e6


def lines(console: Console, binaries: ServerBinaries) -> list[Line]:
    """All measurements of the exporter."""
    if peer_program() is None:
        return [Line("scrapes beside mysqld_exporter", "not fetched: script/servers prometheus", "", None)]
    return [
        *_global(console, binaries),
        *_ten_thousand(console, binaries),
        *_hundred_thousand(console, binaries),
        *_steady(console, binaries),
        *_many_targets(console, binaries),
    ]


def peer_programs() -> dict[str, Path]:
    """Each mysqld_exporter that was fetched, by what it is called here."""
    found = {
        name: cache_directory() / root / "usr" / "bin" / "prometheus-mysqld-exporter" for name, root in PEERS.items()
    }
    return {name: path for name, path in found.items() if path.exists()}


def peer_program() -> Path | None:
    """The newest of them, None where none was fetched."""
    return next(reversed(peer_programs().values()), None)


@contextmanager
def running(command: Sequence[object], port: int, environment: dict[str, str] | None = None) -> Iterator[Exporter]:
    """An exporter, once it answers."""
    process = subprocess.Popen(
        ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **(environment or {})},
    )
    try:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        yield Exporter(process.pid, f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait()


@contextmanager
def own(server: PrivateServer, *words: object) -> Iterator[Exporter]:
    """Our exporter on this server, after its first two looks."""
    command = [
        PROGRAM,
        "serve",
        "--socket",
        server.socket,
        "--user",
        "root",
        "--web.listen-address",
        f"127.0.0.1:{OWN_PORT}",
    ]
    with running([*command, "--history", server.directory / "h.sqlite", *words], OWN_PORT) as exporter:
        deadline = time.monotonic() + START_SECONDS
        while b"advice_interval" not in exporter.scrape_plain() and time.monotonic() < deadline:
            time.sleep(0.2)
        yield exporter


@contextmanager
def peer(server: PrivateServer, *collectors: str, program: Path | None = None) -> Iterator[Exporter]:
    """mysqld_exporter with these collectors and no other: the newest one, where none is named."""
    words = [f"--no-collect.{name}" for name in PEER_WITHOUT] + [f"--collect.{name}" for name in collectors]
    # Newer ones read an option file; 0.14 wants a password in it, and DATA_SOURCE_NAME does without.
    account = server.directory / "peer.cnf"
    account.write_text(f"[client]\nuser=root\nsocket={server.socket}\n")
    command = [program or peer_program(), f"--config.my-cnf={account}", f"--web.listen-address=127.0.0.1:{PEER_PORT}", *words]  # fmt: skip
    with running(command, PEER_PORT, {"DATA_SOURCE_NAME": f"root@unix({server.socket})/"}) as exporter:
        if not SERVES.search(exporter.scrape_plain()):
            raise UserError(f"{command[0]} does not reach the server")
        yield exporter


def _cost(exporter: Exporter, path: str = "/metrics", scrapes: int = SCRAPES) -> tuple[float, float]:
    """Median latency and CPU of a scrape, in milliseconds."""
    exporter.scrape(path)
    before = exporter.cpu_seconds()
    latency = median_seconds(lambda: exporter.scrape(path), scrapes)
    return latency * 1000, (exporter.cpu_seconds() - before) / scrapes * 1000


def _ratio(what: str, ours: float, theirs: float, unit: str, target: float) -> Line:
    return Line(
        what,
        f"{ours:.1f} {unit}, {theirs:.1f} {unit} (ratio {ours / theirs:.2f})",
        f"{target:.2f}",
        ours <= target * theirs,
    )


CHEAP = "/metrics?" + "&".join(
    f"collect[]={name}" for name in ("status", "variables", "key_caches", "server", "mysqld_process", "host")
)


def _global(console: Console, binaries: ServerBinaries) -> list[Line]:
    console.print("scrapes of global status and variables ...")
    theirs: dict[str, tuple[float, float]] = {}
    with PrivateServer(binaries, OPTIONS) as server:
        for name, program in peer_programs().items():
            with peer(server, "global_status", "global_variables", program=program) as exporter:
                theirs[name] = _cost(exporter)
        with own(server) as exporter:
            ours = _cost(exporter, CHEAP)
            whole = _cost(exporter)
    lines = []
    for name, (latency, cpu) in theirs.items():
        target = NEWEST_TARGET if name == NEWEST else 1
        lines += [
            _ratio(f"scrape beside {name}, global status and variables: latency", ours[0], latency, "ms", target),
            _ratio("    CPU", ours[1], cpu, "ms", target),
            _ratio("    all of our metrics: latency", whole[0], latency, "ms", target),
            _ratio("    CPU", whole[1], cpu, "ms", target),
        ]
    return lines


def _ten_thousand(console: Console, binaries: ServerBinaries) -> list[Line]:
    count = 10_000
    console.print(f"scrapes of {count:,} tables ...")
    with PrivateServer(binaries, OPTIONS) as server:
        make_tables(server, count, 1)
        with peer(server, "global_status", "global_variables", "info_schema.tables") as exporter:
            before = opened_tables(server)
            theirs = _cost(exporter, scrapes=3)
            their_opened = (opened_tables(server) - before) // 4
        with own(server, "--collect.tables.limit", count, "--collect.interval", "10s") as exporter:
            opened_tables(server)
            before = opened_tables(server)
            ours = _cost(exporter, scrapes=20)
            opened = opened_tables(server) - before
    return [
        _ratio(f"scrape with facts of {count:,} tables: latency", ours[0], theirs[0], "ms", 1 / 3),
        Line("    tables opened by it", f"{opened}, {their_opened:,} a scrape", "0", opened == 0),
    ]


def _hundred_thousand(console: Console, binaries: ServerBinaries) -> list[Line]:
    count = 100_000
    console.print(f"scrapes of {count:,} tables ...")
    with PrivateServer(binaries, OPTIONS) as server:
        make_tables(server, count, 100)
        with own(server, "--collect.interval", "15s") as exporter:
            worst = 0.0
            deadline = time.monotonic() + 45
            while time.monotonic() < deadline:
                started = time.monotonic()
                exporter.scrape()
                worst = max(worst, time.monotonic() - started)
                time.sleep(0.2)
            megabytes = exporter.resident_megabytes()
    return [
        Line(
            f"scrape of {count:,} tables, the slowest while it looks at them",
            f"{worst:.2f} s ({megabytes:.0f} MB)",
            "1 s",
            worst <= 1,
        )
    ]


def _steady(console: Console, binaries: ServerBinaries) -> list[Line]:
    console.print("1,000 tables, a scrape every 15 s ...")
    with PrivateServer(binaries, OPTIONS) as server:
        make_tables(server, 1000, 1)
        with own(server) as exporter:
            exporter.scrape()
            before, started = exporter.cpu_seconds(), time.monotonic()
            while time.monotonic() - started < STEADY_SECONDS * 2:
                time.sleep(SCRAPE_INTERVAL_SECONDS)
                exporter.scrape()
            share = (exporter.cpu_seconds() - before) / (time.monotonic() - started)
            megabytes = exporter.resident_megabytes()
    return [
        Line("resident memory at 1,000 tables", f"{megabytes:.0f} MB", "60 MB", megabytes < 60),
        Line("average CPU at 1,000 tables, scraped every 15 s", f"{share:.2%} of a core", "0.50%", share < 0.005),
    ]


def _many_targets(console: Console, binaries: ServerBinaries) -> list[Line]:
    console.print(f"{TARGETS} targets, each probed every 15 s ...")
    # All of them are this one server: a thread for each of their connections would be counted anew for each target.
    with PrivateServer(binaries, [*OPTIONS, "--thread-handling=pool-of-threads"]) as server:
        make_tables(server, 100, 1)
        server.execute(f"SET GLOBAL max_connections = {TARGETS + 50}")
        listed = server.directory / "targets.yaml"
        listed.write_text(
            "targets:\n"
            + "".join(
                f"  t{number}: {{socket: {socket_alias(server, server.directory, number)}}}\n"
                for number in range(TARGETS)
            )
        )
        command = [PROGRAM, "serve", "--no-own-server", "--user", "root", "--config.targets", listed, "--no-history"]
        option_file = server.directory / "client.cnf"
        option_file.write_text("[client]\nuser=root\n")
        command += ["--defaults-file", option_file, "--web.listen-address", f"127.0.0.1:{OWN_PORT}"]
        with running(command, OWN_PORT) as exporter, ThreadPoolExecutor(8) as pool:
            for number in range(TARGETS):
                exporter.scrape(f"/probe?target=t{number}")
            time.sleep(30)
            before, started = exporter.cpu_seconds(), time.monotonic()
            failed = 0
            while time.monotonic() - started < TARGET_SECONDS:
                begun = time.monotonic()
                answers = pool.map(lambda number: exporter.scrape_plain(f"/probe?target=t{number}"), range(TARGETS))
                failed += sum(b"\nmyisam_up 1" not in answer for answer in answers)
                time.sleep(max(SCRAPE_INTERVAL_SECONDS - (time.monotonic() - begun), 0))
            share = (exporter.cpu_seconds() - before) / (time.monotonic() - started)
            megabytes = exporter.resident_megabytes()
    return [
        Line(
            f"{TARGETS} targets probed every 15 s",
            f"{share:.0%} of a core, {failed} failed, {megabytes:.0f} MB",
            "100%",
            share < 1 and not failed,
        )
    ]


def tracing(console: Console) -> list[Line]:
    """What the tracepoints cost a reader of the page cache while a window is open, and us per event. Only root may trace, and no server takes part."""
    console.print("read calls, traced and not ...")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data"
        path.write_bytes(b"x" * (1 << 20))
        with path.open("rb") as file:
            descriptor, state = file.fileno(), os.fstat(file.fileno())
            untraced = _microseconds_per_read(descriptor)
            try:
                tracer = PageCacheTracer(budget=1.0)
            except UserError as error:
                return [Line("precise page-cache counts", str(error), "", None)]
            following = tracer.following()
            following.follow(frozenset({(state.st_dev, state.st_ino)}))
            time.sleep(1)
            traced = _microseconds_per_read(descriptor)
            counts = following.counts()
            tracer.close()
    counted = sum(counts.lookups.values())
    return [
        Line(
            "read call of a cached page, while a tracing window is open",
            f"{traced:.2f} us, {untraced:.2f} us without",
            "",
            None,
        ),
        Line("    our CPU for each event counted", f"{counts.cpu_seconds / max(counted, 1) * 1e6:.2f} us", "", None),
    ]


def _microseconds_per_read(descriptor: int) -> float:
    reads = 200_000
    started = time.perf_counter()
    for number in range(reads):
        os.pread(descriptor, 100, (number % 256) * 4096)
    return (time.perf_counter() - started) / reads * 1e6


def socket_alias(server: PrivateServer, folder: Path, number: int) -> Path:
    """One more name of the server's socket, so that one server is many targets."""
    alias = folder / f"s{number}"
    alias.symlink_to(server.socket)
    return alias
