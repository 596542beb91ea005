"""The command line. Everything heavy is imported by the command that needs it: --version and --help answer at once."""

from __future__ import annotations

import click

from myisam_advisor.cli.commands.base import Commands
from myisam_advisor.cli.described import FAILED
from myisam_advisor.cli.ending import keep_traces
from myisam_exporter.version import __version__


@click.group(
    cls=Commands,
    examples=(
        ("sudo myisam-advisor check", "What holds this machine's server back, and what to do about it."),
        ("myisam-advisor check -h db1 -u monitor -p", "The same for a remote server; prompts for the password."),
        ("myisam-advisor check --help", "All options of a command."),
    ),
    statuses=(
        ("0", "Success; check: no finding reaches --fail-on."),
        ("1", "check: a finding reaches --fail-on; verify: something got worse; rights: something cannot be seen."),
        FAILED,
        ("3", "verify: not enough data; check --format nagios: UNKNOWN."),
        ("130", "Interrupted (Ctrl-C)."),
    ),
    context_settings={"max_content_width": 110},
)
@click.version_option(__version__, prog_name="myisam-advisor")
@click.option("--debug", is_flag=True, help="Show where an internal error happened (also MYISAM_ADVISOR_DEBUG=1).")
def cli(debug: bool) -> None:
    """Examine both halves of MyISAM - the key cache inside the server, the page cache outside it - and recommend what to change."""
    if debug:
        keep_traces()
