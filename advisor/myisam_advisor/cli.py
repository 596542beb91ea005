"""The command line. Everything heavy is imported by the command that needs it: --version and --help answer at once."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import click

from myisam_advisor.exit_status import INTERRUPTED, NAGIOS_UNKNOWN, NEVER, USER_ERROR
from myisam_exporter.errors import UserError
from myisam_exporter.version import __version__

if TYPE_CHECKING:
    from myisam_advisor.daemon.history_reader import RecentLook
    from myisam_exporter.fact_set import FactSet
    from myisam_exporter.target import Target

DEFAULT_INTERVAL = "10s"
# Prometheus waits 10 s by default: a query must have failed before that.
SERVE_TIMEOUT_SECONDS = 5

# A report is a file in its folder; listing it imports none of them.
REPORTS = sorted(path.stem for path in Path(__file__).with_name("reports").glob("*.py") if path.stem != "__init__")

_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|min|m|h|d)?")
_DURATION_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, None: 1.0}

Command = TypeVar("Command", bound=Callable[..., Any])


class Duration(click.ParamType):  # type: ignore[type-arg]
    """A length of time such as 10s, 500ms or 5min; a bare number is seconds."""

    name = "duration"
    maximum_seconds = 86_400.0
    maximum = "a day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Seconds."""
        if isinstance(value, float):
            return value
        found = _DURATION.fullmatch(str(value).strip())
        if found is None:
            self.fail(f"{value!r} is no duration: write 10s, 500ms or 5min", param, ctx)
        seconds = float(found[1]) * _DURATION_SECONDS[found[2]]
        if seconds > self.maximum_seconds:
            self.fail(f"{value!r} is longer than {self.maximum}", param, ctx)
        return seconds


class LongDuration(Duration):
    """A length of time that may be days."""

    maximum_seconds = 3650 * 86_400.0
    maximum = "ten years"


