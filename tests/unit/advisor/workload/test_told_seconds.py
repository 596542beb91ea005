from typing import NamedTuple

import pytest

from myisam_advisor.workload.events import Event
from myisam_advisor.workload.told_seconds import ToldSeconds

MINUTE = 1_795_000_000


class Entry(NamedTuple):
    """The second that is told, behind MINUTE, and what it is told of."""

    told: int
    seconds: float
    statement: bytes = b"SELECT 1"
    connection: int = 7


def ended(*entries: tuple[int, float] | tuple[int, float, bytes] | tuple[int, float, bytes, int]) -> list[int]:
    """In which seconds behind MINUTE they ended."""
    seconds = ToldSeconds()
    events = [(one.told, Event(one.connection, 0, round(one.seconds * 1e6), None, one.statement, 0)) for one in (Entry(*entry) for entry in entries)]
    return [seconds.ended(MINUTE + told, event) - MINUTE for told, event in events]


def test_a_log_of_ends_is_taken_as_it_is() -> None:
    assert ended((0, 0.1), (0, 0.9), (3, 2.5), (3, 0.1), (2, 0.1), (4, 1.2), (9, 5.0), (9, 0.0)) == [0, 0, 3, 3, 3, 4, 9, 9]


def test_a_log_of_beginnings_is_told_by_a_statement_among_others() -> None:
    # The sixth began in second 6, and ended when the others were at 9, or a moment later.
    told = ended((5, 0.1), (6, 0.1), (7, 0.1), (9, 0.1), (9, 0.2), (6, 3.2), (9, 0.1), (8, 2.5), (10, 0.1), (20, 4.9), (24, 0.0))
    assert told == [5, 6, 7, 9, 9, 9, 9, 10, 10, 24, 24]


def test_a_clock_that_was_set_back_is_no_log_of_beginnings() -> None:
    assert ended((100, 0.1), (50, 0.1), (51, 3.0), (51, 0.0)) == [100, 50, 51, 51]


@pytest.mark.parametrize(
    "statement",
    [b"SET timestamp=5", b"set session timestamp = 5", b"SET @@timestamp=5", b"SET @@session.timestamp = 5", b"SET @a = 1, `timestamp` := 5", b"SET TIMESTAMP=5/*!*/"],
)
@pytest.mark.parametrize("back", [b"SET timestamp = DEFAULT", b"SET timestamp=0"])
def test_a_sessions_own_clock_is_not_the_logs(statement: bytes, back: bytes) -> None:
    own = 5 - MINUTE
    told = ended((0, 0.1), (own, 0.0, statement), (own, 3.0), (2, 0.1, b"SELECT 2", 8), (own, 0.1), (own, 0.0, back), (4, 0.1), (900, 0.1))
    assert told == [0, 0, 0, 2, 2, 2, 4, 900]


def test_a_variable_of_the_users_is_no_clock() -> None:
    assert ended((0, 0.1), (0, 0.1, b"SET @timestamp = 5"), (700, 0.1)) == [0, 0, 700]
