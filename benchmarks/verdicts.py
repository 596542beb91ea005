"""How often a trial's verdict is right: equals against equals, a true 5 %, and both beside busy loops. Run by `script/bench trial`.

Real servers and real runs: each trial is what `myisam-advisor trial` does with one workload and a budget of a minute; equals have its usual one, five.
The 5 % are statements: one side sends 5 % more of the same kind for the same work. Every trial is written down at once (benchmarks/verdicts.jsonl), with
the rates of its pairs, so that a run that was ended goes on where it was, and so that the statistics can be tried on real pairs without a server
(`simulate`).
"""

from __future__ import annotations

import contextlib
import math
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.kept_lines import keep_line, kept_lines
from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import NO_DIFFERENCE, UNCLEAR, WORSE, WORTH_IT
from myisam_advisor.trial.bench import SCHEMA, Bench, Statements, TrialOptions
from myisam_advisor.trial.budget import Budget, fitted
from myisam_advisor.trial.comparison import Run
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.private.load import LoadMeter
from myisam_advisor.trial.private.machine import be_polite, machine_name, only_one
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_advisor.trial.rounds import Limits, run_rounds
from myisam_advisor.trial.tables.made import Restorable, SyntheticTable, inserts, lookup_index, lookups
from myisam_advisor.trial.trial import TrialMaterial, private_server
from tools.fetched_servers import find_server, keep_place

RECORD = Path("benchmarks/verdicts.jsonl")
TRIALS, BUSY_TRIALS, ROWS = 200, 20, 20_000
TRUTH = 1.05
TABLE = "subject"
EQUALS, FASTER, SLOWER, BUSY_EQUALS, BUSY_FASTER = "equals", "faster", "slower", "busy-equals", "busy-faster"
# Which share of which verdict each case is to have at least.
GOALS = {
    EQUALS: (NO_DIFFERENCE, 0.95), FASTER: (WORTH_IT, 0.95), SLOWER: (WORSE, 0.95), BUSY_EQUALS: (UNCLEAR, 1.0), BUSY_FASTER: (UNCLEAR, 1.0),
}  # fmt: skip
BUSY = (BUSY_EQUALS, BUSY_FASTER)
WRONG = {
    EQUALS: (WORTH_IT, WORSE), FASTER: (WORSE, NO_DIFFERENCE), SLOWER: (WORTH_IT, NO_DIFFERENCE),
    BUSY_EQUALS: (WORTH_IT, WORSE), BUSY_FASTER: (WORSE, NO_DIFFERENCE),
}  # fmt: skip
BUDGET_SECONDS, BUDGET_OF_EQUALS_SECONDS = 60.0, 300.0
# Of a trial's pairs the first are kept: enough to draw from.
KEPT_PAIRS = 100
Variant = Callable[[], Run]
Pair = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Load:
    """A workload's two sides: the work, and the same with 5 % more statements that count for nothing."""

    name: str
    plain: Variant
    burdened: Variant

    def variants(self, case: str) -> dict[str, Variant]:
        """Baseline and variant of a case."""
        before = self.burdened if case in (FASTER, BUSY_FASTER) else self.plain
        return {"before": before, "after": self.burdened if case == SLOWER else self.plain}


def loads(bench: Bench) -> list[Load]:
    """Inserts, reads by key, and scans, which one connection waits for."""
    kind = SyntheticTable()
    kind.make(bench, TABLE, ROWS)
    table, index = Restorable(bench, TABLE), lookup_index(bench, TABLE)
    if index is None:
        raise TrialError("the made-up table has no index to look up by.")
    found = [
        _sent(
            bench, "inserts of 10 rows", inserts(bench, kind, [TABLE], bench.options.threads_at_once, 10), table.restore
        ),
        _sent(bench, "point reads", lookups(bench, [TABLE], index, 100), table.load_index),
    ]
    scan = f"SELECT COUNT(*) FROM {SCHEMA}.{TABLE} WHERE CONCAT(v, '') = 'no such value'"
    repeats = bench.repeats(scan)
    more = max(round(repeats * TRUTH), repeats + 1)
    return [
        *found,
        Load(
            "full scan",
            lambda: bench.statement(scan, 1 / repeats, repeats),
            lambda: bench.statement(scan, 1 / more, more),
        ),
    ]


