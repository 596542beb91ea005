"""Help that a newcomer can use: by task, with examples that work, statuses, and no line cut short."""

import os
import shlex
from collections.abc import Iterator

import click
import pytest

from myisam_advisor.cli.described import CONNECTION, TASKS, described, first_sentence, option_records, task_of
from myisam_advisor.cli.group import cli
from tests.support.program import run

CONTEXT = click.Context(cli, info_name="myisam-advisor", **cli.context_settings)
COMMANDS = {name: command for name in cli.list_commands(CONTEXT) if (command := cli.get_command(CONTEXT, name))}
COLUMNS = (80, 120)


def examples() -> Iterator[tuple[str, str]]:
    for command in (cli, *COMMANDS.values()):
        yield from described(command)[0]


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_a_task_and_examples(name: str) -> None:
    command = COMMANDS[name]
    assert task_of(command) in TASKS
    shown, statuses = described(command)
    assert shown
    assert all(name in words for words, _ in shown)
    assert {status for status, _ in statuses} >= {"0", "2"}
    assert first_sentence(command)


@pytest.mark.parametrize("name", COMMANDS)
def test_only_what_asks_a_server_says_that_it_may_not_be_reached(name: str) -> None:
    command = COMMANDS[name]
    asks = any(title == CONNECTION and records for title, records in option_records(command, CONTEXT))
    assert any("server cannot be reached" in meaning for _, meaning in described(command)[1]) == asks


def test_help_names_no_option_that_is_only_refused() -> None:
    assert "--facts" not in run("doctor", "--help").stdout
    assert "Read the facts from this file" in run("check", "--help").stdout


@pytest.mark.parametrize(("words", "meaning"), list(examples()))
def test_examples_are_understood(words: str, meaning: str) -> None:
    assert meaning.endswith((".", "--facts facts.json.", "/."))
    program, *rest = shlex.split(words.partition(" > ")[0].partition(" | ")[0].removeprefix("sudo "))
    assert program == "myisam-advisor"
    if rest[-1] != "--help":
        name, command, arguments = cli.resolve_command(CONTEXT, rest)
        assert command is not None
        command.make_context(name, arguments, parent=CONTEXT)


@pytest.mark.parametrize("columns", COLUMNS)
@pytest.mark.parametrize("words", [(), *((name,) for name in COMMANDS), ("munin", "install")], ids=" ".join)
def test_no_line_is_cut_or_too_long(words: tuple[str, ...], columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    done = run(*words, "--help")
    lines = done.stdout.splitlines()
    assert done.returncode == 0
    assert all(len(line) <= columns for line in lines)
    assert not any(line.endswith("...") and not line.startswith("Usage:") for line in lines)
    assert "Exit status:" in lines or words == ("munin", "install")


def test_the_commands_stand_below_their_tasks() -> None:
    lines = run("--help").stdout.splitlines()
    titles = [line.rstrip(":") for line in lines if line.endswith(":") and not line.startswith(" ")]
    assert titles == ["Options", *TASKS, "Examples", "Exit status"]
    assert [line.split()[0] for line in lines if line.startswith("  ") and line.split()[0] in COMMANDS and line[2] != " "] == [
        name for task in TASKS for name in COMMANDS if task_of(COMMANDS[name]) == task
    ]


def test_the_connection_comes_last() -> None:
    context = click.Context(COMMANDS["check"], info_name="check", parent=CONTEXT, **COMMANDS["check"].context_settings)
    titles = dict(option_records(COMMANDS["check"], context))
    assert [name for name, _ in titles[CONNECTION][:5]] == ["-h, --host HOST", "-P, --port PORT", "-S, --socket FILE", "-u, --user USER", "-p, --password"]
    assert any(name.startswith("--fail-on") for name, _ in titles["Options"])
    text = run("munin", "--help").stdout
    assert text.index("Options:") < text.index("Commands:") < text.index("Connection:") < text.index("Examples:")


def test_the_names_of_help_keep_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Older clicks give them as a set has them."""
    monkeypatch.setattr(click.Command, "get_help_option_names", lambda self, ctx: list(reversed(ctx.help_option_names)))
    command = COMMANDS["explain"]
    context = click.Context(command, **command.context_settings)
    assert command.get_help_option_names(context) == ["--help", "-h", "-?"]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (("check", "--facts", ""), "--facts"),
        (("check", "--facts="), "--facts"),
        (("check", "-S", ""), "--socket"),
        (("check", "--key-cache", "hot", "--key-cache", ""), "--key-cache"),
        (("snapshot", "--output", ""), "--output"),
        (("explain", ""), "RULE"),
        (("check", "table-crashed", ""), "NUMBER|RULE"),
        (("history", ""), "FACT"),
        (("munin", "install", "--user", "", "--plugins", ""), "--plugins"),
    ],
)
def test_an_empty_text_is_not_taken_for_none(words: tuple[str, ...], name: str) -> None:
    done = run(*words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith(f"Error: {name} is empty: write a value, or leave it out.\n")


def test_where_an_empty_text_means_something_it_is_taken() -> None:
    assert "the socket /nowhere/s does not exist" in run("check", "--user", "", "--defaults-group-suffix", "", "-S", "/nowhere/s").stderr
