"""What a trial found, for a person and as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import TextIO

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from myisam_advisor.proofs.proof import STYLES, WORSE, WORTH_IT
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.templates import figure, percent, printable
from myisam_advisor.trial.comparison import Comparison, Run, median_of
from myisam_advisor.trial.experiments.base import Experiment
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.rounds import BUDGET, CLEAR, ROUNDS, Course
from myisam_exporter.declaring.lean_dataclasses import dataclass

# What is not chosen for its speed alone, another engine or version, is faster or slower, and not worth it or worse.
SPEEDS = {WORTH_IT: "faster", WORSE: "slower"}
SHOWN_KIND_CHARACTERS = 300
PIPED_WIDTH, MAXIMUM_WIDTH, UNBOUNDED_WIDTH = 120, 140, 1000
INTERVAL = "95 % interval"
# Whether a table has the counts of the process, how many blanks it has beside its lines, and whether an interval stands in one line.
FORMS = ((True, 1, True), (False, 1, True), (False, 0, True), (False, 0, False))
# Of what there are many a second, counts are told for a thousand.
MANY = ("rows", "keys", "records")
THOUSAND = 1000
COUNTS = {
    "voluntary_switches": "switches", "minor_faults": "minor faults", "major_faults": "major faults", "read_calls": "read calls",
}  # fmt: skip
CLIENT_SHARE_LIMIT = 0.4
ENDED = {CLEAR: " until it was clear", BUDGET: ", ended by the budget", ROUNDS: ""}


def as_text(experiment: Experiment, result: TrialResult, reader: TextIO | None = None) -> str:
    """The report for a person, for the stream `reader` (None: a file), with the last line break."""
    text = drawn(_parts(experiment, result), reader, piped_width=PIPED_WIDTH, maximum_width=MAXIMUM_WIDTH)
    return text if is_terminal(reader) else without_padding(text)


def _parts(experiment: Experiment, result: TrialResult) -> Iterable[RenderableType]:
    yield Text(printable(result.conclusion), style="bold")
    yield Text(f"Trial {result.experiment}: {experiment.title}")
    server = f"{result.server} {result.version}, " if result.server else ""
    yield Text(printable(f"{server}{result.machine}; tables: {result.tables}"))
    for workload in result.workloads:
        yield Text()
        yield _Fitting(workload)
        for note in (workload.note, course_line(workload.course)):
            if note:
                yield Text(printable(f"  {note}"), style="dim")
    for name, why in result.skipped.items():
        yield Text(printable(f"Not run: {name} ({why})"), style="dim")
    yield Text()
    for line in (*noise_lines(result), *client_lines(result)):
        yield Text(printable(line))


@dataclass(frozen=True, slots=True)
class _Fitting:
    """A workload's table as it fits the width, so that no number is cut: counts of the process go first, then the blanks beside the lines, at last whole intervals."""

    workload: WorkloadResult

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The first form that fits; where none does, numbers are cut."""
        wide = options.update(max_width=UNBOUNDED_WIDTH)
        for shows_counts, padding, has_whole_intervals in FORMS:
            table = _table(self.workload, shows_counts, padding)
            if Measurement.get(console, wide, table).maximum <= options.max_width:
                break
            narrow = _table(self.workload, shows_counts, padding)
            _set_narrow(narrow, console, wide, has_whole_intervals)
            if Measurement.get(console, wide, narrow).maximum <= options.max_width:
                table = narrow
                break
        yield table


def _set_narrow(table: Table, console: Console, options: ConsoleOptions, has_whole_intervals: bool) -> None:
    """Each column as wide as its longest word: left to itself, a table takes the same from all, and cuts words and numbers."""
    for column in table.columns:
        is_whole = has_whole_intervals and column.header == INTERVAL
        cells = [Measurement.get(console, options, cell) for cell in column.cells]
        widths = [cell.maximum if is_whole else cell.minimum for cell in cells]
        column.width = max(Measurement.get(console, options, column.header).minimum, *widths)
        column.no_wrap = False


def _table(workload: WorkloadResult, shows_counts: bool, padding: int) -> Table:
    unit, scale = _singular(workload.unit), THOUSAND if workload.unit in MANY else 1
    per = f"per {scale:,} {workload.unit}" if scale > 1 else f"per {unit}"
    intervals = any(one.interval for one in workload.comparisons)
    counts = [name for name in COUNTS if _any(workload, name)] if shows_counts else []
    figures = sorted({name for runs in workload.runs.values() for run in runs for name in run.figures})
    table = Table(
        title=Text(printable(workload.name)),
        title_justify="left",
        title_style="bold",
        caption=Text(printable(f"counts and CPU {per}")),
        caption_justify="left",
        padding=(0, padding),
    )
    table.add_column("variant", no_wrap=True)
    for title in (
        printable(f"{workload.unit}/s"),
        "times",
        *([INTERVAL] if intervals else []),
        "CPU ms",
        *(COUNTS[name] for name in counts),
        *map(_words, figures),
    ):
        table.add_column(title, justify="right")
    table.add_column("verdict")
    compared = {one.variant: one for one in workload.comparisons}
    for variant, runs in workload.runs.items():
        cpu, one = median_of(runs, "server_cpu_seconds"), compared.get(variant)
        table.add_row(
            Text(printable(variant)),
            figure(median_of(runs, "operations_per_second")),
            f"{one.ratio:.2f}" if one else "1",
            *([_interval(one)] if intervals else []),
            figure(None if cpu is None else cpu * 1000 * scale),
            *(figure(_scaled(median_of(runs, name), scale)) for name in counts),
            *(figure(_figure(runs, name)) for name in figures),
            Text(one.verdict, style=STYLES[one.verdict]) if one else "baseline",
        )
    return table


def _interval(one: Comparison | None) -> str:
    between = one.interval if one else None
    return f"{between[0]:.2f} - {between[1]:.2f}" if between else ""


def course_line(course: Course | None) -> str:
    """How many rounds counted, what ended them, and which did not count."""
    if course is None:
        return ""
    said = [f"{course.rounds} round{'s' if course.rounds > 1 else ''}{ENDED[course.ended_by]}"]
    if course.warm_up_rounds:
        said.append(f"{course.warm_up_rounds} more before the rates had settled")
    if course.is_busy:
        share = "most" if course.others_cpu_share is None else percent(course.others_cpu_share)
        said.append(f"others took {share} of the processors: nothing is concluded")
    elif course.disturbed_rounds:
        said.append(f"{course.disturbed_rounds} more while others had the processors")
    return "; ".join(said)


def noise_lines(result: TrialResult) -> list[str]:
    """How far two equal runs differ on this machine; and what the budget left unclear."""
    courses = [workload.course for workload in result.workloads if workload.course]
    noises = [course.noise for course in courses]
    medians = [noise.median for noise in noises if noise.median is not None]
    lines = []
    if medians:
        worst = max(noise.worst for noise in noises if noise.worst is not None)
        lines.append(
            f"Noise of this machine: two equal runs differ by {percent(statistics.median(medians))} in the median, {percent(worst)} at most."
        )
    unclear = [
        workload.name
        for workload in result.workloads
        if workload.course and workload.course.ended_by == BUDGET and not workload.course.is_busy
    ]
    if unclear:
        lines.append(f"The budget ended these before they were clear (--budget gives them more): {', '.join(unclear)}.")
    return lines


def client_lines(result: TrialResult) -> list[str]:
    """Whether the client could have been what was measured."""
    shares = {workload.name: share for workload in result.workloads if (share := client_share(workload)) is not None}
    if not shares:
        return []
    worst = max(shares, key=lambda name: shares[name])
    span = " to ".join(dict.fromkeys(percent(share) for share in (min(shares.values()), shares[worst])))
    said = f"The client took {span} of the CPU time that client and server took"
    if shares[worst] <= CLIENT_SHARE_LIMIT:
        return [f"{said}: it is not the bottleneck."]
    loud = [name for name, share in shares.items() if share > CLIENT_SHARE_LIMIT]
    return [f"{said}; in {', '.join(loud)} it hides a part of the server's differences."]


def client_share(workload: WorkloadResult) -> float | None:
    """The client's share of the CPU time of a workload that a server took part in; None without one."""
    runs = [run for runs in workload.runs.values() for run in runs]
    served = [run for run in runs if run.server_cpu_seconds and run.client_cpu_seconds is not None]
    if not served:
        return None
    client = sum(run.client_cpu_seconds or 0.0 for run in served)
    return client / (client + sum(run.server_cpu_seconds or 0.0 for run in served))


