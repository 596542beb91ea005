"""What becomes of a table's lock where somebody ends the trial meanwhile."""

from types import SimpleNamespace
from typing import Any

import pytest

from myisam_advisor.trial.tables.table_lock import answer_lock
from myisam_exporter.errors import ServerLostError, StatementRefusedError


class Session:
    """Interrupted at a statement, it takes no further one."""

    def __init__(self, interrupted_at: str) -> None:
        self.version = SimpleNamespace(at_least=lambda **_: True)
        self._interrupted_at, self._is_broken = interrupted_at, False

    def rows(self, statement: str) -> list[Any]:
        if self._is_broken:
            raise ServerLostError("lost the server")
        if statement.startswith(self._interrupted_at):
            self._is_broken = True
            raise KeyboardInterrupt
        return []


class Channel:
    def __init__(self, is_interrupted: bool) -> None:
        self._is_interrupted = is_interrupted

    def send(self, message: object) -> None:
        self.sent = message

    def receive(self, _seconds: float) -> None:
        if self._is_interrupted:
            raise KeyboardInterrupt


@pytest.mark.parametrize("moment", ["SET SESSION TRANSACTION READ WRITE", "FLUSH TABLES", "UNLOCK TABLES", "SET SESSION TRANSACTION READ ONLY", "the copy"])
def test_an_interrupt_stays_one(moment: str) -> None:
    """The connection ends with the program, and the lock with it: no second error takes its place."""
    channel: Any = Channel(moment == "the copy")
    session: Any = Session(moment)
    sources: Any = [SimpleNamespace(schema="shop", table="words", label="shop.words")]
    with pytest.raises(KeyboardInterrupt):
        answer_lock(channel, {"lock": 0}, sources, session)


@pytest.mark.parametrize(("number", "said"), [(1146, "shop.words was dropped, or has another name now: try again."), (1142, "needs RELOAD, LOCK TABLES, and SELECT")])
def test_a_table_that_is_gone_is_no_lack_of_rights(monkeypatch: pytest.MonkeyPatch, number: int, said: str) -> None:
    def refuse(_: object, statement: str) -> list[Any]:
        if statement.startswith("FLUSH"):
            raise StatementRefusedError(number, "no")
        return []

    monkeypatch.setattr(Session, "rows", refuse)
    channel: Any = Channel(False)
    session: Any = Session("")
    answer_lock(channel, {"lock": 0}, [SimpleNamespace(schema="shop", table="words", label="shop.words")], session)  # type: ignore[list-item]
    assert said in channel.sent["error"]
