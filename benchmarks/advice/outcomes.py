"""What came of a change: how it was applied, and a pair of servers under the same load, judged as `trial` judges."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.advice.changes import Piece, plain_value
from benchmarks.advice.limits import SIDES
from benchmarks.advice.stage import Player, Stage, crashed_tables, row_counts
from myisam_advisor.errors import TrialError
from myisam_advisor.proofs.proof import NO_DIFFERENCE, WORSE, WORTH_IT
from myisam_advisor.trial.intervals import MANY
from myisam_advisor.trial.private.driver import driver
from myisam_advisor.trial.private.private_server import PrivateServer, PrivateServerError
from myisam_advisor.trial.rounds import Limits, Rounds, run_rounds

IMPROVES, NOTHING, WORSENS, UNCLEAR = "improves", "no difference", "worse", "unclear"
NOT_APPLICABLE, UNSAFE, UNTOUCHED = "cannot be applied", "unsafe", "cannot touch the load"
OUTCOMES = (IMPROVES, NOTHING, WORSENS, UNCLEAR, NOT_APPLICABLE, UNSAFE, UNTOUCHED)
_OF_VERDICT = {WORTH_IT: IMPROVES, NO_DIFFERENCE: NOTHING, WORSE: WORSENS}
FEWEST_ROUNDS, MOST_ROUNDS, MOST_SHORT_ROUNDS = 6, 40, 400
# To choose between settings, not to judge one.
GLANCE = Limits(3, 3, None)
# Longer than this nobody expects a change to hold a table, where nothing was said.
LONGEST_STATEMENT_SECONDS = 60.0
_NEXT_STATEMENT = re.compile(r";\s*\n")
BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it. `ratio` above 1 is faster, with its 95 % interval; None where nothing was compared. `reason` says why in words, where it is not the ratio."""

    outcome: str
    reason: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    rounds: int = 0
    warm_up_rounds: int = 0
    disturbed_rounds: int = 0
    noise: float | None = None
    others_cpu_share: float | None = None
    seconds: float = 0.0
    applied_seconds: float | None = None

    def document(self) -> dict[str, object]:
        """As it is written down."""
        return asdict(self)


class RefusedError(Exception):
    """A piece cannot be applied, or is unsafe to apply."""

    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


def within(seconds: float, *, short_runs: bool = False) -> Limits:
    """As many rounds as it takes to be clear, for so long; of short runs none ends before there are many."""
    if short_runs:
        return Limits(FEWEST_ROUNDS, MOST_SHORT_ROUNDS, seconds, MANY)
    return Limits(FEWEST_ROUNDS, MOST_ROUNDS, seconds)


def outcome_of(stage: Stage, pieces: Sequence[Piece], limits: Limits) -> Outcome:
    """Measure these pieces together, against the untouched server."""
    stage.calibrated()
    try:
        with stage.player(SIDES[0], ()) as untouched:
            known = untouched.server.variables()
            options = [option_of(piece, known) for piece in pieces if piece.variable is not None]
            if _is_so_already(pieces, known):
                return Outcome(NOTHING, "it is so already")
            with _started(stage, options) as changed:
                return _compared(untouched, changed, pieces, known, limits)
    except RefusedError as refused:
        return Outcome(refused.outcome, refused.reason)


def _started(stage: Stage, options: Sequence[str]) -> _Changed:
    return _Changed(stage, options)


class _Changed:
    """The server with the options: one that does not start with them is what an adviser is to blame for."""

    def __init__(self, stage: Stage, options: Sequence[str]) -> None:
        self._player = stage.player(SIDES[1], options)

    def __enter__(self) -> Player:
        try:
            return self._player.__enter__()
        except PrivateServerError as error:
            raise RefusedError(UNSAFE, f"the server does not start: {str(error)[-300:]}") from None

    def __exit__(self, *error: object) -> None:
        self._player.__exit__(None, None, None)


def option_of(piece: Piece, known: Mapping[str, str]) -> str:
    """The change of a variable as a word for the server's command line. Raises RefusedError where it has none."""
    name = (piece.variable or "").rpartition(".")[2]
    if name not in known:
        raise RefusedError(NOT_APPLICABLE, f"this server has no variable {name}")
    if re.search(r"[\s~<>=()]", piece.value or "") and name not in ("sql_mode", "optimizer_switch"):
        raise RefusedError(NOT_APPLICABLE, f"{piece.value!r} is no value")
    cache = (piece.variable or "").partition(".")[0] + "." if "." in (piece.variable or "") else ""
    return f"--{cache}{name.replace('_', '-')}={piece.value}"


