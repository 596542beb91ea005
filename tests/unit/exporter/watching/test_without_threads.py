"""A system that starts no further thread, for a while: looks wait for one, and go on by themselves."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.errors import UserError
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.target import Target
from myisam_exporter.watching import fleet as fleets
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions

REFUSALS = 3


def test_a_beat_that_gets_no_thread_goes_on_when_there_is_one(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """It ended for good: the daemon served what it had found until then, and systemd was told that it lives."""
    refusals: list[Callable[..., Any]] = []
    looked = threading.Event()
    submit = ThreadPoolExecutor.submit

    def refusing(self: ThreadPoolExecutor, work: Callable[..., Any], *words: Any) -> Any:
        if self._thread_name_prefix == "look" and len(refusals) < REFUSALS:
            refusals.append(work)
            raise RuntimeError("can't start new thread")
        return submit(self, work, *words)

    def nowhere() -> Target:
        looked.set()
        raise UserError("nowhere")

    async def watched() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(WatchOptions(background_seconds=0.1), pool, TableChooser)
            fleet.watch_own("here", nowhere)
            assert await asyncio.to_thread(looked.wait, 10)
            fleet.close()

    monkeypatch.setattr(ThreadPoolExecutor, "submit", refusing)
    monkeypatch.setattr(fleets, "WITHOUT_THREAD_SECONDS", 0.01)
    asyncio.run(watched())
    assert len(refusals) == REFUSALS
    assert [record.message for record in caplog.records if "for now" in record.message] == ["here is not looked at for now: can't start new thread"]


@pytest.mark.parametrize(("fault", "told", "is_traced"), [(MemoryError(), "the looks at here ended (MemoryError) and begin again", False), (KeyError("x"), "the looks at here ended and begin again", True)])
def test_a_beat_that_a_fault_ended_begins_again(fault: Exception, told: str, is_traced: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """Without memory what tells of a fault fails, too; any other is a fault of ours, and its trace says where."""
    looks: list[object] = []
    looked = threading.Event()

    def look(watch: object) -> str:
        looks.append(watch)
        if len(looks) < REFUSALS:
            raise fault
        looked.set()
        return "nowhere"

    async def watched() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(WatchOptions(background_seconds=0.1), pool, TableChooser)
            fleet.watch_own("here", lambda: Target("me", socket=Path("/nowhere")))
            assert await asyncio.to_thread(looked.wait, 10)
            fleet.close()

    monkeypatch.setattr(fleets, "_look", look)
    monkeypatch.setattr(fleets, "WITHOUT_THREAD_SECONDS", 0.01)
    asyncio.run(watched())
    assert [(record.message, bool(record.exc_info)) for record in caplog.records if "begin again" in record.message] == [(told, is_traced)] * (REFUSALS - 1)
