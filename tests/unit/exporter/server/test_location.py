"""Files that a server names (auto.cnf, pid_file, init_file): whatever they are, the answer comes at once and takes no memory."""

import os
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from myisam_exporter.collectors.disk_space import space_of
from myisam_exporter.collectors.key_caches import _in_init_file
from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.rights import SHOW_PROCESS
from myisam_exporter.server.location import Location, locate
from myisam_exporter.server.server_process import read_pid

from .test_server_process import UPTIME, process

UUID = "8a94f357-aab4-11df-86ab-c80aa9429562"
OTHER_UID = 54321


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/ptmx")


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def huge(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)


ODD: list[Callable[[Path], None]] = [fifo, endless, terminal, circle, huge, Path.mkdir]


@pytest.fixture
def at_once() -> Any:
    """Within a second, and in little more than the largest file that is read: 1 MiB."""
    tracemalloc.start()
    began = time.monotonic()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.monotonic() - began < 1
    assert peak < 4 << 20


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """A server with process 20."""
    process(tmp_path / "proc", 20, "mariadbd", UPTIME)
    return tmp_path / "proc"


def located(directory: Path, proc: Path, pid_file: str = "pid", uuid: str = "") -> Location:
    return locate({"datadir": str(directory), "pid_file": pid_file, "server_uuid": uuid}, UPTIME, None, True, proc)


@pytest.mark.parametrize("make", ODD)
@pytest.mark.usefixtures("at_once")
def test_a_pid_file_may_be_anything(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "pid")
    assert isinstance(read_pid(tmp_path / "pid"), Unknown)


@pytest.mark.parametrize("text", ["²", "0", "-5", "4194305", "9" * 5000, "1 2", "", "0x10", "١٢", "\0"])
def test_a_pid_file_that_holds_no_process_id_says_so(tmp_path: Path, text: str) -> None:
    (tmp_path / "pid").write_text(text)
    pid = read_pid(tmp_path / "pid")
    assert isinstance(pid, Unknown)
    assert "holds no process id" in pid.reason


def test_a_pid_file_is_read_as_servers_write_it(tmp_path: Path) -> None:
    for text in ("4194304\n", " 4194304 ", "4194304"):
        (tmp_path / "pid").write_text(text)
        assert read_pid(tmp_path / "pid") == 4194304


def test_a_name_that_no_file_can_have_is_a_file_that_cannot_be_read(tmp_path: Path, proc: Path) -> None:
    for name in ("a\0b", "/a\udc00\ud800b", "x" * 5000):
        assert isinstance(read_pid(tmp_path / name), Unknown)
        assert isinstance(located(tmp_path / name, proc, name).data_directory, Unknown)
    assert isinstance(located(Path(), proc).data_directory, Unknown)


def test_no_right_is_asked_for_where_the_process_is_in_another_namespace(tmp_path: Path, proc: Path) -> None:
    (tmp_path / "pid").write_text("4000\n")
    found = located(tmp_path, proc).data_directory
    assert isinstance(found, Unknown)
    assert (found.remedy, "could not be verified" in found.reason) == (SHOW_PROCESS, True)
    (tmp_path / "pid").unlink()
    found = located(tmp_path, proc).data_directory
    assert isinstance(found, Unknown)
    assert "CAP_SYS_PTRACE" in found.remedy


@pytest.mark.parametrize("make", ODD)
@pytest.mark.usefixtures("at_once")
def test_auto_cnf_may_be_anything_and_the_pid_file_decides_then(tmp_path: Path, proc: Path, make: Callable[[Path], None]) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    make(directory / "auto.cnf")
    assert isinstance(located(directory, proc, uuid=UUID).data_directory, Unknown)
    (directory / "pid").write_text("20\n")
    assert located(directory, proc, uuid=UUID).data_directory == directory


