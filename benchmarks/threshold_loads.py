"""Loads of our own for `script/bench thresholds`: what sysbench cannot make, connections that come and go, statements at a pace, and slow ones."""

from __future__ import annotations

import hashlib
import os
import random
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from benchmarks.common import in_background
from myisam_advisor.trial.private.private_server import PrivateServer

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
SEED = 20261122
# Connections that look keys up.
LOOKING_UP = 4


@dataclass(frozen=True, slots=True)
class Churn:
    """What connections that run a few statements each cost: statements and connections a second, and the server's processor time for a statement."""

    statements_per_second: float
    connections_per_second: float
    server_milliseconds: float


def churn(server: PrivateServer, statements: int, seconds: float) -> Churn:
    """Connections that run STATEMENTS each and end, from two threads; 0 keeps each open."""
    done = [[0, 0], [0, 0]]
    end = time.monotonic() + seconds

    def one(counts: list[int]) -> None:
        chance = random.Random(SEED)  # noqa: S311 -- repeatable, not secret
        while time.monotonic() < end:
            with server.session("sbtest") as connection, closing(connection.cursor()) as cursor:
                counts[0] += 1
                while time.monotonic() < end:
                    cursor.execute("SELECT c FROM sbtest1 WHERE id = %s", (chance.randrange(1, 200_000),))
                    cursor.fetchall()
                    counts[1] += 1
                    if statements and counts[1] % statements == 0:
                        break

    busy, started = processor_seconds(server.pid), time.monotonic()
    _together([partial(one, counts) for counts in done])
    busy, passed = processor_seconds(server.pid) - busy, time.monotonic() - started
    connections, asked = (sum(counts[place] for counts in done) for place in (0, 1))
    return Churn(asked / passed, connections / passed, 1000 * busy / asked)


def processor_seconds(pid: int) -> float:
    """What the process took of the processors so far: utime and stime, proc(5)."""
    words = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / TICKS_PER_SECOND


@contextmanager
def slow_statements(server: PrivateServer, per_second: float, seconds: float) -> Iterator[None]:
    """Reads of the load's table that hold its lock for so long each, so many a second, one after another."""

    def read(over: threading.Event) -> None:
        with server.session("sbtest") as connection, closing(connection.cursor()) as cursor:
            due = time.monotonic()
            while not over.wait(max(0.0, due - time.monotonic())):
                cursor.execute(f"SELECT SLEEP({seconds}) FROM sbtest1 LIMIT 1")
                cursor.fetchall()
                due += 1 / per_second

    with in_background(read):
        yield


KEYS = 1_200_000


def key(number: int) -> str:
    """The key of a row of `make_keys`: no two beside each other in the index."""
    return hashlib.md5(str(number).encode(), usedforsecurity=False).hexdigest().ljust(60, "x")


def make_keys(server: PrivateServer) -> None:
    """A table whose index of 60 bytes a key is some 100 MB."""
    digits = "(SELECT 0 AS n" + "".join(f" UNION ALL SELECT {digit}" for digit in range(1, 10)) + ")"
    tables = " CROSS JOIN ".join(f"{digits} AS d{place}" for place in range(7))
    number = " + ".join(f"d{place}.n * {10**place}" for place in range(7))
    server.execute(
        "CREATE TABLE sbtest.wide (id INT NOT NULL, k CHAR(60) CHARACTER SET latin1 NOT NULL, KEY (k)) ENGINE=MyISAM",
        "ALTER TABLE sbtest.wide DISABLE KEYS",
        f"INSERT INTO sbtest.wide SELECT number, RPAD(MD5(number), 60, 'x') FROM (SELECT {number} AS number FROM {tables}) AS numbers WHERE number < {KEYS}",
        "ALTER TABLE sbtest.wide ENABLE KEYS",
        "FLUSH TABLES",
    )


def look_ups(server: PrivateServer, per_second: float, seconds: float) -> list[float]:
    """Milliseconds that each look-up of a key by chance took, from when it was due: who waits in a queue waits too."""
    times: list[float] = []

    def one(place: int) -> None:
        # Other keys in each run: those of the run before are in the key cache.
        chance = random.Random(f"{SEED} {place} {per_second} {seconds}")  # noqa: S311 -- repeatable, not secret
        with server.session("sbtest") as connection, closing(connection.cursor()) as cursor:
            due, end = time.monotonic(), time.monotonic() + seconds
            while due < end:
                time.sleep(max(0.0, due - time.monotonic()))
                cursor.execute("SELECT COUNT(*) FROM wide WHERE k = %s", (key(chance.randrange(KEYS)),))
                cursor.fetchall()
                times.append(1000 * (time.monotonic() - due))
                due += chance.expovariate(per_second / LOOKING_UP)

    _together([partial(one, place) for place in range(LOOKING_UP)])
    return times


def late(times: list[float]) -> float:
    """The time within which 95 of 100 ended."""
    return statistics.quantiles(times, n=100)[94]


def _together(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
