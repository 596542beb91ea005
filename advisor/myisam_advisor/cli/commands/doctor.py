"""`myisam-advisor doctor`: what each collector can see, and what it lacks."""

from __future__ import annotations

import json
import sys

import click

from myisam_advisor.cli.described import FIND, Described
from myisam_advisor.cli.options import ServerOptions, SiteOptions, format_option, server_options, site_options
from myisam_exporter.errors import UserError


@click.command(
    cls=Described,
    task=FIND,
    examples=(("sudo myisam-advisor doctor", "What can be seen here, and what each missing right would add."),),
)
@server_options
@click.option("--facts", "facts_file", hidden=True)
@site_options
@format_option()
def doctor(format_name: str, facts_file: str | None, server: ServerOptions, site: SiteOptions) -> None:
    """Show which account is used, what each source can see, what it lacks, how to grant that, and which rules it enables.

    It checks the rights of the user who runs it; `myisam-advisor rights` checks and grants those of the service.
    """
    from myisam_advisor.cli.examination import examination_as_document, examination_as_text, examine, who_asks
    from myisam_advisor.history.paths import history_path

    if facts_file is not None:
        raise UserError("doctor examines a server: it has no use for --facts.")
    rules = site.load().rules
    target = server.target()
    who = who_asks(target, server.timeout_seconds)
    examinations = examine(target, server.timeout_seconds, server.key_caches, rules)
    if format_name == "json":
        print(json.dumps(examination_as_document(examinations, who, history_path()), indent=1))
        return
    print(examination_as_text(examinations, sys.stdout, who), end="")
