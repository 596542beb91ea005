"""A process that may open nothing more: that is not told as a server that hangs or is down."""

import os
import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from myisam_exporter.errors import ServerLostError, UserError
from myisam_exporter.files.file_state import MORE_DESCRIPTORS
from myisam_exporter.server.connection_errors import OF_THIS_PROCESS, explained
from myisam_exporter.server.driver import BrokenConnectionError, ServerConnection, UnreachableError, second_handle
from myisam_exporter.server.login_path import read_login_file
from myisam_exporter.server.option_files import read_option_files
from myisam_exporter.server.target import Target


@contextmanager
def descriptors_left(number: int) -> Iterator[None]:
    """So many descriptors can be opened, and no more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)  # what is opened next gets this number
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + number, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize(("left", "error"), [(0, UnreachableError), (1, BrokenConnectionError)])
def test_who_lacks_descriptors_is_told_that(tmp_path: Path, left: int, error: type[Exception]) -> None:
    target = Target("me", socket=tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        with pytest.raises(error) as raised, descriptors_left(left):
            ServerConnection(target, 1, lambda wire: second_handle(wire).close())
    told = explained(target, raised.value, 1)
    assert isinstance(told, UserError)
    assert not isinstance(told, ServerLostError)
    assert str(told) == f"no connection to {target.label} can be made: Too many open files. {OF_THIS_PROCESS}"


@pytest.mark.parametrize(("what", "read"), [("option", lambda path: read_option_files([path])), ("login", read_login_file)])
def test_a_file_that_is_there_is_not_doubted(tmp_path: Path, what: str, read: Callable[[Path], object]) -> None:
    path = tmp_path / "f.cnf"
    path.write_text("[client]\n")
    path.chmod(0o600)
    with pytest.raises(UserError) as raised, descriptors_left(0):
        read(path)
    assert str(raised.value) == f"cannot read the {what} file {path}: Too many open files. The file is not at fault: {MORE_DESCRIPTORS}"
