"""Which way of recording each name is; `record` and `prove` have the same ones."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click
import pytest

from myisam_advisor.cli import any_way
from myisam_advisor.cli.any_way import AUTO, SOURCES, WAYS, NotAgreedError, Wanted, Way, record_running
from myisam_advisor.cli.commands.prove import prove
from myisam_advisor.cli.commands.record import record
from myisam_exporter.errors import UserError

SERVER: Any = object()
NAMED = [one for one in SOURCES if one != AUTO]


def prepared_by(name: str, taken: list[str]) -> Callable[[Wanted, ExitStack], Callable[[], Any]]:
    return lambda *_: lambda: taken.append(name)


def test_record_and_prove_know_the_same_ways() -> None:
    for command in (record, prove):
        (option,) = (one for one in command.params if one.name == "source")
        choices: Any = option.type
        assert (tuple(choices.choices), option.default) == (SOURCES, "slow-log")
    assert set(NAMED) < set(WAYS)


@pytest.mark.parametrize("source", NAMED)
def test_each_name_is_its_own_way(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    monkeypatch.setattr(any_way, "WAYS", {name: Way(name, "", prepared_by(name, taken)) for name in WAYS})
    record_running(source, Wanted(tmp_path / "w", 60, 1000, True, SERVER))
    assert taken == [source]


def test_only_what_changes_settings_wants_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UserError, match="add --yes"):
        record_running("slow-log", Wanted(tmp_path / "w", 60, 1000, False, SERVER))


def test_who_says_no_is_not_told_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> Any:
        raise NotAgreedError("you said no.")

    monkeypatch.setattr(any_way, "WAYS", {"slow-log": Way("the slow log", "", refused)})
    with pytest.raises(click.Abort):
        record_running("slow-log", Wanted(tmp_path / "w", 60, 1000, False, SERVER))