def _sent(bench: Bench, name: str, statements: Statements, ready: Callable[[], None]) -> Load:
    work = bench.fixed_work(name, statements, ready)
    return Load(name, work(ready), work(ready, own=lambda thread, count: statements(thread, round(count * TRUTH))))


def measured(
    binaries: ServerBinaries, case: str, numbers: Sequence[int], options: TrialOptions
) -> Callable[[Channel], None]:
    """The work: trials of a case, each told as soon as it is done."""

    def work(channel: Channel) -> None:
        with (
            ReapedDirectory() as directory,
            private_server(TrialMaterial(binaries), directory.path, ["--key-buffer-size=128M"]) as server,
        ):
            bench = Bench(options, directory.path, server)
            made = loads(bench)
            for number in numbers:
                channel.send({"trial": number} | _trial(made[number % len(made)], case, options))

    return work


def _trial(load: Load, case: str, options: TrialOptions) -> Message:
    rounds = run_rounds(
        load.variants(case), lambda run: run.operations_per_second, Budget(options, 2).limits(2), lambda _: None
    )  # fmt: skip
    (one,), course = rounds.comparisons, rounds.course
    rates = [[run.operations_per_second for run in rounds[name]] for name in ("before", "after")]
    return {
        "case": case, "workload": load.name, "verdict": one.verdict, "ratio": one.ratio, "low": one.low, "high": one.high, "rounds": course.rounds,
        "warm_up_rounds": course.warm_up_rounds, "disturbed_rounds": course.disturbed_rounds, "seconds": round(course.seconds, 2),
        "noise": course.noise.median, "others_cpu_share": course.others_cpu_share, "ended_by": course.ended_by, "run_seconds": options.seconds,
        "pairs": [[float(f"{before:.5g}"), float(f"{after:.5g}")] for before, after in zip(*(one[:KEPT_PAIRS] for one in rates), strict=True)],
    }  # fmt: skip


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """So many processes that do nothing but keep a processor busy. Not children of the trial's process: they are others to it."""
    running = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for one in running:
            one.kill()
            one.wait()


def run_case(binaries: ServerBinaries, case: str, trials: int, seconds: float) -> None:
    """What of the case was not measured yet."""
    done = {(one["case"], one["trial"]) for one in kept_lines(RECORD)}
    wanted = [number for number in range(trials) if (case, number) not in done]
    budget = BUDGET_OF_EQUALS_SECONDS if case == EQUALS else BUDGET_SECONDS
    options = fitted(TrialOptions(seconds=seconds, budget_seconds=budget), 2)
    loops = busy_loops(len(os.sched_getaffinity(0))) if case in BUSY else contextlib.nullcontext()

    def answer(message: Message) -> None:
        keep_line(RECORD, {"case": case, "taken_at": time.strftime("%Y-%m-%d"), **message})
        said = f"{case} {message['trial']}: {message['workload']}: {message['verdict']}, {message['rounds']} rounds, {message['seconds']} s"
        click.echo(said, err=True)

    if wanted:
        with loops, apart(measured(binaries, case, wanted, options)) as place:
            place.result(answer)


