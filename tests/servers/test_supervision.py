"""What the daemon tells systemd: over a socket of ours, as systemd would give it."""

import asyncio
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.daemon.board import Board
from myisam_advisor.daemon.notify import Notifier
from myisam_advisor.daemon.supervision import LONGEST_LOOK_SECONDS, supervise
from myisam_exporter.look.table_choice import TableChooser
from myisam_exporter.watching.fleet import Fleet
from myisam_exporter.watching.options import WatchOptions
from tests.support.daemon import serving, wait_for
from tests.support.servers import CopiedServer, binaries_of


class Listener:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self.socket.setblocking(False)
        self.heard: list[str] = []

    def said(self, beginning: str) -> int:
        """How many messages begin so."""
        while True:
            try:
                self.heard.append(self.socket.recv(4096).decode())
            except BlockingIOError:
                return sum(message.startswith(beginning) for message in self.heard)

    def status(self) -> str:
        self.said("")
        return next((message for message in reversed(self.heard) if message.startswith("STATUS=")), "")


@contextmanager
def listening(address: str) -> Iterator[Listener]:
    listener = Listener(address)
    try:
        yield listener
    finally:
        listener.socket.close()


def is_judged(systemd: Listener) -> bool:
    """Whether the last status tells of a judgement over an interval."""
    return any(words in systemd.status() for words in ("Nothing holds", "Nothing serious", "Too little", "is not used here"))


@pytest.mark.parametrize("abstract", [False, True])
def test_systemd_hears_of_every_turn(tmp_path: Path, abstract: bool) -> None:
    address = f"@myisam-advisor-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with CopiedServer(binaries_of("mariadb-10.11")) as server, listening(address) as systemd:
        environment = {"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "600000"}
        with serving("--socket", server.socket, "--user", "root", "--timeout", "1", environment=environment) as daemon:
            assert wait_for(lambda: systemd.said("READY=1") == 1)
            assert wait_for(lambda: is_judged(systemd))
            pings = systemd.said("WATCHDOG=1")
            assert wait_for(lambda: systemd.said("WATCHDOG=1") >= pings + 3)
            daemon.process.send_signal(signal.SIGHUP)
            assert wait_for(lambda: systemd.said("READY=1") == 2)
            assert systemd.said("RELOADING=1\nMONOTONIC_USEC=") == 1
            # A server that hangs is reported, and is no reason to be killed by the watchdog.
            os.kill(server.pid, signal.SIGSTOP)
            try:
                assert wait_for(lambda: not is_judged(systemd)), systemd.status()
                pings = systemd.said("WATCHDOG=1")
                assert wait_for(lambda: systemd.said("WATCHDOG=1") >= pings + 3)
            finally:
                os.kill(server.pid, signal.SIGCONT)
            assert wait_for(lambda: is_judged(systemd))
            assert daemon.stop() == 0
            assert systemd.said("STOPPING=1") == 1


def test_a_server_that_is_down_is_no_reason_to_wait(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with listening(address) as systemd, serving("--socket", tmp_path / "none", "--user", "root", environment={"NOTIFY_SOCKET": address}):
        assert wait_for(lambda: systemd.said("READY=1") == 1)
        assert wait_for(lambda: "no server" in systemd.status())
        assert systemd.said("WATCHDOG=1") >= 1


def test_a_look_that_is_stuck_is_not_alive(tmp_path: Path) -> None:
    address = str(tmp_path / "notify")
    with listening(address) as systemd:

        class Stuck(Fleet):
            def busy_seconds(self) -> float:
                return LONGEST_LOOK_SECONDS + 1

        async def supervised(kind: type[Fleet]) -> None:
            from concurrent.futures import ThreadPoolExecutor

            fleet = kind(WatchOptions(), ThreadPoolExecutor(1), TableChooser)
            notifier = Notifier({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "30000"})
            task = asyncio.create_task(supervise(notifier, fleet, Board()))
            await asyncio.sleep(0.3)
            task.cancel()

        asyncio.run(supervised(Stuck))
        assert systemd.said("READY=1") == 1
        assert systemd.said("WATCHDOG=1") == 0
        asyncio.run(supervised(Fleet))
        assert systemd.said("WATCHDOG=1") > 3


def test_where_nobody_listens_nothing_is_said() -> None:
    Notifier({}).ready()
    Notifier({"NOTIFY_SOCKET": "/nowhere/at/all"}).ready()
    assert Notifier({"WATCHDOG_USEC": "5"}).watchdog_seconds is None
    assert Notifier({"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "5000000"}).watchdog_seconds == 5.0
    assert Notifier({"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "5000000", "WATCHDOG_PID": "1"}).watchdog_seconds is None
    assert Notifier({"NOTIFY_SOCKET": "x", "WATCHDOG_USEC": "junk"}).watchdog_seconds is None
