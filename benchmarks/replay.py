"""How fast the sender of `trial replay` is, how exact its moments are, and how often its word agrees with production. Run by `script/bench replay`.

Production is a private server under a seeded mix, sent by sysbench's own driver (not by the sender that is measured here), and captured by
the server itself (mysql.slow_log). Then the change is really made to production, in turn with the way it was; and the capture is replayed with the same
change on copies of the tables. Every case is written down at once (benchmarks/replay.jsonl): a run that was ended goes on where it was.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from benchmarks.common import Line
from benchmarks.kept_lines import keep_line, kept_lines
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import compare_pairs
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.machine import be_polite, machine_name, only_one
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.replay import replay, write_statements
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.replaying import OPTIONS, run_replay
from myisam_advisor.trial.statements.schedule import Schedule, write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, RECORDED_SPEED, send
from myisam_advisor.trial.statements.survey import Judging, survey
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.tables.sources import find_copyable
from myisam_advisor.workload.events import Event
from tools.fetched_servers import find_server, keep_place

RECORD = Path("benchmarks/replay.jsonl")
SERVERS = ("mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6")
SCHEMA, ROWS, THREADS, SEED = "site", 50_000, 4, 1984
BEGAN = 1_790_000_000_000_000
RATE_GOAL, PACE_GOAL, PACE_SECONDS, PACE_RATE = 20_000, 0.02, 60, 2_000
RATIO_GOAL, ROWS_GOAL = 0.15, 0.999
SENT_EACH, LOOKUPS = 60_000, 1000
# The production server begins with little of everything, so that there is something to change.
PRODUCTION = (
    "--key-buffer-size=1M",
    "--concurrent-insert=1",
    "--loose-query-cache-size=0",
    "--read-buffer-size=131072",
)
CHANGES: Mapping[str, Variant] = {
    "key buffer": Variant("key buffer", settings=(Setting("key_buffer_size", "64M"),)),
    "concurrent insert": Variant("concurrent insert", settings=(Setting("concurrent_insert", "0"),)),
    "fixed rows": Variant("fixed rows", statements=(f"ALTER TABLE {SCHEMA}.items ROW_FORMAT=FIXED",)),
    "packed keys": Variant("packed keys", statements=(f"ALTER TABLE {SCHEMA}.items PACK_KEYS=1",)),
    "without an index": Variant("without an index", statements=(f"ALTER TABLE {SCHEMA}.events DROP INDEX what",)),
}


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


@dataclass(frozen=True, slots=True)
class Case:
    """One change, on one server, under one mix."""

    server: str
    mix: str
    change: str


def cases() -> list[Case]:
    """All of them: five changes, four servers, two mixes each: every server goes without one of the three in turn."""
    without = itertools.cycle(MIXES)
    left_out = {server: next(without) for server in SERVERS}
    return [
        Case(server, mix, change)
        for server in SERVERS
        for mix in MIXES
        if mix != left_out[server]
        for change in CHANGES
    ]


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
    """What the server wrote of the mix into its table mysql.slow_log."""
    rows = server.execute(
        "SELECT thread_id, UNIX_TIMESTAMP(start_time), TIME_TO_SEC(query_time), rows_sent, sql_text FROM mysql.slow_log "
        f"WHERE db = '{SCHEMA}' AND sql_text REGEXP '^(SELECT|INSERT|UPDATE)'"
    )
    events = []
    for thread, start, seconds, sent, text in rows:
        statement = text if isinstance(text, bytes) else str(text).encode()
        begun, lasted = int(float(str(start)) * 1e6), int(float(str(seconds)) * 1e6)
        events.append(Event(int(str(thread)), begun, lasted, SCHEMA.encode(), statement, int(str(sent))))
    # By their ends, as a slow log has them.
    return sorted(events, key=lambda event: event.start_microseconds + (event.duration_microseconds or 0))


class _Production:
    """A private server that stands for the watched one, whose tables are put back before each run."""

    def __init__(self, binaries: ServerBinaries, folder: Path, case: Case, seconds: float) -> None:
        self.binaries, self._folder, self._case = binaries, folder, case
        mix, count = MIXES[case.mix], max(round(seconds * LOOKUPS), 200)
        generators = [random.Random(f"{SEED} {thread}") for thread in range(THREADS)]  # noqa: S311 -- repeatable
        self._statements = folder / "mix"
        write_statements(self._statements, [[mix(draw) for _ in range(count)] for draw in generators])
        self._sent = count * THREADS

    def rate(self, variant: Variant | None, capture: list[Event] | None = None, kept: Path | None = None) -> float:
        """Statements a second of one run on a server of its own; what the server captured meanwhile, and its tables as they were at the beginning."""
        folder = self._folder / "p"
        folder.mkdir()
        options = [*OPTIONS, *PRODUCTION, "--log-output=TABLE"]
        with PrivateServer(self.binaries, options, folder) as server:
            make_tables(server)
            for setting in variant.settings if variant else ():
                server.execute(f"SET GLOBAL {setting.sql_name} = {setting.sql_value}")
            server.execute(*(variant.statements if variant else ()), "FLUSH TABLES")
            _warm(server)
            if kept is not None:
                _run("cp", "-a", str(server.data_directory), str(kept))
            if capture is not None:
                server.execute("SET GLOBAL long_query_time = 0", "SET GLOBAL slow_query_log = 1")
            done = replay(server, self._statements, THREADS, SCHEMA)
            if capture is not None:
                server.execute("SET GLOBAL slow_query_log = 0")
                capture += captured(server)
        _run("rm", "-rf", str(folder))
        return self._sent / done.seconds


def _warm(server: PrivateServer) -> None:
    server.execute(f"LOAD INDEX INTO CACHE {SCHEMA}.items", f"LOAD INDEX INTO CACHE {SCHEMA}.events")


def _run(*words: str) -> None:
    from myisam_advisor.trial.private.unprivileged import run

    run(*words)


def agreement(binaries: ServerBinaries, case: Case, seconds: float, rounds: int) -> dict[str, Any]:
    """One case: the ratio in production, and the replay's."""
    change = CHANGES[case.change]
    with ReapedDirectory() as directory:
        production = _Production(binaries, directory.path, case, seconds)
        events: list[Event] = []
        kept = directory.path / "kept"
        production.rate(None, events, kept)
        pairs = []
        for number in range(rounds):
            order = (None, change) if number % 2 else (change, None)
            rates = {one: production.rate(one) for one in order}
            pairs.append((rates[None], rates[change]))
        with find_copyable(kept, [(SCHEMA, "events"), (SCHEMA, "items")], 1 << 30) as (sources, missing):
            about = Material(binaries, [*PRODUCTION], lambda: iter(events), sources, missing)
            result = run_replay(about, [change], ReplayOptions(MAXIMUM_SPEED, None, rounds), Listener())
    real, (told,), fidelity = compare_pairs(case.change, pairs), result.variants, result.fidelity
    equal = fidelity.rows_equal / max(fidelity.rows_equal + fidelity.rows_differ, 1)
    return {
        "server": case.server, "mix": case.mix, "change": case.change, "production": real.ratio, "replay": told.times,
        "verdicts": [real.verdict, told.verdict], "statements": fidelity.sent, "rows_equal": equal, "sender_cpu_share": fidelity.sender_cpu_share,
    }  # fmt: skip


