"""What 200 targets cost a site and its long-term store, by docs/guide/fleet.md: an agent that sends all, and a Prometheus that sends what a store wants. Run by script/bench fleet.

All targets are one private server, so that values of different targets are alike; a series is compressed by itself, so that this changes nothing. Machines are
shared: read the shapes. Nothing here is a test.
"""

from __future__ import annotations

import re
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from rich.console import Console

from benchmarks.common import OPTIONS, PROGRAM, expect_startable, make_tables, point_selects
from benchmarks.scrapes import OWN_PORT, Exporter, running, socket_alias
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import cache_directory, find_server, keep_place

TARGETS, TABLES = 200, 100
# Two looks of the daemon's, so that every target's tables are there.
SETTLE_SECONDS, MEASURED_SECONDS = 120, 180
SECONDS_A_DAY = 86_400
AGENT_PORT, STORE_PORT, RULES_PORT = 29943, 29944, 29945
RULES = Path(__file__).resolve().parents[1] / "rules" / "prometheus"
GUIDE = Path(__file__).resolve().parents[1] / "docs" / "guide" / "fleet.md"
Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Site:
    """The processes of one way to send, by what they are called in the table."""

    processes: dict[str, Exporter]

    def counted(self) -> dict[str, float]:
        """What each counter stands at now."""
        sender, store = (self.processes[name].scrape_plain().decode() for name in ("Prometheus", "store"))
        return {
            "samples": _sum(store, "vm_rows_inserted_total", 'type="promremotewrite"'),
            "wire": _sum(sender, "prometheus_remote_storage_bytes_total", ""),
            **{name: process.cpu_seconds() for name, process in self.processes.items()},
        }

    def asked(self, expression: str) -> float:
        """One number by PromQL from the store: 0 where it answers with nothing."""
        question = urllib.parse.urlencode({"query": expression})
        answer = yaml.safe_load(self.processes["store"].scrape_plain(f"/api/v1/query?{question}"))
        return float(answer["data"]["result"][0]["value"][1]) if answer["data"]["result"] else 0.0


def main() -> int:
    """Measure both ways and print them as a table."""
    console = Console(stderr=True, highlight=False)
    keep_place()
    binaries = find_server("mariadb-10.11")
    if binaries is None or not (_program("prometheus").exists() and _program("victoria-metrics").exists()):
        console.print("Run script/servers mariadb-10.11 prometheus victoria-metrics first.")
        return 2

    def work(_channel: Channel) -> list[Row]:
        expect_startable()
        return [_measured(console, binaries, whole) for whole in (True, False)]

    try:
        with apart(work, shows=True) as place:
            rows: list[Row] = place.result()
    except TrialError as error:
        console.print(f"bench: {error}", markup=False)
        return 2
    print(
        "| | all series, by an agent | without the tables', by a Prometheus with the recording rules |\n|---|---|---|"
    )
    for what in rows[0]:
        print(f"| {what} | " + " | ".join(row[what] for row in rows) + " |")
    return 0


def _program(name: str) -> Path:
    package = "prometheus" if name == "prometheus" else "victoria-metrics"
    return cache_directory() / package / "usr" / "bin" / name


def _sum(page: str, name: str, labels: str) -> float:
    return sum(
        float(line.rpartition(" ")[2]) for line in page.splitlines() if re.match(rf"{name}\b", line) and labels in line
    )


