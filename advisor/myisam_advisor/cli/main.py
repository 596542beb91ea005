"""The command line. Everything heavy is imported by the command that needs it: --version and --help answer at once."""

from __future__ import annotations

import gc
import resource
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from myisam_advisor.cli.commands.grants import grants
from myisam_advisor.cli.commands.munin import munin
from myisam_advisor.cli.commands.plan import plan
from myisam_advisor.cli.commands.serve import serve
from myisam_advisor.cli.commands.trial import trial
from myisam_advisor.cli.commands.verify import verify
from myisam_advisor.cli.completion import fact_tables, rule_ids
from myisam_advisor.cli.ending import keep_traces, speak_any_text, status_of
from myisam_advisor.cli.options import (
    LongDuration,
    connection_options,
    history_option,
    interval_option,
    output_option,
    site_of,
    site_options,
    target_of,
)
from myisam_advisor.cli.sources import gather, judged
from myisam_advisor.reports.exit_status import NEVER
from myisam_exporter.errors import UserError
from myisam_exporter.version import __version__

DEFAULT_INTERVAL = "10s"

# A report is a file in its folder; listing it imports none of them.
REPORTS = sorted(path.stem for path in Path(__file__).with_name("reports").glob("*.py") if path.stem != "__init__")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="myisam-advisor")
@click.option("--debug", is_flag=True, help="Show where an internal error happened (also MYISAM_ADVISOR_DEBUG=1).")
def cli(debug: bool) -> None:
    """Look at both halves of MyISAM - the key cache inside the server, the page cache outside it - and say what to change."""
    if debug:
        keep_traces()


cli.add_command(serve)
cli.add_command(trial)
cli.add_command(plan)
cli.add_command(verify)
cli.add_command(munin)
cli.add_command(grants)


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
@site_options
@click.option(
    "--output",
    "output_file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write the report to, replaced whole when it is complete.",
)
@click.option(
    "--unknown-as",
    type=click.Choice(["ok", "warning", "unknown"]),
    default="unknown",
    show_default=True,
    help="With --format nagios: the state when tables cannot be seen, or next to nothing happened.",
)
@click.option("--show-suppressed", is_flag=True, help="Also show what the configuration suppresses, and why.")
@click.option("--verbose", "-v", is_flag=True, help="Also say sources, what does not apply and why.")
@history_option
def check(
    interval: float,
    format_name: str,
    fail_on: str,
    unknown_as: str,
    show_suppressed: bool,
    verbose: bool,
    history_file: Path | None,
    output_file: Path | None,
    **options: Any,
) -> None:
    """Say what holds the server back, and what to do about it.

    Without --interval, the last interval that a running daemon (`serve`) recorded of this server is judged, if there is one.
    """
    from myisam_advisor.reports.formats.base import Shown, report_named
    from myisam_advisor.texts.whole_files import written_whole

    judgement, facts = judged(options, site_of(options), interval, history_file)
    report = report_named(format_name)
    shown = Shown(verbose, show_suppressed, fail_on, unknown_as)
    with written_whole(output_file):
        report.render(judgement, facts, shown)
    sys.exit(report.exit_status(judgement, shown))


@cli.command()
@click.argument("fact", required=False)
@history_option
@click.option("--since", type=LongDuration(), default="24h", show_default=True, help="How far back: 90min, 24h, 7d.")
@click.option("--list", "list_facts", is_flag=True, help="List the facts on record.")
def history(fact: str | None, history_file: Path | None, since: float, list_facts: bool) -> None:
    """Draw the curve of a FACT that a daemon (`serve`) recorded; without FACT, tell the findings on record."""
    from myisam_advisor.history import curves as history_view
    from myisam_advisor.history.paths import history_path, readable_histories

    path = history_file or next(iter(readable_histories()), history_path())
    if list_facts:
        history_view.print_facts(path)
    elif fact is None:
        history_view.print_episodes(path)
    else:
        history_view.print_curves(path, fact, since)


@cli.command()
@click.argument("rule_id", metavar="RULE", required=False, shell_complete=rule_ids)
@site_options
def explain(rule_id: str | None, **options: Any) -> None:
    """Say what a rule checks, why, with which thresholds and from which sources; without RULE, list the rules."""
    from myisam_advisor.reports.explanation import explain_rule, list_rules

    rules = site_of(options).rules
    click.echo(explain_rule(rule_id, rules) if rule_id else list_rules(rules))


@cli.command()
@click.argument("table", required=False, shell_complete=fact_tables)
@connection_options
@interval_option("0")
@click.option("--describe", is_flag=True, help="List the tables and columns there are, and what they mean.")
@output_option
def facts(table: str | None, interval: float, describe: bool, format_name: str, **options: Any) -> None:
    """Show the facts: all tables, or one."""
    from myisam_advisor.factbase.database import complete
    from myisam_advisor.factbase.views import describe_tables, print_result, print_tables, result_of

    if describe:
        click.echo(describe_tables(table))
        return
    if table is not None:
        describe_tables(table)  # refuses an unknown name before the server is asked
    known = complete(gather(options, interval))
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
    from myisam_advisor.factbase.database import complete, open_database
    from myisam_advisor.factbase.guarded_query import GuardedDatabase, QueryError
    from myisam_advisor.factbase.views import print_result

    known = complete(gather(options, interval))
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

    from myisam_advisor.factbase.database import as_document

    click.echo(json.dumps(as_document(gather(options, interval)), indent=1))


@cli.command()
@connection_options
@site_options
def doctor(**options: Any) -> None:
    """Say what each collector can see, what it lacks, how to grant it, and which rules that would enable."""
    from myisam_advisor.cli.examination import print_examination

    if options["facts_file"]:
        raise UserError("doctor examines a server: it has no use for --facts.")
    rules = site_of(options).rules
    sys.exit(print_examination(target_of(options), options["timeout_seconds"], options["key_caches"], rules))


def main() -> NoReturn:
    """Entry point: the user's mistakes end in one message and status 2, an interruption in 130, a fault of ours in one message and 2."""
    # A command lives for a moment: collecting garbage would walk a hundred thousand tables again and again.
    gc.disable()
    # A core would hold the password; whoever needs one to find a fault can raise the limit of the process.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    speak_any_text()
    sys.exit(status_of(lambda: cli.main(standalone_mode=False), sys.argv[1:]))
