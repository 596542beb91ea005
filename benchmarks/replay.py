"""How fast the sender of `trial replay` is, how exact its moments are, and how often its word agrees with production. Run by `script/bench replay`.

Production is a private server under a seeded mix, sent as fast as it goes by sysbench's own driver (not by the sender that is measured here), and captured by
the server itself (performance_schema). Then the change is really made to production, in turn with the way it was; and the capture is replayed with the same
change on copies of the tables. Every case is written down at once (benchmarks/replay.jsonl): a run that was ended goes on where it was.
"""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.common import Line
from benchmarks.kept_lines import keep_line, kept_lines
from benchmarks.production import (
    BEGAN,
    MIXES,
    PRODUCTION,
    ROWS,
    SCHEMA,
    SEED,
    THREADS,
    Captured,
    Production,
    make_tables,
)
from myisam_advisor.errors import TrialError
from myisam_advisor.trial.comparison import compare_pairs
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.private.machine import be_polite, machine_name, only_one
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.statements.material import Material, ReplayOptions
from myisam_advisor.trial.statements.replaying import run_replay
from myisam_advisor.trial.statements.schedule import Schedule, write_schedule
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED, RECORDED_SPEED, send
from myisam_advisor.trial.statements.stages import Stage
from myisam_advisor.trial.statements.survey import Judging, survey
from myisam_advisor.trial.statements.variants import Setting, Variant
from myisam_advisor.trial.tables.sources import find_copyable
from myisam_advisor.trial.trial import OPTIONS
from myisam_advisor.workload.events import Event
from tools.fetched_servers import find_server, keep_place

RECORD = Path("benchmarks/replay.jsonl")
SERVERS = ("mariadb-10.11", "mariadb-11.8", "mysql-9.7", "mysql-5.6")
RATE_GOAL, PACE_GOAL, PACE_SECONDS, PACE_RATE = 20_000, 0.02, 60, 2_000
RATIO_GOAL, ROWS_GOAL = 0.15, 0.999
SENT_EACH = 60_000
CHANGES: Mapping[str, Variant] = {
    "key buffer": Variant("key buffer", settings=(Setting("key_buffer_size", "64M"),)),
    "concurrent insert": Variant("concurrent insert", settings=(Setting("concurrent_insert", "0"),)),
    "fixed rows": Variant("fixed rows", statements=(f"ALTER TABLE {SCHEMA}.items ROW_FORMAT=FIXED",)),
    "packed keys": Variant("packed keys", statements=(f"ALTER TABLE {SCHEMA}.items PACK_KEYS=1",)),
    "without an index": Variant("without an index", statements=(f"ALTER TABLE {SCHEMA}.events DROP INDEX what",)),
    "shorter index": Variant(
        "shorter index", statements=(f"ALTER TABLE {SCHEMA}.items DROP INDEX name, ADD INDEX name (name(8))",)
    ),
}
# Without the index each join of the catalogue reads five million rows: a run would take a quarter of an hour.
LEFT_OUT = {"forum": "shorter index", "statistics": "shorter index", "catalogue": "without an index"}


@dataclass(frozen=True, slots=True)
class Length:
    """How many statements production is sent, and how many rounds are run there and of the replay."""

    statements: int
    rounds: int


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
        if change != LEFT_OUT[mix]
    ]


def agreements(
    binaries: ServerBinaries,
    mix: str,
    waiting: Sequence[Case],
    length: Length,
    answer: Callable[[dict[str, Any]], None],
) -> None:
    """Cases of one server and one mix, each answered as soon as it is measured."""
    with ReapedDirectory() as directory:
        production = Production(binaries, directory.path, mix, length.statements)
        with production.server() as plain:
            capture = production.capture()
            for case in waiting:
                answer(_agreement(production, plain, capture, case, length.rounds))


def _agreement(production: Production, plain: Stage, capture: Captured, case: Case, rounds: int) -> dict[str, Any]:
    """The ratio in production, and the replay's."""
    change, pairs = CHANGES[case.change], []
    with production.server(change) as changed:
        for number in range(rounds):
            order = (plain, changed) if number % 2 else (changed, plain)
            rates = {id(one): production.rate(one) for one in order}
            pairs.append((rates[id(plain)], rates[id(changed)]))
    with find_copyable(capture.kept, [(SCHEMA, "events"), (SCHEMA, "items")], 1 << 30) as (sources, missing):
        about = Material(
            production.binaries, [*PRODUCTION], lambda: iter(capture.events), sources, missing, knows_moments=True
        )
        result = run_replay(about, [change], ReplayOptions(MAXIMUM_SPEED, None, rounds), Listener())
    real, (told,), fidelity = compare_pairs(case.change, pairs), result.variants, result.fidelity
    equal = fidelity.rows_equal / max(fidelity.rows_equal + fidelity.rows_differ, 1)
    return {
        "server": case.server, "mix": case.mix, "change": case.change, "production": real.ratio, "replay": told.times,
        "production_interval": [real.low, real.high], "replay_interval": [told.low, told.high],
        "verdicts": [real.verdict, told.verdict], "statements": fidelity.sent, "rows_equal": equal, "sender_cpu_share": fidelity.sender_cpu_share,
    }  # fmt: skip