def _is_so_already(pieces: Sequence[Piece], known: Mapping[str, str]) -> bool:
    return all(
        plain_value(known.get(piece.variable or "", "unknown"), piece.variable or "")
        == plain_value(piece.value or "", piece.variable or "")
        for piece in pieces
    )


def _compared(
    untouched: Player, changed: Player, pieces: Sequence[Piece], known: Mapping[str, str], limits: Limits
) -> Outcome:
    _expect_taken(pieces, known, changed.server.variables())
    rows = row_counts(untouched.server)
    applied = apply_statements(changed.server, pieces)
    _expect_rows(rows, changed.server)
    untouched.run()
    try:
        changed.run()
        rounds = run_rounds(
            {BEFORE: untouched.run, AFTER: changed.run}, float, limits, lambda _: None
        )  # fmt: skip
        crashed = crashed_tables(changed.server, list(rows))
    except (TrialError, driver().error) as error:
        _expect_healthy(untouched, error)
        raise RefusedError(UNSAFE, f"with it, the load fails: {str(error)[:300]}") from None
    if crashed and not untouched.scenario.killed:
        raise RefusedError(UNSAFE, f"CHECK TABLE finds errors in {', '.join(crashed)[:200]}")
    return judged(rounds, applied)


def _expect_taken(pieces: Sequence[Piece], before: Mapping[str, str], after: Mapping[str, str]) -> None:
    """A server may start with an option and keep what it had."""
    wanted = [piece for piece in pieces if piece.variable in before]
    if len(wanted) == len(pieces) and all(before[str(one.variable)] == after[str(one.variable)] for one in wanted):
        kept = ", ".join(f"{one.variable} = {after[str(one.variable)]}" for one in wanted)
        raise RefusedError(NOT_APPLICABLE, f"the server keeps {kept}")


def apply_statements(server: PrivateServer, pieces: Sequence[Piece]) -> float | None:
    """Run the statements; the seconds of the longest one. Raises RefusedError where the server refuses one."""
    longest: float | None = None
    for piece in pieces:
        for statement in _NEXT_STATEMENT.split(piece.statement) if piece.statement else ():
            began = time.monotonic()
            try:
                server.execute(statement.strip().rstrip(";"))
            except driver().error as error:
                raise RefusedError(
                    NOT_APPLICABLE if _lives(server) else UNSAFE, f"refused: {str(error)[:200]}"
                ) from None
            longest = max(longest or 0.0, time.monotonic() - began)
    if longest is not None and longest > LONGEST_STATEMENT_SECONDS:
        raise RefusedError(UNSAFE, f"a statement of it took {longest:.0f} s")
    return longest


def _lives(server: PrivateServer) -> bool:
    try:
        server.expect_alive()
    except PrivateServerError:
        return False
    return True


def _expect_rows(before: Mapping[str, int], server: PrivateServer) -> None:
    after = row_counts(server)
    lost = [name for name, count in before.items() if after.get(name, 0) < count]
    if lost:
        raise RefusedError(UNSAFE, f"rows are lost in {', '.join(lost)[:200]}")


def _expect_healthy(untouched: Player, error: Exception) -> None:
    """Raise TrialError where the untouched server cannot do it either: then nothing is to be said of the change."""
    try:
        untouched.run()
    except (TrialError, driver().error):
        raise TrialError(f"{untouched.scenario.name}: the load fails on both: {error}") from None


def judged(rounds: Rounds[float], applied_seconds: float | None = None) -> Outcome:
    """The outcome of rounds of two."""
    (one,), course = rounds.comparisons, rounds.course
    reason = "others had the processors" if course.is_busy else ""
    return Outcome(
        _OF_VERDICT.get(one.verdict, UNCLEAR), reason, round(one.ratio, 4), _rounded(one.low), _rounded(one.high), course.rounds,
        course.warm_up_rounds, course.disturbed_rounds, _rounded(course.noise.median), _rounded(course.others_cpu_share), round(course.seconds, 2),
        _rounded(applied_seconds),
    )  # fmt: skip


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
