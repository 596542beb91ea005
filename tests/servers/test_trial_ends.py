"""Every fault of a trial, and every end: nothing is left behind."""

import os
import shutil
import signal
import struct
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from myisam_advisor.errors import TrialError
from myisam_advisor.trial.listener import Listener
from myisam_advisor.trial.private.binaries import server_at
from myisam_advisor.trial.private.private_server import PrivateServer
from myisam_advisor.trial.tables.copying import copy_tables
from myisam_advisor.trial.tables.sources import find_sources
from myisam_exporter.files.myi_header import parse_header
from tests.support.daemon import wait_for
from tests.support.servers import MARIADB, CopiedServer, binaries_of

from .conftest import schema
from .test_daemon_faults import small_disk
from .trials import SMALL, SMALL_DISK_KILOBYTES, fails, long_trial, make_table, temporary, trial, without_sysbench

__all__ = ["temporary", "without_sysbench"]  # fixtures that tests of a trial share


@pytest.fixture
def programs() -> Iterator[Path]:
    """A folder that everybody may read."""
    with tempfile.TemporaryDirectory(prefix="programs-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_programs_that_cannot_be_run(temporary: Path, programs: Path) -> None:
    other = programs / "mysqld"
    head = bytearray(Path(sys.executable).resolve().read_bytes()[:64])
    head[18:20] = struct.pack("<H", 8)  # EM_MIPS
    other.write_bytes(bytes(head))
    text = programs / "script"
    text.write_text("#!/bin/sh\n")
    fails(temporary, "built for another architecture", "mmap", "--server", other, *SMALL)
    fails(temporary, "does not run on this system", "mmap", "--server", text, *SMALL)
    if os.geteuid() == 0:
        (programs / "closed").mkdir(mode=0o700)
        fails(temporary, "cannot be read by the user that is to run it .*install it where everybody may read", "mmap", "--server", programs / "closed" / "mysqld", *SMALL)
    fails(temporary, "no server program /nowhere/mysqld: No such file", "mmap", "--server", "/nowhere/mysqld", *SMALL)
    fails(temporary, "has no messages and character sets beside it|does not say which server", "mmap", "--server", "/bin/true", *SMALL)
    fails(temporary, r"there is no experiment 'teleport'\. Known are columns, ", "teleport")
    fails(temporary, "Missing argument .*Choose from:", "--seconds", "1")
    fails(temporary, r"/nowhere does not exist.* Made-up tables need no running server: name a program \(--server", "mmap", "--socket", "/nowhere", *SMALL)
    fails(temporary, "a chart is drawn as .svg or .png", "io", "--chart", "chart.pdf")
    fails(temporary, "cannot write /nowhere/chart.svg: No such file or directory. Give another --chart.", "io", "--chart", "/nowhere/chart.svg")
    fails(temporary, "no use for --table|no server", "io", "--table", "a.b", "--socket", "/nowhere")


def test_a_program_given_by_its_path_is_known_by_its_version() -> None:
    found = server_at(binaries_of("mysql-5.6").mysqld)
    assert (found.family, found.flavour) == ("mysql-bootstrap", "mysql")
    installed = server_at(Path(shutil.which("mariadbd", path="/usr/sbin:/usr/bin") or ""))
    assert (installed.family, installed.flavour, installed.name) == ("mariadb", "mariadb", "mariadb-10.11")


def test_a_socket_path_that_is_too_long(temporary: Path) -> None:
    binaries_of("mariadb-10.11")
    deep = temporary / ("d" * 90)
    deep.mkdir(mode=0o755)
    fails(deep, "socket path .* is longer than 107 bytes: choose a shorter TMPDIR", "row-format", "--server", MARIADB, *SMALL)
    deep.rmdir()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind_by_an_end_of_any_kind(temporary: Path, number: signal.Signals) -> None:
    running, server = long_trial(temporary)
    if os.geteuid() == 0:
        assert Path(f"/proc/{server}").stat().st_uid != 0  # as root, it became somebody unprivileged
    running.send_signal(number)
    output, errors = running.communicate(timeout=30)
    assert running.returncode == (-number if number == signal.SIGKILL else 130)
    assert "Traceback" not in errors
    assert output == ""
    assert wait_for(lambda: not Path(f"/proc/{server}").exists())


def test_it_steps_back_behind_everybody_else(temporary: Path) -> None:
    running, server = long_trial(temporary)
    try:
        process = psutil.Process(server)
        assert process.nice() >= 10
        assert process.ionice().ioclass == psutil.IOPRIO_CLASS_IDLE
    finally:
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=30)


