"""Directories that the kernel tells of: each once or which files were written, and all of them where it had no room to tell."""

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_exporter.kernel.inotify import IN_Q_OVERFLOW, Changed, DirectoryWatch

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")
WATCHES = Path("/proc/sys/fs/inotify/max_user_watches")
MOST_DIRECTORIES = 10_000


@pytest.fixture
def watch() -> Iterator[DirectoryWatch]:
    watch = DirectoryWatch()
    yield watch
    watch.close()


def armed(watch: DirectoryWatch, root: Path, count: int, *, stays: bool = False) -> list[str]:
    paths = []
    for number in range(count):
        path = root / f"db{number}"
        path.mkdir()
        assert watch.arm(str(path), contents=True, stays=stays)
        paths.append(str(path))
    return paths


def touch(path: str) -> None:
    Path(path, "t.MYI").touch()


def test_each_change_is_told_once_until_it_is_watched_again(watch: DirectoryWatch, tmp_path: Path) -> None:
    paths = armed(watch, tmp_path, 3)
    assert watch.changed() == {}
    touch(paths[1])
    assert watch.changed() == {paths[1]: Changed(None, 1)}
    touch(paths[1])
    assert watch.changed() == {}
    assert watch.arm(paths[1], contents=True)
    Path(paths[1], "t.MYI").unlink()
    assert watch.changed() == {paths[1]: Changed(None, 1)}


def test_one_that_stays_tells_what_was_written_until_a_name_comes_or_goes(watch: DirectoryWatch, tmp_path: Path) -> None:
    names = (b"t.MYI", os.fsencode("a b\n☃.MYD"))
    for name in names:
        (tmp_path / os.fsdecode(name)).touch()
    assert watch.arm(str(tmp_path), contents=True, stays=True)
    assert watch.changed() == {}
    for _ in range(2):
        for name in names:
            (tmp_path / os.fsdecode(name)).write_bytes(b"x")
        ((path, (files, events)),) = watch.changed().items()
        assert (path, files) == (str(tmp_path), frozenset(names))
        assert 2 <= events <= 4  # cut and written, which may be told as one
    os.utime(tmp_path / "t.MYI")
    assert watch.changed() == {str(tmp_path): Changed(frozenset({b"t.MYI"}), 1)}
    (tmp_path / "t.MYI").write_bytes(b"y")
    (tmp_path / "new.MYI").touch()
    ((path, (files, events)),) = watch.changed().items()
    assert (path, files) == (str(tmp_path), None)
    assert events >= 2  # one of each
    (tmp_path / "t.MYI").write_bytes(b"z")
    assert watch.changed() == {}


def test_a_directory_that_is_moved_is_no_longer_watched(watch: DirectoryWatch, tmp_path: Path) -> None:
    (path,) = armed(watch, tmp_path, 1, stays=True)
    Path(path).rename(tmp_path / "moved")
    Path(path).mkdir()
    assert {name: files for name, (files, _) in watch.changed().items()} == {path: None}
    (tmp_path / "moved" / "t.MYI").touch()
    assert watch.changed() == {}


def test_one_that_stayed_may_be_told_of_once_again(watch: DirectoryWatch, tmp_path: Path) -> None:
    touch(str(tmp_path))
    for stays in (True, False):
        assert watch.arm(str(tmp_path), contents=True, stays=stays)
    for _ in range(3):
        os.utime(tmp_path / "t.MYI")
    assert watch.changed() == {str(tmp_path): Changed(None, 1)}


def test_what_the_kernel_had_no_room_for_is_any_of_them(watch: DirectoryWatch, tmp_path: Path) -> None:
    paths = armed(watch, tmp_path, 3)
    found: dict[str, Changed] = {}
    watch._tell(struct.pack("iIII", -1, IN_Q_OVERFLOW, 0, 0), found)
    assert found == dict.fromkeys(paths, Changed(None, 0))
    for path in paths:
        assert watch.arm(path, contents=True)
    touch(paths[2])
    assert watch.changed() == {paths[2]: Changed(None, 1)}, "they are watched as before"


def test_more_changes_than_the_queue_holds_lose_no_directory(watch: DirectoryWatch, tmp_path: Path) -> None:
    wanted = int(QUEUE.read_text()) // 2 + 200
    if wanted > MOST_DIRECTORIES or int(WATCHES.read_text()) < 2 * wanted:
        pytest.skip(f"{wanted} directories are too many to watch here")
    paths = armed(watch, tmp_path, wanted)
    for path in paths:
        touch(path)
    assert watch.changed().keys() == set(paths)
