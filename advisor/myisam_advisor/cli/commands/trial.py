"""`myisam-advisor trial`: what is asked on the command line, found on the machine, and printed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.completion import rule_ids
from myisam_advisor.cli.described import CHANGE
from myisam_advisor.cli.ending import end_as_by_interrupt
from myisam_advisor.cli.engine_trial import EngineWish, engine_trial, expect_engine_options
from myisam_advisor.cli.number_types import WholeNumber
from myisam_advisor.cli.options import (
    Duration,
    ServerOptions,
    SiteOptions,
    Size,
    format_option,
    gathered,
    history_option,
    interval_option,
    server_options,
    site_options,
)
from myisam_advisor.cli.progress import trial_progress
from myisam_advisor.cli.replaying import CopyOptions, replay
from myisam_advisor.cli.trial_help import ENGINE, KINDS, REPLAY, UPGRADE, Experiment, TrialCommand
from myisam_advisor.cli.tried_changes import ReplayWish
from myisam_advisor.cli.upgrading import UpgradeWish, upgrade
from myisam_advisor.cli.watched_server import watched_server
from myisam_advisor.texts.units import unit_names
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.cli.kept_trials import Ground
    from myisam_advisor.trial.bench import TrialOptions
    from myisam_advisor.trial.task import Task

EXPERIMENTS = unit_names(Path(__file__).parents[2] / "trial" / "experiments")
DROPS_INDEX = "drop-index"
TrialCommand.experiments = (*EXPERIMENTS, *KINDS)
DEFAULT_INTERVAL, BUDGET_SECONDS = "10s", 300.0


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be tried: the experiment and how, on which program (empty: the watched server's own), on copies of which tables."""

    experiment: str
    program: str
    chosen: TrialOptions
    copy: CopyOptions
    server: ServerOptions
    keeps: bool = True


