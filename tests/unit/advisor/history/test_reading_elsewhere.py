"""Histories that are read where nothing can be written beside them: a backup on a read-only file system, the service's by another user."""

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from myisam_advisor.history.file import open_to_read
from myisam_advisor.history.format import FORMAT
from myisam_advisor.history.reader import samples_of_target
from myisam_advisor.history.writer import History
from myisam_exporter.errors import UserError
from tests.support.apart import by_somebody_else
from tests.unit.advisor.history.test_history_damage import LABEL, facts, look


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that others may look into, and nobody but root may write to."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        yield Path(name)
        Path(name).chmod(0o700)


def closed(folder: Path) -> None:
    for file in folder.iterdir():
        file.chmod(0o644)
    folder.chmod(0o555)


def samples(path: Path) -> int:
    return len(samples_of_target(path, LABEL, 0, 1e11))


def words_of_refusal(path: Path) -> str:
    try:
        samples(path)
    except UserError as error:
        return str(error)
    return ""


def test_a_history_that_nobody_writes_is_read_where_its_folder_is_closed(folder: Path) -> None:
    path = folder / "h.sqlite"
    history = History(path)
    look(history, facts())
    history.close()
    closed(folder)
    assert by_somebody_else(lambda: samples(path)) == 1
    assert [file.name for file in folder.iterdir()] == ["h.sqlite"]


def test_one_whose_writer_was_killed_is_not_read_without_its_journal(folder: Path) -> None:
    path = folder / "h.sqlite"
    history = History(path)
    look(history, facts())
    journal = (folder / "h.sqlite-wal").read_bytes()
    history.close()
    (folder / "h.sqlite-wal").write_bytes(journal)
    closed(folder)
    told = by_somebody_else(lambda: words_of_refusal(path))
    assert f"{folder} is closed to this user, or read-only: copy h.sqlite and h.sqlite-wal to another folder" in told


@pytest.mark.parametrize(
    ("version", "words"),
    [(FORMAT + 1, f"a newer version of this program wrote .* \\(format {FORMAT + 1}; this one reads {FORMAT}\\): read it with that version, or name another file"), (0, "holds no history \\(format 0\\): `myisam-advisor serve` keeps one")],
)
def test_a_file_of_another_format_is_refused_with_what_helps(tmp_path: Path, version: int, words: str) -> None:
    path = tmp_path / "h.sqlite"
    History(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version={version}")
    with pytest.raises(UserError, match=words), open_to_read(path):
        pass


def test_a_file_that_is_no_database_is_refused_with_what_helps(tmp_path: Path) -> None:
    path = tmp_path / "h.sqlite"
    path.write_text("no database\n")
    with pytest.raises(UserError, match=r"file is not a database\. `myisam-advisor serve` sets such a file aside and begins a new one; --history names another"), open_to_read(path):
        pass
