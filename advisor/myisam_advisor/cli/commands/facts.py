"""`myisam-advisor facts`: the fact tables, as they are."""

from __future__ import annotations

import sys

import click

from myisam_advisor.cli.completion import fact_tables
from myisam_advisor.cli.described import FACTS, Described
from myisam_advisor.cli.options import SourceOptions, connection_options, format_option, interval_option, raw_option
from myisam_advisor.cli.sources import gather


@click.command(
    cls=Described,
    task=FACTS,
    examples=(
        ("myisam-advisor facts key_cache", "One table of facts."),
        ("myisam-advisor facts --describe tables", "What its columns mean."),
    ),
)
@click.argument("table", required=False, shell_complete=fact_tables)
@connection_options
@interval_option("0")
@click.option("--describe", is_flag=True, help="List the tables and columns, and what they mean.")
@raw_option
@format_option(("table", "json", "csv"), "table")
def facts(
    table: str | None, interval: float, describe: bool, raw: bool, format_name: str, source: SourceOptions
) -> None:
    """Show the facts: one fact table, or all. Without TABLE, a terminal gets the list of tables."""
    from myisam_advisor.factbase.derived import complete
    from myisam_advisor.factbase.schema import describe_tables, expect_fact_table
    from myisam_advisor.factbase.views import overview, result_as_text, result_of, tables_as_text
    from myisam_advisor.texts.drawing import is_terminal
    from myisam_exporter.facts.columns import table_named

    if describe:
        click.echo(describe_tables(table))
        return
    if table is not None:
        expect_fact_table(table)  # before the server is asked
    known = complete(gather(source, interval))
    chosen = table_named(table) if table is not None else None
    if chosen is not None:
        upright = chosen.shape == "single" and is_terminal(sys.stdout)
        text = result_as_text(result_of(known, chosen.name), format_name, sys.stdout, upright, raw)
    elif format_name == "table" and is_terminal(sys.stdout):
        text = overview(known, sys.stdout)
    else:
        text = tables_as_text(known, format_name, sys.stdout)
    print(text, end="")
