"""Every experiment, small, on every server at hand; what was published beside what was measured. Run by `script/bench evidence`.

Writes two files: docs/reference/evidence.md for people, rules/evidence.json for the findings that quote it.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from benchmarks.rebuild_rates import rebuild_rates
from myisam_advisor.cli.progress import trial_progress
from myisam_advisor.errors import TrialError
from myisam_advisor.texts.templates import size
from myisam_advisor.texts.whole_files import write_whole
from myisam_advisor.trial.bench import TrialOptions
from myisam_advisor.trial.comparison import Comparison, median_of
from myisam_advisor.trial.experiments.base import Experiment, experiment_named, experiment_names
from myisam_advisor.trial.private.apart import apart, as_other
from myisam_advisor.trial.private.binaries import ServerBinaries, ServerChoice, as_document, from_document
from myisam_advisor.trial.private.machine import usable_cores
from myisam_advisor.trial.report import client_share
from myisam_advisor.trial.results import TrialResult, WorkloadResult
from myisam_advisor.trial.task import Task, do_task, run_task
from myisam_exporter.errors import UserError
from myisam_exporter.version import __version__
from tools.fetched_servers import FETCHED_SERVERS, find_installed_mariadb, find_server, keep_place

# Server, statement, bytes a second.
Rates = Mapping[str, Mapping[str, float]]
SMALL = TrialOptions(seconds=0.8, budget_seconds=180.0)
# Sixty-four workloads: shorter runs, so that the whole stays within minutes. An index more is a difference of a few tenths: more rounds.
SMALLER = {
    "mmap": TrialOptions(seconds=0.4, budget_seconds=300.0),
    "drop-index": TrialOptions(seconds=0.4, budget_seconds=180.0),
}
PAGE, DATA = Path("docs/reference/evidence.md"), Path("rules/evidence.json")
COMMAND = "script/bench evidence"


def run_published(servers: Sequence[str]) -> None:
    """Run everything and write the two files. Raises TrialError when there is no server at all."""
    chosen = [_resolved(name) for name in servers] or _at_hand()
    results: list[TrialResult] = []
    rates = {binaries.name: rebuild_rates(binaries) for binaries in chosen}
    for name in experiment_names():
        experiment = experiment_named(name)
        for binaries in chosen if experiment.needs_server else [None]:
            results.append(_run(name, binaries))
            _write(results, rates)
    click.echo(f"written: {PAGE} and {DATA}")


def run_again(names: Sequence[str]) -> None:
    """Run these experiments on the servers at hand, and put what they give in the place of what both files had of them."""
    page, known, servers = _read(PAGE), _known(), _at_hand()
    for name in names:
        experiment = experiment_named(name)
        results = [_run(name, one) for one in (servers if experiment.needs_server else [None])]
        others = [entry for entry in known["measured"] if entry["experiment"] != name]
        order = experiment_names().index
        known["measured"] = sorted([*others, *_entries(results)], key=lambda entry: order(entry["experiment"]))
        lines = [*_section(name, experiment, results)[:-1], *_again(results), ""]
        page = with_section(page, experiment.title, lines)
        _put(page, known)
    click.echo(f"written into {PAGE} and {DATA}: {', '.join(names)}")


def _read(path: Path) -> str:
    """What stands there, before hours are spent on measuring. Raises TrialError, which names the file."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no UTF-8"
        raise TrialError(
            f"{path} cannot be read: {why}. script/bench evidence without a name makes both files."
        ) from None


def _known() -> Any:
    """What the file of the findings holds. Raises TrialError, which names it."""
    try:
        return json.loads(_read(DATA))
    except ValueError as error:
        raise TrialError(f"{DATA} is no JSON: {error}. script/bench evidence without a name makes it anew.") from None


def _again(results: Sequence[TrialResult]) -> list[str]:
    """What is not as the head of the page says."""
    return [f"- Measured again on {results[0].taken_at[:10]} (version {__version__}): {results[0].machine}."]


def with_section(page: str, title: str, lines: Sequence[str]) -> str:
    """The page with this section in the place of the one of the same title, or where it belongs by the order of the experiments."""
    head, *parts = re.split(r"^(?=## )", page, flags=re.MULTILINE)
    titles = [f"## {experiment_named(name).title}" for name in experiment_names()]
    sections = {part.partition("\n")[0]: part for part in parts} | {f"## {title}": "\n".join(lines) + "\n"}
    last = len(titles)  # how fast tables are rebuilt
    return head + "".join(
        sections[one] for one in sorted(sections, key=lambda one: titles.index(one) if one in titles else last)
    )


