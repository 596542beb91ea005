"""What an answer, and all answers of a look, may have: each limit by itself, against a server that goes beyond it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import pytest

from myisam_exporter.errors import ServerLostError
from myisam_exporter.server import driver
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from myisam_exporter.server.wire import LOOK_MEMORY_BYTES, keep, one_look
from tests.support.lying_server import HostileServer, honest, rows

QUESTION = "SELECT 1"
ROW_OF_TEN = (b"0123456789",)


@contextmanager
def asked(count: int, row: tuple[bytes, ...] = ROW_OF_TEN) -> Iterator[Session]:
    """A session whose question is answered with so many rows."""
    answers: dict[bytes, Callable[[], Iterable[bytes]]] = {QUESTION.encode(): lambda: rows(len(row), [row] * count)}
    with HostileServer(lambda client: honest(client, answers)) as server, Session(Target("x", host="127.0.0.1", port=server.port), 2) as session:
        yield session


def test_as_many_rows_as_were_asked_for_and_no_more() -> None:
    with asked(10) as session:
        assert session.rows(QUESTION, maximum_rows=10) == [("0123456789",)] * 10
    with asked(11) as session, pytest.raises(ServerLostError, match="sent 11 rows in one answer, which no server does"):
        session.rows(QUESTION, maximum_rows=10)


def test_rows_of_an_answer_take_so_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "ANSWER_MEMORY_BYTES", 10_000)
    with asked(50) as session:
        assert len(session.rows(QUESTION)) == 50
    # Few bytes of the wire: what Python takes for each row and value beside them counts.
    with asked(100) as session, pytest.raises(ServerLostError, match=r"sent \d+ rows in one answer"):
        session.rows(QUESTION)


def test_an_answer_has_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "ANSWER_BYTES", 2048)
    with asked(10) as session:
        assert len(session.rows(QUESTION)) == 10
    # Far more: what was read ahead with the columns' descriptions is not counted.
    with asked(20_000) as session, pytest.raises(ServerLostError, match="sent more than 2 KiB in one answer"):
        session.rows(QUESTION, maximum_rows=100_000)


def test_where_memory_ends_here_the_server_is_not_blamed(monkeypatch: pytest.MonkeyPatch) -> None:
    with asked(50) as session:
        monkeypatch.setattr(driver, "keep", lambda _: (_ for _ in ()).throw(MemoryError))
        with pytest.raises(ServerLostError, match=r"^there was not enough memory for what the server at 127.0.0.1:\d+ sent: raise what limits"):
            session.rows(QUESTION)


def test_the_descriptions_of_its_columns_have_so_many_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver, "COLUMNS_BYTES", 1024)
    with asked(1, (b"x",) * 250) as session, pytest.raises(ServerLostError, match="sent more than 1 KiB in one answer"):
        session.rows(QUESTION)


def test_all_answers_of_a_look_have_so_many_bytes_and_the_next_look_begins_anew() -> None:
    with asked(1000) as session, one_look(40_000):
        session.rows(QUESTION)
        with pytest.raises(ServerLostError, match="sent more than 64 MiB in one look"):
            for _ in range(3):
                session.rows(QUESTION)
    with asked(1000) as session, one_look(40_000):
        session.rows(QUESTION)


def test_all_answers_of_a_look_take_so_much_memory() -> None:
    with asked(100) as session, one_look():
        keep(LOOK_MEMORY_BYTES - 20_000)
        session.rows(QUESTION)
        with pytest.raises(ServerLostError, match="sent more than 128 MiB in one look"):
            session.rows(QUESTION)
