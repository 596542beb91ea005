"""`record --from probe` of servers whose process and files look different from here: in namespaces of their own, behind a proxy, with another program on disk by now."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pymysql
import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.private.unprivileged import words_before
from tests.servers.test_record import command, recorded
from tests.servers.test_record_probe import pytestmark as needs_probes
from tests.servers.test_record_probe import recording
from tests.support.daemon import free_port, wait_for
from tests.support.mounts import mounted
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of

pytestmark = needs_probes

ASKED = "SELECT 'asked meanwhile'"


class Contained(CopiedServer):
    """A server in namespaces of its own, as a container's: its socket is in a directory that nobody else sees, its pid file has the number that it has in there."""

    namespaces: tuple[str, ...] = ()
    is_first = True

    def run(self) -> subprocess.Popen[bytes]:
        """It, or rather what waits for it."""
        hidden = self.directory / "hidden"
        words = [*self._base_command(), f"--socket={hidden / 's'}", f"--pid-file={self.directory / 'pid'}", "--bind-address=127.0.0.1", f"--port={self.port}"]
        own = "" if self.is_first else "sleep 0.01; sleep 0.01; "
        last = 'exec "$@"' if self.is_first else '"$@"; exit 0'
        inside = f'mkdir -p "$0" && mount -t tmpfs -o mode=777 none "$0" && {own}{last}'
        server = words_before()
        return subprocess.Popen(
            ["unshare", "--pid", "--mount", *self.namespaces, "--fork", "--kill-child", "sh", "-c", inside, str(hidden), *server, *words],
            cwd=self.directory, env=self._environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip


@contextmanager
def contained(kind: str, *namespaces: str, is_first: bool = True) -> Iterator[tuple[int, Path, int]]:
    """The number of such a server's process here, its socket as it is seen from here, its port."""
    server = Contained(binaries_of(kind), port=free_port())
    server.namespaces, server.is_first = namespaces, is_first
    try:
        server.initialise()
        with server.run() as started:
            try:
                found: list[psutil.Process] = []

                def is_there() -> bool:
                    found[:] = [child for child in psutil.Process(started.pid).children(recursive=True) if child.name() in ("mysqld", "mariadbd")]
                    return bool(found) and seen(found[0].pid).exists()

                def seen(pid: int) -> Path:
                    return Path(f"/proc/{pid}/root{server.directory}/hidden/s")

                assert wait_for(is_there, 60)
                yield found[0].pid, seen(found[0].pid), server.port or 0
            finally:
                started.kill()
    finally:
        server.close()


def asks(output: Path, *words: str) -> "subprocess.Popen[str]":
    return subprocess.Popen([str(PROGRAM), "record", "--user", "root", "--from", "probe", "--output", str(output), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def asked_until_it_ends(recorder: "subprocess.Popen[str]", **way: object) -> tuple[int, str]:
    """The recorder's status and what it said; meanwhile the server was asked."""
    try:
        with closing(pymysql.connect(user="root", **way)) as client:  # type: ignore[call-overload]
            while recorder.poll() is None:
                client.query(ASKED)
                time.sleep(0.02)
        return recorder.returncode, recorder.communicate()[1]
    finally:
        recorder.kill()


def statements(path: Path) -> set[bytes]:
    return {event.statement for event in recorded(path)[1]}


@pytest.mark.parametrize(("kind", "is_first"), [("mysql-5.6", True), ("mariadb-11.4", False)])
def test_a_server_in_a_container_is_found_over_tcp_by_what_the_kernel_sees(kind: str, is_first: bool, tmp_path: Path) -> None:
    with contained(kind, is_first=is_first) as (_, _, port):
        status, errors = asked_until_it_ends(asks(tmp_path / "w", "--seconds", "2", "--host", "127.0.0.1", "--port", str(port)), host="127.0.0.1", port=port)
    assert status == 0, errors
    assert ASKED.encode() in statements(tmp_path / "w")


def test_a_server_in_a_network_of_its_own_is_reached_by_its_socket_as_this_machine_sees_it(tmp_path: Path) -> None:
    with contained("mysql-5.6", "--net") as (_, path, _):
        status, errors = asked_until_it_ends(asks(tmp_path / "w", "--seconds", "2", "--socket", str(path)), unix_socket=str(path))
    assert status == 0, errors
    assert ASKED.encode() in statements(tmp_path / "w")


# Whoever connects is passed on; what it is, the kernel says: a Python.
_PROXY = """
import select, socket, sys, threading
listener = socket.socket(socket.AF_UNIX)
listener.bind(sys.argv[1])
listener.listen()
def passed_on(client):
    server = socket.socket(socket.AF_UNIX)
    server.connect(sys.argv[2])
    other = {client: server, server: client}
    while True:
        for one in select.select(list(other), [], [])[0]:
            part = one.recv(65536)
            if not part:
                server.close(); client.close()
                return
            other[one].sendall(part)
while True:
    threading.Thread(target=passed_on, args=(listener.accept()[0],), daemon=True).start()
"""


@contextmanager
def proxy(server: PrivateServer, path: Path) -> Iterator[None]:
    with subprocess.Popen([sys.executable, "-c", _PROXY, str(path), str(server.socket)]) as process:
        try:
            assert wait_for(path.exists, 20)
            yield
        finally:
            process.kill()


def test_behind_a_proxy_the_server_is_found_where_it_is_named_as_one(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with CopiedServer(binaries_of("mysql-5.6")) as server, proxy(server, path):
        status, errors = asked_until_it_ends(asks(tmp_path / "w", "--seconds", "2", "--socket", str(path)), unix_socket=str(path))
        assert status == 0, errors
        assert ASKED.encode() in statements(tmp_path / "w")


def with_a_program_of_its_own(kind: str, folder: Path, name: str = "") -> CopiedServer:
    """A server whose program lies in a directory that a test may change."""
    binaries = binaries_of(kind)
    program = folder / (name or binaries.mysqld.name)
    shutil.copy2(binaries.mysqld, program)
    return CopiedServer(replace(binaries, mysqld=program))


def replaced(program: Path) -> None:
    """As a package's upgrade does it: the old one has another name for a while, the new one takes its."""
    backup, new = (program.with_name(f"{program.name}.dpkg-{which}") for which in ("tmp", "new"))
    os.link(program, backup)
    new.write_bytes(b"\x7fELF of another build".ljust(1 << 20))
    new.rename(program)
    backup.unlink()


def folder_for_all(tmp_path: Path, name: str) -> Path:
    """The server's user goes there, too."""
    folder = tmp_path / name
    folder.mkdir()
    for above in (folder, *folder.parents):
        if above.owner() == "root" and above.parent != above and above != Path("/tmp"):
            above.chmod(above.stat().st_mode | 0o055)
    return folder


def test_behind_a_proxy_a_server_that_is_not_found_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with with_a_program_of_its_own("mysql-5.6", folder_for_all(tmp_path, "program"), "database") as server, proxy(server, path):
        recorder = asks(tmp_path / "w", "--seconds", "2", "--socket", str(path))
        _, errors = recorder.communicate()
        assert recorder.returncode == 2
        said = " ".join(errors.split())
        assert "is not a server: its program has no dispatch_command. Name the server's own socket" in said
        assert "LAYOUTS" not in said
        # Its own socket tells which process it is, whatever that is called.
        status, errors = asked_until_it_ends(asks(tmp_path / "w", "--seconds", "1", "--socket", str(server.socket)), unix_socket=str(server.socket))
        assert status == 0, errors


def expect_recorded_on(server: PrivateServer, folder: Path) -> None:
    """Its program is replaced while it is recorded; and it is recorded again."""
    with recording(server, "--output", str(folder / "w"), "--seconds", "3") as recorder:
        server.execute(ASKED)
        replaced(server.binaries.mysqld)
        server.execute("SELECT 'after it'")
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
    with recording(server, "--output", str(folder / "v"), "--seconds", "2") as recorder:
        server.execute(ASKED)
        _, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
    assert {ASKED.encode(), b"SELECT 'after it'"} <= statements(folder / "w")
    assert ASKED.encode() in statements(folder / "v")


@pytest.mark.parametrize("kind", ["mysql-5.6", "mariadb-11.8"])
def test_a_program_that_was_replaced_on_disk_is_recorded_on(kind: str, tmp_path: Path) -> None:
    with with_a_program_of_its_own(kind, folder_for_all(tmp_path, "program")) as server:
        expect_recorded_on(server, tmp_path)


@contextmanager
def overlay(folder: Path) -> Iterator[tuple[Path, Path]]:
    """A directory as a container has it, and the one that is below it."""
    lower, upper, work, merged = (folder_for_all(folder, name) for name in ("lower", "upper", "work", "merged"))
    options = f"lowerdir={lower},upperdir={upper},workdir={work}"
    with mounted(merged, "-t", "overlay", "-o", options, "overlay"):
        yield lower, merged


@pytest.mark.parametrize("kind", ["mysql-5.6", "mariadb-11.8"])
def test_a_program_that_was_replaced_in_a_container_is_found_in_the_layer_below(kind: str, tmp_path: Path) -> None:
    with overlay(tmp_path) as (lower, merged):
        server = with_a_program_of_its_own(kind, lower)
        server.binaries = replace(server.binaries, mysqld=merged / server.binaries.mysqld.name)
        with server:
            expect_recorded_on(server, tmp_path)
            # Where it is not there, what to do is said.
            (lower / server.binaries.mysqld.name).unlink()
            done = subprocess.run(command(server, "--from", "probe", "--output", str(tmp_path / "u"), "--seconds", "1"), capture_output=True, text=True, check=False)
            assert (done.returncode, "was replaced on disk inside its container" in " ".join(done.stderr.split())) == (2, True), done.stderr
