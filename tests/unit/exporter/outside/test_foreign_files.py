"""Files that somebody else made: what is opened, what is refused, and that nothing hangs."""

import os
import socket
from pathlib import Path

import pytest

from myisam_exporter.outside.foreign_files import ForeignFileError, ForeignFiles, OtherOwnerError, read_small

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
    with pytest.raises(ForeignFileError, match="not a regular file"):
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
    with pytest.raises(ForeignFileError, match="not a regular file"):
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


def test_what_is_told_of_a_file_is_told_only_where_it_would_be_opened(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "nothing").symlink_to("absent")
    os.mkfifo(tmp_path / "fifo")
    own, others = ForeignFiles(os.geteuid()), ForeignFiles(OTHER_UID)
    assert own.status(str(tmp_path / "link")).st_size == own.status(str(tmp_path / "file")).st_size == 4
    for files, name, why in (
        (own, "loop", "circle"), (own, "nothing", "leads nowhere"), (own, "fifo", "not a regular file"), (others, "file", "another user"),
        (others, "link", "another user"), (ForeignFiles(), "link", "symbolic link"), (own, "a\0b", "none that a file can have"),
    ):  # fmt: skip
        with pytest.raises(ForeignFileError, match=why):
            files.status(str(tmp_path / name))
        with pytest.raises(OSError, match="link" if files.owner is None else why):
            files.open(str(tmp_path / name))
    with pytest.raises(FileNotFoundError):
        own.status(str(tmp_path / "absent"))


def test_a_directory_behind_a_link_is_opened_only_where_it_is_the_owners(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    (tmp_path / "link").symlink_to("directory")
    own, others, anybodys = ForeignFiles(os.geteuid()), ForeignFiles(OTHER_UID), ForeignFiles()
    for files, name in ((own, "directory"), (own, "link"), (others, "directory"), (anybodys, "directory")):
        descriptor = files.open_directory(str(tmp_path / name))
        assert os.path.samestat(os.fstat(descriptor), (tmp_path / "directory").stat())
        os.close(descriptor)
    with pytest.raises(OtherOwnerError):
        others.open_directory(str(tmp_path / "link"))
    with pytest.raises(NotADirectoryError):
        anybodys.open_directory(str(tmp_path / "link"))
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NotADirectoryError):
        own.open_directory(str(tmp_path / "fifo"))


def test_a_file_that_is_swapped_for_anothers_while_it_is_looked_at_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The link is turned between the look and the opening: what was looked at is what is opened."""
    (tmp_path / "own").write_bytes(b"own")
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "link").symlink_to("own")
    real = os.fstat

    def turned(descriptor: int) -> os.stat_result:
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to("secret")
        return real(descriptor)

    monkeypatch.setattr(os, "fstat", turned)
    assert opened(ForeignFiles(os.geteuid()), tmp_path / "link", named=True) == b"own"
    monkeypatch.undo()
    assert (tmp_path / "link").read_bytes() == b"secret"
