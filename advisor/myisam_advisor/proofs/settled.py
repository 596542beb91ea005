"""What the kept proofs say of one finding: the proof that is about its change, whether it still holds, and the sentence that quotes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from time import localtime

from myisam_advisor.catalogue.rules import Proving, Rule
from myisam_advisor.proofs.changes import changes_of, is_about
from myisam_advisor.proofs.proof import (
    REPLAY,
    UNCLEAR,
    WORSE,
    WORTH_IT,
    Proof,
    ProofOutcome,
    server_key,
    together,
)
from myisam_advisor.proofs.store import KeptProofs
from myisam_advisor.proofs.validity import still_valid
from myisam_advisor.texts.lists import listed
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import Row
from myisam_exporter.facts.values import number_of
from myisam_exporter.look.fact_set import FactSet

# A trial on some tables speaks for a setting of the whole server where they have at least so much of all rows that are read.
SPEAKING_SHARE = 0.5
TOLD_KINDS, TOLD_TABLES = 3, 3
# The column of a rule's query that says that a disk serves what the finding is about. Copies of tables lie in the page cache, so that no trial measures what
# fewer reads of a disk gain: one that gained all the same holds.
FROM_DISK = "from_disk"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Settled:
    """A proof that is about a finding: what it says for this finding, and why it is not used any more (empty while it is).

    `in_memory`: it decides nothing because a disk serves what the finding is about.
    """

    proof: Proof
    outcome: ProofOutcome
    why_not: str
    now: float
    in_memory: bool = False

    @property
    def verdict(self) -> str:
        """What follows from it; nothing from one that holds no more."""
        return UNCLEAR if self.why_not else self.outcome.verdict

    @property
    def sentence(self) -> str:
        """The proof in one sentence, with its date: what was slower stands first."""
        said = f"{self.happened}: {figures_in_words(self.outcome)}"
        if self.outcome.verdict == UNCLEAR and not self.why_not:
            said += f", which {self._why_unclear} and decides nothing"
        kinds = _kinds(self.proof)
        details = f"; {kinds}" if kinds and not self.why_not else ""
        ended = f". It is no longer used: {self.why_not}" if self.why_not else ""
        return f"{said}{details}{ended}."

    @property
    def _why_unclear(self) -> str:
        if self.proof.was_disturbed:
            return "was measured while others had the processors,"
        if self.proof.verdict == UNCLEAR:
            return "is not clear"
        # A clear result may be one of other workloads than the finding is about.
        return (
            "was measured in memory, where a disk serves these reads here,"
            if self.in_memory
            else "is of other statements than these"
        )

    @property
    def happened(self) -> str:
        """When and how it was proved."""
        begin = "Tried here" if self.proof.verdict == UNCLEAR else "Proved here"
        return f"{begin} on {day_in_words(self.proof.taken_at, self.now)} ({tried_in_words(self.proof)})"


def settled(
    rule: Rule, about: str, row: Row, texts: Iterable[str], known: KeptProofs, facts: FactSet
) -> Settled | None:
    """What is known of the change that these texts make, for a finding of this rule about this object: the newest clear proof that holds.

    Where there is none, the newest that holds; else the newest. `row` is what the rule's query gave; None where nothing of it was ever tried here.
    """
    candidates = [proof for proof in known.proofs if proof.rule_id == rule.id]
    if not candidates:
        return None
    wanted = changes_of(texts)
    server = server_of(facts)
    found: list[Settled] = []
    for proof in candidates:
        if not is_about(changes_of(proof.change), wanted) or not _is_of(proof, rule, about, server, facts):
            continue
        outcome = decided(proof, rule.proof, row)
        in_memory = bool(row.get(FROM_DISK)) and outcome.verdict not in (WORTH_IT, UNCLEAR)
        if in_memory:
            outcome = replace(outcome, verdict=UNCLEAR)
        found.append(Settled(proof, outcome, still_valid(proof, facts, known.now) or "", known.now, in_memory))
    return min(found, key=lambda one: (bool(one.why_not), one.verdict == UNCLEAR, -one.proof.taken_at), default=None)


def decided(proof: Proof, proving: Proving | None, row: Row) -> ProofOutcome:
    """What the proof says of this finding: of a trial's workloads those count that the rule speaks of; of a replay, the whole."""
    if proving is not None and proof.experiment == proving.experiment:
        decisive = {one.workload for one in proving.decided_by if not one.when or row.get(one.when)}
        kinds = [kind for kind in proof.kinds if kind.fingerprint in decisive]
        if kinds:
            return together(kinds)
        if decisive:
            # What this finding is about was not among what was tried.
            return ProofOutcome(proof.times, proof.low, proof.high, UNCLEAR)
    return ProofOutcome(proof.times, proof.low, proof.high, proof.verdict)