def connection_options(command: Command) -> Command:
    """The options that say which server, and those that say where facts come from instead."""
    options = (
        click.option(
            "--defaults-file",
            "defaults_files",
            type=click.Path(path_type=Path),
            multiple=True,
            help="Option file to read instead of the standard ones.",
        ),
        click.option("--host", help="Host of the server; localhost means its socket."),
        click.option("--port", type=click.IntRange(1, 65535), help="TCP port."),
        click.option("--socket", type=click.Path(path_type=Path), help="UNIX socket of the server."),
        click.option("--user", help="Account; its password belongs into an option file."),
        click.option(
            "--timeout",
            "timeout_seconds",
            type=click.IntRange(1, 600),
            default=10,
            show_default=True,
            help="Seconds that a connection or a query may take.",
        ),
        click.option(
            "--key-cache",
            "key_caches",
            multiple=True,
            metavar="NAME",
            help="A named key cache (MySQL cannot list them).",
        ),
        click.option(
            "--page-cache-seconds",
            type=click.FloatRange(0, 600),
            default=2.0,
            show_default=True,
            help="Time that the page-cache sweep may take.",
        ),
        click.option(
            "--facts",
            "facts_file",
            metavar="FILE",
            help="Judge the facts in this file ('-': standard input) instead of a server.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def interval_option(default: str) -> Callable[[Command], Command]:
    """How long to look; rates need two samples."""
    return click.option(
        "--interval", type=Duration(), default=default, show_default=True, help="Time between two samples; 0 takes one."
    )


def history_option(command: Command) -> Command:
    """Which history to read."""
    path = click.Path(path_type=Path)
    return click.option(
        "--history", "history_file", type=path, help="The daemon's history [default: where it is kept]."
    )(command)


def output_option(command: Command) -> Command:
    """In which form facts are printed."""
    forms = click.Choice(["table", "json", "csv"])
    return click.option("--format", "format_name", type=forms, default="table", show_default=True, help="Form.")(
        command
    )


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="myisam-advisor")
def cli() -> None:
    """Look at both halves of MyISAM - the key cache inside the server, the page cache outside it - and say what to change."""


@cli.command()
@connection_options
@interval_option(DEFAULT_INTERVAL)
@click.option(
    "--format", "format_name", type=click.Choice(REPORTS), default="text", show_default=True, help="Form of the report."
)
@click.option(
    "--fail-on",
    type=click.Choice(["critical", "warning", "info", NEVER]),
    default="warning",
    show_default=True,
    help="Exit with 1 from this severity on.",
)
@click.option(
    "--rules", "rule_folders", type=click.Path(path_type=Path), multiple=True, help="A folder of further rules."
)
@click.option("--verbose", "-v", is_flag=True, help="Also say sources, what does not apply and why.")
@history_option
def check(
    interval: float,
    format_name: str,
    fail_on: str,
    rule_folders: tuple[Path, ...],
    verbose: bool,
    history_file: Path | None,
    **options: Any,
) -> None:
    """Say what holds the server back, and what to do about it.

    Without --interval, the last interval that a running daemon (`serve`) recorded of this server is judged, if there is one.
    """
    from myisam_advisor.engine import judge
    from myisam_advisor.facts import complete
    from myisam_advisor.reports import report_named

    try:
        rules = _rules(rule_folders)
        recorded = None if options["facts_file"] else _recorded(options, history_file)
        facts = complete(recorded.facts if recorded else _facts(options, interval))
    except UserError as error:
        if format_name == "nagios":
            from myisam_advisor.reports.nagios import plain

            click.echo(f"MYISAM UNKNOWN - {plain(str(error))}")
            sys.exit(NAGIOS_UNKNOWN)
        raise
    judgement = judge(facts, rules)
    if recorded is not None:
        judgement = recorded.dated(judgement)
    report = report_named(format_name)
    report.render(judgement, facts, verbose=verbose, fail_on=fail_on)
    sys.exit(report.exit_status(judgement, fail_on))


@cli.command()
@click.argument("fact", required=False)
@history_option
@click.option("--since", type=LongDuration(), default="24h", show_default=True, help="How far back: 90min, 24h, 7d.")
@click.option("--list", "list_facts", is_flag=True, help="List the facts on record.")
def history(fact: str | None, history_file: Path | None, since: float, list_facts: bool) -> None:
    """Draw the curve of a FACT that a daemon (`serve`) recorded; without FACT, tell the findings on record."""
    from myisam_advisor import history_view
    from myisam_advisor.daemon.paths import history_path, readable_histories

    path = history_file or next(iter(readable_histories()), history_path())
    if list_facts:
        history_view.print_facts(path)
    elif fact is None:
        history_view.print_episodes(path)
    else:
        history_view.print_curves(path, fact, since)


@cli.command()
@click.argument("rule_id", metavar="RULE", required=False)
@click.option(
    "--rules", "rule_folders", type=click.Path(path_type=Path), multiple=True, help="A folder of further rules."
)
def explain(rule_id: str | None, rule_folders: tuple[Path, ...]) -> None:
    """Say what a rule checks, why, with which thresholds and from which sources; without RULE, list the rules."""
    from myisam_advisor.explanation import explain_rule, list_rules

    rules = _rules(rule_folders)
    click.echo(explain_rule(rule_id, rules) if rule_id else list_rules(rules))


@cli.command()
@click.argument("table", required=False)
@connection_options
@interval_option("0")
@click.option("--describe", is_flag=True, help="List the tables and columns there are, and what they mean.")
@output_option
def facts(table: str | None, interval: float, describe: bool, format_name: str, **options: Any) -> None:
    """Show the facts: all tables, or one."""
    from myisam_advisor.fact_views import describe_tables, print_result, print_tables, result_of
    from myisam_advisor.facts import complete

    if describe:
        click.echo(describe_tables(table))
        return
    if table is not None:
        describe_tables(table)  # refuses an unknown name before the server is asked
    known = complete(_facts(options, interval))
    if table is None:
        print_tables(known, format_name)
    else:
        print_result(result_of(known, table), format_name)


@cli.command()
@click.argument("statement", metavar="SELECT")
@connection_options
@interval_option("0")
@output_option
def query(statement: str, interval: float, format_name: str, **options: Any) -> None:
    """Ask the fact tables in SQL (SQLite's)."""
    from myisam_advisor.fact_views import print_result
    from myisam_advisor.facts import complete, open_database
    from myisam_advisor.guard import GuardedDatabase, QueryError

    known = complete(_facts(options, interval))
    with GuardedDatabase(open_database(known)) as database:
        try:
            result = database.query(statement)
        except QueryError as error:
            raise UserError(f"query: {error}.") from None
    print_result(result, format_name)


@cli.command()
@connection_options
@interval_option(DEFAULT_INTERVAL)
def snapshot(interval: float, **options: Any) -> None:
    """Write the facts as JSON, for `check --facts` anywhere."""
    import json

    from myisam_advisor.facts import as_document

    click.echo(json.dumps(as_document(_facts(options, interval)), indent=1))


@cli.command()
@connection_options
def doctor(**options: Any) -> None:
    """Say what each collector can see, what it lacks, how to grant it, and which rules that would enable."""
    from myisam_advisor.doctor import print_examination

    if options["facts_file"]:
        raise UserError("doctor examines a server: it has no use for --facts.")
    sys.exit(print_examination(_target(options), options["timeout_seconds"], options["key_caches"], _rules(())))


def _serve_options(command: Command) -> Command:
    """The daemon's own options; their names are those of Prometheus's exporters."""
    options = (
        click.option(
            "--web.listen-address",
            "listen_addresses",
            multiple=True,
            default=["127.0.0.1:9942"],
            show_default=True,
            metavar="HOST:PORT",
            help="Address to serve on; may be given again.",
        ),
        click.option("--web.telemetry-path", "telemetry_path", default="/metrics", show_default=True, help="Path."),
        click.option(
            "--web.config.file",
            "web_config_file",
            type=click.Path(path_type=Path),
            help="TLS and basic authentication, in exporter-toolkit's format.",
        ),
        click.option(
            "--web.max-requests",
            "maximum_scrapes",
            type=click.IntRange(1, 1000),
            default=40,
            show_default=True,
            help="Scrapes at once.",
        ),
        click.option(
            "--web.disable-exporter-metrics", "no_process_metrics", is_flag=True, help="Without process_* of our own."
        ),
        click.option(
            "--config.targets",
            "targets_file",
            type=click.Path(path_type=Path),
            help="YAML list of the servers that /probe may reach.",
        ),
        click.option("--no-own-server", is_flag=True, help="Only serve /probe; watch no server of our own."),
        click.option(
            "--collect.interval",
            "background_seconds",
            type=Duration(),
            default="60s",
            show_default=True,
            help="Between two looks at tables, page cache and advice.",
        ),
        click.option(
            "--collect.tables.limit",
            "tables_limit",
            type=click.IntRange(0),
            default=100,
            show_default=True,
            help="Tables with series of their own; the others are summed.",
        ),
        click.option("--collect.tables.include", "tables_include", metavar="REGEX", help="Only tables schema.table."),
        click.option("--collect.tables.exclude", "tables_exclude", metavar="REGEX", help="No such tables."),
        click.option(
            "--collect.page-cache.precise",
            "precise_page_cache",
            is_flag=True,
            help="Count page-cache lookups by kernel tracepoints (CAP_PERFMON or root).",
        ),
        click.option(
            "--history", "history_file", type=click.Path(path_type=Path), help="File of the history [default: by user]."
        ),
        click.option("--no-history", is_flag=True, help="Keep no history."),
        click.option("--history-days", type=click.FloatRange(0.01, 3650), default=7, show_default=True, help="Age."),
        click.option(
            "--history-megabytes", type=click.IntRange(1), default=256, show_default=True, help="Size of its file."
        ),
        click.option(
            "--log.level",
            "log_level",
            type=click.Choice(["debug", "info", "warning", "error"]),
            default="info",
            show_default=True,
            help="What to log.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


@cli.command()
@connection_options
@_serve_options
@click.option(
    "--rules", "rule_folders", type=click.Path(path_type=Path), multiple=True, help="A folder of further rules."
)
def serve(**options: Any) -> None:
    """Watch a server and serve metrics, probes of others, and advice; keep a history."""
    import logging

    from myisam_advisor.daemon.paths import history_path
    from myisam_advisor.daemon.serve import ServeOptions
    from myisam_advisor.daemon.serve import serve as run
    from myisam_exporter.watch import WatchOptions

    if options["facts_file"]:
        raise UserError("serve watches a server: it has no use for --facts.")
    if not options["background_seconds"] >= 1:
        raise UserError("--collect.interval must be 1s or more.")
    if not options["telemetry_path"].startswith("/"):
        raise UserError("--web.telemetry-path must begin with a slash.")
    logging.basicConfig(
        level=options["log_level"].upper(), format="%(asctime)s %(levelname)s %(message)s", stream=sys.stderr
    )
    run(
        ServeOptions(
            listen_addresses=options["listen_addresses"],
            watch=WatchOptions(
                options["timeout_seconds"] if _was_given("timeout_seconds") else SERVE_TIMEOUT_SECONDS,
                options["background_seconds"],
                options["page_cache_seconds"],
                options["key_caches"],
            ),
            resolve=lambda: _target(options),
            load_rules=lambda: _rules(options["rule_folders"]),
            defaults_files=options["defaults_files"],
            telemetry_path=options["telemetry_path"],
            web_config_file=options["web_config_file"],
            targets_file=options["targets_file"],
            maximum_scrapes=options["maximum_scrapes"],
            own_process_metrics=not options["no_process_metrics"],
            watch_own=not options["no_own_server"],
            tables_limit=options["tables_limit"],
            tables_include=options["tables_include"],
            tables_exclude=options["tables_exclude"],
            history_file=None if options["no_history"] else options["history_file"] or history_path(),
            history_days=options["history_days"],
            history_megabytes=options["history_megabytes"],
            precise_page_cache=options["precise_page_cache"],
        )
    )


def _rules(folders: tuple[Path, ...]) -> tuple[Any, ...]:
    from myisam_advisor.rules import load_rules, shipped_rules

    own = load_rules(folders)
    taken = {rule.id for rule in shipped_rules()}
    for rule in own:
        if rule.id in taken:
            raise UserError(f"{rule.path}: the rule id {rule.id} is taken by a shipped rule: give it another.")
    return tuple(sorted((*shipped_rules(), *own), key=lambda rule: rule.id))


def _was_given(parameter: str) -> bool:
    """Whether the user chose this, rather than its default."""
    source = click.get_current_context().get_parameter_source(parameter)
    return source is not click.core.ParameterSource.DEFAULT


def _recorded(options: dict[str, Any], history_file: Path | None) -> RecentLook | None:
    """What a running daemon recorded of this server; None where an interval was asked for, or nothing fits."""
    from myisam_advisor.daemon.paths import readable_histories

    paths = [history_file] if history_file else readable_histories()
    if _was_given("interval") or not paths:
        return None
    from myisam_advisor.daemon.history_reader import recent_look
    from myisam_exporter.session import Session

    with Session(_target(options), options["timeout_seconds"]) as session:
        for path in paths:
            try:
                recent = recent_look(path, session)
            except UserError:
                if history_file:
                    raise
                continue  # a history that was not asked for is no reason to fail
            if recent is not None:
                return recent
    return None


def _target(options: dict[str, Any]) -> Target:
    from myisam_exporter.target import target_from_options

    return target_from_options(
        options["defaults_files"], options["user"], options["host"], options["port"], options["socket"]
    )


def _facts(options: dict[str, Any], interval: float) -> FactSet:
    if options["facts_file"]:
        from myisam_advisor.facts_file import read_facts_file

        return read_facts_file(options["facts_file"])
    from myisam_advisor.live import collect_facts
    from myisam_advisor.progress import observe_with_progress

    return collect_facts(
        _target(options),
        interval,
        options["timeout_seconds"],
        options["key_caches"],
        options["page_cache_seconds"],
        observe_with_progress,
    )


def main() -> NoReturn:
    """Entry point: the user's mistakes end in one message and status 2, an interruption in 130; never in a traceback."""
    # A command lives for a moment: collecting garbage would walk a hundred thousand tables again and again.
    gc.disable()
    status = 0
    try:
        try:
            cli.main(standalone_mode=False)
        except SystemExit as ended:
            status = int(ended.code or 0)
        sys.stdout.flush()
    except (click.exceptions.Abort, KeyboardInterrupt):
        status = _complain("interrupted", INTERRUPTED)
    except click.ClickException as error:
        error.show()
        status = USER_ERROR
    except UserError as error:
        from myisam_advisor.texts import printable

        status = _complain(printable(str(error)), USER_ERROR)
    except OSError as error:
        # A full disk or a reader that went away: what is still in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        where = f": {error.filename}" if error.filename else ""
        status = (
            USER_ERROR
            if isinstance(error, BrokenPipeError)
            else _complain(f"{error.strerror or error}{where}", USER_ERROR)
        )
    sys.exit(status)


def _complain(message: str, status: int) -> int:
    click.echo(f"myisam-advisor: {message}", err=True)
    return status
