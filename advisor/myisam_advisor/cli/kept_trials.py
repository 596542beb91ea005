"""What a trial on copies of the user's own tables proved, kept for the rules that it is about."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, TextIO

from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError
from myisam_exporter.server.sql import quote_table

if TYPE_CHECKING:
    from myisam_advisor.catalogue.rules import Rule
    from myisam_advisor.proofs.proof import Kind, Proof
    from myisam_advisor.proofs.store import ProofStore
    from myisam_advisor.trial.results import TrialResult
    from myisam_exporter.server.session import Session

# What a server had since its start says little before; the minutes of a trial, which are chosen quiet, say nothing of its load.
MINIMUM_UPTIME_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class TriedTable:
    """A table that was copied: its names, what is printed of it, its bytes of rows and index, and what it is made of (proofs/structures.py)."""

    schema: str
    table: str
    label: str
    counted_bytes: int
    structure: str


def statements_per_second(session: Session) -> float | None:
    """What the watched server had since its start, on average; None where that is too short a time, or not told."""
    uptime, questions = session.status_number("Uptime"), session.status_number("Questions")
    if uptime is None or questions is None or uptime < MINIMUM_UPTIME_SECONDS:
        return None
    return questions / uptime


@dataclass(frozen=True, slots=True)
class Ground:
    """What a trial on copies was made on: which server, which table (the first that was named), and under which load."""

    server: str
    table: TriedTable
    statements_per_second: float | None


@dataclass(frozen=True, slots=True)
class Keeping:
    """What was kept, as rule, id and path, and why nothing or not all was (empty where all was); `undecided` are the ids of what decides nothing."""

    kept: tuple[tuple[str, str, str], ...] = ()
    why_not: str = ""
    undecided: frozenset[str] = frozenset()

    def in_words(self) -> Iterable[str]:
        """For whoever reads the trial's report."""
        for rule, proof, path in self.kept:
            follows = "check, plan and the page now use it"
            if proof in self.undecided:
                follows = "its result is not clear, so nothing uses it"
            yield f"Kept as proof {proof} for {rule}: {follows}. It is in"
            yield path
        if self.why_not:
            yield f"Not kept: {self.why_not}"

    def as_text(self, reader: TextIO | None = None) -> str:
        """The same for the stream `reader` (None: a file): sentences are broken between words, a path that fits into a line of its own is not."""
        from rich.text import Text

        from myisam_advisor.texts.drawing import drawn, without_padding
        from myisam_advisor.texts.templates import printable
        from myisam_advisor.texts.width import UNFOLDED, WIDEST

        paths = {path for _, _, path in self.kept}
        return "".join(
            f"{printable(line)}\n"
            if line in paths
            else without_padding(drawn([Text(printable(line))], reader, piped_width=UNFOLDED, maximum_width=WIDEST))
            for line in self.in_words()
        )

    def as_values(self) -> dict[str, object]:
        """For programs."""
        kept = [{"rule": rule, "id": proof, "path": path} for rule, proof, path in self.kept]
        return {"kept": kept, "not_kept": self.why_not or None}


def keep_trial(result: TrialResult, ground: Ground) -> Keeping:
    """Keep what the trial says of the rules it can prove. What cannot be kept is told, and stops nothing."""
    from myisam_advisor.catalogue.rules import shipped_rules
    from myisam_advisor.proofs.store import own_store

    proofs = list(proofs_of_trial(result, ground, shipped_rules(), time.time()))
    if not proofs:
        return Keeping((), f"no rule's advice is decided by what was measured of {result.experiment} here.")
    return keep(proofs, own_store())


def keep(proofs: Sequence[Proof], store: ProofStore) -> Keeping:
    """Keep each of them, as far as that is possible."""
    kept: list[tuple[str, str, str]] = []
    why_not: dict[str, None] = {}
    for proof in proofs:
        try:
            kept.append((proof.rule_id, proof.id, str(store.keep(proof))))
        except UserError as error:
            why_not[str(error)] = None
    return Keeping(tuple(kept), " ".join(why_not), frozenset(one.id for one in proofs if not one.decides))


def proofs_of_trial(result: TrialResult, ground: Ground, rules: Sequence[Rule], now: float) -> Iterable[Proof]:
    """One for each rule whose remedy was a variant of this trial, with every workload that has an interval."""
    from myisam_advisor.proofs.proof import Proof, ProvedLoad, together

    table = ground.table
    for rule in rules:
        proving = rule.proof
        if proving is None or proving.experiment != result.experiment:
            continue
        kinds = tuple(_kinds(result, proving.variant))
        decisive = {one.workload for one in proving.decided_by}
        deciding = [kind for kind in kinds if kind.fingerprint in decisive]
        if not deciding:
            continue
        outcome = together(deciding)
        yield Proof(
            rule_id=rule.id,
            experiment=result.experiment,
            change=(proving.change.replace("{table}", quote_table(table.schema, table.table)),),
            objects=(table.label,),
            times=outcome.times,
            low=outcome.low,
            high=outcome.high,
            verdict=outcome.verdict,
            kinds=kinds,
            server_product=result.server,
            server_version=result.version,
            taken_at=now,
            workload=ProvedLoad(ground.statements_per_second, {table.label: table.counted_bytes}),
            server=ground.server,
            structures=(table.structure,) if table.structure else (),
        )


def _kinds(result: TrialResult, variant: str) -> Iterable[Kind]:
    from myisam_advisor.proofs.proof import Kind

    for workload in result.workloads:
        for one in workload.comparisons:
            between = one.interval
            if one.variant == variant and between is not None:
                yield Kind(workload.name, None, one.ratio, *between, one.verdict)