def test_a_private_server_that_dies_is_told_of(temporary: Path) -> None:
    running, server = long_trial(temporary)
    os.kill(server, signal.SIGKILL)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 2
    assert "the private mariadb-10.11 died" in errors
    assert "Traceback" not in errors


def test_two_at_once_would_measure_each_other(temporary: Path) -> None:
    running, _ = long_trial(temporary)
    fails(temporary, rf"another trial is running on this machine \(process {running.pid} of", "io", *SMALL)
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=30)


@pytest.mark.parametrize("words", [("row-format", *SMALL), ("engine",)])
def test_without_sysbench_nothing_is_begun(mariadb: PrivateServer, temporary: Path, without_sysbench: str, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    monkeypatch.setenv("PATH", without_sysbench)
    with schema(mariadb, "bare") as name:
        make_table(mariadb, name)
        status, _, errors = trial(temporary, *words, "--table", f"{name}.orders", "--socket", mariadb.socket, "--user", "root")
    assert status == 2
    assert errors.splitlines()[-1] == "myisam-advisor: sysbench is not installed: apt install sysbench."
    assert "trial: " not in errors


def test_no_other_directory_is_taken_where_tmpdir_takes_no_file(temporary: Path) -> None:
    fails(temporary / "nowhere", r"no file can be written in \S+/nowhere \(TMPDIR\): No such file or directory\. Choose another TMPDIR\.", "io", *SMALL)
    with small_disk(temporary / "disk", 1024) as disk:
        with (disk / "filler").open("wb") as file:
            file.write(bytes(shutil.disk_usage(disk).free))
        fails(disk, r"\(TMPDIR\): No space left on device", "io", *SMALL)


def test_a_disk_without_room_is_refused_before_anything_is_made(temporary: Path) -> None:
    binaries_of("mariadb-10.11")
    with small_disk(temporary / "disk", SMALL_DISK_KILOBYTES) as disk:
        fails(disk, r"disk/\S+ has .* free, and the trial needs about", "row-format", "--server", MARIADB, *SMALL)


def test_a_disk_that_fills_up_in_mid_copy(mariadb: PrivateServer, temporary: Path) -> None:
    with (
        small_disk(temporary / "disk", SMALL_DISK_KILOBYTES) as disk,
        schema(mariadb, "large") as database,
        CopiedServer(mariadb.binaries, directory=disk / "s") as private,
    ):
        make_table(mariadb, database, doublings=7)
        with (disk / "filler").open("wb") as file:
            file.write(bytes(shutil.disk_usage(disk).free - (1 << 20)))
        with pytest.raises(TrialError, match=r"is full: the copy of large\.orders was given up"), find_sources(mariadb.data_directory, ["large.orders"], 1 << 30, None) as sources:
            copy_tables(sources, private, None, Listener())
        assert mariadb.execute("SELECT COUNT(*) FROM large.orders") == [(5**7,)]


def test_a_copy_that_fails_its_check_is_not_taken(mariadb: PrivateServer, temporary: Path) -> None:
    """Index pages of garbage below a header that looks well: what a copy in the middle of a write may be."""
    with schema(mariadb, "torn") as database:
        make_table(mariadb, database)
        mariadb.execute("FLUSH TABLES")
        path = mariadb.data_directory / "torn" / "orders.MYI"
        assert not parse_header(path.read_bytes()[:4096]).crashed
        with path.open("r+b") as file:
            file.seek(4096)
            file.write(b"\xff" * 4096)
        fails(temporary, r"torn.orders is damaged: .*CHECK TABLE `torn`.`orders`; tells, and REPAIR TABLE `torn`.`orders`; mends", "row-format", "--socket", mariadb.socket, "--user", "root", "--table", "torn.orders", *SMALL)
