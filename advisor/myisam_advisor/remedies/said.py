"""What the gate says of one remedy while its commands pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from myisam_advisor.remedies.statements.base import Name, Phase, Statement
from myisam_advisor.remedies.statements.variables import SetGlobal
from myisam_exporter.declaring.lean_dataclasses import dataclass

# These go through resize_key_cache().
RESIZES_KEY_CACHE = frozenset({"key_buffer_size", "key_cache_block_size"})


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

    def lose(self, command: Statement, why: str) -> str:
        """Of a key cache with a name that cannot be made here: why what makes it, and what would use it, is not run; empty for any other command."""
        if isinstance(command, SetGlobal):
            if command.variable in RESIZES_KEY_CACHE:
                self.lost_caches.add(command.cache)
                return why
            return ""
        name = command.table or (command.table_alone,)
        if command.assigned_to and command.assigned_to in self.lost_caches:
            self.lost_tables.add(name)
            return why
        return why if command.phase is Phase.LOAD and name in self.lost_tables else ""

    def charge(self, *sentences: str) -> None:
        """What something costs on this server."""
        self.cost.update(dict.fromkeys(sentences))