def as_json(result: TrialResult, further: Mapping[str, object]) -> str:
    """The whole result as one document: every run, the medians, the comparisons; and what else there is to say."""
    document = {
        **heading(),
        **asdict(result),
        "workloads": [
            {
                "name": workload.name,
                "unit": workload.unit,
                "note": workload.note,
                "baseline": workload.baseline,
                "client_cpu_share": client_share(workload),
                "variants": {
                    variant: {
                        "operations_per_second": median_of(runs, "operations_per_second"),
                        "server_cpu_seconds_per_operation": median_of(runs, "server_cpu_seconds"),
                        "runs": [asdict(run) for run in runs],
                    }
                    for variant, runs in workload.runs.items()
                },
                "comparisons": [asdict(one) for one in workload.comparisons],
                "course": asdict(workload.course) if workload.course else None,
            }
            for workload in result.workloads
        ],
        **further,
    }
    return json.dumps(document, indent=1)


def _any(workload: WorkloadResult, name: str) -> bool:
    return any(getattr(run, name) for runs in workload.runs.values() for run in runs)


def _figure(runs: Sequence[Run], name: str) -> float | None:
    figures: Mapping[str, float] = runs[0].figures if runs else {}
    return figures.get(name)


def _scaled(value: float | None, scale: int) -> float | None:
    return None if value is None else value * scale


def _words(name: str) -> str:
    return printable(name.replace("_", " "))


def _singular(unit: str) -> str:
    return {"queries": "query"}.get(unit, unit.removesuffix("s"))
