"""`trial engine`: which tables, on which program and with which settings is found out on the watched server; the rest is done apart."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions
from myisam_advisor.cli.progress import trial_progress
from myisam_advisor.cli.replaying import CopyOptions
from myisam_advisor.cli.surveyed_workloads import surveyed
from myisam_advisor.cli.tried_changes import ReplayWish
from myisam_advisor.cli.watched_server import WatchedServer, watched_server
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.trial.bench import TrialOptions
    from myisam_advisor.trial.engines.engine_task import EngineTask


@dataclass(frozen=True, slots=True)
class EngineWish:
    """Which engines to try, on which program (empty: the watched server's own), with which recorded statements (None: with built-in ones)."""

    engines: tuple[str, ...]
    program: str
    workload: Path | None
    keeps: bool


def expect_engine_options(wish: ReplayWish, copy: CopyOptions, column: str, chart_path: Path | None) -> None:
    """Raises UsageError for what belongs to other trials, and without a table."""
    if not copy.tables:
        raise click.UsageError("engine needs --table DATABASE.TABLE: it converts copies of your own tables.")
    if wish.findings or wish.settings or wish.statements:
        raise click.UsageError("RULE, --set and --sql belong to replay: myisam-advisor trial replay.")
    if column:
        raise click.UsageError("--column belongs to columns: myisam-advisor trial columns.")
    if chart_path is not None:
        raise click.UsageError("engine draws no --chart: --format json has its numbers.")


def engine_trial(
    wish: EngineWish, copy: CopyOptions, server: ServerOptions, chosen: TrialOptions, format_name: str
) -> None:
    """Convert copies, print what came of it, and keep how fast they were copied."""
    from myisam_advisor.cli.kept_rates import keep_rates
    from myisam_advisor.proofs.rate_store import own_rate_store
    from myisam_advisor.texts.templates import printable
    from myisam_advisor.trial.engines import report
    from myisam_advisor.trial.engines.engine_task import do_engine_task, run_engine_task
    from myisam_advisor.trial.private.apart import apart
    from myisam_exporter.server.session import Session

    # In this order: the other process is there before a password is read, and before there are threads.
    with apart(do_engine_task) as place, ExitStack() as stack:
        watched = watched_server(stack.enter_context(Session(server.target(), server.timeout_seconds)))
        task = _task(wish, copy, watched, chosen, stack)
        with trial_progress(chosen.budget_seconds) as listener:
            result = run_engine_task(place, task, listener)
    kept = keep_rates(result, watched.key, own_rate_store()) if wish.keeps else ""
    if format_name == "json":
        click.echo(report.as_json(result))
    else:
        print(report.as_text(result, sys.stdout), end="")
        if kept:
            click.echo(printable(kept))


def _task(
    wish: EngineWish, copy: CopyOptions, watched: WatchedServer, chosen: TrialOptions, stack: ExitStack
) -> EngineTask:
    from myisam_advisor.errors import TrialError
    from myisam_advisor.trial.engines.engine_task import EngineTask
    from myisam_advisor.trial.engines.settings import engine_settings, not_here
    from myisam_advisor.trial.tables.sources import find_named

    variables, directory = watched.variables, watched.directory("--table copies files")
    found = find_named(directory, copy.tables, copy.copy_limit, watched.location.owner)
    sources, left_out = stack.enter_context(found)
    if not sources:
        raise TrialError(f"no table can be tried: {'; '.join(left_out.values())}.")
    return EngineTask(
        wish.engines,
        chosen,
        watched.program(wish.program),
        engine_settings(variables, is_same_release=not wish.program),
        variables,
        not_here(variables),
        sources,
        left_out,
        watched.session if copy.allow_lock else None,
        wish.workload,
        surveyed(wish.workload).described if wish.workload else {},
    )
