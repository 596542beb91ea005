"""Damage that is warned of, provoked: whether it comes on the untouched server, and does not with what the warning proposes."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.advice.changes import Piece, pieces
from benchmarks.advice.damage import Damage
from benchmarks.advice.limits import SIDES
from benchmarks.advice.model import Advice
from benchmarks.advice.outcomes import RefusedError, apply_statements, option_of
from benchmarks.advice.record import AVERTED, Line, of_kind
from benchmarks.advice.stage import Stage
from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError

# So often the damage must have come without the change, and never with it.
TIMES = 3
MOST_LETTERS = 300
AVERTS, DOES_NOT_AVERT, NOT_PROVOKED, REFUSED = "averts", "does not avert", "not provoked", "refused"


@dataclass(frozen=True, slots=True)
class Averted:
    """How many statements saw the damage, each time: without what a rule proposes, and with it. `reason` says why there are no numbers."""

    without: tuple[int, ...] = ()
    with_change: tuple[int, ...] = ()
    reason: str = ""

    def document(self) -> dict[str, Any]:
        """As it is written down."""
        return asdict(self)


def proposed_by(advice: Advice, rules: Collection[str]) -> dict[str, list[Piece]]:
    """What each of these rules proposes, all of it together: a warning is one piece of advice, however many statements it takes."""
    found = {rule: pieces(change for change in advice.changes if change.rule == rule) for rule in rules}
    return {rule: own for rule, own in found.items() if own}


def keys_of_all(own: Sequence[Piece]) -> list[str]:
    """By what a measurement of these is known."""
    return sorted(part.key for piece in own for part in piece.each)


def averted_of(lines: Sequence[Line]) -> dict[tuple[str, tuple[str, ...]], Line]:
    """What is known, by rule and keys; measured again, the last word counts."""
    return {(line["rule"], tuple(line["keys"])): line for line in of_kind(lines, AVERTED)}


def damage_left(advice: Advice, damage: Mapping[str, Damage], known: Sequence[Line]) -> dict[str, list[Piece]]:
    """The rules whose damage was not provoked yet, with what they propose."""
    there = averted_of(known)
    every = proposed_by(advice, damage)
    return {rule: own for rule, own in every.items() if (rule, tuple(keys_of_all(own))) not in there}


def verdict_of(line: Line) -> str:
    """What the numbers say."""
    without, with_change = line["without"], line["with_change"]
    if line["reason"]:
        return REFUSED
    if not all(without):
        return NOT_PROVOKED
    return DOES_NOT_AVERT if any(with_change) else AVERTS


def averted(stage: Stage, own: Sequence[Piece], damage: Damage) -> Averted:
    """Provoke it on fresh copies of the same files, without and with the change in turn."""
    without, with_change = list[int](), list[int]()
    try:
        with stage.player(SIDES[0], ()) as player:
            known = player.server.variables()
        parts = [part for piece in own for part in piece.each]
        options = [option_of(part, known) for part in parts if part.variable is not None]
        for _ in range(TIMES):
            without.append(_seen_on(stage, SIDES[0], (), (), damage))
            with_change.append(_seen_on(stage, SIDES[1], options, parts, damage))
    except RefusedError as refused:
        return Averted(reason=f"{refused.outcome}: {refused.reason}")
    except (PrivateServerError, driver().error) as error:
        # A server that does not start, or a statement that should have provoked it and failed: nothing is shown, and the rest goes on.
        return Averted(reason=f"failed: {str(error)[-MOST_LETTERS:]}")
    return Averted(tuple(without), tuple(with_change))


def _seen_on(stage: Stage, side: str, options: Sequence[str], parts: Sequence[Piece], damage: Damage) -> int:
    with stage.player(side, options) as player:
        server = player.server
        apply_statements(server, parts)
        server.execute(*damage.provoked_by)
        if damage.killed:
            server.stop(signal.SIGKILL)
            server.restart()
        return _seen(server, damage)


def _seen(server: PrivateServer, damage: Damage) -> int:
    with contextlib.ExitStack() as until_the_end:
        sessions = [until_the_end.enter_context(server.session()) for _ in range(damage.sessions)]
        return sum(_fails(session, statement) for session in sessions for statement in damage.seen_by)


def _fails(session: Connection, statement: str) -> bool:
    """Whether the server cannot do it, or answers with an error as CHECK TABLE does."""
    cursor = session.cursor()
    try:
        cursor.execute(statement)
        rows = list(cursor.fetchall()) if cursor.description else []
    except driver().error:
        return True
    return any(str(value).lower() == "error" for row in rows for value in row)
