"""How often advice is right, ours and everybody's: `script/bench advice`.

Each scenario is started on each server it is for, put under its load, and every adviser is asked. Then every change, alone and with all of
the same adviser's, is held against the untouched server under the same load, as `trial` judges. What is known is not measured again.
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from benchmarks.advice import loads, sample
from benchmarks.advice.averting import verdict_of
from benchmarks.advice.changes import untouching
from benchmarks.advice.in_time import at_most
from benchmarks.advice.left import is_known, pieces_left, search_of
from benchmarks.advice.limits import limits
from benchmarks.advice.model import Adviser, WatchedServer
from benchmarks.advice.outcomes import OUTCOMES, UNTOUCHED
from benchmarks.advice.record import AVERTED, MEASURED, RESULTS, SKIPPED, Record, advice_of, all_records, of_kind
from benchmarks.advice.scenarios import Scenario, all_scenarios
from benchmarks.advice.stage import Stage
from benchmarks.advice.tally import known_cases
from benchmarks.advice.twice import wanted_again
from benchmarks.advice.work import NOBODY, OURS, Pace, Session, answers
from myisam_advisor.errors import TrialError
from myisam_advisor.texts.units import unit_named, unit_names
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.channel import Channel, Message
from myisam_advisor.trial.private.machine import be_polite, machine_name, only_one
from myisam_advisor.trial.private.reaped_directory import ReapedDirectory
from myisam_exporter.errors import UserError
from myisam_exporter.version import __version__
from tools.fetched_servers import FETCHED_SERVERS, find_server, keep_place

ADVISERS = Path(__file__).with_name("advisers")
# Of a short run each scenario has its share, and no more than that again and so much, whatever hangs in it.
SHORT_SECONDS, SHORT_PACE, SHORT_GRACE_SECONDS = 600.0, Pace(0.4, 8.0, 12.0), 45.0


@dataclass(frozen=True, slots=True)
class Run:
    """What is asked of this run."""

    folder: Path
    pace: Pace
    searches: int = 0
    ask_again: bool = False
    of: Collection[str] | None = None
    only: Collection[str] | None = None
    again_on: str | None = None
    grace_seconds: float = float("inf")

    @property
    def seconds_left(self) -> float:
        """Until even what has begun is ended."""
        return self.pace.until - time.monotonic() + self.grace_seconds


def advisers() -> list[Adviser]:
    """Those that can run here; why the others cannot is said."""
    found: list[Adviser] = []
    for name in unit_names(ADVISERS):
        one: Adviser = unit_named("benchmarks.advice.advisers", name).ADVISER
        why = one.why_not()
        if why:
            click.echo(f"{one.name} is left out: {why}", err=True)
        else:
            found.append(one)
    return found


def missing(scenario: Scenario) -> str | None:
    """Why a scenario cannot be had on this machine, where that is known beforehand."""
    for need in scenario.needs:
        if need == "sysbench" and not any(
            (Path(folder) / need).exists() for folder in os.environ["PATH"].split(os.pathsep)
        ):
            return "sysbench is not installed"
        if need == "mysqlslap" and loads.slap_program() is None:
            return "mysqlslap is not there: script/servers debian"
        if need.startswith("control group") and os.geteuid() != 0:
            return f"{need}: only root makes one"
    return None


def do_scenario(scenario: Scenario, server: str, asked: Sequence[Adviser], run: Run) -> None:
    """One scenario on one server; every result is kept at once. Raises TrialError where it cannot be had."""
    binaries = find_server(server)
    why = missing(scenario) or (None if binaries else f"{server} is not there: script/servers {server}")
    if why or binaries is None:
        raise TrialError(f"skipped: {why}")
    record = Record(run.folder, server, scenario.name)
    known, elsewhere = record.lines(), measured_elsewhere(run.folder, scenario.name)
    about = {"taken_at": time.strftime("%Y-%m-%d"), "machine": machine_name(), "ours": __version__}

    def work(channel: Channel) -> None:
        def ask(watched: WatchedServer, names: Sequence[str]) -> list[Message]:
            server = {**asdict(watched), "socket": str(watched.socket), "data_directory": str(watched.data_directory)}
            channel.send({"ask": list(names), "server": server})
            return list(channel.receive()["answers"])

        with ReapedDirectory() as directory:
            stage = Stage(scenario, binaries, directory.path, run.pace.run_seconds)
            session = Session(
                scenario, stage, asked, known, lambda line: channel.send(dict(line)), ask, run.pace,
                untouching(scenario.uses_innodb_on(server)), elsewhere, run.searches, run.ask_again, run.of, run.only, run.again_on,
            )  # fmt: skip
            session.do()

    def keep(message: Message) -> None:
        record.keep({**message, **about})
        click.echo(f"  {told(message)}", err=True)

    with limits(scenario, Path(tempfile.gettempdir())), apart(work) as place:

        def hear(message: Message) -> None:
            if "ask" not in message:
                keep(message)
                return
            lines = answers(_watched(message["server"]), [one for one in asked if one.name in message["ask"]])
            for line in lines:
                keep(line)
            place.send({"answers": lines})

        with at_most(run.seconds_left):
            place.result(hear)


def _watched(server: Mapping[str, Any]) -> WatchedServer:
    return WatchedServer(
        **{**server, "socket": Path(server["socket"]), "data_directory": Path(server["data_directory"])}
    )


def told(line: Mapping[str, Any]) -> str:
    """A line for whoever watches."""
    if line["kind"] == "advice":
        return f"{line['adviser']} {line['version']}: {len(line['changes'])} changes, {len(line['named'])} things named"
    if line["kind"] == "failed":
        return f"{line['adviser']} failed: {line['why']}"
    if line["kind"] == AVERTED:
        return f"damage that {line['rule']} warns of: {verdict_of(line)} (without {line['without']}, with {line['with_change']}) {line['reason']}".rstrip()
    what = line.get("key") or line.get("adviser") or line.get("settings")
    ratio = (
        ""
        if line["ratio"] is None
        else f" {line['ratio']:.2f} ({line['low']} to {line['high']}), {line['rounds']} rounds"
    )
    return f"{line['kind']} {what}: {line['outcome']}{ratio} {line['reason']}".rstrip()


def measured_elsewhere(folder: Path, scenario: str) -> Counter[str]:
    """In how many other scenarios a change of each variable was measured."""
    found: Counter[str] = Counter()
    for record in all_records(folder):
        if record.scenario != scenario:
            keys = {line["key"] for line in of_kind(record.lines(), MEASURED) if line["outcome"] != UNTOUCHED}
            found.update({key.partition("=")[0] if " " not in key.partition("=")[0] else key for key in keys})
    return found


def chosen(only: Sequence[str], servers: Sequence[str], *, short: bool) -> list[tuple[Scenario, str]]:
    """The scenarios and servers of a run. Raises UserError for a name that there is not."""
    known = {scenario.name: scenario for scenario in all_scenarios()}
    wrong = [name for name in only if name not in known]
    if wrong:
        raise UserError(
            f"there is no scenario {', '.join(wrong)}: those of {ADVISERS.with_name('scenarios')} are known by their files' names."
        )
    wanted = [known[name] for name in only] or [one for one in known.values() if one.short or not short]
    places = servers or (FETCHED_SERVERS[:1] if short else FETCHED_SERVERS)
    return [(scenario, server) for server in places for scenario in wanted if server in scenario.servers]


def is_whole(
    folder: Path, scenario: Scenario, server: str, asked: Sequence[Adviser], pace: Pace, searches: int, of: Collection[str] | None = None
) -> bool:  # fmt: skip
    """Whether nothing is left to do of a scenario on a server."""
    known = Record(folder, server, scenario.name).lines()
    space = scenario.search_on(server.partition("-")[0])
    search = search_of(scenario.name, space, known, searches) if searches and space else None
    return is_known(known, [one.name for one in asked], pace.piece_seconds, search, of, scenario.damage)


def is_left(
    folder: Path, scenario: str, server: str, drawn: Mapping[tuple[str, str], Collection[str]], pace: Pace
) -> bool:
    """Whether a change is not known yet that was drawn of this scenario on this server."""
    known = Record(folder, server, scenario).lines()
    keys = drawn.get((scenario, server), ())
    return any(pieces_left(one, known, pace.piece_seconds, keys) for one in advice_of(known).values())


def paced(
    waiting: Sequence[tuple[Scenario, str]], pace: Pace, budget: float | None
) -> Iterator[tuple[Scenario, str, Pace]]:
    """Each with its share of the time that is left; those that the time is over for are not begun."""
    end = float("inf") if budget is None else time.monotonic() + budget
    for number, (scenario, server) in enumerate(waiting):
        now = time.monotonic()
        if now >= end:
            return
        share = (end - now) / (len(waiting) - number)
        yield scenario, server, Pace(pace.run_seconds, pace.loaded_seconds, pace.piece_seconds, now + share)


@click.command()
@click.option("--only", multiple=True, metavar="SCENARIO", help="This scenario alone (may be repeated).")
@click.option("--server", "servers", multiple=True, type=click.Choice(FETCHED_SERVERS), help="On this server alone.")
@click.option("--budget", type=click.FloatRange(1), metavar="MINUTES", help="Begin nothing more after so many minutes.")
@click.option("--short", is_flag=True, help="The twelve scenarios that are marked so, in about 10 minutes.")
@click.option(
    "--search",
    "searches",
    is_flag=False,
    flag_value=200,
    default=0,
    type=click.IntRange(0),
    help="Look for the best configuration, among so many [200].",
)
@click.option(
    "--of",
    multiple=True,
    metavar="ADVISER",
    help=f"Measure what this one proposes, and no other's (may be repeated; {NOBODY}: only ask).",
)
@click.option(
    "--sample",
    "sampled",
    metavar="N",
    type=click.IntRange(1),
    help=f"Measure so many changes of each adviser but {OURS}, drawn at random from all that it proposed, and nothing else.",
)
@click.option(
    "--ask-again",
    is_flag=True,
    help="Ask the advisers anew (with --of: these alone); what was measured of changes stays.",
)
@click.option(
    "--again",
    is_flag=True,
    help=f"Measure again the changes of {OURS} that were clear on another kind of processor and were not measured on this one, and nothing else.",
)
@click.option(
    "--keep",
    default=RESULTS,
    type=click.Path(path_type=Path, file_okay=False),
    show_default=True,
    help="Folder for the results.",
)
def main(
    only: tuple[str, ...], servers: tuple[str, ...], budget: float | None, short: bool, searches: int, of: tuple[str, ...], sampled: int | None,
    ask_again: bool, again: bool, keep: Path,
) -> None:  # fmt: skip
    """Measure what is not known yet, and say what came of it."""
    keep_place()
    try:
        wanted, asked = chosen(only, servers, short=short), advisers()
        pace, grace = (SHORT_PACE, SHORT_GRACE_SECONDS) if short else (Pace(), float("inf"))
        if wrong := sorted({*of} - {one.name for one in asked} - {NOBODY}):
            raise UserError(
                f"there is no adviser {', '.join(wrong)} here: there are {', '.join(one.name for one in asked)}."
            )
        whose = frozenset(of) or None
        here, drawn = machine_name() if again else None, None
        waiting = [one for one in wanted if ask_again or not is_whole(keep, *one, asked, pace, searches, whose)]
        if here:
            drawn = wanted_again(known_cases(all_scenarios(), keep), OURS, here)
            waiting = [(one, server) for one, server in wanted if (one.name, server) in drawn]
        elif sampled:
            drawn = sample.wanted(known_cases(all_scenarios(), keep), sampled, OURS)
            waiting = [(one, server) for one, server in waiting if is_left(keep, one.name, server, drawn, pace)]
        if len(waiting) < len(wanted):
            click.echo(f"{len(wanted) - len(waiting)} of {len(wanted)} are known already", err=True)
        seconds = budget * 60 if budget else SHORT_SECONDS if short else None
        with only_one():
            be_polite()
            for scenario, server, own in paced(waiting, pace, seconds):
                click.echo(f"{scenario.name} on {server}", err=True)
                keys = drawn[scenario.name, server] if drawn is not None else None
                _done(scenario, server, asked, Run(keep, own, searches, ask_again, whose, keys, here, grace))
    except (TrialError, UserError) as error:
        click.echo(f"bench: {error}", err=True)
        sys.exit(2)
    click.echo(summary(keep))


def _done(scenario: Scenario, server: str, asked: Sequence[Adviser], run: Run) -> None:
    """One that cannot be had does not end the others: why is kept, once."""
    try:
        do_scenario(scenario, server, asked, run)
    except TrialError as error:
        record = Record(run.folder, server, scenario.name)
        why = str(error)[:500]
        click.echo(f"  {why}", err=True)
        if not any(line["why"] == why for line in of_kind(record.lines(), SKIPPED)):
            record.keep({"kind": SKIPPED, "why": why, "taken_at": time.strftime("%Y-%m-%d"), "machine": machine_name()})


def summary(folder: Path) -> str:
    """How many changes came out how."""
    with contextlib.suppress(OSError):
        counts = Counter(
            line["outcome"] for record in all_records(folder) for line in of_kind(record.lines(), MEASURED)
        )
        return f"{counts.total()} changes: " + ", ".join(f"{name} {counts[name]}" for name in OUTCOMES)
    return "nothing is known yet"


if __name__ == "__main__":
    main()
