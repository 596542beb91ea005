"""`myisam-advisor doctor`: what each collector can see, and what it lacks."""

from __future__ import annotations

import sys
from typing import Any

import click

from myisam_advisor.cli.options import connection_options, site_of, site_options, target_of
from myisam_exporter.errors import UserError


@click.command()
@connection_options
@site_options
def doctor(**options: Any) -> None:
    """Say what each collector can see, what it lacks, how to grant it, and which rules that would enable."""
    from myisam_advisor.cli.examination import examination_as_text, examine

    if options["facts_file"]:
        raise UserError("doctor examines a server: it has no use for --facts.")
    rules = site_of(options).rules
    examinations = examine(target_of(options), options["timeout_seconds"], options["key_caches"], rules)
    print(examination_as_text(examinations, sys.stdout), end="")
