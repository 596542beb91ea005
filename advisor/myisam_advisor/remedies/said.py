"""What the gate says of one remedy while its commands pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from myisam_advisor.remedies.statements.base import Name
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(slots=True)
class Said:
    """The sentences of one finding, each once, and what was refused that later commands would use."""

    instead: dict[str, None] = field(default_factory=dict)
    cost: dict[str, None] = field(default_factory=dict)
    undo: dict[str, None] = field(default_factory=dict)
    lost_caches: set[str] = field(default_factory=set)
    lost_tables: set[Name] = field(default_factory=set)

    def refuse(self, sentences: Iterable[str]) -> None:
        """Why something may not run, and what to do instead."""
        self.instead.update(dict.fromkeys(sentences))

    def charge(self, *sentences: str) -> None:
        """What something costs on this server."""
        self.cost.update(dict.fromkeys(sentences))
