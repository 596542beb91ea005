"""What a replay is about, and how it is to be done: what comes in with a task."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field

from myisam_advisor.trial.private.binaries import ServerBinaries
from myisam_advisor.trial.private.machine import SERVER_DISK_BYTES
from myisam_advisor.trial.statements.definitions import FUNCTION, TRIGGER, Definition
from myisam_advisor.trial.statements.sender import MAXIMUM_SPEED
from myisam_advisor.trial.statements.variants import Variant
from myisam_advisor.trial.tables.sources import Source
from myisam_advisor.trial.tables.table_lock import Lock
from myisam_advisor.workload.events import Event
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

# As a workload names where it is from.
GENERAL_LOG = "general_log"


@dataclass(frozen=True, slots=True)
class Material:
    """What a replay is about.

    `events` reads the workload from its beginning, as often as it is called; `missing` says of tables that were not copied why not;
    `changed_seconds` for how long after the recording's beginning a table was still written, where it was. `definitions` are views,
    triggers and routines that its statements use, `notes` what else is to be told of the replay. `knows_moments`: the recording tells to the microsecond when
    statements began.
    """

    binaries: ServerBinaries
    settings: Sequence[str]
    events: Callable[[], Iterator[Event]]
    sources: Sequence[Source]
    missing: Mapping[TableName, str]
    changed_seconds: Mapping[TableName, float] = field(default_factory=dict)
    lock: Lock | None = field(default=None, repr=False)
    described: Mapping[str, str] = field(default_factory=dict)
    definitions: Sequence[Definition] = ()
    notes: Sequence[str] = ()
    knows_moments: bool = False

    @property
    def logged_programs(self) -> bytes:
        """The texts of triggers and functions, where the recording is of a log that has their statements as if they had been sent."""
        if self.described.get("source") != GENERAL_LOG:
            return b""
        made = (one.create for one in self.definitions if one.kind in (TRIGGER, FUNCTION) and not one.problem)
        return "\0".join(made).encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How to replay: at which speed, for how long in all (None: as long as the rounds take), and how many rounds at most."""

    speed: str = MAXIMUM_SPEED
    budget_seconds: float | None = 300.0
    maximum_rounds: int | None = None


def servers_disk_bytes(variants: Sequence[Variant], copied_bytes: int) -> int:
    """The disk that the servers of a replay take beyond the first one's own files: one for each change that needs its own, and one for those together.

    Each has the copies, and as much again to work in.
    """
    servers = 1 + sum(bool(variant.statements or variant.options) for variant in variants) + (len(variants) > 1)
    return 2 * servers * copied_bytes + (servers - 1) * SERVER_DISK_BYTES
