"""What share of a server's throughput a probe takes: short windows without and with one in turn, under sysbench all the time. `script/bench capture cost`, as root.

What a window of a tenth of a second tells is as rough as one of five seconds on a machine with neighbours (docs/decisions/036): so there are many.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from benchmarks.common import point_selects
from myisam_advisor.trial.comparison import compare_pairs
from myisam_advisor.trial.private import unprivileged
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.probing.kernel import counted
from myisam_advisor.workload.probing.watched_server import WatchedServer
from myisam_exporter.server.target import Target
from tools.fetched_servers import find_server

PAIRS, WINDOW_SECONDS, SETTLED_SECONDS = 1_000, 0.1, 1.0
# As `record` empties the ring.
PAUSE_SECONDS = 0.01
THREADS = 4


@contextlib.contextmanager
def busy(server: PrivateServer, seconds: int, rate: int) -> Iterator[None]:
    """Point selects on a few connections, so many a second, or (0) as fast as they go."""
    server.execute("CREATE DATABASE sbtest")
    subprocess.run(point_selects(server, "prepare"), check=True, stdout=subprocess.DEVNULL)
    command = point_selects(server, f"--threads={THREADS}", f"--time={seconds}", f"--rate={rate}", "run")
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as running:
        try:
            time.sleep(SETTLED_SECONDS)
            yield
            if running.poll() is not None:
                sys.exit("bench: sysbench ended before the measurement")
        finally:
            running.kill()


def window(watched: WatchedServer, file: BinaryIO, with_probe: bool) -> tuple[float, int]:
    """Statements a second of one window, and how many the probe lost."""
    with contextlib.ExitStack() as opened:
        ring, maps = opened.enter_context(watched.probes(file)) if with_probe else (None, None)
        asked, began = watched.questions, time.perf_counter()
        while time.perf_counter() - began < WINDOW_SECONDS:
            time.sleep(PAUSE_SECONDS)
            if ring is not None:
                ring.empty()
        rate = (watched.questions - asked) / (time.perf_counter() - began)
        lost = counted(maps)[0] if maps else 0
    file.seek(0)
    file.truncate()
    return rate, lost


def main() -> None:
    """One line."""
    given = dict(enumerate(sys.argv[1:]))
    kind, pairs, rate = given.get(0, "mariadb-10.11"), int(given.get(1, PAIRS)), int(given.get(2, 0))
    # The probe needs root, and this server is nobody's but ours.
    unprivileged.root_may_control = True
    found = find_server(kind)
    if found is None:
        sys.exit(f"{kind} is not in the cache: run script/servers {kind}")
    draw, rates, lost = random.Random(kind), [], 0  # noqa: S311 -- repeatable, not secret
    with contextlib.ExitStack() as opened:
        server, file = opened.enter_context(PrivateServer(found)), opened.enter_context(tempfile.TemporaryFile())
        opened.enter_context(busy(server, 600 + pairs, rate))
        watched = opened.enter_context(WatchedServer(Target(user="root", socket=Path(server.socket)), 10, file))
        for _ in range(pairs):
            pair = {}
            for with_probe in draw.sample((False, True), 2):
                pair[with_probe], missed = window(watched, file, with_probe)
                lost += missed
            rates.append((pair[False], pair[True]))
    one = compare_pairs("probed", rates)
    plain, probed = (sum(column) / pairs for column in zip(*rates, strict=True))
    low, high = one.interval or (float("nan"), float("nan"))
    print(
        f"{kind}: {plain:,.0f} statements a second without a probe, {probed:,.0f} with one: {one.ratio:.3f} times ({low:.3f} to {high:.3f}, {pairs} pairs "
        f"of windows of {WINDOW_SECONDS:g} s); {lost} lost"
    )


if __name__ == "__main__":
    main()
