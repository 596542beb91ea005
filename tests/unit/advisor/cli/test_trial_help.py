"""`trial EXPERIMENT --help` is about that experiment."""

import os

import pytest

from myisam_advisor.trial.experiments.base import experiment_names
from tests.support.program import run


def shown(*words: str) -> str:
    done = run("trial", *words)
    assert done.returncode == 0
    return done.stdout


@pytest.mark.parametrize("words", [("replay", "--help"), ("--help", "replay"), ("replay", "pack-keys", "-?")])
def test_replay_has_help_of_its_own(words: tuple[str, ...]) -> None:
    text = shown(*words)
    assert text.startswith("Usage: myisam-advisor trial replay [OPTIONS] [RULE ...]")
    assert "recorded workload" in text
    assert all(name in text for name in ("--workload", "--set", "--sql", "--speed", "--budget", "--host", "Exit status:"))
    assert not any(name in text for name in ("--column", "--index", "--threads", "--seconds "))
    assert "row-format" not in text


@pytest.mark.parametrize("name", experiment_names())
@pytest.mark.parametrize("columns", [80, 120])
def test_each_experiment_says_what_it_measures_and_takes(name: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    text = shown(name, "--help")
    assert text.startswith(f"Usage: myisam-advisor trial {name} [OPTIONS]\n")
    assert not any(one in text for one in ("--workload", "--sql", "RULE"))
    assert ("--index" in text, "--column" in text) == (name == "drop-index", name == "columns")
    assert all(len(line) <= columns for line in text.splitlines())


@pytest.mark.parametrize("name", ["replay", "engine", "upgrade"])
def test_what_works_on_tables_of_your_own_speaks_of_no_made_up_ones(name: str) -> None:
    assert "made-up" not in shown(name, "--help").partition("Examples:")[0]


def test_what_must_be_given_has_no_default_and_no_option_has_that_of_another_experiment() -> None:
    upgrade, cache, mmap = (" ".join(shown(name, "--help").split()) for name in ("upgrade", "key-cache", "mmap"))
    assert "--server PATH Program of the newer server. [required]" in upgrade
    assert "Program of the private server" not in upgrade
    assert "[default: made-up tables] --copy-limit" in cache
    assert "Concurrent threads. [default: 4; 1<=x<=64]" in cache
    assert "[default: 1, 4, 16 and 64 in turn; 1<=x<=64]" in mmap


def test_without_one_all_are_shown() -> None:
    text = shown("--help")
    assert all(name in text for name in ("--workload", "--column", "RULE", "key-cache"))


def test_the_help_of_all_lists_each_experiment_with_what_it_is() -> None:
    listed = shown("--help").partition("\nExperiments:\n")[2].partition("\n\n")[0]
    assert [line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "] == sorted([*experiment_names(), "replay", "engine", "upgrade"])
    assert "InnoDB and Aria instead of MyISAM" in listed


@pytest.mark.parametrize("name", ["replay", "engine", "upgrade"])
def test_no_option_says_which_experiments_take_it_where_one_is_named(name: str) -> None:
    text = " ".join(shown(name, "--help").split())
    assert "The recorded statements, as `record` writes them." in text
    assert "The recorded statements (replay, engine, upgrade)" in " ".join(shown("--help").split())
