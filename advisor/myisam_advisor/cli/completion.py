"""What a shell may offer for the arguments of commands: asked at each press of the tab key, so nothing is parsed."""

from __future__ import annotations

import click


def rule_ids(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Ids of the shipped rules that begin so; a rule's file bears its id."""
    from myisam_advisor.catalogue.shipped_files import shipped

    names = (file.stem for file in shipped("advice").glob("*.yaml"))
    return sorted(name for name in names if name.startswith(incomplete) and not name.startswith("_"))


def fact_tables(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Names of fact tables that begin so."""
    from myisam_exporter.facts.columns import TABLES

    return [table.name for table in TABLES if table.name.startswith(incomplete)]
