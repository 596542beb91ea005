"""The daemon while its own machine fails it: descriptors, memory, clock, file system; and while nothing fails for a day."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.mounts import mounted
from tests.support.program import PROGRAM, run_process
from tests.support.repository import ROOT
from tests.support.thoroughness import times

FAKETIME = next(iter(Path("/usr/lib").glob("*/faketime/libfaketime.so.1")), None)
MEGABYTE = 1 << 20
HOURS = times(24, 3)


def is_up(daemon: Daemon) -> bool:
    return daemon.get().value("up") == 1


def samples_in(history: Path) -> list[float]:
    with closing(sqlite3.connect(history)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        return [moment for (moment,) in database.execute("SELECT taken_at FROM sample ORDER BY rowid")]


def test_out_of_descriptors_it_refuses_and_goes_on(mariadb: PrivateServer, tmp_path: Path) -> None:
    import resource
    import socket

    history = tmp_path / "history.sqlite"
    with serving("--socket", mariadb.socket, "--user", "root", "--history", history, "--collect.interval", "1s") as daemon:
        daemon.looked()
        used = len(os.listdir(f"/proc/{daemon.pid}/fd"))
        resource.prlimit(daemon.pid, resource.RLIMIT_NOFILE, (used + 8, used + 8))
        crowd = [socket.create_connection(("127.0.0.1", daemon.port)) for _ in range(60)]
        time.sleep(3)  # looks at files, connections, the history: all of them find no descriptor
        assert daemon.process.poll() is None
        for one in crowd:
            one.close()
        assert wait_for(lambda: is_up(daemon))
        assert wait_for(lambda: daemon.get().value("exporter_collector_success", collector="myi") == 1)
        assert wait_for(lambda: daemon.get().value("history_writable") == 1)
        daemon.stop()
        assert b"Traceback" not in daemon.log
    assert samples_in(history)


@contextmanager
def limited_to(megabytes: int) -> Iterator[Path]:
    """A control group with so much memory, of whichever version; its file of processes."""
    for root, limit in ((Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")):
        group = root / f"myisam-advisor-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(megabytes * MEGABYTE))
            for swap in ("memory.memsw.limit_in_bytes", "memory.swap.max"):
                if (group / swap).exists():
                    (group / swap).write_text("0" if swap == "memory.swap.max" else str(megabytes * MEGABYTE))
        except OSError:
            group.rmdir()
            continue
        try:
            yield group / "cgroup.procs"
        finally:
            deadline = time.monotonic() + 10
            while (group / "cgroup.procs").read_text() and time.monotonic() < deadline:
                time.sleep(0.1)
            group.rmdir()
        return
    pytest.skip("no control group for memory can be made here")


def test_out_of_memory_it_is_killed_and_what_it_kept_is_whole(mariadb: PrivateServer, tmp_path: Path) -> None:
    history = tmp_path / "history.sqlite"
    words = ("--socket", str(mariadb.socket), "--user", "root", "--history", str(history), "--collect.interval", "1s")
    with serving(*words) as daemon:
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= 3)
    kept = samples_in(history)
    killed = 0
    for megabytes in (40, 36, 32, 28, 24):
        with limited_to(megabytes) as processes:
            command = ["sh", "-c", f'echo $$ > {processes}; exec "$@"', "sh", str(PROGRAM), "serve", "--web.listen-address", f"127.0.0.1:{free_port()}", *words]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={"PATH": os.environ["PATH"], "HOME": "/nonexistent"})
            try:
                process.wait(4)
            except subprocess.TimeoutExpired:
                process.terminate()
                process.wait()
            killed += process.returncode == -signal.SIGKILL
        now = samples_in(history)
        assert now[: len(kept)] == kept
        kept = now
    assert killed
    with serving(*words) as daemon:  # as systemd starts it again
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) > len(kept))


def test_a_read_only_file_system_pauses_the_history_and_nothing_else(mariadb: PrivateServer, tmp_path: Path) -> None:
    image, place = tmp_path / "image", tmp_path / "place"
    place.mkdir()
    with image.open("wb") as file:
        file.truncate(32 * MEGABYTE)
    if shutil.which("mkfs.ext4") is None or subprocess.run(["mkfs.ext4", "-q", str(image)], capture_output=True, check=False).returncode:
        pytest.skip("no file system can be made here")
    with mounted(place, "-o", "loop,errors=remount-ro", str(image)):
        history = place / "history.sqlite"
        with serving("--socket", mariadb.socket, "--user", "root", "--history", history, "--collect.interval", "1s") as daemon:
            assert wait_for(lambda: daemon.looked().value("history_writable") == 1)
            # As the kernel does after an error of the disk: files that are open for writing cannot be written any more.
            subprocess.run(["mount", "-o", "remount,abort", str(place)], check=False, capture_output=True)
            with pytest.raises(OSError, match="Read-only file system"):
                (place / "probe").touch()
            assert wait_for(lambda: daemon.get().value("history_writable") == 0)
            assert is_up(daemon)
            assert daemon.get("/", timeout=5).status == 200
            daemon.stop()
            assert b"Traceback" not in daemon.log
        # Nor is a daemon that is started anew.
        with serving("--socket", mariadb.socket, "--user", "root", "--history", history, "--collect.interval", "1s") as daemon:
            assert daemon.looked().value("history_writable") == 0
            assert is_up(daemon)
        assert run_process("check", "--socket", mariadb.socket, "--user", "root", "--interval", "0", "--fail-on", "never", "--history", history).returncode == 0


def test_the_clock_jumps_and_no_rate_does(mariadb: PrivateServer, tmp_path: Path) -> None:
    """A day ahead and two back, as ntpd or a person sets it: what is measured goes by the monotonic clock."""
    if FAKETIME is None:
        pytest.skip("libfaketime is not installed")
    clock, history = tmp_path / "clock", tmp_path / "history.sqlite"
    clock.write_text("+0")
    environment = {
        "LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(clock), "FAKETIME_CACHE_DURATION": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1",
    }  # fmt: skip
    with serving("--socket", mariadb.socket, "--user", "root", "--history", history, "--collect.interval", "1s", environment=environment) as daemon:
        daemon.looked()
        assert wait_for(lambda: daemon.get().value("advice_interval_seconds") is not None, 60)
        for jump in ("+1d", "-1d", "+0"):
            clock.write_text(jump)
            before = daemon.get().value("history_samples") or 0
            assert wait_for(lambda: (daemon.get().value("history_samples") or 0) >= before + 3, 30)  # noqa: B023 - asked at once
            pages = [daemon.get()]
            # What was judged is told for three intervals: one of a second is over soon on a busy machine.
            while (interval := pages[-1].value("advice_interval_seconds")) is None and len(pages) < 100:
                time.sleep(0.1)
                pages.append(daemon.get())
            page = pages[-1]
            assert page.value("up") == 1
            assert interval is not None
            assert 0.1 < interval < 30  # on a busy machine a look is late, and the next one is not
            assert all(value >= 0 for name, value in ((name, value) for (name, _), value in page.samples().items()) if "timestamp" not in name)
            assert daemon.get("/", timeout=5).status == 200
        daemon.stop()
        assert b"Traceback" not in daemon.log
    moments = samples_in(history)
    assert max(moments) - min(moments) > 86_400
    assert run_process("history", "--history", history, "--list").returncode == 0
    assert run_process("history", "--history", history).returncode == 0


DAY = """
import gc, json, os, sys, time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from myisam_advisor.daemon.advice import Advice
from myisam_advisor.daemon.board import Board
from myisam_advisor.history.writer import History
from myisam_advisor.daemon.pages import Pages
from myisam_advisor.catalogue.rules import shipped_rules
from myisam_advisor.catalogue.site import Site
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.server.target import Target
from myisam_exporter.watching.options import WatchOptions
from myisam_exporter.watching.watch import Watch

