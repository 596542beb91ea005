"""Single flight, the choice of tables, the control group, the tracepoints: what a daemon's watch is made of."""

import os
import random
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from myisam_exporter.collectors.cgroup import ControlGroup, read_control_group
from myisam_exporter.errors import UserError
from myisam_exporter.facts.columns import Value
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.tracepoints import PageCacheTracer
from myisam_exporter.look.fact_set import FactRows
from myisam_exporter.look.table_choice import TableChooser, names_of, table_pattern
from myisam_exporter.watching.single_flight import SingleFlight
from tests.support.moved_clock import MovedClock
from tests.support.tracefs import tracepoints_below

COLUMNS = ("schema_name", "table_name", "data_bytes", "index_bytes", "crashed", "write_statements_per_second", "rows_read_per_second")


def tables(*rows: tuple[Value, ...]) -> FactRows:
    return FactRows(COLUMNS, [["db", *row] for row in rows])


def test_who_asks_meanwhile_joins() -> None:
    runs, gate = [], threading.Event()

    def job() -> int:
        runs.append(1)
        gate.wait(5)
        return len(runs)

    with ThreadPoolExecutor(4) as pool:
        flights: SingleFlight[int] = SingleFlight(pool, 60)
        futures = [flights.join("a", job) for _ in range(10)]
        gate.set()
        assert {future.result(5) for future in futures} == {1}
        assert flights.join("a", job).result(5) == 2


def test_a_hung_job_is_not_joined_when_its_lease_is_over() -> None:
    hung, release = threading.Event(), threading.Event()

    def hang() -> str:
        hung.set()
        release.wait(10)
        return "late"

    clock = MovedClock()
    with ThreadPoolExecutor(4) as pool:
        flights: SingleFlight[str] = SingleFlight(pool, 10, clock)
        first = flights.join("a", hang)
        hung.wait(5)
        assert flights.join("a", lambda: "new") is first
        clock.move(10.1)
        assert flights.join("a", lambda: "new").result(5) == "new"
        release.set()
        assert first.result(5) == "late"


def test_half_of_the_places_go_to_the_active_and_the_rest_to_the_large() -> None:
    chooser = TableChooser(4)
    rows = [(f"big{number}", 1000 * number, 0, 0, 0.0, None) for number in range(1, 6)] + [(f"busy{number}", 1, 1, 0, float(number), None) for number in range(1, 6)]
    choice = chooser.choose(tables(*rows))
    assert [name for _, name in names_of(choice.shown)] == ["big4", "big5", "busy4", "busy5"]
    assert choice.omitted_count == 6


def test_a_table_keeps_its_series_when_it_pauses() -> None:
    chooser = TableChooser(2)
    chooser.choose(tables(("busy", 1, 1, 0, 100.0, None), ("big", 1000, 0, 0, 0.0, None), ("small", 2, 2, 0, 0.0, None)))
    choice = chooser.choose(tables(("busy", 1, 1, 0, 0.0, None), ("big", 1000, 0, 0, 0.0, None), ("small", 2, 2, 0, 0.0, None)))
    assert [name for _, name in names_of(choice.shown)] == ["big", "busy"]


def test_damaged_tables_come_first_and_limits_hold() -> None:
    rows = [(f"t{number}", number, 0, int(number < 3), None, None) for number in range(10)]
    two = {name for _, name in names_of(TableChooser(2).choose(tables(*rows)).shown)}
    assert len(two) == 2
    assert two < {"t0", "t1", "t2"}
    assert {name for _, name in names_of(TableChooser(4).choose(tables(*rows)).shown)} == {"t0", "t1", "t2", "t9"}
    assert TableChooser(0).choose(tables(*rows)).shown.rows == []
    assert TableChooser(0).choose(tables(*rows)).omitted_count == 10


def test_patterns_match_whole_names() -> None:
    chooser = TableChooser(10, re.compile(r"db\.t.*"), re.compile(r".*\.t2"))
    choice = chooser.choose(tables(*((name, 1, 1, 0, None, None) for name in ("t1", "t2", "at1", "t22"))))
    assert [name for _, name in names_of(choice.shown)] == ["t1", "t22"]
    assert choice.omitted_count == 2
    with pytest.raises(UserError, match="not a valid regular expression"):
        table_pattern("(", "--x")


def control_group(root: Path, procs: str = "7\n") -> tuple[Path, Path]:
    """A recorded machine with cgroup v2: mariadb.service of Debian 12."""
    proc, folder = root / "proc" / "7", root / "sys" / "fs" / "cgroup" / "system.slice" / "mariadb.service"
    proc.mkdir(parents=True)
    folder.mkdir(parents=True)
    (root / "sys" / "fs" / "cgroup" / "cgroup.controllers").write_text("cpu io memory pids\n")
    (proc / "cgroup").write_text("0::/system.slice/mariadb.service\n")
    (folder / "cgroup.procs").write_text(procs)
    (folder / "memory.stat").write_text("anon 121323520\nfile 35962880\nworkingset_refault_anon 0\nworkingset_refault_file 1234\n")
    (folder / "memory.max").write_text("max\n")
    (folder / "memory.pressure").write_text("some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=1000000\n")
    return root / "proc", root / "sys"


def test_the_servers_own_control_group(tmp_path: Path) -> None:
    group = read_control_group(*control_group(tmp_path), 7)
    assert isinstance(group, ControlGroup)
    assert (group.file_bytes, group.file_refaults, group.limit_bytes) == (35962880, 1234, None)
    assert group.pressure_seconds == {("memory", "some"): 2.5, ("memory", "full"): 1.0}


