"""The way to the server fails, in the ways that give no error: nothing comes any more, or too slowly, or no connection is ever made."""

import socket
import time
from collections.abc import Iterator

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_exporter.errors import ServerLostError
from myisam_exporter.server.session import Session
from myisam_exporter.server.target import Target
from tests.support.daemon import Daemon, free_port, serving, wait_for
from tests.support.program import run_process
from tests.support.servers import CopiedServer, binaries_of

from .proxy import DRIP, HOLE, PASS, Proxy

QUICK = {"X-Prometheus-Scrape-Timeout-Seconds": "2"}


@pytest.fixture(scope="module")
def remote() -> Iterator[PrivateServer]:
    """One that is asked over TCP."""
    with CopiedServer(binaries_of("mariadb-10.11"), port=free_port()) as running:
        running.execute("CREATE USER 'far'@'127.0.0.1' IDENTIFIED BY ''", "GRANT PROCESS ON *.* TO 'far'@'127.0.0.1'")
        yield running


@pytest.fixture
def proxy(remote: PrivateServer) -> Iterator[Proxy]:
    assert remote.port is not None
    with Proxy(remote.port) as between:
        yield between


def is_up(daemon: Daemon) -> bool:
    return daemon.get(headers=QUICK).value("up") == 1


@pytest.mark.parametrize("mode", [HOLE, DRIP])
def test_a_query_ends_whatever_the_network_does(proxy: Proxy, mode: str) -> None:
    with Session(Target("far", host="127.0.0.1", port=proxy.port), timeout_seconds=1) as session:
        assert session.rows("SELECT 1") == [("1",)]
        proxy.mode = mode
        started = time.monotonic()
        with pytest.raises(ServerLostError):
            session.rows("SHOW GLOBAL STATUS")
        # Read piece by piece it would take hours.
        assert time.monotonic() - started < 10


def test_no_server_is_offered_files(proxy: Proxy) -> None:
    """Whoever answers in the server's place could ask for any file that the advisor may read, unless the client rules that out when it logs in."""
    with Session(Target("far", host="127.0.0.1", port=proxy.port), timeout_seconds=5) as session:
        assert session.rows("SELECT 1") == [("1",)]
    # A packet's length and number, then what the client can do: CLIENT_PROTOCOL_41 is 512, CLIENT_LOCAL_FILES 128.
    abilities = int.from_bytes(proxy.heard[4:8], "little")
    assert abilities & 512
    assert not abilities & 128


@pytest.mark.parametrize("mode", [HOLE, DRIP])
def test_the_daemon_says_so_in_time_and_comes_back(proxy: Proxy, mode: str) -> None:
    with serving("--host", "127.0.0.1", "--port", proxy.port, "--user", "far", "--timeout", "1", "--collect.interval", "1s") as daemon:
        assert wait_for(lambda: is_up(daemon))
        proxy.mode = mode
        assert wait_for(lambda: not is_up(daemon))
        for _ in range(3):
            started = time.monotonic()
            assert daemon.get(headers=QUICK).value("up") == 0
            assert time.monotonic() - started < 2
            assert daemon.get("/-/healthy", timeout=1).status == 200
        proxy.mode = PASS
        assert wait_for(lambda: is_up(daemon), 30)
        assert daemon.looked().value("advice_interval_seconds") is not None
        daemon.stop()
        assert b"Traceback" not in daemon.log


@pytest.mark.parametrize(("mode", "message"), [(HOLE, "accepted the connection but did not answer within 1 s"), (DRIP, "came about within 2 s")])
def test_a_command_ends_with_a_message(proxy: Proxy, mode: str, message: str) -> None:
    proxy.mode = mode
    started = time.monotonic()
    done = run_process("check", "--host", "127.0.0.1", "--port", proxy.port, "--user", "far", "--timeout", "1", "--interval", "0")
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert time.monotonic() - started < 10


def test_a_port_that_answers_no_connection_is_given_up() -> None:
    """Its queue is full: the kernel drops what asks for a connection, as a firewall would."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        waiting = []
        try:
            for _ in range(4):
                one = socket.socket()
                one.setblocking(False)
                one.connect_ex(("127.0.0.1", port))
                waiting.append(one)
            started = time.monotonic()
            done = run_process("check", "--host", "127.0.0.1", "--port", port, "--user", "far", "--timeout", "1", "--interval", "0")
            assert done.returncode == 2
            assert f"127.0.0.1:{port}" in done.stderr
            assert time.monotonic() - started < 15
            with serving("--host", "127.0.0.1", "--port", port, "--user", "far", "--timeout", "1") as daemon:
                assert daemon.get(headers=QUICK).value("up") == 0
        finally:
            for one in waiting:
                one.close()
