"""One watch in this process, on a real server: failures inside it, and what it remembers from look to look."""

import asyncio
import signal
import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.collectors import key_caches
from myisam_exporter.collectors.base import Pair
from myisam_exporter.errors import ServerLostError
from myisam_exporter.kernel.page_cache_hits import PageCacheHits
from myisam_exporter.look.fact_set import FactSet
from myisam_exporter.look.interval import Interval
from myisam_exporter.look.table_choice import Choice, TableChooser
from myisam_exporter.metrics import mysqld_process as process_metrics
from myisam_exporter.metrics import status as status_metrics
from myisam_exporter.metrics.base import Metric, Scene, Value
from myisam_exporter.server.target import Target
from myisam_exporter.watching.background import STALE_INTERVALS
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.fleet import LOOKS_AT_ONCE, Fleet
from myisam_exporter.watching.options import DEFAULT_BACKGROUND_SECONDS, WatchOptions
from myisam_exporter.watching.watch import Watch
from tests.support.daemon import Answer, free_port, serving, wait_for
from tests.support.listener import Listener
from tests.support.moved_clock import MovedClock
from tests.support.servers import CopiedServer, binaries_of

from .conftest import look, schema, target


class Broken:
    name = "broken"
    metrics = (Metric("nothing", "gauge", "Nothing."),)

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        raise RuntimeError("no")

    def forget(self, label: str) -> None:
        raise RuntimeError("no")


@pytest.fixture
def watch(mariadb: PrivateServer) -> Iterator[Watch]:
    with ThreadPoolExecutor(4) as pool:
        watching = Watch("here", lambda: target(mariadb), pool, WatchOptions(), TableChooser(), [Broken()])
        yield watching
        watching.close()


def page(watch: Watch) -> Answer:
    names = watch.names()
    return Answer(200, watch.exposition(watch.scrape(names).result(10), names, (), False), {})


def raising(*_: object) -> Any:
    raise ValueError("a bug")


def test_a_collector_that_fails_costs_only_its_own_metrics(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(key_caches.COLLECTOR), "collect", raising)
    watch.look()
    found = page(watch)
    assert found.value("up") == 1
    assert found.value("exporter_collector_success", collector="key_caches") == 0
    assert found.value("exporter_collector_success", collector="status") == 1
    assert found.value("questions_total") is not None
    assert not [name for name, _ in found.samples() if name.startswith("myisam_key_cache")]


