"""How often the seconds that `migrate` tells hold, with rates learnt from one table: `script/bench migrate times`.

Each table of real applications is filled and converted as `script/bench migrate` does it, and the ALTER is timed. Then every one of them is taken for
the one that `trial engine` measured, and the others' times are told by it; and each is told by all the others. Every ALTER is written down at
once (benchmarks/migration_times.jsonl): a run that was ended goes on where it was. Times want a machine that does nothing else.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.kept_lines import keep_line, kept_lines
from benchmarks.migrations import Case, chosen_tables, outcomes
from myisam_advisor.catalogue.conversions import LEAST_SECONDS, Conversion, Rates
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from tests.support.applications import applications
from tools.fetched_servers import FETCHED_SERVERS, find_server

RECORD = Path("benchmarks/migration_times.jsonl")
PRODUCTS = {"mariadb": "MariaDB", "mysql": "MySQL"}


def measure(names: Sequence[str], cases: Sequence[Case], goal: float | None) -> None:
    """Convert what is not in the record yet, and write each ALTER down."""
    known = {(one.server_version, one.table) for one in recorded()}
    for name in names:
        binaries = find_server(name)
        version = name.partition("-")[2]
        left = [case for case in cases if (version, _label(case)) not in known]
        if binaries is None or not left:
            continue
        for case in left:
            _one(binaries, case, goal)


def recorded() -> list[Conversion]:
    """What was measured so far."""
    return [Conversion(**line) for line in kept_lines(RECORD)]


def _label(case: Case) -> str:
    return f"{case[0]}.{case[1]['name']}"


def _one(binaries: ServerBinaries, case: Case, goal: float | None) -> None:
    def work(channel: Channel) -> None:
        for one in outcomes(binaries, [case], goal):
            flavour, _, version = one.server.partition("-")
            found = Conversion(
                PRODUCTS[flavour], version, one.engine, one.row_format, one.seconds, one.bytes_before, one.bytes_after, one.data_bytes,
                one.bytes_before - one.data_bytes, time.time(), one.table,
            )  # fmt: skip
            channel.send({"conversion": asdict(found)})

    def note(message: Mapping[str, Any]) -> None:
        keep_line(RECORD, message["conversion"])
        one = Conversion(**message["conversion"])
        print(
            f"{binaries.name} {one.engine} {one.table}: {one.bytes_before / 1e6:.0f} MB in {one.seconds:.2f} s",
            flush=True,
        )

    with apart(work) as place:
        place.result(note)


def told(learnt: Sequence[Conversion], one: Conversion) -> tuple[float, float] | None:
    """Between which times a table is told to be converted, by what was measured of others."""
    rate = Rates(tuple(learnt)).rate_for(
        one.server_product, one.server_version, one.engine, one.row_format, one.taken_at
    )
    return None if rate is None else rate.seconds(one.data_bytes, one.index_bytes)


def held(pairs: Iterable[tuple[Sequence[Conversion], Conversion]]) -> list[tuple[bool, float]]:
    """Of each table with what its time is told by: whether the truth lies between the ends, and by what its middle is wrong."""
    found = []
    for learnt, one in pairs:
        ends = told(learnt, one)
        if ends is not None:
            found.append((ends[0] <= one.seconds <= ends[1], abs(sum(ends) / 2 / one.seconds - 1)))
    return found


def table_of(conversions: Sequence[Conversion]) -> Iterator[str]:
    """The lines of a table for docs/guide/migrate.md."""
    yield "| server | to | tables | told by | of so many | truth between the ends | middle within 30 % | middle wrong by, median |"
    yield "|---|---|---|---|---|---|---|---|"
    kinds = dict.fromkeys((one.server_product, one.server_version, one.engine) for one in conversions)
    for kind in kinds:
        of = [one for one in conversions if (one.server_product, one.server_version, one.engine) == kind and one.counts]
        by_one = held(([other], one) for one in of for other in of if other is not one)
        by_all = held(([other for other in of if other is not one], one) for one in of)
        for name, found in (("one other", by_one), ("all others", by_all)):
            if found:
                between, near = sum(fits for fits, _ in found), sum(off <= 0.3 for _, off in found)
                yield f"| {kind[0]} {kind[1]} | {kind[2]} | {len(of)} | {name} | {len(found)} | {between} | {near} | {median(off for _, off in found):.0%} |"


@click.command()
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--tables", "most", type=click.IntRange(1), help="No more tables than this of each server.")
@click.option("--bytes", "goal", type=click.FloatRange(1e6), help="So large, each of them.")
@click.option("--again", is_flag=True, help="Forget what was measured.")
def main(names: tuple[str, ...], most: int | None, goal: float | None, again: bool) -> None:
    """Measure what is left, then say how often the seconds hold."""
    if unknown := [name for name in names if name not in FETCHED_SERVERS]:
        raise click.UsageError(f"{unknown[0]} is no server; there are {', '.join(FETCHED_SERVERS)}.")
    if not applications():
        raise click.UsageError("../shared/schemas is not there: the structures of real applications.")
    if again:
        RECORD.unlink(missing_ok=True)
    measure(names or list(FETCHED_SERVERS), chosen_tables("others")[:most], goal)
    found = recorded()
    print(*table_of(found), sep="\n")
    if short := sum(not one.counts for one in found):
        print(
            f"\n{short} ALTERs took less than {LEAST_SECONDS} s, which tells no rate: --bytes makes tables larger.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
