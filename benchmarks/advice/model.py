"""What an adviser is asked, and what it answers: the one interface between the harness and the advisers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Change:
    """One piece of advice as something that can be done: exactly one of `variable` (with `value`, bytes or words as for SET/my.cnf) and `statement`."""

    variable: str | None
    value: str | None
    statement: str | None
    said: str
    """The adviser's own sentence."""
    severity: str
    """warning, notice, info, or the adviser's own word."""
    rule: str
    """The rule's id, or the adviser's own name of the check."""
    work: float | None = None
    """What ours forecasts its gain from, where it does: see catalogue/forecasts.py."""


@dataclass(frozen=True)
class Advice:
    """What one adviser says of one server under one load."""

    adviser: str
    version: str
    changes: tuple[Change, ...]
    named: tuple[str, ...]
    """What it says is wrong, without a change that a machine can apply."""


@dataclass(frozen=True)
class WatchedServer:
    """The server that is asked about: private, loaded for so long."""

    socket: Path
    product: str
    """As script/servers names it: mariadb-10.11, ..."""
    data_directory: Path
    user: str
    password: str | None
    loaded_seconds: float


class Adviser(Protocol):
    """One of those compared."""

    name: str

    def why_not(self) -> str | None:
        """Why it cannot run here (a program is missing), or None."""

    def advice(self, server: WatchedServer) -> Advice:
        """What it says now, while the load runs."""
