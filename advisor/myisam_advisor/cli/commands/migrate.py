"""`myisam-advisor migrate`: what leaving MyISAM breaks, how long it lasts, how large the tables become. It changes nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.described import CHANGE, Described
from myisam_advisor.cli.options import ServerOptions, format_option, server_options

if TYPE_CHECKING:
    from myisam_advisor.migrate.prediction import Migration

ENGINES = ["innodb", "aria"]
NO_NAME = "An empty name"
REMEDY = "Without a name, all tables are looked at; `myisam-advisor facts tables` lists them."


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("sudo myisam-advisor migrate shop", "What becomes of all tables of a database in InnoDB."),
        ("sudo myisam-advisor migrate --target mysql-8.4 shop.orders", "And what a later version refuses besides."),
        (
            "sudo myisam-advisor migrate --format sql shop > migrate.sql",
            "A script in batches; read it before you run it.",
        ),
    ),
)
@click.argument("names", nargs=-1, metavar="[DB|DB.TABLE]...")
@click.option(
    "--to", "to", type=click.Choice(ENGINES), default="innodb", show_default=True, help="The engine to go to."
)
@click.option(
    "--target", metavar="VERSION", help="A later version to go to as well, such as mysql-8.4 or mariadb-11.8."
)
@format_option(("text", "json", "sql"))
@server_options
def migrate(names: tuple[str, ...], to: str, target: str | None, format_name: str, server: ServerOptions) -> None:
    """Predict what converting tables to another engine breaks, how long it lasts and how large they become, and write the script.

    It reads the tables' files (.MYI, .frm, .sdi) and the server's variables; it opens no table and converts none. Without a name, all.
    """
    from myisam_advisor.migrate.document import as_json
    from myisam_advisor.migrate.report import as_text
    from myisam_advisor.migrate.script import as_script
    from myisam_advisor.migrate.server_kind import MYSQL, target_kind

    if target is not None:
        # What is no version is refused before any server is asked.
        target_kind(target, MYSQL)
    migration = _predicted(names, to, target, server)
    if format_name == "json":
        print(as_json(migration), end="")
    elif format_name == "sql":
        print(as_script(migration), end="")
    else:
        print(as_text(migration, sys.stdout), end="")


def _predicted(names: tuple[str, ...], to: str, target: str | None, server: ServerOptions) -> Migration:
    from pathlib import Path

    from myisam_advisor.migrate.looking import looked_at
    from myisam_advisor.migrate.server_kind import ENGINES as ENGINE_NAMES
    from myisam_advisor.proofs.rate_store import rate_stores, rates_of_all
    from myisam_exporter.server.session import Session

    with Session(server.target(), server.timeout_seconds) as session:
        rates = rates_of_all(rate_stores())
        migration = looked_at(session, names, ENGINE_NAMES[to], target, Path("/proc"), rates)
    _tell_of_what_is_not_there(migration)
    return migration


def _tell_of_what_is_not_there(migration: Migration) -> None:
    """Raises UserError where nothing else was asked for; else the rest goes on, and it is said beside it."""
    from myisam_advisor.cli.ending import tell_beside
    from myisam_advisor.texts.templates import printable, sentence
    from myisam_exporter.errors import UserError

    lines = [sentence(f"{name or NO_NAME}: {why}") for name, why in migration.not_found]
    if lines and not migration.predictions and len(migration.left_out) == len(lines):
        raise UserError(f"{' '.join(lines)} {REMEDY}")
    for line in lines:
        tell_beside(printable(f"myisam-advisor: {line} {REMEDY}"))
