"""A disk that fails while tables are looked at: what is on it is unknown, which is neither damage of a table nor a right that is missing."""

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from myisam_exporter.collectors.base import Pair
from myisam_exporter.collectors.myi import COLLECTOR
from myisam_exporter.files.data_directory import DataDirectoryScan, scan_data_directory
from myisam_exporter.files.directory_scanner import DirectoryScanner
from myisam_exporter.files.unseen import CHECK_DISK

from .test_directory_scanner import age, make_table

Scan = Callable[[Path], DataDirectoryScan]


@pytest.fixture(params=["anew", "in a daemon"])
def scan(request: pytest.FixtureRequest) -> Iterator[Scan]:
    """Both ways of looking."""
    if request.param == "anew":
        yield scan_data_directory
        return
    scanner = DirectoryScanner()
    yield scanner.scan
    scanner.close()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory with two databases."""
    directory = tmp_path / "data"
    directory.mkdir()
    for table in ("sound", "lost"):
        make_table(directory / "db", table)
    make_table(directory / "other", "there")
    age(directory)
    return directory


@contextmanager
def failing(monkeypatch: pytest.MonkeyPatch, call: str, name: str, number: int) -> Iterator[None]:
    """Let this call of the system's end with an error where it is about a file of this name."""
    whole = getattr(os, call)

    def failed(file: Any, *words: Any, **named: Any) -> Any:
        about = Path(f"/proc/self/fd/{file}").readlink() if isinstance(file, int) else Path(os.fsdecode(file))
        if about.name == name:
            raise OSError(number, os.strerror(number))
        return whole(file, *words, **named)

    with monkeypatch.context() as changed:
        changed.setattr(os, call, failed)
        yield


def names(found: DataDirectoryScan) -> set[str]:
    return {f"{file.schema_name}.{file.table_name}" for file in found.files}


ALL = {"db.sound", "db.lost", "other.there"}


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE])
@pytest.mark.parametrize(
    ("call", "file", "lost", "said"),
    [("pread", "lost.MYI", {"db.lost"}, "db.lost"), ("open", "lost.MYI", {"db.lost"}, "db.lost"), ("open", "db", {"db.lost", "db.sound"}, "db")],
)
def test_what_the_disk_does_not_give_is_unknown(
    data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch, number: int, call: str, file: str, lost: set[str], said: str
) -> None:
    with failing(monkeypatch, call, file, number):
        found = scan(data)
    assert names(found) == ALL - lost
    assert found.unreadable == ()
    unseen = COLLECTOR.incomplete(found)
    assert unseen is not None
    assert unseen.reason == f"not all tables can be seen: {said} (it cannot be read: {os.strerror(number)})"
    assert unseen.remedy == CHECK_DISK
    assert not any(block.table == "totals" for block in COLLECTOR.facts(Pair(found)))
    again = scan(data)
    assert names(again) == ALL
    assert COLLECTOR.incomplete(again) is None


def test_a_table_of_accounts_that_cannot_be_read_is_told(data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    make_table(data / "mysql", "user")
    age(data)
    with failing(monkeypatch, "pread", "user.MYI", errno.EIO):
        found = scan(data)
    assert [one.name for one in found.left_out] == ["mysql.user"]


@pytest.mark.parametrize(("call", "file", "said"), [("stat", "i.ibd", "db.i.ibd"), ("stat", "ibdata1", "ibdata1")])
def test_a_size_that_the_disk_does_not_tell_is_not_none(data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch, call: str, file: str, said: str) -> None:
    for path in (data / "db" / "i.ibd", data / "ibdata1"):
        path.write_bytes(bytes(1000))
    age(data)
    with failing(monkeypatch, call, file, errno.EIO):
        found = scan(data)
    assert names(found) == ALL
    unseen = COLLECTOR.incomplete(found)
    assert unseen is not None
    assert unseen.reason == f"not all tables can be seen: {said} (its size cannot be read: Input/output error)"
    assert unseen.remedy == CHECK_DISK
    assert not any(block.table == "totals" for block in COLLECTOR.facts(Pair(found)))
    again = scan(data)
    assert again.other_engine_data_bytes == 2000
    assert COLLECTOR.incomplete(again) is None


def test_the_servers_own_database_that_the_disk_refuses_is_told(data: Path, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    make_table(data / "mysql", "user")
    age(data)
    with failing(monkeypatch, "open", "mysql", errno.EIO):
        found = scan(data)
    assert names(found) == ALL
    assert [(one.name, one.why) for one in found.left_out] == [("mysql", "it cannot be read: Input/output error")]
    assert not scan(data).left_out