def _is_of(proof: Proof, rule: Rule, about: str, server: str, facts: FactSet) -> bool:
    """Whether it was made on this server, and on what the finding is about."""
    if proof.server and proof.server != server:
        return False
    if rule.scope in ("table", "index"):
        return about in proof.objects
    # A replay is kept of a setting only where half of the recorded time was sent (cli/kept_replays.py).
    return proof.experiment == REPLAY or _share_read(proof.objects, facts) >= SPEAKING_SHARE


def server_of(facts: FactSet) -> str:
    """Which server these facts are of."""
    server = facts.single("server")
    port = facts.tables["variable"].by_name("value").get("port")
    return server_key(server.get("hostname"), port, server.get("data_directory"))


def _share_read(objects: Sequence[str], facts: FactSet) -> float:
    """How much of all rows that are read are those of these tables; 0 where that is not known."""
    from myisam_advisor.texts.templates import object_name

    tables = facts.tables["tables"]
    columns = (tables.values(name) for name in ("schema_name", "table_name", "rows_read_per_second"))
    read: dict[str, float] = {}
    for schema, table, rate in zip(*columns, strict=True):
        read[object_name(str(schema), str(table))] = float(number_of(rate) or 0.0)
    everything = sum(read.values())
    return sum(read.get(name, 0.0) for name in objects) / everything if everything else 0.0


def tried_in_words(proof: Proof) -> str:
    """How, on which tables and on which server."""
    how = _replay_in_words(proof) if proof.experiment == REPLAY else f"trial {proof.experiment}"
    tables = f" on {listed(proof.objects, TOLD_TABLES)}" if proof.objects else ""
    version = proof.server_version.partition("-")[0]
    server = " ".join(filter(None, (proof.server_product, version)))
    return f"{how}{tables}{f', {server}' if server else ''}"


def _replay_in_words(proof: Proof) -> str:
    """With the day of the recording where it is another than that of the replay."""
    day = "" if proof.recorded_at is None else day_in_words(proof.recorded_at, proof.taken_at)
    is_same = not day or day == day_in_words(proof.taken_at, proof.taken_at)
    return "a replay of recorded statements" if is_same else f"a replay of statements recorded on {day}"


def day_in_words(moment: float, now: float) -> str:
    """12 March; with the year where it is another than this one."""
    try:
        then, today = localtime(moment), localtime(now)
    except (OverflowError, OSError, ValueError):
        return "a day that no calendar has"
    year = "" if then.tm_year == today.tm_year else f" {then.tm_year}"
    return f"{then.tm_mday} {MONTHS[then.tm_mon - 1]}{year}"


def _kinds(proof: Proof) -> str:
    """The first of them, those that became slower before the others, and without a figure those of which nothing is clear; nothing where there is but one, or none is clear."""
    kinds = proof.kinds
    if len(kinds) < 2 or all(one.verdict == UNCLEAR for one in kinds):
        return ""
    ordered = sorted(kinds, key=lambda one: (one.verdict != WORSE, one.verdict == UNCLEAR, -(one.share or 0.0)))
    # Statements have commas and words of their own.
    mark = '"' if proof.experiment == REPLAY else ""
    told = [
        f"{mark}{one.fingerprint}{mark} {'unclear' if one.verdict == UNCLEAR else _times(one.times)}" for one in ordered
    ]
    return listed(told, TOLD_KINDS)


def figures_in_words(outcome: ProofOutcome | Proof) -> str:
    """1.4 times, 1.3 to 1.5."""
    return f"{_times(outcome.times)}, {_number(outcome.low)} to {_number(outcome.high)}"


def _times(value: float) -> str:
    return f"{_number(value)} times"


def _number(value: float) -> str:
    """1.4, 1.05, 12, 1,200: as many digits as say something."""
    if value >= 100:
        return f"{value:,.0f}"
    if value >= 10:
        return f"{value:.1f}"
    text = f"{value:.2f}"
    return text[:-1] if text.endswith("0") else text
