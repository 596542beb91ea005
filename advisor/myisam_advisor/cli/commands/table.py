"""`myisam-advisor table`: all that is known of one table."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.described import FIND, Described
from myisam_advisor.cli.options import (
    LongDuration,
    SiteOptions,
    SourceOptions,
    connection_options,
    format_option,
    history_option,
    interval_option,
    site_options,
    was_given,
)
from myisam_advisor.cli.sources import first_told, gather, history_paths, judged

if TYPE_CHECKING:
    from myisam_advisor.catalogue.site import Site
    from myisam_advisor.reports.one_table import Points
    from myisam_exporter.facts.columns import TableName
    from myisam_exporter.look.fact_set import FactSet

DEFAULT_INTERVAL = "10s"


@click.command(
    cls=Described,
    task=FIND,
    examples=(
        ("sudo myisam-advisor table shop.orders", "Everything known about one table."),
        ("myisam-advisor table '`a.b`.`c`'", "A table with a dot in its name."),
    ),
)
@click.argument("name", metavar="DB.TABLE")
@connection_options
@interval_option(DEFAULT_INTERVAL)
@site_options
@history_option
@click.option("--since", type=LongDuration(), default="24h", show_default=True, help="How far back the curves go.")
@format_option()
def table(
    name: str,
    interval: float,
    since: float,
    format_name: str,
    history_file: Path | None,
    source: SourceOptions,
    site: SiteOptions,
) -> None:
    """Show everything known about one table: format, size, activity, memory, indexes, history, findings, and trials to run on it.

    A name with a dot or another special character is quoted as in SQL: 'shop.`a.b`', between single quotes for the shell.
    """
    import time

    from myisam_advisor.cli.table_choice import chosen_table, no_such_table
    from myisam_advisor.reports.one_table import one_table, table_names
    from myisam_advisor.reports.one_table_text import one_table_as_json, one_table_as_text
    from myisam_advisor.reports.wording import headline
    from myisam_advisor.texts.drawing import terminal_width

    loaded = site.load()
    if interval and not source.facts_file and _must_wait():
        _refuse_early(name, source, loaded)
    judgement, facts = judged(source, loaded, interval, history_file)
    known = table_names(facts)
    chosen = chosen_table(name, known, folds=_folds_names(facts))
    now = time.time()
    # Of a facts file's server there are none, but in a history that was named.
    paths = [] if source.facts_file and not history_file else history_paths(history_file)
    curves = {} if chosen is None else _curves(paths, history_file, facts, chosen, now - since)
    told = one_table(facts, judgement, chosen, curves) if chosen else None
    if told is None:
        raise no_such_table(name, known, source, loaded, judgement.blind)
    if format_name == "json":
        print(one_table_as_json(told), end="")
    else:
        print(
            one_table_as_text(told, headline(facts, terminal_width(sys.stdout)), now - since, now, sys.stdout), end=""
        )


def _folds_names(facts: FactSet) -> bool:
    return facts.tables["variable"].by_name("value").get("lower_case_table_names") not in (None, 0, "0")


def _must_wait() -> bool:
    """Whether no daemon may have an interval at hand."""
    from myisam_advisor.history.paths import readable_histories

    return was_given("interval") or not readable_histories()


def _refuse_early(name: str, source: SourceOptions, site: Site) -> None:
    """A glance tells whether there is such a table: who mistyped its name need not wait for the interval's end."""
    from myisam_advisor.cli.table_choice import chosen_table, no_such_table
    from myisam_advisor.judging.blindness import blind_spots
    from myisam_advisor.judging.prepared import prepared
    from myisam_advisor.reports.one_table import table_names

    glance = replace(source, server=replace(source.server, page_cache_seconds=0.0))
    facts = prepared(gather(glance, 0.0), site).judged
    known = table_names(facts)
    if chosen_table(name, known, folds=_folds_names(facts)) is None:
        raise no_such_table(name, known, source, site, blind_spots(facts, ()))


def _curves(
    paths: Sequence[Path], history_file: Path | None, facts: FactSet, chosen: TableName, since: float
) -> Mapping[str, Points]:
    """The table's curves by column, from the first history that has any of this server."""
    import time

    from myisam_advisor.history.format import identity_of
    from myisam_advisor.history.reader import curves_of_server
    from myisam_advisor.reports.one_table import curve_names

    names = curve_names(*chosen)
    server, _ = identity_of(facts, time.time(), time.monotonic())
    found = first_told(paths, history_file, lambda path: curves_of_server(path, server, names, since) or None)
    return {names[name]: points for name, points in (found or {}).items()}