def test_metrics_that_fail_cost_only_themselves(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(self: object, pair: Pair[Any], scene: Scene) -> Iterable[Value]:
        yield Value("questions_total", 1)
        raise ValueError("a bug")

    monkeypatch.setattr(type(status_metrics.GROUP), "values", failing)
    found = page(watch)
    assert found.value("up") == 1
    assert found.value("questions_total") is None
    assert found.value("exporter_collector_success", collector="status") == 0
    assert found.value("key_cache_size_bytes", cache="default") is not None


def test_a_follower_that_fails_is_told(watch: Watch) -> None:
    watch.look()
    found = page(watch)
    assert found.value("exporter_collector_success", collector="broken") == 0
    assert found.value("exporter_collector_success", collector="myi") == 1


def test_what_does_not_exist_here_is_unsupported_and_no_failure(watch: Watch) -> None:
    watch.look()
    found = page(watch)
    assert found.value("exporter_collector_supported", collector="performance_schema") == 0
    assert found.value("exporter_collector_success", collector="performance_schema") is None


def test_what_could_never_be_counted_is_absent_and_not_zero(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    blind = PageCacheHits(10.0, 1.0, None, "no ratio: NFS", "NFS")
    monkeypatch.setattr(process_metrics, "page_cache_hits_of", lambda pair: blind)
    found = page(watch)
    assert found.value("mysqld_page_cache_countable") == 0
    assert found.value("mysqld_page_cache_accesses_total") is None
    monkeypatch.setattr(process_metrics, "page_cache_hits_of", lambda pair: PageCacheHits(10.0, 1.0, 0.9, ""))
    counted = page(watch)
    assert counted.value("mysqld_page_cache_countable") == 1
    assert (counted.value("mysqld_page_cache_accesses_total") or 0) > (counted.value("mysqld_page_cache_misses_total") or 0) > 0


def test_a_truncated_sweep_is_a_failure(mariadb: PrivateServer) -> None:
    with schema(mariadb, "swept") as name:
        for table in range(70):
            mariadb.execute(f"CREATE TABLE t{table} (id INT) ENGINE=MyISAM", database=name)
        with ThreadPoolExecutor(4) as pool:
            watching = Watch("here", lambda: target(mariadb), pool, WatchOptions(page_cache_seconds=0.0), TableChooser())
            watching.look()
            assert page(watching).value("exporter_collector_success", collector="page_cache") == 0
            watching.close()


def test_facts_grow_stale_and_are_no_longer_shown(mariadb: PrivateServer) -> None:
    with ThreadPoolExecutor(4) as pool:
        clock = MovedClock()
        watching = Watch("here", lambda: target(mariadb), pool, WatchOptions(), TableChooser(), clock=clock)
        watching.look()
        clock.move(STALE_INTERVALS * DEFAULT_BACKGROUND_SECONDS - 60)
        assert page(watching).value("tables") is not None
        clock.move(60)
        old = page(watching)
        assert old.value("up") == 1
        assert old.value("tables") is None
        assert old.value("exporter_collector_success", collector="myi") == 0
        watching.close()


def test_whether_the_server_answers_is_asked_whatever_is_selected(watch: Watch, monkeypatch: pytest.MonkeyPatch) -> None:
    watch.look()
    names = frozenset({"myi"})
    assert Answer(200, watch.exposition(watch.scrape(names).result(10), names, (), False), {}).value("up") == 1
    session = watch.connection.open_session
    assert session is not None
    session.close()  # as if another thread had lost it
    down = Answer(200, watch.exposition(watch.scrape(names).result(10), names, (), False), {})
    assert down.value("up") == 0
    assert down.value("tables") is None


def test_scrapes_and_the_background_remember_apart(watch: Watch) -> None:
    watch.look()
    page(watch)
    background, scrapes = watch.background.found().last_success, watch.scrapes.last_success()
    assert "myi" in background
    assert "status" in scrapes
    assert not set(background) & set(scrapes)


def test_one_look_after_another_works_out_its_facts(mariadb: PrivateServer) -> None:
    """Those of one fleet; each looks, and waits for its server, meanwhile."""
    inside: list[int] = []
    most: list[int] = []

    class Slow:
        name = "slow"
        metrics = (Metric("nothing_slow", "gauge", "Nothing."),)

        def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
            inside.append(1)
            time.sleep(0.2)
            most.append(len(inside))
            inside.pop()
            return ()

        def forget(self, label: str) -> None:
            pass

    async def looked() -> None:
        with ThreadPoolExecutor(4) as pool:
            fleet = Fleet(WatchOptions(), pool, TableChooser, [Slow()])
            watches = [fleet.watch_own(str(number), lambda: target(mariadb)) for number in range(4)]
            while not all(watch.looks for watch in watches):
                await asyncio.sleep(0.05)
            for watch in watches:
                watch.close()
            fleet.close()

    asyncio.run(asyncio.wait_for(looked(), 30))
    assert most == [1, 1, 1, 1]


def test_readings_that_overlap_count_nothing_twice(watch: Watch) -> None:
    for names in (frozenset({"mysqld_process"}), frozenset({"mysqld_process", "status"}), frozenset({"mysqld_process"})):
        watch.scrape(names).result(10)
    totals = dict(watch.scrapes._running.totals)
    previous = watch.scrapes._previous
    later = previous.moments["mysqld_process"] + 3600
    previous.moments = {**previous.moments, "mysqld_process": later}  # a reading that ended later than this one began
    watch.scrape(frozenset({"mysqld_process"})).result(10)
    assert dict(watch.scrapes._running.totals) == totals
    assert previous.moments["mysqld_process"] == later


def test_what_cannot_be_seen_of_a_remote_server_is_no_failure() -> None:
    port = free_port()
    with CopiedServer(binaries_of("mariadb-10.11"), ["--bind-address=127.0.0.2"], port=port) as server, ThreadPoolExecutor(4) as pool:
        server.execute("CREATE USER 'away'@'%' IDENTIFIED BY ''", "GRANT PROCESS ON *.* TO 'away'@'%'", "CREATE DATABASE d", "CREATE TABLE d.t (id INT) ENGINE=MyISAM", "GRANT SELECT ON d.* TO 'away'@'%'")
        server.execute("INSERT INTO t VALUES (1)", "SELECT * FROM t", database="d")
        watching = Watch("away", lambda: Target("away", host="127.0.0.2", port=port), pool, WatchOptions(), TableChooser())
        watching.look()
        found = page(watching)
        watching.close()
        assert found.value("up") == 1
        for collector in ("myi", "page_cache", "host", "mysqld_process"):
            assert found.value("exporter_collector_supported", collector=collector) == 0
            assert found.value("exporter_collector_success", collector=collector) is None
        # The sample by SQL takes the place of the files; what it cannot sum up is left out.
        assert found.value("table_rows", schema="d", table="t") == 1
        assert found.value("tables") is None
        assert found.value("key_cache_size_bytes", cache="default") is not None


def test_a_connection_that_is_made_while_a_reload_changes_the_account_is_not_kept(mariadb: PrivateServer) -> None:
    hung, release = threading.Event(), threading.Event()
    before, after = target(mariadb), replace(target(mariadb), host="127.0.0.1")
    asked: list[int] = []

    def resolve() -> Target:
        asked.append(len(asked))
        if len(asked) > 1:
            return after
        hung.set()
        release.wait(10)
        return before

    connection = Connection(resolve, 5)
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(connection.session)
        assert hung.wait(5)
        connection.renew()
        release.set()
        with pytest.raises(ServerLostError, match="given up"):
            first.result(5)
    assert connection.open_session is None
    assert connection.session().target == after
    connection.close()


def test_a_look_that_begins_when_its_watch_has_ended_leaves_no_connection(mariadb: PrivateServer) -> None:
    """Eight looks run at once, and others wait for them."""
    opened: list[Watch] = []

    async def ended() -> None:
        with ThreadPoolExecutor(2) as pool:
            fleet = Fleet(WatchOptions(background_seconds=0.2), pool, TableChooser)
            waiting = threading.Event()
            busy = [fleet._looker.submit(waiting.wait, 10) for _ in range(LOOKS_AT_ONCE)]
            watch = fleet.watch_own("before", lambda: target(mariadb))
            await asyncio.sleep(0.1)
            assert watch.looks == 0
            fleet.move_own("after", lambda: target(mariadb))
            waiting.set()
            for _ in range(200):
                await asyncio.sleep(0.05)
                if watch.looks and watch.connection.open_session is None and fleet.own and fleet.own.looks:
                    break
            opened.append(watch)
            assert all(one.done() for one in busy)
            assert fleet.own is not None
            fleet.own.close()
            fleet.close()

    asyncio.run(ended())
    assert opened[0].looks == 1
    assert opened[0].connection.open_session is None


def rows_of(facts: FactSet, table: str) -> list[str]:
    return sorted(map(repr, map(tuple, facts.tables[table].rows)))


def definitions_of(facts: FactSet) -> list[str]:
    """The indexes, without what only an interval tells: a look by itself has none."""
    rows = facts.tables["indexes"].dictionaries()
    return sorted(repr({name: value for name, value in row.items() if name != "rows_read_per_second"}) for row in rows)


@pytest.mark.parametrize("name", ["mariadb-10.11", "mysql-9.7"])
def test_what_is_remembered_from_look_to_look_changes_no_fact(name: str) -> None:
    """On MySQL performance_schema speaks of tables too."""
    listener = Listener()
    statements = [
        (), ("INSERT INTO a VALUES (1), (2)",), (), (), ("CREATE TABLE c (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM",), ("SELECT * FROM b",),
        (), ("DROP TABLE a", "INSERT INTO c VALUES (5)"), (), ("RENAME TABLE b TO d",), (), ("ALTER TABLE c ADD name VARCHAR(9), ADD KEY (name)",), ("INSERT INTO d VALUES (6)",),
        ("ALTER TABLE c DISABLE KEYS",), ("INSERT INTO d VALUES (7)",), ("ALTER TABLE c DROP KEY name",), (),
    ]  # fmt: skip
    with CopiedServer(binaries_of(name)) as server, schema(server, "looked"), ThreadPoolExecutor(4) as pool:
        server.execute(*(f"CREATE TABLE {one} (id INT NOT NULL PRIMARY KEY) ENGINE=MyISAM" for one in "ab"), database="looked")
        watching = Watch("here", lambda: target(server), pool, WatchOptions(), TableChooser(), [listener])
        before = indexes_before = None
        former: tuple[str, ...] = ()
        for looks, some in enumerate(statements):
            server.execute(*some, database="looked")
            watching.look()
            after = watching.background.memory.snapshot
            assert after is not None
            assert before is not after
            fresh = Interval(after, before).facts()
            for table in fresh.tables:
                assert rows_of(listener.facts, table) == rows_of(fresh, table), table
            assert listener.facts.unknown == fresh.unknown
            # What scans hand on to one another is what a scan by itself finds; written to, no index differs.
            indexes = listener.facts.tables["indexes"]
            assert definitions_of(listener.facts) == definitions_of(look(server))
            if looks > 1 and all(one.startswith(("INSERT", "SELECT")) for one in (*some, *former)):  # a table that is new has its first rates by the second look
                assert indexes.generation == indexes_before
            indexes_before, before, former = indexes.generation, after, some
        names = {row["table_name"] for row in listener.facts.tables["tables"].dictionaries()}
        assert names == {"c", "d"}
        watching.close()


def test_a_reload_that_names_another_server_begins_anew_under_its_name(mariadb: PrivateServer, tmp_path: Path) -> None:
    options, history = tmp_path / "my.cnf", tmp_path / "history.sqlite"

    def point_at(server: PrivateServer) -> None:
        options.write_text(f"[client]\nuser=root\nsocket={server.socket}\n")

    def kept() -> dict[str, int]:
        with closing(sqlite3.connect(history)) as database:
            return dict(database.execute("SELECT label, COUNT(*) FROM sample JOIN target ON target.id = sample.target GROUP BY label"))

    point_at(mariadb)
    with CopiedServer(binaries_of("mariadb-10.11")) as other, serving("--defaults-file", options, "--history", history) as daemon:
        daemon.looked()
        point_at(other)
        daemon.process.send_signal(signal.SIGHUP)
        assert wait_for(lambda: str(other.socket) in kept())
        before = kept()[str(mariadb.socket)]
        assert wait_for(lambda: kept()[str(other.socket)] >= 2)
        assert kept()[str(mariadb.socket)] <= before + 1
        assert daemon.looked().value("up") == 1
        daemon.stop()
        assert f"watching {other.socket} from now on, instead of {mariadb.socket}".encode() in daemon.log
