"""The same SELECTs on several private servers: whether they return the same rows, and in the same order.

One of each kind is asked, on tables that nothing was written to, by an account that may read the copied databases and nothing else. What answers
otherwise when the first server is asked twice (RAND, NOW, UUID) says nothing, and is left out.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import field

from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.statements.ending_by_hand import ended_by_hand
from myisam_advisor.trial.statements.schedule import LARGE_ROWS
from myisam_advisor.trial.statements.stages import ACCOUNT
from myisam_advisor.trial.statements.survey import Judging
from myisam_advisor.workload.events import Event
from myisam_advisor.workload.fingerprints import fingerprint
from myisam_exporter.declaring.lean_dataclasses import dataclass
from myisam_exporter.facts.columns import TableName

MOST_KINDS = 300
STATEMENT_SECONDS = 30
# Each of these is known to one product, and neither to MySQL before 5.7.4: statements of a workload may take as long as they please.
LIMITS = (f"SET SESSION max_statement_time = {STATEMENT_SECONDS}", f"SET SESSION max_execution_time = {STATEMENT_SECONDS * 1000}")  # fmt: skip
# The rows; or the number of the error.
Answer = tuple[str, ...] | int
# The same, with their number and a digest in the place of the rows, whatever their order.
Digest = tuple[int, bytes] | int
# Sums of fractions end otherwise by the order of their rows.
FRACTION_DIGITS = 12
# How many rows the event at this place of the recording has; None where that is not known.
Rows = Callable[[int, Event], "int | None"]


@dataclass(slots=True)
class Compared:
    """One server's answers against those of the first; of those that differ the kinds of the statements.

    `failed` are those of `differ` that end with an error on one of the two: its number on the first, and on this one (0: none).
    `not_asked` are those for which there was no time.
    """

    equal: int = 0
    other_order: list[str] = field(default_factory=list)
    differ: list[str] = field(default_factory=list)
    failed: dict[str, tuple[int, int]] = field(default_factory=dict)
    not_asked: int = 0

    def add(self, kind: str, expected: Answer, answer: Answer) -> None:
        """One statement's answers."""
        if answer == expected:
            self.equal += 1
        elif isinstance(answer, int) or isinstance(expected, int):
            self.differ.append(kind)
            self.failed[kind] = (_error_in(expected), _error_in(answer))
        elif sorted(answer) == sorted(expected):
            self.other_order.append(kind)
        else:
            self.differ.append(kind)

    @property
    def total(self) -> int:
        """How many were compared."""
        return self.equal + len(self.other_order) + len(self.differ)


def compare_answers(
    servers: Mapping[str, PrivateServer], asked: Sequence[Event], seconds: float | None = None
) -> Mapping[str, Compared]:
    """Ask all servers, the first of which is the measure and asked twice; the others by their names. After so many seconds no more are asked (None: all are)."""
    base, *others = servers
    found, began = {name: Compared() for name in others}, time.monotonic()
    with ExitStack() as stack:
        connections = {name: stack.enter_context(asking(server)) for name, server in servers.items()}
        for number, event in enumerate(asked):
            if seconds is not None and time.monotonic() - began > seconds:
                for compared in found.values():
                    compared.not_asked = len(asked) - number
                break
            first, second = _answer(connections[base], event), _answer(connections[base], event)
            answers = {name: _answer(connections[name], event) for name in others}
            if first == second:
                for name, answer in answers.items():
                    found[name].add(fingerprint(event.statement), first, answer)
    return found


def recorded_rows(_place: int, event: Event) -> int | None:
    """How many rows an event returned when it was recorded; None where that is not told."""
    return event.rows_sent


def digests_of(server: PrivateServer, asked: Iterable[Event], seconds: float | None = None) -> list[Digest]:
    """What one server answers to each; after so many seconds no more are asked (None: all are)."""
    found: list[Digest] = []
    began = time.monotonic()
    with asking(server) as connection:
        for event in asked:
            if seconds is not None and time.monotonic() - began > seconds:
                break
            found.append(_digest(_answer(connection, event)))
    return found


def _digest(answer: Answer) -> Digest:
    if isinstance(answer, int):
        return answer
    digest = hashlib.blake2b(digest_size=16)
    for row in sorted(answer):
        digest.update(row.encode("utf-8", "surrogatepass") + b"\0")
    return len(answer), digest.digest()


def selects(
    events: Iterable[Event], judging: Judging, copied: set[TableName], rows: Rows = recorded_rows
) -> list[Event]:
    """The first SELECT of each kind that reads copied tables alone, and of which `rows` tells no more rows than are held in memory."""
    found: dict[int, Event] = {}
    for place, event in enumerate(events):
        judged = judging.of(event)
        tables = judged.tables(event.database)
        is_select = event.statement.lstrip(b" \t\r\n(")[:6].lower() == b"select"
        if not is_select or judged.refused or judged.touched.writes or not tables or not tables <= copied:
            continue
        known = rows(place, event)
        if known is not None and known <= LARGE_ROWS and len(found) < MOST_KINDS:
            found.setdefault(judged.kind, event)
    return list(found.values())


@contextmanager
def asking(server: PrivateServer) -> Iterator[Connection]:
    """A connection of the account that sends statements, on which none takes longer than `STATEMENT_SECONDS`."""
    with closing(server.connect(user=ACCOUNT)) as connection:
        limits = [_takes(connection, limit) for limit in LIMITS]
        with nullcontext() if any(limits) else ended_by_hand(server, connection, STATEMENT_SECONDS):
            yield connection


def _takes(connection: Connection, setting: str) -> bool:
    try:
        with closing(connection.cursor()) as cursor:
            cursor.execute(setting)
    except driver().error:
        return False
    return True


def refusal_of(connection: Connection, event: Event) -> tuple[int, str] | None:
    """The number and the words with which a server refuses the event's statement; None where it does not."""
    try:
        _rows(connection, event)
    except driver().error as error:
        return _number(error), str(error.args[-1]) if error.args else str(error)
    return None


def _answer(connection: Connection, event: Event) -> Answer:
    try:
        return _rows(connection, event)
    except driver().error as error:
        return _number(error)


def _rows(connection: Connection, event: Event) -> tuple[str, ...]:
    with closing(connection.cursor()) as cursor:
        if event.database is not None:
            cursor.execute(b"USE `%b`" % event.database.replace(b"`", b"``"))
        cursor.execute(event.statement)
        return tuple(repr(tuple(map(_rounded, row))) for row in cursor.fetchall())


def _rounded(value: object) -> object:
    return float(f"{value:.{FRACTION_DIGITS}g}") if isinstance(value, float) else value


def _number(error: Exception) -> int:
    """The number of an error; -1 where it has none."""
    return error.args[0] if error.args and isinstance(error.args[0], int) else -1


def _error_in(answer: Answer) -> int:
    return answer if isinstance(answer, int) else 0
