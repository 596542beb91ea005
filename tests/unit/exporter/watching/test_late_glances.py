"""Between which moments a glance counts: of one connection, and of an answer that came late."""

from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.server.target import Target
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.glancer import Glancer
from tests.support.moved_clock import MovedClock


def nowhere() -> Target:
    raise UserError("no such file")


class Counted:
    """A server that counted so much by now, as a connection with it tells."""

    def __init__(self, reads: int) -> None:
        self.reads = reads

    def rows_or_unknown(self, statement: str, columns: int) -> list[tuple[str, str]]:
        self.reads += 5
        return [("Key_reads", str(self.reads))]


def test_between_two_connections_there_is_no_peak() -> None:
    """The second may be with another server: what that one ever counted is no rate."""
    clock, connection = MovedClock(), Connection(nowhere, 1)
    glancing = Glancer(connection, Path("/proc"), clock)
    for session in (Counted(0), Counted(10**9)):
        connection._session = session  # type: ignore[assignment]
        for _ in range(2):
            clock.move(5)
            glancing.glance()
    assert glancing.peaks(60)["Key_reads"].maximum == pytest.approx(1, rel=0.01)


def test_an_answer_that_came_late_makes_a_smaller_peak_than_by_when_it_was_asked() -> None:
    """It counted for 15 s, or for 5: neither is divided by the 5 s between two questions."""
    clock, connection = MovedClock(), Connection(nowhere, 1)
    glancing = Glancer(connection, Path("/proc"), clock)

    class Late(Counted):
        def rows_or_unknown(self, statement: str, columns: int) -> list[tuple[str, str]]:
            clock.move(10)
            self.reads += 10
            return super().rows_or_unknown(statement, columns)

    connection._session = Counted(0)  # type: ignore[assignment]
    glancing.glance()
    clock.move(5)
    glancing._session = connection._session = Late(5)  # type: ignore[assignment]
    glancing.glance()
    assert glancing.peaks(60)["Key_reads"].maximum == pytest.approx(1.5, rel=0.01)
