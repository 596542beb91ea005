"""What a proof is: what was tried, on which tables of which server, when, under which load, and what came of it.

Only trials on copies of the user's own tables, and replays of their own statements, are proofs; what was measured on made-up tables is not.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import field
from math import exp, log

from myisam_exporter.declaring.lean_dataclasses import dataclass

# What a trial says of a change (trial/comparison.py), and how a terminal shows it.
WORTH_IT, NO_DIFFERENCE, WORSE, UNCLEAR = "worth it", "no difference", "worse", "unclear"
VERDICTS = (WORTH_IT, NO_DIFFERENCE, WORSE, UNCLEAR)
# A change of less is not worth a restart or an ALTER.
WORTHWHILE_CHANGE = 0.05
STYLES = {WORTH_IT: "bold green", NO_DIFFERENCE: "", WORSE: "bold red", UNCLEAR: "yellow"}
REPLAY = "replay"
_ID_BYTES = 8


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of statement, or one workload of a trial: how much of the load it is (0 to 1, None where that is not known), and what came of it."""

    fingerprint: str
    share: float | None
    times: float
    low: float
    high: float
    verdict: str


@dataclass(frozen=True, slots=True)
class ProvedLoad:
    """What the server had to do when the proof was made, and how many bytes each table had (data and index)."""

    statements_per_second: float | None
    tables: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Proof:
    """One change that was tried: `times` faster, with its interval, over what it was tried with; and each kind of that.

    `experiment` is a trial's name, or REPLAY; `change` what was changed, as statements and `variable=value`; `objects` the tables it was
    tried on; `server` tells one server from another (`server_key`), empty where it was not noted; `recorded_at` is when the statements of a replay
    were recorded, None where that is not known, or nothing was. `before` has the variables of the change as they were on the watched server: a gain
    over 8M is none over 64M. `structures` are what the tables of `objects` were made of, in their order (structures.py): "" where one is not known, and none of proofs
    that were made before they were noted.
    """

    rule_id: str
    experiment: str
    change: tuple[str, ...]
    objects: tuple[str, ...]
    times: float
    low: float
    high: float
    verdict: str
    kinds: tuple[Kind, ...]
    server_product: str
    server_version: str
    taken_at: float
    workload: ProvedLoad
    server: str
    recorded_at: float | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    structures: tuple[str, ...] = ()

    @property
    def structure_of(self) -> Mapping[str, str]:
        """What its tables were made of, by their names, as far as that is known."""
        return {name: one for name, one in zip(self.objects, self.structures, strict=False) if one}

    @property
    def dates_from(self) -> float:
        """From when on its days are counted: of a replay, what the load was when it was recorded is what it knows."""
        return self.taken_at if self.recorded_at is None else min(self.taken_at, self.recorded_at)

    @property
    def is_clear(self) -> bool:
        """Whether it says something of the whole; of a trial also where one of its workloads gained and another lost, which noise does not do."""
        return self.verdict != UNCLEAR or (
            self.experiment != REPLAY and {WORTH_IT, WORSE} <= {one.verdict for one in self.kinds}
        )

    @property
    def was_disturbed(self) -> bool:
        """Whether its interval tells something, and it is unclear all the same: others had the processors (trial/rounds.py)."""
        return self.experiment == REPLAY and self.verdict == UNCLEAR and verdict_of(self.low, self.high) != UNCLEAR

    @property
    def decides(self) -> bool:
        """Whether something follows from it: from a trial also where one of its workloads is clear, which findings may be about."""
        return self.verdict != UNCLEAR or (
            self.experiment != REPLAY and any(one.verdict != UNCLEAR for one in self.kinds)
        )

    @property
    def id(self) -> str:
        """Of what was tried: the same trial on the same tables takes the place of the one before."""
        told = (self.rule_id, self.experiment, *self.change, "", *sorted(self.objects), self.server)
        return hashlib.blake2b("\0".join(told).encode("utf-8", "replace"), digest_size=_ID_BYTES).hexdigest()


@dataclass(frozen=True, slots=True)
class ProofOutcome:
    """What several kinds say together."""

    times: float
    low: float
    high: float
    verdict: str


def verdict_of(low: float, high: float) -> str:
    """No difference where the interval has no worthwhile change; worth it or worse where it has no equality; where it has both, unclear."""
    if low > 1 / (1 + WORTHWHILE_CHANGE) and high < 1 + WORTHWHILE_CHANGE:
        return NO_DIFFERENCE
    if low > 1:
        return WORTH_IT
    if high < 1:
        return WORSE
    return UNCLEAR


def together(kinds: Sequence[Kind]) -> ProofOutcome:
    """The geometric mean of what they gained, from the lowest to the highest end of their intervals.

    It is worth it where one gained and none lost, worse the other way round; no difference only where none makes any. There must be one.
    """
    verdicts = {one.verdict for one in kinds}
    if WORTH_IT in verdicts and WORSE not in verdicts:
        verdict = WORTH_IT
    elif WORSE in verdicts and WORTH_IT not in verdicts:
        verdict = WORSE
    elif verdicts == {NO_DIFFERENCE}:
        verdict = NO_DIFFERENCE
    else:
        verdict = UNCLEAR
    mean = exp(sum(log(max(one.times, 1e-9)) for one in kinds) / len(kinds))
    return ProofOutcome(mean, min(one.low for one in kinds), max(one.high for one in kinds), verdict)


def server_key(hostname: object, port: object, data_directory: object) -> str:
    """What tells one server from another, without a name or a path of its machine; empty where one of the three is not known."""
    parts = (hostname, port, data_directory)
    if None in parts or "" in parts:
        return ""
    told = "\0".join((str(hostname), str(port), str(data_directory).rstrip("/")))
    return hashlib.blake2b(told.encode("utf-8", "surrogatepass"), digest_size=_ID_BYTES).hexdigest()