def _at_hand() -> list[ServerBinaries]:
    found = [binaries for name in FETCHED_SERVERS if (binaries := find_server(name))]
    installed = find_installed_mariadb()
    if not found and installed is None:
        raise TrialError("no server program found: name one: script/bench evidence /usr/sbin/mariadbd.")
    return found or [one for one in (installed,) if one]


def _run(name: str, binaries: ServerBinaries | None) -> TrialResult:
    options = SMALLER.get(name, SMALL)
    click.echo(f"{name}{f' on {binaries.name}' if binaries else ''} ...", err=True)
    task = Task(name, options, ServerChoice(known=binaries) if binaries else None)
    with apart(do_task) as place, trial_progress(options.budget_seconds) as listener:
        return run_task(place, task, listener)


def _resolved(name: str) -> ServerBinaries:
    """A server that was named, asked for its version by somebody who matters less than we do."""
    known = find_server(name) if name in FETCHED_SERVERS else None
    choice = ServerChoice(known=known) if known else ServerChoice.named(name)
    return from_document(as_other(lambda _channel: as_document(choice.binaries())))


def _write(results: Sequence[TrialResult], rates: Rates) -> None:
    """Both files, after each experiment: what was measured is not lost when a later one fails."""
    _put(evidence_page(results, rates), evidence_data(results, rates))


def _put(page: str, data: Mapping[str, Any]) -> None:
    """Each file whole, or as it was. Raises UserError, which names the one that cannot be written."""
    for path, text in ((PAGE, page), (DATA, json.dumps(data, indent=1) + "\n")):
        write_whole(path, text, "Make room for it, or mend its rights; then run this again.")


def evidence_data(results: Sequence[TrialResult], rates: Rates) -> dict[str, Any]:
    """What findings quote: each comparison with its ratio and interval, by experiment, workload, variant and server."""
    return {
        "version": __version__,
        "command": COMMAND,
        "machine": results[0].machine,
        "taken_at": results[0].taken_at[:10],
        "cores": usable_cores(),
        "servers": {
            result.binaries: {
                "flavour": result.server.lower(),
                "version": short_version(result.version),
                "rebuild_bytes_per_second": {name: round(rate) for name, rate in rates[result.binaries].items()},
            }
            for result in results
            if result.server
        },
        "measured": _entries(results),
    }


def _entries(results: Sequence[TrialResult]) -> list[dict[str, Any]]:
    """Each with what may differ where it is measured again: day, cores, version. Files of before have these of all together alone."""
    return [
        {
            "experiment": result.experiment,
            "server": result.binaries,
            "workload": workload.name,
            "variant": one.variant,
            "baseline": workload.baseline,
            "ratio": _rounded(one.ratio),
            "low": None if one.low is None else _rounded(one.low),
            "high": None if one.high is None else _rounded(one.high),
            "verdict": one.verdict,
            "taken_at": result.taken_at[:10],
            "cores": usable_cores(),
            "server_version": short_version(result.version) if result.server else "",
        }
        for result in results
        for workload in result.workloads
        for one in workload.comparisons
    ]


def short_version(version: str) -> str:
    """Without what a distribution adds: 10.11.19-MariaDB-0+deb12u1 is 10.11.19."""
    return version.partition("-")[0]


def _rounded(value: float) -> float:
    return round(value, 3) if value < 100 else round(value)


def evidence_page(results: Sequence[TrialResult], rates: Rates) -> str:
    """Published figure beside measured ratio, a column for each server version; then every comparison."""
    first = results[0]
    lines = [
        "# Evidence",
        "",
        f"Written by `{COMMAND}` (version {__version__}) on {first.taken_at[:10]}: {first.machine}.",
        "",
        "Each figure is the ratio of rates to the baseline's, round by round, above 1 is faster, with its 95 % interval; [variants alternate](../decisions/036-verdicts.md).",
        "Absolute rates are left out on purpose: machines differ. What was published elsewhere is quoted as it stands in its source; versions, hardware and data differ from",
        "those of here, so a difference refutes nobody. Tables are made up: your own may behave otherwise, which is what `myisam-advisor trial --table` is for.",
        "",
    ]
    by_name: dict[str, list[TrialResult]] = {}
    for result in results:
        by_name.setdefault(result.experiment, []).append(result)
    for name, of_one in by_name.items():
        lines += _section(name, experiment_named(name), of_one)
    lines += _rates_section(rates, {result.binaries: short_version(result.version) for result in results})
    return "\n".join(lines).rstrip() + "\n"


