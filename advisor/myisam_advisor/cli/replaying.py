"""`trial replay`: what is tried, on which tables, is found out on the watched server; the rest is done apart."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions, SiteOptions
from myisam_advisor.cli.progress import trial_progress
from myisam_advisor.cli.surveyed_workloads import surveyed
from myisam_advisor.cli.tried_changes import (
    ReplayWish,
    expect_something,
    findings_of,
    named_changes,
    needs_one_of,
    not_tried,
    tables_of,
    variants_of,
)
from myisam_advisor.cli.watched_server import WatchedServer, watched_server
from myisam_advisor.cli.written_tables import warnings_of, written_now
from myisam_exporter.declaring.lean_dataclasses import dataclass

if TYPE_CHECKING:
    from myisam_advisor.cli.surveyed_workloads import SurveyedWorkload
    from myisam_advisor.judging.findings import Finding
    from myisam_advisor.proofs.recordings import Recording
    from myisam_advisor.trial.bench import TrialOptions
    from myisam_advisor.trial.statements.definitions import Found
    from myisam_advisor.trial.statements.material import ReplayOptions
    from myisam_advisor.trial.statements.replay_result import ReplayResult
    from myisam_advisor.trial.statements.replay_task import ReplayTask
    from myisam_advisor.trial.statements.survey import Survey
    from myisam_advisor.trial.statements.variants import Variant
    from myisam_advisor.trial.tables.sources import Source
    from myisam_exporter.facts.columns import TableName
    from myisam_exporter.server.session import Session


@dataclass(frozen=True, slots=True)
class CopyOptions:
    """Which tables to copy, how much at most, and whether they may be locked meanwhile."""

    tables: tuple[str, ...]
    copy_limit: int
    allow_lock: bool


@dataclass(frozen=True, slots=True)
class Replay:
    """What came of a replay, and what a proof of it needs to know of the recording and of the watched server.

    Of that its key, its load (None: not known), its variables, and what its tables are made of, by their names.
    """

    result: ReplayResult
    server: str
    statements_per_second: float | None
    recording: Recording
    variables: Mapping[str, str]
    structures: Mapping[str, str]


def replay(
    wish: ReplayWish, copy: CopyOptions, server: ServerOptions, site: SiteOptions, program: str, chosen: TrialOptions,
    keeps: bool, format_name: str, chart_path: Path | None,
) -> None:  # fmt: skip
    """Replay, and print what came of it."""
    from myisam_advisor.trial import chart
    from myisam_advisor.trial.statements import replay_report
    from myisam_advisor.trial.statements.material import ReplayOptions

    if chart_path is not None:
        chart.expect_drawable(chart_path)
    options = ReplayOptions(wish.speed, chosen.budget_seconds, chosen.rounds or None)
    replay = replayed(wish, copy, server, site, program, options)
    tell(replay, keeps, format_name)
    if chart_path is not None:
        replay_report.draw(replay.result, chart_path)


def tell(replay: Replay, keeps: bool, format_name: str) -> None:
    """Print what came of it, and keep what it proves of rules."""
    from myisam_advisor.cli.kept_replays import keep_replay
    from myisam_advisor.cli.kept_trials import Keeping
    from myisam_advisor.trial.statements import replay_report

    result = replay.result
    table_bytes = {one.table: one.bytes for one in result.fidelity.tables}
    keeping = Keeping()
    if keeps:
        keeping = keep_replay(
            result, replay.server, replay.statements_per_second, table_bytes, result.fidelity, replay.recording, replay.variables, replay.structures
        )  # fmt: skip
    if format_name == "json":
        click.echo(replay_report.as_json(result, keeping.as_values()))
        return
    print(replay_report.as_text(result, sys.stdout), end="")
    print(keeping.as_text(sys.stdout), end="")


def replayed(
    wish: ReplayWish,
    copy: CopyOptions,
    server: ServerOptions,
    site: SiteOptions,
    program: str,
    options: ReplayOptions,
    recorded: Callable[[int, Sequence[str]], Path] | None = None,
) -> Replay:
    """What came of a replay: of the workload that was named, or of one that `recorded` makes once it is known that there is something to try.

    It is told the disk that copies and servers will take at least, and what is to be said before it begins.
    """
    from myisam_advisor.cli.kept_trials import statements_per_second
    from myisam_advisor.proofs.structures import structure_of
    from myisam_advisor.trial.private.apart import apart
    from myisam_advisor.trial.statements.material import servers_disk_bytes
    from myisam_advisor.trial.statements.replay_task import do_replay_task, run_replay_task
    from myisam_advisor.trial.statements.replaying import expect_sockets
    from myisam_advisor.trial.statements.survey import folds_names
    from myisam_advisor.trial.tables.sources import INDEX, header_of
    from myisam_exporter.server.session import Session

    # In this order: the other process is there before a password is read, and before there are threads.
    with apart(do_replay_task) as place, ExitStack() as stack:
        expect_sockets(place.folder)
        workload = surveyed(wish.workload) if wish.workload else None
        watched = watched_server(stack.enter_context(Session(server.target(), server.timeout_seconds)))
        variables = watched.variables
        named_tables = _expect_named(copy, watched) if workload is None else {}
        load = statements_per_second(watched.session)
        named = named_changes(wish, variables)
        findings = findings_of(wish, server, site) if wish.findings or not named else []
        if workload is None:
            variants, copied_bytes = _expect_tried(named, findings, wish, copy, watched, named_tables)
            least = servers_disk_bytes(variants, copied_bytes)
            path = recorded(least, _of_written(copy, named_tables, watched)) if recorded else Path()
            wish, workload = replace(wish, workload=path), surveyed(path)
        if folds_names(variables.get("lower_case_table_names")):
            workload = replace(workload, found=workload.found.folded())
        task = _task(wish, copy, watched, workload, (named, findings), program, options, stack)
        task = replace(task, notes=(*task.notes, *_cache_notes(watched, server)))
        structures = {one.label: structure_of(header_of(one.label, one.file(INDEX).descriptor)) for one in task.sources}
        with trial_progress(options.budget_seconds) as listener:
            result = run_replay_task(place, task, listener)
        return Replay(result, watched.key, load, workload.recording, variables, structures)


def _of_written(copy: CopyOptions, only: Collection[TableName], watched: WatchedServer) -> list[str]:
    if copy.allow_lock:
        return []
    directory = watched.directory("a replay copies tables as files")
    return list(warnings_of(written_now(directory, watched.location.owner, time.time(), only)))


def _task(
    wish: ReplayWish,
    copy: CopyOptions,
    watched: WatchedServer,
    workload: SurveyedWorkload,
    tried: tuple[Sequence[Variant], Sequence[Finding]],
    program: str,
    options: ReplayOptions,
    stack: ExitStack,
) -> ReplayTask:
    from myisam_advisor.trial.statements.definitions import trigger_notes, unseen_triggers
    from myisam_advisor.trial.statements.replay_task import ReplayTask
    from myisam_advisor.trial.statements.watched import changed_since, meaning_notes, meaning_settings, replay_settings

    path = wish.workload or Path()
    session, variables = watched.session, watched.variables
    directory = watched.directory("a replay copies tables as files")
    used, sources, missing = _copyable(workload.found, copy, session, directory, watched.location.owner, stack)
    _expect_tables(sources, missing, path)
    copied = frozenset((source.schema, source.table) for source in sources)
    chosen = variants_of(*tried, copied, wish, missing)
    changed = {
        (source.schema, source.table): since
        for source in sources
        if (since := changed_since(source, workload.began_at_microseconds)) is not None
    }
    version = session.version
    return ReplayTask(
        workload=path,
        described=workload.described,
        variants=chosen,
        options=options,
        choice=watched.program(program),
        data_version=("mariadb" if version.flavour == "mariadb" else "mysql", *version.number[:2]),
        settings=replay_settings(variables),
        sources=sources,
        missing=missing,
        changed_seconds=changed,
        lock=session if copy.allow_lock else None,
        definitions=(*used.definitions, *unseen_triggers(directory, sources, used.definitions)),
        notes=(
            *not_tried(tried[1], copied, wish, missing),
            *used.notes,
            *trigger_notes(session),
            *meaning_notes(variables),
        ),
        meaning=meaning_settings(variables),
        release=version.number[:3],
    )


def _cache_notes(watched: WatchedServer, server: ServerOptions) -> list[str]:
    from myisam_advisor.trial.statements.named_caches import named_cache_notes

    directory = Path(watched.variables.get("datadir", "/"))
    return list(named_cache_notes(watched.session, watched.variables, directory, server.key_caches))


def _copyable(
    found: Survey, copy: CopyOptions, session: Session, directory: Path, owner: int | None, stack: ExitStack
) -> tuple[Found, list[Source], dict[TableName, str]]:
    """The definitions that statements use, the tables that can be copied, open until the stack ends, and why others are not."""
    from myisam_advisor.trial.statements.definitions import find_definitions
    from myisam_advisor.trial.tables.sources import find_copyable

    wanted = _wanted(found, copy.tables)
    used = find_definitions(session, wanted, found.called)
    if not copy.tables:
        wanted = sorted({*wanted, *used.tables})
    sources, missing = stack.enter_context(find_copyable(directory, wanted, copy.copy_limit, owner))
    return used, sources, {**missing, **_left_aside(found, wanted)}


def _expect_named(copy: CopyOptions, watched: WatchedServer) -> dict[TableName, int]:
    """The bytes of the tables that were named. Raises TrialError for one that cannot be copied: nothing is recorded for it."""
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.table_names import possible_names
    from myisam_advisor.trial.tables.sources import find_copyable

    counted: dict[TableName, int] = {}
    directory = watched.directory("a replay copies tables as files")
    for name in copy.tables:
        names = possible_names(name)
        with find_copyable(directory, names, copy.copy_limit, watched.location.owner) as (sources, missing):
            if not sources:
                raise TrialError(f"--table {name}: {next(iter(missing.values()), 'write DATABASE.TABLE')}.")
            counted |= {(source.schema, source.table): source.counted_bytes for source in sources}
    return counted


def _expect_tried(
    named: Sequence[Variant],
    findings: Sequence[Finding],
    wish: ReplayWish,
    copy: CopyOptions,
    watched: WatchedServer,
    named_tables: Mapping[TableName, int],
) -> tuple[list[Variant], int]:
    """What can be tried, whatever is recorded, and the bytes that are copied for it at least: which further tables statements touch, nobody knows yet.

    Raises TrialError where that is nothing, or nothing of a rule that was named: then nothing is recorded for it.
    """
    expect_something(named, findings, wish)
    tables = tables_of(findings)
    if named_tables:
        counted: Mapping[TableName, int] = named_tables
        missing = {table: _aside(table) for table in tables if table not in named_tables}
    else:
        counted, missing = _counted(tables, copy, watched)
    variants = variants_of(named, findings, frozenset(counted), wish, missing)
    if named_tables:
        return variants, sum(named_tables.values())
    is_sure = counted and needs_one_of(variants, findings)
    return variants, min(counted.values()) if is_sure else 0


def _counted(
    tables: Iterable[TableName], copy: CopyOptions, watched: WatchedServer
) -> tuple[dict[TableName, int], dict[TableName, str]]:
    """The bytes of each of the tables that can be copied alone, and why the others cannot be."""
    from myisam_advisor.trial.tables.sources import find_copyable, over_limit

    counted: dict[TableName, int] = {}
    missing: dict[TableName, str] = {}
    directory = watched.directory("a replay copies tables as files")
    for table in tables:  # one after another: findings may be of more tables than files may be open
        with find_copyable(directory, [table], sys.maxsize, watched.location.owner) as (sources, reasons):
            missing |= reasons
            for source in sources:
                held = source.counted_bytes
                if held <= copy.copy_limit:
                    counted[table] = held
                else:
                    missing[table] = str(over_limit([source], held, copy.copy_limit)).rstrip(".")
    return counted, missing


def _wanted(found: Survey, chosen: Sequence[str]) -> list[TableName]:
    """The tables to copy: those that the workload touches, or of them the ones that were named."""
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.near import did_you_mean
    from myisam_advisor.texts.table_names import possible_names
    from myisam_advisor.texts.templates import object_name
    from myisam_advisor.trial.statements.schedule import SYSTEM_SCHEMAS

    touched = sorted(table for table in found.tables if table[0] and table[0].lower() not in {*SYSTEM_SCHEMAS, "mysql"})
    if not chosen:
        return touched
    wanted = []
    for name in chosen:
        split = next((one for one in possible_names(name) if one in found.tables), None)
        if split is None:
            near = did_you_mean(name, [object_name(*one) for one in touched])
            raise TrialError(f"--table {name}: the workload touches no such table.{near}")
        wanted.append(split)
    return wanted


def _left_aside(found: Survey, wanted: Sequence[TableName]) -> dict[TableName, str]:
    from myisam_advisor.texts.templates import object_name

    def why(table: TableName) -> str:
        if not table[0]:
            return f"{object_name(table[1])} has no database in the recording"
        return _aside(table)

    return {table: why(table) for table in found.tables if table not in wanted}


def _aside(table: TableName) -> str:
    from myisam_advisor.texts.templates import object_name

    return f"{object_name(*table)} is none of the tables that are copied"


def _expect_tables(sources: Sequence[object], missing: Mapping[TableName, str], path: Path) -> None:
    from myisam_advisor.errors import TrialError
    from myisam_advisor.trial.tables.sources import AS_OWNER

    if sources:
        return
    # Another recording helps nobody who may not read the tables of this one.
    not_ours = [why for why in missing.values() if AS_OWNER in why]
    said = "; ".join((not_ours or list(missing.values()))[:3]) or "its statements name no table"
    remedy = "" if not_ours else " Record where MyISAM tables are read, on this server."
    raise TrialError(f"{path} touches no MyISAM table that can be copied: {said}.{remedy}")
