"""`myisam-advisor history`: curves of facts, and the findings on record."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from myisam_advisor.cli.described import WATCH, Described
from myisam_advisor.cli.options import LongDuration, history_option

CURVE_SECONDS = 86400.0


@click.command(
    cls=Described,
    task=WATCH,
    examples=(
        ("myisam-advisor history", "Which findings held, and when."),
        ("myisam-advisor history status.Questions.per_second --since 6h", "The history of one fact."),
        ("myisam-advisor history --since 2d", "Which findings held within the last two days."),
        ("myisam-advisor history --forecasts", "What was forecast for changes, and what was measured."),
    ),
)
@click.argument("fact", required=False)
@history_option
@click.option(
    "--since",
    "since_seconds",
    type=LongDuration(),
    help="How far back: 90min, 24h, 7d [default: 24h for a FACT; without one, all that is on record].",
)
@click.option("--list", "list_facts", is_flag=True, help="List the facts on record.")
@click.option("--forecasts", is_flag=True, help="List what was forecast for changes, and what `verify` then measured.")
def history(
    fact: str | None, history_file: Path | None, since_seconds: float | None, list_facts: bool, forecasts: bool
) -> None:
    """Draw the history of a FACT that a daemon (`serve`) recorded; without FACT, list the recorded findings."""
    from myisam_advisor.history import curves as history_view
    from myisam_advisor.history.ledger import ledger_in_words, ledgers
    from myisam_advisor.history.paths import path_to_read
    from myisam_advisor.texts.bars import bars_for
    from myisam_advisor.texts.drawing import is_terminal, terminal_width

    if forecasts:
        if fact is not None or list_facts or history_file is not None:
            raise click.UsageError("--forecasts lists what verify noted: leave out FACT, --list and --history.")
        print(ledger_in_words(ledgers(), time.time(), since_seconds))
        return
    if list_facts and fact is not None:
        raise click.UsageError("--list lists all facts: leave out FACT, or --list.")
    if list_facts and since_seconds is not None:
        raise click.UsageError("--list lists all facts, however old: leave out --since, or --list.")
    path = path_to_read(history_file)
    if list_facts:
        print(history_view.facts_in_words(path, headings=is_terminal(sys.stdout)))
    elif fact is None:
        print(history_view.episodes_in_words(path, terminal_width(sys.stdout), since_seconds))
    else:
        print(history_view.curves_in_words(path, fact, since_seconds or CURVE_SECONDS, bars_for(sys.stdout)))
