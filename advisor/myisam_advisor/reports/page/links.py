"""Addresses of the daemon's pages, relative to the page that they stand on: a proxy may show all of them below any path.

Names are in queries, not in paths: proxies decode, merge and forbid slashes and dots of paths, each in its own way.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Links:
    """`base` leads to the daemon's root; `target` names the probed server that the pages are about, or is empty for our own."""

    base: str = "./"
    target: str = ""
    telemetry_path: str = "/metrics"

    def home(self) -> str:
        """What to change."""
        return self._to("")

    def server(self, target: str) -> str:
        """The page of another server; an empty name is our own."""
        return Links(self.base, target).home()

    def advice(self) -> str:
        """The same for programs."""
        return self._to("advice.json")

    def metrics(self) -> str:
        """The metrics of our own server, or those of the probed one."""
        return self._to("probe") if self.target else f"{self.base}{self.telemetry_path.removeprefix('/')}"

    def rules(self) -> str:
        """All rules."""
        return self._to("rules")

    def rule(self, rule: str) -> str:
        """What a rule checks, and what it says of this server."""
        return self._to(f"rules/{quote(rule, safe='')}")

    def tables(self, **chosen: str) -> str:
        """The list of tables, as chosen."""
        return self._to("tables", **chosen)

    def table(self, schema: str, table: str) -> str:
        """Everything known about one table."""
        return self._to("table", schema=schema, table=table)

    def _to(self, path: str, **parameters: str) -> str:
        target = {"target": self.target} if self.target else {}
        query = urlencode({**parameters, **target}, errors="replace")  # halves of surrogates are in no request
        return f"{self.base}{path}{f'?{query}' if query else ''}"


def base_of(path: str) -> str:
    """How a page of this path reaches the root."""
    return "../" * (path.count("/") - 1) or "./"
