"""`myisam-advisor explain`: a rule as a page."""

from __future__ import annotations

import sys

import click

from myisam_advisor.cli.completion import rule_ids
from myisam_advisor.cli.described import FIND, Described
from myisam_advisor.cli.options import SiteOptions, site_options


@click.command(
    cls=Described,
    task=FIND,
    examples=(
        ("myisam-advisor explain", "All rules."),
        (
            "myisam-advisor explain key-buffer-too-small",
            "One rule, with its thresholds and the lines that change them.",
        ),
    ),
)
@click.argument("rule_id", metavar="[RULE]", required=False, shell_complete=rule_ids)
@click.option("--sql", is_flag=True, help="Also show the rule's query over the facts.")
@site_options
def explain(rule_id: str | None, sql: bool, site: SiteOptions) -> None:
    """Explain what a rule checks and why, with its thresholds and sources; without RULE, list all rules."""
    from myisam_advisor.reports.explanation import explain_rule, list_rules
    from myisam_advisor.texts.templates import printable
    from myisam_advisor.texts.width import text_width

    if sql and not rule_id:
        raise click.UsageError("--sql is for one rule: name it, or leave out --sql.")
    rules = site.load().rules
    width = text_width(sys.stdout)
    text = explain_rule(rule_id, rules, width, sql, _proved(rule_id)) if rule_id else list_rules(rules)
    # Whoever was given a rule reads here what it does: what would hide a part of that from a terminal is shown.
    click.echo(printable(text, keep_newlines=True))


def _proved(rule_id: str) -> list[str]:
    """What was proved on this machine of the rule's remedy; whether it still fits a server only `proofs` and `check` look at."""
    from myisam_advisor.proofs.proof import ProofOutcome
    from myisam_advisor.proofs.settled import Settled
    from myisam_advisor.proofs.store import of_all, proof_stores
    from myisam_advisor.proofs.validity import still_valid
    from myisam_advisor.texts.templates import printable

    kept = of_all(proof_stores())
    own = [one for one in kept.proofs if one.rule_id == rule_id]
    said = (
        (one, ProofOutcome(one.times, one.low, one.high, one.verdict), still_valid(one, None, kept.now)) for one in own
    )
    return [printable(Settled(one, outcome, why_not or "", kept.now).sentence) for one, outcome, why_not in said]
