"""The same SELECTs on each engine: whether they return the same rows, and in the same order.

One of each kind is asked, before anything is written, by an account that may read the copied databases and nothing else. What answers
otherwise when MyISAM is asked twice (RAND, NOW, UUID) says nothing, and is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field

from myisam_advisor.trial.engines.result import Answers
from myisam_advisor.trial.engines.stage import EngineServer, error_words, server_error
from myisam_advisor.trial.private.driver import Connection
from myisam_advisor.trial.statements.schedule import LARGE_ROWS
from myisam_advisor.trial.statements.stages import ACCOUNT
from myisam_advisor.trial.statements.survey import Judging, TableName
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.fingerprints import fingerprint

MOST_KINDS, MOST_LISTED = 300, 20
STATEMENT_SECONDS = 30
# Each of these is known to one product: statements of a workload may take as long as they please.
LIMITS = (f"SET SESSION max_statement_time = {STATEMENT_SECONDS}", f"SET SESSION max_execution_time = {STATEMENT_SECONDS * 1000}")  # fmt: skip
Answer = tuple[str, ...]


@dataclass(slots=True)
class Compared:
    """One engine's answers against those of MyISAM; of those that differ the kinds of the statements."""

    equal: int = 0
    other_order: list[str] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)

    def add(self, kind: str, expected: Answer, answer: Answer) -> None:
        """One statement's answers."""
        if answer == expected:
            self.equal += 1
        elif sorted(answer) == sorted(expected):
            self.other_order.append(kind)
        else:
            self.differ.append(kind)

    def told(self) -> Answers:
        """For the result: the first kinds of each."""
        total = self.equal + len(self.other_order) + len(self.differ)
        return Answers(total, self.equal, tuple(self.other_order[:MOST_LISTED]), tuple(self.differ[:MOST_LISTED]))


def compare_answers(
    servers: Sequence[EngineServer], events: Iterable[Event], judging: Judging, copied: set[TableName]
) -> Mapping[str, Compared]:
    """Ask all servers, the first of which is the measure; by engine."""
    asked = selects(events, judging, copied)
    base, *others = servers
    expected = _answers(base, asked)
    again = _answers(base, asked)
    found = {one.engine: Compared() for one in others}
    for one in others:
        for event, first, second, answer in zip(asked, expected, again, _answers(one, asked), strict=True):
            if first == second:
                found[one.engine].add(fingerprint(event.statement), first, answer)
    return found


def selects(events: Iterable[Event], judging: Judging, copied: set[TableName]) -> list[Event]:
    """The first SELECT of each kind that reads copied tables alone, and was not recorded with more rows than are held in memory."""
    found: dict[int, Event] = {}
    for event in events:
        judged = judging.of(event)
        tables = judged.tables(event.database)
        is_select = event.statement.lstrip(b" \t\r\n(")[:6].lower() == b"select"
        if not is_select or judged.refused or judged.touched.writes or not tables or not tables <= copied:
            continue
        if event.rows_sent is not None and event.rows_sent <= LARGE_ROWS and len(found) < MOST_KINDS:
            found.setdefault(judged.kind, event)
    return list(found.values())


def _answers(one: EngineServer, asked: Sequence[Event]) -> list[Answer]:
    with closing(one.server.connect(user=ACCOUNT)) as connection:
        for statement in LIMITS:
            with suppress(server_error()), closing(connection.cursor()) as cursor:
                cursor.execute(statement)
        return [_answer(connection, event) for event in asked]


def _answer(connection: Connection, event: Event) -> Answer:
    try:
        with closing(connection.cursor()) as cursor:
            if event.database is not None:
                cursor.execute(b"USE `%b`" % event.database.replace(b"`", b"``"))
            cursor.execute(event.statement)
            return tuple(repr(row) for row in cursor.fetchall())
    except server_error() as error:
        return (f"error {error_words(error)[0]}",)
