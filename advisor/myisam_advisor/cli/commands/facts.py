"""`myisam-advisor facts`: the fact tables, as they are."""

from __future__ import annotations

import sys

import click

from myisam_advisor.cli.completion import fact_tables
from myisam_advisor.cli.options import SourceOptions, connection_options, interval_option, output_option
from myisam_advisor.cli.sources import gather


@click.command()
@click.argument("table", required=False, shell_complete=fact_tables)
@connection_options
@interval_option("0")
@click.option("--describe", is_flag=True, help="List the tables and columns there are, and what they mean.")
@output_option
def facts(table: str | None, interval: float, describe: bool, format_name: str, source: SourceOptions) -> None:
    """Show the facts: all tables, or one."""
    from myisam_advisor.factbase.derived import complete
    from myisam_advisor.factbase.views import describe_tables, result_as_text, result_of, tables_as_text

    if describe:
        click.echo(describe_tables(table))
        return
    if table is not None:
        describe_tables(table)  # refuses an unknown name before the server is asked
    known = complete(gather(source, interval))
    if table is None:
        print(tables_as_text(known, format_name, sys.stdout), end="")
    else:
        print(result_as_text(result_of(known, table), format_name, sys.stdout), end="")