def test_where_no_group_counts_memory_nothing_is_said_of_the_server(tmp_path: Path) -> None:
    proc, sys = control_group(tmp_path)
    (sys / "fs" / "cgroup" / "cgroup.controllers").unlink()
    found = read_control_group(proc, sys, 7)
    assert isinstance(found, Unknown)
    assert "no control groups that count memory" in found.reason
    assert found.off


@pytest.fixture
def tracefs(tmp_path: Path) -> Iterator[None]:
    with tracepoints_below(tmp_path):
        yield


def tracer(budget: float = 1.0) -> PageCacheTracer:
    try:
        return PageCacheTracer(budget)
    except UserError as error:
        pytest.skip(str(error))


@pytest.mark.usefixtures("tracefs")
def test_the_tracepoints_count_reads_of_a_file_exactly(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(random.randbytes(8 << 20))
    os.sync()
    descriptor = os.open(path, os.O_RDONLY)
    state = os.fstat(descriptor)
    file = (state.st_dev, state.st_ino)
    tracing = tracer()
    counting = tracing.following()
    try:
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_RANDOM)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        counting.follow(frozenset({file}))
        time.sleep(0.2)
        pages = random.sample(range(2048), 500)

        def read_all() -> tuple[int, int]:
            before = counting.counts()
            for page in pages:
                os.pread(descriptor, 100, page * 4096 + 7)
            time.sleep(1.2)
            after = counting.counts()
            return after.lookups.get(file, 0) - before.lookups.get(file, 0), after.insertions.get(file, 0) - before.insertions.get(file, 0)

        # A read may fall between two windows.
        cold, warm = read_all(), read_all()
        assert 480 <= cold[0] <= 500
        assert 480 <= cold[1] <= 520
        assert 480 <= warm[0] <= 500
        assert warm[1] <= 50  # some machines reclaim idle pages within a minute
        assert counting.counts().lost == 0
    finally:
        tracing.close()
        os.close(descriptor)


@pytest.mark.usefixtures("tracefs")
def test_what_nobody_follows_any_more_is_not_kept(tmp_path: Path) -> None:
    """A target that is gone, and a file that its table lost: neither is counted, nor are its former counts kept."""
    descriptors = []
    for name in ("one", "other", "third"):
        (tmp_path / name).write_bytes(b"x" * (1 << 16))
        descriptors.append(os.open(tmp_path / name, os.O_RDONLY))
    one, other, third = ((state.st_dev, state.st_ino) for state in map(os.fstat, descriptors))
    tracing = tracer()
    here, there = tracing.following(), tracing.following()

    def seen() -> set[tuple[int, int]]:
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            for descriptor in descriptors:
                os.pread(descriptor, 100, 0)
            time.sleep(0.01)
        return set(here.counts().lookups)

    try:
        here.follow(frozenset({one, other}))
        there.follow(frozenset({other, third}))
        assert seen() == {one, other, third}
        there.end()
        assert set(here.counts().lookups) == seen() == {one, other}
        here.follow(frozenset({one}))
        assert set(here.counts().lookups) == seen() == {one}
        here.end()
        here.end()
        assert set(here.counts().lookups) == seen() == set()
    finally:
        tracing.close()
        for descriptor in descriptors:
            os.close(descriptor)


@pytest.mark.usefixtures("tracefs")
def test_each_target_is_told_of_the_events_that_were_lost_since_it_asked_last(tmp_path: Path) -> None:
    """What one target asks takes nothing from what another is told: its counts are a part too."""
    path = tmp_path / "data"
    path.write_bytes(b"x" * (1 << 20))
    descriptor = os.open(path, os.O_RDONLY)
    state = os.fstat(descriptor)
    tracing = tracer()
    here, there = tracing.following(), tracing.following()
    try:
        here.follow(frozenset({(state.st_dev, state.st_ino)}))
        deadline = time.monotonic() + 60
        while not tracing.counts().lost and time.monotonic() < deadline:
            for page in range(100_000):
                os.pread(descriptor, 1, page % 256 * 4096)
        here.end()
        time.sleep(1)  # the window that is open ends
        lost = tracing.counts().lost
        assert lost > 0
        assert [here.counts().lost_lately, there.counts().lost_lately, there.counts().lost_lately] == [lost, lost, 0]
    finally:
        tracing.close()
        os.close(descriptor)


@pytest.mark.usefixtures("tracefs")
def test_the_tracepoints_keep_within_their_budget(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_bytes(b"x" * (1 << 20))
    descriptor = os.open(path, os.O_RDONLY)
    state = os.fstat(descriptor)
    tracing = tracer(0.02)
    counting = tracing.following()
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            for page in range(200):
                os.pread(descriptor, 100, page * 4096)

    reader = threading.Thread(target=read)
    try:
        counting.follow(frozenset({(state.st_dev, state.st_ino)}))
        reader.start()
        started = time.monotonic()
        time.sleep(4)
        counts = counting.counts()
        assert counts.lookups
        # The first window is taken before its cost is known: half of it, and what lies in the rings then.
        assert counts.cpu_seconds <= 0.5
        assert counts.observed_seconds < time.monotonic() - started
    finally:
        stop.set()
        reader.join()
        tracing.close()
        os.close(descriptor)
