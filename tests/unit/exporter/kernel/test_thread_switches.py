"""Context switches of a process's threads: those that waited are not read again, and what is told is what the kernel says."""

import os
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.kernel.thread_switches import Switches, ThreadSwitches
from myisam_exporter.outside.bounded_reading import KernelFolder

PATTERN = re.compile(r"voluntary_ctxt_switches:\s*(\d+)\nnonvoluntary_ctxt_switches:\s*(\d+)")


def as_status_says(folder: Path) -> Switches:
    found = {}
    for thread in (folder / "task").iterdir():
        match = PATTERN.search((thread / "status").read_text())
        assert match is not None
        found[int(thread.name)] = (int(match[1]), int(match[2]))
    return found


@pytest.fixture
def files_read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files of threads that were read."""
    names: list[str] = []
    content = KernelFolder.content

    def noted(self: KernelFolder, name: str) -> bytes:
        names.append(name)
        return content(self, name)

    monkeypatch.setattr(KernelFolder, "content", noted)
    return names


@pytest.fixture
def sleeper() -> Iterator[Path]:
    """A process that sleeps now."""
    with subprocess.Popen(["sleep", "60"]) as process:
        folder = Path(f"/proc/{process.pid}")
        while (folder / "stat").read_text().rpartition(")")[2].split()[0] != "S" or (folder / "comm").read_text() != "sleep\n":
            time.sleep(0.01)
        yield folder
        process.kill()


def test_what_waits_is_not_read_again(sleeper: Path, files_read: list[str]) -> None:
    if (sleeper / "schedstat").read_text().split()[2] == "0":
        pytest.skip("this kernel does not count how often a thread was given a processor")
    switches = ThreadSwitches()
    first = switches.read(sleeper)
    assert first == as_status_says(sleeper)
    status, times = f"{sleeper.name}/status", f"{sleeper.name}/schedstat"
    for expected in ([status], [times, status], [times], [times]):
        files_read.clear()
        assert switches.read(sleeper) == first
        assert files_read == expected


def test_of_threads_that_work_and_wait_it_says_what_the_kernel_says() -> None:
    """One that has a processor at one reading may give it up before the next, without being given another."""
    turns = [threading.Event() for _ in range(8)]
    ended = threading.Event()

    def work(turn: threading.Event) -> None:
        while not ended.is_set():
            turn.wait()
            turn.clear()

    threads = [threading.Thread(target=work, args=(turn,)) for turn in turns]
    for thread in threads:
        thread.start()
    switches, own = ThreadSwitches(), Path(f"/proc/{os.getpid()}")
    try:
        for number in range(50):
            for turn in turns[: number % 8]:
                turn.set()
            time.sleep(0.002)
            before, told, after = as_status_says(own), switches.read(own), as_status_says(own)
            for one, found in told.items():
                least, most = before.get(one, (0, 0)), after.get(one, found)
                assert all(low <= number <= high for low, number, high in zip(least, found, most, strict=True)), one
    finally:
        ended.set()
        for turn in turns:
            turn.set()
        for thread in threads:
            thread.join()


def made(folder: Path, thread: int, voluntary: int, timeslices: str | None) -> None:
    place = folder / "task" / str(thread)
    place.mkdir(parents=True, exist_ok=True)
    (place / "status").write_text(f"Name:\tx\nGroups:\t{'1 ' * 9000}\nvoluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t2\n")
    if timeslices is not None:
        (place / "schedstat").write_text(timeslices)


@pytest.mark.parametrize("timeslices", [None, "0 0 0\n", ""])
def test_where_the_kernel_does_not_count_turns_all_is_read(tmp_path: Path, timeslices: str | None) -> None:
    switches = ThreadSwitches()
    made(tmp_path, 1, 10, timeslices)
    for _ in range(3):
        assert switches.read(tmp_path) == {1: (10, 2)}
    made(tmp_path, 1, 20, timeslices)
    assert switches.read(tmp_path) == {1: (20, 2)}


def test_a_thread_that_ran_again_is_read_again(tmp_path: Path) -> None:
    switches = ThreadSwitches()
    made(tmp_path, 1, 10, "900 9 12\n")
    for _ in range(4):
        assert switches.read(tmp_path) == {1: (10, 2)}
    made(tmp_path, 1, 11, "901 9 12\n")  # given up what it had, and given nothing since
    assert switches.read(tmp_path) == {1: (11, 2)}


def test_another_process_has_other_threads(tmp_path: Path) -> None:
    switches = ThreadSwitches()
    one, other = tmp_path / "1", tmp_path / "2"
    made(one, 1, 10, "9 9 12\n")
    made(other, 1, 5, "9 9 12\n")
    for _ in range(3):
        assert switches.read(one) == {1: (10, 2)}
    assert switches.read(other) == {1: (5, 2)}
    with pytest.raises(FileNotFoundError):
        switches.read(tmp_path / "3")


def test_a_thread_that_does_not_say_how_long_it_ran_is_told_all_the_same(tmp_path: Path) -> None:
    """Left out of one reading, all switches of its life would count as those of the next interval."""
    switches = ThreadSwitches()
    made(tmp_path, 1, 10, None)
    (tmp_path / "task" / "1" / "schedstat").mkdir()
    (tmp_path / "task" / "no thread").mkdir()
    (tmp_path / "task" / "2").mkdir()  # it ended between the listing and the reading
    for _ in range(5):
        assert switches.read(tmp_path) == {1: (10, 2)}


def test_a_file_longer_than_any_thread_has_is_refused(tmp_path: Path) -> None:
    (tmp_path / "status").write_bytes(b"x" * (2 << 20))
    with KernelFolder(tmp_path) as folder, pytest.raises(OSError, match="File too large"):
        folder.content("status")
