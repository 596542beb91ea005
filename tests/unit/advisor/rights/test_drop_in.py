"""The drop-in: made of the package's own, written whole, and of what others wrote nothing lost."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from myisam_advisor.daemon.serve import _tell_of_old_rights
from myisam_advisor.rights import drop_in
from myisam_advisor.rights.drop_in import (
    ABSENT,
    FOREIGN,
    KEPT,
    NAME,
    OURS,
    Wanted,
    drop_in_text,
    is_outdated,
    present_text,
    remove_drop_in,
    state_of,
    write_drop_in,
)
from myisam_exporter.errors import UserError
from tests.support.mounts import mounted
from tests.support.repository import ROOT

TEXT = drop_in_text(Wanted())
BY_HAND = "[Service]\nNice=5\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "system" / "myisam-advisor.service.d"


def settings(text: str) -> list[str]:
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def test_it_says_what_the_packages_drop_in_says() -> None:
    files = (ROOT / "systemd" / "profiles" / "files.conf").read_text()
    assert settings(TEXT) == settings(files)
    assert settings(drop_in_text(Wanted(closed_files=True))) == settings(files) + settings((ROOT / "systemd" / "profiles" / "residency.conf").read_text())


def test_one_of_another_version_is_told_from_todays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever server it is for; and what somebody else wrote is theirs to renew."""
    of_today = [drop_in_text(wanted) for wanted in (Wanted(), Wanted("dba", Path("/srv/db/mysql"), closed_files=True), Wanted(closed_files=True))]
    assert [is_outdated(text) for text in (*of_today, None, "", BY_HAND, TEXT + "Nice=5\n")] == [False] * 7
    shutil.copytree(ROOT / "systemd" / "profiles", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "files.conf").open("a") as file:
        file.write("ProtectHome=yes\n")
    monkeypatch.setattr(drop_in, "PROFILE_FOLDERS", (tmp_path,))
    assert [is_outdated(text) for text in of_today] == [True] * 3
    assert not is_outdated(drop_in_text(Wanted()))