def agrees(found: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the sign is the same (where neither says that there is none), and whether the ratios are near each other."""
    real, told = float(found["production"]), float(found["replay"])
    small = max(abs(real - 1), abs(told - 1)) < RATIO_GOAL
    return small or (real > 1) == (told > 1), abs(told / real - 1) <= RATIO_GOAL


def speed(binaries: ServerBinaries, pace_seconds: int) -> dict[str, float]:
    """The sender's statements for each second of its CPU; and how long a capture takes at speed 1, as a share of what it took."""
    with ReapedDirectory() as directory:
        folder = directory.path / "s"
        folder.mkdir()
        with PrivateServer(binaries, [*OPTIONS, "--key-buffer-size=64M"], folder) as server:
            make_tables(server)
            fast = _scheduled(
                [(thread, 0) for thread in range(2) for _ in range(SENT_EACH // 2)], directory.path / "fast"
            )
            sent = send(server, fast.folder, fast.statements, fast.counters, "root", MAXIMUM_SPEED, 600)
            step = 1_000_000 // PACE_RATE
            moments = [(number % THREADS, number * step) for number in range(pace_seconds * PACE_RATE)]
            slow = _scheduled(moments, directory.path / "slow")
            paced = send(server, slow.folder, slow.statements, slow.counters, "root", RECORDED_SPEED, 600)
    return {
        "per_cpu_second": SENT_EACH / sent.sender_cpu_seconds,
        "per_second": SENT_EACH / sent.seconds,
        "pace": paced.seconds / pace_seconds,
        "late_share": sum(one.late for one in paced.reports) / len(moments),
    }


def _scheduled(moments: Sequence[tuple[int, int]], folder: Path) -> Schedule:
    draw = random.Random(SEED)  # noqa: S311 -- repeatable, not secret
    events = [
        Event(
            thread, BEGAN + at, 1, SCHEMA.encode(), b"SELECT name FROM items WHERE id = %d" % draw.randint(1, ROWS), 1
        )
        for thread, at in moments
    ]
    judging = Judging()
    return write_schedule(events, survey(events, judging), judging, folder, frozenset({SCHEMA}), lambda _: "")


def lines(found: Mapping[str, float]) -> list[Line]:
    """The speed as lines of a result."""
    rate, pace = found["per_cpu_second"], found["pace"]
    return [
        Line("statements for each second of the sender's CPU", f"{rate:,.0f}", f">= {RATE_GOAL:,}", rate >= RATE_GOAL),
        Line("length of a replay at speed 1", f"{pace:.2%}", "100 % +- 2 %", abs(pace - 1) <= PACE_GOAL),
    ]


def left(measured: Iterable[Mapping[str, Any]], servers: Sequence[str], mixes: Sequence[str]) -> list[Case]:
    """The cases that are still to be measured, of these servers and mixes (none: all)."""
    known = {_key(one) for one in measured}
    return [
        one
        for one in cases()
        if one not in known and (not servers or one.server in servers) and (not mixes or one.mix in mixes)
    ]


def _key(found: Mapping[str, Any]) -> Case:
    return Case(str(found["server"]), str(found["mix"]), str(found["change"]))


@click.command()
@click.argument("what", type=click.Choice(["speed", "agreement"]), default="speed")
@click.option(
    "--cases",
    "most",
    default=len(cases()),
    help="So many cases of agreement at most, beside those done.",
)
@click.option("--seconds", default=20.0, help="About the length of the captured mix.")
@click.option("--rounds", default=8, help="Rounds in production, and of the replay.")
@click.option("--pace-seconds", default=PACE_SECONDS, help="Length of the capture for speed 1.")
@click.option("--server", "servers", multiple=True, type=click.Choice(SERVERS), help="Cases on this server alone.")
@click.option("--mix", "mixes", multiple=True, type=click.Choice(list(MIXES)), help="Cases under this mix alone.")
@click.option("--again", is_flag=True, help="Forget what was measured of agreement.")
def main(
    what: str, most: int, seconds: float, rounds: int, pace_seconds: int, servers: tuple[str, ...], mixes: tuple[str, ...], again: bool
) -> None:  # fmt: skip
    """Measure, and say what came of it beside its goal."""
    keep_place()
    be_polite()
    print(machine_name())
    with only_one():
        if what == "speed":
            found = _apart(SERVERS[0], lambda binaries: speed(binaries, pace_seconds))
            for line in lines(found):
                print(f"{line.what}: {line.measured} (goal: {line.target})")
            print(
                f"statements a second: {found['per_second']:,.0f}; {found['late_share']:.2%} of the paced ones a millisecond late or more"
            )
            return
        if again:
            RECORD.unlink(missing_ok=True)
        waiting = left(kept_lines(RECORD), servers, mixes)
        for number, case in enumerate(waiting[:most], 1):
            print(f"{number} of {min(most, len(waiting))}: {case.change}, {case.mix}, {case.server}", file=sys.stderr)
            told = _apart(case.server, partial(agreement, case=case, seconds=seconds, rounds=rounds))
            keep_line(RECORD, {**told, "seconds": seconds, "rounds": rounds, "machine": machine_name()})
            print(json.dumps(told))
    _summary(kept_lines(RECORD))


def _summary(found: Sequence[Mapping[str, Any]]) -> None:
    signs, ratios = (sum(agrees(one)[number] for one in found) for number in (0, 1))
    rows = min((float(one["rows_equal"]) for one in found), default=0.0)
    print(f"{len(found)} cases: the sign agrees in {signs}, the ratio within 15 % in {ratios} (goals: 38 and 36 of 40)")
    print(f"rows as captured: {rows:.2%} at worst (goal: {ROWS_GOAL:.1%})")


def _apart(name: str, work: Callable[[ServerBinaries], dict[str, Any]]) -> dict[str, Any]:
    binaries = find_server(name)
    if binaries is None:
        raise TrialError(f"{name} is not in the cache: run script/servers {name}.")

    def do(_channel: Channel) -> dict[str, Any]:
        return work(binaries)

    with apart(do) as place:
        found: dict[str, Any] = place.result()
        return found


if __name__ == "__main__":
    sys.exit(main())
