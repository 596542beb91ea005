"""Finding the server's process among others, on a made-up /proc: what systemd, permissions and namesakes do cannot be had at will."""

import os
import time
from pathlib import Path

import pytest

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel.rights import SHOW_PROCESS
from myisam_exporter.server.server_process import process_numbers, read_pid, server_process, server_processes

UPTIME = 100.0


def process(proc: Path, pid: int, program: str, age_seconds: float, parent: int = 0) -> None:
    folder = proc / str(pid)
    folder.mkdir(parents=True)
    (folder / "comm").write_text(f"{program}\n")
    ticks = int((time.clock_gettime(time.CLOCK_BOOTTIME) - age_seconds) * os.sysconf("SC_CLK_TCK"))
    (folder / "stat").write_text(f"{pid} ({program}) S {parent} " + " ".join(["0"] * 17) + f" {ticks} 0 0\n")


@pytest.fixture
def proc(tmp_path: Path) -> Path:
    """systemd, a server as old as Uptime says, one that is older by hours, and another program."""
    proc = tmp_path / "proc"
    process(proc, 1, "systemd", 50_000)
    process(proc, 20, "mariadbd", UPTIME)
    process(proc, 30, "mariadbd", 40_000)
    process(proc, 40, "munin-node", UPTIME)
    return proc


def test_who_listens_is_the_server(proc: Path, tmp_path: Path) -> None:
    assert server_process(tmp_path / "missing.pid", UPTIME, 20, proc) == 20


def test_systemd_listens_in_the_servers_stead(proc: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "server.pid"
    pid_file.write_text("20\n")
    assert server_process(pid_file, UPTIME, 1, proc) == 20
    pid_file.write_text("30\n")
    named = server_process(pid_file, UPTIME, 1, proc)
    assert isinstance(named, Unknown)
    assert "started at another time" in named.reason


def test_a_pid_file_that_is_not_here_is_nobody_s_to_be_let_read(tmp_path: Path) -> None:
    missing = read_pid(tmp_path / "server.pid")
    assert isinstance(missing, Unknown)
    assert "does not exist here: the server may run in a container" in missing.reason
    assert missing.remedy == f"{SHOW_PROCESS}, or connect by socket"


def test_a_pid_file_that_cannot_be_read_still_has_an_owner(proc: Path, tmp_path: Path) -> None:
    # A directory: even root cannot read it as a file.
    pid_file = tmp_path / "server.pid"
    pid_file.mkdir()
    assert server_process(pid_file, UPTIME, 1, proc) == 20
    assert server_process(pid_file, UPTIME, None, proc) == 20
    assert isinstance(server_process(pid_file, 9_000_000, 1, proc), Unknown)
    process(proc, 50, "mysqld", UPTIME)
    assert isinstance(server_process(pid_file, UPTIME, 1, proc), Unknown)  # two: neither is taken


def test_a_number_of_another_container_is_no_server_here(proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process of a container is this program, or its init, and as old as the server beside it."""
    monkeypatch.setenv("container", "oci")
    pid_file = tmp_path / "server.pid"
    process(proc, 60, "myisam-advisor", UPTIME)
    for number, program in ((60, "myisam-advisor"), (40, "munin-node"), (1, "systemd")):
        pid_file.write_text(f"{number}\n")
        named = server_process(pid_file, UPTIME, None, proc)
        assert isinstance(named, Unknown)
        assert f"is {program} here, and no server" in named.reason


def test_on_a_host_a_server_may_have_any_name_but_is_not_ourselves(proc: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("container", raising=False)
    pid_file = tmp_path / "server.pid"
    process(proc, 60, "ld-linux-x86-64", UPTIME)
    pid_file.write_text("60\n")
    assert server_process(pid_file, UPTIME, None, proc) == 60
    process(proc, os.getpid(), "myisam-advisor", UPTIME)
    pid_file.write_text(f"{os.getpid()}\n")
    assert isinstance(server_process(pid_file, UPTIME, None, proc), Unknown)


@pytest.mark.parametrize(("pid", "program", "parent"), [(1, "systemd", 0), (1, "init", 0), (70, "kworker/0:1", 2), (70, "systemd", 1)])
def test_a_number_of_a_container_is_no_process_of_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pid: int, program: str, parent: int) -> None:
    """Its server started with this machine, and its pid file says the number that it has in there."""
    monkeypatch.delenv("container", raising=False)
    proc, pid_file = tmp_path / "proc", tmp_path / "server.pid"
    process(proc, pid, program, UPTIME + 10, parent)
    pid_file.write_text(f"{pid}\n")
    named = server_process(pid_file, UPTIME, None, proc)
    assert isinstance(named, Unknown)
    assert f"is {program} here, and no server" in named.reason
    # Where we are in that container, it is the first process.
    process(tmp_path / "inside", pid, "mysqld", UPTIME + 10, parent)
    assert server_process(pid_file, UPTIME, None, tmp_path / "inside") == pid


def test_servers_as_old_as_this_one_are_found_the_nearest_first(proc: Path) -> None:
    process(proc, 50, "mysqld", UPTIME + 60)
    assert server_processes(UPTIME, proc) == [20, 50]
    assert server_processes(40_000 - 10, proc) == [30]
    assert server_processes(None, proc) == server_processes(UPTIME, proc / "missing") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_whose_pid_file_cannot_be_read_is_found_by_its_owner(proc: Path, tmp_path: Path) -> None:
    pid_file = tmp_path / "server.pid"
    pid_file.mkdir()  # nothing that can be read
    os.chown(pid_file, 54321, -1)
    process(proc, 50, "mysqld", UPTIME + 60)
    assert isinstance(server_process(pid_file, UPTIME, None, proc), Unknown)
    os.chown(proc / "50", 54321, -1)
    assert server_process(pid_file, UPTIME, None, proc) == 50
    os.chown(proc / "20", 54321, -1)
    assert isinstance(server_process(pid_file, UPTIME, None, proc), Unknown), "two of the same user and age"


def test_a_process_has_a_number_in_each_container_around_it(proc: Path) -> None:
    assert process_numbers(20, proc) == {20}
    (proc / "20" / "status").write_text("Name:\tmariadbd\nNSpid:\t20\t7\t1\nNSpgid:\t20\t7\t1\n")
    assert process_numbers(20, proc) == {20, 7, 1}
