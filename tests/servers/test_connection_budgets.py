"""Connections that say nothing, or never read: they cost themselves their place, and nobody else theirs."""

import http.client
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from tests.support.daemon import Daemon, serving, wait_for
from tests.support.lying_server import HostileServer
from tests.support.servers import CopiedServer, binaries_of

from .test_unix_socket import ask

CROWD = 250  # more than all that are served at once
SCRAPES = 40
# On a machine with nothing to spare a client may wait between its connection and its request while 150 others come.
LOST = SCRAPES // 10
BEFORE_REQUEST, AFTER_REQUEST = b"", b"GET /-/healthy HTTP/1.1\r\nHost: localhost\r\n\r\n"
NEVER_READ = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20


class Connect:
    """Makes connections of one kind."""

    def __init__(self, family: int, address: str | tuple[str, int]) -> None:
        self.family, self.address = family, address

    def __call__(self, beginning: bytes) -> socket.socket:
        one = socket.socket(self.family)
        one.settimeout(5)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
        try:
            one.connect(self.address)
            one.sendall(beginning)
        except OSError:
            pass  # thrown out while it spoke: it comes again
        one.setblocking(False)
        return one


@contextmanager
def crowding(connect: Connect, beginning: bytes) -> Iterator[threading.Event]:
    """A crowd that begins so and then is silent; whoever is thrown out comes again soon. The event ends it."""
    over = threading.Event()

    def crowd() -> None:
        with ExitStack() as stack:
            waiting = [stack.enter_context(connect(beginning)) for _ in range(CROWD)]
            while not over.wait(0.1):
                for number, one in enumerate(waiting):
                    if is_over(one):
                        one.close()
                        waiting[number] = stack.enter_context(connect(beginning))

    thread = threading.Thread(target=crowd)
    thread.start()
    try:
        time.sleep(1.0)
        yield over
    finally:
        over.set()
        thread.join()


def is_over(one: socket.socket) -> bool:
    try:
        return one.recv(1, socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def refused_scrapes(daemon: Daemon) -> int:
    """How many of a row of scrapes were not answered; each with a connection of its own."""
    refused = 0
    for _ in range(SCRAPES):
        try:
            refused += daemon.get("/metrics", timeout=5).status != 200
        except (OSError, http.client.HTTPException):
            refused += 1
    return refused


def refused_documents(path: Path) -> int:
    """The same over the UNIX socket."""
    refused = 0
    for _ in range(SCRAPES):
        try:
            refused += ask(path)[0] != 200
        except (OSError, http.client.HTTPException):
            refused += 1
    return refused


@pytest.mark.parametrize("beginning", [BEFORE_REQUEST, AFTER_REQUEST, NEVER_READ], ids=["before a request", "after a request", "never reading"])
def test_a_crowd_of_silent_connections_shuts_nobody_out(mariadb: PrivateServer, tmp_path: Path, beginning: bytes) -> None:
    path = tmp_path / "advisor.sock"
    with serving("--socket", mariadb.socket, "--user", "root", "--collect.interval", "60s", "--web.socket", path) as daemon:
        with crowding(Connect(socket.AF_INET, ("127.0.0.1", daemon.port)), beginning):
            assert max(refused_scrapes(daemon), refused_documents(path)) <= LOST
        daemon.stop()
        assert b"Traceback" not in daemon.log


def test_a_crowd_on_the_unix_socket_leaves_the_addresses_alone(mariadb: PrivateServer, tmp_path: Path) -> None:
    path = tmp_path / "advisor.sock"
    words = ("--socket", mariadb.socket, "--user", "root", "--collect.interval", "60s", "--web.socket", path)
    with serving(*words) as daemon, crowding(Connect(socket.AF_UNIX, str(path)), BEFORE_REQUEST):
        assert max(refused_scrapes(daemon), refused_documents(path)) <= LOST


def test_a_scrape_that_waits_for_the_server_keeps_its_connection_in_a_crowd() -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as own, serving("--socket", own.socket, "--user", "root", "--collect.interval", "60s") as daemon:
        daemon.get()
        os.kill(own.pid, signal.SIGSTOP)
        try:
            answered: list[int] = []
            scrape = threading.Thread(target=lambda: answered.append(daemon.get("/metrics", {"X-Prometheus-Scrape-Timeout-Seconds": "4"}).status))
            scrape.start()
            time.sleep(0.5)
            with crowding(Connect(socket.AF_INET, ("127.0.0.1", daemon.port)), BEFORE_REQUEST):
                scrape.join(10)
            assert answered == [200]
        finally:
            os.kill(own.pid, signal.SIGCONT)


def test_a_crowd_that_asks_for_a_target_that_hangs_takes_no_scrape_from_the_others(mariadb: PrivateServer, tmp_path: Path) -> None:
    """Anybody may send these, and each waits as long as a scrape may take: forty of them every ten seconds were enough."""
    targets = tmp_path / "targets.yaml"
    with HostileServer(lambda client: time.sleep(30)) as hung:
        targets.write_text(f"targets:\n  hung: {{host: 127.0.0.1, port: {hung.port}}}\n  shop: {{socket: {mariadb.socket}}}\n")
        words = ("--no-own-server", "--config.targets", targets, "--user", "root", "--collect.interval", "60s")
        with serving(*words) as daemon, ExitStack() as stack:
            assert daemon.get("/probe?target=shop").value("up") == 1
            for _ in range(60):
                one = stack.enter_context(socket.create_connection(("127.0.0.1", daemon.port)))
                one.sendall(b"GET /probe?target=hung HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert wait_for(lambda: (daemon.get("/metrics").value("exporter_scrapes_in_progress") or 0) >= 10)
            assert [daemon.get("/probe?target=shop").value("up") for _ in range(SCRAPES)] == [1] * SCRAPES
            assert daemon.get("/metrics").value("exporter_scrapes_in_progress") == 10, "it is still waited for"


def test_a_crowd_that_asks_for_pages_of_a_server_that_hangs_keeps_its_connections_from_nobody() -> None:
    """A connection that is answered keeps its place, and this answer takes a second and a half: 150 of them were all that one machine may have."""
    with CopiedServer(binaries_of("mariadb-10.11")) as own, serving("--socket", own.socket, "--user", "root", "--collect.interval", "60s") as daemon:
        daemon.get()
        over = threading.Event()

        def ask_again_and_again() -> None:
            while not over.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", daemon.port), timeout=10) as one:
                        one.sendall(b"GET /munin.json HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                        while one.recv(1 << 16):
                            pass
                except OSError:
                    time.sleep(0.01)

        crowd = [threading.Thread(target=ask_again_and_again) for _ in range(CROWD)]
        os.kill(own.pid, signal.SIGSTOP)
        try:
            for one in crowd:
                one.start()
            time.sleep(1.0)
            refused = 0
            for _ in range(SCRAPES):
                try:
                    refused += daemon.get("/-/healthy", timeout=10).status != 200
                except (OSError, http.client.HTTPException):
                    refused += 1
            assert refused <= LOST
        finally:
            over.set()
            os.kill(own.pid, signal.SIGCONT)
            for one in crowd:
                one.join()
        daemon.stop()
        assert b"Traceback" not in daemon.log