def _documented(name: str, having: str) -> dict[str, Any]:
    """The block of the guide of this name that holds these words."""
    blocks = re.findall(rf"```yaml\n# {name}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)
    [text] = [block for block in blocks if having in block]
    configuration: dict[str, Any] = yaml.safe_load(text)
    return configuration


def _configuration(folder: Path, whole: bool) -> Path:
    """What the guide says, with this machine's addresses; nobody asks for a password here."""
    probing = _documented("prometheus.yml", "/probe")["scrape_configs"]
    configuration = (
        _documented("agent.yml", "remote_write") if whole else _documented("prometheus.yml", "write_relabel_configs")
    )
    configuration["scrape_configs"] = probing
    [written] = configuration["remote_write"]
    written["url"] = f"http://127.0.0.1:{STORE_PORT}/api/v1/write"
    del written["basic_auth"]
    if not whole:
        configuration["rule_files"] = [str(RULES / "*.yaml")]
    text = (
        yaml.safe_dump(configuration)
        .replace("/etc/prometheus/myisam", str(folder))
        .replace("watch.example:9942", f"127.0.0.1:{OWN_PORT}")
    )
    path = folder / "prometheus.yml"
    path.write_text(text)
    return path


@contextmanager
def _site(server: PrivateServer, whole: bool) -> Iterator[Site]:
    folder = server.directory / ("whole" if whole else "reduced")
    folder.mkdir()
    (folder / "targets.yaml").write_text(yaml.safe_dump([{"targets": [f"t{number}" for number in range(TARGETS)]}]))
    configuration = _configuration(folder, whole)
    commands: dict[str, tuple[int, Sequence[object]]] = {
        "store": (
            STORE_PORT,
            [
                _program("victoria-metrics"),
                f"-storageDataPath={folder}/store",
                f"-httpListenAddr=127.0.0.1:{STORE_PORT}",
            ],
        ),
        "daemon": (OWN_PORT, _daemon(server, folder)),
        "Prometheus": (
            AGENT_PORT,
            [_program("prometheus"), f"--config.file={configuration}", f"--web.listen-address=127.0.0.1:{AGENT_PORT}"]
            + (
                ["--enable-feature=agent", f"--storage.agent.path={folder}/data"]
                if whole
                else [f"--storage.tsdb.path={folder}/data"]
            ),
        ),
    }
    if whole:
        store = f"http://127.0.0.1:{STORE_PORT}"
        words = [f"-{what}.url={store}" for what in ("datasource", "remoteRead", "remoteWrite")]
        rules = [
            f"-rule={RULES}/alerts.yaml",
            f"-rule={RULES}/recording.yaml",
            "-evaluationInterval=60s",
            "-notifier.url=http://127.0.0.1:9",
        ]
        commands["vmalert"] = (
            RULES_PORT,
            [_program("vmalert"), *words, *rules, f"-httpListenAddr=127.0.0.1:{RULES_PORT}"],
        )
    with ExitStack() as stack:
        yield Site({name: stack.enter_context(running(command, port)) for name, (port, command) in commands.items()})


def _daemon(server: PrivateServer, folder: Path) -> list[object]:
    listed, options = folder / "list.yaml", folder / "client.cnf"
    aliases = {f"t{number}": {"socket": str(socket_alias(server, folder, number))} for number in range(TARGETS)}
    listed.write_text(yaml.safe_dump({"targets": aliases}))
    options.write_text("[client]\nuser=root\n")
    words = ["--no-own-server", "--no-history", "--config.targets", listed, "--defaults-file", options]
    return [PROGRAM, "serve", *words, "--web.listen-address", f"127.0.0.1:{OWN_PORT}"]


def _measured(console: Console, binaries: ServerBinaries, whole: bool) -> Row:
    console.print(
        f"{TARGETS} targets of {TABLES} tables, {'all series by an agent' if whole else 'what a long-term store wants'} ..."
    )
    with ExitStack() as stack:
        # All of them are this one server: a thread for each of their connections would be counted anew for each target.
        server = stack.enter_context(PrivateServer(binaries, [*OPTIONS, "--thread-handling=pool-of-threads"]))
        make_tables(server, TABLES, 1)
        server.execute(f"SET GLOBAL max_connections = {TARGETS + 50}", "CREATE DATABASE sbtest")
        subprocess.run([*point_selects(server, "prepare")], check=True, stdout=subprocess.DEVNULL)
        # So little that the machine is left to what is measured; enough for counters that move in every scrape.
        load = subprocess.Popen(
            point_selects(server, "--rate=50", "--time=0", "--events=0", "run"), stdout=subprocess.DEVNULL
        )
        stack.callback(load.wait)
        stack.callback(load.kill)
        site = stack.enter_context(_site(server, whole))
        time.sleep(SETTLE_SECONDS)
        before, started = site.counted(), time.monotonic()
        time.sleep(MEASURED_SECONDS)
        seconds = time.monotonic() - started
        spent = {name: (value - before[name]) / seconds for name, value in site.counted().items()}
        return _row(site, spent, whole)


def _row(site: Site, spent: dict[str, float], whole: bool) -> Row:
    window = f"[{MEASURED_SECONDS}s:15s]"
    failed = site.asked(
        f"sum(count_over_time((up{{job='myisam'}} == 0){window})) or sum(count_over_time((myisam_up == 0){window}))"
    )
    series = site.asked('count({instance="t7"})')
    site.processes["store"].scrape_plain("/internal/force_flush")
    page = site.processes["store"].scrape_plain().decode()
    held = _sum(page, "vm_data_size_bytes", 'type="storage/') / _sum(page, "vm_rows", 'type="storage/')
    samples = spent["samples"] / TARGETS
    return {
        "series of a server": f"{series:,.0f}",
        "samples a second, of all": f"{spent['samples']:,.0f}",
        "bytes sent for a server and day": f"{spent['wire'] / TARGETS * SECONDS_A_DAY / 1e6:,.1f} MB",
        "bytes stored of a sample": f"{held:.2f}",
        "bytes stored for a server and day": f"{samples * SECONDS_A_DAY * held / 1e6:,.2f} MB",
        "scrapes that failed": f"{failed:.0f}",
        **{
            f"{name}: cores, memory": f"{spent[name]:.2f}, {process.resident_megabytes():.0f} MB"
            for name, process in site.processes.items()
        },
        **({} if whole else {"vmalert: cores, memory": "-"}),
    }


if __name__ == "__main__":
    raise SystemExit(main())
