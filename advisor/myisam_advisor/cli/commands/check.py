"""`myisam-advisor check`: the rules' findings, in the form that was asked for."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click

from myisam_advisor.cli.completion import rule_ids
from myisam_advisor.cli.described import FAILED, FIND, Described
from myisam_advisor.cli.options import (
    SiteOptions,
    SourceOptions,
    connection_options,
    format_option,
    history_option,
    interval_option,
    site_options,
    was_given,
)
from myisam_advisor.cli.sources import judged, remembered_past
from myisam_advisor.reports.exit_status import NEVER
from myisam_advisor.texts.units import unit_names

DEFAULT_INTERVAL = "10s"
REPORTS = unit_names(Path(__file__).parents[2] / "reports" / "formats")


@click.command(
    cls=Described,
    task=FIND,
    examples=(
        ("sudo myisam-advisor check", "What holds this machine's server back."),
        (
            "myisam-advisor check 2",
            "The second finding in full; a rule's name works too, and --full shows all of them.",
        ),
        ("myisam-advisor check --interval 60s --format json > found.json", "Observe one minute; JSON for a program."),
        ("myisam-advisor check --facts facts.json", "Judge a file that `snapshot` wrote on another machine."),
        ("sudo myisam-advisor check --statements", "Also show which kinds of statements hold the locks and scan."),
    ),
    statuses=(
        ("0", "No finding reaches --fail-on."),
        ("1", "At least one finding does."),
        FAILED,
        ("0 to 3", "With --format nagios: OK, WARNING, CRITICAL, UNKNOWN."),
    ),
)
@click.argument("chosen", nargs=-1, metavar="[NUMBER|RULE]...", shell_complete=rule_ids)
@connection_options
@interval_option(DEFAULT_INTERVAL)
@format_option(REPORTS)
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
    help="Write the report to this file; it is replaced only when the report is complete.",
)
@click.option(
    "--unknown-as",
    type=click.Choice(["ok", "warning", "unknown"]),
    default="unknown",
    show_default=True,
    help="With --format nagios: the state when tables cannot be seen, rates have no interval, most rules lack a fact, or there was hardly any activity.",
)
@click.option(
    "--show-suppressed", is_flag=True, help="Also show the findings that the configuration suppresses, and why."
)
@click.option("--full", is_flag=True, help="Show each finding in full.")
@click.option(
    "--verbose",
    "-v",
    is_flag=True,
    help="Show everything: each finding in full, sources, names of facts, what does not apply and why.",
)
@click.option(
    "--statements",
    is_flag=True,
    help="Also show which kinds of statements hold locks and scan, without their values: from the server's own statistics, or from a kernel probe.",
)
@history_option
def check(
    chosen: tuple[str, ...],
    interval: float,
    format_name: str,
    fail_on: str,
    unknown_as: str,
    show_suppressed: bool,
    full: bool,
    verbose: bool,
    statements: bool,
    history_file: Path | None,
    output_file: Path | None,
    source: SourceOptions,
    site: SiteOptions,
) -> None:
    """Show what holds the server back and what to do about it, on one screen, the cause first.

    NUMBER (as on the screen) or RULE shows one finding in full; the exit status
    still covers all findings.

    Without --interval, check judges the last interval that a running daemon (`serve`) recorded for this server, if there is one.
    """
    from myisam_advisor.cli.ending import print_verdict
    from myisam_advisor.cli.statements import seen_by, watched
    from myisam_advisor.judging.chosen import refuse_unknown_rules
    from myisam_advisor.reports.formats.base import Shown, report_named
    from myisam_advisor.texts.whole_files import expect_writable, write_whole

    if chosen and format_name != "text":
        raise click.UsageError(f"NUMBER and RULE are for --format text: --format {format_name} lists all findings.")
    if was_given("unknown_as") and format_name != "nagios":
        raise click.UsageError("--unknown-as is for --format nagios alone: the other forms say what is not known.")
    if statements:
        _refuse_what_tells_no_statements(source, format_name, interval, chosen)
    in_force = site.load()
    refuse_unknown_rules((name for name in chosen if not name.isdecimal()), [rule.id for rule in in_force.rules])
    if output_file is not None:
        expect_writable(output_file)
    with watched(source.server) if statements else nullcontext() as watch:
        judgement, facts = judged(source, in_force, interval, history_file, is_live=statements)
        seen = seen_by(watch, facts) if watch else None
    report = report_named(format_name)
    reader = None if output_file else sys.stdout
    past = remembered_past(source, in_force, judgement, facts, history_file)
    shown = Shown(verbose, show_suppressed, fail_on, unknown_as, reader, full, chosen, past=past, statements=seen)
    text = report.render(judgement, facts, shown)
    if output_file is None:
        print_verdict(text)
    else:
        write_whole(output_file, text)
    sys.exit(report.exit_status(judgement, facts, shown))


def _refuse_what_tells_no_statements(
    source: SourceOptions, format_name: str, interval: float, chosen: tuple[str, ...]
) -> None:
    """Said before anything is watched."""
    from myisam_advisor.reports.formats.base import tells_statements

    if source.facts_file:
        raise click.UsageError("--statements watches a running server: leave out --facts.")
    if not interval:
        raise click.UsageError("--statements watches for as long as the interval is: leave out --interval 0.")
    if chosen:
        raise click.UsageError("--statements is of the whole report: leave out NUMBER and RULE.")
    if not tells_statements(format_name):
        told = [name for name in REPORTS if tells_statements(name)]
        raise click.UsageError(f"--statements is for --format {' and '.join(told)}.")
