"""A production server that we may do anything to: private, under a seeded mix sent by sysbench's own driver, captured by its performance_schema."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import run
from myisam_advisor.trial.replay import replay, write_statements
from myisam_advisor.trial.statements.stages import Stage, StagedTable
from myisam_advisor.trial.statements.variants import Variant
from myisam_advisor.trial.trial import OPTIONS
from myisam_advisor.workload.events import Event

SCHEMA, ROWS, THREADS, SEED = "site", 50_000, 4, 1984
BEGAN = 1_790_000_000_000_000
HISTORY = (
    "--performance-schema=ON",
    "--performance-schema-consumer-events-statements-current=ON",
    "--performance-schema-consumer-events-statements-history-long=ON",
    "--performance-schema-instrument=statement/%=ON",
    "--performance-schema-events-statements-history-long-size=200000",
)
# The production server begins with little of everything, so that there is something to change.
PRODUCTION = (
    "--key-buffer-size=1M",
    "--concurrent-insert=1",
    "--loose-query-cache-size=0",
    "--read-buffer-size=131072",
)


def _forum(draw: random.Random) -> bytes:
    """Pages of topics, posts by key, a new post now and then with its counter."""
    kind = draw.random()
    if kind < 0.5:
        return b"SELECT id, name FROM items WHERE id = %d" % draw.randint(1, ROWS)
    if kind < 0.8:
        return b"SELECT id, name FROM items WHERE part = %d ORDER BY price LIMIT 20" % draw.randint(1, 500)
    if kind < 0.95:
        return b"INSERT INTO events (what, amount) VALUES (%d, %d)" % (draw.randint(1, ROWS), draw.randint(1, 99))
    return b"UPDATE items SET price = price + 1 WHERE id = %d" % draw.randint(1, ROWS)


def _statistics(draw: random.Random) -> bytes:
    """Many hits, a few sums over them."""
    if draw.random() < 0.9:
        rows = b",".join(b"(%d,%d)" % (draw.randint(1, ROWS), draw.randint(1, 99)) for _ in range(5))
        return b"INSERT INTO events (what, amount) VALUES " + rows
    first = draw.randint(1, ROWS - 200)
    return b"SELECT what, SUM(amount) FROM events WHERE what BETWEEN %d AND %d GROUP BY what" % (first, first + 200)


def _catalogue(draw: random.Random) -> bytes:
    """Searches by the beginning of a name, shelves by price with a join of what was looked at, hardly a write."""
    kind, part = draw.random(), draw.randint(1, 500)
    if kind < 0.4:
        return b"SELECT id, name, price FROM items WHERE name LIKE 'item %d%%' ORDER BY name LIMIT 20" % draw.randint(
            10, 999
        )
    if kind < 0.75:
        low = draw.randint(1, 900_000)
        return b"SELECT COUNT(*), MIN(price), MAX(price) FROM items WHERE part = %d AND price BETWEEN %d AND %d" % (
            part,
            low,
            low + 100_000,
        )
    if kind < 0.97:
        return (
            b"SELECT i.name, COUNT(e.id) FROM items i LEFT JOIN events e ON e.what = i.id WHERE i.part = %d GROUP BY i.id ORDER BY i.id LIMIT 10"
            % part
        )
    return b"UPDATE items SET price = price + 1 WHERE id = %d" % draw.randint(1, ROWS)


MIXES: Mapping[str, Callable[[random.Random], bytes]] = {
    "forum": _forum,
    "statistics": _statistics,
    "catalogue": _catalogue,
}


def make_tables(server: PrivateServer) -> None:
    """What the mixes work on."""
    draw = random.Random(SEED)  # noqa: S311 -- repeatable, not secret
    rows = ",".join(
        f"('item {draw.randint(1, 10**6)} of the shop', {draw.randint(1, 500)}, {draw.randint(1, 10**6)})"
        for _ in range(ROWS)
    )
    hits = ",".join(f"({draw.randint(1, ROWS)}, {draw.randint(1, 99)})" for _ in range(ROWS))
    server.execute(
        f"CREATE DATABASE {SCHEMA}",
        f"CREATE TABLE {SCHEMA}.items (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, part INT NOT NULL, price INT NOT NULL, "
        "KEY (name), KEY (part, price)) ENGINE=MyISAM DEFAULT CHARSET=latin1",
        f"CREATE TABLE {SCHEMA}.events (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, what INT NOT NULL, amount INT NOT NULL, KEY what (what)) ENGINE=MyISAM",
        f"INSERT INTO {SCHEMA}.items (name, part, price) VALUES {rows}",
        f"INSERT INTO {SCHEMA}.events (what, amount) VALUES {hits}",
        "FLUSH TABLES",
    )


def captured(server: PrivateServer) -> list[Event]:
    """What performance_schema kept of the mix: on each server to the microsecond."""
    rows = server.execute(
        "SELECT THREAD_ID, TIMER_START DIV 1000000, (TIMER_END - TIMER_START) DIV 1000000, ROWS_SENT, SQL_TEXT "
        f"FROM performance_schema.events_statements_history_long WHERE CURRENT_SCHEMA = '{SCHEMA}' AND SQL_TEXT REGEXP '^(SELECT|INSERT|UPDATE)'"
    )
    events = []
    for thread, start, lasted, sent, text in rows:
        statement = text if isinstance(text, bytes) else str(text).encode()
        begun = BEGAN + int(str(start))
        events.append(Event(int(str(thread)), begun, int(str(lasted)), SCHEMA.encode(), statement, int(str(sent))))
    # By their ends, as a recording has them.
    return sorted(events, key=lambda event: event.start_microseconds + (event.duration_microseconds or 0))


@dataclass(frozen=True, slots=True)
class Captured:
    """What production did: its statements, and the tables as they were at the beginning."""

    events: Sequence[Event]
    kept: Path


class Production:
    """Private servers that stand for the watched one, as it is and with a change, whose tables are put back before each run."""

    def __init__(self, binaries: ServerBinaries, folder: Path, mix: str, statements: int) -> None:
        self.binaries, self._folder, self._servers = binaries, folder, 0
        generators = [random.Random(f"{SEED} {thread}") for thread in range(THREADS)]  # noqa: S311 -- repeatable
        each = statements // THREADS
        self._sent = each * THREADS
        self._statements = folder / "mix"
        write_statements(self._statements, [[MIXES[mix](draw) for _ in range(each)] for draw in generators])

    @contextlib.contextmanager
    def server(self, variant: Variant | None = None, options: Sequence[str] = ()) -> Iterator[Stage]:
        """Production with the change really made to it."""
        folder = self._folder / f"p{self._servers}"
        self._servers += 1
        folder.mkdir()
        with PrivateServer(self.binaries, [*OPTIONS, *PRODUCTION, *options], folder) as server:
            make_tables(server)
            for setting in variant.settings if variant else ():
                server.execute(f"SET GLOBAL {setting.sql_name} = {setting.sql_value}")
            server.execute(*(variant.statements if variant else ()))
            stage = Stage(
                server, [StagedTable(SCHEMA, name, SCHEMA, name, True) for name in ("events", "items")], folder
            )
            stage.keep()
            yield stage
        run("rm", "-rf", str(folder))

    def capture(self) -> Captured:
        """A run of production that keeps a history of its statements, and the tables as they were before."""
        kept = self._folder / "kept"
        with self.server(options=HISTORY) as stage:
            run("cp", "-a", str(stage.server.data_directory), str(kept))
            self.rate(stage)
            events = captured(stage.server)
        if len(events) != self._sent:
            raise TrialError(f"of {self._sent} statements the history has {len(events)}.")
        return Captured(events, kept)

    def rate(self, stage: Stage) -> float:
        """Statements a second, as fast as it goes."""
        stage.restore()
        return self._sent / replay(stage.server, self._statements, THREADS, SCHEMA).seconds
