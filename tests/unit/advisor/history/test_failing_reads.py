"""A history on a disk that fails to read: SQLite calls that damage (SQLITE_IOERR_CORRUPTFS), and the file may be whole."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.factbase.file import facts_from_document
from myisam_advisor.history import writer
from myisam_advisor.history.file import is_sound
from myisam_advisor.history.records import Records
from myisam_advisor.history.writer import History
from myisam_exporter.look.table_choice import TableChooser

FACTS = facts_from_document({"schema": 1, "status_per_second": {"Questions": 10.0}})
MALFORMED = "database disk image is malformed"


def keep(history: History) -> dict[str, Any]:
    """One more sample, and what is said of it."""
    return {value.name: value.number for value in history.follow("db", FACTS, TableChooser().choose(FACTS.tables["tables"]))}


def samples(path: Path) -> int:
    with closing(sqlite3.connect(path)) as database:
        return int(database.execute("SELECT COUNT(*) FROM sample").fetchone()[0])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A sound history of three samples."""
    history = History(tmp_path / "h.sqlite")
    for _ in range(3):
        keep(history)
    history.close()
    return tmp_path / "h.sqlite"


def refusing(monkeypatch: pytest.MonkeyPatch, times: int) -> None:
    """Let so many writes of an entry fail as SQLite fails when the disk refuses a read."""
    put, left = Records.put, [None] * times

    def failing(self: Records, *words: Any) -> None:
        if left:
            left.pop()
            raise sqlite3.DatabaseError(MALFORMED)
        put(self, *words)

    monkeypatch.setattr(Records, "put", failing)


def test_a_history_that_is_whole_is_gone_on_with(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    history = History(path)
    refusing(monkeypatch, 1)
    keep(history)
    keep(history)
    history.close()
    assert samples(path) == 4
    assert [one.name for one in path.parent.iterdir()] == [path.name]
    assert f"could not be read ({MALFORMED}), but is whole" in caplog.text


def test_what_is_called_damaged_again_at_once_is_set_aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    history = History(path)
    refusing(monkeypatch, 2)
    for _ in range(3):
        keep(history)
    history.close()
    assert list(path.parent.glob("h.sqlite.corrupt-*"))
    assert samples(path) == 4  # what was sound, and one more


def test_a_disk_that_gives_nothing_leaves_the_file_as_it_is(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def failing(_: Path) -> bool:
        raise OSError(5, "Input/output error")

    history = History(path)
    refusing(monkeypatch, 1)
    with monkeypatch.context() as changed:
        changed.setattr(writer, "is_sound", failing)
        assert keep(history)["history_writable"] == 0
    assert "is not kept: Input/output error" in caplog.text
    assert keep(history)["history_writable"] == 1
    history.close()
    assert samples(path) == 4
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_soundness_is_asked_of_the_whole_file(path: Path) -> None:
    assert is_sound(path)
    content = bytearray(path.read_bytes())
    content[4096:8192] = bytes(4096)
    path.write_bytes(bytes(content))
    assert not is_sound(path)


def test_a_disk_that_became_read_only_is_told_once(path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """It was told at the start and again at the first look, once with the file's name and once without."""
    history = History(path, begins_later=True)
    with monkeypatch.context() as changed:
        changed.setattr(writer, "open_to_write", refused)
        history.begin()
        assert keep(history)["history_writable"] == 0
    assert [line for line in caplog.messages if "is not kept" in line] == [f"the history in {path} is not kept: {os.strerror(errno.EROFS)}"]
    assert keep(history)["history_writable"] == 1
    history.close()
    assert samples(path) == 4


def refused(path: Path) -> Records:
    raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))
