"""A socket in a directory that somebody else may write to: nothing but the socket is given to its group."""

import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from myisam_exporter.web.unix_listener import unix_listener

_acts: list[Callable[[str], None]] = []


@pytest.fixture(scope="module", autouse=True)
def between_calls() -> None:
    """Python tells of a call before it makes it: there somebody else may act. Such a hook stays."""

    def act(event: str, arguments: tuple[object, ...]) -> None:
        if event in ("open", "os.chown", "os.chmod") and _acts and isinstance(arguments[0], str | Path):
            _acts[0](str(arguments[0]))

    sys.addaudithook(act)


@pytest.fixture
def exchanging() -> Iterator[Callable[[Path, Callable[[], object]], None]]:
    """What somebody does the first time that a call names this path."""

    def exchange(path: Path, put: Callable[[], object]) -> None:
        def act(named: str) -> None:
            if named == str(path):
                _acts.clear()
                path.unlink()
                put()

        _acts.append(act)

    yield exchange
    _acts.clear()


def test_its_owner_and_group_may_use_it(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with unix_listener(path, os.getegid()):
        assert (stat.S_IMODE(path.stat().st_mode), path.stat().st_gid) == (0o660, os.getegid())


@pytest.mark.parametrize("kind", ["a link", "a file", "a link to another socket"])
def test_what_is_put_in_its_place_is_given_to_nobody(tmp_path: Path, exchanging: Callable[[Path, Callable[[], object]], None], kind: str) -> None:
    """By a link the group came to read and write a file of root's, once in 400 starts of a daemon as root."""
    path, secret = tmp_path / "s", tmp_path / "shadow"
    with socket.socket(socket.AF_UNIX) as other:
        if kind == "a link to another socket":
            other.bind(str(secret))
        else:
            secret.write_text("root:x")
        secret.chmod(0o600)
        exchanging(path, (lambda: os.link(secret, path)) if kind == "a file" else (lambda: path.symlink_to(secret)))
        with pytest.raises(OSError, match=r"Too many levels of symbolic links|in the socket's place"):
            unix_listener(path, os.getegid())
    assert _acts == [], "somebody had the time to act"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
