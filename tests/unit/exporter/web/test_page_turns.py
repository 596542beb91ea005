"""Pages take turns: a crowd that asks for one is refused beyond those who wait, and everything else is answered."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.web.access import Access
from myisam_exporter.web.application import MAXIMUM_PAGES, MAXIMUM_SCRAPES, Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.logins import WAITING_LOGINS
from myisam_exporter.web.peers import Peer
from myisam_exporter.web.scrape_slots import TARGETS_TO_FILL_ALL, Asked, ScrapeSlots
from myisam_exporter.web.server import CONNECTIONS_PER_PEER, Request, Response

AT_ONCE = MAXIMUM_PAGES // TARGETS_TO_FILL_ALL
CROWD = 50
LONG = 5.0


def asked(path: str, group: str = "192.0.2.1") -> Request:
    return Request("GET", path, "", {"host": "localhost"}, Peer(group))


def test_a_crowd_that_asks_for_pages_is_refused_and_all_else_is_answered() -> None:
    async def run() -> None:
        go, under_way, most = asyncio.Event(), list[str](), list[int]()

        async def slow(request: Request) -> Response | None:
            under_way.append(request.path)
            most.append(under_way.count(request.path))
            await go.wait()
            under_way.remove(request.path)
            return Response(200)

        async def slow_route(request: Request) -> Response:
            return await slow(request) or Response(404)

        async def quick(request: Request) -> Response:
            return Response(200)

        with ThreadPoolExecutor(1) as executor:
            fleet = Fleet(WatchOptions(), executor, TableChooser)
            exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, slow, {"/slow": slow_route, "/quick": quick}, own_process_metrics=False)
            crowd = [asyncio.ensure_future(exporter.handle(asked(path))) for path in ("/slow", "/rules/slow") for _ in range(CROWD)]
            await asyncio.sleep(0.1)
            refused = [one.result() for one in crowd if one.done()]
            assert len(refused) == 2 * (CROWD - MAXIMUM_PAGES)
            assert {(one.status, dict(one.headers)["Retry-After"]) for one in refused} == {(503, "1")}
            for path in ("/quick", "/-/healthy", "/metrics"):
                assert (await asyncio.wait_for(exporter.handle(asked(path)), LONG)).status == 200, path
            other = asyncio.ensure_future(exporter.handle(asked("/slow", "192.0.2.2")))
            await asyncio.sleep(0)
            assert not other.done(), "another address takes the place of one of the crowd"
            go.set()
            assert (await asyncio.wait_for(other, LONG)).status == 200
            answers = await asyncio.wait_for(asyncio.gather(*crowd), LONG)
            assert sum(one.status == 200 for one in answers) == 2 * MAXIMUM_PAGES - 1
            assert max(most) == AT_ONCE

    asyncio.run(run())


def test_a_page_that_fails_gives_its_turn_back() -> None:
    async def run() -> None:
        async def failing(request: Request) -> Response:
            raise ZeroDivisionError

        with ThreadPoolExecutor(1) as executor:
            fleet = Fleet(WatchOptions(), executor, TableChooser)
            exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, further_routes={"/failing": failing}, own_process_metrics=False)
            for _ in range(2 * MAXIMUM_PAGES):
                try:
                    await asyncio.wait_for(exporter.handle(asked("/failing")), LONG)
                except ZeroDivisionError:
                    continue
                raise AssertionError("it did not fail")

    asyncio.run(run())


def test_what_one_address_may_have_answered_and_waiting_leaves_room_for_its_next_connection() -> None:
    """What is answered keeps its place: were this more than a peer's connections, the next one that comes would be closed."""

    async def held(total: int) -> int:
        slots = ScrapeSlots(total)
        crowd = [asyncio.ensure_future(slots.take(Asked(str(number % total), "192.0.2.1"), LONG)) for number in range(5 * total)]
        await asyncio.sleep(0)
        count = sum(not one.done() or one.result() for one in crowd)
        for one in crowd:
            one.cancel()
        return count

    answered = asyncio.run(held(MAXIMUM_SCRAPES)) + asyncio.run(held(MAXIMUM_PAGES))
    assert MAXIMUM_SCRAPES + MAXIMUM_PAGES < answered < CONNECTIONS_PER_PEER - WAITING_LOGINS
