"""Whether SELECTs return the same values under a change: as many rows need not be the same ones.

Rows are counted in every run; values are compared once, of one SELECT of each kind, on tables that nothing was written to. What the settings as they are
answer otherwise when they are asked twice says nothing, nor does a LIMIT that leaves open which rows come (row_limits.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set

from myisam_advisor.texts.templates import percent
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.answers import Digest, Rows, digests_of, selects
from myisam_advisor.trial.statements.figures import KIND_SHARE
from myisam_advisor.trial.statements.row_limits import Limited, has_limit, limited, unique_keys
from myisam_advisor.trial.statements.schedule import LARGE_ROWS
from myisam_advisor.trial.statements.survey import Judging
from myisam_advisor.trial.statements.variants import BASELINE
from myisam_advisor.trial.statements.ways import Ways
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.tokens import tokens
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName
from myisam_exporter.server.sql import quote_table

# Of the budget, what asking one server once may take; where rounds are counted and not seconds, so many seconds.
ASKING_SHARE, ASKING_SECONDS = 0.02, 30.0
LEFT_OPEN = "LIMIT leaves open which rows come"
OF_A_CONNECTION = "with variables of their connections"
UNSTEADY = "other values whenever they are asked"
NO_TIME = "no time for them: --budget"
# Keys of a table that are unique and have no NULL, by their columns.
KeysOf = Callable[[TableName], Collection[Set[str]]]


@dataclass(frozen=True, slots=True)
class Question:
    """A SELECT as it is asked: its kind, and where it has a LIMIT, what that leaves open on which table (None: it is not of one)."""

    event: Event
    kind: int
    limit: Limited | None = None
    table: TableName | None = None

    def is_certain(self, answer: Digest, keys_of: KeysOf) -> bool:
        """Whether the answer leaves nothing open."""
        if self.limit is None or isinstance(answer, int):
            return True
        keys = () if self.table is None or not self.limit.ordered_by else keys_of(self.table)
        return self.limit.is_certain(answer[0], keys)


@dataclass(frozen=True, slots=True)
class Asked:
    """SELECTs that are asked of each variant, the kinds with most time first, what the settings as they are answer, and the kinds that are not compared, by reason."""

    questions: Sequence[Question]
    usual: Sequence[Digest]
    not_compared: Mapping[str, Collection[int]]

    def note(self, shares: Mapping[int, float]) -> str:
        """For the report, how much was compared; empty where there was nothing to ask."""
        if not self.questions and not self.not_compared:
            return ""
        compared = _share(shares, {one.kind for one in self.questions})
        left = ", ".join(f"{percent(_share(shares, kinds))} ({why})" for why, kinds in self.not_compared.items())
        return f"Values were compared of SELECTs with {percent(compared)} of the weight{f', not of {left}' if left else ''}."


@dataclass(frozen=True, slots=True)
class OtherValues:
    """The kinds that are answered otherwise under a variant, each with the number of its error (0: other values), and their share of the recording."""

    kinds: Mapping[int, int]
    share: float

    def problem(self, names: Sequence[str]) -> str:
        """Why the variant has no speed; empty where what differs has too little weight for that."""
        if self.share < KIND_SHARE:
            return ""
        return f"statements with {percent(self.share)} of the weight are answered otherwise under it, so that its speed says nothing: {self._first(names)}"

    def note(self, variant: str, names: Sequence[str]) -> str:
        """The same for the report, where they have little weight; empty where nothing differs."""
        if not self.kinds:
            return ""
        more = f", and {len(self.kinds) - 1} more kinds" if len(self.kinds) > 1 else ""
        return f"Under {variant}, statements with {percent(self.share)} of the weight are answered otherwise: {self._first(names)}{more}."

    def _first(self, names: Sequence[str]) -> str:
        kind, error = next(iter(self.kinds.items()))
        return f"{names[kind]} {f'fails with error {error}' if error else 'returns other rows'}"


def to_ask(
    events: Iterable[Event], judging: Judging, copied: set[TableName], rows: Rows, shares: Mapping[int, float]
) -> tuple[list[Question], dict[str, set[int]]]:
    """One SELECT of each kind, the kinds with most time first; and the kinds that are not asked, by reason."""
    questions: list[Question] = []
    left: dict[str, set[int]] = {LEFT_OPEN: set(), OF_A_CONNECTION: set(), UNSTEADY: set(), NO_TIME: set()}
    for event in selects(events, judging, copied, rows):
        question = _question(event, judging)
        if isinstance(question, Question):
            questions.append(question)
        else:
            left[question].add(judging.of(event).kind)
    return sorted(questions, key=lambda one: -shares.get(one.kind, 0.0)), left


def _question(event: Event, judging: Judging) -> Question | str:
    """How it is asked, or why not."""
    judged = judging.of(event)
    if b"@" in event.statement and any(map(_is_variable, tokens(event.statement))):
        return OF_A_CONNECTION
    if not has_limit(event.statement):
        return Question(event, judged.kind)
    limit, tables = limited(event.statement), judged.tables(event.database)
    if limit is None or limit.rows >= LARGE_ROWS:
        return LEFT_OPEN
    table = next(iter(tables)) if len(tables) == 1 else None
    return Question(event._replace(statement=limit.statement), judged.kind, limit, table)


def _is_variable(word: bytes) -> bool:
    """Whether it is one that a statement before has set, and that nobody has on our connection; those of the server begin with two."""
    return word.startswith(b"@") and not word.startswith(b"@@")


def asked_twice(
    ways: Ways, questions: Sequence[Question], not_asked: Mapping[str, Set[int]], budget_seconds: float | None
) -> Asked:
    """What the settings as they are answer; those that they answer twice in the same way, as far as the time does."""
    seconds = ASKING_SECONDS if budget_seconds is None else budget_seconds * ASKING_SHARE
    events = [one.event for one in questions]
    first, keys = ways.asked(
        BASELINE, lambda server: (digests_of(server, events, seconds), _keys_of_all(server, questions))
    )
    again = ways.asked(BASELINE, lambda server: digests_of(server, events[: len(first)]))
    kept, usual = [], []
    left = {why: set(kinds) for why, kinds in not_asked.items()}
    left[NO_TIME].update(one.kind for one in questions[len(first) :])
    for question, answer, second in zip(questions, first, again, strict=False):
        if not question.is_certain(answer, keys.__getitem__):
            left[LEFT_OPEN].add(question.kind)
        elif answer != second:
            left[UNSTEADY].add(question.kind)
        else:
            kept.append(question)
            usual.append(answer)
    return Asked(kept, usual, {why: kinds for why, kinds in left.items() if kinds})


def _keys_of_all(server: PrivateServer, questions: Iterable[Question]) -> dict[TableName, Collection[Set[str]]]:
    """The unique keys of those tables on which a LIMIT may be certain by them."""
    tables = {
        one.table for one in questions if one.table is not None and one.limit is not None and one.limit.ordered_by
    }
    return {table: unique_keys(server.execute(f"SHOW INDEX FROM {quote_table(*table)}")) for table in tables}


def other_values(ways: Ways, variant: str, asked: Asked, shares: Mapping[int, float]) -> OtherValues:
    """What a variant answers otherwise. Raises VariantFailedError where it cannot be asked."""
    events = [one.event for one in asked.questions]
    answers = ways.asked(variant, lambda server: digests_of(server, events))
    kinds = dict(_differing(asked, answers))
    return OtherValues(kinds, _share(shares, kinds))


def _differing(asked: Asked, answers: Sequence[Digest]) -> Iterator[tuple[int, int]]:
    for question, usual, answer in zip(asked.questions, asked.usual, answers, strict=True):
        if usual != answer:
            yield question.kind, answer if isinstance(answer, int) else 0


def _share(shares: Mapping[int, float], kinds: Iterable[int]) -> float:
    return sum(shares.get(kind, 0.0) for kind in kinds)