def _rates_section(rates: Rates, versions: Mapping[str, str]) -> list[str]:
    """Of servers on which no experiment has run yet the versions are not known."""
    named = {server: f"{server} ({versions[server]})" if server in versions else server for server in rates}
    statements = list(dict.fromkeys(statement for of_one in rates.values() for statement in of_one))
    lines = [
        "## How fast tables are rebuilt",
        "",
        "Data and index bytes a second, everything in the page cache: a slow disk takes longer. `plan` estimates from these.",
        "",
    ]
    lines += [f"| server | {' | '.join(statements)} |", f"|---|{'---|' * len(statements)}"]
    return lines + [
        f"| {named[server]} | {' | '.join(f'{size(of_one[name])}/s' for name in statements)} |"
        for server, of_one in rates.items()
    ]


def _section(name: str, experiment: Experiment, results: Sequence[TrialResult]) -> list[str]:
    published = {(one.workload, one.variant): f"{one.figure}; {one.source}" for one in experiment.published}
    servers = [f"{result.server} {short_version(result.version)}".strip() or "this machine" for result in results]
    lines = [f"## {experiment.title}", "", f"`myisam-advisor trial {name}`", ""]
    lines += [f"| workload | variant | published | {' | '.join(servers)} |", f"|---|---|---|{'---|' * len(servers)}"]
    for workload, variant in _rows(results):
        cells = [_cell(result, workload, variant) for result in results]
        lines.append(f"| {workload} | {variant} | {published.get((workload, variant), '')} | {' | '.join(cells)} |")
    baseline = next((workload.baseline for result in results for workload in result.workloads), "")
    lines += ["", f"Baseline: {baseline}{_other_baselines(results, baseline)}.", ""]
    for result, server in zip(results, servers, strict=True):
        settings = f" Settings: `{' '.join(result.settings)}`." if result.settings else ""
        lines.append(f"- {server}: {result.conclusion}{settings}{_client(result)}")
    skipped: Mapping[str, str] = {what: why for result in results for what, why in result.skipped.items()}
    notes = dict.fromkeys(workload.note for result in results for workload in result.workloads if workload.note)
    lines += [f"- Not run: {what} ({why})." for what, why in skipped.items()]
    return [*lines, *(f"- {note[0].upper()}{note[1:]}." for note in notes), ""]


def _rows(results: Sequence[TrialResult]) -> list[tuple[str, str]]:
    """Workload and variant in the order they were run, of whichever server has them."""
    found = {
        (workload.name, one.variant): None
        for result in results
        for workload in result.workloads
        for one in workload.comparisons
    }
    order = list(dict.fromkeys(workload for workload, _ in found))
    return sorted(found, key=lambda pair: order.index(pair[0]))


def _cell(result: TrialResult, workload: str, variant: str) -> str:
    one = _comparison(result.workloads, workload, variant)
    if one is None:
        return "-"
    return _figure(one.ratio) + (f" ({_figure(one.interval[0])} - {_figure(one.interval[1])})" if one.interval else "")


def _comparison(workloads: Sequence[WorkloadResult], name: str, variant: str) -> Comparison | None:
    return next(
        (
            one
            for workload in workloads
            if workload.name == name
            for one in workload.comparisons
            if one.variant == variant
        ),
        None,
    )


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def _other_baselines(results: Sequence[TrialResult], first: str) -> str:
    others = {
        workload.name: workload.baseline
        for result in results
        for workload in result.workloads
        if workload.baseline != first
    }
    return "".join(f"; {name}: {baseline}" for name, baseline in others.items())


def _client(result: TrialResult) -> str:
    shares = [share for workload in result.workloads if (share := client_share(workload)) is not None]
    switches = _switches(result)
    client = f" The client took {min(shares):.0%} to {max(shares):.0%} of the CPU time." if shares else ""
    return client + switches


def _switches(result: TrialResult) -> str:
    """What became of the context switches where the key cache is divided: the published case tells of them."""
    if result.experiment != "key-cache":
        return ""
    said = []
    for workload in result.workloads:
        before = median_of(workload.runs[workload.baseline], "voluntary_switches")
        after = median_of(list(workload.runs.values())[-1], "voluntary_switches")
        if before and after:
            said.append(f"{workload.name} {after / before:.2f}")
    return (
        f" Voluntary context switches a row with {list(result.workloads[0].runs)[-1]}: {', '.join(said)} times."
        if said
        else ""
    )


def main() -> int:
    """Run everything on the servers named on the command line (a path, or what script/servers fetched), else on all at hand.

    Names of experiments instead run these alone, on all at hand.
    """
    from myisam_advisor.trial.private.machine import be_polite, only_one

    keep_place()
    words = sys.argv[1:]
    try:
        with only_one():
            be_polite()
            if words and set(words) <= set(experiment_names()):
                run_again(words)
            else:
                run_published(words)
    except UserError as error:
        click.echo(f"bench: {error}", err=True)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
