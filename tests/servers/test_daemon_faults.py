"""The daemon while things go wrong: with the server, with clients, with the disk, with its configuration."""

import os
import signal
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from myisam_advisor.daemon.serve import READERS
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.watching.fleet import LOOKS_AT_ONCE
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.mounts import mounted
from tests.support.program import run_process
from tests.support.servers import CopiedServer, binaries_of
from tests.support.thoroughness import times

from .conftest import connections_taken

SECRET = "correct-horse?&%#$;@"
OTHER_THREADS = 5  # its own, the deadlines', one for logins, one that connects, one to spare
QUICK = {"X-Prometheus-Scrape-Timeout-Seconds": "2"}


@pytest.fixture
def own() -> Iterator[PrivateServer]:
    """A MariaDB that the test may break."""
    with CopiedServer(binaries_of("mariadb-10.11")) as running:
        yield running


def is_up(daemon: Daemon) -> bool:
    page = daemon.get(headers=QUICK)
    return page.status == 200 and page.value("up") == 1


def test_a_stopped_server_is_down_within_the_scrapes_timeout(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        assert daemon.looked().value("tables") is not None
        os.kill(mariadb.pid, signal.SIGSTOP)
        try:
            for _ in range(3):
                started = time.monotonic()
                page = daemon.get(headers=QUICK)
                assert time.monotonic() - started < 2
                assert page.status == 200
                assert page.value("up") == 0
                # What was found before is not served as if it were now.
                assert not [name for name, _ in page.samples() if name.startswith(("myisam_key_cache", "myisam_table", "myisam_mysqld", "myisam_advice"))]
                assert page.value("exporter_collector_success", collector="status") == 0
                assert daemon.get("/-/healthy", timeout=1).status == 200
        finally:
            os.kill(mariadb.pid, signal.SIGCONT)
        assert wait_for(lambda: is_up(daemon), 30)
        assert wait_for(lambda: daemon.get().value("tables") is not None, 30)


def test_a_killed_and_restarted_server_is_down_then_up(own: PrivateServer) -> None:
    with serving("--socket", own.socket, "--user", "root") as daemon:
        own.execute("CREATE DATABASE d", "CREATE TABLE d.t (id INT) ENGINE=MyISAM")
        assert wait_for(lambda: daemon.get().value("tables") == 1)
        own.stop(signal.SIGKILL)
        assert wait_for(lambda: not is_up(daemon))
        assert daemon.get().value("tables") is None
        own.start()
        assert wait_for(lambda: daemon.get().value("tables") == 1, 30)
        # The counters begin anew with the server: no sample is negative, no rate made up.
        assert all(value >= 0 for value in daemon.looked().samples().values())
        daemon.stop()
        assert b"Traceback" not in daemon.log


def test_no_connection_left_is_down_and_passes(own: PrivateServer) -> None:
    with connections_taken(own) as connections, serving("--socket", own.socket, "--user", "root") as daemon:
        assert daemon.get().value("up") == 0
        connections.pop().close()
        connections.pop().close()
        assert wait_for(lambda: is_up(daemon), 30)
        daemon.stop()
        assert b"no connection left" in daemon.log


def test_a_server_that_ends_idle_connections_is_not_down() -> None:
    """Every second scrape said so, where scrapes and glances were further apart than wait_timeout."""
    words = ("--user", "root", "--collect.interval", "10min")
    with CopiedServer(binaries_of("mariadb-10.11"), ["--wait-timeout=1"]) as impatient, serving("--socket", impatient.socket, *words) as daemon:
        assert is_up(daemon)
        time.sleep(2.5)
        assert is_up(daemon)


def test_a_rotated_password_is_used_without_a_restart_and_never_shown(own: PrivateServer, tmp_path: Path) -> None:
    own.execute(f"CREATE USER 'watch'@'localhost' IDENTIFIED BY '{SECRET}'", "GRANT PROCESS ON *.* TO 'watch'@'localhost'")
    options = tmp_path / "my.cnf"
    options.write_text(f'[client]\nuser=watch\npassword="{SECRET}"\nsocket={own.socket}\n')
    history = tmp_path / "history.sqlite"
    with serving("--defaults-file", options, "--history", history) as daemon:
        daemon.looked()
        own.execute(f"ALTER USER 'watch'@'localhost' IDENTIFIED BY 'new-{SECRET}'")
        identifiers = own.execute("SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'watch'")
        for (identifier,) in identifiers:
            own.execute(f"KILL {identifier}")
        assert wait_for(lambda: not is_up(daemon))
        time.sleep(2.5)  # until it was refused
        options.write_text(f'[client]\nuser=watch\npassword="new-{SECRET}"\nsocket={own.socket}\n')
        assert wait_for(lambda: is_up(daemon), 30)
        page, arguments = daemon.get().text, Path(f"/proc/{daemon.pid}/cmdline").read_bytes()
        environment = Path(f"/proc/{daemon.pid}/environ").read_bytes()
        daemon.stop()
    for place in (page.encode(), arguments, environment, daemon.log, history.read_bytes()):
        assert SECRET.encode() not in place
    assert b"refused the user" in daemon.log


def test_a_reader_that_never_reads_and_others_that_say_nothing_stop_nobody(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        idle = []
        try:
            for _ in range(50):
                silent = socket.create_connection(("127.0.0.1", daemon.port))
                idle.append(silent)
            for _ in range(50):
                slow = socket.create_connection(("127.0.0.1", daemon.port))
                slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
                slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
                idle.append(slow)
            assert wait_for(lambda: is_up(daemon), 5)
        finally:
            for connection in idle:
                connection.close()
        assert wait_for(lambda: descriptors(daemon) < 40)


def descriptors(daemon: Daemon) -> int:
    return len(os.listdir(f"/proc/{daemon.pid}/fd"))


@pytest.fixture(scope="module")
def target_of_hostility(mariadb: PrivateServer) -> Iterator[Daemon]:
    with serving("--socket", mariadb.socket, "--user", "root", "--collect.interval", "60s") as daemon:
        yield daemon
        daemon.stop()
        assert b"Traceback" not in daemon.log


@pytest.mark.parametrize(
    ("request_bytes", "statuses"),
    [
        (b"\x00\xff garbage\r\n\r\n", {400}),
        (b"GET /metrics?x=" + b"a" * (10 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n", {400, 414, 431}),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 20000 + b"\r\n", {431}),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", {400}),
        (b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", {400}),
        (b"POST /-/reload HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10000000\r\n\r\n" + b"x" * 10_000_000, {413}),
        (b"GET /metrics?" + b"&".join(b"a=b" for _ in range(500)) + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {400}),
        (b"GET /metrics?name[]=%ff%fe HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {400}),
        (b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {404}),
        (b"GET http://elsewhere/metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", {421}),
        (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Prometheus-Scrape-Timeout-Seconds: nan\r\nConnection: close\r\n\r\n", {200}),
        (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX-Prometheus-Scrape-Timeout-Seconds: -1e999\r\nConnection: close\r\n\r\n", {200}),
    ],
)
def test_hostile_requests_get_an_answer_or_nothing(target_of_hostility: Daemon, request_bytes: bytes, statuses: set[int]) -> None:
    daemon = target_of_hostility
    with socket.create_connection(("127.0.0.1", daemon.port), timeout=15) as connection:
        answer = b""
        try:
            connection.sendall(request_bytes)
            while chunk := connection.recv(65536):
                answer += chunk
                if b"\r\n\r\n" in answer and statuses == {413}:
                    break
        except ConnectionError:
            pass  # closed on us while we still sent: as good an answer
    if answer:
        assert int(answer.split()[1]) in statuses
    else:
        assert len(request_bytes) > 65536
    assert is_up(daemon)


def test_a_taken_port_is_a_clear_error(mariadb: PrivateServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run_process("serve", "--socket", mariadb.socket, "--user", "root", "--no-history", "--web.listen-address", f"127.0.0.1:{taken.getsockname()[1]}")
    assert done.returncode == 2
    assert "cannot listen on 127.0.0.1" in done.stderr
    assert "Address already in use" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "content", "message"),
    [
        (["--web.listen-address", "nonsense"], None, "not an address to listen on"),
        (["--web.config.file", "FILE"], "junk: 1\n", "unknown key 'junk'"),
        (["--web.config.file", "FILE"], "basic_auth_users: {me: secret}\n", "not a bcrypt hash"),
        (["--web.config.file", "FILE"], "tls_server_config: {cert_file: a.pem}\n", "needs both"),
        (["--web.config.file", "FILE"], "tls_server_config: {cert_file: a.pem, key_file: b.pem}\n", "a.pem cannot be read"),
        (["--web.config.file", "FILE"], "tls_server_config: {curve_preferences: []}\n", "not supported"),
        (["--web.config.file", "FILE"], "rate_limit: {interval: soon}\n", "not a duration"),
        (["--web.config.file", "/nonexistent"], None, "cannot read the web configuration"),
        (["--config.targets", "FILE"], "targets: {a: {host: x, socket: /y}}\n", "target a"),
        (["--config.targets", "FILE"], "a: b\n", "one mapping"),
        (["--config.targets", "FILE"], "targets: {a: {host: x, auth_module: client.none}}\n", "[client.none]"),
        (["--collect.tables.include", "("], None, "not a valid regular expression"),
        (["--rules", "/nonexistent"], None, "/nonexistent"),
        (["--history", "/proc/history.sqlite"], None, "the history cannot be kept"),
        (["--collect.interval", "0"], None, "1s or more"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_a_clear_error(tmp_path: Path, words: list[str], content: str | None, message: str) -> None:
    path = tmp_path / "file.yaml"
    if content is not None:
        path.write_text(content)
    history = [] if "--history" in words else ["--no-history"]
    done = run_process("serve", "--socket", "/nonexistent", "--web.listen-address", f"127.0.0.1:{free_port()}", *history, *[str(path) if word == "FILE" else word for word in words])
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("hung", [False, True])
def test_sigterm_ends_it_within_two_seconds(own: PrivateServer, hung: bool) -> None:
    with serving("--socket", own.socket, "--user", "root") as daemon:
        daemon.looked()
        open_connection = socket.create_connection(("127.0.0.1", daemon.port))
        if hung:
            os.kill(own.pid, signal.SIGSTOP)
            time.sleep(1.5)
        started = time.monotonic()
        assert daemon.stop() == 0
        assert time.monotonic() - started < 2
        open_connection.close()
        os.kill(own.pid, signal.SIGCONT)


def test_sighup_reloads(mariadb: PrivateServer) -> None:
    with serving("--socket", mariadb.socket, "--user", "root") as daemon:
        before = daemon.get().value("exporter_config_last_reload_success_timestamp_seconds") or 0
        os.kill(daemon.pid, signal.SIGHUP)
        assert wait_for(lambda: (daemon.get().value("exporter_config_last_reload_success_timestamp_seconds") or 0) > before)
        assert wait_for(lambda: is_up(daemon))


@contextmanager
def small_disk(folder: Path, kilobytes: int) -> Iterator[Path]:
    folder.mkdir()
    with mounted(folder, "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=755", "none"):
        yield folder


def fill(disk: Path) -> Path:
    filler = disk / "filler"
    descriptor = os.open(filler, os.O_CREAT | os.O_WRONLY)
    with pytest.raises(OSError, match="No space left"):
        while True:
            os.write(descriptor, b"x" * 4096)
    os.close(descriptor)
    return filler


def test_a_daemon_starts_where_the_disk_of_its_history_is_full(mariadb: PrivateServer, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 3072) as disk:
        with serving("--socket", mariadb.socket, "--user", "root", "--history", disk / "h.sqlite") as daemon:
            assert wait_for(lambda: daemon.get().value("history_writable") == 1)
            daemon.stop()
        filler = fill(disk)
        with serving("--socket", mariadb.socket, "--user", "root", "--history", disk / "h.sqlite") as daemon:
            assert daemon.looked().value("history_writable") == 0
            assert daemon.get().value("up") == 1
            filler.unlink()
            assert wait_for(lambda: daemon.get().value("history_writable") == 1)


def test_a_full_disk_stops_the_history_and_nothing_else(mariadb: PrivateServer, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 2048) as disk, serving("--socket", mariadb.socket, "--user", "root", "--history", disk / "h.sqlite") as daemon:
        assert wait_for(lambda: daemon.get().value("history_writable") == 1)
        filler = fill(disk)
        assert wait_for(lambda: daemon.get().value("history_writable") == 0, 60)
        assert daemon.get().value("up") == 1
        assert daemon.get().value("advice_interval_seconds") is not None
        # Nor does it keep a daemon from starting.
        with serving("--socket", mariadb.socket, "--user", "root", "--history", disk / "other.sqlite") as second:
            assert second.looked().value("history_writable") == 0
        filler.unlink()
        assert wait_for(lambda: daemon.get().value("history_writable") == 1)
        daemon.stop()
        assert b"is not kept" in daemon.log
        assert b"kept again" in daemon.log


def samples_in(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        return int(database.execute("SELECT COUNT(*) FROM sample").fetchone()[0])


def test_the_history_outlives_kill_minus_nine(mariadb: PrivateServer, tmp_path: Path) -> None:
    path, kept = tmp_path / "h.sqlite", [0]
    for _ in range(5):
        with serving("--socket", mariadb.socket, "--user", "root", "--history", path) as daemon:
            assert wait_for(lambda: (daemon.get().value("history_samples") or 0) > kept[-1])
            daemon.stop(signal.SIGKILL)
        kept.append(samples_in(path))
    assert kept == sorted(set(kept))


@pytest.mark.parametrize("damage", [lambda path: path.write_bytes(b"no database" * 1000), lambda path: path.write_bytes(path.read_bytes()[:3000] + b"\xff" * 9000)])
def test_a_corrupt_history_is_set_aside(mariadb: PrivateServer, tmp_path: Path, damage: Callable[[Path], object]) -> None:
    path = tmp_path / "h.sqlite"
    with serving("--socket", mariadb.socket, "--user", "root", "--history", path) as daemon:
        assert wait_for(lambda: (daemon.get().value("history_samples") or 0) > 1)
        daemon.stop()
    damage(path)
    with serving("--socket", mariadb.socket, "--user", "root", "--history", path) as daemon:
        assert wait_for(lambda: daemon.get().value("history_writable") == 1)
        daemon.stop()
        assert b"set aside" in daemon.log
    assert list(tmp_path.glob("h.sqlite.corrupt-*"))
    assert samples_in(path) >= 1


def test_thousands_of_scrapes_leave_no_trace(mariadb: PrivateServer) -> None:
    import http.client

    with serving("--socket", mariadb.socket, "--user", "root") as daemon:

        def scrape(times: int) -> None:
            connection = http.client.HTTPConnection("127.0.0.1", daemon.port, timeout=20)
            for number in range(times):
                # Every fiftieth in full, on a connection of its own; the others as small as a scrape can be.
                if number % 50 == 0:
                    connection.close()
                connection.request("GET", "/metrics" if number % 50 == 0 else "/metrics?collect[]=status", headers={"Accept-Encoding": "gzip"})
                assert connection.getresponse().read()
            connection.close()

        def state() -> tuple[int, int, int]:
            status = Path(f"/proc/{daemon.pid}/status").read_text()
            resident = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
            threads = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("Threads"))
            return descriptors(daemon), threads, resident

        daemon.looked()
        scrape(times(2000, 300))
        before = state()
        scrape(times(10_000, 500))
        after = state()
        assert after[0] <= before[0] + 1
        # A pool starts a thread where none has said yet that it is idle, up to as many as it has; each takes some memory.
        assert after[1] <= OTHER_THREADS + READERS + LOOKS_AT_ONCE
        # Looks go on meanwhile, the more of them the slower the machine.
    assert after[2] - before[2] < 4096 + 128 * max(after[1] - before[1], 0)  # KiB


def test_the_program_does_not_need_a_server_to_start(tmp_path: Path) -> None:
    with serving("--socket", tmp_path / "none") as daemon:
        assert daemon.get().value("up") == 0
        assert daemon.get("/-/ready").status == 200
        daemon.stop()
        assert b"does not exist" in daemon.log
