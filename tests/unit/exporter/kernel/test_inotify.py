"""Directories that the kernel tells of: each once, and all of them where it had no room to tell."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.kernel.inotify import IN_Q_OVERFLOW, DirectoryWatch

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
MOST_DIRECTORIES = 10_000


@pytest.fixture
def watch() -> Iterator[DirectoryWatch]:
    watch = DirectoryWatch()
    yield watch
    watch.close()


def armed(watch: DirectoryWatch, root: Path, count: int) -> list[str]:
    paths = []
    for number in range(count):
        path = root / f"db{number}"
        path.mkdir()
        assert watch.arm(str(path), contents=True)
        paths.append(str(path))
    return paths


def touch(path: str) -> None:
    Path(path, "t.MYI").touch()


def test_each_change_is_told_once_until_it_is_watched_again(watch: DirectoryWatch, tmp_path: Path) -> None:
    paths = armed(watch, tmp_path, 3)
    assert watch.changed() == set()
    touch(paths[1])
    assert watch.changed() == {paths[1]}
    touch(paths[1])
    assert watch.changed() == set()
    assert watch.arm(paths[1], contents=True)
    Path(paths[1], "t.MYI").unlink()
    assert watch.changed() == {paths[1]}


def test_what_the_kernel_had_no_room_for_is_any_of_them(watch: DirectoryWatch, tmp_path: Path) -> None:
    paths = armed(watch, tmp_path, 3)
    assert watch._told(struct.pack("iIII", -1, IN_Q_OVERFLOW, 0, 0)) == set(paths)
    for path in paths:
        assert watch.arm(path, contents=True)
    touch(paths[2])
    assert watch.changed() == {paths[2]}, "they are watched as before"


def test_more_changes_than_the_queue_holds_lose_no_directory(watch: DirectoryWatch, tmp_path: Path) -> None:
    wanted = int(QUEUE.read_text()) // 2 + 200
    if wanted > MOST_DIRECTORIES or int(WATCHES.read_text()) < 2 * wanted:
        pytest.skip(f"{wanted} directories are too many to watch here")
    paths = armed(watch, tmp_path, wanted)
    for path in paths:
        touch(path)
    assert watch.changed() == set(paths)
