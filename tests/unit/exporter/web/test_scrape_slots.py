"""Who scrapes a target that hangs, however often, takes no turn from the others; who waits is served in turn."""

import asyncio
from collections.abc import Callable, Coroutine

from myisam_exporter.web.scrape_slots import Asked, ScrapeSlots

LONG, SHORT = 5.0, 0.01
CROWD, OTHER = "192.0.2.1", "192.0.2.2"


def by_one(target: str) -> Asked:
    return Asked(target, CROWD)


def run(work: Callable[[ScrapeSlots], Coroutine[None, None, None]], total: int) -> None:
    async def in_loop() -> None:
        await asyncio.wait_for(work(ScrapeSlots(total)), LONG)

    asyncio.run(in_loop())


def test_one_target_takes_a_quarter_of_the_slots_and_of_its_crowd_the_rest_are_refused_at_once() -> None:
    async def work(slots: ScrapeSlots) -> None:
        crowd = [asyncio.ensure_future(slots.take(by_one("hung"), LONG)) for _ in range(60)]
        await asyncio.sleep(0)
        assert len(slots) == 10
        refused = [one for one in crowd if one.done() and not one.result()]
        assert len(refused) == 20, "ten have a slot, thirty wait"
        assert await slots.take(by_one("other"), 0.0)
        for one in crowd:
            one.cancel()

    run(work, 40)


def test_who_waits_takes_its_turn_in_the_order_of_coming() -> None:
    async def work(slots: ScrapeSlots) -> None:
        assert await slots.take(by_one("a"), 0.0)
        order: list[int] = []

        async def wait(number: int) -> None:
            assert await slots.take(by_one("a"), LONG)
            order.append(number)
            slots.give_back(by_one("a"))

        waiting = [asyncio.ensure_future(wait(number)) for number in range(3)]
        await asyncio.sleep(0)
        slots.give_back(by_one("a"))
        await asyncio.gather(*waiting)
        assert order == [0, 1, 2]
        assert len(slots) == 0

    run(work, 4)


def test_a_target_in_line_does_not_hold_up_those_behind_it() -> None:
    async def work(slots: ScrapeSlots) -> None:
        for target in ("hung", "b", "c", "d"):
            assert await slots.take(by_one(target), 0.0)
        hung, other = asyncio.ensure_future(slots.take(by_one("hung"), LONG)), asyncio.ensure_future(slots.take(by_one("e"), LONG))
        await asyncio.sleep(0)
        slots.give_back(by_one("b"))
        assert await other
        assert not hung.done()
        hung.cancel()

    run(work, 4)


def test_who_waits_too_long_or_leaves_keeps_no_slot() -> None:
    async def work(slots: ScrapeSlots) -> None:
        assert await slots.take(by_one("a"), 0.0)
        assert not await slots.take(by_one("a"), SHORT)
        leaving = asyncio.ensure_future(slots.take(by_one("a"), LONG))
        await asyncio.sleep(0)
        slots.give_back(by_one("a"))  # its turn came, and it left before it knew
        leaving.cancel()
        await asyncio.wait({leaving})
        assert leaving.cancelled()
        assert len(slots) == 0
        assert await slots.take(by_one("a"), 0.0)

    run(work, 2)


def test_a_crowd_gives_way_to_who_asks_once_and_that_one_is_next() -> None:
    async def work(slots: ScrapeSlots) -> None:
        crowd = [asyncio.ensure_future(slots.take(by_one("hung"), LONG)) for _ in range(60)]
        await asyncio.sleep(0)
        alone = asyncio.ensure_future(slots.take(Asked("hung", OTHER), LONG))
        await asyncio.sleep(SHORT)
        assert sum(one.done() and not one.result() for one in crowd) == 21, "one more than before somebody else came"
        assert not alone.done()
        slots.give_back(by_one("hung"))
        assert await alone
        assert len(slots) == 10
        for one in crowd:
            one.cancel()

    run(work, 40)


def test_two_crowds_share_a_line_and_who_was_sent_away_sends_nobody_away() -> None:
    async def work(slots: ScrapeSlots) -> None:
        first = [asyncio.ensure_future(slots.take(by_one("hung"), LONG)) for _ in range(40)]
        await asyncio.sleep(0)
        second = [asyncio.ensure_future(slots.take(Asked("hung", OTHER), LONG)) for _ in range(40)]
        third = [asyncio.ensure_future(slots.take(by_one("hung"), LONG)) for _ in range(40)]
        await asyncio.sleep(SHORT)
        waiting = [sum(not one.done() for one in crowd) for crowd in (first, second, third)]
        assert waiting == [15, 15, 0]
        for one in (*first, *second, *third):
            one.cancel()

    run(work, 40)
