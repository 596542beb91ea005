"""Files that somebody else made: what is opened, what is refused, and that nothing hangs."""

import os
import socket
from pathlib import Path

import pytest

from myisam_exporter.foreign_files import ForeignFileError, ForeignFiles, read_small

OTHER_UID = 54321


def opened(files: ForeignFiles, path: Path, *, named: bool) -> bytes:
    descriptor = (files.open_named if named else files.open)(str(path))
    try:
        return os.read(descriptor, 100)
    finally:
        os.close(descriptor)


@pytest.fixture(params=[False, True], ids=["below a directory", "named by somebody"])
def named(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_a_regular_file_is_read(tmp_path: Path, named: bool) -> None:
    (tmp_path / "file").write_bytes(b"text")
    assert opened(ForeignFiles(), tmp_path / "file", named=named) == b"text"
    assert opened(ForeignFiles(os.geteuid()), tmp_path / "file", named=named) == b"text"


@pytest.mark.parametrize("kind", ["fifo", "directory", "socket", "device"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, named: bool, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
    else:
        path = Path("/dev/zero")
    with pytest.raises(ForeignFileError, match="no regular file"):
        opened(ForeignFiles(), path, named=named)


def test_a_device_that_somebody_named_is_not_even_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    flags_used: list[int] = []
    real = os.open

    def noted(path: str, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        flags_used.append(flags)
        return real(path, flags, mode, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", noted)
    with pytest.raises(ForeignFileError):
        read_small("/dev/ptmx")
    assert flags_used
    assert all(flags & os.O_PATH for flags in flags_used)


def test_a_link_is_followed_only_to_a_file_of_the_owner_that_is_named(tmp_path: Path, named: bool) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with pytest.raises(OSError, match="link"):
        opened(ForeignFiles(), tmp_path / "link", named=named)
    assert opened(ForeignFiles(os.geteuid()), tmp_path / "link", named=named) == b"text"
    with pytest.raises(ForeignFileError, match="another user"):
        opened(ForeignFiles(OTHER_UID), tmp_path / "link", named=named)
    with pytest.raises(ForeignFileError, match="another user"):
        opened(ForeignFiles(OTHER_UID), tmp_path / "file", named=named)


def test_a_link_to_a_device_or_to_itself_is_refused(tmp_path: Path, named: bool) -> None:
    (tmp_path / "tty").symlink_to("/dev/ptmx")
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(ForeignFileError, match="no regular file"):
        opened(ForeignFiles(os.geteuid()), tmp_path / "tty", named=named)
    with pytest.raises(OSError, match="symbolic links"):
        opened(ForeignFiles(os.geteuid()), tmp_path / "loop", named=named)


def test_no_more_is_read_than_was_asked_for(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 10_000)
    assert len(read_small(tmp_path / "file")) == 4096
    assert read_small(tmp_path / "file", 3) == b"xxx"


def test_no_descriptor_is_left_behind(tmp_path: Path, named: bool) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/passwd")
    before = len(os.listdir("/proc/self/fd"))
    for name in ("fifo", "link", "absent"):
        with pytest.raises(OSError):  # noqa: PT011
            opened(ForeignFiles(OTHER_UID), tmp_path / name, named=named)
    assert len(os.listdir("/proc/self/fd")) == before
