"""How often the seconds that `migrate` tells hold, and what its pieces of work take: `script/bench migrate times`.

Each table of real applications is filled and converted as `script/bench migrate` does it, and the ALTER is timed. Then every one of them is taken for
the one that `trial engine` measured, and the others' times are told by it; and each is told by all the others: by pieces that were fitted without
the tables that are told. Every ALTER is written down at once (benchmarks/migration_times.jsonl): a run that was ended goes on where it was. Times
want a machine that does nothing else. `--fit` prints the seconds of the pieces, by all tables, for catalogue/copy_work.py.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import click

from benchmarks.kept_lines import keep_line, kept_lines
from benchmarks.migrations import PLACES, PRODUCTS, Case, chosen_tables, outcomes
from myisam_advisor.catalogue.conversions import LEAST_SECONDS, LEAST_SPREAD, Conversion
from myisam_advisor.catalogue.copy_work import (
    ARIA,
    NUMBERS,
    ONCE_SECONDS,
    PART_WORDS,
    SECONDS,
    SORTED,
    TEXTS,
    WORDS,
    pieces,
)
from myisam_advisor.trial.private.apart import apart
from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.channel import Channel
from myisam_advisor.trial.typed_documents import made
from tests.support.applications import applications
from tools.fetched_servers import FETCHED_SERVERS, FURTHER_SERVERS, find_server

RECORD = Path("benchmarks/migration_times.jsonl")
SERVERS = (*FETCHED_SERVERS, *FURTHER_SERVERS)
TIMES, ROUNDS, FOLDS = 4, 3000, 5
LARGE_BYTES, TIMES_OF_LARGE = 2e8, 2  # long ALTERs differ less
OF_SIZE = " of "
POOL_BYTES = 512 << 20  # benchmarks/migrations.py, OPTIONS


def measure(names: Sequence[str], cases: Sequence[Case], goal: float | None) -> None:
    """Convert what is not in the record yet, and write each ALTER down."""
    known = {(one.server_version, one.table) for one in recorded()}
    for name in names:
        binaries = find_server(name)
        version = name.partition("-")[2]
        # Sets overlap: a table of two of them is measured once.
        left = {_label(case, goal): case for case in cases if (version, _label(case, goal)) not in known}
        if binaries is None:
            continue
        for case in left.values():
            _one(binaries, case, goal)


def recorded() -> list[Conversion]:
    """What was measured so far."""
    return [made(Conversion, line) for line in kept_lines(RECORD)]


def _label(case: Case, goal: float | None) -> str:
    """The same table of another size is another one."""
    return f"{case[0]}.{case[1]['name']}{f'{OF_SIZE}{goal / 1e6:.0f} MB' if goal else ''}"


def _one(binaries: ServerBinaries, case: Case, goal: float | None) -> None:
    def work(channel: Channel) -> None:
        for one in outcomes(binaries, [case], goal, TIMES_OF_LARGE if (goal or 0) >= LARGE_BYTES else TIMES):
            flavour, _, version = one.server.partition("-")
            found = Conversion(
                PRODUCTS[flavour], version, one.engine, one.way, round(one.seconds, 3), one.work, one.bytes_after, round(time.time()),
                _label(case, goal),
            )  # fmt: skip
            channel.send({"conversion": asdict(found), "size_error": one.error})

    def note(message: Mapping[str, Any]) -> None:
        keep_line(RECORD, message["conversion"])
        one = made(Conversion, message["conversion"])
        print(
            f"{binaries.name} {one.engine} {one.table}: {one.work.total_bytes / 1e6:.0f} MB in {one.seconds:.2f} s, "
            f"{one.times_reference:.2f} times the pieces; size told {message['size_error']:+.1%}",
            flush=True,
        )

    with apart(work) as place:
        place.result(note)


def times_of_reference(conversions: Sequence[Conversion]) -> dict[Conversion, float]:
    """How many times as long each lasted as the pieces say that were fitted on other tables: in FOLDS parts, each told by the rest."""
    names = sorted({one.table.partition(OF_SIZE)[0] for one in conversions})
    found: dict[Conversion, float] = {}
    for fold in range(FOLDS):
        own = set(names[fold::FOLDS])
        left = [one for one in conversions if one.table.partition(OF_SIZE)[0] not in own]
        for way in dict.fromkeys(one.way for one in conversions):
            seconds = fitted(left, way)
            for one in conversions:
                if one.way == way and one.table.partition(OF_SIZE)[0] in own:
                    found[one] = one.seconds / _total(seconds, pieces(one.work, way))
    return found


def _total(seconds: Mapping[str, float], counts: Mapping[str, float]) -> float:
    return ONCE_SECONDS + sum(seconds.get(name, 0.0) * count for name, count in counts.items())


def table_of(conversions: Sequence[Conversion]) -> Iterator[str]:
    """The lines of a table for docs/guide/migrate-measured.md."""
    yield "| server | to | tables | smallest, largest | predicted from | cases | within 30 % | within 50 % | median error |"
    yield "|---|---|---|---|---|---|---|---|---|"
    counting = list(filter(_is_told, conversions))
    times = times_of_reference(counting)
    for kind in dict.fromkeys(map(_kind, counting)):
        of = [one for one in counting if _kind(one) == kind]
        sizes = sorted(one.work.total_bytes / 1e6 for one in of)
        # By what was measured on the same day: another day's machine is another one.
        others = {
            one: [times[other] for other in of if other.table != one.table and _day(other) == _day(one)] for one in of
        }
        by_one = [abs(time / times[one] - 1) for one in of for time in others[one]]
        by_all = [abs(median(others[one]) / times[one] - 1) for one in of if others[one]]
        for name, off in (("one other", by_one), ("all others", by_all)):
            if off:
                within = " | ".join(f"{sum(one <= most for one in off) / len(off):.0%}" for most in (LEAST_SPREAD, 0.5))
                yield f"| {kind[0]} {kind[1]} | {kind[2]} | {len(of)} | {sizes[0]:.0f} to {sizes[-1]:.0f} MB | {name} | {len(off)} | {within} | {median(off):.0%} |"


def _kind(one: Conversion) -> tuple[str, str, str]:
    return one.server_product, one.server_version, f"{one.engine}, with FULLTEXT" if one.work.word_bytes else one.engine


def fitted(conversions: Sequence[Conversion], way: str) -> dict[str, float]:
    """The seconds of each piece that come nearest to what was measured, by relative errors; none is below zero.

    Servers that copy in one way differ by a factor, which is none of the pieces', and so do machines: each server's seconds of a day are
    taken by their own middle. What words take is what FULLTEXT tables take above the rest.
    """
    of = [one for one in conversions if one.way == way and _is_told(one)]
    plain = [one for one in of if not one.work.word_bytes]
    names = [name for name in pieces(of[0].work, way) if name not in (WORDS, PART_WORDS)]
    found = dict.fromkeys(names, 0.0) | {"row": 1e-6}
    factors: dict[str, float] = {}
    for _ in range(4):
        factors = _factors(plain, way, found)
        rows = [
            [pieces(one.work, way)[name] * factors[_server(one)] / (one.seconds - ONCE_SECONDS) for name in names]
            for one in plain
        ]
        found = dict(zip(names, _least_squares(rows), strict=True))
    with_words = [one for one in of if one.work.word_bytes and _server(one) in factors]
    above = {
        one: max(one.seconds / factors[_server(one)] - _total(found, pieces(one.work, way)), 0.0) for one in with_words
    }
    of_bytes = [seconds / one.work.word_bytes for one, seconds in above.items()]
    of_parts = [seconds / one.work.part_words for one, seconds in above.items() if one.work.part_words]
    found |= {name: median(each) for name, each in ((WORDS, of_bytes), (PART_WORDS, of_parts)) if each}
    return {name: seconds for name, seconds in found.items() if seconds > 0}


def _is_told(one: Conversion) -> bool:
    """Whether `migrate` tells both ends: rows that are put one by one where keys belong have to fit the buffer pool (migrate/times.py)."""
    work = one.work
    by_key = work.clustered in (NUMBERS, TEXTS) and one.bytes_after > POOL_BYTES
    return one.counts and (one.way in (SORTED, ARIA) or not (by_key or work.index_bytes > POOL_BYTES))


def _server(one: Conversion) -> str:
    """The server, and the day: another day's machine may be another one, with a factor of its own."""
    return f"{one.server_product} {one.server_version} {_day(one)}"


