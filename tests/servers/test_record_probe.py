"""`record --from probe`: statements as the kernel sees them, byte by byte; no setting is changed, and the probe is removed whatever happens."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import takewhile
from pathlib import Path

import pytest

from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.workload.file import read_workload
from tests.servers.conftest import on_four_servers, on_one_server
from tests.servers.test_record import command, recorded, settings
from tests.support.daemon import wait_for
from tests.support.servers import CopiedServer, binaries_of

TRACING = Path("/sys/kernel/tracing")
UPROBES = TRACING / "uprobe_events"
pytestmark = [
    pytest.mark.skipif(os.geteuid() != 0, reason="a probe needs root"),
    pytest.mark.skipif(not UPROBES.exists(), reason="this kernel has no uprobes, or tracefs is not mounted at /sys/kernel/tracing"),
]
# Each byte value, in a comment: `*` and `/` are not neighbours in it.
ALL_BYTES = bytes(range(256))
LENGTHS = (10, 511, 512, 513, 2048, 2049, 4032, 4095, 4096, 4097, 4608, 20_000, 65_536)


def probed(length: int) -> bytes:
    """A statement of this length; where there is room, with all byte values."""
    if length < 300:
        return b"SELECT 1".ljust(length, b"1")
    return b"SELECT /*" + (ALL_BYTES * (length // 256 + 1))[: length - 12] + b"*/1"


def groups_of(server: PrivateServer) -> set[str]:
    """Our probes in this server: other tests have theirs."""
    return {line.split()[0] for line in UPROBES.read_text().splitlines() if f"_{server.pid}/" in line.split()[0]}


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


def define(line: str) -> None:
    """One write, at no place of the file: tracefs knows none."""
    descriptor = os.open(UPROBES, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(descriptor, line.encode())
    finally:
        os.close(descriptor)


@on_four_servers
def test_each_statement_is_byte_by_byte_what_the_server_logs(server: PrivateServer, tmp_path: Path) -> None:
    general = tmp_path / "general.log"
    before = settings(server)
    sent = [probed(length) for length in LENGTHS]
    assert [len(statement) for statement in sent] == [*LENGTHS]
    log = Path(str(server.execute("SELECT @@general_log_file")[0][0]))
    log = log if log.is_absolute() else Path(str(server.execute("SELECT @@datadir")[0][0])) / log
    server.execute("SET GLOBAL general_log = ON")
    try:
        with server.session("mysql") as there_before, recording(server, "--output", str(tmp_path / "w"), "--seconds", "6", "--statement-bytes", "65536") as recorder:
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
    assert (settings(server), groups_of(server)) == (before, set())


@on_one_server
def test_nothing_is_left_of_a_killed_recorder_nor_taken_from_others(server: PrivateServer, tmp_path: Path) -> None:
    exe = f"/proc/{server.pid}/exe"
    # A process of this number is gone, or began at another time.
    namespace = os.stat("/proc/self/ns/pid").st_ino  # noqa: PTH116
    stale, foreign = f"myisam_advisor_{namespace}_2_1_{server.pid}/begin", f"somebody_{server.pid}/begin"
    for name in (stale, foreign):
        define(f"p:{name} {exe}:0x1000\n")
    try:
        with recording(server, "--output", str(tmp_path / "w"), "--seconds", "60") as recorder:
            assert not any(stale in name for name in groups_of(server))
            second = subprocess.run(command(server, "--from", "probe", "--output", str(tmp_path / "v"), "--seconds", "1"), capture_output=True, text=True, check=False)
            assert (second.returncode, "another recording" in second.stderr) == (2, True), second.stderr
            recorder.send_signal(signal.SIGKILL)
        assert wait_for(lambda: groups_of(server) == {f"p:{foreign}"} or not any("myisam_advisor" in name for name in groups_of(server)), 60)
        assert foreign in UPROBES.read_text()
    finally:
        define(f"-:{foreign}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_killed_ends_the_recording_and_what_it_was_asked_is_kept(tmp_path: Path) -> None:
    with CopiedServer(binaries_of("mariadb-10.11")) as server, recording(server, "--output", str(tmp_path / "w"), "--seconds", "60") as recorder:
        server.execute("SELECT 'the last one'")
        server.stop(signal.SIGKILL)
        told, errors = recorder.communicate()
        assert recorder.returncode == 0, errors
    assert "the server ended" in told
    assert b"SELECT 'the last one'" in {event.statement for event in read_workload(tmp_path / "w").events()}
    assert not [line for line in UPROBES.read_text().splitlines() if f"_{recorder.pid}_" in line]
