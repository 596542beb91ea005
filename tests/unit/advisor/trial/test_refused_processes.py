"""Work apart from root that cannot begin, as the system gives no process, descriptor or directory: nothing of it is left."""

import errno
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.trial.private.apart import as_other

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root works apart")


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory of root's, in which temporary files go."""
    with tempfile.TemporaryDirectory(prefix="apart-", dir="/tmp") as name:
        monkeypatch.setattr(tempfile, "tempdir", name)
        monkeypatch.delenv("TMPDIR", raising=False)
        yield Path(name)


def descriptors() -> set[str]:
    return {name for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")}


@pytest.mark.parametrize(("call", "turn", "number"), [("pipe", 1, errno.EMFILE), ("fork", 1, errno.EAGAIN), ("mkdir", 2, errno.ENOSPC), ("fchown", 2, errno.EPERM)])
def test_what_could_not_begin_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch, call: str, turn: int, number: int) -> None:
    calls, real = [], getattr(os, call)

    def refused(*words: Any, **further: Any) -> Any:
        calls.append(words)
        if len(calls) == turn:
            raise OSError(number, os.strerror(number))
        return real(*words, **further)

    monkeypatch.setattr(os, call, refused)
    before = descriptors()
    with pytest.raises(Exception, match=os.strerror(number)):
        as_other(lambda _: 1)
    assert len(calls) == turn
    assert not list(folder.iterdir())
    assert descriptors() == before
