"""What a replay found: as values, as JSON, and as taken from a process that is not believed.

The document: `{"variants": [{"name", "times", "low", "high", "verdict", ...}], "kinds": [{"fingerprint", "share", "variants": [...]}],
"fidelity": {...}, ...}`. No text of a statement is in it, only fingerprints; what was tried is the advisor's or the caller's own.
"""

from __future__ import annotations

from collections.abc import Mapping

from myisam_advisor.trial.rounds import Course
from myisam_exporter.declaring.lean_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Latency:
    """Milliseconds that half, 95 % and 99 % of the statements took at most."""

    median: float
    of_95_percent: float
    of_99_percent: float


@dataclass(frozen=True, slots=True)
class Measured:
    """What the runs of one variant came to: medians over the runs."""

    statements_per_second: float
    seconds: float
    latency_milliseconds: Latency
    rounds: int


@dataclass(frozen=True, slots=True)
class VariantResult:
    """One variant held against the settings as they are. `times` above 1 is faster.

    `rules` are the rules whose change it is, `statements` the SQL and the options that were tried; `problem` says why it could not be
    tried (nothing was measured then).
    """

    name: str
    rules: tuple[str, ...]
    statements: tuple[str, ...]
    times: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    measured: Measured | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class KindVariant:
    """One kind of statement under one variant."""

    name: str
    times: float
    low: float | None
    high: float | None
    verdict: str


@dataclass(frozen=True, slots=True)
class KindResult:
    """One kind of statement: its share of the time of all, how many there are, how long one takes now, and each variant."""

    fingerprint: str
    share: float
    statements: int
    milliseconds: float
    variants: tuple[KindVariant, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """A kind of statement that did not return what the recording says: rows, or an error (its number; 0 for rows, -1 for an error that is recorded, and did not come here)."""

    fingerprint: str
    error: int
    statements: int
    rows_recorded: int | None
    rows_returned: int | None


@dataclass(frozen=True, slots=True)
class TableStart:
    """A copied table: whether it began as it was when the recording began, and how many recorded statements write it."""

    table: str
    bytes: int
    recorded_writes: int
    changed_since_seconds: float | None


@dataclass(frozen=True, slots=True)
class KindShare:
    """A kind of statement, its share of the whole recording's time, and of the window's; of their statements where no times are told."""

    fingerprint: str
    recorded_share: float
    window_share: float


@dataclass(frozen=True, slots=True)
class Window:
    """Which beginning of the recording was replayed; `time_share` is its share of the time of all recorded statements.

    `absent` are kinds with a twentieth of the recording's time or more that are not in it, `shifted` those that have less than half
    or more than twice that share in it. Where the recording tells no times (`tells_times`), shares are of the number of statements,
    and `absent` are all kinds that are not in it: which of them has weight is not known. `left_out` are kinds of the same weight that are
    in it, and of which most was not sent; `sent_share` is the share of its time that was sent.
    """

    statements: int
    seconds: float
    recorded_statements: int
    recorded_seconds: float
    time_share: float
    absent: tuple[KindShare, ...] = ()
    shifted: tuple[KindShare, ...] = ()
    tells_times: bool = True
    left_out: tuple[KindShare, ...] = ()
    sent_share: float = 1.0

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole recording."""
        return self.statements == self.recorded_statements

    @property
    def proves(self) -> bool:
        """Whether what was replayed speaks for the whole: nothing of weight is missing, as far as the recording tells what has any."""
        return not self.left_out and (self.is_whole or (self.tells_times and not self.absent))


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How much like the recording the replay was. But for `window`, all of it is about the part that was replayed.

    `errors_recorded`: whether the recording tells which statements failed; where not, none can be said to have failed otherwise.
    `differing_share`: of the statements that were sent, how many were not answered as recorded; of their time, where that is more.
    """

    statements: int
    sent: int
    left_out: Mapping[str, int]
    rows_equal: int
    rows_differ: int
    rows_unknown: int
    differences: tuple[Difference, ...]
    tables: tuple[TableStart, ...]
    lost_turns: int
    crowded_connections: int
    recorded_seconds: float
    replayed_seconds: float
    sender_cpu_share: float
    window: Window
    unconnected: int
    errors_recorded: bool
    notes: tuple[str, ...] = ()
    differing_share: float = 0.0


@dataclass(frozen=True, slots=True)
class ReplayResult:
    """A whole replay. `baseline` is what the settings as they are came to; `course` how the rounds went."""

    variants: tuple[VariantResult, ...]
    kinds: tuple[KindResult, ...]
    fidelity: Fidelity
    baseline: Measured
    speed: str
    server: str
    version: str
    tables: tuple[str, ...]
    settings: tuple[str, ...]
    workload: Mapping[str, str]
    machine: str
    taken_at: float
    course: Course | None
