"""What a recording by a probe costs a server, and what it loses: `script/bench capture`, as root. Processor time a statement is told too: it counts on a busy machine."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import psutil

from benchmarks.common import point_selects
from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.probing.capture import Probing
from myisam_exporter.server.target import Target
from tools.fetched_servers import find_server

ROUNDS = 4
SECONDS = 5


def main() -> None:
    """Rounds without and with a recording, one behind the other; a line for each."""
    kind = sys.argv[1] if len(sys.argv) > 1 else "mariadb-10.11"
    # The probe needs root, and this server is nobody's but ours.
    unprivileged.root_may_control = True
    found = find_server(kind)
    if found is None:
        sys.exit(f"{kind} is not in the cache: run script/servers {kind}")
    with PrivateServer(found) as server, tempfile.TemporaryDirectory() as folder:
        server.execute("CREATE DATABASE sbtest")
        subprocess.run(point_selects(server, "prepare"), check=True, stdout=subprocess.DEVNULL)
        sysbench = point_selects(server, "--threads=4", f"--time={SECONDS}", "run")
        for number in range(ROUNDS):
            print(f"without: {_round(server, sysbench)}", flush=True)
            target = Target(user="root", socket=Path(server.socket))
            told: list[str] = []
            # Sent while the server is watched, and over before the recording is.
            sender = threading.Thread(target=lambda said=told: said.append(_round(server, sysbench)))
            with Probing(target, 10, SECONDS + 4, Path(folder) / str(number)) as probing:
                recorded = probing.record(probing.prospect(), sender.start)
            sender.join()
            left_out = dict(recorded.totals.left_out)
            print(
                f"with: {told[0]}; {recorded.totals.statements} recorded, left out {left_out}, {recorded.totals.note['cost']}; "
                f"at most {_peak_mib():.0f} MiB of memory until now",
                flush=True,
            )


def _peak_mib() -> float:
    """Of this process, which is the recorder: getrusage(2) tells KiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _round(server: PrivateServer, sysbench: list[str]) -> str:
    process = psutil.Process(server.pid)
    before = process.cpu_times()
    done = subprocess.run(sysbench, check=True, stdout=subprocess.PIPE, text=True).stdout
    after = process.cpu_times()
    queries = re.search(r"total:\s+(\d+)", done)
    if queries is None:
        return "sysbench told nothing"
    number, used = int(queries[1]), after.user + after.system - before.user - before.system
    return f"{number} statements, {number / SECONDS:.0f} a second, {used / max(number, 1) * 1e6:.1f} us of the server's processor time each"


if __name__ == "__main__":
    main()