def agrees(found: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether the sign is the same (where neither says that there is none), and whether the ratios are near each other."""
    real, told = float(found["production"]), float(found["replay"])
    small = max(abs(real - 1), abs(told - 1)) < RATIO_GOAL
    return small or (real > 1) == (told > 1), abs(told / real - 1) <= RATIO_GOAL


def clear_cases(found: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Of the cases in which production itself is clear (its interval excludes 1): how often the replay says the same, is unclear, says the contrary."""
    said = dict.fromkeys(("same", "unclear", "contrary"), 0)
    for one in found:
        (low, high), (least, most) = one["production_interval"], one["replay_interval"]
        if None in (low, high) or low <= 1 <= high:
            continue
        if None in (least, most) or least <= 1 <= most:
            said["unclear"] += 1
        else:
            said["same" if (low > 1) == (least > 1) else "contrary"] += 1
    return said


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
            sent = send(server, fast, MAXIMUM_SPEED, 30, account="root")
            step = 1_000_000 // PACE_RATE
            moments = [(number % THREADS, number * step) for number in range(pace_seconds * PACE_RATE)]
            slow = _scheduled(moments, directory.path / "slow")
            paced = send(server, slow, RECORDED_SPEED, 30, account="root")
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
@click.option("--statements", default=8_000, show_default=True, help="In the capture.")
@click.option("--rounds", default=12, show_default=True, help="Rounds in production, and of the replay.")
@click.option("--pace-seconds", default=PACE_SECONDS, help="Length of the capture for speed 1.")
@click.option("--server", "servers", multiple=True, type=click.Choice(SERVERS), help="Cases on this server alone.")
@click.option("--mix", "mixes", multiple=True, type=click.Choice(list(MIXES)), help="Cases under this mix alone.")
@click.option("--again", is_flag=True, help="Forget what was measured of agreement.")
def main(
    what: str, most: int, statements: int, rounds: int, pace_seconds: int, servers: tuple[str, ...], mixes: tuple[str, ...], again: bool
) -> None:  # fmt: skip
    """Measure, and say what came of it beside its goal."""
    keep_place()
    be_polite()
    print(machine_name())
    with only_one():
        if what == "speed":
            found = _apart(SERVERS[0], lambda binaries, _: speed(binaries, pace_seconds))
            for line in lines(found):
                print(f"{line.what}: {line.measured} (goal: {line.target})")
            print(
                f"statements a second: {found['per_second']:,.0f}; {found['late_share']:.2%} of the paced ones a millisecond late or more"
            )
            return
        if again:
            RECORD.unlink(missing_ok=True)
        waiting = left(kept_lines(RECORD), servers, mixes)[:most]
        length = Length(statements, rounds)
        for (server, mix), group in itertools.groupby(waiting, lambda case: (case.server, case.mix)):
            _measure(server, mix, list(group), length)
    _summary(kept_lines(RECORD))


def _measure(server: str, mix: str, waiting: Sequence[Case], length: Length) -> None:
    print(f"{mix}, {server}: {', '.join(case.change for case in waiting)}", file=sys.stderr)

    def work(binaries: ServerBinaries, channel: Channel) -> dict[str, Any]:
        agreements(binaries, mix, waiting, length, channel.send)
        return {}

    def answer(told: dict[str, Any]) -> None:
        keep_line(RECORD, {**told, "rounds": length.rounds, "machine": machine_name()})
        print(json.dumps(told))

    _apart(server, work, answer)


def _summary(found: Sequence[Mapping[str, Any]]) -> None:
    signs, ratios = (sum(agrees(one)[number] for one in found) for number in (0, 1))
    rows = min((float(one["rows_equal"]) for one in found), default=0.0)
    print(f"{len(found)} cases: the sign agrees in {signs}, the ratio within 15 % in {ratios} (goals: 38 and 36 of 40)")
    clear = ", ".join(f"{word}: {number}" for word, number in clear_cases(found).items())
    print(f"where production itself is clear, the replay says: {clear}")
    print(f"rows as captured: {rows:.2%} at worst (goal: {ROWS_GOAL:.1%})")


def _apart(
    name: str,
    work: Callable[[ServerBinaries, Channel], dict[str, Any]],
    answer: Callable[[dict[str, Any]], None] = print,
) -> dict[str, Any]:
    binaries = find_server(name)
    if binaries is None:
        raise TrialError(f"{name} is not in the cache: run script/servers {name}.")

    def do(channel: Channel) -> dict[str, Any]:
        return work(binaries, channel)

    with apart(do) as place:
        found: dict[str, Any] = place.result(answer)
        return found


if __name__ == "__main__":
    sys.exit(main())
