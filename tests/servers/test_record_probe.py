"""`record --from probe`: statements as the kernel sees them, byte by byte; no setting is changed, and the probe is removed whatever happens."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from itertools import takewhile
from pathlib import Path

import pytest

from myisam_advisor.trial.private.driver import Connection, driver
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.file import read_workload
from myisam_advisor.workload.probing.place import place_of
from tests.servers.conftest import on_four_servers, on_one_server
from tests.servers.prepared_client import PreparingClient
from tests.servers.test_record import command, recorded, settings
from tests.support.daemon import wait_for
from tests.support.program import PROGRAM
from tests.support.servers import CopiedServer, binaries_of

pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a probe needs root"),
    pytest.mark.skipif(not Path("/sys/bus/event_source/devices/uprobe/type").exists(), reason="this kernel has no uprobes"),
]
# What x86-64 has for one.
BREAKPOINT = b"\xcc"
# Each byte value, in a comment: `*` and `/` are not neighbours in it.
ALL_BYTES = bytes(range(256))
# Around each size that a record may have.
LENGTHS = (10, 128, 129, 512, 513, 2048, 2049, 4032, 8192, 8193, 32_768, 32_769, 65_536)


def probed(length: int) -> bytes:
    """A statement of this length; where there is room, with all byte values."""
    if length < 300:
        return b"SELECT 1".ljust(length, b"1") if length < 20 else b"SELECT 1/*".ljust(length - 2, b"x") + b"*/"
    return b"SELECT /*" + (ALL_BYTES * (length // 256 + 1))[: length - 12] + b"*/1"


def begin_of_dispatch(server: PrivateServer | CopiedServer) -> bytes:
    """The first byte of the probed function in this server's memory: as in the file, or a breakpoint."""
    place = place_of(server.pid)
    offset, program = place.offset, Path(place.binary).stat().st_ino
    for line in Path(f"/proc/{server.pid}/maps").read_text("utf-8", "replace").splitlines():
        span, _, at, _, inode, *_ = line.split()
        begin, end = (int(part, 16) for part in span.split("-"))
        if int(inode) == program and int(at, 16) <= offset < int(at, 16) + end - begin:
            with Path(f"/proc/{server.pid}/mem").open("rb", buffering=0) as memory:
                memory.seek(begin + offset - int(at, 16))
                return memory.read(1)
    raise AssertionError("its program is not in its memory")


