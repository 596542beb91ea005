"""What a watch is made of: followers, outcomes, glances, a background that ages, a fleet that forgets."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import NOT_TRACED, all_collectors
from myisam_exporter.collectors.cgroup import HIDDEN
from myisam_exporter.collectors.status import Status
from myisam_exporter.errors import UserError
from myisam_exporter.exposition.reading import CollectorOutcome, Reading
from myisam_exporter.exposition.text import Page, page_of
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.tracepoints import Following
from myisam_exporter.look.fact_set import FactRows, FactSet
from myisam_exporter.look.snapshot import Snapshot
from myisam_exporter.look.table_choice import Choice, TableChooser
from myisam_exporter.metrics.base import Metric, Value
from myisam_exporter.server.location import ELSEWHERE
from myisam_exporter.server.target import Target
from myisam_exporter.watching.background import MANY_TABLES, STALE_INTERVALS
from myisam_exporter.watching.connection import Connection
from myisam_exporter.watching.fleet import IDLE_INTERVALS, Fleet
from myisam_exporter.watching.followers import followed
from myisam_exporter.watching.glancer import Glancer
from myisam_exporter.watching.glances import Glance
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.outcomes import outcomes_of, own_page, successes
from myisam_exporter.watching.probe_targets import Listed, ProbeTargets
from myisam_exporter.watching.scrapes import DIFFERENT_READINGS, Scrapes, cheap_collectors
from myisam_exporter.watching.watch import Watch
from tests.support.lying_server import HostileServer, error, honest, packet
from tests.support.moved_clock import MovedClock

NO_TABLES = FactRows((), [])
NOTHING = FactSet({}), Choice(NO_TABLES, NO_TABLES)


def nowhere() -> Target:
    raise UserError("no such file")


class Counting:
    """A follower that gives one number, or fails."""

    name = "counting"
    metrics = (Metric("counted", "gauge", "What it counted."),)

    def __init__(self, fails: bool = False) -> None:
        self.fails = fails
        self.forgotten: list[str] = []

    def follow(self, label: str, facts: FactSet, choice: Choice) -> Iterable[Value]:
        yield Value("counted", 7)
        if self.fails:
            raise RuntimeError("no more")

    def forget(self, label: str) -> None:
        self.forgotten.append(label)
        if self.fails:
            raise RuntimeError("no more")


def test_a_follower_gives_a_page_and_one_that_fails_gives_none_and_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    clock = MovedClock()
    page, outcome = followed(Counting(), "here", *NOTHING, Page(), clock)
    assert page.text.endswith(b"counted 7.0\n"), page.text
    assert outcome.success
    with caplog.at_level(logging.ERROR):
        page, outcome = followed(Counting(fails=True), "here", *NOTHING, Page(), clock)
    assert page.text == b""
    assert not outcome.success
    assert "counting failed on here" in caplog.text


def snapshot(**samples: object) -> Snapshot:
    every = {collector.name: Unknown("not in this test") for collector in all_collectors()}
    return Snapshot(50.0, every | samples, dict.fromkeys(every, 1.0), dict.fromkeys(every, 0.25))


def test_what_is_off_or_elsewhere_is_no_failure_and_a_failed_group_is_one() -> None:
    seen = snapshot(status=Status({"Uptime": 9}), variables=Unknown("refused"), page_cache_lookups=NOT_TRACED, host=ELSEWHERE, cgroup=HIDDEN)
    outcomes = outcomes_of(seen, {"status", "variables", "page_cache_lookups", "host", "cgroup"}, ())
    assert {name: (one.success, one.supported) for name, one in outcomes.items()} == {
        "status": (True, True),
        "variables": (False, True),
        "page_cache_lookups": (False, False),
        "host": (False, False),
        "cgroup": (False, False),
    }
    assert successes(outcomes, 50.0) == {"status": 50.0}
    assert not outcomes_of(seen, {"status"}, {"status"})["status"].success


def test_the_own_page_tells_of_those_that_were_selected_only() -> None:
    outcomes = {"status": CollectorOutcome(True, True, 0.5), "myi": CollectorOutcome(False, False, 0.0)}
    text = own_page(True, outcomes, {"status": 50.0}, {"status"}).text.decode()
    assert 'success{collector="status"} 1' in text
    assert "myi" not in text.replace("myisam", "")
    assert 'success{collector="myi"}' not in own_page(False, outcomes, {}, {"myi"}).text.decode()  # unsupported: neither good nor bad


def glancer(clock: MovedClock) -> Glancer:
    return Glancer(Connection(nowhere, 1, clock), Path("/proc"), clock)


def test_peaks_are_those_of_the_last_seconds() -> None:
    clock = MovedClock()
    glancing = glancer(clock)
    for reads in (0, 100, 110):
        glancing.add(Glance(clock.monotonic(), {"Key_reads": float(reads), "Threads_running": 2.0}))
        clock.move(10)
    assert glancing.peaks(25)["Key_reads"].maximum == pytest.approx(10, rel=0.01)
    assert glancing.peaks(15)["Key_reads"].maximum == pytest.approx(1, rel=0.01)
    assert glancing.peaks(5) == {}


def test_each_look_takes_the_readings_since_the_one_before() -> None:
    glancing = glancer(MovedClock())
    for running in (1.0, 5.0):
        glancing.add(Glance(running, {"Threads_running": running}))
    assert glancing.taken_threads_running() == [1.0, 5.0]
    assert glancing.taken_threads_running() == []
    glancing.glance()  # no connection: nothing is read, and none is made
    assert glancing.taken_threads_running() == []


def test_a_scrape_of_a_server_that_is_away_says_why_and_dates_its_asking() -> None:
    clock = MovedClock()
    with ThreadPoolExecutor(1) as pool:
        scrapes = Scrapes(Connection(nowhere, 1, clock), WatchOptions(), pool, clock)
        begun = scrapes.last_asked
        clock.move(30)
        reading = scrapes.join(frozenset({"status", "myi"})).result(5)
    assert reading.failure == "no such file"
    assert set(reading.outcomes) == {"status"}
    assert scrapes.last_asked - begun >= 30
    assert scrapes.last_success() == {}
    assert "myi" not in cheap_collectors()


def test_a_server_that_refuses_its_status_is_quoted() -> None:
    refusal = packet(1, error(1226, b"User 'm' has exceeded the 'max_queries_per_hour' resource"))
    with HostileServer(lambda client: honest(client, {b"SHOW GLOBAL STATUS": lambda: [refusal]})) as server, ThreadPoolExecutor(1) as pool:
        scrapes = Scrapes(Connection(lambda: Target("m", host="127.0.0.1", port=server.port), 1), WatchOptions(), pool)
        failure = scrapes.join(frozenset({"status"})).result(5).failure
    assert "max_queries_per_hour" in failure, failure


def test_a_scrape_that_begins_when_its_target_is_gone_makes_no_connection() -> None:
    with HostileServer(honest) as server, ThreadPoolExecutor(1) as pool:
        watch = Watch("gone", lambda: Target("m", host="127.0.0.1", port=server.port), pool, WatchOptions(), TableChooser())
        watch.close()
        failures = [watch.scrape(watch.names()).result(5).failure, watch.look().failure]
        assert all("not watched any more" in failure for failure in failures), failures
        assert server.clients == []


class NeverRuns(Executor):
    """Takes jobs, and counts them."""

    def __init__(self) -> None:
        self.jobs: list[Future[Any]] = []

    def submit(self, *job: Any, **arguments: Any) -> Future[Any]:
        self.jobs.append(Future())
        return self.jobs[-1]


def test_what_is_selected_of_the_background_makes_no_other_reading() -> None:
    executor = NeverRuns()
    scrapes = Scrapes(Connection(nowhere, 1, MovedClock()), WatchOptions(), executor)
    dear = sorted({collector.name for collector in all_collectors()} - cheap_collectors())
    flights = {scrapes.join(frozenset({"status", *some})) for length in range(4) for some in combinations(dear, length)}
    assert len(flights) == len(executor.jobs) == 1


def test_one_target_has_few_different_readings_under_way() -> None:
    executor = NeverRuns()
    scrapes = Scrapes(Connection(nowhere, 1, MovedClock()), WatchOptions(), executor)
    some = [frozenset(names) for names in combinations(sorted(cheap_collectors()), 3)]
    flights = {names: scrapes.join(names) for names in some}
    assert len(executor.jobs) == DIFFERENT_READINGS + 1
    # The last of them is a reading of everything, which all others share.
    assert scrapes.join(cheap_collectors()) is flights[some[-1]]
    assert [scrapes.join(names) for names in some[:DIFFERENT_READINGS]] == executor.jobs[:DIFFERENT_READINGS]
    executor.jobs[0].set_result(None)
    assert scrapes.join(some[-1]) not in executor.jobs[:-1]


def test_a_page_has_what_was_selected_of_a_reading_with_more() -> None:
    reading = Reading({name: page_of((Metric(name, "gauge", "One."),), [Value(name, 1)]) for name in ("status", "host")})
    with ThreadPoolExecutor(1) as pool:
        page = Watch("here", nowhere, pool, WatchOptions(), TableChooser()).exposition(reading, frozenset({"host"}), (), False)
    assert b"myisam_host 1" in page
    assert b"myisam_status" not in page


def test_a_look_that_fails_is_told_and_followers_are_not() -> None:
    clock = MovedClock()
    with ThreadPoolExecutor(1) as pool:
        watch = Watch("here", nowhere, pool, WatchOptions(), TableChooser(), [Counting()], clock=clock)
        reading = watch.look()
        assert (watch.failure, watch.looks, watch.busy_seconds) == ("no such file", 1, 0.0)
        assert set(reading.outcomes) == (watch.names() - cheap_collectors())
        assert not any(outcome.success for outcome in watch.background.found().reading.outcomes.values())
        assert watch.background.found().last_success == {}


def test_a_first_look_that_hangs_is_told_by_what_it_did_not_give() -> None:
    """An alert on what fails heard of nobody: a daemon that hung from its start on looked like one that has just begun."""
    clock = MovedClock()
    with ThreadPoolExecutor(1) as pool:
        watch = Watch("here", nowhere, pool, WatchOptions(), TableChooser(), [Counting()], clock=clock)
        clock.move(STALE_INTERVALS * WatchOptions().background_seconds - 1)
        assert watch.background.found().reading.outcomes == {}
        clock.move(2)
        outcomes = watch.background.found().reading.outcomes
        assert set(outcomes) == (watch.names() - cheap_collectors())
        assert not any(outcome.success for outcome in outcomes.values())
        page = watch.exposition(Reading(), watch.names(), (), False)
        assert b'myisam_exporter_collector_success{collector="myi"} 0.0' in page
        assert b"myisam_up 1.0" in page


def test_memory_is_given_back_where_the_rows_of_many_tables_were_all_made_anew() -> None:
    many, few = (FactRows(("rows",), [(0,)] * count) for count in (MANY_TABLES, MANY_TABLES - 1))
    with ThreadPoolExecutor(1) as pool:
        background = Watch("here", nowhere, pool, WatchOptions(), TableChooser(), [Counting()]).background
    seen = []
    for tables in (few, many, many, many.with_rows({0: (1,)}), FactRows(("rows",), [(1,)] * MANY_TABLES), NO_TABLES, few):
        background._note_tables(tables)
        seen.append(background._made_anew)
    assert seen == [False, True, False, False, True, True, False], "also where they were many before"


def test_what_is_known_of_a_servers_threads_is_known_to_scrapes_glances_and_looks() -> None:
    with ThreadPoolExecutor(1) as pool:
        watch = Watch("here", nowhere, pool, WatchOptions(), TableChooser())
    assert watch.scrapes._switches is watch.glancer._switches_of is watch.background.memory.switches


def test_the_longest_look_under_way_is_the_fleets() -> None:
    clock, hung, release = MovedClock(), threading.Event(), threading.Event()

    def hang() -> Target:
        hung.set()
        release.wait(10)
        raise UserError("late")

    async def watched() -> None:
        with ThreadPoolExecutor(2) as pool:
            fleet = Fleet(WatchOptions(), pool, TableChooser, clock=clock)
            fleet.watch_own("here", hang)
            assert await asyncio.to_thread(hung.wait, 5)
            clock.move(40)
            assert 40 <= fleet.busy_seconds() < 45
            release.set()
            fleet.close()

    asyncio.run(watched())


def test_a_target_that_nobody_probes_any_more_is_forgotten() -> None:
    clock = MovedClock()
    options = WatchOptions(timeout_seconds=1, background_seconds=1.0)
    listed, followers = Listed("gone", host="127.0.0.1", port=1, socket=None), [Counting(fails=True), Counting()]

    async def probed() -> list[int]:
        sizes = []
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(options, pool, TableChooser, followers, ProbeTargets({"gone": listed}), clock=clock)
            watch = fleet.watch_probed(listed, "client")
            assert fleet.watch_probed(listed, "client") is watch
            for seconds in (IDLE_INTERVALS - 1.0, 2.0):
                clock.move(seconds)
                looks = watch.looks
                for _ in range(100):
                    await asyncio.sleep(0.02)
                    if watch.looks > looks or not fleet.size:
                        break
                await asyncio.sleep(0.15)
                sizes.append(fleet.size)
            fleet.close()
        return sizes

    assert asyncio.run(probed()) == [1, 0]
    assert [follower.forgotten for follower in followers] == [["gone"], ["gone"]], "one that fails keeps no other from it"


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(250):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not happen")


def test_who_is_watched_under_the_same_name_is_not_forgotten() -> None:
    follower, options = Counting(), WatchOptions(timeout_seconds=1, background_seconds=0.2)
    before, after = (ProbeTargets({"shop": Listed("shop", host="127.0.0.1", port=port, socket=None)}) for port in (1, 2))

    async def moved() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(options, pool, TableChooser, [follower], before)
            former = fleet.watch_probed(before.listed["shop"], "client")
            await until(lambda: former.looks > 0)
            fleet.reload(after)
            fleet.watch_probed(after.listed["shop"], "client")
            looks = former.looks
            await asyncio.sleep(0.6)
            assert former.looks <= looks + 1, "its looks have ended"
            assert follower.forgotten == []
            fleet.reload(ProbeTargets())
            await until(lambda: follower.forgotten == ["shop"])
            fleet.close()

    asyncio.run(moved())


class Traced:
    """Stands in for the tracepoints, which only root may have: whose files are counted."""

    def __init__(self) -> None:
        self.followed: list[Following] = []

    def following(self) -> Following:
        self.followed.append(Following(self))  # type: ignore[arg-type]
        return self.followed[-1]

    def forget(self, follower: Following) -> None:
        self.followed.remove(follower)


def test_the_files_of_a_watch_that_has_ended_are_counted_no_more_whoever_has_its_name() -> None:
    traced = Traced()
    options = WatchOptions(timeout_seconds=1, background_seconds=0.2, tracer=traced)  # type: ignore[arg-type]
    before, after = (ProbeTargets({"shop": Listed("shop", host="127.0.0.1", port=port, socket=None)}) for port in (1, 2))

    async def moved() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(options, pool, TableChooser, targets=before)
            former = fleet.watch_probed(before.listed["shop"], "client")
            await until(lambda: former.looks > 0)
            fleet.reload(after)
            present = fleet.watch_probed(after.listed["shop"], "client")
            await until(lambda: traced.followed == [present.background.memory.following])
            fleet.reload(ProbeTargets())
            await until(lambda: traced.followed == [])
            fleet.close()

    asyncio.run(moved())


def test_another_server_of_our_own_is_watched_anew_and_by_its_own_name() -> None:
    follower, options = Counting(), WatchOptions(timeout_seconds=1, background_seconds=0.2)

    async def moved() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(options, pool, TableChooser, [follower])
            former = fleet.watch_own("db1:3306", nowhere)
            await until(lambda: former.looks > 0)
            fleet.move_own("db1:3306", nowhere)
            assert fleet.own is former
            fleet.move_own("db2:3306", nowhere)
            assert fleet.own is not None
            assert fleet.own.label == "db2:3306"
            assert fleet.own.background.memory is not former.background.memory
            assert fleet.size == 1
            await until(lambda: follower.forgotten == ["db1:3306"])
            fleet.close()

    asyncio.run(moved())


def test_a_glance_that_fails_is_logged_and_the_looks_go_on(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(watch: Watch) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Watch, "glance", broken)

    async def watched() -> None:
        with ThreadPoolExecutor(1) as pool:
            fleet = Fleet(WatchOptions(timeout_seconds=1, background_seconds=0.2), pool, TableChooser)
            watch = fleet.watch_own("here", nowhere)
            await until(lambda: watch.looks >= 3)
            fleet.close()

    asyncio.run(watched())
    assert "the glance at here failed" in caplog.text
