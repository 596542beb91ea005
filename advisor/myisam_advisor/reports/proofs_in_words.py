"""What was proved here, listed: what, when, what came of it, and whether it still holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TextIO

from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from myisam_advisor.proofs.proof import NO_DIFFERENCE, STYLES, UNCLEAR, WORSE, WORTH_IT, Proof
from myisam_advisor.proofs.settled import day_in_words, figures_in_words, tried_in_words
from myisam_advisor.proofs.store import KeptProofs
from myisam_advisor.proofs.validity import still_valid
from myisam_advisor.texts.drawing import drawn, is_terminal, without_padding
from myisam_advisor.texts.json_documents import heading
from myisam_advisor.texts.moments import iso_moment
from myisam_advisor.texts.templates import printable
from myisam_advisor.texts.width import WIDEST
from myisam_exporter.look.fact_set import FactSet

NOTHING = "Nothing has been proved here yet: myisam-advisor prove tries the changes of all findings on your own statements, and keeps the results."
OTHER_SERVER = "it is of another server than this one"
UNKNOWN_STRUCTURE = (
    "whether its tables have the columns and indexes of then is not known: it was made before these were noted"
)
FOLLOWS = {
    WORTH_IT: "the change is recommended where the finding holds",
    NO_DIFFERENCE: "the finding is dropped",
    WORSE: "check warns against the change",
    UNCLEAR: "nothing follows",
}
DISTURBED = ", as others had the processors: repeat it at a quieter time"
Standing = tuple[Proof, str]


def standings(kept: KeptProofs, facts: FactSet | None, server: str) -> Sequence[Standing]:
    """Each proof with why it is not used (empty while it is); without facts only its age tells."""
    return [(proof, _why_not(proof, kept.now, facts, server)) for proof in kept.proofs]


def _why_not(proof: Proof, now: float, facts: FactSet | None, server: str) -> str:
    if facts is not None and proof.server and proof.server != server:
        return OTHER_SERVER
    return still_valid(proof, facts, now) or ""


def as_text(found: Sequence[Standing], kept: KeptProofs, not_looked: str, reader: TextIO | None = None) -> str:
    """The list for a person; `not_looked` says why the server was not looked at, empty where it was."""
    text = drawn(_parts(found, kept, not_looked), reader, maximum_width=WIDEST)
    return text if is_terminal(reader) else without_padding(text)


def _parts(found: Sequence[Standing], kept: KeptProofs, not_looked: str) -> Iterable[RenderableType]:
    for why in kept.refused:
        yield Text(printable(why), style="yellow")
    if not found:
        if not kept.refused:  # nobody knows that there is nothing where something could not be read
            yield Text(NOTHING)
        return
    for proof, why_not in found:
        yield from _proof(proof, why_not, kept.now, is_looked_at=not not_looked)
    if not_looked:
        yield Text(printable(f"Whether they still fit the server was not looked at: {not_looked}"), style="yellow")
    yield Text("check quotes them; myisam-advisor proofs --forget ID removes one.", style="dim")


def _proof(proof: Proof, why_not: str, now: float, *, is_looked_at: bool) -> Iterable[RenderableType]:
    holds = "holds" if is_looked_at else "valid as far as its age shows, if it is of this server"
    yield Text.assemble(
        (printable(proof.rule_id), "bold"),
        ": ",
        (proof.verdict, STYLES[proof.verdict]),
        f", {figures_in_words(proof)}",
    )
    lines = [
        f"{day_in_words(proof.taken_at, now)}, {tried_in_words(proof)}",
        *proof.change,
        f"not used any more: {why_not}"
        if why_not
        else f"{holds}: {FOLLOWS[proof.verdict]}{DISTURBED if proof.was_disturbed else ''}",
        *(() if proof.structures or why_not else (UNKNOWN_STRUCTURE,)),
        f"id {proof.id}",
    ]
    for line in lines:
        yield Padding(Text(printable(line)), (0, 0, 0, 2))
    yield Text()


def as_document(found: Sequence[Standing], kept: KeptProofs, not_looked: str) -> dict[str, object]:
    """The same for programs."""
    return {
        **heading(),
        "proofs": [
            {
                "id": proof.id,
                **{name: value for name, value in asdict(proof).items() if name != "server"},
                "since": iso_moment(proof.taken_at),
                "used": not why_not,
                "why_not": why_not,
            }
            for proof, why_not in found
        ],
        "refused": list(kept.refused),
        "not_looked": not_looked or None,
    }
