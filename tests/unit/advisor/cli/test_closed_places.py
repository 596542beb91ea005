"""What another user closed to us is told as closed, with who may look: it is neither absent, nor down."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path
from tempfile import mkdtemp

import pytest

from myisam_advisor.history import file, paths
from tests.support.apart import by_somebody_else
from tests.support.program import run

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a place that is closed to others")


@pytest.fixture
def closed() -> Iterator[Path]:
    """A directory of root's in one that everybody may enter, with a socket that is listened on and a history."""
    folder = Path(mkdtemp(prefix="closed-", dir="/tmp"))
    folder.chmod(0o755)
    inner = folder / "inner"
    inner.mkdir(0o700)
    (inner / "history.sqlite").write_text("")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(inner / "s"))
        listening.listen()
        yield inner
    for path in inner.iterdir():
        path.unlink()
    inner.rmdir()
    folder.rmdir()


def said(*words: object) -> str:
    """What the program says on standard error, run by another user; by us before, so that all libraries are loaded, which may lie below our home."""
    run(*words)

    def by_them() -> tuple[int, str]:
        done = run(*words)
        return done.returncode, done.stderr

    status, errors = by_somebody_else(by_them)
    assert status == 2
    return str(errors)


def test_a_socket(closed: Path) -> None:
    remedy = "The socket, or a directory on the way to it, is closed to this user: run it as root (sudo), or as a user who may go there."
    assert said("check", "--user", "me", "--timeout", 1, "--socket", closed / "s") == f"myisam-advisor: no server answers at {closed}/s: Permission denied. {remedy}\n"


def test_a_history_that_was_named(closed: Path) -> None:
    path = closed / "history.sqlite"
    assert said("history", "--history", path) == f"myisam-advisor: the history {path} is closed to this user: run it as root (sudo).\n"


@pytest.mark.parametrize("is_there", [True, False])
def test_the_services_history_is_named_to_who_has_none(closed: Path, is_there: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    system = closed / "history.sqlite" if is_there else Path("/nowhere/history.sqlite")
    monkeypatch.setattr(paths, "SYSTEM_PATH", system)
    monkeypatch.setattr(file, "SYSTEM_PATH", system)
    own = "there is no history in /nonexistent/.local/state/myisam-advisor/history.sqlite: `myisam-advisor serve` keeps one; --history names another file."
    other = f" The service's, {system}, is closed to this user: sudo reads it." if is_there else ""
    assert said("history") == f"myisam-advisor: {own}{other}\n"


def test_a_name_that_no_host_has() -> None:
    done = run("check", "--host", "nosuch.invalid")
    assert done.returncode == 2
    assert done.stderr.startswith("myisam-advisor: no host of the name nosuch.invalid is known: ")
    assert done.stderr.endswith(". Check the name (--host).\n")
