"""Scrapes under load: rendering waits behind nothing else, and readings count until they end, whoever left meanwhile."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from myisam_exporter.exposition.reading import Reading
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.target import Target
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch
from myisam_exporter.web.access import Access
from myisam_exporter.web.application import READINGS_PER_SCRAPE, TIMEOUT_HEADER, Exporter
from myisam_exporter.web.gate import Gate
from myisam_exporter.web.server import Request, Response

# Long enough that a page is made in what a reading leaves of it while other tests have the processors.
IN_HASTE = {"host": "localhost", TIMEOUT_HEADER: "0.5"}


def nowhere() -> Target:
    raise AssertionError("nothing connects here")


class Slow(Watch):
    """Readings that end when a test says so, each begun anew, and a page that is made when it says so."""

    def __init__(self, executor: ThreadPoolExecutor) -> None:
        super().__init__("here", nowhere, executor, WatchOptions(), TableChooser())
        self.begun: list[Future[Reading]] = []
        self.shared: Future[Reading] | None = None
        self.ends_at_once = True
        self.may_render = threading.Event()
        self.may_render.set()

    def scrape(self, selected: frozenset[str]) -> Future[Reading]:
        if self.shared is not None:
            return self.shared
        flight = Future[Reading]()
        self.begun.append(flight)
        if self.ends_at_once:
            flight.set_result(Reading())
        return flight

    def exposition(self, *asked: Any, **further: Any) -> bytes:
        assert self.may_render.wait(10)
        return super().exposition(*asked, **further)


def scraped(scrapes: Callable[[Slow, Callable[[], Coroutine[Any, Any, Response]]], Coroutine[Any, Any, None]], maximum: int = 2) -> None:
    """Run what a test does with a slow watch and a way to ask for its metrics in haste."""

    async def run() -> None:
        with ThreadPoolExecutor(1) as executor:
            fleet = Fleet(WatchOptions(), executor, TableChooser)
            watch = fleet.own = Slow(executor)
            exporter = Exporter(fleet, Access(Gate(None)), lambda: lambda: None, maximum_scrapes=maximum, own_process_metrics=False)

            async def ask() -> Response:
                return await asyncio.wait_for(exporter.handle(Request("GET", "/metrics", "", IN_HASTE)), 5)

            await scrapes(watch, ask)

    asyncio.run(run())


def test_metrics_wait_for_nothing_else_that_the_daemon_does_in_threads() -> None:
    async def scrapes(watch: Slow, ask: Callable[[], Coroutine[Any, Any, Response]]) -> None:
        go = threading.Event()
        with ThreadPoolExecutor(1) as of_all:
            loop = asyncio.get_running_loop()
            loop.set_default_executor(of_all)
            taken = loop.run_in_executor(None, go.wait, 10)
            try:
                answer = await ask()
            finally:
                go.set()
            await taken
        assert (answer.status, b"myisam_up 1" in answer.body) == (200, True)

    scraped(scrapes)


def test_a_page_that_is_not_made_in_time_is_not_waited_for() -> None:
    async def scrapes(watch: Slow, ask: Callable[[], Coroutine[Any, Any, Response]]) -> None:
        watch.may_render.clear()
        try:
            late = await ask()
        finally:
            watch.may_render.set()
        assert (late.status, dict(late.headers)["Retry-After"]) == (503, "1")
        assert (await ask()).status == 200

    scraped(scrapes)


def test_readings_count_until_they_end_whoever_left_meanwhile() -> None:
    async def scrapes(watch: Slow, ask: Callable[[], Coroutine[Any, Any, Response]]) -> None:
        watch.ends_at_once = False
        for _ in range(2 * READINGS_PER_SCRAPE):
            answer = await ask()
            assert (answer.status, b"myisam_up 0" in answer.body) == (200, True)
        assert (await ask()).status == 503
        assert len(watch.begun) == 2 * READINGS_PER_SCRAPE
        watch.begun[0].set_result(Reading())
        watch.ends_at_once = True
        assert (await ask()).status == 200

    scraped(scrapes)


def test_who_joins_a_reading_that_is_under_way_begins_none() -> None:
    async def scrapes(watch: Slow, ask: Callable[[], Coroutine[Any, Any, Response]]) -> None:
        watch.shared = Future()
        for _ in range(3 * READINGS_PER_SCRAPE):
            assert (await ask()).status == 200

    scraped(scrapes, maximum=1)


def test_a_collector_that_there_is_not_is_refused_where_no_server_of_our_own_is_watched_too() -> None:
    async def asked(query: str) -> Response:
        with ThreadPoolExecutor(1) as executor:
            exporter = Exporter(Fleet(WatchOptions(), executor, TableChooser), Access(Gate(None)), lambda: lambda: None, own_process_metrics=False)
            return await exporter.handle(Request("GET", "/metrics", query, IN_HASTE))

    refused, taken = asyncio.run(asked("collect[]=nope")), asyncio.run(asked("collect[]=status"))
    assert (refused.status, b"unknown collect[]: there are cgroup," in refused.body, taken.status) == (400, True, 200)
