"""A program that was replaced in a container, in the layers of its files."""

import os
from pathlib import Path

import pytest

from myisam_advisor.workload.probing.layers import named_below


@pytest.fixture
def process(tmp_path: Path) -> Path:
    """A process's folder in /proc: its program was removed from /usr/sbin, and its number is that of a file in the second layer."""
    folder = tmp_path / "7"
    folder.mkdir()
    for layer in ("a", "c"):
        (tmp_path / layer / "usr" / "sbin").mkdir(parents=True)
        (tmp_path / layer / "usr" / "sbin" / "mysqld").write_text(layer, "ascii")
    return folder


def found(process: Path, monkeypatch: pytest.MonkeyPatch, layers: str, point: str = "/", root: str = "/", kind: str = "overlay", name: str = "/usr/sbin/mysqld") -> list[str]:
    """What is told of it; the link's own name and number are the kernel's."""
    link = process / "exe"
    link.unlink(missing_ok=True)
    link.hardlink_to(process.parent / "c" / "usr" / "sbin" / "mysqld")
    device = link.stat().st_dev
    line = f"44 27 {os.major(device)}:{os.minor(device)} {root} {point} rw,relatime - {kind} overlay rw,{layers},upperdir=/u,workdir=/w"
    (process / "mountinfo").write_text(f"1 1 0:1 / /proc rw - proc proc rw\n{line}\n", "ascii")
    monkeypatch.setattr(os, "readlink", lambda _: f"{name} (deleted)".encode())
    return list(named_below(str(link), process))


def test_it_is_the_file_of_that_name_and_number(process: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = process.parent
    wanted = [str(above / "c" / "usr" / "sbin" / "mysqld")]
    assert found(process, monkeypatch, f"lowerdir={above}/a:{above}/c") == wanted
    assert found(process, monkeypatch, f"lowerdir+={above}/a,lowerdir+={above}/c") == wanted
    assert found(process, monkeypatch, f"lowerdir={above}/c", point="/box", name="/box/usr/sbin/mysqld") == wanted
    assert found(process, monkeypatch, f"lowerdir={above}/c", point="/box", root="/usr", name="/box/sbin/mysqld") == wanted


def test_nothing_is_guessed(process: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    above = process.parent
    assert found(process, monkeypatch, f"lowerdir={above}/a") == []
    assert found(process, monkeypatch, f"lowerdir={above}/c", kind="ext4") == []
    assert found(process, monkeypatch, f"lowerdir={above}/c", point="/box") == []
    assert found(process, monkeypatch, "lowerdir=c") == []
    monkeypatch.undo()
    assert list(named_below(str(above / "missing"), process)) == []


def test_blanks_in_names_are_the_kernels_way(process: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    spaced = process.parent / "one layer"
    (process.parent / "c").rename(spaced)
    (process.parent / "c").symlink_to(spaced)
    assert found(process, monkeypatch, f"lowerdir={str(spaced).replace(' ', chr(92) + '040')}") == [str(spaced / "usr" / "sbin" / "mysqld")]
