"""Pages of tables: they wait for each other in the history's thread, and no other page waits for them."""

import asyncio
import threading
from collections.abc import Awaitable, Mapping
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlencode

from myisam_advisor.daemon.board import Board
from myisam_advisor.daemon.pages import Pages
from myisam_advisor.reports.one_table import Points
from myisam_advisor.reports.page.look import Look
from myisam_exporter.facts.columns import TableName
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.target import Target
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch
from myisam_exporter.web.server import Request, Response
from tests.support.moved_clock import MovedClock

from .test_advice import LABEL, Daemon

TABLE = urlencode({"schema": "s", "table": "t"})
CROWD = 8


class SlowBoard(Board):
    """Reads the history for as long as a test wants."""

    go = threading.Event()

    def table_curves(self, label: str, look: Look, name: TableName) -> Mapping[str, Points]:
        assert self.go.wait(10)
        return {}


async def answer_of(answering: Awaitable[Response]) -> Response:
    return await answering


def nowhere() -> Target:
    raise AssertionError("nothing connects here")


def test_pages_of_targets_that_are_probed_no_more_are_not_kept() -> None:
    with ThreadPoolExecutor(1) as readers:
        fleet = Fleet(WatchOptions(), readers, TableChooser)
        watch = Watch(LABEL, nowhere, readers, WatchOptions(), TableChooser())
        pages = Pages(fleet, Board(), lambda: ())
        fleet._probed[LABEL, "client"] = watch
        pages._page(watch, LABEL, False)
        pages._page(None, "", False)
        assert set(pages._rendered) == {(LABEL, False), ("", False)}
        del fleet._probed[LABEL, "client"]
        pages._page(None, "", False)
        assert set(pages._rendered) == {("", False)}


def test_tables_that_many_ask_for_keep_nobody_else_waiting() -> None:
    daemon = Daemon(None, MovedClock())
    daemon.look(0)
    look = daemon.board.look(LABEL)
    assert look is not None
    board = SlowBoard()
    board.put(LABEL, look, {})

    async def asked() -> None:
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as of_all, ThreadPoolExecutor(1) as readers:
            loop.set_default_executor(of_all)
            fleet = Fleet(WatchOptions(), readers, TableChooser)
            fleet.own = Watch(LABEL, nowhere, readers, WatchOptions(), TableChooser())
            routes = Pages(fleet, board, lambda: ()).routes()

            def request(path: str, query: str = "") -> Request:
                return Request("GET", path, query, {"host": "localhost"})

            waiting = [asyncio.create_task(answer_of(routes["/table"](request("/table", TABLE)))) for _ in range(CROWD)]
            await asyncio.sleep(0.05)
            try:
                for path in ("/", "/tables", "/rules", "/advice.json"):
                    answer = await asyncio.wait_for(answer_of(routes[path](request(path))), 5)
                    assert answer.status == 200, path
            finally:
                board.go.set()
            assert [answer.status for answer in await asyncio.gather(*waiting)] == [200] * CROWD

    asyncio.run(asked())