@contextmanager
def recording(server: PrivateServer, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A recorder whose probe is set."""
    with subprocess.Popen(command(server, "--from", "probe", *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as recorder:
        try:
            assert recorder.stderr is not None
            said = "".join(takewhile(lambda line: line not in ("It has begun.\n", ""), iter(recorder.stderr.readline, None)))
            assert recorder.poll() is None, said
            yield recorder
        finally:
            recorder.kill()


@on_four_servers
def test_each_statement_is_byte_by_byte_what_the_server_logs(server: PrivateServer, tmp_path: Path) -> None:
    general = tmp_path / "general.log"
    before = settings(server), begin_of_dispatch(server)
    sent = [probed(length) for length in LENGTHS]
    assert [len(statement) for statement in sent] == [*LENGTHS]
    log = Path(str(server.execute("SELECT @@general_log_file")[0][0]))
    log = log if log.is_absolute() else Path(str(server.execute("SELECT @@datadir")[0][0])) / log
    server.execute("SET GLOBAL general_log = ON")
    try:
        with server.session("mysql") as there_before, recording(server, "--output", str(tmp_path / "w"), "--seconds", "6") as recorder:
            with server.session() as connection:
                for used in (there_before, connection):
                    with closing(used.cursor()) as cursor:
                        cursor.execute("SET NAMES latin1")
                        for statement in sent:
                            cursor.execute(statement)
                            cursor.fetchall()
                numbers = [int(str(used.thread_id())) for used in (there_before, connection)]
            _, errors = recorder.communicate()
            assert recorder.returncode == 0, errors
    finally:
        server.execute("SET GLOBAL general_log = OFF")
        general.write_bytes(log.read_bytes())
        log.unlink()
    logged = general.read_bytes()
    assert all(logged.count(statement) >= 2 for statement in sent)
    workload, events = recorded(tmp_path / "w")
    for number, database in zip(numbers, (b"mysql", None), strict=True):
        assert {event.connection for event in events} >= {number}, workload.totals
        own = [event for event in events if event.connection == number and event.statement in set(sent)]
        assert [event.statement for event in own] == sent
        assert {event.database for event in own} == {database}
        assert all((event.duration_microseconds or 0) > 0 for event in own)
    assert not [reason for reason in workload.totals.left_out if "lost" in reason or "longer" in reason]
    assert (settings(server), begin_of_dispatch(server)) == before


@on_one_server
def test_a_probe_stands_in_one_server_alone_and_nothing_is_left_of_a_killed_recorder(server: PrivateServer, tmp_path: Path) -> None:
    before = begin_of_dispatch(server)
    with CopiedServer(server.binaries) as other, recording(server, "--output", str(tmp_path / "w"), "--seconds", "60") as recorder:
        assert Path(place_of(other.pid).binary).samefile(place_of(server.pid).binary)
        assert (begin_of_dispatch(server), begin_of_dispatch(other)) == (BREAKPOINT, before)
        second = subprocess.run(command(server, "--from", "probe", "--output", str(tmp_path / "v"), "--seconds", "1"), capture_output=True, text=True, check=False)
        assert "nothing was recorded" in second.stderr
        assert begin_of_dispatch(server) == BREAKPOINT
        recorder.send_signal(signal.SIGKILL)
        recorder.wait()
        assert wait_for(lambda: begin_of_dispatch(server) == before, 60)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", ["mariadb-10.11", "mysql-9.7"])
def test_a_server_that_is_killed_and_restarted_ends_the_recording_and_what_it_was_asked_is_kept(kind: str, tmp_path: Path) -> None:
    workload = tmp_path / "w"
    with CopiedServer(binaries_of(kind)) as server:
        with recording(server, "--output", str(workload), "--seconds", "60") as recorder:
            with PreparingClient(server) as client, server.session() as busy:
                client.execute(client.prepare(b"SELECT ?"), (1, b"\7"))
                waiting = threading.Thread(target=asked_in_vain, args=(busy, b"SELECT 'under way', SLEEP(60)"))
                waiting.start()
                assert wait_for(lambda: any("under way" in str(row[0]) for row in server.execute("SELECT info FROM information_schema.processlist WHERE id <> CONNECTION_ID()")), 60)
                server.execute("SELECT 'the last one'")
                server.stop(signal.SIGKILL)
                waiting.join()
            server.start()
            server.execute("SELECT 'of the next one'")
            told, errors = recorder.communicate()
            assert (recorder.returncode, "Traceback" in errors) == (0, False), errors
        assert "Stopped early: the server ended; what one that was started since is asked is not in it." in told
        again = subprocess.run(command(server, "--from", "probe", "--output", str(tmp_path / "next"), "--seconds", "1"), capture_output=True, text=True, check=False)
        assert "nothing was recorded" in again.stderr
    events = {event.statement: event for event in read_workload(workload).events()}
    assert {b"SELECT 7", b"SELECT 'the last one'", b"SELECT 'under way', SLEEP(60)"} <= events.keys()
    assert b"SELECT 'of the next one'" not in events
    assert events[b"SELECT 'under way', SLEEP(60)"].duration_microseconds is None
    shown = subprocess.run([str(PROGRAM), "record", "--show", str(workload)], capture_output=True, text=True, check=False)
    assert (shown.returncode, "Stopped early" in shown.stdout, "select ?" in shown.stdout) == (0, True, True)


def asked_in_vain(connection: Connection, statement: bytes) -> None:
    """A question whose server ends before it answers."""
    with suppress(driver().error), closing(connection.cursor()) as cursor:
        cursor.execute(statement)
