"""What the benchmarks share: the program, its tables, and lines of a result."""

from __future__ import annotations

import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.private_server import PrivateServer

PROGRAM = Path(sys.executable).with_name("myisam-advisor")
TABLES = 10_000
ENDINGS = (".frm", ".MYI", ".MYD")
ROUNDS = 5
# mysqltuner divides by the chunk size, which is 0 in recent releases.
OPTIONS = (
    "--table-open-cache=400",
    "--key-buffer-size=64M",
    "--open-files-limit=20000",
    "--innodb-buffer-pool-chunk-size=2M",
)


def expect_startable() -> None:
    """Raises TrialError where the user that we are by now cannot start the program, or the Python that runs it."""
    for path in (PROGRAM, Path(sys.executable)):
        if not os.access(path, os.R_OK | os.X_OK):
            raise TrialError(
                f"{path} cannot be started by the user that this runs as ({os.geteuid()}): install it with a Python that everybody may read "
                "(/usr/bin/python3), or run this as another user than root."
            )


@dataclass(frozen=True, slots=True)
class Line:
    """One measurement, its target and whether it was met."""

    what: str
    measured: str
    target: str
    met: bool | None


def point_selects(server: PrivateServer, *words: str) -> list[str]:
    """Sysbench's point selects on a MyISAM table, with further words of its command line."""
    command = ["sysbench", "oltp_point_select", f"--mysql-socket={server.socket}", "--mysql-user=root"]
    return [
        *command,
        "--mysql-storage-engine=myisam",
        "--table-size=10000",
        "--db-ps-mode=disable",
        "--skip-trx=on",
        *words,
    ]


@contextmanager
def in_background(work: Callable[[threading.Event], None]) -> Iterator[None]:
    """The work on a thread of its own; at the end its event is set, and it is waited for."""
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,))
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def make_tables(server: PrivateServer, count: int, schemas: int) -> None:
    """Copies of one table's files: the server finds them by itself."""
    server.execute(
        "CREATE DATABASE template",
        "CREATE TABLE template.t (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, k INT NOT NULL, c CHAR(40) NOT NULL, KEY (k), KEY (c)) ENGINE=MyISAM",
        "INSERT INTO template.t (k, c) VALUES " + ", ".join(f"({number}, 'row {number}')" for number in range(50)),
        "FLUSH TABLES",
    )
    contents = {ending: (server.data_directory / "template" / f"t{ending}").read_bytes() for ending in ENDINGS}
    for schema in range(schemas):
        folder = server.data_directory / f"many_{schema}"
        folder.mkdir()
        server.give_away(folder)
        for number in range(count // schemas):
            for ending, content in contents.items():
                path = folder / f"t_{number}{ending}"
                path.write_bytes(content)
                server.give_away(path)


def opened_tables(server: PrivateServer) -> int:
    """The server's counter of opened tables."""
    return int(str(server.execute("SHOW GLOBAL STATUS LIKE 'Opened_tables'")[0][1]))


def median_seconds(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """The median time of an action."""
    times = []
    for _ in range(rounds):
        started = time.monotonic()
        action()
        times.append(time.monotonic() - started)
    return statistics.median(times)
