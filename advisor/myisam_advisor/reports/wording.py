"""What the reports for people say alike: the server in one line, since when something holds, how many are told one by one."""

from __future__ import annotations

from collections.abc import Sequence

from myisam_advisor.judging.findings import Finding
from myisam_advisor.judging.past import length_in_words
from myisam_advisor.texts.moments import moment_in_words
from myisam_advisor.texts.templates import duration, size, so_many
from myisam_exporter.facts.columns import Row
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.version_number import product_and_version

TOLD_PER_RULE = 3
SHOWN_PER_RULE = 8
NAMED_PER_RULE = 12
SEPARATOR = " · "


def headline(facts: FactSet, width: int | None = None) -> str:
    """Which server this is, what it holds, and how long it was looked at; in fewer words where the width has no room for all."""
    said = SEPARATOR.join([server_name(facts), *_state(facts)])
    if width is None or len(said) <= width:
        return said
    said = SEPARATOR.join([server_name(facts, short=True), *_state(facts)])
    return said if len(said) <= width else SEPARATOR.join([server_name(facts, short=True), *_state(facts, short=True)])


def server_name(facts: FactSet, *, short: bool = False) -> str:
    """Its kind and version, without what its maker added to the number where that is to be short."""
    server = facts.single("server")
    flavour, version = server.get("flavour"), server.get("version")
    if not version:
        return "a server of unknown version"
    return product_and_version(flavour, str(version).partition("-")[0] if short else str(version))


def _state(facts: FactSet, *, short: bool = False) -> list[str]:
    parts = []
    uptime = facts.single("server").get("uptime_seconds")
    if isinstance(uptime, int | float):
        parts.append(f"up {duration(uptime)}")
    totals = facts.single("totals")
    tables = totals.get("myisam_tables")
    if isinstance(tables, int):
        parts.append(f"{so_many(tables, 'MyISAM table')}{_sizes(totals, short)}")
    elif facts.tables["tables"].rows:
        seen = len(facts.tables["tables"].rows)
        parts.append(f"{so_many(seen, 'MyISAM table')} seen, more are hidden")
    parts.append(f"{facts.interval_seconds:.0f} s observed" if facts.interval_seconds else "one moment, no rates")
    return [*parts, facts.origin] if facts.origin else parts


def _sizes(totals: Row, short: bool) -> str:
    data, indexes = totals.get("myisam_data_bytes"), totals.get("myisam_index_bytes")
    if not (isinstance(data, int) and isinstance(indexes, int)):
        return ""
    return f" ({size(data + indexes)})" if short else f" ({size(data)} data, {size(indexes)} indexes)"


def holds_since(findings: Sequence[Finding]) -> str:
    """Since when the oldest of them has held, where a history tells."""
    known = [one for one in findings if one.first_seen is not None]
    if not known:
        return ""
    oldest = min(known, key=lambda one: one.first_seen or 0.0)
    first, last = oldest.first_seen or 0.0, oldest.last_seen or 0.0
    before = "" if oldest.begin_seen else " or before"
    return f"{moment_in_words(first, max(first, last))}{before} ({length_in_words(last - first)})"
