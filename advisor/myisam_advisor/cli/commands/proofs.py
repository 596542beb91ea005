"""`myisam-advisor proofs`: what trials and replays proved on this machine's own tables, and whether it still holds."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click

from myisam_advisor.cli.described import CHANGE, Described
from myisam_advisor.cli.options import SourceOptions, connection_options, format_option
from myisam_advisor.cli.sources import gather
from myisam_exporter.errors import UserError

if TYPE_CHECKING:
    from myisam_exporter.look.fact_set import FactSet


@click.command(
    cls=Described,
    task=CHANGE,
    examples=(
        ("myisam-advisor proofs", "What was proved here, when, and whether it is still valid."),
        (
            "sudo myisam-advisor proofs --forget 0123456789abcdef",
            "Remove the result of one trial, so that it is no longer used.",
        ),
    ),
)
@connection_options
@click.option("--forget", "forgotten", default="", metavar="ID", help="Remove the proof with this id.")
@format_option()
def proofs(forgotten: str, format_name: str, source: SourceOptions) -> None:
    """List what trials on copies of your tables and replays of your statements have proved; check, plan and the page quote it.

    A proof is valid for 90 days, or until the server's version, its load, or the tables' sizes, columns or indexes change.
    """
    from myisam_advisor.proofs.store import of_all, proof_stores

    if source.facts_file:
        raise UserError("proofs are of this machine's servers: proofs has no use for --facts.")
    if forgotten:
        _forget(forgotten)
        return
    from myisam_advisor.proofs.settled import server_of
    from myisam_advisor.reports.proofs_in_words import as_document, as_text, standings

    kept = of_all(proof_stores())
    facts, not_looked = _facts(source) if kept.proofs else (None, "")
    found = standings(kept, facts, "" if facts is None else server_of(facts))
    if format_name == "json":
        print(json.dumps(as_document(found, kept, not_looked), indent=1))
    else:
        print(as_text(found, kept, not_looked, sys.stdout), end="")


def _facts(source: SourceOptions) -> tuple[FactSet | None, str]:
    """One look, without an interval; why there is none where the server cannot be reached."""
    from dataclasses import replace

    from myisam_advisor.factbase.derived import complete

    try:
        return complete(gather(replace(source, server=replace(source.server, page_cache_seconds=0.0)), 0.0)), ""
    except UserError as error:
        return None, str(error)


def _forget(proof_id: str) -> None:
    """Remove it from wherever it is kept. Raises UserError where it is nowhere, or may not be removed."""
    from myisam_advisor.proofs.store import proof_stores

    holding = [store for store in proof_stores() if any(one.id == proof_id for one in store.current().proofs)]
    for store in holding or proof_stores()[:1]:
        store.forget(proof_id)
        click.echo(f"forgotten: {proof_id} in {store.directory}")
