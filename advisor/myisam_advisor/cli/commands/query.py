"""`myisam-advisor query`: the fact tables, asked in SQL."""

from __future__ import annotations

import sys

import click

from myisam_advisor.cli.described import FACTS, Described
from myisam_advisor.cli.options import SourceOptions, connection_options, format_option, interval_option, raw_option
from myisam_advisor.cli.sources import gather
from myisam_exporter.errors import UserError


@click.command(
    cls=Described,
    task=FACTS,
    examples=(
        ("myisam-advisor query 'SELECT * FROM tables WHERE crashed = 1'", "The crashed tables."),
        ("myisam-advisor query 'SELECT * FROM key_cache' --format csv", "For a spreadsheet."),
    ),
)
@click.argument("statement", metavar="SELECT")
@connection_options
@interval_option("0")
@raw_option
@format_option(("table", "json", "csv"), "table")
def query(statement: str, interval: float, raw: bool, format_name: str, source: SourceOptions) -> None:
    """Query the fact tables with SQL (SQLite's dialect). SHOW TABLES and DESCRIBE TABLE list tables and columns."""
    from myisam_advisor.factbase.database import open_database
    from myisam_advisor.factbase.derived import complete
    from myisam_advisor.factbase.guarded_query import QueryError
    from myisam_advisor.factbase.schema import schema_answer
    from myisam_advisor.factbase.views import result_as_text

    schema = result = schema_answer(statement)
    if result is None:
        known = complete(gather(source, interval))
        with open_database(known) as database:
            try:
                result = database.query(statement)
            except QueryError as error:
                raise UserError(f"query: {error}.") from None
    print(result_as_text(result, format_name, sys.stdout, raw=raw, prose=schema is not None), end="")
