"""Pages that read the history wait for each other in a thread of their own, and few of them."""

import asyncio
import threading

import pytest

from myisam_advisor.daemon.history_queue import WAITING_PAGES, HistoryBusyError, HistoryQueue


def test_pages_that_wait_are_few_and_one_is_read_at_a_time() -> None:
    async def crowd() -> None:
        queue, go, done = HistoryQueue(), threading.Event(), list[tuple[int, str]]()

        def page(number: int) -> int:
            assert go.wait(10)
            done.append((number, threading.current_thread().name))
            return number

        def asks(number: int) -> asyncio.Task[int]:
            return asyncio.create_task(queue.run(lambda: page(number)))

        waiting = [asks(number) for number in range(WAITING_PAGES)]
        await asyncio.sleep(0)
        with pytest.raises(HistoryBusyError):
            await queue.run(lambda: page(100))
        # Who goes away leaves the work behind: the place is taken until it is done.
        waiting[0].cancel()
        await asyncio.sleep(0)
        with pytest.raises(HistoryBusyError):
            await queue.run(lambda: page(101))
        go.set()
        assert await asyncio.gather(*waiting[1:]) == list(range(1, WAITING_PAGES))
        assert [number for number, _ in done] == list(range(WAITING_PAGES))
        assert len({name for _, name in done}) == 1
        assert await queue.run(lambda: page(102)) == 102

    asyncio.run(crowd())


def test_work_that_fails_gives_its_place_back() -> None:
    async def failing() -> None:
        queue = HistoryQueue()
        for _ in range(2 * WAITING_PAGES):
            with pytest.raises(ZeroDivisionError):
                await queue.run(lambda: 1 // 0)

    asyncio.run(failing())
