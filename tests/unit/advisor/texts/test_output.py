"""Files that commands write: whole or not at all, and never where somebody else led us."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_advisor.texts.whole_files import OutputDirectory, write_whole
from myisam_exporter.errors import UserError
from tests.support.program import run

OTHER_UID = 54321
FACTS = "schema: 1\nserver: {flavour: mysql, version: 5.7.1, version_number: 50701}\ntables: [{schema_name: a, table_name: b, crashed: 1}]\n"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to make files of another user")


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A directory of somebody else's, that we may write into."""
    folder = tmp_path / "theirs"
    folder.mkdir()
    os.chown(folder, OTHER_UID, OTHER_UID)
    return folder


@contextmanager
def as_user(uid: int) -> Iterator[None]:
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)


def link(path: Path, target: Path, uid: int = OTHER_UID) -> None:
    path.symlink_to(target)
    os.chown(path, uid, uid, follow_symlinks=False)


def facts_file(folder: Path) -> Path:
    path = folder / "facts.yaml"
    path.write_text(FACTS)
    return path


def test_a_plan_does_not_write_through_a_dangling_link(tmp_path: Path, theirs: Path) -> None:
    victim = tmp_path / "victim"
    link(theirs / "plan.sql", victim)
    done = run("plan", "--facts", facts_file(tmp_path), "--output", theirs)
    assert done.returncode == 2
    assert "already holds plan.sql" in done.stderr
    assert not victim.exists()
    assert sorted(path.name for path in theirs.iterdir()) == ["plan.sql"]


@pytest.mark.parametrize("exists", [True, False])
def test_a_report_replaces_a_link_instead_of_writing_through_it(tmp_path: Path, theirs: Path, exists: bool) -> None:
    victim = tmp_path / "victim"
    if exists:
        victim.write_text("kept")
    link(theirs / "report", victim)
    write_whole(theirs / "report", "report\n")
    assert not (theirs / "report").is_symlink()
    assert (theirs / "report").read_text() == "report\n"
    assert victim.exists() is exists
    assert not exists or victim.read_text() == "kept"


@pytest.mark.parametrize("place", ["the directory itself", "on the way"])
def test_a_link_that_somebody_else_made_is_not_gone_through(tmp_path: Path, theirs: Path, place: str) -> None:
    (tmp_path / "mine" / "deep").mkdir(parents=True)
    link(theirs / "out", tmp_path / "mine" / ("deep" if place == "the directory itself" else ""))
    folder = theirs / "out" if place == "the directory itself" else theirs / "out" / "deep"
    with pytest.raises(UserError, match="out on the way to it is a link that another user made"), OutputDirectory(folder, create=True):
        pass
    done = run("plan", "--facts", facts_file(tmp_path), "--output", folder)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert list((tmp_path / "mine" / "deep").iterdir()) == []


def test_a_link_of_ones_own_is_gone_through(tmp_path: Path) -> None:
    (tmp_path / "real" / "deep").mkdir(parents=True)
    (tmp_path / "absolute").symlink_to(tmp_path / "real")
    (tmp_path / "relative").symlink_to("absolute/../real/./deep")
    with OutputDirectory(tmp_path / "relative") as directory, directory.file("a") as file:
        file.write("text")
    assert (tmp_path / "real" / "deep" / "a").read_text() == "text"


def test_links_in_a_ring_end_in_a_message(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(UserError, match="symbolic links"):
        write_whole(tmp_path / "a" / "report", "")


def test_a_directory_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    open_to_all = tmp_path / "open"
    (open_to_all / "below").mkdir(parents=True)
    open_to_all.chmod(0o777)
    for folder in (open_to_all, open_to_all / "below", open_to_all / "new"):
        with pytest.raises(UserError, match="every user may write"), OutputDirectory(folder, create=True):
            pass
    assert sorted(path.name for path in open_to_all.iterdir()) == ["below"]


def test_in_a_sticky_directory_only_what_is_ours_is_written(tmp_path: Path) -> None:
    sticky = tmp_path / "sticky"
    sticky.mkdir()
    sticky.chmod(0o1777)
    (sticky / "theirs").write_text("kept")
    os.chown(sticky / "theirs", OTHER_UID, OTHER_UID)
    (sticky / "folder").mkdir()
    os.chown(sticky / "folder", OTHER_UID, OTHER_UID)
    with pytest.raises(UserError, match="another user's file"):
        write_whole(sticky / "theirs", "lost")
    with pytest.raises(UserError, match="folder on the way to it is another user's"), OutputDirectory(sticky / "folder"):
        pass
    for text in ("first", "second"):
        write_whole(sticky / "ours", f"{text}\n")
    assert (sticky / "ours").read_text() == "second\n"
    assert (sticky / "theirs").read_text() == "kept"


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "folder"):
        with pytest.raises(UserError, match="is not a file"):
            write_whole(tmp_path / name, "lost")
    with pytest.raises(UserError, match="Not a directory"):
        write_whole(facts_file(tmp_path) / "report", "")


def test_a_report_that_breaks_off_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "report"
    path.write_text("before")
    with pytest.raises(KeyError), OutputDirectory(tmp_path) as directory, directory.file("report") as file:
        file.write("half")
        raise KeyError
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["report"]


def test_a_report_is_readable_by_others_and_a_plan_by_the_umask(tmp_path: Path) -> None:
    write_whole(tmp_path / "report", "x\n")
    assert (tmp_path / "report").stat().st_mode & 0o777 == 0o644
    before = os.umask(0o077)
    try:
        with OutputDirectory(tmp_path / "new" / "deep", create=True) as directory, directory.file("plan.sql") as file:
            file.write("x")
    finally:
        os.umask(before)
    assert (tmp_path / "new" / "deep" / "plan.sql").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o700


def test_another_user_is_told_what_is_wrong(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    with as_user(OTHER_UID), pytest.raises(UserError, match=re.escape(f"cannot write {tmp_path / 'report'}: Permission denied")):
        write_whole(tmp_path / "report", "")


def test_no_descriptor_stays_open(tmp_path: Path, theirs: Path) -> None:
    link(theirs / "out", tmp_path)
    (tmp_path / "ring").symlink_to("ring")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        for path in (tmp_path / "a", theirs / "out" / "a", tmp_path / "ring" / "a", tmp_path / "missing" / "a"):
            try:
                write_whole(path, "")
            except UserError:
                continue
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("command", "output", "said"),
    [
        ("check", "gone/report.txt", "cannot write {}: No such file or directory. Give another --output."),
        ("snapshot", "gone/facts.json", "cannot write {}: No such file or directory. Give another --output."),
        ("check", "folder/fifo", "nothing is written to {}: it is there already, and is not a file. Give another --output."),
        ("plan", "folder", "{} already holds plan.sql: choose another directory, or move them away."),
    ],
)
def test_where_nothing_can_be_written_it_is_said_before_anything_is_looked_at(command: str, output: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "plan.sql").write_text("another plan")
    os.mkfifo(tmp_path / "folder" / "fifo")
    done = run(command, "--socket", "/nowhere/s", "--output", tmp_path / output)
    assert (done.returncode, done.stderr) == (2, f"myisam-advisor: {said.format(tmp_path / output)}\n")


def test_what_is_tried_before_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "report").write_text("old")
    for name in ("report", "new"):
        assert "the socket /nowhere/s does not exist" in run("check", "--socket", "/nowhere/s", "--output", tmp_path / name).stderr
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("report", "old")]