def table_of(trials: Sequence[Mapping[str, Any]]) -> str:
    """What was found of each case, against its goal, as Markdown."""
    lines = [
        "| case | trials | as it should be | goal | unclear | wrong | seconds (median; 95 %) | two equal runs differ by |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case, (verdict, goal) in GOALS.items():
        of_case = [one for one in trials if one["case"] == case]
        if not of_case:
            continue
        words = [one["verdict"] for one in of_case]
        seconds = sorted(one["seconds"] for one in of_case)
        noise = [one["noise"] for one in of_case if one["noise"] is not None]
        wrong = sum(word in WRONG[case] for word in words)
        lines.append(
            f"| {case} | {len(words)} | {verdict}: {words.count(verdict) / len(words):.1%} | {goal:.0%} | {words.count(UNCLEAR)} | {wrong} | "
            f"{statistics.median(seconds):.0f}; {seconds[math.ceil(0.95 * len(seconds)) - 1]:.0f} | {statistics.median(noise):.1%} |"
        )
    return "\n".join(lines)


class Recorded:
    """Pairs as real runs of equals gave them, drawn again: either may have been the first, and noise of another strength has the same shape.

    `strength` is the standard deviation of a pair by its median absolute deviation; None leaves it as it was.
    """

    def __init__(self, pairs: Sequence[Pair], truth: float, strength: float | None, seed: object) -> None:
        logarithms = [math.log(after / before) for before, after in pairs]
        was = 1.4826 * statistics.median(map(abs, logarithms))
        self._noise = [one * (1.0 if strength is None else strength / was) for one in logarithms]
        self._truth, self._random = truth, random.Random(f"{seed}")  # noqa: S311 -- repeatable, not secret

    def before(self) -> float:
        """The baseline's rate, and with it the other's."""
        return 1.0

    def after(self) -> float:
        """The variant's rate of a pair."""
        return self._truth * math.exp(self._random.choice(self._noise) * self._random.choice((1, -1)))


class Undisturbed(LoadMeter):
    """A machine without others: what is simulated takes no time of its own."""

    def begin(self) -> None:
        """Nothing is read."""

    def lap(self) -> None:
        """Unknown."""


def simulated(pairs: Sequence[Pair], truth: float, strength: float | None, trials: int, rounds: int) -> list[str]:
    """The verdicts of so many trials, each of so many rounds at most, drawn from recorded pairs."""
    verdicts = []
    for number in range(trials):
        drawn = Recorded(pairs, truth, strength, number)
        limits = Limits(maximum_rounds=rounds, budget_seconds=None)
        variants = {"before": drawn.before, "after": drawn.after}
        order = random.Random(number)  # noqa: S311 -- repeatable, not secret
        found = run_rounds(variants, float, limits, lambda _: None, meter=Undisturbed(), draw=order)
        verdicts.append(found.comparisons[0].verdict)
    return verdicts


def recorded_pairs(trials: Sequence[Mapping[str, Any]]) -> list[Pair]:
    """The pairs of equals."""
    return [(before, after) for one in trials if one["case"] == EQUALS for before, after in one["pairs"]]


def _simulate() -> None:
    pairs = recorded_pairs(kept_lines(RECORD))
    if not pairs:
        raise TrialError(f"{RECORD} has no pairs of equals: script/bench trial {EQUALS}.")
    click.echo("| pairs differ by | truth | no difference | worth it | worse | unclear |\n|---|---|---|---|---|---|")
    for strength in (0.01, 0.02, 0.03, 0.04, None):
        for truth in (1.0, TRUTH, 1 / TRUTH):
            words = simulated(pairs, truth, strength, TRIALS, 30)
            shares = " | ".join(
                f"{words.count(verdict) / TRIALS:.1%}" for verdict in (NO_DIFFERENCE, WORTH_IT, WORSE, UNCLEAR)
            )
            click.echo(f"| {'as recorded' if strength is None else f'{strength:.0%}'} | {truth:.3f} | {shares} |")


@click.command()
@click.argument("cases", nargs=-1, type=click.Choice([*GOALS, "simulate"]))
@click.option(
    "--trials", type=click.IntRange(1), help=f"Of each case [default: {TRIALS}, beside busy loops {BUSY_TRIALS}]."
)
@click.option("--seconds", type=float, default=0.0, help="Length of one run [default: as `trial` chooses it].")
@click.option("--server", default="mariadb-10.11", show_default=True, help="As script/servers names it.")
@click.option("--again", is_flag=True, help="Forget what was measured.")
def main(cases: tuple[str, ...], trials: int | None, seconds: float, server: str, again: bool) -> None:
    """Measure the cases (all without any), going on where an earlier run ended, and say what was found. `simulate` draws from recorded pairs."""
    keep_place()
    try:
        if cases == ("simulate",):
            _simulate()
            return
        if again:
            RECORD.unlink(missing_ok=True)
        binaries = find_server(server)
        if binaries is None:
            raise TrialError(f"{server} is not there: script/servers {server}.")
        with only_one():
            be_polite()
            for case in cases or tuple(GOALS):
                run_case(binaries, case, trials or (BUSY_TRIALS if case in BUSY else TRIALS), seconds)
    except TrialError as error:
        click.echo(f"bench: {error}", err=True)
        sys.exit(2)
    click.echo(f"{machine_name()}, {server}\n\n{table_of(kept_lines(RECORD))}")


if __name__ == "__main__":
    main()
