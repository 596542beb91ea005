"""How many asynchronous requests are few: real servers are in tests/servers/test_private_servers.py."""

from pathlib import Path

import pytest

from myisam_advisor.trial.private import asynchronous_io
from myisam_advisor.trial.private.asynchronous_io import WITHOUT, words_where_requests_are_few

# What MySQL 5.6 was measured to take, the most of four servers.
OF_MYSQL_5_6 = 2661


@pytest.mark.parametrize(
    ("taken", "words"),
    [(0, ()), (65536 - OF_MYSQL_5_6, WITHOUT), (65536 - 1, WITHOUT), (65536, WITHOUT), (70000, WITHOUT)],
)
def test_it_is_told_by_what_the_kernel_says_is_left(taken: int, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asynchronous_io, "KERNEL_LIMITS", tmp_path)
    (tmp_path / "aio-nr").write_text(f"{taken}\n")
    (tmp_path / "aio-max-nr").write_text("65536\n")
    assert words_where_requests_are_few() == words


def test_more_processors_want_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asynchronous_io, "KERNEL_LIMITS", tmp_path)
    (tmp_path / "aio-nr").write_text("57000\n")
    (tmp_path / "aio-max-nr").write_text("65536\n")
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert words_where_requests_are_few() == ()
    monkeypatch.setattr("os.cpu_count", lambda: 64)
    assert words_where_requests_are_few() == WITHOUT


@pytest.mark.parametrize("text", ["", "many\n"])
def test_where_the_kernel_does_not_say_nothing_is_changed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asynchronous_io, "KERNEL_LIMITS", tmp_path)
    assert words_where_requests_are_few() == ()
    (tmp_path / "aio-nr").write_text(text)
    (tmp_path / "aio-max-nr").write_text("65536\n")
    assert words_where_requests_are_few() == ()
