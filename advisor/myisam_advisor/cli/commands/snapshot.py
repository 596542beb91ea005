"""`myisam-advisor snapshot`: the facts as a file, to be judged anywhere."""

from __future__ import annotations

import click

from myisam_advisor.cli.options import SourceOptions, connection_options, interval_option
from myisam_advisor.cli.sources import gather


@click.command()
@connection_options
@interval_option("10s")
def snapshot(interval: float, source: SourceOptions) -> None:
    """Write the facts as JSON, for `check --facts` anywhere."""
    import json

    from myisam_advisor.factbase.document import as_document

    click.echo(json.dumps(as_document(gather(source, interval)), indent=1))