@click.command(
    cls=TrialCommand,
    task=CHANGE,
    examples=(
        ("myisam-advisor trial key-cache", "Several key caches against one, on made-up tables."),
        ("sudo myisam-advisor trial pack-keys --table shop.words", "On a copy of your own table."),
        ("sudo myisam-advisor trial drop-index --table shop.words --index name", "What this index costs on writes."),
        (
            "sudo myisam-advisor trial replay --workload w.gz --set key_buffer_size=1G",
            "Your own statements, with the old setting and the new.",
        ),
        (
            "sudo myisam-advisor trial engine --table shop.words",
            "InnoDB and Aria instead of MyISAM, with a simulated crash.",
        ),
        (
            "sudo myisam-advisor trial upgrade --server /opt/mariadb-11.8/bin/mariadbd",
            "What a newer server rejects.",
        ),
    ),
)
@click.argument("experiment", metavar="EXPERIMENT", type=Experiment([*EXPERIMENTS, *KINDS]))
@click.argument("findings", nargs=-1, metavar="[RULE ...]", shell_complete=rule_ids)
@server_options
@click.option(
    "--server",
    "program",
    default="",
    metavar="PATH",
    help="Program of the private server [default: the watched server's own].",
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="DB.TABLE",
    help="Use a copy of this table [default: made-up tables; replay, upgrade: copies of the tables concerned].",
)
@click.option("--copy-limit", type=Size(), default="2G", show_default=True, help="Limit on the bytes copied.")
@click.option(
    "--allow-lock",
    is_flag=True,
    help="Lock each table against writes while it is copied (FLUSH TABLES ... WITH READ LOCK).",
)
@click.option("--column", default="", metavar="NAME", help="The column to search by (columns).")
@click.option(
    "--index",
    default="",
    metavar="NAME",
    help="The index to drop, by name or number (drop-index) [default: one that another index can replace].",
)
@click.option(
    "--workload",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The recorded statements (replay, engine, upgrade), as `record` writes them.",
)
@click.option(
    "--to",
    "engines",
    multiple=True,
    type=click.Choice(["innodb", "aria"]),
    help="The engine to go to (engine) [default: InnoDB, and Aria where the server has it].",
)
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="Try this server variable (replay).")
@click.option(
    "--sql",
    "statements",
    multiple=True,
    metavar="STATEMENT",
    help="Try this statement, such as an ALTER TABLE (replay).",
)
@click.option(
    "--speed",
    type=click.Choice(["max", "1"]),
    default="max",
    show_default=True,
    help="As fast as possible (max), or at the recorded times (1) (replay).",
)
@interval_option(DEFAULT_INTERVAL)
@click.option(
    "--budget",
    type=Duration(),
    metavar="DURATION",
    help="Time for all rounds together; a trial ends as soon as its result is clear [default: 5m; with --rounds, no limit].",
)
@click.option(
    "--seconds",
    type=Duration(),
    help="Length of one run [default: 0.05 to 0.25 s, as the budget allows; 1 s with --rounds alone].",
)
@click.option(
    "--rounds",
    type=WholeNumber(1, 1000),
    help="Maximum number of runs of each variant [default: until the result is clear].",
)
@click.option("--threads", type=WholeNumber(1, 64), help="Concurrent threads [default: 4; mmap tries 1, 4, 16 and 64].")
@click.option("--nice/--no-nice", default=True, help="Run at low priority [default: yes].")
@format_option()
@click.option(
    "--keep/--no-keep",
    "keeps",
    default=True,
    help="Keep results from copies of your own tables (--table, replay, engine) for check, plan, migrate and the page [default: yes].",
)
@click.option(
    "--chart",
    "chart_path",
    type=click.Path(path_type=Path),
    help="Also draw the result as a chart in this file (.svg, .png).",
)
@site_options
@history_option
@gathered(CopyOptions, "copy")
@gathered(ReplayWish, "wish")
def trial(
    experiment: str,
    program: str,
    budget: float | None,
    seconds: float | None,
    rounds: int | None,
    threads: int | None,
    column: str,
    index: str,
    format_name: str,
    chart_path: Path | None,
    nice: bool,
    keeps: bool,
    engines: tuple[str, ...],
    server: ServerOptions,
    site: SiteOptions,
    copy: CopyOptions,
    wish: ReplayWish,
) -> None:
    """Measure advice on a private server with copies of your own tables: old and new settings in turn, with a verdict.

    `replay` sends the statements of a workload file (see `record`) to it, under each RULE's change, --set and --sql alone, and under all
    that pay together; without any of these, under the changes of all findings.

    `engine` converts copies to InnoDB and Aria and measures time, size, errors, the speed of the same statements, and what a crash costs.

    `upgrade` starts copies of your tables under the newer program that --server names: what it rejects, its error messages, and how to fix
    each; with --workload also which of the recorded statements it rejects or answers differently from the present version.

    The watched server is only read from. The private server has its own temporary directory and socket, and leaves nothing behind.
    """
    from myisam_advisor.trial.bench import TrialOptions
    from myisam_advisor.trial.experiments.base import experiment_named
    from myisam_advisor.trial.private.limits import expect_bearable
    from myisam_advisor.trial.private.machine import be_polite, only_one

    end_as_by_interrupt()
    for name, value in (("--seconds", seconds), ("--budget", budget)):
        if value is not None and value <= 0:
            raise click.UsageError(f"{name} must be more than 0.")
    if budget is None and rounds is None:
        budget = BUDGET_SECONDS
    chosen = TrialOptions(seconds or 0.0, rounds or 0, threads or 0, column, index, budget)
    _expect_options(experiment, chosen, engines)
    if experiment == ENGINE:
        expect_engine_options(wish, copy, column, chart_path)
    else:
        wish.expect_fitting(experiment == REPLAY, takes_workload=experiment == UPGRADE)
    if experiment in KINDS or experiment_named(experiment).needs_server:
        expect_bearable()
    with only_one():
        if nice:
            be_polite()
        if experiment == UPGRADE:
            upgrade(UpgradeWish(program, wish.workload, chosen), copy, server, format_name, chart_path)
            return
        if experiment == REPLAY:
            replay(wish, copy, server, site, program, chosen, keeps, format_name, chart_path)
            return
        if experiment == ENGINE:
            engine_trial(EngineWish(engines, program, wish.workload, keeps), copy, server, chosen, format_name)
            return
        _run_one(Wanted(experiment, program, chosen, copy, server, keeps), format_name, chart_path)