def _day(one: Conversion) -> int:
    return int(one.taken_at // 86_400)


def _factors(of: Sequence[Conversion], way: str, found: Mapping[str, float]) -> dict[str, float]:
    times: dict[str, list[float]] = {}
    for one in of:
        times.setdefault(_server(one), []).append(one.seconds / _total(found, pieces(one.work, way)))
    own = {name: median(values) for name, values in times.items()}
    middle = median(own.values())
    return {name: value / middle for name, value in own.items()}


def _least_squares(rows: Sequence[Sequence[float]]) -> list[float]:
    """The numbers, none below zero, with which each row sums up to nearest to one: coordinate by coordinate. What is far off counts less."""
    width = len(rows[0])
    weights = [1.0] * len(rows)
    found = [0.0] * width
    for _ in range(4):
        gram = [
            [sum(w * row[i] * row[j] for w, row in zip(weights, rows, strict=True)) for j in range(width)]
            for i in range(width)
        ]
        sums = [sum(w * row[i] for w, row in zip(weights, rows, strict=True)) for i in range(width)]
        for _ in range(ROUNDS):
            for i in range(width):
                if gram[i][i]:
                    off = sums[i] - sum(g * x for g, x in zip(gram[i], found, strict=True))
                    found[i] = max(0.0, found[i] + off / gram[i][i])
        errors = [abs(sum(v * x for v, x in zip(row, found, strict=True)) - 1) for row in rows]
        weights = [min(1.0, LEAST_SPREAD / max(error, 1e-9)) for error in errors]
    return found


@click.command()
@click.argument("names", nargs=-1, metavar="[SERVER]...")
@click.option("--tables", "most", type=click.IntRange(1), help="No more tables than this of each server.")
@click.option("--bytes", "goal", type=click.FloatRange(1e6), help="So large, each of them.")
@click.option("--fit", is_flag=True, help="Measure nothing; print the pieces' seconds.")
def main(names: tuple[str, ...], most: int | None, goal: float | None, fit: bool) -> None:
    """Measure what is left, then say how often the seconds hold."""
    if unknown := [name for name in names if name not in SERVERS]:
        raise click.UsageError(f"{unknown[0]} is no server; there are {', '.join(SERVERS)}.")
    if fit:
        for way in SECONDS:
            inner = ", ".join(f'"{name}": {seconds:.3g}' for name, seconds in fitted(recorded(), way).items())
            print(f"    {way!r}: {{{inner}}},")
        return
    if not applications():
        raise click.UsageError("../shared/schemas is not there: the structures of real applications.")
    measure(names or list(FETCHED_SERVERS), [case for which in PLACES for case in chosen_tables(which)][:most], goal)
    found = recorded()
    print(*table_of(found), sep="\n")
    if short := sum(not one.counts for one in found):
        print(
            f"\n{short} ALTERs took less than {LEAST_SECONDS} s, which tells no rate: --bytes makes tables larger.",
            file=sys.stderr,
        )


if __name__ == "__main__":
    main()