began, looks, present = time.time(), 0, time.time
time.time = lambda: began + looks * 60  # a look a minute
history = History(Path(sys.argv[2]), 7, 256)
site, board = Site(shipped_rules()), Board(Path(sys.argv[2]))
watch = Watch("here", lambda: Target("root", socket=Path(sys.argv[1])), ThreadPoolExecutor(4), WatchOptions(), TableChooser(), [Advice(lambda: site, history, board), history])

def state():
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return {"resident": pages * os.sysconf("SC_PAGESIZE"), "descriptors": len(os.listdir("/proc/self/fd")), "threads": len(os.listdir("/proc/self/task")), "objects": len(gc.get_objects())}

states = []
for hour in range(int(sys.argv[3])):
    for minute in range(60):
        looks += 1
        watch.glance()
        watch.look()
        names = watch.names()
        watch.exposition(watch.scrape(names).result(10), names, (), True)
        assert not watch.failure, watch.failure
    states.append(state())
print(json.dumps({"states": states, "looks": watch.looks, "history": Path(sys.argv[2]).stat().st_size}))
"""


def test_hours_of_looks_take_no_more_than_the_second_one(mariadb: PrivateServer, tmp_path: Path) -> None:
    """A look and a scrape for each simulated minute, with rules and history."""
    done = subprocess.run([sys.executable, "-c", DAY, str(mariadb.socket), str(tmp_path / "history.sqlite"), str(HOURS)], capture_output=True, text=True, cwd=ROOT, timeout=900, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["looks"] == 60 * HOURS
    second, last = found["states"][1], found["states"][-1]
    assert last["descriptors"] == second["descriptors"]
    assert last["threads"] == second["threads"]
    # The page's curves of a day fill up, and what is remembered of it: 7.6 MB were measured, 4 of them in the second half.
    assert last["resident"] - second["resident"] < 10 * MEGABYTE, found["states"]
    assert last["resident"] - found["states"][HOURS // 2]["resident"] < 6 * MEGABYTE, found["states"]
    assert last["objects"] - second["objects"] < 3000, found["states"]
    with closing(sqlite3.connect(tmp_path / "history.sqlite")) as database:
        assert database.execute("SELECT COUNT(*) FROM sample").fetchone() == (60 * HOURS,)


def test_the_daemon_ends_while_the_server_stands_still(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        daemon.looked()
        os.kill(mariadb.pid, signal.SIGSTOP)
        try:
            daemon.process.send_signal(signal.SIGTERM)
            assert daemon.process.wait(10) == 0
        finally:
            os.kill(mariadb.pid, signal.SIGCONT)