def test_the_daemon_says_so_when_it_starts(folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _tell_of_old_rights(folder)
    write_drop_in(folder, TEXT)
    _tell_of_old_rights(folder)
    assert not caplog.messages
    (tmp_path / "files.conf").write_text("[Service]\nSupplementaryGroups=mysql\n")
    monkeypatch.setattr(drop_in, "PROFILE_FOLDERS", (tmp_path,))
    _tell_of_old_rights(folder)
    assert caplog.messages == [f"{folder / NAME} was made by another version of this program: sudo myisam-advisor rights --apply renews it"]
    monkeypatch.setattr(drop_in, "PROFILE_FOLDERS", ())
    _tell_of_old_rights(folder)


def test_group_and_directory_are_the_servers() -> None:
    lines = settings(drop_in_text(Wanted("dba", Path("/srv/db/mysql"))))
    assert "SupplementaryGroups=dba" in lines
    assert "SupplementaryGroups=mysql" not in lines
    assert lines[-1] == "BindReadOnlyPaths=/srv/db/mysql"
    assert "BindReadOnlyPaths=/var/lib/mysql/data" not in settings(drop_in_text(Wanted(data_directory=Path("/var/lib/mysql/data"))))


@pytest.mark.parametrize("directory", ["/srv/a b", "/srv/%h", "/srv/a:b", '/srv/"x"', "/srv/a\nUser=root", "/", "/srv/../root", "/srv/é", "/srv/a\\x20b"])
def test_a_directory_that_could_mean_something_else_is_refused(directory: str) -> None:
    with pytest.raises(UserError, match="cannot stand in a unit file"):
        drop_in_text(Wanted(data_directory=Path(directory)))


def test_so_is_one_where_somebody_else_decides_what_lies_there() -> None:
    """systemd binds as root what the path leads to at the next start: a link laid meanwhile would show the service another's files."""
    if os.geteuid() != 0:
        pytest.skip("needs root, to make directories of root's and of others")
    top = Path(tempfile.mkdtemp(dir="/var/lib"))
    directory = top / "a" / "data"
    try:
        directory.mkdir(parents=True)
        top.chmod(0o755)
        # The data directory itself is the server's, whose parents are root's.
        os.chown(directory, 54321, 54321)
        directory.chmod(0o777)
        assert f"BindReadOnlyPaths={directory}" in settings(drop_in_text(Wanted(data_directory=directory)))
        for folder, owner, mode in ((top, 54321, 0o755), (top / "a", 54321, 0o755), (top, 0, 0o777), (top, 0, 0o1777), (top / "a", 0, 0o775)):
            os.chown(folder, owner, -1)
            folder.chmod(mode)
            with pytest.raises(UserError, match=f"lies in {folder}, where somebody else than root may put .*chown root {folder} && chmod go-w {folder}"):
                drop_in_text(Wanted(data_directory=directory))
            os.chown(folder, 0, -1)
            folder.chmod(0o755)
        (top / "link").symlink_to(top / "a")
        with pytest.raises(UserError, match=f"lies in {top}/link, "):
            drop_in_text(Wanted(data_directory=top / "link" / "data"))
    finally:
        shutil.rmtree(top)


@pytest.mark.parametrize("group", ["", "a b", "-x", "a\nUser=root", "%g"])
def test_so_is_a_group(group: str) -> None:
    with pytest.raises(UserError, match="cannot stand in a unit file"):
        drop_in_text(Wanted(group))


def test_it_is_written_once_for_everybody_to_read_and_taken_away(folder: Path) -> None:
    mask = os.umask(0o077)
    try:
        assert write_drop_in(folder, TEXT) == [f"wrote {folder / NAME}"]
    finally:
        os.umask(mask)
    assert (folder / NAME).read_text() == TEXT
    assert (folder / NAME).stat().st_mode & 0o7777 == 0o644
    assert state_of(present_text(folder)) == OURS
    before = (folder / NAME).stat().st_ino
    assert write_drop_in(folder, TEXT) == [f"{folder / NAME} is there"]
    assert (folder / NAME).stat().st_ino == before
    assert remove_drop_in(folder) == [f"removed {folder / NAME}"]
    assert list(folder.iterdir()) == []
    assert state_of(present_text(folder)) == ABSENT
    assert remove_drop_in(folder) == []


def test_an_older_one_of_ours_is_replaced_and_not_kept(folder: Path) -> None:
    write_drop_in(folder, drop_in_text(Wanted("older")))
    write_drop_in(folder, TEXT)
    assert [path.name for path in folder.iterdir()] == [NAME]


@pytest.mark.parametrize("kind", ["text", "ours but changed", "link"])
def test_what_somebody_wrote_by_hand_is_kept_and_comes_back(folder: Path, kind: str) -> None:
    folder.mkdir(parents=True)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.write_text(BY_HAND)
    if kind == "link":
        (folder / NAME).symlink_to(elsewhere)
    else:
        (folder / NAME).write_text(BY_HAND if kind == "text" else TEXT + "Nice=5\n")
    assert state_of(present_text(folder)) == FOREIGN
    done = write_drop_in(folder, TEXT)
    assert done == [f"kept {folder / NAME}, which somebody else wrote, as {folder / KEPT}", f"wrote {folder / NAME}"]
    assert elsewhere.read_text() == BY_HAND
    assert not (folder / NAME).is_symlink()
    assert remove_drop_in(folder) == [f"put {folder / KEPT} back as {folder / NAME}"]
    assert (folder / NAME).is_symlink() == (kind == "link")
    assert (folder / NAME).read_text() == (TEXT + "Nice=5\n" if kind == "ours but changed" else BY_HAND)
    with pytest.raises(UserError, match="left alone"):
        remove_drop_in(folder)
    assert (folder / NAME).exists()


def test_a_second_one_by_hand_is_kept_beside_the_first(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(2):
        (folder / NAME).write_text(f"{BY_HAND}# {number}\n")
        write_drop_in(folder, TEXT)
    assert sorted(path.name for path in folder.iterdir()) == [NAME, KEPT, f"{KEPT}-2"]
    remove_drop_in(folder)
    assert (folder / NAME).read_text() == f"{BY_HAND}# 1\n"


@pytest.mark.parametrize(("mode", "where"), [(0o775, "system"), (0o777, "system"), (0o775, "system/myisam-advisor.service.d")])
def test_where_others_may_write_nothing_is_written(folder: Path, tmp_path: Path, mode: int, where: str) -> None:
    folder.mkdir(parents=True)
    (tmp_path / where).chmod(mode)
    with pytest.raises(UserError, match=r"a directory that (others|every user) may write"):
        write_drop_in(folder, TEXT)
    assert list(folder.iterdir()) == []


def test_nor_below_another_users_directory_or_through_their_link(folder: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give directories away")
    folder.mkdir(parents=True)
    os.chown(folder.parent, 54321, 54321)
    with pytest.raises(UserError, match="another user's directory"):
        write_drop_in(folder, TEXT)
    os.chown(folder.parent, 0, 0)
    (tmp_path / "link").symlink_to(folder)
    os.lchown(tmp_path / "link", 54321, 54321)
    with pytest.raises(UserError, match="a link that another user made"):
        write_drop_in(tmp_path / "link", TEXT)
    assert list(folder.iterdir()) == []


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without a free byte."""
    place = tmp_path / "full"
    place.mkdir()
    with mounted(place, "-t", "tmpfs", "-o", "size=64k,mode=0755", "myisam-advisor-test"):
        yield place


def test_a_full_disk_is_said_and_leaves_what_was_there(full_disk: Path) -> None:
    (full_disk / NAME).write_text(BY_HAND)
    (full_disk / "filler").write_bytes(b"x" * (shutil.disk_usage(full_disk).free))
    with pytest.raises(UserError, match=r"cannot write .*rights\.conf: No space left on device\. Nothing was changed\. Make room there\.$"):
        write_drop_in(full_disk, TEXT)
    assert (full_disk / NAME).read_text() == BY_HAND
    assert sorted(path.name for path in full_disk.iterdir()) == ["filler", NAME]