def _expect_options(experiment: str, chosen: TrialOptions, engines: Sequence[str]) -> None:
    """Raises UsageError for what belongs to another kind of trial."""
    if chosen.index and experiment != DROPS_INDEX:
        raise click.UsageError(f"--index belongs to {DROPS_INDEX}: {experiment} drops no index.")
    if engines and experiment != ENGINE:
        raise click.UsageError(f"--to belongs to {ENGINE}: {experiment} stays with MyISAM.")


def _run_one(wanted: Wanted, format_name: str, chart_path: Path | None) -> None:
    from myisam_advisor.cli.kept_trials import Keeping, keep_trial
    from myisam_advisor.trial import chart, report
    from myisam_advisor.trial.experiments.base import experiment_named
    from myisam_advisor.trial.private.apart import apart
    from myisam_advisor.trial.task import do_task, run_task

    described = experiment_named(wanted.experiment)
    if chart_path is not None:
        chart.expect_drawable(chart_path)
    # In this order: the other process is there before a password is read, and before there are threads.
    with apart(do_task) as place, ExitStack() as stack:
        task, ground = _task(wanted, described.needs_server, stack)
        with trial_progress(wanted.chosen.budget_seconds, described.runs_a_round * wanted.chosen.rounds) as listener:
            result = run_task(place, task, listener)
        keeping = keep_trial(result, ground) if ground is not None and wanted.keeps else Keeping()
    if format_name == "json":
        click.echo(report.as_json(result, keeping.as_values()))
    else:
        print(report.as_text(described, result, sys.stdout), end="")
        print(keeping.as_text(sys.stdout), end="")
    if chart_path is not None:
        chart.draw(described, result, chart_path)


def _task(wanted: Wanted, needs_server: bool, stack: ExitStack) -> tuple[Task, Ground | None]:
    """The server program and the tables to copy, and what a proof is to say of these (None for made-up ones). The watched server is asked only where it is needed for that."""
    from myisam_advisor.cli.kept_trials import Ground, TriedTable, statements_per_second
    from myisam_advisor.errors import TrialError
    from myisam_advisor.proofs.structures import structure_of
    from myisam_advisor.trial.private.binaries import ServerChoice
    from myisam_advisor.trial.tables.sources import DATA, INDEX, find_sources, header_of
    from myisam_advisor.trial.task import Task
    from myisam_advisor.trial.trial import settings_of
    from myisam_exporter.errors import UserError
    from myisam_exporter.server.session import Session

    experiment, chosen, copy = wanted.experiment, wanted.chosen, wanted.copy
    choice = ServerChoice.named(wanted.program) if wanted.program else None
    if not copy.tables and (choice or not needs_server):
        return Task(experiment, chosen, choice), None
    try:
        session = stack.enter_context(Session(wanted.server.target(), wanted.server.timeout_seconds))
    except UserError as error:
        if copy.tables:
            raise
        raise TrialError(
            f"{error} Made-up tables need no running server: name a program (--server /usr/sbin/mariadbd)."
        ) from None
    watched = watched_server(session)
    settings = [] if choice else settings_of(watched.variables)
    choice = watched.program(wanted.program)
    if not copy.tables:
        return Task(experiment, chosen, choice, settings), None
    directory = watched.directory("--table copies files", " Without --table, tables are made up.")
    found = find_sources(directory, copy.tables, copy.copy_limit, watched.location.owner)
    sources = stack.enter_context(found)
    first = sources[0]
    counted = first.file(DATA).counted_bytes + first.file(INDEX).counted_bytes
    structure = structure_of(header_of(first.label, first.file(INDEX).descriptor))
    tried = TriedTable(first.schema, first.table, first.label, counted, structure)
    ground = Ground(watched.key, tried, statements_per_second(session))
    return Task(experiment, chosen, choice, settings, sources, session if copy.allow_lock else None), ground
