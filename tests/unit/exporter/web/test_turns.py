"""Whose turn it is goes round among those who wait, and whoever leaves the line takes no turn with them."""

import asyncio

from myisam_exporter.web.turns import Turns


async def _step(turns: Turns, peer: str, done: list[str]) -> None:
    async with turns.of(peer):
        done.append(peer)


def test_a_crowd_of_one_peer_has_every_second_turn() -> None:
    async def begin() -> list[str]:
        turns, done = Turns(), list[str]()
        await asyncio.gather(*(_step(turns, peer, done) for peer in ("crowd",) * 5 + ("one",) * 2 + ("other",)))
        return done

    assert asyncio.run(begin()) == ["crowd", "crowd", "one", "other", "crowd", "one", "crowd", "crowd"]


def test_others_go_on_between_two_turns() -> None:
    async def begin() -> list[int]:
        turns, done, seen = Turns(), list[str](), list[int]()
        steps = asyncio.gather(*(_step(turns, "crowd", done) for _ in range(20)))
        while not steps.done():
            await asyncio.sleep(0)
            seen.append(len(done))
        return seen

    seen = asyncio.run(begin())
    assert max(after - before for before, after in zip([0, *seen], seen, strict=False)) == 1


def test_who_leaves_takes_no_turn_with_them() -> None:
    """Nor one that had come to them already: the line would stand for ever."""

    async def begin() -> list[str]:
        turns, done = Turns(), list[str]()
        async with turns.of("holder"):
            tasks = [asyncio.create_task(_step(turns, peer, done)) for peer in ("gone", "never", "last")]
            await asyncio.sleep(0)
            tasks[1].cancel()
        # Behind what gives the first of them the turn, and ahead of when it hears of it.
        asyncio.get_running_loop().call_soon(tasks[0].cancel)
        await asyncio.wait(tasks, timeout=5)
        assert not turns._line
        await asyncio.wait_for(_step(turns, "later", done), 5)
        return done

    assert asyncio.run(begin()) == ["last", "later"]


def test_a_turn_in_which_something_fails_is_passed_on() -> None:
    async def failing(turns: Turns) -> None:
        async with turns.of("one"):
            raise ValueError

    async def begin() -> list[str]:
        turns, done = Turns(), list[str]()
        first = asyncio.create_task(failing(turns))
        second = asyncio.create_task(_step(turns, "two", done))
        await asyncio.wait({first, second}, timeout=5)
        assert isinstance(first.exception(), ValueError)
        return done

    assert asyncio.run(begin()) == ["two"]


def test_who_leaves_costs_no_other_of_their_peer_a_turn() -> None:
    async def begin() -> list[str]:
        turns, done = Turns(), list[str]()
        async with turns.of("holder"):
            gone, *others = [asyncio.create_task(_step(turns, peer, done)) for peer in ("crowd", "crowd", "other")]
            await asyncio.sleep(0)
            gone.cancel()
            await asyncio.wait({gone}, timeout=5)
        await asyncio.wait(others, timeout=5)
        return done

    assert asyncio.run(begin()) == ["crowd", "other"]
