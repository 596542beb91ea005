"""What is kept of a look for those who ask between looks: the judgement, and of the facts what is small."""

from __future__ import annotations

from dataclasses import replace

from myisam_advisor.judging.findings import Judgement
from myisam_advisor.judging.past import Past
from myisam_advisor.judging.verdict import Verdict, verdict_of
from myisam_advisor.reports.page.host_paths import odd_paths
from myisam_advisor.reports.page.table_map import TableMap, table_map
from myisam_advisor.reports.wording import server_name
from myisam_advisor.texts.templates import printable
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.look.fact_set import FactRows, FactSet

# Tables and indexes are those that the watch itself keeps for the next look: they cost nothing more.
KEPT_TABLES = frozenset({"server", "totals", "mysqld", "host", "key_cache", "tables", "indexes"})


@dataclass(frozen=True, slots=True)
class Look:
    """One server at one moment (seconds since 1970) and what is advised; `facts` has the tables in KEPT_TABLES only.

    `past` is what was found before, None where nothing is remembered. `odd_paths` are those whose end cannot be seen in a text (host_paths).
    """

    judgement: Judgement
    facts: FactSet
    taken_at: float
    past: Past | None
    odd_paths: tuple[str, ...] = ()

    @property
    def tables(self) -> TableMap:
        """The map of the tables. Drawn when somebody looks at it, once: it takes time for each table, and most looks nobody sees."""
        return self.facts.tables["tables"].once("map", table_map)

    @property
    def verdict(self) -> Verdict:
        """What holds the server back."""
        return verdict_of(self.judgement, self.facts.interval_seconds)

    @property
    def name(self) -> str:
        """Which server it was, in words."""
        hostname = self.facts.single("server").get("hostname")
        return printable(f"{server_name(self.facts)}{f' on {hostname}' if hostname else ''}")

    @property
    def data_directory(self) -> str | None:
        """Where the server keeps its tables, where that is known."""
        directory = self.facts.single("server").get("data_directory")
        return directory if isinstance(directory, str) else None


def look_at(judgement: Judgement, facts: FactSet, taken_at: float, past: Past | None = None) -> Look:
    """What to keep of these facts and what was judged from them."""
    small = {
        name: table if name in KEPT_TABLES else FactRows(table.columns, []) for name, table in facts.tables.items()
    }
    return Look(judgement, replace(facts, tables=small), taken_at, past, odd_paths(facts))
