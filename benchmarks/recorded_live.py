"""What `record --seconds`, by the server's slow log, costs a server that answers 5,000 statements a second, and what it leaves: `script/bench record live`."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.common import point_selects
from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.private_server import PrivateServer
from tools.fetched_servers import find_server, keep_place

RATE, SECONDS, ROUNDS = 5_000, 60, 2
# It looks before it begins, and reads the log when the time is over.
MARGIN_SECONDS = 4
PROGRAM = Path(".venv/bin/myisam-advisor")


@dataclass(frozen=True, slots=True)
class Round:
    """What sysbench was answered in a round, and what that took of the server."""

    statements: int
    microseconds_each: float
    milliseconds_95: float

    def line(self, name: str) -> str:
        """As a row of the table."""
        return (
            f"| {name} | {self.statements / SECONDS:,.0f} | {self.microseconds_each:.1f} | {self.milliseconds_95:.2f} |"
        )


def sysbench(server: PrivateServer, *words: str) -> str:
    """Point selects on new connections, at the rate."""
    return subprocess.run(point_selects(server, *words), check=True, stdout=subprocess.PIPE, text=True).stdout


def measured(server: PrivateServer) -> Round:
    """One round."""
    process = psutil.Process(server.pid)
    before = process.cpu_times()
    said = sysbench(server, "--threads=4", f"--rate={RATE}", f"--time={SECONDS}", "run")
    after = process.cpu_times()
    total, latency = re.search(r"total:\s+(\d+)", said), re.search(r"95th percentile:\s+([\d.]+)", said)
    if total is None or latency is None:
        sys.exit("bench: sysbench told nothing")
    used = after.user + after.system - before.user - before.system
    return Round(int(total[1]), used / int(total[1]) * 1e6, float(latency[1]))


def state(server: PrivateServer) -> tuple[dict[str, str], set[str]]:
    """All variables, and what lies in the data directory."""
    variables = {str(name): str(value) for name, value in server.execute("SHOW GLOBAL VARIABLES")}
    return variables, {entry.name for entry in os.scandir(server.data_directory)}


def recorded(server: PrivateServer, output: Path) -> tuple[Round, str]:
    """A round that is recorded, and what the recorder says of it."""
    words = [
        "record",
        "--seconds",
        str(SECONDS + MARGIN_SECONDS),
        "--yes",
        "--output",
        str(output),
        "--socket",
        str(server.socket),
        "--user",
        "root",
    ]
    with subprocess.Popen([PROGRAM, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as recorder:
        while recorder.poll() is None and float(str(server.execute("SELECT @@global.long_query_time")[0][0])):
            time.sleep(0.05)
        one = measured(server)
        said, _ = recorder.communicate()
    if recorder.returncode:
        sys.exit(f"bench: the recorder ended with {recorder.returncode}:\n{said}")
    return one, said


def main() -> None:
    """The table of docs/guide/benchmarks.md."""
    keep_place()
    kind = sys.argv[1] if len(sys.argv) > 1 else "mariadb-10.11"
    found = find_server(kind)
    if found is None:
        sys.exit(f"{kind} is not in the cache: run script/servers {kind}")
    said = ""
    # Its log is read as the server's own user or root, and this server is nobody's but ours.
    unprivileged.root_may_control = True
    with PrivateServer(found) as server, tempfile.TemporaryDirectory(prefix="myisam-bench-") as folder:
        server.execute("CREATE DATABASE sbtest")
        sysbench(server, "prepare")
        before = state(server)
        print(
            f"{kind}\n\n| | statements/s | us of the server's processor each | 95 % within, ms |\n|---|---|---|---|",
            flush=True,
        )
        for number in range(ROUNDS):
            print(measured(server).line("without"), flush=True)
            one, said = recorded(server, Path(folder) / str(number))
            print(one.line("recorded"), flush=True)
        changed = {name for name, value in state(server)[0].items() if before[0].get(name) != value}
        print(
            f"\nchanged variables: {sorted(changed) or 'none'}; new files: {sorted(state(server)[1] - before[1]) or 'none'}\n\n{said}"
        )


if __name__ == "__main__":
    main()
