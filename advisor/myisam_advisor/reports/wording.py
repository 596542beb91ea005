"""What the reports for people say alike: the server in one line, since when something holds, how many are told one by one."""

from __future__ import annotations

from collections.abc import Sequence
from time import localtime, strftime

from myisam_advisor.judging.findings import Finding
from myisam_advisor.texts.templates import count, duration, size
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.server.version_number import PRODUCT_NAMES

TOLD_PER_RULE = 3
SHOWN_PER_RULE = 8
NAMED_PER_RULE = 12


def headline(facts: FactSet) -> str:
    """Which server this is, what it holds, and how long it was looked at."""
    return " · ".join([server_name(facts), *_state(facts)])


def server_name(facts: FactSet) -> str:
    """Its kind and version."""
    server = facts.single("server")
    flavour, version = server.get("flavour"), server.get("version")
    return f"{PRODUCT_NAMES.get(str(flavour), 'server')} {version}" if version else "a server of unknown version"


def _state(facts: FactSet) -> list[str]:
    parts = []
    uptime = facts.single("server").get("uptime_seconds")
    if isinstance(uptime, int | float):
        parts.append(f"up {duration(uptime)}")
    totals = facts.single("totals")
    tables, data, indexes = (totals.get(name) for name in ("myisam_tables", "myisam_data_bytes", "myisam_index_bytes"))
    if isinstance(tables, int):
        sizes = isinstance(data, int) and isinstance(indexes, int)
        parts.append(
            f"{count(tables)} MyISAM table{'s' if tables != 1 else ''}"
            + (f" ({size(data)} data, {size(indexes)} indexes)" if sizes else "")  # type: ignore[arg-type]
        )
    elif facts.tables["tables"].rows:
        seen = len(facts.tables["tables"].rows)
        parts.append(f"{count(seen)} MyISAM table{'s' if seen != 1 else ''} seen, others are not")
    parts.append(f"{facts.interval_seconds:.0f} s observed" if facts.interval_seconds else "one moment, no rates")
    return [*parts, facts.origin] if facts.origin else parts


def holds_since(findings: Sequence[Finding]) -> str:
    """Since when the oldest of them has held, where a history tells."""
    moments = [(finding.first_seen, finding.last_seen) for finding in findings if finding.first_seen is not None]
    if not moments:
        return ""
    first, last = min(moments)
    return f"{strftime('%Y-%m-%d %H:%M', localtime(first))} ({duration((last or first) - first)})"
