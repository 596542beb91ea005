"""`trial upgrade`: which tables there are, and their definitions, is found out on the watched server; the rest is done apart."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.options import ServerOptions
from myisam_advisor.cli.progress import trial_progress
from myisam_advisor.cli.replaying import CopyOptions
from myisam_advisor.cli.surveyed_workloads import surveyed
from myisam_advisor.cli.watched_server import WatchedServer, watched_server
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

if TYPE_CHECKING:
    from myisam_advisor.cli.surveyed_workloads import SurveyedWorkload
    from myisam_advisor.trial.bench import TrialOptions
    from myisam_advisor.trial.statements.survey import Survey
    from myisam_advisor.trial.upgrade.upgrade_result import UpgradeResult
    from myisam_advisor.trial.upgrade.upgrade_task import RecordedTask, UpgradeTask
    from myisam_exporter.server.session import Session

# Without --table: no more than this many, the smallest first, because each is copied.
MOST_TABLES = 200
NEEDS_PROGRAM = (
    "upgrade needs --server PATH: the program (mysqld or mariadbd) of the newer version. It need not be installed as the server; "
    "unpacked somewhere, where everybody may read, will do."
)


@dataclass(frozen=True, slots=True)
class UpgradeWish:
    """The program of the newer version, and recorded statements for both (None: none), with their budget and rounds in `chosen`."""

    program: str
    workload: Path | None
    chosen: TrialOptions


def upgrade(
    wish: UpgradeWish, copy: CopyOptions, server: ServerOptions, format_name: str, chart_path: Path | None
) -> None:
    """Try it, and print what came of it."""
    from myisam_advisor.trial.upgrade import upgrade_report

    if not wish.program:
        raise click.UsageError(NEEDS_PROGRAM)
    if chart_path is not None:
        raise click.UsageError("upgrade draws no --chart: --format json has its numbers.")
    result = upgraded(wish, copy, server)
    if format_name == "json":
        click.echo(upgrade_report.as_json(result))
    else:
        print(upgrade_report.as_text(result, sys.stdout), end="")


def upgraded(wish: UpgradeWish, copy: CopyOptions, server: ServerOptions) -> UpgradeResult:
    """What came of it."""
    from myisam_advisor.trial.private.apart import apart
    from myisam_advisor.trial.upgrade.upgrade_task import do_upgrade_task, run_upgrade_task
    from myisam_exporter.server.session import Session

    # In this order: the other process is there before a password is read, and before there are threads.
    with apart(do_upgrade_task) as place, ExitStack() as stack:
        recorded = surveyed(wish.workload) if wish.workload else None
        watched = watched_server(stack.enter_context(Session(server.target(), server.timeout_seconds)))
        task = _task(wish, copy, watched, recorded, stack)
        with trial_progress(wish.chosen.budget_seconds if recorded else None, len(task.sources)) as listener:
            return run_upgrade_task(place, task, listener)


def _task(
    wish: UpgradeWish,
    copy: CopyOptions,
    watched: WatchedServer,
    recorded: SurveyedWorkload | None,
    stack: ExitStack,
) -> UpgradeTask:
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.templates import object_name
    from myisam_advisor.trial.private.binaries import ServerChoice
    from myisam_advisor.trial.tables.sources import find_copyable, table_named
    from myisam_advisor.trial.upgrade.upgrade_task import UpgradeTask

    session, owner = watched.session, watched.location.owner
    directory = watched.directory("an upgrade is tried on copies of tables' files")
    sizes = found = _tables_in(directory, owner)
    named = list(dict.fromkeys(table_named(name, found) for name in copy.tables))
    if recorded and wish.workload:
        found = _touched(wish.workload, recorded.found, named, found)
    wanted = named or _smallest(found, copy.copy_limit)
    # Of what else the statements touch only the reason is wanted why it is not copied.
    others = sorted(name for name in recorded.found.tables if name not in found and name[0]) if recorded else []
    copyable = find_copyable(
        directory, [*wanted, *others[:MOST_TABLES]], copy.copy_limit, owner, packed=True, fitting=not named
    )
    sources, uncopied = stack.enter_context(copyable)
    _expect_named(wanted if copy.tables else [], found, uncopied)
    copied = {(source.schema, source.table) for source in sources}
    wanted = [name for name in wanted if name in copied or name in uncopied]
    passed_over = {} if copy.tables else _passed_over(found, wanted, copy.copy_limit)
    flavour = "mariadb" if session.version.flavour == "mariadb" else "mysql"
    definitions = _definitions(session, wanted) if flavour == "mysql" else {}
    if not sources and not definitions:
        reasons = [*uncopied.values(), *(f"{object_name(*name)}: {why}" for name, why in passed_over.items())]
        said = "; ".join(reasons[:3]) or "the server has no MyISAM table"
        raise TrialError(f"there is nothing to try: {said}.")
    recorded_task = _recorded_task(wish, recorded.described, watched) if recorded else None
    return UpgradeTask(
        ServerChoice.named(wish.program), (flavour, *session.version.number[:2]), watched.variables.get("sql_mode", ""), sources, definitions,
        {**uncopied, **passed_over}, {name: held for name, held in sizes.items() if held}, session if copy.allow_lock else None, recorded_task,
    )  # fmt: skip


def _recorded_task(wish: UpgradeWish, described: Mapping[str, str], watched: WatchedServer) -> RecordedTask:
    """The statements for both versions, and where the present one's program may be."""
    from myisam_advisor.trial.upgrade.carried_settings import carryable
    from myisam_advisor.trial.upgrade.upgrade_task import RecordedTask

    settings = carryable(watched.variables)
    chosen = wish.chosen
    return RecordedTask(
        wish.workload or Path(), described, watched.program(""), settings, chosen.budget_seconds, chosen.rounds or None
    )


