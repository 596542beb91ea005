"""Which way of recording each name is; `record` and `prove` have the same ones."""

from pathlib import Path
from typing import Any

import pytest

from myisam_advisor.cli import any_way
from myisam_advisor.cli.any_way import SOURCES, Wanted, record_running
from myisam_advisor.cli.commands.prove import prove
from myisam_advisor.cli.commands.record import record
from myisam_exporter.errors import UserError

SERVER: Any = object()
WAYS = {"slow-log": "record_live", "performance-schema": "record_watched_source", "probe": "record_probed", "auto": "record_any_way"}


def test_record_and_prove_know_the_same_ways() -> None:
    for command in (record, prove):
        (option,) = (one for one in command.params if one.name == "source")
        choices: Any = option.type
        assert (tuple(choices.choices), option.default) == (SOURCES, "slow-log")
    assert set(WAYS) == set(SOURCES)


@pytest.mark.parametrize("source", SOURCES)
def test_each_name_is_its_own_way(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[str] = []
    for name in WAYS.values():
        monkeypatch.setattr(any_way, name, lambda *_, name=name: taken.append(name))
    record_running(source, Wanted(tmp_path / "w", 60, 1000, True, SERVER))
    assert taken == [WAYS[source]]


def test_only_what_changes_settings_wants_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    for name in WAYS.values():
        monkeypatch.setattr(any_way, name, lambda *_: None)
    unsure = Wanted(tmp_path / "w", 60, 1000, False, SERVER)
    with pytest.raises(UserError, match="add --yes"):
        record_running("slow-log", unsure)
    for source in SOURCES[1:]:
        record_running(source, unsure)
