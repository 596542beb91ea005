"""The directory of proofs: a file each. How they are read and written: kept_files.py."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import field
from pathlib import Path

from myisam_advisor.catalogue.conversions import NO_RATES, Rates
from myisam_advisor.proofs.document import MAXIMUM_BYTES, ProofError, proof_of, text_of
from myisam_advisor.proofs.kept_files import FILE_NAME, FileKind, KeptFiles
from myisam_advisor.proofs.proof import Proof
from myisam_advisor.proofs.rate_store import NAME as RATES_NAME
from myisam_advisor.proofs.rate_store import RateStore, rates_of_all
from myisam_advisor.proofs.validity import outlived_by
from myisam_advisor.texts.state_directory import SYSTEM_DIRECTORY, state_directory
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.errors import UserError

NAME = "proofs"
PROOFS = FileKind(
    "proofs", most=500, maximum_bytes=MAXIMUM_BYTES, read=proof_of, id_of=lambda proof: proof.id,
    when_full="forget some (myisam-advisor proofs --forget ID)",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeptProofs:
    """What a store holds, the newest first, at the moment `now`; `refused` says which of its files are no proofs, and why.

    `closed` are directories that cannot be read, each with its reason: of several stores `refused` tells them, those of one reason in one line.
    `rates` is how fast tables were copied here, which lies beside (rate_store.py).
    """

    proofs: tuple[Proof, ...] = ()
    refused: tuple[str, ...] = ()
    now: float = field(default=0.0, compare=False)
    rates: Rates = NO_RATES
    closed: tuple[tuple[Path, str], ...] = ()


NO_PROOFS = KeptProofs()


class ClearerProofError(UserError):
    """A clearer proof of the same change is kept, and still holds."""

    def __init__(self, proof: Proof) -> None:
        day = time.strftime("%Y-%m-%d", time.localtime(proof.taken_at))
        super().__init__(f"a clearer proof of {proof.rule_id} is kept ({proof.id} of {day}: {proof.verdict}).")


def is_clearer(proof: Proof, later: Proof) -> bool:
    """Whether the proof stays though a later one of the same change is there, which is not clear."""
    return proof.is_clear and not later.is_clear and not outlived_by(proof, later)


class ProofStore:
    """The proofs in one directory, which need not be there."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.rates = RateStore(directory.parent / RATES_NAME)
        self._files = KeptFiles(directory, PROOFS)

    def current(self, now: float | None = None) -> KeptProofs:
        """All of them, as they are now."""
        kept = self._files.current()
        return KeptProofs(
            tuple(sorted(kept.found, key=lambda one: (-one.taken_at, one.id))), kept.refused, time.time() if now is None else now,
            closed=((self.directory, kept.closed),) if kept.closed else (),
        )  # fmt: skip

    def keep(self, proof: Proof) -> Path:
        """Write it, in the place of the same trial's before. Raises UserError that says why it cannot be kept.

        What is not clear takes the place of no clear one that still holds: a short or a noisy trial would undo a long one.
        """
        try:
            text = text_of(proof)
        except ProofError as error:
            raise UserError(f"the proof cannot be kept: {error}.") from None
        clearer = next((one for one in self.current().proofs if one.id == proof.id and is_clearer(one, proof)), None)
        if clearer is not None:
            raise ClearerProofError(clearer)
        return self._files.keep(proof, text)

    def forget(self, proof_id: str) -> None:
        """Remove it. Raises UserError where there is none of this id, or it cannot be removed."""
        name = f"{proof_id}.json"
        if not FILE_NAME.fullmatch(name):
            raise UserError(f"{proof_id!r} is not a proof's id: `myisam-advisor proofs` lists them.")
        self._files.remove(name, f"there is no proof {proof_id} in {self.directory}.")


def proof_stores() -> list[ProofStore]:
    """Where a command looks for proofs: the user's own directory, then the system's."""
    return [ProofStore(path / NAME) for path in dict.fromkeys((state_directory(), SYSTEM_DIRECTORY))]


def own_store() -> ProofStore:
    """Where a command keeps its proofs."""
    return ProofStore(state_directory() / NAME)


def of_all(stores: Sequence[ProofStore], now: float | None = None) -> KeptProofs:
    """What several stores hold; of the same proof in two, the newer one, or a clear one before it that still holds."""
    moment = time.time() if now is None else now
    kept = [store.current(moment) for store in stores]
    newest: dict[str, Proof] = {}
    for proof in sorted((one for each in kept for one in each.proofs), key=lambda one: (-one.taken_at, one.id)):
        if is_clearer(proof, newest.setdefault(proof.id, proof)):
            newest[proof.id] = proof
    rates = rates_of_all([store.rates for store in stores])
    refused = (*(why for each in kept for why in each.refused), *_closed_in_words(kept))
    return KeptProofs(tuple(newest.values()), refused, moment, rates)


def _closed_in_words(kept: Sequence[KeptProofs]) -> Iterator[str]:
    """One line for each reason: whoever may read none of the directories is told so once."""
    reasons: dict[str, list[str]] = {}
    for directory, why in (one for each in kept for one in each.closed):
        reasons.setdefault(why, []).append(str(directory))
    for why, directories in reasons.items():
        yield f"the proofs in {' and in '.join(directories)} cannot be read: {why}"