def _touched(
    path: Path, survey: Survey, named: Sequence[TableName], found: Mapping[TableName, int]
) -> Mapping[TableName, int]:
    """Of the tables those that the workload touches, and those that were named. Raises TrialError where it touches none that is to be copied."""
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.templates import object_name

    touched = [name for name in survey.tables if name in found]
    if not touched:
        names = [object_name(*name) for name in sorted(survey.tables) if name[0]]
        said = f"none of {', '.join(names[:5])} is one" if names else "its statements name no table of a database"
        raise TrialError(
            f"{path} touches no MyISAM table of this server: {said}. Record on this server (myisam-advisor record)."
        )
    if named and not set(named) & set(touched):
        raise TrialError(
            f"{path} has no statement on {', '.join(object_name(*name) for name in named[:5])}: it touches "
            f"{', '.join(object_name(*name) for name in touched[:5])}. Name one of these (--table), or leave --table out."
        )
    return {name: found[name] for name in found if name in touched or name in named}


def _tables_in(directory: Path, owner: int | None) -> Mapping[TableName, int]:
    """The MyISAM tables of users, and what their files hold."""
    from myisam_advisor.errors import TrialError
    from myisam_exporter.files.data_directory import SYSTEM_SCHEMAS, scan_data_directory

    try:
        scan = scan_data_directory(directory, owner, reads_frm=False)
    except OSError as error:
        raise TrialError(
            f"{directory} cannot be read ({error.strerror}): run as root, or as the server's user."
        ) from None
    sizes: dict[TableName, int] = {}
    for file in scan.files:
        if file.schema_name not in SYSTEM_SCHEMAS:
            name = (file.schema_name, file.table_name)
            held = file.header.data_bytes + file.header.index_bytes if file.header is not None else 0
            sizes[name] = sizes.get(name, 0) + held
    return sizes


def _smallest(found: Mapping[TableName, int], limit_bytes: int) -> list[TableName]:
    """As many as the limits allow, the smallest first."""
    chosen, total = list[TableName](), 0
    for name in sorted(found, key=lambda one: (found[one], one))[:MOST_TABLES]:
        total += found[name]
        if total > limit_bytes:
            break
        chosen.append(name)
    return chosen


def _passed_over(found: Mapping[TableName, int], wanted: Sequence[TableName], limit_bytes: int) -> dict[TableName, str]:
    """Of those that `_smallest` did not take which limit was in the way: the other one may be raised in vain."""
    from myisam_advisor.texts.templates import size

    limit, chosen = f"--copy-limit ({size(limit_bytes)})", set(wanted)
    reasons = {}
    for place, name in enumerate(sorted(found, key=lambda one: (found[one], one))):
        if name in chosen:
            continue
        if found[name] > limit_bytes:
            reasons[name] = f"larger than {limit}: raise it"
        elif place >= MOST_TABLES:
            reasons[name] = f"beyond the {MOST_TABLES} smallest, as many as are tried where --table names none: name it"
        else:
            reasons[name] = f"beyond {limit}, which smaller tables use up: name it (--table), or raise the limit"
    return reasons


def _expect_named(
    wanted: Iterable[TableName], found: Mapping[TableName, int], uncopied: Mapping[TableName, str]
) -> None:
    """Raises TrialError for a name that is no MyISAM table's."""
    from myisam_advisor.errors import TrialError
    from myisam_advisor.texts.templates import sentence

    wrong = [uncopied.get(name, "") for name in wanted if name not in found]
    if wrong:
        raise TrialError(" ".join(map(sentence, wrong)))


def _definitions(session: Session, wanted: Sequence[TableName]) -> dict[TableName, str]:
    """What SHOW CREATE TABLE says of each; of one that it is refused of, nothing. MySQL opens each table for it."""
    from myisam_exporter.facts.unknown import Unknown
    from myisam_exporter.server.sql import quote_table, statement

    found = {}
    for name in wanted:
        rows = session.rows_or_unknown(statement("SHOW CREATE TABLE {}", quote_table(*name)), 2)
        if not isinstance(rows, Unknown) and rows and rows[0][1]:
            found[name] = rows[0][1]
    return found
