"""What is left to measure of a scenario on a server, of what its record holds: a run that was ended goes on where it was, and one that is whole is not begun."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from benchmarks.advice.averting import damage_left
from benchmarks.advice.changes import Piece, keys_of, pieces, whole
from benchmarks.advice.damage import Damage
from benchmarks.advice.model import Advice
from benchmarks.advice.outcomes import MOST_ROUNDS, NOT_APPLICABLE, NOTHING, UNCLEAR, UNTOUCHED
from benchmarks.advice.record import BEST, SEARCHED, Line, advice_of, measured_of, of_kind, whole_of
from benchmarks.advice.search import Search

# What was unclear after less than this share of the time that a measurement is given now, is measured again.
LESS_TIME_SHARE = 0.5


def is_settled(line: Line | None, piece_seconds: float) -> bool:
    """Whether a measurement need not be made again: it was clear, or more time would not have made it so."""
    if line is None or line["outcome"] != UNCLEAR:
        return line is not None
    rounds = line["rounds"] + line["warm_up_rounds"] + line["disturbed_rounds"]
    return bool(rounds >= MOST_ROUNDS or line["seconds"] >= LESS_TIME_SHARE * piece_seconds)


def pieces_left(
    advice: Advice, known: Sequence[Line], piece_seconds: float, only: Collection[str] | None = None
) -> list[Piece]:
    """An adviser's changes that are not known yet; of those with these keys, where there are `only` such."""
    measured = measured_of(known)
    return [
        piece
        for piece in pieces(advice.changes)
        if (only is None or piece.key in only) and not is_settled(measured.get(piece.key), piece_seconds)
    ]


def whole_left(advice: Advice, known: Sequence[Line], piece_seconds: float) -> list[Piece]:
    """All of an adviser's changes that can be applied, where what comes of them together is not known yet; one alone is known already."""
    measured = measured_of(known)
    all_pieces = whole(advice)
    if any(piece.key not in measured for piece in all_pieces):
        return []
    applied = [piece for piece in all_pieces if measured[piece.key]["outcome"] not in (NOT_APPLICABLE, UNTOUCHED)]
    line = whole_of(known).get(keys_of(applied))
    return [] if len(applied) < 2 or is_settled(line, piece_seconds) else applied


def measured_for(advice: Mapping[str, Advice], of: Collection[str] | None) -> list[Advice]:
    """Whose changes are measured, in this order; `of` None: everybody's."""
    return [one for name, one in advice.items() if of is None or name in of]


def search_of(name: str, space: Mapping[str, Sequence[str]], known: Sequence[Line], most: int) -> Search:
    """The scenario's search, where it was ended."""
    tried = [(line["settings"], reached(line["outcome"], line["ratio"])) for line in of_kind(known, SEARCHED)]
    return Search(space, random.Random(name), most, tried)  # noqa: S311 -- repeatable


def reached(outcome: str, ratio: float | None) -> float | None:
    """What a setting is worth to a search; None: it cannot be had."""
    return 1.0 if outcome == NOTHING else ratio


def best_is_known(known: Sequence[Line], best: Mapping[str, str]) -> bool:
    """Whether these settings were measured in full as the best ones."""
    return any(line["settings"] == best for line in of_kind(known, BEST))


def is_known(
    known: Sequence[Line],
    asked: Collection[str],
    piece_seconds: float,
    search: Search | None,
    of: Collection[str] | None = None,
    damage: Mapping[str, Damage] = MappingProxyType({}),
) -> bool:
    """Whether nothing is left: each of these advisers answered, each change has its outcome, alone and with the others, and the search is at its end.

    `of`: those whose changes are measured; None is everybody. `damage` is the scenario's, to be provoked.
    """
    advice = advice_of(known)
    if not set(asked) <= set(advice):
        return False
    if any(
        pieces_left(one, known, piece_seconds)
        or whole_left(one, known, piece_seconds)
        or damage_left(one, damage, known)
        for one in measured_for(advice, of)
    ):
        return False
    if search is None:
        return True
    best = search.best
    return next(iter(search), None) is None and (best is None or best_is_known(known, best))
