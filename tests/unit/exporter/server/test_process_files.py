"""What the kernel tells tracers only: asked of a process that may know, by one that may not. Real processes, real sockets."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.facts.unknown import Unknown
from myisam_exporter.kernel import process as kernel_process
from myisam_exporter.kernel import process_files
from myisam_exporter.kernel.process_files import process_lines
from myisam_exporter.server import process_reader

OTHER_UID = 64321
# A process of a server's name that maps a data file.
SERVER = """
import ctypes, mmap, sys
ctypes.CDLL(None).prctl(15, sys.argv[1].encode(), 0, 0, 0)
with open(sys.argv[2], "r+b") as file: mapped = mmap.mmap(file.fileno(), 0)
print("ready", flush=True)
sys.stdin.read()
"""


def running(name: str, mapped: Path) -> subprocess.Popen[str]:
    mapped.write_bytes(bytes(8192))
    process = subprocess.Popen([sys.executable, "-c", SERVER, name, str(mapped)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@pytest.fixture
def mysqld(tmp_path: Path) -> Iterator[str]:
    """The number of a process called mysqld."""
    with running("mysqld", tmp_path / "t 1.MYD") as process:
        yield str(process.pid)
        process.kill()


@pytest.fixture
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The socket of a reader that ends when nobody has asked for half a second."""
    path = Path("/tmp") / f"myisam-reader-{os.getpid()}.sock"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(path))
        path.chmod(0o666)
        listener.listen()
        thread = threading.Thread(target=process_reader.serve, args=(listener, 0.5))
        thread.start()
        yield path
        thread.join(10)
        assert not thread.is_alive()
    path.unlink()


def as_another_user(folder: Path, name: str, reader: Path) -> str:
    """What process_lines gives, or raises, in a child that has given up every right."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(OTHER_UID, OTHER_UID, OTHER_UID)
        os.setresuid(OTHER_UID, OTHER_UID, OTHER_UID)
        try:
            told = "".join(f"{line.rstrip()}\n" for line in process_lines(folder, "io" if name == "io" else "maps", reader))
        except OSError as error:
            told = type(error).__name__
        os.write(sending, told.encode())
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as file:
        told = file.read()
    os.waitpid(child, 0)
    return told


def test_who_may_not_look_is_told_by_the_reader(mysqld: str, reader: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can take rights away from itself")
    folder = Path("/proc") / mysqld
    assert as_another_user(folder, "io", tmp_path / "nobody.sock") == "PermissionError"
    told = dict(line.split(": ") for line in as_another_user(folder, "io", reader).splitlines())
    assert int(told["rchar"]) > 0
    assert {"syscr", "read_bytes"} <= set(told)
    (line,) = [line for line in as_another_user(folder, "maps", reader).splitlines() if ".MYD" in line]
    # Where it lies in memory is not told, its length is.
    assert line.startswith("0-2000 ")
    assert line.endswith("/t 1.MYD")


def test_the_reader_is_not_asked_about_a_recorded_process(reader: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can take rights away from itself")
    (tmp_path / "1").mkdir()
    assert as_another_user(tmp_path / "1", "io", reader) in {"FileNotFoundError", "PermissionError"}


def test_the_reader_tells_of_database_servers_only(tmp_path: Path) -> None:
    with running("sshd", tmp_path / "t.MYD") as process:
        assert process_reader.answer(f"io {process.pid}\n".encode()) == b"it is no database server\n"
        process.kill()


@pytest.mark.parametrize("question", [b"", b"io", b"io 1", b"mem 1\n", b"io 1/../2\n", b"io self\n", b"io 0\n", b"io -1\n", b"io 1\nio 2\n", b"maps 99999999999\n"])
def test_the_reader_understands_two_words_and_a_number(question: bytes) -> None:
    assert process_reader.answer(question) == b"the question is not understood\n"


def test_a_process_that_is_gone_is_said_to_be(tmp_path: Path) -> None:
    with running("mysqld", tmp_path / "t.MYD") as process:
        process.kill()
    assert process_reader.answer(f"io {process.pid}\n".encode()) == b"No such file or directory\n"


def test_who_asks_nothing_holds_up_nobody_for_long(mysqld: str, reader: Path) -> None:
    with socket.socket(socket.AF_UNIX) as silent, socket.socket(socket.AF_UNIX) as asking:
        silent.connect(str(reader))
        asking.connect(str(reader))
        asking.settimeout(5)
        asking.sendall(f"io {mysqld}\n".encode())
        assert asking.recv(3) == b"ok\n"


LONG = "0-2000 r--s 00000000 fe:00 1 /var/lib/mysql/shop/t.MYD\n" * 20_000


def asked_of(told: bytes, tmp_path: Path) -> str | None:
    """What is made of an answer that ends there."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "r"))
        listener.listen()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(32)
                connection.sendall(told)

        thread = threading.Thread(target=answer)
        thread.start()
        try:
            return process_files._asked(b"maps 1\n", tmp_path / "r")
        finally:
            thread.join(10)


def test_an_answer_that_is_cut_short_is_none(tmp_path: Path) -> None:
    """Who is too slow to read, or to tell, within a second: half of the mapped files would pass for all."""
    whole = b"ok\n" + LONG.encode() + b"end\n"
    assert asked_of(whole, tmp_path) == LONG
    (tmp_path / "r").unlink()
    with pytest.raises(TimeoutError, match="did not answer in time"):
        asked_of(whole[: len(b"ok\n") + 10 * 55], tmp_path)
    (tmp_path / "r").unlink()
    assert asked_of(b"it is no database server\n", tmp_path) is None


def test_a_reader_that_is_late_is_no_lack_of_rights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_files, "READER_TIMEOUT_SECONDS", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "r"))
        listener.listen()
        with pytest.raises(TimeoutError, match="did not answer in time"):
            process_files._asked(b"io 1\n", tmp_path / "r")
    assert process_files._asked(b"io 1\n", tmp_path / "r") is None  # nobody is there any more

    def late(folder: Path, name: str) -> Iterator[str]:
        raise process_files._late()
        yield ""

    monkeypatch.setattr(kernel_process, "process_lines", late)
    sample = kernel_process.read_process(Path("/proc/self"), os.getpid())
    assert isinstance(sample, kernel_process.ProcessSample)
    for part in (sample.io, sample.mapped):
        assert isinstance(part, Unknown)
        assert "did not answer in time" in part.reason
        assert part.remedy == "look again"


def test_without_systemd_it_says_who_starts_it() -> None:
    done = subprocess.run([sys.executable, "-m", "myisam_exporter.server.process_reader"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "process_reader: systemd starts this, by myisam-advisor-process.socket\n"
