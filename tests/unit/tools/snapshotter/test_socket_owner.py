"""Whose sockets the host's client is sent to: a server's, or such as nobody else can have laid there."""

import os
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from myisam_exporter.errors import UserError
from tools.snapshotter.parts.socket_owner import refuse_foreign_socket

OTHER, THIRD = 54321, 54322


@pytest.fixture
def name(tmp_path: Path) -> Iterator[Path]:
    path = tmp_path / "d" / "s"
    path.parent.mkdir()
    with closing(socket.socket(socket.AF_UNIX)) as listener:
        listener.bind(str(path))
        yield path


def test_ones_own_is_taken_and_one_that_is_not_there_is_left_to_the_client(name: Path) -> None:
    refuse_foreign_socket(name, is_found=True)
    refuse_foreign_socket(name.with_name("none"), is_found=True)
    name.parent.chmod(0o1777)
    refuse_foreign_socket(name, is_found=True)
    name.parent.chmod(0o777)
    with pytest.raises(UserError, match="others may put another in its place"):
        refuse_foreign_socket(name, is_found=False)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
@pytest.mark.parametrize(
    ("mode", "of_directory", "of_socket", "named", "found"),
    [
        (0o755, OTHER, OTHER, True, False),
        (0o755, 0, OTHER, True, False),
        (0o755, 0, 0, True, True),
        (0o755, OTHER, 0, False, False),
        (0o755, OTHER, THIRD, False, False),
        (0o1777, 0, OTHER, False, False),
        (0o1777, OTHER, 0, False, False),
        (0o1777, 0, 0, True, True),
        (0o777, OTHER, OTHER, False, False),
    ],
)
def test_who_could_have_laid_it(name: Path, mode: int, of_directory: int, of_socket: int, named: bool, found: bool) -> None:
    name.parent.chmod(mode)
    os.chown(name.parent, of_directory, -1)
    os.chown(name, of_socket, -1)
    for is_found, is_taken in ((False, named), (True, found)):
        if is_taken:
            refuse_foreign_socket(name, is_found=is_found)
        else:
            with pytest.raises(UserError, match="that may be no server"):
                refuse_foreign_socket(name, is_found=is_found)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to give files away")
def test_a_link_counts_as_its_makers_and_as_what_it_leads_to(name: Path) -> None:
    link = name.parent.parent / "link"
    link.symlink_to(name)
    refuse_foreign_socket(link, is_found=False)
    link.parent.chmod(0o1777)
    os.chown(link, OTHER, -1, follow_symlinks=False)
    with pytest.raises(UserError, match=f"the user with number {OTHER}"):
        refuse_foreign_socket(link, is_found=False)
    os.chown(link, 0, -1, follow_symlinks=False)
    name.parent.chmod(0o1777)
    os.chown(name, OTHER, -1)
    with pytest.raises(UserError, match=f"the user with number {OTHER}"):
        refuse_foreign_socket(link, is_found=False)