@pytest.mark.parametrize(
    ("text", "uuid", "is_ours"),
    [
        (f"[auto]\nserver-uuid={UUID}\n", UUID, True),
        (f"[auto]\nserver-uuid = {UUID.upper()}\n", UUID, True),
        (f"[auto]\nserver-uuid={UUID}\n", UUID[:-1] + "0", False),
        (f"[auto]\nserver-uuid={UUID}\n", "a", False),
        (f"[auto]\nserver-uuid={UUID}\n", "auto", False),
    ],
)
def test_auto_cnf_counts_by_its_whole_uuid(tmp_path: Path, proc: Path, text: str, uuid: str, is_ours: bool) -> None:
    (tmp_path / "auto.cnf").write_text(text)
    (tmp_path / "pid").write_text("20\n")  # it would say yes
    found = located(tmp_path, proc, uuid=uuid)
    assert (found.data_directory == tmp_path) == is_ours
    # By age and a pid file alone this process was the server's: the other server's, where the directory is that one's.
    assert (found.pid == 20) == is_ours


def test_a_process_that_works_elsewhere_is_not_the_servers_because_its_pid_file_says_so(tmp_path: Path, proc: Path) -> None:
    """A server in a container, asked by TCP: its directory is seen here, and the number in its pid file is another process of this machine."""
    directory, elsewhere = tmp_path / "data", tmp_path / "elsewhere"
    directory.mkdir()
    elsewhere.mkdir()
    (directory / "pid").write_text("20\n")
    cwd = proc / "20" / "cwd"
    cwd.symlink_to(elsewhere)
    found = located(directory, proc)
    assert isinstance(found.data_directory, Unknown)
    assert isinstance(found.pid, Unknown)
    cwd.unlink()
    cwd.symlink_to(directory)
    assert (located(directory, proc).pid, located(directory, proc).data_directory) == (20, directory)


def test_the_servers_files_are_those_of_the_user_it_runs_as(tmp_path: Path, proc: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to give files away")
    (tmp_path / "auto.cnf").write_text(f"[auto]\nserver-uuid={UUID}\n")
    os.chown(tmp_path, 12345, 12345)
    assert located(tmp_path, proc, uuid=UUID).owner == 12345
    (tmp_path / "pid").write_text("20\n")
    os.chown(proc / "20", OTHER_UID, OTHER_UID)
    assert located(tmp_path, proc, uuid=UUID).owner == OTHER_UID


def cache_names_of(directory: Path) -> list[str]:
    location = Location(1, directory)
    samples = {"server": SimpleNamespace(location=location), "variables": SimpleNamespace(values={"init_file": "init.sql"})}
    return _in_init_file(cast("Any", SimpleNamespace(sample=lambda key: samples[key.name])))


@pytest.mark.parametrize("make", ODD)
def test_an_init_file_may_be_anything(tmp_path: Path, at_once: None, make: Callable[[Path], None]) -> None:
    make(tmp_path / "init.sql")
    assert cache_names_of(tmp_path) == []


def test_an_init_file_is_read_for_its_key_caches(tmp_path: Path) -> None:
    (tmp_path / "init.sql").write_text("CACHE INDEX d.t IN hot;\n")
    assert cache_names_of(tmp_path) == ["hot"]


def test_free_space_is_that_of_a_directory_and_of_nothing_else(tmp_path: Path) -> None:
    assert not isinstance(space_of(tmp_path), Unknown)
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", Path("/dev/zero"), tmp_path / "a\0b"):
        with pytest.raises(OSError):  # noqa: PT011
            space_of(path)


def test_a_pid_file_may_name_the_server_by_its_number_in_its_container(tmp_path: Path, proc: Path) -> None:
    """Seen from the host, by a socket that tells the number here."""
    (tmp_path / "pid").write_text("1\n")
    variables = {"datadir": str(tmp_path), "pid_file": "pid"}
    assert isinstance(locate(variables, UPTIME, 20, True, proc).data_directory, Unknown)
    (proc / "20" / "status").write_text("NSpid:\t20\t1\n")
    assert locate(variables, UPTIME, 20, True, proc) == Location(20, tmp_path, os.geteuid())
